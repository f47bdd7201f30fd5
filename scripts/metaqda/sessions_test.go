package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/episode"
	"metaqda/core/metrics"
)

// Every method answers sessions of any number of classes, one among them, from
// data with and without splits and groups.
func TestSessionsOfEveryMethod(t *testing.T) {
	dir := t.TempDir()
	data := []string{
		toy{classes: 18, rows: 24, dim: 6, burst: 4}.write(t, dir, "bursts"),
		toy{classes: 12, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare"),
		toy{classes: 4, rows: 6, dim: 6, meta: "-"}.write(t, dir, "few"),
	}
	withMean := randomPrior(6)
	withMean.Transform.Power, withMean.DataMean = 0.5, withMean.Transform.Center
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), withMean)
	methods := "fb,map,fb-lda,fb-handcrafted,ncc-un,ncc-l2n,ncc-cl2n,proto,cosine,linear,lda,qda,knn,knn-tfjs,teachable"
	out := filepath.Join(dir, "out.json")
	text := mustRun(t, "eval", "--protocol", "sessions", "--data", strings.Join(data, ","), "--prior", prior, "--methods", methods, "--n-tasks", "12",
		"--json", out, "--markdown", filepath.Join(dir, "out.md"))
	for _, want := range []string{"bursts, split test, sessions of 1 to 8 classes with 1 to 12 examples", "bare, split all, sessions", "none AUROC", "none ECE", "none Brier", "wrongly none", "wrongly known"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not say %q:\n%s", want, text)
		}
	}
	results := readReport(t, out)["results"].([]any)
	if len(results) != 3*15 {
		t.Fatalf("%d results for 15 methods and 3 data sets", len(results))
	}
	for _, v := range results {
		x := v.(map[string]any)
		name := fmt.Sprint(x["method"], " on ", x["data"])
		if x["way"] != nil || x["shot"] != nil || x["auroc_none"] != nil {
			t.Errorf("%s: way %v, shot %v, auroc_none %v", name, x["way"], x["shot"], x["auroc_none"])
		}
		if accuracy := x["accuracy"].(map[string]any)["mean"].(float64); accuracy < 0.2 || accuracy > 1 {
			t.Errorf("%s: accuracy %v", name, accuracy)
		}
		if queries := x["queries"].(float64); queries > 12*10 || x["data"] != "few" && queries != 12*10 {
			t.Errorf("%s: %v queries", name, queries)
		}
		for _, key := range []string{"ece", "none_auroc", "none_ece", "none_brier", "wrongly_none", "wrongly_known"} {
			if got, ok := x[key].(float64); !ok || !(got >= 0 && got <= 1) {
				t.Errorf("%s: %s is %v", name, key, x[key])
			}
		}
		if nll, ok := x["nll"].(float64); !ok || !(nll >= 0) {
			t.Errorf("%s: nll is %v", name, x["nll"])
		}
	}
}

// The measures are computed here again from the scores alone.
func TestSessionsMeasures(t *testing.T) {
	e := episode.Episode{Classes: []int{4, 7}, Support: [][]int{{0}, {1}}, Query: []int{2, 3, 4, 5, 6, 7}, QueryLabel: []int{0, 1, 1, -1, -1, -1}}
	p := []float64{0.9, 0.3, 0.6, 0.8, 0.55, 0.5} // of the first class
	scores := mat.NewDense(6, 2, nil)
	for i, v := range p {
		scores.Set(i, 0, math.Log(v)+3)
		scores.Set(i, 1, math.Log(1-v)+3)
	}
	doubts := notBestTo(make([]float64, 6), scores)
	for i, v := range p {
		if want := math.Log((1 - math.Max(v, 1-v)) / math.Max(v, 1-v)); math.Abs(doubts[i]-want) > 1e-12 {
			t.Errorf("query %d: log odds %v, want %v", i, doubts[i], want)
		}
	}
	odds := []float64{-2, 1, -0.5, 3, -1, 0.25}
	b := &block{Method: "m", Data: "d", Records: []*record{newRecord(0, &e, scores, odds, 0)}}
	x := newReport(&header{Protocol: "sessions"}, []*block{b}).Results[0]
	var brier float64
	bins := metrics.NewReliability(metrics.DefaultBins)
	for i, v := range odds {
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
		t.Errorf("a single class leaves a doubt of %v", one[0])
	}
}

// A group may be asked about or taught, whatever the protocol and the split.
func TestEvaluationKeepsGroupsApart(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 18, rows: 24, dim: 4, burst: 4}.write(t, dir, "bursts")
	for _, protocol := range []string{"standard", "open-set", "multi-domain", "sessions"} {
		o := &evalOptions{protocol: protocol, split: "test,val", ways: []int{4}, shots: []int{3}, query: 5, valTasks: 1, data: []string{data}}
		sources, err := o.load()
		if err != nil {
			t.Fatal(err)
		}
		s := sources[0]
		cells, err := o.cells(s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			e := cells[0].test.Episode(i)
			for _, row := range slices.Concat(e.Support...) {
				for _, query := range e.Query {
					if s.set.Groups[row] == s.set.Groups[query] {
						t.Fatalf("%s: row %d is taught and %d of its group asked", protocol, row, query)
					}
				}
			}
		}
	}
}

func TestSessionsOfMethodsRunApart(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 18, rows: 24, dim: 6}.write(t, dir, "alpha")
	file := func(name string) string { return filepath.Join(dir, name) }
	base := []string{"eval", "--protocol", "sessions", "--data", data, "--n-tasks", "8"}
	mustRun(t, append(base, "--methods", "ncc-cl2n,knn", "--json", file("both"))...)
	mustRun(t, append(base, "--methods", "ncc-cl2n", "--json", file("a"))...)
	mustRun(t, append(base, "--methods", "knn", "--json", file("b"))...)
	mustRun(t, "merge", "--json", file("merged"), file("a"), file("b"))
	want, err := os.ReadFile(file("both"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file("merged"))
	if err != nil || string(got) != string(want) {
		t.Errorf("%v: merged\n%.500s\nwant\n%.500s", err, got, want)
	}
}
