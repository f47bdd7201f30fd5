package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// checkWritable says beforehand that an output could not be written: better
// than after an hour of work. An empty path is no output.
func checkWritable(paths ...string) error {
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

// writeFile writes all of the file or nothing: to a temporary name in the same
// folder, then renamed.
func writeFile(path string, data []byte) error {
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
