// Package output writes what the commands make: each file complete or not at all,
// and what cannot be written is said before the work and not after it. It shows how
// far they are. What the
// files hold is the business of core/experiment, core/model and scripts/tables.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"metaqda/core/experiment"
	"metaqda/scripts/tables"
)

// Reason returns the innermost message of an error of the file system.
func Reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// CheckWritable says beforehand that an output could not be written: better
// than after an hour of work. An empty path is no output.
func CheckWritable(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		dir := filepath.Dir(path)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s cannot be written because the folder %s does not exist; create it first", path, dir)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder; name a file", path)
		}
	}
	return nil
}

// Folder makes a folder and those above it. An empty path is no folder.
func Folder(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("folder %s cannot be made (%v); choose another", path, Reason(err))
	}
	return nil
}

// Write writes all of the file or nothing: to a temporary name in the same
// folder, then renamed.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s cannot be written (%v); choose another place", path, err)
	}
	defer os.Remove(f.Name()) // fails once renamed, as it should
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written (%v); free some space or choose another place", path, err)
	}
	return nil
}

// Report writes a report as JSON, its tables as Markdown, and its reliability
// diagrams to a folder, where the paths are not empty.
func Report(r *experiment.Report, json, markdown, pictures string) error {
	if pictures != "" {
		drawn, err := tables.Pictures(r)
		if err != nil {
			return err
		}
		for _, p := range drawn {
			if err := Write(filepath.Join(pictures, p.Name), p.SVG); err != nil {
				return err
			}
		}
	}
	if markdown != "" {
		var b bytes.Buffer
		for i, t := range tables.Of(r) {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(t.Markdown())
		}
		if err := Write(markdown, b.Bytes()); err != nil {
			return err
		}
	}
	if json == "" {
		return nil
	}
	text, err := r.Encode()
	if err != nil {
		return err
	}
	return Write(json, text)
}
