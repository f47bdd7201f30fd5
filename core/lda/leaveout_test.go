package lda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// In sessions too large to be inferred anew without each example, leaving one out touches
// nothing, and answers nearly as if it did.
func TestLeaveOutOfLargeSessions(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	for i, shots := range [][]int{slices.Repeat([]int{5}, 5), slices.Repeat([]int{2}, 20), slices.Repeat([]int{1, 2}, 20), slices.Repeat([]int{3}, 40), {1, 30}, slices.Repeat([]int{8}, 5)} {
		o := with(Options{})
		if i == 5 {
			o.Spread = 1
		}
		o.Population, o.NonePrior = somePopulation(), 0.2
		c, _ := teach(t, niwtest.Prior(rng, 24), o, shots)
		c.own()
		posterior, rows := c.posterior, &c.shared.cov.rows[0]
		got, want := make([]float64, len(shots)), make([]float64, len(shots))
		sum, n, worst := 0.0, 0.0, 0.0
		for _, k := range c.classes {
			for b := range min(3, k.count()) {
				none := test.Must(c.LeaveOutTo(got, k.label, b))(t)
				anew := k.count() == 1 && len(shots) <= fewClasses
				if !anew && (c.posterior != posterior || rows != &c.shared.cov.rows[0]) {
					t.Errorf("%v: the session was computed anew", shots)
				}
				off := math.Abs(none - c.leaveOutExactly(want, k, b))
				for j, p := range want {
					off = max(off, math.Abs(p-got[j]))
				}
				if k.count() == 1 && got[c.index[k.label]] != 0 {
					t.Errorf("%v: an empty class has %v", shots, got)
				}
				sum, n, worst = sum+off, n+1, max(worst, off)
				c.own()
				posterior, rows = c.posterior, &c.shared.cov.rows[0]
			}
		}
		t.Logf("%v: %.4f in the mean, %.4f in the worst case", shots, sum/n, worst)
		if sum/n > 0.02 || worst > 0.05 {
			t.Errorf("%v: answers differ by %v in the mean, by %v in the worst case", shots, sum/n, worst)
		}
	}
}

// In a session of more examples the posterior lacks the example that is left out.
func TestLeaveOutTakesAnExampleOutOfThePosterior(t *testing.T) {
	c, _ := teach(t, niwtest.Prior(rand.New(rand.NewPCG(98, 1)), 8), variants["session"], []int{9, 8, 7})
	s := c.Support()
	u, each, scratch := make([]float64, 3), slices.Repeat([]float64{-math.Log(3)}, 3), make([]float64, 3)
	got, want, at := make([]float64, 3), make([]float64, 3), map[int]int{}
	for i, y := range s.Class {
		floats.ScaleTo(u, 1/c.population().Temperature(), s.Scores[3*i:3*i+3])
		none := c.Session().Without(y, i, c.classes[y].count()-1).ProbabilitiesTo(want, u, each, c.options.NonePrior, scratch)
		gotNone := test.Must(c.LeaveOutTo(got, c.classes[y].label, at[y]))(t)
		same(t, fmt.Sprint("example ", i), append(got, gotNone), append(want, none), 1e-9)
		at[y]++
	}
}
