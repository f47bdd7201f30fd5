package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"metaqda/core/test"
)

func random(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// The oracle is gonum's own routine. Strides beyond the width check that
// nothing between the rows is read or written.
func TestDgemmAgreesWithGonum(t *testing.T) {
	if !available {
		t.Skip("this processor has no AVX2")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 191, 192, 193, 200, 400}
	for range 400 {
		m, n, k := sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))]
		lda, ldb, ldc := k+rng.IntN(3), k+rng.IntN(3), n+rng.IntN(3)
		a, b, c := random(rng, m*lda), random(rng, n*ldb), random(rng, m*ldc)
		alpha, beta := rng.NormFloat64(), []float64{0, 1, -0.7}[rng.IntN(3)]
		if beta == 0 {
			c[rng.IntN(n)] = math.NaN()
		}
		want := append([]float64(nil), c...)
		gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, m, n, k, alpha, a, lda, b, ldb, beta, want, ldc)
		Implementation{}.Dgemm(blas.NoTrans, blas.Trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		for i := range c {
			if math.Abs(c[i]-want[i]) > 1e-12*float64(k) || math.IsNaN(c[i]) != math.IsNaN(want[i]) {
				t.Fatalf("%d×%d×%d, strides %d %d %d, beta %v: entry %d is %v, want %v", m, n, k, lda, ldb, ldc, beta, i, c[i], want[i])
			}
		}
	}
}

// What the kernel does not do is left to gonum, panics included.
func TestDgemmPanicsAsGonum(t *testing.T) {
	defer func() {
		test.FailIf(t, recover() == nil, "a matrix that is too short passed")
	}()
	Implementation{}.Dgemm(blas.NoTrans, blas.Trans, 16, 16, 16, 1, make([]float64, 255), 16, make([]float64, 256), 16, 0, make([]float64, 256), 16)
}
