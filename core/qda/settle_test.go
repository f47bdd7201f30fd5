package qda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// fresh returns a classifier that had the options from the start.
func fresh(t *testing.T, p *niw.Prior, o Options, examples [][][]float64) *Classifier {
	t.Helper()
	c, err := New(p, o)
	must(t, err)
	for j, rows := range examples {
		label := string(rune('a' + j))
		must(t, c.AddClass(label))
		for _, x := range rows {
			must(t, c.Add(label, x))
		}
	}
	return c
}

// Every change counts from the next query on, also after queries were answered.
func TestChangesCountAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	p, query := randomPrior(rng, 20), randomVector(rng, 20, 0.3)
	o := Options{NonePrior: 0.3, Population: somePopulation()}
	c, examples := teach(t, p, o, []int{2, 3})
	before := ask(t, c, query)
	must(t, c.SetClassPrior("c1", 5))
	after := ask(t, c, query)
	if !(after[1] > before[1] && after[0] < before[0]) {
		t.Errorf("with five times the prior probability %v, before %v", after, before)
	}
	must(t, c.SetClassPrior("c1", 1))
	same(t, "set back", ask(t, c, query), before, 0)
	for _, next := range []Options{
		{Inference: niw.MAP, NonePrior: 0.3, Population: somePopulation()}, {NonePrior: 0.1, Population: somePopulation()}, {NonePrior: 0.3},
		{NonePrior: 0.3, Population: somePopulation(), Centre: 2}, {NonePrior: 0.3, Population: somePopulation(), Pooled: true}, o,
	} {
		must(t, c.SetOptions(next))
		same(t, "other options", ask(t, c, query), ask(t, fresh(t, p, next, examples), query), 1e-12)
	}
}

// With one scale matrix for all classes nothing is left out: what the session says is
// what the population says of as many classes of as many examples.
func TestPooledKeepsToThePopulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 1))
	o := Options{Pooled: true, NonePrior: 0.3, Population: somePopulation()}
	c, _ := teach(t, randomPrior(rng, 20), o, []int{4, 5})
	want := o.Population.Infer(&session.Support{Shots: []float64{4, 5}})
	if got := c.Session().Hardness(); got != want.Hardness() {
		t.Errorf("hardness %v, want %v", got, want.Hardness())
	}
	ask := func(q *session.Posterior) float64 {
		return q.ProbabilitiesTo(make([]float64, 2), []float64{1, 0.3}, []float64{-math.Ln2, -math.Ln2}, 0.3, make([]float64, 2))
	}
	if got := ask(c.Session()); got != ask(want) {
		t.Errorf("none has probability %v, want %v", got, ask(want))
	}
}

// What was computed for a class goes with it.
func TestClassesThatGoLeaveNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	c, _ := teach(t, randomPrior(rng, 20), Options{Population: somePopulation()}, []int{2, 2, 2, 2})
	c.Support()
	for _, label := range []string{"c0", "c2"} {
		must(t, c.RemoveClass(label))
	}
	must(t, c.Remove("c1", 0))
	must(t, c.Remove("c1", 0))
	c.Support()
	if n := len(c.support.columns); n != 1 {
		t.Errorf("one class with examples is left, and the columns of %d", n)
	}
}

// Squares of what is further away than 1e70 would not stay finite in sums and products.
func TestTooFarAwayIsRefused(t *testing.T) {
	c, err := New(niw.HandCrafted(2, 1), Options{NonePrior: 0.1})
	must(t, err)
	must(t, c.AddClass("a"))
	must(t, c.Add("a", []float64{0, 9e69}))
	must(t, c.Add("a", []float64{1, 0}))
	must(t, c.Add("a", []float64{-9e69, 0}))
	for _, query := range [][]float64{{0, 0}, {0, 9e69}, {-9e69, 9e68}} {
		ask(t, c, query)
	}
	var value *niw.ValueError
	for _, far := range []float64{1.1e70, -1e75, 1e150} {
		if err := c.Add("a", []float64{far, 0}); !errors.As(err, &value) {
			t.Errorf("%v: %v", far, err)
		}
		if _, err := c.ProbabilitiesTo(make([]float64, 1), []float64{0, far}); !errors.As(err, &value) {
			t.Errorf("query %v: %v", far, err)
		}
	}
}
