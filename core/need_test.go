package metaqda

import (
	"math"
	"math/rand/v2"
	"testing"

	"metaqda/core/test"
)

// By hand: three classes with two, one and two examples.
func TestNeedByHand(t *testing.T) {
	of := func(class int, none float64, p ...float64) LeftOut {
		return LeftOut{Class: class, None: none, Probabilities: p}
	}
	left := []LeftOut{
		of(0, 0.5, 0.4, 0.05, 0.05), of(0, 0, 0.6, 0.1, 0.3), // doubts .2 and .4
		{Class: 1, Alone: true, Probabilities: []float64{0.5, 0, 0.5}},
		of(2, 0, 0.3, 0.3, 0.4), of(2, 0, 0.1, 0.3, 0.6), // .6 and .4
	}
	mean := (0.3 + 0.5 + 0.5) / 3
	got := needOf(left, 4, func() {}) // the fourth has no example
	// D/n is (.6+2 mean)/4/2, (2 mean)/2/1 and (1+2 mean)/4/2; 1 and 2 share .3+.3, 0 and 2 .1+.3 + .3+.1.
	if got.Class != 1 || got.ConfusedWith != 2 || math.Abs(got.Doubt-mean) > 1e-12 {
		t.Errorf("%+v, want class 1 with 2 and the doubt %v", got, mean)
	}
	left[2] = of(1, 0, 0.02, 0.98, 0)
	got = needOf(append(left, of(1, 0, 0, 1, 0)), 4, func() {})
	mean = (0.3 + 0.01 + 0.5) / 3
	if want := (1 + 2*mean) / 4; got.Class != 2 || got.ConfusedWith != 0 || math.Abs(got.Doubt-want) > 1e-12 {
		t.Errorf("%+v, want class 2 with 0 and the doubt %v", got, want)
	}
	// Certain to be none of them: nothing is asked.
	if got := needOf([]LeftOut{of(0, 1, 0, 0), of(1, 1, 0, 0)}, 2, func() {}); got.Class != 0 || got.ConfusedWith != -1 || got.Doubt != 0.5 {
		t.Errorf("of examples taken for none: %+v", got)
	}
}

// What Influence found out of the need is not computed again, until something changes.
func TestNeedsAreKnownAfterInfluence(t *testing.T) {
	c, all := fresh(t, Settings{}), pictures(rand.New(rand.NewPCG(8, 2)), 3, 6, 24, 0.2)
	for j, label := range []string{"a", "b", "c"} {
		for _, x := range all[j][:5] {
			test.Must(c.Add(label, "", x))(t)
		}
	}
	asked := func() (Need, int) {
		b := test.Must(c.BeginInfluence(0))(t)
		steps, p := done(t, b), []float64{0.1, 0.6, 0.2}
		if got, want := b.Decide(p, 0.1), c.Decide(p, 0.1); got != want {
			t.Errorf("after %d steps it decides %+v, want %+v", steps, got, want)
		}
		return b.Need, steps
	}
	want, steps := asked()
	if steps < 15 {
		t.Fatalf("%d steps leave 15 examples out", steps)
	}
	test.Must(c.Add("a", "", all[0][5]))(t)
	if _, err := c.Undo(); err != nil {
		t.Fatal(err)
	}
	b := test.Must(c.BeginInfluence(MostInfluence))(t)
	if steps := done(t, b); steps < 15 || b.Need != want {
		t.Errorf("%d steps and %+v after a change, want %+v", steps, b.Need, want)
	}
	if got, steps := asked(); steps > 0 || got != want {
		t.Errorf("%d steps and %+v, want none and %+v", steps, got, want)
	}
	test.Must(c.Add("c", "", all[2][5]))(t)
	if got, steps := asked(); steps < 16 || got == want {
		t.Errorf("%d steps and %+v after another change", steps, got)
	}
}

func TestNeedsOfFewExamples(t *testing.T) {
	c := fresh(t, Settings{})
	for range 2 {
		if got := test.Must(c.Needs(nil, nil))(t); got.Class != -1 || got.ConfusedWith != -1 {
			t.Errorf("%d classes: %+v", c.Len(), got)
		}
		test.Must(c.Add("a", "", []float32{1, 2}))(t)
	}
	all := pictures(rand.New(rand.NewPCG(8, 1)), 3, 4, 24, 0.2)
	c = fresh(t, Settings{})
	for j, label := range []string{"a", "b", "c"} {
		for _, x := range all[j][:4-3*(j/2)] {
			test.Must(c.Add(label, "", x))(t)
		}
	}
	if got := test.Must(c.Needs(nil, nil))(t); got.Class != 2 {
		t.Errorf("the class of one example is not the one: %+v", got)
	}
}
