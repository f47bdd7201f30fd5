// Package simd puts 128-bit SIMD kernels under gonum in the browser.
//
// Go's WebAssembly compiler emits no vector instructions. The kernels in kernels/
// (AssemblyScript, 4.7 KB compiled) do: they work on Go's own linear memory, which they
// import, and Go calls them as functions of module "simd". [Install] hands them to blas64
// behind gonum's interface. So gonum/mat and all that uses it run on them unchanged.
//
// Routines: Dot, Axpy, Scal, Gemv, Trsv, Gemm, Syrk and Trsm in float64, for unit strides.
// Everything else, and whatever is too small to be worth a call, goes to gonum's own code. That
// code also checks the arguments, so a call with bad arguments panics exactly as in gonum.
//
// Results differ from gonum's only by rounding, since sums are taken in another
// order. There is one exception. gonum skips zeros in a factor, so 0 times an infinity
// or NaN counts as 0; here it gives NaN, as in IEEE 754 and the current reference
// BLAS. A zero sum may also differ in sign.
//
// A program that imports this package needs the imports of module "simd":
// web/engine/kernels.js makes them for pages and workers, exec.mjs for Node. Without
// SIMD they exist too, and [Available] is false.
//
// It is not for native programs, for which gonum has assembly of its own: they have no such
// package.
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

// The kernels, see kernels/index.ts. Pointers arrive there as addresses in the
// shared memory; Go's collector moves nothing, and nothing else runs during a
// call. None of them keeps a pointer.

//go:wasmimport simd available
func available() int32

//go:wasmimport simd ddot
//go:noescape
func ddot(n int32, x, y *float64) float64

//go:wasmimport simd daxpy
//go:noescape
func daxpy(n int32, alpha float64, x, y *float64)

//go:wasmimport simd dscal
//go:noescape
func dscal(n int32, alpha float64, x *float64)

//go:wasmimport simd dgemv
//go:noescape
func dgemv(trans bool, m, n int32, alpha float64, a *float64, lda int32, x, y *float64)

//go:wasmimport simd dtrsv
//go:noescape
func dtrsv(lower, trans, unit bool, n int32, a *float64, lda int32, x *float64)

//go:wasmimport simd dgemm
//go:noescape
func dgemm(part, m, n, k int32, alpha float64, a *float64, aRow, aCol int32, b *float64, bRow, bCol int32, c *float64, ldc int32, scratch *float64)

//go:wasmimport simd dgemmNT
//go:noescape
func dgemmNT(m, n, k int32, alpha float64, a *float64, lda int32, b *float64, ldb int32, c *float64, ldc int32)

//go:wasmimport simd dtrsm
//go:noescape
func dtrsm(unit bool, m, n int32, a *float64, aRow, aCol int32, b *float64, bRow, bCol int32, scratch *float64)
