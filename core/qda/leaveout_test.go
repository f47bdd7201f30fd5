package qda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Each example is asked of a classifier that was taught all others anew.
func TestLeaveOutIsTeachingAllOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 1))
	labels := []string{"a", "b", "c"}
	for name, o := range variants {
		o.Near = 0.8
		for _, d := range []int{3, 24} { // 3: in and out of the dense form
			p := randomPrior(rng, d)
			taught := map[string][][]float64{"a": drift(rng, 7, d), "b": drift(rng, 4, d), "c": drift(rng, 1, d)}
			teach := func(but string, out []int) *Classifier {
				c, err := New(p, o)
				must(t, err)
				for _, label := range labels {
					must(t, c.AddClass(label))
					for i, x := range taught[label] {
						if label != but || !slices.Contains(out, i) {
							must(t, c.Add(label, x))
						}
					}
				}
				return c
			}
			c, query := teach("", nil), randomVector(rng, d, 0.3)
			before := ask(t, c, query)
			for _, label := range labels {
				for b := range c.Bursts(label) {
					pictures, err := c.Pictures(label, b)
					must(t, err)
					mean := make([]float64, d)
					for _, i := range pictures {
						floats.AddScaled(mean, 1/float64(len(pictures)), taught[label][i])
					}
					got := make([]float64, 3, 4)
					none, err := c.LeaveOutTo(got, label, b)
					must(t, err)
					what := fmt.Sprint(name, " d=", d, " ", label, " ", b)
					same(t, what, append(got, none), ask(t, teach(label, pictures), mean), 1e-9)
					same(t, what+", afterwards", ask(t, c, query), before, 0)
				}
			}
		}
	}
}

func TestLeaveOutRefuses(t *testing.T) {
	c := taughtOne(t, randomPrior(rand.New(rand.NewPCG(61, 1)), 4), Options{NonePrior: 0.2}, nil)
	dst := make([]float64, 2)
	var label *LabelError
	if _, err := c.LeaveOutTo(dst, "nobody", 0); !errors.As(err, &label) {
		t.Errorf("unknown class: %v", err)
	}
	for _, b := range []int{-1, 0} {
		var example *ExampleError
		if _, err := c.LeaveOutTo(dst, "it", b); !errors.As(err, &example) {
			t.Errorf("example %d of none: %v", b, err)
		}
		if _, err := c.Pictures("it", b); !errors.As(err, &example) {
			t.Errorf("pictures of example %d of none: %v", b, err)
		}
	}
	if _, err := c.LeaveOutTo(dst, "other", 0); !errors.Is(err, ErrNoExamples) {
		t.Errorf("the only one of all: %v", err)
	}
	ask(t, c, make([]float64, 4))
}
