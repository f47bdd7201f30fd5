package reproduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

// A prior that is there is used again, and said so; one that cannot be learned is no
// file.
func TestPriorsAreUsedAgain(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	r := &reproduction{Config: Config{Data: dir, Out: dir, Steps: 1, Stdout: &text}, ctx: t.Context()}
	test.OK(t, os.WriteFile(r.file("there.safetensors"), []byte("a prior"), 0o644))
	path, err := r.train("there", "plain", 100, "nothing")
	if err != nil || path != filepath.Join(dir, "there.safetensors") || !strings.Contains(text.String(), "is used again") || strings.Contains(text.String(), "metaqda train") {
		t.Errorf("%s, %v: %s", path, err, text.String())
	}
	if _, err := r.train("new", "plain", 100, "nothing"); err == nil || !strings.Contains(err.Error(), "nothing.npz does not exist") {
		t.Errorf("a prior of no data: %v", err)
	}
	if _, err := os.Stat(r.file("new.safetensors")); err == nil {
		t.Error("a prior of no data was written")
	}
}
