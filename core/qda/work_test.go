package qda

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// counted is BLAS that counts its multiplications.
type counted struct {
	blas.Float64
	done int
}

func (c *counted) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	c.done += n
	return c.Float64.Ddot(n, x, incX, y, incY)
}

func (c *counted) Daxpy(n int, a float64, x []float64, incX int, y []float64, incY int) {
	c.done += n
	c.Float64.Daxpy(n, a, x, incX, y, incY)
}

func (c *counted) Dgemv(t blas.Transpose, m, n int, a float64, x []float64, lda int, y []float64, incY int, b float64, z []float64, incZ int) {
	c.done += m * n
	c.Float64.Dgemv(t, m, n, a, x, lda, y, incY, b, z, incZ)
}

func (c *counted) Dgemm(s, t blas.Transpose, m, n, k int, a float64, x []float64, ldx int, y []float64, ldy int, b float64, z []float64, ldz int) {
	c.done += m * n * k
	c.Float64.Dgemm(s, t, m, n, k, a, x, ldx, y, ldy, b, z, ldz)
}

func (c *counted) Dtrsv(u blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	c.done += n * n
	c.Float64.Dtrsv(u, t, d, n, a, lda, x, incX)
}

func (c *counted) Dtrsm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	c.done += m * n * max(m, n)
	c.Float64.Dtrsm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
}

// A prediction takes N (d+r) + r d multiplications of BLAS; what takes K² for each class
// is done outside of it. Products of all pictures with one another, K² d, are far above it.
func TestAPredictionIsLinearInThePictures(t *testing.T) {
	const d, rank, way = 512, 32, 3
	rng := rand.New(rand.NewPCG(31, 1))
	p := spikedPrior(t, rng, d, rank)
	query, probabilities := randomVector(rng, d, 0), make([]float64, way)
	for _, k := range []int{20, 200} {
		c, _ := teach(t, p, Options{NonePrior: 0.1, Population: somePopulation(), Centre: 1.5}, []int{k, k, k})
		predict := func() {
			if _, err := c.ProbabilitiesTo(probabilities, query); err != nil {
				t.Fatal(err)
			}
		}
		predict() // what only the first one does
		b := &counted{Float64: blas64.Implementation()}
		blas64.Use(b)
		predict()
		blas64.Use(b.Float64)
		if least, most := way*k*d, way*k*(d+rank)+2*rank*d; b.done < least || b.done > most {
			t.Errorf("%d pictures a class: %d multiplications, want %d to %d", k, b.done, least, most)
		}
	}
}
