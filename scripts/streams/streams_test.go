package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/test"
)

// of returns a stream of answers by their probabilities of two classes, four a second.
func of(shows []show, answers ...[2]float64) *stream {
	s := &stream{shows: shows}
	for i, p := range answers {
		s.frames = append(s.frames, frame{float64(i) / rate, p[:], 1 - p[0] - p[1]})
	}
	return s
}

func TestRules(t *testing.T) {
	a, b, low, none := [2]float64{.9, .05}, [2]float64{.05, .9}, [2]float64{.6, .1}, [2]float64{.05, .05}
	s := of(nil, none, none, none, a, b, a, low, a, none, none, none)
	want := map[string][]event{
		"threshold .8":     {{.75, 0}, {1, 1}, {1.25, 0}, {1.5, -1}, {1.75, 0}, {2, -1}},
		"Frigate's rule":   {{1.75, 0}, {2, -1}},
		"majority of five": {{1.5, 0}, {2.5, -1}},
	}
	for _, r := range test.Must(rules("1"))(t)[:3] {
		got := test.Must(r.events(s))(t)
		if !slices.Equal(got, want[r.name]) {
			t.Errorf("%s: %v, want %v", r.name, got, want[r.name])
		}
	}
	_, err := rules("1,x")
	if err == nil {
		t.Error("x is a number")
	}
}

func TestFigures(t *testing.T) {
	s := of([]show{{0, 1, 3}, {-1, 5, 7}, {1, 9, 11}, {0, 13, 15}})
	var f figures
	f.add(s, []event{
		{0.5, 0},   // before its thing: false
		{1.5, 0},   // right, after half a second
		{2, -1},    // an end counts for nothing
		{2.5, 0},   // repeated
		{5.5, 1},   // of a thing not taught: false
		{11.5, 1},  // right, though the thing has just gone
		{15.75, 0}, // too late: false, and its thing is missed
	})
	if f.wrong != 3 || f.repeated != 1 || f.shown != 3 || f.missed != 1 || !slices.Equal(f.delays, []float64{.5, 2.5}) {
		t.Errorf("%+v", f)
	}
	if f.String() != "18.0 | 6.0 | 33.3 | 2.50" {
		t.Errorf("%s", &f)
	}
}

// A moving thing is seen without jumps.
func TestASightGoesOver(t *testing.T) {
	s := sight{{0, 0}, {4, 8}}
	for at, want := range map[float64][]float32{0: {0, 0}, .25: {1, 2}, 1: {4, 8}, 1.5: {2, 4}, 2: {0, 0}} {
		if !slices.Equal(s.at(at), want) {
			t.Errorf("after %v: %v, want %v", at, s.at(at), want)
		}
	}
}

func TestAWatchIsARule(t *testing.T) {
	c := test.Must(metaqda.New(metaqda.Settings{NonePrior: nonePrior}, nil))(t)
	test.OK(t, test.Err(c.Add("0", "", []float32{1, 0, 0})))
	test.OK(t, test.Err(c.Add("1", "", []float32{0, 1, 0})))
	sure := [2]float64{.02, .97}
	s := of([]show{{1, 0, 2}}, sure, sure, sure, sure)
	s.classifier = c
	events := test.Must(watched(s, 1))(t)
	if len(events) != 1 || events[0].class != 1 {
		t.Errorf("%v", events)
	}
}

// The bound is the best of all choices of a threshold for each stream, here by trying them all.
func TestTheBoundIsTheBestOfAllThresholds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		b := bound{}
		for range 3 {
			var things []thing
			for i := range 6 {
				right := rng.IntN(3) > 0
				if right {
					b.taught++
				}
				things = append(things, thing{float64(-i), right})
			}
			b.streams = append(b.streams, things)
		}
		price := 3 * rng.Float64()
		best := 0.0
		for x := range 7 * 7 * 7 {
			worth := 0.0
			for i, n := range []int{x % 7, x / 7 % 7, x / 49} {
				for _, t := range b.streams[i][:n] {
					if t.right {
						worth++
					} else {
						worth -= price
					}
				}
			}
			best = max(best, worth)
		}
		right, wrong := b.at(price)
		if got := float64(right) - price*float64(wrong); math.Abs(got-best) > 1e-9 {
			t.Fatalf("%v at a price of %v: %v, want %v", b.streams, price, got, best)
		}
		if m := b.missed(1e9); m != 0 {
			t.Errorf("with any number of false events %v is missed", m)
		}
	}
}

func TestHeadlinesAreCounted(t *testing.T) {
	s := of([]show{{0, 0.25, 1.25}, {-1, 1.25, 2}, {1, 2, 2.5}}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{})
	said := make([]metaqda.Decision, len(s.frames))
	for i := range said {
		said[i] = metaqda.Decision{Class: -1, Headline: "Probably none: 70 %"}
	}
	said[2], said[3] = metaqda.Decision{Class: 0, Headline: "Probably a: 80 %"}, metaqda.Decision{Class: 0, Headline: "Probably a: 81 %"}
	said[4] = metaqda.Decision{Class: 0, Headline: "Almost certainly a: 98 %"}
	var l live
	l.add(s, said)
	if l.words != 3 || l.classes != 2 || l.shown != 2 || l.named != 1 || !slices.Equal(l.delays, []float64{.25}) {
		t.Errorf("%+v", l)
	}
}
