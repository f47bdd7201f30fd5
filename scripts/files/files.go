// Package files reads and writes the files of the commands. Errors of reading name the remedy. Each
// file is written complete or not at all. If an output cannot be written, the command says so
// before the work, not after it. The package shows progress. core/lab/dataset reads data sets;
// core/lab/experiment, core/model and scripts/tables handle the content of other files.
package files

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/experiment"
	"metaqda/scripts/tables"
)

// CheckWritable returns the error that an output cannot be written, before an hour of work is done.
// An empty path is no output.
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

// CheckApart returns the error that an output would destroy an input. Both may be one file, also by
// another path. Or the output is a file of a data set beside the input.
func CheckApart(outputs []string, inputs ...string) error {
	for _, in := range inputs {
		stem := strings.TrimSuffix(in, filepath.Ext(in))
		for _, in := range []string{in, stem + ".json", stem + ".labels.npy", stem + ".groups.npy"} {
			read, err := os.Stat(in)
			if err != nil || read.IsDir() {
				continue
			}
			for _, out := range outputs {
				if written, err := os.Stat(out); err == nil && os.SameFile(read, written) {
					return fmt.Errorf("%s is read and would be written over; name another file to write", out)
				}
			}
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
		return fmt.Errorf("folder %s cannot be made (%v); choose another", path, dataset.Reason(err))
	}
	return nil
}

// IsStandard reports whether a path means the standard output, by any name or as "-".
func IsStandard(path string) bool {
	info, err := os.Stat(path)
	out, e := os.Stdout.Stat()
	return path == "-" || err == nil && e == nil && os.SameFile(info, out)
}

// Write writes the whole file or nothing: it writes to a temporary name in the same folder, then
// renames it. If the path is a link, the link stays and its target is written. A pipe or a device
// is written directly. So is the standard output, since a file behind it may hold more.
func Write(path string, data []byte) error {
	if IsStandard(path) {
		if _, err := os.Stdout.Write(data); err != nil {
			return fmt.Errorf("%s cannot be written (%v); choose another place", path, dataset.Reason(err))
		}
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("%s cannot be written (%v); choose another place", path, dataset.Reason(err))
		}
		return nil
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
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

// Progress returns a function that shows how far the work is, or nil if stderr is no terminal.
func Progress(stderr io.Writer) func(what string, done, total int) {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(what string, done, total int) {
		if done == total {
			fmt.Fprintf(f, "\r\x1b[K")
			return
		}
		if step := max(total/100, 1); done%step == 0 {
			fmt.Fprintf(f, "\r%s: %d of %d\x1b[K", what, done, total)
		}
	}
}

// Read reads a file; what is its kind in messages.
func Read(path, what string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &dataset.FileError{File: path, Row: -1, Problem: "cannot be read (" + dataset.Reason(err) + ")", Remedy: "check the path of the " + what, Err: err}
	}
	return data, nil
}

// Set reads a data set, with the splits of another file or folder unless that is empty.
func Set(path, splits string) (*dataset.Set, error) {
	s, err := dataset.Load(path)
	if err == nil && splits != "" {
		err = s.ReadSplits(splits)
	}
	return s, err
}

// Prior reads a prior file.
func Prior(path string) (*experiment.Prior, error) {
	data, err := Read(path, "prior")
	if err != nil {
		return nil, err
	}
	return experiment.DecodePrior(path, data)
}
