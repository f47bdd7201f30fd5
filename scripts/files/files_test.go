package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"metaqda/core/test"
)

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	test.OK(t, os.WriteFile(file, []byte("old"), 0o644))
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	test.OK(t, Write(link, []byte("new")))
	if got := test.Must(os.ReadFile(file))(t); string(got) != "new" {
		t.Errorf("the file has %q", got)
	}
	if to, err := os.Readlink(link); to != file {
		t.Errorf("the link names %q, %v", to, err)
	}
}

func TestAPipeTakesTheBytes(t *testing.T) {
	r, w, err := os.Pipe()
	test.OK(t, err)
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	test.OK(t, Write(path, []byte("bytes")))
	test.OK(t, w.Close())
	if got := test.Must(io.ReadAll(r))(t); string(got) != "bytes" {
		t.Errorf("the pipe has %q", got)
	}
}

// A shell that appends the output of several programs to a file loses none of it.
func TestTheStandardOutputKeepsWhatItHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	test.OK(t, os.WriteFile(file, []byte("before "), 0o644))
	out := test.Must(os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0))(t)
	defer out.Close()
	defer func(f *os.File) { os.Stdout = f }(os.Stdout)
	os.Stdout = out
	for _, path := range []string{file, "-"} {
		test.OK(t, Write(path, []byte("bytes")))
	}
	test.Must(out.WriteString(" after"))(t)
	if got := test.Must(os.ReadFile(file))(t); string(got) != "before bytesbytes after" {
		t.Errorf("the file has %q", got)
	}
}
