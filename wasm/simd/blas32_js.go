//go:build js && wasm

package simd

import "gonum.org/v1/gonum/blas"

// Sdot is Ddot in float32.
func (b BLAS) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if v, ok := float32s.doDot(n, x, incX, y, incY); ok {
		return v
	}
	return b.Implementation.Sdot(n, x, incX, y, incY)
}

// Saxpy is Daxpy in float32.
func (b BLAS) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if !float32s.doAxpy(n, alpha, x, incX, y, incY) {
		b.Implementation.Saxpy(n, alpha, x, incX, y, incY)
	}
}

// Sscal is Dscal in float32.
func (b BLAS) Sscal(n int, alpha float32, x []float32, incX int) {
	if !float32s.doScal(n, alpha, x, incX) {
		b.Implementation.Sscal(n, alpha, x, incX)
	}
}

// Snrm2 is Dnrm2 in float32.
func (b BLAS) Snrm2(n int, x []float32, incX int) float32 {
	if v, ok := float32s.doNrm2(n, x, incX); ok {
		return v
	}
	return b.Implementation.Snrm2(n, x, incX)
}

// Sgemv is Dgemv in float32.
func (b BLAS) Sgemv(t blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if !float32s.doGemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY) {
		b.Implementation.Sgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Strsv is Dtrsv in float32.
func (b BLAS) Strsv(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []float32, lda int, x []float32, incX int) {
	if !float32s.doTrsv(ul, t, d, n, a, lda, x, incX) {
		b.Implementation.Strsv(ul, t, d, n, a, lda, x, incX)
	}
}

// Sgemm is Dgemm in float32.
func (b BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, bb []float32, ldb int, beta float32, c []float32, ldc int) {
	if !float32s.doGemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc) {
		b.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
	}
}

// Ssyrk is Dsyrk in float32.
func (b BLAS) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !float32s.doSyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc) {
		b.Implementation.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Strsm is Dtrsm in float32.
func (b BLAS) Strsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, bb []float32, ldb int) {
	if !float32s.doTrsm(s, ul, t, d, m, n, alpha, a, lda, bb, ldb) {
		b.Implementation.Strsm(s, ul, t, d, m, n, alpha, a, lda, bb, ldb)
	}
}
