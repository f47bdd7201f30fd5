package qda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"metaqda/core/niw"
)

// By the definition: with S = s I the whitened distance is the plain one over √s.
func TestNearestByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 1))
	const d, scale = 6, 4.0
	c, err := New(niw.HandCrafted(d, scale), with(Options{}))
	must(t, err)
	taught := map[string][][]float64{}
	for _, label := range []string{"a", "b", "empty"} {
		must(t, c.AddClass(label))
		for range map[string]int{"a": 5, "b": 3}[label] {
			x := randomVector(rng, d, 2)
			taught[label] = append(taught[label], x)
			must(t, c.Add(label, x))
		}
	}
	x := randomVector(rng, d, 2)
	got, err := c.Nearest(x, 100)
	must(t, err)
	if len(got) != 8 {
		t.Fatalf("%d neighbours of 8 pictures", len(got))
	}
	ratio := 0.0
	for i, n := range got {
		var s float64
		for j, v := range taught[n.Label][n.Picture] {
			s += (v - x[j]) * (v - x[j])
		}
		if i == 0 {
			ratio = n.Distance / math.Sqrt(s)
		}
		if math.Abs(n.Distance-ratio*math.Sqrt(s)) > 1e-9 || i > 0 && n.Distance < got[i-1].Distance {
			t.Errorf("neighbour %d, %v: distance %g", i, n, math.Sqrt(s))
		}
	}
	if two, err := c.Nearest(x, 2); err != nil || len(two) != 2 || two[0] != got[0] || two[1] != got[1] {
		t.Errorf("the first two are %v, %v, of %v", two, err, got[:2])
	}
}

// The first few of many are those of the whole order, ties by what was taught first.
func TestNearestOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 2))
	const d = 150
	c, err := New(niw.HandCrafted(d, 1), with(Options{}))
	must(t, err)
	for k := range 40 {
		label := string(rune('A' + k))
		must(t, c.AddClass(label))
		for range 12 {
			x := randomVector(rng, d, 1)
			if k%5 == 4 { // the same picture in several classes
				x = randomVector(rand.New(rand.NewPCG(9, 9)), d, 1)
			}
			must(t, c.Add(label, x))
		}
	}
	for _, x := range [][]float64{randomVector(rng, d, 1), randomVector(rand.New(rand.NewPCG(9, 9)), d, 1)} {
		all, err := c.Nearest(x, 1000)
		must(t, err)
		if len(all) != 480 {
			t.Fatalf("%d neighbours of 480 pictures", len(all))
		}
		for _, n := range []int{0, 1, 4, 99} {
			if some, err := c.Nearest(x, n); err != nil || !slices.Equal(some, all[:n]) {
				t.Errorf("the first %d are %v, want %v (%v)", n, some, all[:n], err)
			}
		}
	}
}

func TestNearestTakesABurstOnce(t *testing.T) {
	const d = 4
	c, err := New(niw.HandCrafted(d, 1), with(Options{Near: 0.5}))
	must(t, err)
	must(t, c.AddClass("cup"))
	for _, v := range []float64{1, 1.01, 1.02, 9} {
		must(t, c.Add("cup", []float64{v, 0, 0, 0}))
	}
	got, err := c.Nearest([]float64{1.011, 0, 0, 0}, 3)
	must(t, err)
	if len(got) != 2 || got[0].Picture != 1 || got[1].Picture != 3 {
		t.Errorf("nearest %v, want the second frame of the burst and the last picture", got)
	}
}

func TestNearestRefusesWhatIsNoEmbedding(t *testing.T) {
	c, err := New(niw.HandCrafted(3, 1), with(Options{}))
	must(t, err)
	var value *niw.ValueError
	if _, err := c.Nearest([]float64{0, math.NaN(), 0}, 1); !errors.As(err, &value) {
		t.Errorf("NaN: %v", err)
	}
	var dimension *niw.DimensionError
	if _, err := c.Nearest([]float64{0}, 1); !errors.As(err, &dimension) {
		t.Errorf("one number: %v", err)
	}
	if got, err := c.Nearest(make([]float64, 3), 5); err != nil || len(got) != 0 {
		t.Errorf("nothing taught: %v, %v", got, err)
	}
}
