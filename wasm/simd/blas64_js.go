//go:build js && wasm

package simd

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BLAS implements gonum's blas.Float64 and blas.Float32: the kernels where they
// help, gonum's own routines for the rest. It must be used only where
// [Available].
type BLAS struct{ gonum.Implementation }

var (
	_ blas.Float64 = BLAS{}
	_ blas.Float32 = BLAS{}
)

// Ddot returns xᵀ y.
func (b BLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if v, ok := float64s.doDot(n, x, incX, y, incY); ok {
		return v
	}
	return b.Implementation.Ddot(n, x, incX, y, incY)
}

// Daxpy adds alpha x to y.
func (b BLAS) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if !float64s.doAxpy(n, alpha, x, incX, y, incY) {
		b.Implementation.Daxpy(n, alpha, x, incX, y, incY)
	}
}

// Dscal multiplies x by alpha.
func (b BLAS) Dscal(n int, alpha float64, x []float64, incX int) {
	if !float64s.doScal(n, alpha, x, incX) {
		b.Implementation.Dscal(n, alpha, x, incX)
	}
}

// Dnrm2 returns the Euclidean norm of x.
func (b BLAS) Dnrm2(n int, x []float64, incX int) float64 {
	if v, ok := float64s.doNrm2(n, x, incX); ok {
		return v
	}
	return b.Implementation.Dnrm2(n, x, incX)
}

// Dgemv computes y = alpha op(A) x + beta y, A m x n.
func (b BLAS) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if !float64s.doGemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY) {
		b.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Dtrsv solves op(A) x = b in place, A n x n triangular.
func (b BLAS) Dtrsv(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if !float64s.doTrsv(ul, t, d, n, a, lda, x, incX) {
		b.Implementation.Dtrsv(ul, t, d, n, a, lda, x, incX)
	}
}

// Dgemm computes C = alpha op(A) op(B) + beta C, C m x n, k the inner dimension.
func (b BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, bb []float64, ldb int, beta float64, c []float64, ldc int) {
	if !float64s.doGemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc) {
		b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
	}
}

// Dsyrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A.
func (b BLAS) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !float64s.doSyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc) {
		b.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B in place, B m x n.
func (b BLAS) Dtrsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, bb []float64, ldb int) {
	if !float64s.doTrsm(s, ul, t, d, m, n, alpha, a, lda, bb, ldb) {
		b.Implementation.Dtrsm(s, ul, t, d, m, n, alpha, a, lda, bb, ldb)
	}
}
