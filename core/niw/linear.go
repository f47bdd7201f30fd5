package niw

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Metric returns the squared whitened length as a sum of squares of plain inner
// products: with B r×d and weights w of length d+r
//
//	|L⁻¹v|² = Σ_i w_i v_i² + Σ_k w_{d+k} (B v)_k²
//
// For a spiked prior B has its r directions, for one with a factor L it is L⁻¹ and the
// first d weights are zero. Cost r d, or d³/3.
func (p *Prior) Metric() (b blas64.General, w []float64) {
	d, r := p.Dim(), p.Dim()
	if p.Spiked != nil {
		r = p.Spiked.Rank()
	}
	b = blas64.General{Rows: r, Cols: d, Stride: d, Data: make([]float64, r*d)}
	w = make([]float64, d+r)
	if s := p.Spiked; s != nil {
		for i, v := range s.Scale {
			w[i] = 1 / (v * v)
		}
		for k, v := range s.square {
			w[d+k] = v
			floats.DivTo(b.Data[k*d:(k+1)*d], s.row(k), s.Scale)
		}
		return b, w
	}
	for i := range d {
		b.Data[i*d+i], w[d+i] = 1, 1
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, p.L.RawTriangular(), b)
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

// PlaceTo overwrites w, of length d, with the point whose whitened form it is. Cost
// that of [Prior.WhitenTo].
func (p *Prior) PlaceTo(w []float64) {
	if s := p.Spiked; s != nil {
		s.apply(w, s.unwhiten)
		floats.Mul(w, s.Scale)
	} else {
		l := p.L.RawTriangular()
		for i := l.N - 1; i >= 0; i-- {
			w[i] = dot(l.Data[i*l.Stride:i*l.Stride+i+1], w[:i+1])
		}
	}
	floats.Add(w, p.M)
}
