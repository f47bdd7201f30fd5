package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
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
		"incremental session 1: fb", "Claims", "ECE without temperature: fb",
	} {
		test.FailIf(t, !strings.Contains(text, want), "output lacks %q", want)
	}
	test.FailIf(t, strings.Contains(text, "NaN"), "output holds NaN")
	for _, name := range []string{"tables.md", "miniimagenet-conv4.safetensors", "miniimagenet-conv4-standard.json", "miniimagenet-conv4.svg"} {
		_, err := os.Stat(filepath.Join(out, name))
		test.FailIf(t, err != nil, "%v", err)
	}
	again := mustRun(t, "reproduce", "--data", dir, "--out", out, "--steps", "0.01", "--n-tasks", "2")
	test.FailIf(t, !strings.Contains(again, "miniimagenet-conv4.safetensors is there already and is used again") || strings.Contains(again, "metaqda train"), "priors that are there are learned anew")
	broken := filepath.Join(dir, "broken")
	test.OK(t, os.Mkdir(broken, 0o755))
	save(t, filepath.Join(broken, "miniimagenet-conv4.npz"), []byte("no data"))
	status, _, complaint := metaqda("reproduce", "--data", broken, "--out", filepath.Join(broken, "out"))
	test.FailIf(t, status != 2 || !strings.Contains(complaint, "miniimagenet-conv4.npz is no .npz"), "a set that cannot be read: status %d, %s", status, complaint)
	for _, c := range [][]string{{}, {"--data", filepath.Join(dir, "none")}, {"--data", dir, "--steps", "0"}, {"--data", dir, "--n-tasks", "many"}} {
		refused(t, append([]string{"reproduce"}, c...))
	}
}
