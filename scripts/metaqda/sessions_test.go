package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/model/modeltest"
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
	withMean := modeltest.Prior(6)
	withMean.Transform.Power, withMean.DataMean = 0.5, withMean.Transform.Centre
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
		accuracy := x["accuracy"].(map[string]any)["mean"].(float64)
		if accuracy < 0.2 || accuracy > 1 {
			t.Errorf("%s: accuracy %v", name, accuracy)
		}
		queries := x["queries"].(float64)
		if queries > 12*10 || x["data"] != "few" && queries != 12*10 {
			t.Errorf("%s: %v queries", name, queries)
		}
		for _, key := range []string{"ece", "none_auroc", "none_ece", "none_brier", "wrongly_none", "wrongly_known"} {
			got, ok := x[key].(float64)
			if !ok || !(got >= 0 && got <= 1) {
				t.Errorf("%s: %s is %v", name, key, x[key])
			}
		}
		nll, ok := x["nll"].(float64)
		if !ok || !(nll >= 0) {
			t.Errorf("%s: nll is %v", name, x["nll"])
		}
	}
}

// A set without splits is centred on the mean of the prior's training data. If the prior does not
// have it, only methods that need a centre are refused.
func TestSetWithoutSplits(t *testing.T) {
	dir := t.TempDir()
	bare := toy{classes: 12, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare")
	tests := toy{classes: 2, rows: 20, dim: 6, meta: `{"classes":["a","b"],"splits":{"train":[],"val":[],"test":["a","b"]}}`}.write(t, dir, "tests")
	p := modeltest.Prior(6)
	p.Transform.Power = 0.5 // whose centre is no centre of plain features
	without := writePrior(t, filepath.Join(dir, "without.safetensors"), p)
	p.DataMean = []float64{3, 3.5, 2.5, 3, 3, 3.25}
	with := writePrior(t, filepath.Join(dir, "with.safetensors"), p)
	args := func(data, prior, methods string) []string {
		return []string{"eval", "--data", data, "--prior", prior, "--methods", methods, "--n-way", "2", "--n-shot", "1", "--n-query", "3", "--n-tasks", "4", "--json", filepath.Join(dir, "out.json")}
	}
	for _, data := range []string{bare, tests} {
		mustRun(t, args(data, with, "fb,ncc-cl2n,linear,knn")...)
		mustRun(t, args(data, without, "fb,ncc-un,cosine,teachable")...)
		refused(t, args(data, without, "fb,ncc-cl2n"), "without.safetensors keeps no mean", "metaqda train")
	}
	other := modeltest.Prior(9)
	other.Transform.Power, other.DataMean = 0.5, make([]float64, 9)
	wide := writePrior(t, filepath.Join(dir, "wide.safetensors"), other)
	refused(t, args(bare, wide, "ncc-cl2n"), "rows of length 6 but the prior is for 9")
	mustRun(t, args(bare, with, "fb")...)
	d := readReport(t, filepath.Join(dir, "out.json"))["data"].([]any)[0].(map[string]any)
	if d["split"] != "all" {
		t.Errorf("the split of a set without any is %v", d["split"])
	}
}
