package niw

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Factorise overwrites a, the identity plus the scatter of examples, with its Cholesky factor. If
// examples lie so far apart that rounding makes a indefinite, it adds to the diagonal: 1e-14 of its
// largest entry, then each time a hundred times as much. It panics for infinity and NaN. Cost n³/3.
func Factorise(a blas64.Symmetric) blas64.Triangular {
	n, top := a.N, 0.0
	row := func(i int) []float64 { // of the stored triangle
		if a.Uplo == blas.Upper {
			return a.Data[i*a.Stride+i : i*a.Stride+n]
		}
		return a.Data[i*a.Stride : i*a.Stride+i+1]
	}
	was := make([]float64, n*n)
	for i := range n {
		copy(was[i*n:], row(i))
		top = math.Max(top, math.Abs(a.Data[i*a.Stride+i]))
	}
	for more := 1e-14 * top; ; more *= 100 {
		u, ok := lapack64.Potrf(a)
		if ok && top <= math.MaxFloat64 {
			return u
		}
		if !(more < top) {
			panic("niw: a scatter of examples that are not finite")
		}
		for i := range n {
			copy(row(i), was[i*n:])
			a.Data[i*a.Stride+i] += more
		}
	}
}
