package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

// On a toy set under the name of a real one every step of a section must run,
// what is missing must be said, and the commands that are printed must do what was
// done.
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
	repeat(t, text, out, "conv4-map.safetensors", "conv4-calibration.json", "conv4-incremental.json")
	for _, c := range [][]string{{}, {"--data", filepath.Join(dir, "none")}, {"--data", dir, "--steps", "0"}, {"--data", dir, "--n-tasks", "many"}} {
		status, _, stderr := metaqda(append([]string{"reproduce"}, c...)...)
		test.FailIf(t, status != 2 || strings.Count(stderr, "\n") != 1, "%v: status %d, %q", c, status, stderr)
	}
}

// repeat runs the printed commands that write some files and compares what they
// write.
func repeat(t *testing.T, text, out string, files ...string) {
	t.Helper()
	for _, file := range files {
		done := false
		for line := range strings.Lines(text) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ metaqda ")
			if !ok || !strings.Contains(command, file) || strings.Contains(command, "--prior "+filepath.Join(out, "miniimagenet-"+file)) {
				continue
			}
			path := filepath.Join(out, "miniimagenet-"+file)
			want := readFile(t, path)
			save(t, path, []byte("spoilt"))
			mustRun(t, strings.Fields(command)...)
			done = true
			test.FailIf(t, !bytes.Equal(readFile(t, path), want), "%s writes another file than reproduce", command)
			break
		}
		test.FailIf(t, !done, "no command writes %s", file)
	}
}
