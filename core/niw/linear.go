package niw

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Metric returns the squared whitened length as a sum of squares of plain inner
// products: with B r×d and weights w of length d+r
//
//	|L⁻¹v|² = Σ_i w_i v_i² + Σ_k w_{d+k} (B v)_k²
//
// For a spiked prior B has its r directions, for one with a factor L it is L⁻¹ and the
// first d weights are zero. B is nil if r = 0. Cost r d, or d³/3.
func (p *Prior) Metric() (b *mat.Dense, w []float64) {
	d := p.Dim()
	if s := p.Spiked; s != nil {
		w = make([]float64, d, d+s.Rank())
		for i, v := range s.Scale {
			w[i] = 1 / (v * v)
		}
		if s.Rank() > 0 {
			b = mat.NewDense(s.Rank(), d, nil)
		}
		for k := range s.Rank() {
			floats.DivTo(b.RawRowView(k), s.row(k), s.Scale)
		}
		return b, append(w, s.square...)
	}
	b, w = mat.NewDense(d, d, nil), make([]float64, 2*d)
	for i := range d {
		b.Set(i, i, 1)
		w[d+i] = 1
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, p.L.RawTriangular(), b.RawMatrix())
	return b, w
}

// AdjointTo overwrites f, of length d, with g such that gᵀv = fᵀ(L⁻¹v) for every v.
// Same cost as [Prior.WhitenTo].
func (p *Prior) AdjointTo(f []float64) {
	if s := p.Spiked; s != nil {
		s.apply(f, s.whiten)
		floats.Div(f, s.Scale)
		return
	}
	blas64.Trsv(blas.Trans, p.L.RawTriangular(), blas64.Vector{N: len(f), Data: f, Inc: 1})
}
