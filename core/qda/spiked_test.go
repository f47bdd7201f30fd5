package qda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

func spikedPrior(t testing.TB, rng *rand.Rand, d, r int) *niw.Prior {
	t.Helper()
	x := mat.NewDense(d, r, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	var qr mat.QR
	qr.Factorize(x)
	var q mat.Dense
	qr.QTo(&q)
	scale, lambda := make([]float64, d), make([]float64, r)
	for i := range scale {
		scale[i] = 0.5 + rng.Float64()
	}
	for i := range lambda {
		lambda[i] = math.Exp(rng.NormFloat64())
	}
	s, err := niw.NewSpiked(scale, mat.DenseCopyOf(q.Slice(0, d, 0, r).T()), lambda)
	must(t, err)
	p := &niw.Prior{M: make([]float64, d), Kappa: 0.3 + rng.Float64(), Spiked: s, Nu: float64(d) + rng.Float64()}
	for i := range p.M {
		p.M[i] = 0.3 * rng.NormFloat64()
	}
	return p
}

// The same prior with a factor L is the oracle: its densities are checked
// against gonum's distributions. Shots make classes of both forms.
func TestSpikedPriorAnswersAsItsFactorDoes(t *testing.T) {
	const d, r = 8, 3
	p := spikedPrior(t, rand.New(rand.NewPCG(7, 1)), d, r)
	for name, o := range variants {
		for _, shots := range [][]int{{1}, {1, 1}, {3, 5, 2, 0}, {3, 9, 1}} {
			spiked, examples := teach(t, p, o, shots)
			dense, _ := teach(t, p.Dense(), o, shots)
			for range 3 {
				x := randomVector(rand.New(rand.NewPCG(8, uint64(len(shots)))), d, 0.5)
				same(t, name, ask(t, spiked, x), ask(t, dense, x), 1e-10)
				got, want := make([]float64, len(shots)), make([]float64, len(shots))
				none, err := spiked.LogDensitiesTo(got, x)
				must(t, err)
				wantNone, err := dense.LogDensitiesTo(want, x)
				must(t, err)
				same(t, name+", log densities", append(got, none), append(want, wantNone), 1e-9)
			}
			before := ask(t, spiked, examples[0][0])
			must(t, spiked.Add("c0", examples[0][0]))
			must(t, spiked.Remove("c0", shots[0]))
			if after := ask(t, spiked, examples[0][0]); !slices.Equal(before, after) {
				t.Errorf("%s: %v before adding and removing, %v after", name, before, after)
			}
			must(t, spiked.Remove("c0", 0))
			must(t, dense.Remove("c0", 0))
			if spiked.Count("c0") > 0 || len(shots) > 1 {
				same(t, name+", after a removal", ask(t, spiked, examples[0][0]), ask(t, dense, examples[0][0]), 1e-10)
			}
		}
	}
}

func TestSpikedPriorRejectsWhatOverflows(t *testing.T) {
	p := spikedPrior(t, rand.New(rand.NewPCG(7, 2)), 6, 2)
	c, _ := teach(t, p, Options{NonePrior: 0.1}, []int{2, 2})
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e200, math.MaxFloat64} {
		x := make([]float64, 6)
		x[2] = v
		if _, err := c.ProbabilitiesTo(make([]float64, 2), x); err == nil {
			t.Errorf("%v is taken", v)
		}
		if err := c.Add("c0", x); err == nil {
			t.Errorf("%v is taken as an example", v)
		}
	}
}

func TestSpikedPredictionDoesNotAllocate(t *testing.T) {
	p := spikedPrior(t, rand.New(rand.NewPCG(7, 3)), 40, 10)
	c, examples := teach(t, p, variants["session"], []int{5, 5, 5})
	out := make([]float64, 3)
	if n := testing.AllocsPerRun(100, func() { _, _ = c.ProbabilitiesTo(out, examples[0][0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
