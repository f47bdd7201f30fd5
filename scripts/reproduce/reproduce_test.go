package reproduce

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

// A prior that is there is used again, and said so.
func TestPriorsAreUsedAgain(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	r := &reproduction{Config: Config{Data: dir, Out: dir, Steps: 1, Stdout: &text}, ctx: t.Context()}
	test.OK(t, os.WriteFile(r.file("there.safetensors"), []byte("a prior"), 0o644))
	path, err := r.train("there", "plain", 100, "nothing")
	if err != nil || path != filepath.Join(dir, "there.safetensors") || !strings.Contains(text.String(), "is used again") || strings.Contains(text.String(), "metaqda train") {
		t.Errorf("%s, %v: %s", path, err, text.String())
	}
	failed := errors.New("nothing.npz does not exist")
	r.Command = func(context.Context, ...string) error { return failed }
	_, err = r.train("new", "plain", 100, "nothing")
	test.FailIf(t, err != failed, "a prior of no data: %v", err)
}
