package experiment

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset/datasettest"
	"metaqda/core/episode"
	"metaqda/core/metrics"
)

// The measures are computed here again from the scores alone.
func TestSessionsMeasures(t *testing.T) {
	e := episode.Episode{Classes: []int{4, 7}, Support: [][]int{{0}, {1}}, Query: []int{2, 3, 4, 5, 6, 7}, QueryLabel: []int{0, 1, 1, -1, -1, -1}}
	p := []float64{0.9, 0.3, 0.6, 0.8, 0.55, 0.5} // of the first class
	scores := mat.NewDense(6, 2, nil)
	for i, v := range p {
		scores.Set(i, 0, math.Log(v)+3)
		scores.Set(i, 1, math.Log(1-v)+3)
	}
	notBest := notBestTo(make([]float64, 6), scores)
	for i, v := range p {
		if want := math.Log((1 - math.Max(v, 1-v)) / math.Max(v, 1-v)); math.Abs(notBest[i]-want) > 1e-12 {
			t.Errorf("query %d: log odds %v, want %v", i, notBest[i], want)
		}
	}
	logits := []float64{-2, 1, -0.5, 3, -1, 0.25}
	b := &Block{Method: "m", Data: "d", Records: []*Record{newRecord(0, &e, scores, logits, 0)}}
	x := newReport(&Header{Protocol: Sessions}, []*Block{b}).Results[0]
	var brier float64
	bins := metrics.NewReliability(metrics.DefaultBins)
	for i, v := range logits {
		p, y := 1/(1+math.Exp(-v)), float64(map[bool]int{true: 1}[e.QueryLabel[i] < 0])
		brier += (p - y) * (p - y) / 6
		bins.Add(math.Max(p, 1-p), (p > 0.5) == (y == 1))
	}
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"accuracy", x.Accuracy.Mean, 2. / 3}, {"nll", x.NLL, -(math.Log(0.9) + math.Log(0.7) + math.Log(0.4)) / 3},
		{"none_auroc", *x.NoneAUROC, 6. / 9}, {"none_brier", *x.NoneBrier, brier}, {"none_ece", *x.NoneECE, bins.ECE()},
		{"wrongly_none", *x.WronglyNone, 1. / 3}, {"wrongly_known", *x.WronglyKnown, 1. / 3},
	} {
		if math.Abs(m.got-m.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", m.name, m.got, m.want)
		}
	}
	one := notBestTo(make([]float64, 1), mat.NewDense(1, 1, []float64{5}))
	if !math.IsInf(one[0], -1) {
		t.Errorf("a single class leaves log odds of %v", one[0])
	}
}

// A group may be asked about or taught, whatever the protocol and the split.
func TestEvaluationKeepsGroupsApart(t *testing.T) {
	set := datasettest.Gaussians{Classes: 18, Rows: 24, Dim: 4, Burst: 4}.Set("bursts")
	for _, protocol := range []string{Standard, OpenSet, MultiDomain, Sessions} {
		p, err := NewPlan(protocol)
		if err != nil {
			t.Fatal(err)
		}
		p.Split, p.Ways, p.Shots, p.Queries, p.ValTasks = "test,val", []int{4}, []int{3}, 5, 1
		sources, err := p.sources([]Domain{{Set: set}})
		if err != nil {
			t.Fatal(err)
		}
		cells, err := p.cells(sources[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			e := cells[0].test.Episode(i)
			for _, row := range slices.Concat(e.Support...) {
				for _, query := range e.Query {
					if set.Groups[row] == set.Groups[query] {
						t.Fatalf("%s: row %d is taught and %d of its group asked", protocol, row, query)
					}
				}
			}
		}
	}
}
