// Package modeltest makes priors for tests and examples: valid, with no special
// values, and learned from nothing.
package modeltest

import (
	"math/rand/v2"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// Prior returns one of dimension dim with one scale matrix for the session, with a
// session model.
func Prior(dim int) *model.Prior {
	rng := rand.New(rand.NewPCG(4, uint64(dim)))
	p := niw.HandCrafted(dim, 1)
	p.Kappa, p.Nu = 0.7, float64(dim)+1.5
	center := make([]float64, dim)
	for i := range dim {
		p.M[i] = 0.1 * rng.NormFloat64()
		center[i] = 3 + 0.1*rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.05*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.3+0.2*rng.Float64())
	}
	return &model.Prior{NIW: p, Transform: embed.Transform{Kind: embed.CL2N, Centre: center},
		Session: model.Session{Near: 0.1, Centre: 1.5, Shared: 1.5, Kappa: 5, Population: population()},
		Facts:   map[string]string{"data": "alpha"}}
}

func population() *session.Population {
	return &session.Population{LogT: 0.4, LogTemperature: session.LogTemperature{SD: 0.4, Weight: 0.7},
		CohortMean: session.CohortMean{Mean: [2]float64{1, 0.3}, SD: 0.8, Count: 3}, CohortDeviation: session.CohortDeviation{SD: 1.5, Count: 2},
		Known: session.Known{Threshold: session.Normal{Mean: 0.5, SD: 0.6}, Slope: session.Normal{Mean: 0.2, SD: 0.3}, Weight: 0.4}}
}
