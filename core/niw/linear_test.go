package niw

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/test"
)

// linearPriors are a dense, a diagonal and a spiked one.
func linearPriors(t *testing.T, rng *rand.Rand, d int) []*Prior {
	t.Helper()
	dense := HandCrafted(d, 1)
	scale := make([]float64, d)
	for i := range d {
		scale[i] = 0.5 + rng.Float64()
		for j := range i {
			dense.L.SetTri(i, j, rng.NormFloat64())
		}
		dense.L.SetTri(i, i, scale[i])
	}
	prior := func(directions *mat.Dense, lambda ...float64) *Prior {
		s := test.Must(NewSpiked(scale, directions, lambda))(t)
		return &Prior{M: make([]float64, d), Kappa: 1, Spiked: s, Nu: float64(d)}
	}
	directions := mat.NewDense(2, d, nil)
	directions.Set(0, 0, 1)
	directions.Set(1, 2, 0.6)
	directions.Set(1, 3, 0.8)
	return []*Prior{dense, prior(nil), prior(directions, 0.01, 30)}
}

// The oracle is WhitenTo, with m = 0.
func TestAdjointSaysWhatWhiteningDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(70, 1))
	const d = 7
	for i, p := range linearPriors(t, rng, d) {
		for range 10 {
			v, f, white := make([]float64, d), make([]float64, d), make([]float64, d)
			for j := range d {
				v[j], f[j] = rng.NormFloat64(), rng.NormFloat64()
			}
			p.WhitenTo(white, v)
			want := floats.Dot(f, white)
			p.AdjointTo(f)
			got := floats.Dot(f, v)
			test.FailIf(t, !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))), "prior %d: product %v, want %v", i, got, want)
		}
	}
}
