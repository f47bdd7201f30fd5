package simd

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
)

const maxSize = 67 // more than two blocks of every kind of unrolling, and all remainders

// variants are the ways operands are prepared: 0 plain, 1 with NaN or an
// infinity in the first operand, 2 in the second, 3 with zeros of both signs.
const variants = 4

func (p pair) prepare(variant int, operands ...[]float64) {
	switch variant {
	case 1, 2:
		p.spoil(operands[variant-1])
	case 3:
		for _, x := range operands {
			p.zeros(x)
		}
	}
}

func TestVectorRoutines(t *testing.T) {
	p := against(t)
	for n := 0; n <= maxSize; n++ {
		for _, inc := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {-1, 1}, {2, -2}} {
			for variant := range variants {
				x, y := p.vector(max(1, n)*max(inc[0], -inc[0])+3), p.vector(max(1, n)*max(inc[1], -inc[1])+3)
				p.prepare(variant, x, y)
				got, want := p.got.Ddot(n, x, inc[0], y, inc[1]), p.want.Ddot(n, x, inc[0], y, inc[1])
				compare(t, []float64{got}, []float64{want}, 4*eps*float64(n+1), "dot n=%d inc=%v variant %d", n, inc, variant)
				for _, alpha := range []float64{0, 1, -0.5, math.NaN()} {
					g, w := slices.Clone(y), slices.Clone(y)
					p.got.Daxpy(n, alpha, x, inc[0], g, inc[1])
					p.want.Daxpy(n, alpha, x, inc[0], w, inc[1])
					identical(t, g, w, "axpy n=%d alpha=%v inc=%v", n, alpha, inc)
					g, w = slices.Clone(x), slices.Clone(x)
					p.got.Dscal(n, alpha, g, inc[0])
					p.want.Dscal(n, alpha, w, inc[0])
					identical(t, g, w, "scal n=%d alpha=%v inc=%v", n, alpha, inc)
				}
			}
		}
	}
}

// identical requires the same bits but for the payload of NaN, so that the signs of zeros count.
func identical(t *testing.T, got, want []float64, format string, args ...any) {
	t.Helper()
	for i := range want {
		g, w := got[i], want[i]
		if math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Fatalf(format+": number %d is %v, want %v", append(args, i, g, w)...)
		}
	}
}

func TestGemv(t *testing.T) {
	p := against(t)
	for m := 0; m <= maxSize; m++ {
		for n := 0; n <= maxSize; n++ {
			for i, trans := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
				inc := [][2]int{{1, 1}, {1, 1}, {1, 2}, {-3, 1}}[(m+n+i)%4]
				checkGemv(t, p, trans, m, n, (m+2*n+i)%variants, inc)
			}
		}
	}
	checkGemv(t, p, blas.NoTrans, 301, 517, 0, [2]int{1, 1})
	checkGemv(t, p, blas.Trans, 301, 517, 0, [2]int{1, 1})
}

func checkGemv(t *testing.T, p pair, trans blas.Transpose, m, n, variant int, inc [2]int) {
	t.Helper()
	lda := n + 1 + p.rnd.IntN(3)
	lenX, lenY := n, m
	if trans != blas.NoTrans {
		lenX, lenY = m, n
	}
	a, x := p.vector(max(1, m)*lda), p.vector(max(1, lenX)*max(inc[0], -inc[0]))
	y := p.vector(max(1, lenY)*max(inc[1], -inc[1]) + 5)
	gap := max(1, lenY) * max(inc[1], -inc[1])
	p.prepare(variant, a, x)
	if variant == 3 {
		p.zeros(y)
	}
	for _, alpha := range []float64{0, 1, -0.5} {
		for _, beta := range []float64{0, 1, -0.5} {
			if beta == 0 {
				y[0] = math.NaN() // must be overwritten
			}
			g, w := slices.Clone(y), slices.Clone(y)
			p.got.Dgemv(trans, m, n, alpha, a, lda, x, inc[0], beta, g, inc[1])
			p.want.Dgemv(trans, m, n, alpha, a, lda, x, inc[0], beta, w, inc[1])
			if beta == 0 {
				g, w = g[:gap], w[:gap] // gonum's portable code clears y past its end
			}
			compare(t, g, w, 4*eps*float64(lenX+1), "gemv %c %dx%d alpha=%v beta=%v variant %d", trans, m, n, alpha, beta, variant)
		}
	}
}

// triangles calls f for every kind of triangular argument.
func triangles(f func(ul blas.Uplo, t blas.Transpose, d blas.Diag)) {
	for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
		for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
			for _, d := range []blas.Diag{blas.NonUnit, blas.Unit} {
				f(ul, t, d)
			}
		}
	}
}

func TestTrsv(t *testing.T) {
	p := against(t)
	sizes := []int{128, 301, 640}
	for n := 0; n <= maxSize; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		triangles(func(ul blas.Uplo, trans blas.Transpose, d blas.Diag) {
			for variant := range variants {
				for _, inc := range []int{1, 2} {
					checkTrsv(t, p, ul, trans, d, n, variant, inc)
				}
			}
		})
	}
}

func checkTrsv(t *testing.T, p pair, ul blas.Uplo, trans blas.Transpose, d blas.Diag, n, variant, inc int) {
	t.Helper()
	lda := n + 1 + p.rnd.IntN(3)
	a, x := p.triangle(n, lda), p.vector(n*inc+5)
	switch variant {
	case 1:
		p.spoil(wanted(ul, n, a, lda))
	case 2:
		p.spoil(x[:n*inc])
	case 3:
		p.zeros(x)
	}
	fillOther(ul, d, n, a, lda)
	g, w := slices.Clone(x), slices.Clone(x)
	p.got.Dtrsv(ul, trans, d, n, a, lda, g, inc)
	p.want.Dtrsv(ul, trans, d, n, a, lda, w, inc)
	compare(t, g, w, 16*eps*float64(n+1), "trsv %c %c %c n=%d inc=%d variant %d", ul, trans, d, n, inc, variant)
}

// wanted returns a row of the triangle that holds at least one number.
func wanted(ul blas.Uplo, n int, a []float64, lda int) []float64 {
	if n == 0 {
		return nil
	}
	i := n / 2
	if ul == blas.Lower {
		return a[i*lda : i*lda+i+1]
	}
	return a[i*lda+i : i*lda+n]
}

// fillOther makes what a triangular routine must not read NaN: the other
// triangle, the gap between rows and a unit diagonal.
func fillOther(ul blas.Uplo, d blas.Diag, n int, a []float64, lda int) {
	for at := range a {
		i, j := at/lda, at%lda
		if j >= n || (ul == blas.Lower && j > i) || (ul == blas.Upper && j < i) || (i == j && d == blas.Unit) {
			a[at] = math.NaN()
		}
	}
}
