// Package fastblas multiplies matrices with AVX2 where the processor has it.
//
// gonum's Dgemm uses two lanes of SSE2 and no fused multiply-add. Of all of BLAS
// the product A Bᵀ is where metaqda spends its time: whitening, Gram matrices
// and the gradient of L are all brought into that form. [Use] replaces that one
// routine; everything else stays gonum's. The kernel is on one goroutine:
// callers are parallel over tasks and blocks.
//
// Sums are taken in another order than gonum's, so results differ in their last
// bits between processors with and without AVX2.
package fastblas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Implementation is gonum's BLAS with another product A Bᵀ.
type Implementation struct{ gonum.Implementation }

// Use installs the kernel for blas64, and so for gonum/mat, where the processor
// supports it, and reports whether it does.
func Use() bool {
	if available {
		blas64.Use(Implementation{})
	}
	return available
}

// A block of b of blockCols rows and blockK columns stays in the first-level
// cache while all rows of a pass over it.
const (
	blockK    = 192
	blockCols = 16
	small     = 8 // below this many rows, columns or terms gonum's is as good
)

// Dgemm computes C = alpha op(A) op(B) + beta C; see [blas.Float64].
func (i Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if tA != blas.NoTrans || tB == blas.NoTrans || m < 2 || n < 4 || k < small || !fits(m, k, lda, a) || !fits(n, k, ldb, b) || !fits(m, n, ldc, c) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	scale(m, n, beta, c, ldc)
	for p := 0; p < k; p += blockK {
		kb := min(blockK, k-p)
		for j := 0; j < n; j += blockCols {
			panel(m, min(blockCols, n-j), kb, alpha, a[p:], lda, b[j*ldb+p:], ldb, c[j:], ldc)
		}
	}
}

// fits reports whether an r×c matrix lies within x: where it does not, gonum's
// routine says what is wrong.
func fits(r, c, stride int, x []float64) bool {
	return stride >= max(c, 1) && len(x) >= (r-1)*stride+c
}

func scale(m, n int, beta float64, c []float64, ldc int) {
	if beta == 1 {
		return
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if beta == 0 {
			clear(row) // NaN times zero is no zero
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// panel adds alpha A Bᵀ to C for a block of b. Tiles of 2×4 go to the kernel,
// rows, columns and terms that are left over are done one by one.
func panel(m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	main, mm, nn := k&^3, m&^1, n&^3
	var out [8]float64
	for i := 0; i < mm; i += 2 {
		a0, a1 := a[i*lda:i*lda+k], a[(i+1)*lda:(i+1)*lda+k]
		for j := 0; j < nn; j += 4 {
			if main > 0 {
				dot2x4(main, &a0[0], lda, &b[j*ldb], ldb, &out)
			} else {
				out = [8]float64{}
			}
			c0, c1 := c[i*ldc+j:i*ldc+j+4], c[(i+1)*ldc+j:(i+1)*ldc+j+4]
			for q := range 4 {
				s0, s1 := out[q], out[4+q]
				for r, v := range b[(j+q)*ldb+main : (j+q)*ldb+k] {
					s0 += a0[main+r] * v
					s1 += a1[main+r] * v
				}
				c0[q] += alpha * s0
				c1[q] += alpha * s1
			}
		}
		for j := nn; j < n; j++ {
			row := b[j*ldb : j*ldb+k]
			c[i*ldc+j] += alpha * dot(a0, row)
			c[(i+1)*ldc+j] += alpha * dot(a1, row)
		}
	}
	for i := mm; i < m; i++ {
		for j := range n {
			c[i*ldc+j] += alpha * dot(a[i*lda:i*lda+k], b[j*ldb:j*ldb+k])
		}
	}
}

// dot returns the inner product, by gonum's kernel.
func dot(x, y []float64) float64 {
	return gonum.Implementation{}.Ddot(len(x), x, 1, y, 1)
}
