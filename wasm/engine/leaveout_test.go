package engine

import (
	"slices"
	"testing"

	"metaqda/wasm/store"
)

// Each trial answers as a session that was never taught those pictures.
func TestLeaveOutIsThatOfASessionWithoutIt(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog", "hen")
	_, _, err := w.AddClass("empty")
	must(t, err)
	one, _, err := w.AddClass("one")
	must(t, err)
	_, err = w.AddExample(one, slices.Clone(w.State().Classes[0].Examples[0].Vector), nil)
	must(t, err)
	state := w.State()
	before := w.ask(t)
	i := 0
	for ; ; i++ {
		got, err := w.LeaveOut(i)
		must(t, err)
		if got == nil {
			break
		}
		if got.Alone != (got.Class == one) {
			t.Errorf("trial %d: alone %v", i, got.Alone)
		}
		if got.Alone {
			continue
		}
		var embedding []float32
		token := ""
		for _, c := range state.Classes {
			for _, x := range c.Examples {
				if c.ID == got.Class && x.ID == got.Pictures[0] {
					embedding = x.Vector
					token, err = w.RemoveExample(c.ID, x.ID)
					must(t, err)
				}
			}
		}
		want, err := w.Probabilities(embedding)
		must(t, err)
		for j, c := range want.Classes {
			if got.Classes[j] != c.ID || abs(got.Answer[j]-c.P) > 1e-9 {
				t.Errorf("trial %d, %s: %v, want %v", i, c.Name, got.Answer[j], c.P)
			}
		}
		must(t, w.Undo(token))
	}
	examples := 0
	for _, c := range state.Classes {
		examples += len(c.Bursts)
	}
	if i != examples || i < 7 {
		t.Errorf("%d trials for %d examples", i, examples)
	}
	same(t, "afterwards", w.ask(t), before)
	if got, err := w.LeaveOut(-1); got != nil || err != nil {
		t.Errorf("before the first: %v, %v", got, err)
	}
}

func abs(x float64) float64 { return max(x, -x) }

func TestNearestNamesPictures(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog")
	for _, c := range w.State().Classes {
		for _, x := range c.Examples {
			got, err := w.Nearest(x.Vector, 2)
			must(t, err)
			if len(got) != 2 || got[0].Class != c.ID || got[0].Example != x.ID || got[0].Distance > 1e-6 || got[1].Distance <= got[0].Distance {
				t.Errorf("nearest to %s of %s: %+v", x.ID, c.Name, got)
			}
		}
	}
}
