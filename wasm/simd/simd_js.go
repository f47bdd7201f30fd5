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

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

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

// BLAS implements gonum's blas.Float64. It calls the kernels where they help. For small sizes, strides,
// alpha = 0, bad arguments and all other routines it calls gonum.
// It must be used only where [Available].
type BLAS struct{ gonum.Implementation }

var _ blas.Float64 = BLAS{}

// Ddot returns xᵀ y.
func (b BLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if n < minVector || incX != 1 || incY != 1 || len(x) < n || len(y) < n {
		return b.Implementation.Ddot(n, x, incX, y, incY)
	}
	return ddot(int32(n), &x[0], &y[0])
}

// Daxpy adds alpha x to y.
func (b BLAS) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if n < minVector || incX != 1 || incY != 1 || len(x) < n || len(y) < n || alpha == 0 {
		b.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	daxpy(int32(n), alpha, &x[0], &y[0])
}

// Dscal multiplies x by alpha.
func (b BLAS) Dscal(n int, alpha float64, x []float64, incX int) {
	if n < minVector || incX != 1 || len(x) < n || alpha == 0 {
		b.Implementation.Dscal(n, alpha, x, incX)
		return
	}
	dscal(int32(n), alpha, &x[0])
}

// Dgemv computes y = alpha op(A) x + beta y, A m x n.
func (b BLAS) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	trans, ok := transposed(t)
	lenX, lenY := n, m
	if trans {
		lenX, lenY = m, n
	}
	if !ok || m <= 0 || n <= 0 || m*n < minMatrix || incX != 1 || incY != 1 || alpha == 0 ||
		!holds(len(a), m, n, lda) || len(x) < lenX || len(y) < lenY {
		b.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	scale(beta, y[:lenY])
	dgemv(trans, int32(m), int32(n), alpha, &a[0], int32(lda), &x[0], &y[0])
}

// Dtrsv solves op(A) x = b in place, A n x n triangular.
func (b BLAS) Dtrsv(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	lower, trans, unit, ok := triangle(ul, t, d)
	if !ok || n < minTriangle || incX != 1 || !holds(len(a), n, n, lda) || len(x) < n {
		b.Implementation.Dtrsv(ul, t, d, n, a, lda, x, incX)
		return
	}
	dtrsv(lower, trans, unit, int32(n), &a[0], int32(lda), &x[0])
}

// Dgemm computes C = alpha op(A) op(B) + beta C, C m x n, k the inner dimension.
func (b BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, bb []float64, ldb int, beta float64, c []float64, ldc int) {
	transA, okA := transposed(tA)
	transB, okB := transposed(tB)
	rowsA, colsA, rowsB, colsB := m, k, k, n
	if transA {
		rowsA, colsA = k, m
	}
	if transB {
		rowsB, colsB = n, k
	}
	if !okA || !okB || m <= 0 || n <= 0 || k <= 0 || m*n*k < minProduct || alpha == 0 ||
		!holds(len(c), m, n, ldc) || !holds(len(a), rowsA, colsA, lda) || !holds(len(bb), rowsB, colsB, ldb) {
		b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
		return
	}
	aRow, aCol := steps(transA, lda)
	bRow, bCol := steps(transB, ldb)
	scaleRows(whole, m, n, beta, c, ldc)
	switch {
	case !transA && transB && m >= tileRows && n*k <= cached:
		productNT(m, n, k, alpha, a, lda, bb, ldb, c, ldc)
	case !transA && m <= fewRows:
		for i := range m {
			dgemv(!transB, int32(rowsB), int32(colsB), alpha, &bb[0], int32(ldb), &a[i*lda], &c[i*ldc])
		}
	default:
		product(whole, m, n, k, alpha, a, aRow, aCol, bb, bRow, bCol, c, ldc)
	}
}

// Dsyrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A.
func (b BLAS) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	lower, trans, _, ok := triangle(ul, t, blas.NonUnit)
	rows, cols := n, k
	if trans {
		rows, cols = k, n
	}
	if !ok || n <= 0 || k <= 0 || n*n*k < 2*minProduct || alpha == 0 || !holds(len(c), n, n, ldc) || !holds(len(a), rows, cols, lda) {
		b.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	part := int32(upperPart)
	if lower {
		part = lowerPart
	}
	row, col := steps(trans, lda)
	scaleRows(part, n, n, beta, c, ldc)
	product(part, n, n, k, alpha, a, row, col, a, col, row, c, ldc)
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B in place, B m x n.
func (b BLAS) Dtrsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, bb []float64, ldb int) {
	lower, trans, unit, ok := triangle(ul, t, d)
	side := m
	if s == blas.Right {
		side = n
	}
	if !ok || (s != blas.Left && s != blas.Right) || m <= 0 || n <= 0 || side < minTriangle || alpha == 0 ||
		!holds(len(a), side, side, lda) || !holds(len(bb), m, n, ldb) {
		b.Implementation.Dtrsm(s, ul, t, d, m, n, alpha, a, lda, bb, ldb)
		return
	}
	scaleRows(whole, m, n, alpha, bb, ldb)
	aRow, aCol := steps(trans, lda)
	switch {
	case s == blas.Left:
		solve(&system{lower != trans, unit, m, n, a, aRow, aCol, bb, ldb, 1})
	case m <= fewRows: // row by row: op(A)ᵀ x = b
		for i := range m {
			dtrsv(lower, !trans, unit, int32(n), &a[0], int32(lda), &bb[i*ldb])
		}
	default:
		solve(&system{lower == trans, unit, n, m, a, aCol, aRow, bb, 1, ldb})
	}
}
