package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// manifestName is where the page and the service worker find the manifest.
const manifestName = "manifest.json"

// A manifest lists what the site holds.
type manifest struct {
	Version string  `json:"version"` // 16 hex digits that change with any file
	Files   []entry `json:"files"`   // sorted by path
}

// An entry is one file, as it is before compression.
type entry struct {
	Path   string `json:"path"` // relative to the site, with slashes
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"` // hex
}

// newManifest lists the files below out, without their variants, the manifest and
// the service worker. The version is left empty.
func newManifest(out string) (*manifest, error) {
	m := &manifest{}
	err := walk(out, ".", func(name string) error {
		if name == manifestName || name == "sw.js" || isVariant(name) || hidden(name) {
			return nil
		}
		content, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		m.Files = append(m.Files, entry{name, len(content), hashOf(content)})
		return nil
	})
	return m, err
}

// version hashes the list of files and the source of the service worker.
func (m *manifest) version(worker []byte) string {
	h := sha256.New()
	for _, f := range m.Files {
		fmt.Fprintf(h, "%s %d %s\n", f.SHA256, f.Bytes, f.Path)
	}
	h.Write(worker)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// paths returns the paths of the manifest, in its order.
func (m *manifest) paths() []string {
	paths := make([]string, len(m.Files))
	for i, f := range m.Files {
		paths[i] = f.Path
	}
	return paths
}

// encode returns the manifest as JSON that a person can read.
func (m *manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	return append(text, '\n'), err
}

// walk calls visit with every regular file below root/dir, in lexical order,
// named relative to root with slashes. node_modules is not entered.
func walk(root, dir string, visit func(name string) error) error {
	return fs.WalkDir(os.DirFS(root), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		return visit(name)
	})
}

// removeStale removes the files below root/dir that keep does not name, variants
// excepted: they go with their file.
func removeStale(root, dir string, keep func(name string) bool) error {
	err := walk(root, dir, func(name string) error {
		if isVariant(name) || keep(name) {
			return nil
		}
		return os.Remove(filepath.Join(root, filepath.FromSlash(name)))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a first build has nothing stale
	}
	return err
}

// isVariant reports whether a name is that of a compressed variant.
func isVariant(name string) bool {
	return strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz")
}

// hidden reports whether a file is one that the server does not show.
func hidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") }
