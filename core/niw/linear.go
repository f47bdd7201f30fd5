package niw

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

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
