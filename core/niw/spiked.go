package niw

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Spiked is a scale matrix that differs from a diagonal one in few directions, the spiked model
// of a covariance:
//
//	S = D½ (I + Qᵀ (Λ-I) Q) D½,   Q Qᵀ = I_r,   D½ = diag(Scale)
//
// with Q r×d and Λ diagonal. Whitening needs two products with Q in place of a solve with a d×d
// factor:
//
//	w = (I + Qᵀ (Λ^-½ - I) Q) D^-½ (x-m),   log det S = 2 Σ ln Scale_i + Σ ln Lambda_k
//
// In directions with Lambda below one, the examples of a class lie closer together than
// elsewhere; above one they scatter. A learned prior has both. Make one with [NewSpiked], or
// from a full factor with [Spike]; then do not change the fields.
type Spiked struct {
	Scale      []float64  // d, positive
	Directions *mat.Dense // r×d as given, from which Q is made by orthonormalising the rows; nil if r = 0
	Lambda     []float64  // r, between 1e-6 and 1e6

	q                blas64.General
	whiten, unwhiten []float64 // Lambda^-½ - 1 and Lambda^½ - 1
}

const (
	// maxSpike bounds Lambda so that S, formed at size d, keeps a Cholesky factor.
	maxSpike = 1e6

	// maxSkew is how far Q Qᵀ may be from the identity in [NewSpiked]: rounding to
	// half precision leaves 1e-4.
	maxSkew = 1e-2

	// spikeBlock directions are read while they are in the second-level cache.
	spikeBlock = 16
)

// spikeScratch holds the coefficients of a block of directions.
var spikeScratch = sync.Pool{New: func() any { return new([spikeBlock]float64) }}

// NewSpiked returns the scale matrix with these square roots of a diagonal, directions and
// eigenvalues, and keeps them. Directions from rounded files are nearly orthonormal;
// [orthonormalise] makes Q of them. It returns a *[DimensionError] or a *[ValueError], which names the
// fault. Cost r² d.
func NewSpiked(scale []float64, directions *mat.Dense, lambda []float64) (*Spiked, error) {
	d, r := len(scale), len(lambda)
	if d == 0 {
		return nil, &DimensionError{Name: "scale of S", Got: 0, Want: 1, Remedy: "give it one number for each dimension"}
	}
	if err := CheckPriorVector("scale of S", scale, d); err != nil {
		return nil, err
	}
	for i, v := range scale {
		if !(v > 0) {
			return nil, &ValueError{Name: "scale of S", Index: i, Value: v, Want: "a positive number"}
		}
	}
	for i, v := range lambda {
		if !(v >= 1/maxSpike && v <= maxSpike) {
			return nil, &ValueError{Name: "eigenvalue of S", Index: i, Value: v, Want: "a number from 1e-6 to 1e6"}
		}
	}
	s := &Spiked{Scale: scale, Lambda: lambda, whiten: make([]float64, r), unwhiten: make([]float64, r)}
	for i, v := range lambda {
		s.whiten[i], s.unwhiten[i] = 1/math.Sqrt(v)-1, math.Sqrt(v)-1
	}
	if r == 0 {
		return s, nil
	}
	if directions == nil {
		return nil, &DimensionError{Name: "column of the directions of S", Got: 0, Want: r, Remedy: "give a direction for each eigenvalue"}
	}
	if n, c := directions.Dims(); n != r {
		return nil, &DimensionError{Name: "column of the directions of S", Got: n, Want: r, Remedy: "give a direction for each eigenvalue"}
	} else if c != d {
		return nil, &DimensionError{Name: "direction of S", Got: c, Want: d, Remedy: anew}
	}
	s.Directions, s.q = directions, mat.DenseCopyOf(directions).RawMatrix()
	if err := orthonormalise(s.q); err != nil {
		return nil, err
	}
	return s, nil
}

// orthonormalise makes the rows of q orthonormal, with the Cholesky factor of their inner
// products.
func orthonormalise(q blas64.General) error {
	for i := range q.Rows {
		if err := CheckPriorVector("direction of S", q.Data[i*q.Stride:i*q.Stride+q.Cols], q.Cols); err != nil {
			return err
		}
	}
	r := q.Rows
	gram := blas64.Symmetric{Uplo: blas.Lower, N: r, Stride: r, Data: make([]float64, r*r)}
	blas64.Syrk(blas.NoTrans, 1, q, 0, gram)
	for i := range r {
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if v := gram.Data[i*r+j]; !(math.Abs(v-want) <= maxSkew) {
				return &ValueError{Name: "inner product of directions of S", Index: i, Value: v, Want: "one with itself and zero with others, to within 0.01"}
			}
		}
	}
	factor, ok := lapack64.Potrf(gram)
	if !ok {
		return &ValueError{Name: "directions of S", Index: -1, Form: "a matrix of linearly dependent rows", Want: "linearly independent ones: " + anew}
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, factor, q)
	return nil
}

// row returns the i-th row of Q.
func (s *Spiked) row(i int) []float64 { return s.q.Data[i*s.q.Stride : i*s.q.Stride+s.q.Cols] }

// Rank returns r.
func (s *Spiked) Rank() int { return len(s.Lambda) }

