package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"metaqda/core/anomaly"
	"metaqda/core/test"
)

// setOf has so many pictures of each class.
func setOf(t *testing.T, counts map[string]int) *set {
	const n, d = 4, 6
	s, rng := &set{name: "few", d: d}, rand.New(rand.NewPCG(1, 1))
	for _, label := range []string{"a", "b"} {
		for range counts[label] {
			p := picture{label: label, cells: make([]float32, n*d), unit: make([]float64, d)}
			for i := range p.cells {
				p.cells[i] = rng.Float32()
			}
			p.unit[0] = 1
			p.kept = test.Must(anomaly.Describe(p.cells, d))(t)
			s.pictures, s.spots = append(s.pictures, p), append(s.spots, p)
		}
	}
	return s
}

// A class is not asked about with more good pictures than leave one over. Errors are not lost.
func TestSmallSets(t *testing.T) {
	for _, e := range test.Must(setOf(t, map[string]int{"a": 4, "b": 6}).ask(1, 0))(t) {
		if e.shot != 3 && e.shot != 5 {
			t.Errorf("asked with %d good pictures", e.shot)
		}
	}
	_, err := setOf(t, map[string]int{"a": 12}).ask(1, 0)
	if err == nil || !strings.Contains(err.Error(), "few has one class") {
		t.Errorf("one class: %v", err)
	}
	s := setOf(t, map[string]int{"a": 4, "b": 4})
	for i := range s.spots {
		s.spots[i].kept = test.Must(anomaly.Describe(make([]float32, 10), 5))(t)
	}
	if test.Err(s.ask(1, 0)) == nil {
		t.Error("a picture that cannot be asked about is no error")
	}
}
