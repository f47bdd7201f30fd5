package main

import (
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
