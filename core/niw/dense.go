package niw

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Scatter accumulates whitened examples into a d×d scale matrix for use where
// examples outnumber dimensions, and where several classes share one matrix:
//
//	A = I + Σ_j { Σ_i (w_i - w̄_j)(w_i - w̄_j)ᵀ + kappa K_j/(kappa+K_j) w̄_j w̄_jᵀ },   S = L A Lᵀ
//
// with one summand per [Scatter.Add]. [Scatter.Factorize] then serves quadratic
// forms. Both steps work on fresh memory only when d grows.
type Scatter struct {
	prior  Posterior
	n      int
	a      *mat.SymDense
	chol   blas64.Triangular
	centre []float64
	work   []float64 // centred rows of the class at hand
	logDet float64
}

// Reset begins with A = I for the prior p.
func (s *Scatter) Reset(p *Prior) {
	d := p.Dim()
	s.prior = Posterior{Dim: d, Kappa: p.Kappa, Nu: p.Nu, LogDetS: p.LogDetS()}
	s.n = 0
	if s.a == nil || s.a.SymmetricDim() != d {
		s.a = mat.NewSymDense(d, nil)
		s.centre = make([]float64, d)
	}
	s.a.Zero()
	for i := range d {
		s.a.SetSym(i, i, 1)
	}
}

// Add takes in the whitened examples of one class, the rows of w. The scatter
// is centred before it is squared, so a common offset costs no digits. Cost
// K d² /2 multiply-adds.
func (s *Scatter) Add(w blas64.General) {
	if w.Rows == 0 {
		return
	}
	if w.Cols != s.prior.Dim {
		panic("niw: matrix of wrong shape")
	}
	s.n += w.Rows
	mean(s.centre, w)
	s.work = append(s.work[:0], make([]float64, w.Rows*w.Cols)...)
	c := blas64.General{Rows: w.Rows, Cols: w.Cols, Stride: w.Cols, Data: s.work}
	for i := range w.Rows {
		floats.SubTo(c.Data[i*c.Stride:(i+1)*c.Stride], w.Data[i*w.Stride:i*w.Stride+w.Cols], s.centre)
	}
	a := s.a.RawSymmetric()
	blas64.Syrk(blas.Trans, 1, c, 1, a)
	k := float64(w.Rows)
	blas64.Syr(s.prior.Kappa*k/(s.prior.Kappa+k), blas64.Vector{N: w.Cols, Data: s.centre, Inc: 1}, a)
}

// Factorize computes the Cholesky factor of A. A is at least the identity, so
// only overflow can make it fail: then ok is false. Cost d³/3.
func (s *Scatter) Factorize() (ok bool) {
	a := s.a.RawSymmetric()
	// Upper storage of A read as its lower triangle by the transpose: copy, then
	// factor in place, so that A can take in more examples later.
	d := a.N
	if s.chol.N != d {
		s.chol = blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d, Stride: d, Data: make([]float64, d*d)}
	}
	for i := range d {
		for j := i; j < d; j++ {
			s.chol.Data[j*d+i] = a.Data[i*a.Stride+j]
		}
	}
	_, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: s.chol.Data})
	s.logDet = 0
	for i := range d {
		s.logDet += 2 * math.Log(s.chol.Data[i*d+i])
	}
	return ok && !math.IsNaN(s.logDet) && !math.IsInf(s.logDet, 0)
}

// Posterior returns the constants of a class with k examples of its own whose
// scale matrix is the accumulated one.
func (s *Scatter) Posterior(k int) Posterior {
	p := s.prior
	p.Kappa += float64(k)
	p.Nu += float64(s.n)
	p.LogDetS += s.logDet
	return p
}

// SolveTo overwrites v, a difference of two whitened points, with C⁻¹v where
// A = C Cᵀ, so that |C⁻¹v|² is the quadratic form of S. Cost d²/2.
func (s *Scatter) SolveTo(v []float64) {
	SolveTo(v, s.chol)
}

// mean stores the mean of the rows of w in dst.
func mean(dst []float64, w blas64.General) {
	clear(dst)
	for i := range w.Rows {
		floats.Add(dst, w.Data[i*w.Stride:i*w.Stride+w.Cols])
	}
	floats.Scale(1/float64(w.Rows), dst)
}

// Update returns the posterior of one class as a prior in its own right, for
// the K examples in the rows of x, K×d:
//
//	kappa_j = kappa + K,   nu_j = nu + K,   m_j = (kappa m + K x̄)/(kappa+K)
//	S_j = S + Σ_i (x_i-x̄)(x_i-x̄)ᵀ + kappa K/(kappa+K) (x̄-m)(x̄-m)ᵀ
//
// (eq:update-rule, whose m_j lacks a kappa). Predictions do not need it; it
// serves inspection and updating in several steps. ok is false if the examples
// overflow. S_j has full rank, so a spiked prior becomes one with a factor L.
// Cost O(K d² + d³).
func (p *Prior) Update(x mat.Matrix) (post *Prior, ok bool) {
	p = p.Dense()
	k, d := x.Dims()
	w := mat.NewDense(k, d, nil)
	p.WhitenRowsTo(w, x)
	var s Scatter
	s.Reset(p)
	s.Add(w.RawMatrix())
	ok = s.Factorize()
	post = &Prior{M: append([]float64(nil), p.M...), Kappa: p.Kappa + float64(k), L: mat.NewTriDense(d, mat.Lower, nil), Nu: p.Nu + float64(k)}
	mean(s.centre, w.RawMatrix())
	floats.Scale(float64(k)/post.Kappa, s.centre)
	l := p.L.RawTriangular()
	p.UnwhitenTo(s.centre)
	floats.Add(post.M, s.centre)
	// L_j = L C, both lower triangular.
	lj := post.L.RawTriangular()
	product := blas64.General{Rows: d, Cols: d, Stride: lj.Stride, Data: lj.Data}
	for i := range d {
		copy(product.Data[i*lj.Stride:i*lj.Stride+i+1], s.chol.Data[i*d:i*d+i+1])
		clear(product.Data[i*lj.Stride+i+1 : (i+1)*lj.Stride])
	}
	blas64.Trmm(blas.Left, blas.NoTrans, 1, l, product)
	return post, ok
}