// apply overwrites z with (I + Qᵀ diag(c) Q) z. The directions are orthogonal, so each block
// can work on the result of the one before. Cost 2 r d, one pass over Q.
func (s *Spiked) apply(z, c []float64) {
	if len(c) == 0 {
		return
	}
	q := s.q
	scratch := spikeScratch.Get().(*[spikeBlock]float64)
	v := blas64.Vector{N: len(z), Data: z, Inc: 1}
	for i := 0; i < q.Rows; i += spikeBlock {
		n := min(spikeBlock, q.Rows-i)
		block := blas64.General{Rows: n, Cols: q.Cols, Stride: q.Stride, Data: q.Data[i*q.Stride:]}
		a := blas64.Vector{N: n, Data: scratch[:n], Inc: 1}
		blas64.Gemv(blas.NoTrans, 1, block, v, 0, a)
		floats.Mul(a.Data, c[i:i+n])
		blas64.Gemv(blas.Trans, 1, block, a, 1, v)
	}
	spikeScratch.Put(scratch)
}

// applyRows is apply for every row of z, as two matrix products.
func (s *Spiked) applyRows(z blas64.General, c []float64) {
	if len(c) == 0 || z.Rows == 0 {
		return
	}
	r := len(c)
	a := blas64.General{Rows: z.Rows, Cols: r, Stride: r, Data: make([]float64, z.Rows*r)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, z, s.q, 0, a)
	for i := range a.Rows {
		floats.Mul(a.Data[i*r:(i+1)*r], c)
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, s.q, 1, z)
}

// logDet returns log det S. Cost O(d).
func (s *Spiked) logDet() float64 {
	var sum float64
	for _, v := range s.Scale {
		sum += 2 * math.Log(v)
	}
	for _, v := range s.Lambda {
		sum += math.Log(v)
	}
	return sum
}

// factor returns the Cholesky factor L of S. Cost r d² + d³/3.
func (s *Spiked) factor() *mat.TriDense {
	d := len(s.Scale)
	a := blas64.General{Rows: d, Cols: d, Stride: d, Data: make([]float64, d*d)}
	if r := len(s.Lambda); r > 0 {
		weighted := blas64.General{Rows: r, Cols: d, Stride: d, Data: make([]float64, r*d)}
		for i, v := range s.Lambda {
			floats.ScaleTo(weighted.Data[i*d:(i+1)*d], v-1, s.row(i))
		}
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, s.q, weighted, 0, a)
	}
	for i := range d {
		a.Data[i*d+i]++
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: a.Data}); !ok {
		panic("niw: spiked scale matrix not positive definite")
	}
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i, v := range s.Scale {
		floats.ScaleTo(l.RawTriangular().Data[i*d:i*d+i+1], v, a.Data[i*d:i*d+i+1])
	}
	return l
}

// Spike returns p with its scale matrix replaced by the nearest spiked one of rank r, at most
// d. D is the diagonal of S. The r eigenvalues of D^-½ S D^-½ that lie farthest from the others
// on a logarithmic scale are kept. The others take their geometric mean, so log det S stays the
// same. rest is the standard deviation of the logarithms of these others. ok is false if the
// eigenvalues cannot be found. It panics if r is out of range. Cost O(d³): seconds at d = 1000.
func Spike(p *Prior, r int) (q *Prior, rest float64, ok bool) {
	d := p.Dim()
	if r < 0 || r > d {
		panic("niw: rank out of range")
	}
	correlation, scale := correlations(p.Dense().L)
	var eigen mat.EigenSym
	if !eigen.Factorize(correlation, true) {
		return nil, 0, false
	}
	logs := eigen.Values(nil) // ascending
	for i, v := range logs {
		logs[i] = math.Log(math.Max(v, math.SmallestNonzeroFloat64))
	}
	low, mean, rest := mostAlike(logs, d-r)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	directions, lambda := mat.NewDense(max(r, 1), d, nil), make([]float64, 0, r)
	for i, v := range logs {
		if i < low || i >= low+d-r {
			mat.Col(directions.RawRowView(len(lambda)), i, &vectors)
			lambda = append(lambda, math.Max(1/maxSpike, math.Min(maxSpike, math.Exp(v-mean))))
		}
	}
	floats.Scale(math.Exp(mean/2), scale)
	s, err := NewSpiked(scale, directions, lambda)
	if err != nil {
		return nil, 0, false
	}
	return &Prior{M: append([]float64(nil), p.M...), Kappa: p.Kappa, Spiked: s, Nu: p.Nu}, rest, true
}

// correlations returns D^-½ S D^-½ and the diagonal of D½ for S = L Lᵀ.
func correlations(l *mat.TriDense) (*mat.SymDense, []float64) {
	d, _ := l.Dims()
	var s mat.SymDense
	s.SymOuterK(1, l)
	scale := make([]float64, d)
	for i := range scale {
		scale[i] = math.Sqrt(s.At(i, i))
	}
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, s.At(i, j)/(scale[i]*scale[j]))
		}
	}
	return &s, scale
}

// mostAlike finds the n successive of the ascending values that scatter least, and returns the
// index of the first, their mean and standard deviation.
func mostAlike(values []float64, n int) (at int, mean, deviation float64) {
	if n == 0 {
		return 0, 0, 0
	}
	best := math.Inf(1)
	for i := range len(values) - n + 1 {
		block := values[i : i+n]
		m := floats.Sum(block) / float64(n)
		var v float64
		for _, x := range block {
			v += (x - m) * (x - m)
		}
		if v < best {
			at, mean, best = i, m, v
		}
	}
	return at, mean, math.Sqrt(best / float64(n))
}
