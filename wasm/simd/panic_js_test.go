//go:build js && wasm

package simd

import (
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// TestBadArgumentsPanicAsInGonum hands both implementations the same bad calls.
func TestBadArgumentsPanicAsInGonum(t *testing.T) {
	needKernels(t)
	const n = 20
	v, short, a := ones(n), ones(n-1), ones(n*n)
	bad, no, lo, un := blas.Transpose('x'), blas.NoTrans, blas.Lower, blas.Unit
	for name, call := range map[string]func(blas.Float64){
		"dot, short x":       func(b blas.Float64) { b.Ddot(n, short, 1, v, 1) },
		"dot, negative n":    func(b blas.Float64) { b.Ddot(-1, v, 1, v, 1) },
		"axpy, zero step":    func(b blas.Float64) { b.Daxpy(n, 1, v, 0, v, 1) },
		"scal, short x":      func(b blas.Float64) { b.Dscal(n, 2, short, 1) },
		"nrm2, short x":      func(b blas.Float64) { b.Dnrm2(n, short, 1) },
		"gemv, transpose":    func(b blas.Float64) { b.Dgemv(bad, n, n, 1, a, n, v, 1, 0, v, 1) },
		"gemv, lda":          func(b blas.Float64) { b.Dgemv(no, n, n, 1, a, n-1, v, 1, 0, v, 1) },
		"gemv, short a":      func(b blas.Float64) { b.Dgemv(no, n+1, n, 1, a, n, v, 1, 0, ones(n+1), 1) },
		"gemv, short x":      func(b blas.Float64) { b.Dgemv(no, n, n, 1, a, n, short, 1, 0, v, 1) },
		"gemv, short y":      func(b blas.Float64) { b.Dgemv(no, n, n, 1, a, n, v, 1, 0, short, 1) },
		"trsv, triangle":     func(b blas.Float64) { b.Dtrsv(blas.All, no, un, n, a, n, v, 1) },
		"trsv, diagonal":     func(b blas.Float64) { b.Dtrsv(lo, no, 'x', n, a, n, v, 1) },
		"trsv, lda":          func(b blas.Float64) { b.Dtrsv(lo, no, un, n, a, n-1, v, 1) },
		"trsv, short a":      func(b blas.Float64) { b.Dtrsv(lo, no, un, n, a[1:], n, v, 1) },
		"trsv, short x":      func(b blas.Float64) { b.Dtrsv(lo, no, un, n, a, n, short, 1) },
		"gemm, transpose":    func(b blas.Float64) { b.Dgemm(no, bad, n, n, n, 1, a, n, a, n, 0, a, n) },
		"gemm, negative k":   func(b blas.Float64) { b.Dgemm(no, no, n, n, -1, 1, a, n, a, n, 0, a, n) },
		"gemm, lda":          func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a, 1, a, n, 0, a, n) },
		"gemm, short a":      func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a[1:], n, a, n, 0, a, n) },
		"gemm, short b":      func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a, n, a[1:], n, 0, a, n) },
		"gemm, short c":      func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a, n, a, n, 0, a[1:], n) },
		"syrk, triangle":     func(b blas.Float64) { b.Dsyrk(blas.All, no, n, n, 1, a, n, 0, a, n) },
		"syrk, short a":      func(b blas.Float64) { b.Dsyrk(lo, no, n, n, 1, a[1:], n, 0, a, n) },
		"syrk, short c":      func(b blas.Float64) { b.Dsyrk(lo, no, n, n, 1, a, n, 0, a[1:], n) },
		"trsm, side":         func(b blas.Float64) { b.Dtrsm('x', lo, no, un, n, n, 1, a, n, a, n) },
		"trsm, short a":      func(b blas.Float64) { b.Dtrsm(blas.Left, lo, no, un, n, n, 1, a[1:], n, a, n) },
		"trsm, short b":      func(b blas.Float64) { b.Dtrsm(blas.Right, lo, no, un, n, n, 1, a, n, a[1:], n) },
		"trsm, ldb":          func(b blas.Float64) { b.Dtrsm(blas.Right, lo, no, un, n, n, 1, a, n, a, n-1) },
		"trsm, negative row": func(b blas.Float64) { b.Dtrsm(blas.Left, lo, no, un, -1, n, 1, a, n, a, n) },
	} {
		want := recovered(func() { call(gonum.Implementation{}) })
		if got := recovered(func() { call(BLAS{}) }); want == nil || got != want {
			t.Errorf("%s: panics with %v, gonum with %v", name, got, want)
		}
	}
}

// recovered returns what f panics with.
func recovered(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
