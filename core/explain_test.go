package metaqda

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
	"metaqda/core/test"
)

// halves is a picture of n cells, the first half like thing a and the others like thing b.
func halves(rng *rand.Rand, n int, a, b []float32) []float32 {
	cells := make([]float32, 0, n*len(a))
	for c := range n {
		for i := range a {
			of := a[i]
			if c >= n/2 {
				of = b[i]
			}
			cells = append(cells, of+float32(rng.Float64()/10))
		}
	}
	return cells
}

func TestCellsOfAThingSpeakForIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	const d, n = 40, 12
	things := make([][]float32, 3)
	for j := range things {
		things[j] = make([]float32, d)
		for i := range d {
			if i%3 == j {
				things[j][i] = 1
			}
		}
	}
	c := test.Must(New(Settings{NonePrior: 0.1}, nil))(t)
	for j, label := range []string{"a", "b", "c"} {
		for range 4 {
			x := halves(rng, 1, things[j], things[j])
			test.Must(c.Add(label, "", x))(t)
		}
	}
	cells := halves(rng, n, things[0], things[1])
	forward := test.Must(c.Explain(cells, d, 0, 1))(t)
	for i, v := range forward.Cells {
		if i < n/2 != (v > 0) {
			t.Errorf("cell %d of a and b speaks for a by %v", i, v)
		}
	}
	if got := floats.Sum(forward.Cells) + forward.Rest; !(math.Abs(got-forward.Score) < 1e-12) {
		t.Errorf("the parts sum to %v, the score is %v", got, forward.Score)
	}
	back := test.Must(c.Explain(cells, d, 1, 0))(t)
	none := test.Must(c.Explain(cells, d, 0, -1))(t)
	other := test.Must(c.Explain(cells, d, 1, -1))(t)
	for i, v := range forward.Cells {
		if !(math.Abs(v+back.Cells[i]) < 1e-9) || !(math.Abs(none.Cells[i]-other.Cells[i]-v) < 1e-9) {
			t.Errorf("cell %d speaks for a by %v, against it by %v; against none %v and %v", i, v, back.Cells[i], none.Cells[i], other.Cells[i])
		}
	}
	// A picture of one thing has a score whose order is that of the probabilities.
	whole := halves(rng, n, things[0], things[0])
	p := test.Must(c.Predict(whole[:d]))(t)
	if e := test.Must(c.Explain(whole, d, 0, 1))(t); p.Probabilities[0] < p.Probabilities[1] || e.Score <= 0 {
		t.Errorf("a has probability %v, b %v, and the score is %v", p.Probabilities[0], p.Probabilities[1], e.Score)
	}
}

func TestExplainRefusesWhatItCannot(t *testing.T) {
	c := test.Must(New(Settings{}, nil))(t)
	if _, err := c.Explain([]float32{1, 2}, 2, 0, -1); err == nil {
		t.Error("an empty classifier explains")
	}
	test.Must(c.Add("a", "", []float32{1, 2}))(t)
	test.Must(c.Add("b", "", []float32{2, 1}))(t)
	test.OK(t, test.Err(c.AddClass("empty")))
	for name, ask := range map[string]func() (*Explanation, error){
		"cells of no number":   func() (*Explanation, error) { return c.Explain(nil, 2, 0, 1) },
		"cells cut short":      func() (*Explanation, error) { return c.Explain([]float32{1, 2, 3}, 2, 0, 1) },
		"cells of no length":   func() (*Explanation, error) { return c.Explain([]float32{1, 2}, 0, 0, 1) },
		"a class with itself":  func() (*Explanation, error) { return c.Explain([]float32{1, 2}, 2, 1, 1) },
		"none with none":       func() (*Explanation, error) { return c.Explain([]float32{1, 2}, 2, -1, -1) },
		"an unknown class":     func() (*Explanation, error) { return c.Explain([]float32{1, 2}, 2, 3, -1) },
		"a class below none":   func() (*Explanation, error) { return c.Explain([]float32{1, 2}, 2, 0, -2) },
		"a class not yet seen": func() (*Explanation, error) { return c.Explain([]float32{1, 2}, 2, 2, -1) },
	} {
		if _, err := ask(); Code(err) != "argument" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := c.Explain([]float32{1, 2}, 2, 0, -2)
	if want := "There is no class -2: give the index of one, from 0 to below 3, or -1 for none of them."; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = c.Explain([]float32{1, 2, 3}, 3, 0, 1)
	test.Refused[*niw.DimensionError](t, err, "cells of another network")
	_, err = c.Explain([]float32{1, float32(math.NaN())}, 2, 0, 1)
	test.Refused[*niw.ValueError](t, err, "a cell that is not a number")
}

// BenchmarkExplain is for a picture of two views of 36 cells, as the page's network has them.
func BenchmarkExplain(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 2))
	const d, n = 1280, 72
	c := test.Must(New(Settings{NonePrior: 0.1}, nil))(b)
	x := make([]float32, d)
	for j := range 25 {
		for i := range x {
			x[i] = rng.Float32()
		}
		test.Must(c.Add(string(rune('a'+j%5)), "", x))(b)
	}
	cells := make([]float32, n*d)
	for i := range cells {
		cells[i] = max(0, rng.Float32()-0.5)
	}
	for b.Loop() {
		test.Must(c.Explain(cells, d, 0, 1))(b)
	}
}
