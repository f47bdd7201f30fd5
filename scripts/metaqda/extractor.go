package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"metaqda/scripts/input"
	"metaqda/scripts/output"
)

// An extractorManifest is what the command line knows of an extractor's manifest, which
// web/extractor/README.md describes: its files, and all that its identity is made of.
// What else a manifest may not be web/extractor/manifest.js refuses; it has done so
// where a session was taught with it.
type extractorManifest struct {
	Format    string
	ID        string
	SHA256    string
	Runtime   string
	Files     []extractorFile
	Dimension int
	Takes     string
	InputSize float64
	Views     []extractorView
	Layout    string
	Channels  string
	Range     []float64
	Mean      []float64
	Std       []float64
	InputName *string
	Outputs   []extractorOutput
	Licence   string
}

type extractorFile struct {
	Name   string
	Bytes  int64
	SHA256 string
}

type extractorView struct {
	Name  string   `json:"name"`
	Share *float64 `json:"share,omitempty"`
}

type extractorOutput struct {
	Node    string  `json:"node"`
	Pooling string  `json:"pooling"`
	Map     *string `json:"map,omitempty"`
}

// readExtractor reads a manifest and the files beside it, compares them, and sets the
// identity. It answers the manifest's text and the files' contents too.
func readExtractor(path string) (m *extractorManifest, text []byte, contents [][]byte, err error) {
	text, err = input.File(path, "manifest")
	if err != nil {
		return nil, nil, nil, err
	}
	m = &extractorManifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, nil, nil, fmt.Errorf("%s is no manifest of an extractor (%w); web/extractor/README.md describes one", path, err)
	}
	if m.Format != "metaqda-extractor-1" {
		return nil, nil, nil, fmt.Errorf(`%s has the "format" %q, not "metaqda-extractor-1"; web/extractor/README.md describes a manifest`, path, m.Format)
	}
	if m.Runtime == "function" {
		return nil, nil, nil, fmt.Errorf("%s is the manifest of a function, which a shared file does not run; use it in a page of your own, by the npm package", path)
	}
	if m.Runtime != "onnx" && m.Runtime != "tfjs-graph" {
		return nil, nil, nil, fmt.Errorf(`%s has the "runtime" %q; write "onnx" or "tfjs-graph"`, path, m.Runtime)
	}
	contents, err = m.contents(filepath.Dir(path))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	identity := m.identity(contents)
	if m.SHA256 != "" && m.SHA256 != identity {
		return nil, nil, nil, fmt.Errorf(`%s has the "sha256" %s, and its files and other fields give %s; write that, or leave the field out`, path, m.SHA256, identity)
	}
	m.SHA256 = identity
	return m, text, contents, nil
}

// contents reads the files that the manifest lists.
func (m *extractorManifest) contents(dir string) ([][]byte, error) {
	if len(m.Files) == 0 {
		return nil, fmt.Errorf(`it lists no "files"; list those of the network, the model first`)
	}
	contents := make([][]byte, len(m.Files))
	for i, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return nil, fmt.Errorf("the file %q lies elsewhere; write a name beside the manifest, such as model.onnx", f.Name)
		}
		full := filepath.Join(dir, filepath.FromSlash(f.Name))
		// The size first, so that nothing huge is read by mistake.
		if info, err := os.Stat(full); err != nil || info.Size() != f.Bytes {
			if err != nil {
				return nil, fmt.Errorf("the file %q that it lists cannot be read (%s); put it beside the manifest", f.Name, output.Reason(err))
			}
			return nil, fmt.Errorf("the file %q has %d bytes, and the manifest says %d; take the file that the manifest was written for", f.Name, info.Size(), f.Bytes)
		}
		content, err := input.File(full, "extractor's files")
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 {
			return nil, fmt.Errorf("the file %q is another one than the manifest says (its sha256 is %x); take the file that the manifest was written for", f.Name, sum)
		}
		contents[i] = content
	}
	return contents, nil
}

// identity is the sha256 of the files, one after the other, and of the recipe.
func (m *extractorManifest) identity(contents [][]byte) string {
	h := sha256.New()
	for _, content := range contents {
		h.Write(content)
	}
	h.Write([]byte(m.recipe()))
	return hex.EncodeToString(h.Sum(nil))
}

// recipe is all of a network's manifest that its numbers depend on, byte for byte as
// recipeText in web/extractor/manifest.js writes it; testdata/extractor holds both to
// the same.
func (m *extractorManifest) recipe() string {
	type node struct {
		Node    string `json:"node"`
		Pooling string `json:"pooling"`
	}
	r := struct {
		Filter    string          `json:"filter"`
		InputSize float64         `json:"inputSize"`
		Views     []extractorView `json:"views"`
		Runtime   string          `json:"runtime,omitempty"`
		Layout    string          `json:"layout,omitempty"`
		Channels  string          `json:"channels,omitempty"`
		Range     []float64       `json:"range,omitempty"`
		Mean      []float64       `json:"mean,omitempty"`
		Std       []float64       `json:"std,omitempty"`
		InputName *string         `json:"inputName,omitempty"`
		Outputs   []node          `json:"outputs,omitempty"`
	}{
		Filter: "triangle-1", InputSize: m.InputSize, Views: m.Views, InputName: m.InputName,
		Range: unlike(m.Range, 0, 255), Mean: unlike(m.Mean, 0, 0, 0), Std: unlike(m.Std, 1, 1, 1),
	}
	// What is as it is when left out is not in the text.
	if m.Runtime != "tfjs-graph" {
		r.Runtime = m.Runtime
	}
	if m.Layout == "NCHW" {
		r.Layout = m.Layout
	}
	if m.Channels == "BGR" {
		r.Channels = m.Channels
	}
	for _, o := range m.Outputs {
		if o.Pooling == "" {
			o.Pooling = "none"
		}
		r.Outputs = append(r.Outputs, node{o.Node, o.Pooling})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic("share: a recipe has no JSON: " + err.Error()) // JSON holds finite numbers alone
	}
	// JavaScript leaves these two as they are; a backslash before u2028 is one of a text.
	return strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
}

// unlike returns the numbers without signs of zero, nothing where they are the usual ones.
func unlike(numbers []float64, usual ...float64) []float64 {
	if numbers == nil || slices.Equal(numbers, usual) {
		return nil
	}
	plain := slices.Clone(numbers)
	for i := range plain {
		if plain[i] == 0 {
			plain[i] = 0 // -0 too
		}
	}
	return plain
}
