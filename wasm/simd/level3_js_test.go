package simd

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
)

var transposes = []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}

func TestGemm(t *testing.T) {
	p := against(t)
	for m := 0; m <= maxSize; m++ {
		for n := 0; n <= maxSize; n++ {
			k := p.rnd.IntN(maxSize + 1)
			checkGemm(t, p, transposes[(m+n)%2], transposes[m%3], m, n, k, p.rnd.IntN(variants))
		}
	}
	for k := 0; k <= maxSize; k++ {
		for _, tA := range transposes {
			for _, tB := range transposes {
				for variant := range variants {
					checkGemm(t, p, tA, tB, p.rnd.IntN(20), p.rnd.IntN(20), k, variant)
				}
			}
		}
	}
	// Across the block sizes: 64 rows, 256 columns, 256 in the sum.
	for _, size := range [][3]int{{65, 257, 300}, {129, 3, 520}, {3, 515, 257}, {64, 256, 256}, {130, 260, 1}} {
		checkGemm(t, p, blas.NoTrans, blas.NoTrans, size[0], size[1], size[2], 0)
		checkGemm(t, p, blas.Trans, blas.Trans, size[0], size[1], size[2], 0)
	}
}

func checkGemm(t *testing.T, p pair, tA, tB blas.Transpose, m, n, k, variant int) {
	t.Helper()
	rowsA, colsA, rowsB, colsB := m, k, k, n
	if tA != blas.NoTrans {
		rowsA, colsA = k, m
	}
	if tB != blas.NoTrans {
		rowsB, colsB = n, k
	}
	lda, ldb, ldc := colsA+1+p.rnd.IntN(3), colsB+1+p.rnd.IntN(3), n+1+p.rnd.IntN(3)
	a, b, c := p.vector((rowsA+1)*lda), p.vector((rowsB+1)*ldb), p.vector((m+1)*ldc)
	p.prepare(variant, a, b)
	for _, alpha := range []float64{0, 1, -0.5} {
		for _, beta := range []float64{0, 1, -0.5} {
			if beta == 0 && m > 0 && n > 0 {
				c[p.rnd.IntN(m)*ldc+p.rnd.IntN(n)] = math.NaN() // must be overwritten
			}
			g, w := slices.Clone(c), slices.Clone(c)
			p.got.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, g, ldc)
			p.want.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, w, ldc)
			compare(t, g, w, 4*eps*float64(k+1), "gemm %c%c %dx%dx%d alpha=%v beta=%v variant %d", tA, tB, m, n, k, alpha, beta, variant)
		}
	}
}

// TestZeroTimesInfinityIsNaN holds the one documented difference from gonum.
func TestZeroTimesInfinityIsNaN(t *testing.T) {
	needKernels(t)
	const n = 20
	a, b, c := make([]float64, n*n), ones(n*n), make([]float64, n*n)
	b[0] = math.Inf(1)
	BLAS{}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
	for at, v := range c {
		if want := at%n == 0; math.IsNaN(v) != want {
			t.Fatalf("number %d of 0 times B is %v; column 0 of B holds an infinity", at, v)
		}
	}
}

func TestSyrk(t *testing.T) {
	p := against(t)
	for n := 0; n <= maxSize; n++ {
		for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, trans := range transposes {
				checkSyrk(t, p, ul, trans, n, p.rnd.IntN(maxSize+1), p.rnd.IntN(variants))
			}
		}
	}
	for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
		checkSyrk(t, p, ul, blas.NoTrans, 333, 270, 0)
		checkSyrk(t, p, ul, blas.Trans, 333, 270, 0)
	}
}

func checkSyrk(t *testing.T, p pair, ul blas.Uplo, trans blas.Transpose, n, k, variant int) {
	t.Helper()
	rows, cols := n, k
	if trans != blas.NoTrans {
		rows, cols = k, n
	}
	lda, ldc := cols+1+p.rnd.IntN(3), n+1+p.rnd.IntN(3)
	a, c := p.vector((rows+1)*lda), p.vector((n+1)*ldc)
	p.prepare(variant, a, a)
	for _, alpha := range []float64{0, 1, -0.5} {
		for _, beta := range []float64{0, 1, -0.5} {
			g, w := slices.Clone(c), slices.Clone(c)
			p.got.Dsyrk(ul, trans, n, k, alpha, a, lda, beta, g, ldc)
			p.want.Dsyrk(ul, trans, n, k, alpha, a, lda, beta, w, ldc)
			compare(t, g, w, 4*eps*float64(k+1), "syrk %c %c n=%d k=%d alpha=%v beta=%v variant %d", ul, trans, n, k, alpha, beta, variant)
		}
	}
}

func TestTrsm(t *testing.T) {
	p := against(t)
	for side := 0; side <= maxSize; side++ {
		for _, s := range []blas.Side{blas.Left, blas.Right} {
			triangles(func(ul blas.Uplo, trans blas.Transpose, d blas.Diag) {
				checkTrsm(t, p, s, ul, trans, d, side, p.rnd.IntN(maxSize+1), p.rnd.IntN(variants))
			})
		}
	}
	// Across the diagonal blocks of 128.
	for _, side := range []int{128, 129, 300} {
		for _, s := range []blas.Side{blas.Left, blas.Right} {
			triangles(func(ul blas.Uplo, trans blas.Transpose, d blas.Diag) {
				checkTrsm(t, p, s, ul, trans, d, side, 1+p.rnd.IntN(20), 0)
			})
		}
	}
}

func checkTrsm(t *testing.T, p pair, s blas.Side, ul blas.Uplo, trans blas.Transpose, d blas.Diag, side, other, variant int) {
	t.Helper()
	m, n := side, other
	if s == blas.Right {
		m, n = other, side
	}
	lda, ldb := side+1+p.rnd.IntN(3), n+1+p.rnd.IntN(3)
	a, b := p.triangle(side, lda), p.vector((m+1)*ldb)
	switch variant {
	case 2:
		p.spoil(b[:m*ldb])
	case 3:
		p.zeros(b)
	}
	fillOther(ul, d, side, a, lda)
	for _, alpha := range []float64{0, 1, -0.5} {
		g, w := slices.Clone(b), slices.Clone(b)
		p.got.Dtrsm(s, ul, trans, d, m, n, alpha, a, lda, g, ldb)
		p.want.Dtrsm(s, ul, trans, d, m, n, alpha, a, lda, w, ldb)
		compare(t, g, w, 16*eps*float64(side+1), "trsm %c %c %c %c %dx%d alpha=%v variant %d", s, ul, trans, d, m, n, alpha, variant)
	}
}
