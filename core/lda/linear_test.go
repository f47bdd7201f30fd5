package lda

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
)

// Scores by weights are those by the definition, which a classifier that is never prepared again
// goes on with: nothing but rounding may differ, whatever the prior, and however many residuals.
func TestWeightsAnswerAsTheDefinitionDoes(t *testing.T) {
	const d = 12
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		priors := []*niw.Prior{niwtest.Prior(rng, d), niwtest.Spiked(t, rng, d, 0), niwtest.Spiked(t, rng, d, 3)}
		prior := priors[seed%3]
		o := Options{Kappa: 2, Centre: 1.5, Shared: 1, NonePrior: 0.2, Spread: float64(seed % 2)}
		if seed%5 == 4 {
			o.Parts = &Parts{First: 5}
		}
		c, err := New(prior, o)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 + rng.IntN(4) {
			label := string(rune('a' + j))
			if err := c.AddClass(label); err != nil {
				t.Fatal(err)
			}
			for range rng.IntN(6) {
				if err := c.Add(label, niwtest.Vector(rng, d, float64(j))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Add("a", niwtest.Vector(rng, d, 0)); err != nil {
			t.Fatal(err)
		}
		other := c.Clone()
		n, changed := len(c.Labels()), false
		for range 400 {
			x := niwtest.Vector(rng, d, 1)
			want, got := make([]float64, n), make([]float64, n)
			none, err := other.ProbabilitiesTo(want, x)
			if err != nil {
				t.Fatal(err)
			}
			c.Prepare(func() bool { return true })
			if seed%2 == 1 {
				c.answering().linear.piece = 1 // one class after the other, as where there are many
			}
			is, err := c.ProbabilitiesTo(got, x)
			if err != nil {
				t.Fatal(err)
			}
			changed = changed || is != none
			for j := range n {
				if math.Abs(got[j]-want[j]) > 1e-9 {
					t.Fatalf("seed %d: class %d: %v, want %v", seed, j, got[j], want[j])
				}
			}
			if math.Abs(is-none) > 1e-9 {
				t.Fatalf("seed %d: none: %v, want %v", seed, is, none)
			}
		}
		if !changed {
			t.Errorf("seed %d: after 400 answers nothing was rounded in another way: no weights were used", seed)
		}
		// What is out of the ordinary is refused as before.
		got := make([]float64, n)
		for _, x := range [][]float64{make([]float64, d-1), append(make([]float64, d-1), math.NaN()), append(make([]float64, d-1), 1e90)} {
			_, is := c.ProbabilitiesTo(got, x)
			_, want := other.ProbabilitiesTo(got, x)
			if is == nil || want == nil || is.Error() != want.Error() {
				t.Errorf("seed %d: %v, want %v", seed, is, want)
			}
		}
	}
}

// A change makes the weights anew.
func TestWeightsFollowChanges(t *testing.T) {
	const d = 6
	rng := rand.New(rand.NewPCG(1, 2))
	c, err := New(niwtest.Spiked(t, rng, d, 2), Options{Kappa: 2, Centre: 1, Shared: 1, NonePrior: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 2)
	for _, label := range []string{"a", "b"} {
		if err := c.AddClass(label); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		if err := c.Add([]string{"a", "b"}[i%2], niwtest.Vector(rng, d, float64(i%2))); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			x := niwtest.Vector(rng, d, 0)
			c.Prepare(func() bool { return true })
			if _, err := c.ProbabilitiesTo(p, x); err != nil {
				t.Fatal(err)
			}
			want := make([]float64, 2)
			if _, err := c.Clone().ProbabilitiesTo(want, x); err != nil {
				t.Fatal(err)
			}
			if math.Abs(p[0]-want[0]) > 1e-9 {
				t.Fatalf("%d examples: %v, want %v", i+1, p[0], want[0])
			}
		}
	}
}

// Many goroutines may answer while weights become due; -race sees what they share.
func TestWeightsAreLearnedWhileOthersAnswer(t *testing.T) {
	const d = 6
	rng := rand.New(rand.NewPCG(3, 2))
	c, err := New(niwtest.Spiked(t, rng, d, 2), Options{Kappa: 2, Centre: 1, Shared: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if i < 2 {
			if err := c.AddClass(string(rune('a' + i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Add(string(rune('a'+i%2)), niwtest.Vector(rng, d, float64(i%2))); err != nil {
			t.Fatal(err)
		}
	}
	x := niwtest.Vector(rng, d, 0)
	var mu sync.RWMutex
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			p := make([]float64, 2)
			for range 200 {
				mu.RLock()
				for !c.Settled() {
					mu.RUnlock()
					mu.Lock()
					c.Prepare(func() bool { return true })
					mu.Unlock()
					mu.RLock()
				}
				if _, err := c.ProbabilitiesTo(p, x); err != nil {
					t.Error(err)
				}
				mu.RUnlock()
			}
		}()
	}
	all.Wait()
}
