package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A set without splits is centred on what the prior was learned from; where the
// prior does not tell, only what needs a centre is refused.
func TestSetWithoutSplits(t *testing.T) {
	dir := t.TempDir()
	bare := toy{classes: 12, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare")
	tests := toy{classes: 2, rows: 20, dim: 6, meta: `{"classes":["a","b"],"splits":{"train":[],"val":[],"test":["a","b"]}}`}.write(t, dir, "tests")
	p := randomPrior(6)
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
		status, _, stderr := metaqda(args(data, without, "fb,ncc-cl2n")...)
		if status != 2 || !strings.Contains(stderr, "without.safetensors keeps no mean") || !strings.Contains(stderr, "metaqda train") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q", data, status, stderr)
		}
	}
	other := randomPrior(9)
	other.Transform.Power, other.DataMean = 0.5, make([]float64, 9)
	wide := writePrior(t, filepath.Join(dir, "wide.safetensors"), other)
	if status, _, stderr := metaqda(args(bare, wide, "ncc-cl2n")...); status != 2 || !strings.Contains(stderr, "6 numbers in a row but the prior is for 9") {
		t.Errorf("a prior of other embeddings: status %d, %q", status, stderr)
	}
	mustRun(t, args(bare, with, "fb")...)
	if d := readReport(t, filepath.Join(dir, "out.json"))["data"].([]any)[0].(map[string]any); d["split"] != "all" {
		t.Errorf("the split of a set without any is %v", d["split"])
	}
	o := &evalOptions{protocol: "standard", split: "test", data: []string{bare}, priors: []string{with}}
	sources, err := o.load()
	if err != nil || !slices.Equal(sources[0].centre, p.DataMean) {
		t.Errorf("centred on %v, want %v (%v)", sources[0].centre, p.DataMean, err)
	}
}
