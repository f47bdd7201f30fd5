package lda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// counting counts the multiply-adds of linear algebra.
type counting struct {
	gonum.Implementation
	cost int
}

func (b *counting) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, x []float64, ldx int, beta float64, c []float64, ldc int) {
	b.cost += m * n * k
	b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
}

func (b *counting) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	b.cost += m * n
	b.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

func (b *counting) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	b.cost += n * n * k / 2
	b.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
}

func (b *counting) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	if b.cost += m * n * n / 2; s == blas.Left {
		b.cost += m*m*n/2 - m*n*n/2
	}
	b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
}

func (b *counting) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	b.cost += n * n / 2
	b.Implementation.Dtrsv(ul, tA, d, n, a, lda, x, incX)
}

func (b *counting) Dtrmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	b.cost += n * n / 2
	b.Implementation.Dtrmv(ul, tA, d, n, a, lda, x, incX)
}

func (b *counting) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	b.cost += n
	b.Implementation.Daxpy(n, alpha, x, incX, y, incY)
}

func (b *counting) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	b.cost += n
	return b.Implementation.Ddot(n, x, incX, y, incY)
}

// No piece of work between two rests costs much more than pieceCost: the first answer with many
// classes, the next one after an example more, a batch, what to label, and each example left out.
// It is made smaller here, so that the classifier may be. The dual form has fewer examples.
func TestPiecesOfWorkAreSmall(t *testing.T) {
	b := &counting{}
	blas64.Use(b)
	was := pieceCost
	pieceCost = 1_000_000
	defer func() { pieceCost = was; blas64.Use(gonum.Implementation{}) }()
	rng := rand.New(rand.NewPCG(91, 1))
	for _, size := range []struct{ way, shot, d int }{{400, 3, 400}, {150, 3, 500}} {
		o := variants["session"]
		o.Near = 0.1
		c := test.Must(New(niw.HandCrafted(size.d, 1), o))(t)
		row := func(j int) []float64 {
			x := niwtest.Vector(rng, size.d, 0)
			x[j%size.d] += 5
			return x
		}
		for j := range size.way {
			test.OK(t, c.AddClass(fmt.Sprint(j)))
			for range size.shot {
				test.OK(t, c.Add(fmt.Sprint(j), row(j)))
			}
		}
		pieces, most := 0, 0
		count := func() bool {
			pieces++
			most = max(most, b.cost)
			b.cost = 0
			return true
		}
		small := func(what string, least int) {
			t.Helper()
			count()
			if most > 2*pieceCost || pieces < least {
				t.Errorf("%s with %d classes: %d pieces, the largest of %d multiply-adds, want %d at most", what, size.way, pieces, most, 2*pieceCost)
			}
			pieces, most = 0, 0
		}
		b.cost = 0
		c.Prepare(count)
		small("the first answer", 100)
		test.OK(t, c.Add("1", row(1)))
		b.cost = 0
		c.Prepare(count)
		small("the answer after a change", 20)
		x := mat.NewDense(300, size.d, nil)
		for i := range 300 {
			x.SetRow(i, row(i))
		}
		b.cost = 0
		test.Must(c.Classify(context.Background(), x, func(int, int) { count() }))(t)
		small("classify", 100)
		test.Must(c.Suggest(context.Background(), x, 5, func(int, int) { count() }))(t)
		small("suggest", 100)
		p := make([]float64, size.way)
		for j := range size.way {
			test.Must(c.LeaveOutTo(p, fmt.Sprint(j), j%size.shot))(t)
			count()
		}
		small("leave out", size.way)
	}
}
