package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a toy set under the name of a real one every step of a section must run,
// and what is missing must be said.
func TestReproduce(t *testing.T) {
	dir := t.TempDir()
	toy{classes: 45, rows: 36, dim: 6}.write(t, dir, "miniimagenet-conv4")
	out := filepath.Join(dir, "out")
	text := mustRun(t, "reproduce", "--data", dir, "--out", out, "--steps", "0.01", "--n-tasks", "4")
	for _, want := range []string{
		"cifarfs-conv4 is not in", "$ metaqda train", "--protocol ablation", "MetaQDA-FB", "56.41 ± 0.80",
		"incremental session 1: fb", "Orders", "ECE without temperature: fb",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if strings.Contains(text, "NaN") {
		t.Error("output holds NaN")
	}
	for _, name := range []string{"tables.md", "miniimagenet-conv4.safetensors", "miniimagenet-conv4-standard.json", "miniimagenet-conv4.svg"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	var again strings.Builder
	r := &reproduction{ctx: t.Context(), data: dir, out: out, steps: 1, stdout: &again}
	if _, err := r.train("miniimagenet-conv4", 100, []string{"miniimagenet-conv4"}); err != nil || !strings.Contains(again.String(), "is used again") {
		t.Errorf("a prior that is there: %v, %q", err, again.String())
	}
	for _, c := range [][]string{{}, {"--data", filepath.Join(dir, "none")}, {"--data", dir, "--steps", "0"}} {
		if status, _, stderr := metaqda(append([]string{"reproduce"}, c...)...); status != 2 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q", c, status, stderr)
		}
	}
}
