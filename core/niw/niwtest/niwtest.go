// Package niwtest makes priors and embeddings for tests, with nothing special about them.
package niwtest

import (
	"math/rand/v2"

	"metaqda/core/niw"
)

// Prior returns a prior of dimension d.
func Prior(rng *rand.Rand, d int) *niw.Prior {
	p := niw.HandCrafted(d, 1)
	p.Kappa, p.Nu = 0.3+rng.Float64(), float64(d)+3*rng.Float64()
	for i := range d {
		p.M[i] = 0.3 * rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.2*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.7+rng.Float64())
	}
	return p
}

// Vector returns d numbers about an offset.
func Vector(rng *rand.Rand, d int, offset float64) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = offset + rng.NormFloat64()
	}
	return x
}
