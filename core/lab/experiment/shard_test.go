package experiment

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"metaqda/core/test"
)

func TestShardsCountFromZeroOrOne(t *testing.T) {
	for _, from := range []int{0, 1} {
		done := make([]int, 10)
		for i := range 4 {
			s := test.Must(ParseShard(fmt.Sprintf("%d/4", from+i)))(t)
			for e := range done {
				if s.has(e) {
					done[e]++
				}
			}
		}
		for e, n := range done {
			if n != 1 {
				t.Errorf("counting from %d, episode %d is done %d times", from, e, n)
			}
		}
	}
}

func TestMultiDomainSummary(t *testing.T) {
	r := &Report{Header: &Header{Protocol: "multi-domain", Methods: []string{"a", "b"}, Data: []DomainHeader{{Name: "x"}, {Name: "y"}}, InDomain: []string{"x"}}}
	for _, v := range []struct {
		method, data string
		accuracy     float64
	}{{"a", "x", 0.5}, {"b", "x", 0.7}, {"a", "y", 0.4}, {"b", "y", 0.4}} {
		r.Results = append(r.Results, &Result{Method: v.method, Data: v.data, Accuracy: Interval{Mean: v.accuracy}})
	}
	r.summarise()
	for i, want := range []Summary{{Overall: 0.45, AverageRank: 1.75}, {Overall: 0.55, AverageRank: 1.25}} {
		got := r.Summary[i]
		if math.Abs(got.Overall-want.Overall) > 1e-12 || got.AverageRank != want.AverageRank || *got.OutOfDomain != 0.4 || *got.InDomain != []float64{0.5, 0.7}[i] {
			t.Errorf("method %s: %+v", got.Method, *got)
		}
	}
}

// leftOutReport has the given accuracies, on two tasks 0.02 to either side: by
// method, then by data set, way and shot.
func leftOutReport(methods []string, accuracy map[string][]float64) *Report {
	r := &Report{Header: &Header{Protocol: "leave-one-domain-out", Methods: methods, Data: []DomainHeader{{Name: "x"}, {Name: "y"}},
		Way: []int{5, 20}, Shot: []int{1, 5}, Tasks: 2, Repeat: 1}}
	for _, m := range methods {
		for i, a := range accuracy[m] {
			r.Results = append(r.Results, &Result{Method: m, Data: r.Data[i/4].Name, Way: new(r.Way[i/2%2]), Shot: new(r.Shot[i%2]),
				Tasks: 2, Accuracy: Interval{Mean: a}, EpisodeAccuracy: []float64{a - 0.02, a + 0.02}, ECE: 0.01})
		}
	}
	r.sumUp()
	return r
}

// What ships is compared with its competitors, and is none of them.
func TestMarginsOfWhatShips(t *testing.T) {
	p := test.Must(protocol(LeaveOneDomainOut))(t)
	accuracy := map[string][]float64{}
	for _, m := range p.Methods {
		accuracy[m] = []float64{0.5, 0.6, 0.7, 0.8, 0.5, 0.6, 0.7, 0.8}
	}
	r := leftOutReport(p.Methods, accuracy)
	if len(r.Margins) == 0 {
		t.Errorf("no margins of %v", p.Methods)
	}
	for _, m := range r.Margins {
		if m.Method != "metaqda" || slices.Contains(m.Against, "metaqda") {
			t.Errorf("%s above %v", m.Method, m.Against)
		}
	}
}

func TestMargins(t *testing.T) {
	r := leftOutReport([]string{"fb", "ncc-cl2n", "linear", "knn"}, map[string][]float64{
		"fb":       {0.50, 0.70, 0.30, 0.50, 0.80, 0.90, 0.60, 0.80},
		"ncc-cl2n": {0.48, 0.69, 0.28, 0.49, 0.78, 0.89, 0.58, 0.79},
		"linear":   {0.47, 0.71, 0.27, 0.48, 0.77, 0.902, 0.57, 0.78},
		"knn":      {0.40, 0.60, 0.20, 0.40, 0.81, 0.80, 0.50, 0.70},
	})
	for i, want := range []Margin{
		{Against: []string{"ncc-cl2n"}, Mean: 0.015, Least: Interval{Mean: 0.01}},
		{Against: []string{"linear"}, Mean: 0.0185, Least: Interval{Mean: -0.01}, Below: []string{"x, 5-way 5-shot"}},
		{Against: []string{"knn"}, Mean: 0.08625, Least: Interval{Mean: -0.01}, Below: []string{"y, 5-way 1-shot"}},
		{Against: Heads(), Mean: 0.011, Least: Interval{Mean: -0.01}, Below: []string{"x, 5-way 5-shot"}},
		{Against: []string{"ncc-cl2n", "linear", "knn"}, Mean: 0.00725, Least: Interval{Mean: -0.01}, Below: []string{"x, 5-way 5-shot", "y, 5-way 1-shot"}},
	} {
		got := r.Margins[i]
		if got.Method != "fb" || got.Cells != 8 || !slices.Equal(got.Against, want.Against) || math.Abs(got.Mean-want.Mean) > 1e-12 ||
			math.Abs(got.Least.Mean-want.Least.Mean) > 1e-12 || math.Abs(got.Least.CI95) > 1e-12 || !slices.Equal(got.Below, want.Below) {
			t.Errorf("margin %d: got %+v, want %+v", i, *got, want)
		}
	}
	if len(r.Margins) != 5 {
		t.Errorf("%d margins, want 5", len(r.Margins))
	}
}
