package niw

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/test"
)

// However far an example lies, it is no impossible query: the difference of two large
// numbers that its quadratic form is stays at or above zero.
func TestFarExamplesAsQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	const d = 12
	for _, far := range []float64{1, 1e4, 1e8, 1e12, 1e30} {
		for k := 1; k <= 6; k++ {
			p, w := randomPrior(rng, d), randomRows(rng, k, d)
			w.Scale(far, w)
			var gram mat.SymDense
			gram.SymOuterK(1, w)
			var g Group
			g.Fit(p, &gram)
			for i := range k {
				cross := append(mat.Row(nil, i, &gram), gram.At(i, i))
				q := g.quad(cross[k], cross[:k])
				test.FailIf(t, !(q >= 0 && q <= cross[k]), "%g away, example %d of %d: quadratic form %v", far, i, k, q)
				for _, inf := range []Inference{FB, MAP} {
					v := g.LogProb(inf, cross[k], cross[:k])
					test.FailIf(t, math.IsNaN(v) || math.IsInf(v, 0), "%g away, example %d of %d, %v: %v", far, i, k, inf, v)
				}
			}
		}
	}
}

// Directions in which examples of a class do not differ at all, or differ a million
// times as much as elsewhere, are bounded: S keeps a Cholesky factor.
func TestSpikesAreBounded(t *testing.T) {
	const d = 6
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i := range d {
		l.SetTri(i, i, 1)
	}
	for i := 1; i < d; i++ { // rows 0 to 3 nearly parallel
		if i < 4 {
			l.SetTri(i, 0, 1)
			l.SetTri(i, i, 1e-6)
		}
	}
	p := &Prior{M: make([]float64, d), Kappa: 1, L: l, Nu: d}
	q, _, ok := Spike(p, 4)
	test.StopIf(t, !ok, "no spiked prior of nearly parallel rows")
	for i, v := range q.Spiked.Lambda {
		test.FailIf(t, !(v >= 1/maxSpike && v <= maxSpike), "eigenvalue %d is %v", i, v)
	}
	err := q.Dense().Validate()
	test.FailIf(t, err != nil, "%v", err)
}
