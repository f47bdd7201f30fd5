package metatrain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"metaqda/core/episode"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// The log densities of a blend are those of the classifier.
func TestBlendAgreesWithClassifier(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	const d = 6
	p, task := randomParams(rng, d), randomTask(rng, d, []int{2, 8, 0}, 3, true)
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		e, w := NewEngine(d, Objective{Inference: inf, RegParam: 0.5}), &Workspace{}
		e.Set(p)
		e.Forward(w, task)
		c, err := qda.New(p.Prior, qda.Options{Inference: inf, RegParam: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		row := func(i int) []float64 { return task.X[i*d : (i+1)*d] }
		at := 0
		for j, k := range task.Shots {
			label := string(rune('a' + j))
			if err := c.AddClass(label); err != nil {
				t.Fatal(err)
			}
			for range k {
				if err := c.Add(label, row(at)); err != nil {
					t.Fatal(err)
				}
				at++
			}
		}
		want := make([]float64, 3)
		for i := range task.Labels {
			none, err := c.LogDensitiesTo(want, row(at+i))
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range append(append([]float64(nil), w.logp[i*3:i*3+3]...), w.logp0[i]) {
				if x := append(want, none)[j]; math.Abs(v-x) > 1e-9*math.Max(1, math.Abs(x)) {
					t.Errorf("%v query %d [%d]: %v, the classifier says %v", inf, i, j, v, x)
				}
			}
		}
	}
}

// Validation whitens whole domains; its episodes score as tasks do.
func TestBlendInValidation(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	const d = 5
	p, world := randomParams(rng, d), newWorld(1, 8, 10, 0.5, spread(d))
	o := Objective{RegParam: 0.5}
	v := world.validator(t, 3, episode.Fixed(3, 2, 4))
	scores, err := v.Collect(context.Background(), p, nil, o, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	e, w := NewEngine(d, o), &Workspace{}
	e.Set(p)
	for n, got := range scores {
		ep := v.episodes[0][n]
		task := &Task{Dim: d, Shots: []int{2, 2, 2}, Labels: ep.QueryLabel}
		for _, r := range append(slices.Concat(ep.Support...), ep.Query...) {
			for _, x := range world.domain.Row(r) {
				task.X = append(task.X, float64(x))
			}
		}
		e.Forward(w, task)
		for i, l := range w.logp {
			if want := l - w.logp0[i/3]; math.Abs(got.query[i]-want) > 1e-9*math.Max(1, math.Abs(want)) {
				t.Errorf("episode %d [%d]: %v, by itself %v", n, i, got.query[i], want)
			}
		}
	}
}

func TestRegParamIsPartOfTheConfiguration(t *testing.T) {
	a, b := DefaultConfig(), DefaultConfig()
	b.Objective.RegParam = 0.5
	for _, s := range []string{difference(a, b), difference(b, a)} {
		if !strings.Contains(s, "RegParam") || !strings.Contains(s, "0.5") {
			t.Errorf("difference %q", s)
		}
	}
	b.Objective.RegParam = 1
	if b.Validate() == nil {
		t.Error("a share of one passed")
	}
}
