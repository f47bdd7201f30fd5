package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

// On a toy set under the name of a real one, every step of a section must run. Missing sets must be
// named.
func TestReproduce(t *testing.T) {
	dir := t.TempDir()
	toy{classes: 45, rows: 36, dim: 6}.write(t, dir, "miniimagenet-conv4")
	out := filepath.Join(dir, "out")
	reproduce := func(args ...string) (string, error) {
		said, err := divided(".", nil, "node", append([]string{"../reproduce.mjs", "--metaqda", test.Must(os.Executable())(t), "--out", out}, args...)...)
		return string(said), err
	}
	text, err := reproduce("--data", dir, "--steps", "0.01", "--n-tasks", "4")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"cifarfs-conv4 is not in", "    metaqda train", "--protocol ablation", "MetaQDA-FB", "56.41 ± 0.80", "incremental session 1: fb", "Claims", "ECE without temperature: fb"} {
		if !strings.Contains(text, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if strings.Contains(text, "NaN") {
		t.Error("output holds NaN")
	}
	for _, name := range []string{"tables.md", "miniimagenet-conv4.safetensors", "miniimagenet-conv4-standard.json", "miniimagenet-conv4.svg"} {
		test.OK(t, test.Err(os.Stat(filepath.Join(out, name))))
	}
	again, err := reproduce("--data", dir, "--steps", "0.01", "--n-tasks", "2")
	if err != nil || !strings.Contains(again, "miniimagenet-conv4.safetensors is there already and is used again") || strings.Contains(again, "metaqda train") {
		t.Errorf("priors that are there are learned anew: %v", err)
	}
	save(t, filepath.Join(dir, "miniimagenet-conv4.npz"), []byte("no data"))
	for want, c := range map[string][]string{"miniimagenet-conv4.npz is no .npz": {"--data", dir}, "name one by --data": {"--data", filepath.Join(dir, "none")}, "--steps is 0": {"--data", dir, "--steps", "0"}} {
		said, err := reproduce(c...)
		var ended *exec.ExitError
		ended, _ = err.(*exec.ExitError)
		if ended == nil || ended.ExitCode() != 2 || !strings.Contains(said, want) {
			t.Errorf("%v: %v, %s", c, err, said)
		}
	}
}
