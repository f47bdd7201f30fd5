package niw

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// The factor times its transpose is the matrix, to about the addition to its diagonal. One triangle is
// stored with a stride, and what lies beside it stays.
func TestFactoriseMultipliesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, scale := range []float64{1, 1e9, 1e30} { // from 1e9 on rounding makes it indefinite
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			const n, stride, untouched = 6, 9, 42.5
			x := make([]float64, n)
			for i := range x {
				x[i] = scale * r.NormFloat64()
			}
			a := blas64.Symmetric{Uplo: uplo, N: n, Stride: stride, Data: make([]float64, n*stride)}
			stored := func(i, j int) bool { return j < n && (uplo == blas.Upper) == (j >= i) || i == j }
			for i := range n {
				for j := range stride {
					if a.Data[i*stride+j] = untouched; stored(i, j) {
						a.Data[i*stride+j] = x[i] * x[j]
					}
				}
				a.Data[i*stride+i]++
			}
			Factorise(a)
			at := func(i, j int) float64 { // of U, or of Lᵀ
				if i > j {
					return 0
				}
				if uplo == blas.Lower {
					i, j = j, i
				}
				return a.Data[i*stride+j]
			}
			for i := range n {
				for j := range stride {
					if !stored(i, j) && a.Data[i*stride+j] != untouched {
						t.Errorf("scale %v: a number beside the triangle became %v", scale, a.Data[i*stride+j])
					}
				}
				for j := i; j < n; j++ {
					got, want := 0.0, x[i]*x[j]
					for k := range n {
						got += at(k, i) * at(k, j)
					}
					if i == j {
						want++
					}
					if math.Abs(got-want) > 1e-9*math.Max(1, scale*scale) {
						t.Errorf("scale %v: entry %d, %d is %v, want %v", scale, i, j, got, want)
					}
				}
			}
		}
	}
}

func TestFactorisePanicsForNumbersThatAreNotFinite(t *testing.T) {
	inf := math.Inf(1)
	for _, entries := range [][3]float64{{math.NaN(), 0, 1}, {1, math.NaN(), 1}, {1, inf, 1}, {inf, 0, 1}, {1, 0, inf}, {inf, inf, inf}} {
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			data := []float64{entries[0], entries[1], entries[1], entries[2]}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("the factor of %v is %v", entries, data)
					}
				}()
				Factorise(blas64.Symmetric{Uplo: uplo, N: 2, Stride: 2, Data: data})
			}()
		}
	}
}
