package baseline

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/metrics"
)

// Span is an orthonormal basis of the space that the support rows span. Its coordinates keep all
// inner products of support rows with each other and with queries. The part of a query outside is
// the same for all classes.
type Span struct {
	Coords *mat.Dense // n x r, the support in the basis
	rows   *mat.Dense // r x d, support rows that span the space
	factor *mat.Dense // r x r lower triangular: rows = factor * basis
}

// spanTolerance bounds the squared length of a row outside the basis, relative to the longest row.
// Less than this is rounding.
const spanTolerance = 1e-12

// NewSpan factorises the Gram matrix of the support (n x d) by Cholesky with
// pivoting, stopping at its numerical rank r <= min(n, d). Cost O(n^2 d).
func NewSpan(support *mat.Dense) *Span {
	n, d := support.Dims()
	gram := mat.NewDense(n, n, nil)
	gram.Mul(support, support.T())
	coords := mat.NewDense(n, min(n, d), nil)
	rest := make([]float64, n) // squared length outside the basis so far
	top := 0.0
	for i := range rest {
		rest[i] = gram.At(i, i)
		top = math.Max(top, rest[i])
	}
	var pivots []int
	for len(pivots) < min(n, d) {
		p := metrics.Best(rest)
		if rest[p] <= spanTolerance*top {
			break
		}
		eliminate(coords, gram, rest, p, len(pivots))
		pivots = append(pivots, p)
	}
	return newSpan(support, coords, pivots)
}

// eliminate fills column k of the coordinates from pivot row p.
func eliminate(coords, gram *mat.Dense, rest []float64, p, k int) {
	pivot := math.Sqrt(rest[p])
	head := coords.RawRowView(p)[:k]
	for i := range rest {
		row := coords.RawRowView(i)
		s := gram.At(i, p)
		for j, v := range head {
			s -= row[j] * v
		}
		row[k] = s / pivot
	}
	coords.Set(p, k, pivot)
	for i := range rest {
		v := coords.At(i, k)
		rest[i] -= v * v
	}
	rest[p] = 0
}

func newSpan(support, coords *mat.Dense, pivots []int) *Span {
	_, d := support.Dims()
	n, _ := coords.Dims()
	r := max(len(pivots), 1) // a support of zeros keeps one coordinate, 0
	s := &Span{rows: mat.NewDense(r, d, nil), factor: mat.NewDense(r, r, nil)}
	s.Coords = mat.DenseCopyOf(coords.Slice(0, n, 0, r))
	if len(pivots) == 0 {
		s.factor.Set(0, 0, 1)
	}
	for k, p := range pivots {
		s.rows.SetRow(k, support.RawRowView(p))
		copy(s.factor.RawRowView(k), coords.RawRowView(p)[:k+1])
	}
	return s
}

// Project returns the coordinates (q x r) of the queries (q x d): their inner
// products with the pivot rows, solved against the factor. Cost O(q r d).
func (s *Span) Project(queries *mat.Dense) *mat.Dense {
	q, _ := queries.Dims()
	r, _ := s.rows.Dims()
	c := mat.NewDense(q, r, nil)
	c.Mul(queries, s.rows.T())
	l := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: r, Stride: r, Data: s.factor.RawMatrix().Data}
	blas64.Trsm(blas.Right, blas.Trans, 1, l, c.RawMatrix())
	return c
}
