//go:build js && wasm

package simd

import "gonum.org/v1/gonum/blas/blas64"

// Available reports whether the program was started with kernels behind its
// imports. It does not change during a run.
func Available() bool { return available() != 0 }

// Install makes blas64 use the kernels and reports whether it did:
// without kernels gonum's own routines stay. It must be called before other
// goroutines use gonum.
func Install() bool {
	if !Available() {
		return false
	}
	blas64.Use(BLAS{})
	return true
}
