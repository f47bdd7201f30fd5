package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// long is a text that gets smaller by compression.
var long = strings.Repeat("all of it stays on this device. ", 100)

// newTree lays out a small source tree and the parts that other steps build.
func newTree(t *testing.T) *builder {
	t.Helper()
	root := t.TempDir()
	b := &builder{root: root, out: filepath.Join(root, "build/site"), cache: filepath.Join(root, "build/cache"), wasmExec: filepath.Join(root, "wasm_exec.js")}
	for name, text := range map[string]string{
		"index.html":                        "<!doctype html>" + long,
		"LICENSE":                           "free",
		"THIRD_PARTY.md":                    "thanks",
		"wasm_exec.js":                      "go runtime",
		"web/app.js":                        "app " + long,
		"web/style.css":                     "body{}",
		"web/offline/sw.js":                 "self.addEventListener('install', () => VERSION);\n",
		"web/icons/icon.svg":                "<svg/>",
		"web/icons/icon.png":                "png" + long,
		"web/manifest.webmanifest":          "{}",
		"web/package.json":                  "{}",
		"web/types.d.ts":                    "types",
		"web/app.test.js":                   "test",
		"web/test/unit/app.js":              "test",
		"web/build/extractor.mjs":           "build",
		"web/build/helper.js":               "build",
		"web/node_modules/x/index.js":       "foreign",
		"web/extractor/node_modules/y/z.js": "foreign",
		"web/extractor/index.js":            "extractor",
		"build/site/metaqda.wasm":           "\x00asm" + long,
		"build/site/prior.safetensors":      "prior",
		"build/site/metaqda-simd.wasm":      "kernels",
		"build/site/npz.js":                 "reader",
		"build/site/extractor/weights.bin":  "weights",
		"build/site/samples/a.svg":          "<svg/>" + long,
		"build/site/share/page.html":        "<p>" + long,
		"web/share/page/main.js":            "program",
	} {
		put(t, filepath.Join(root, filepath.FromSlash(name)), text)
	}
	return b
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func build(t *testing.T, b *builder) manifest {
	t.Helper()
	if err := b.build(io.Discard); err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(get(t, filepath.Join(b.out, manifestName)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheManifestListsEveryFileOfTheSite(t *testing.T) {
	b := newTree(t)
	m := build(t, b)
	want := []string{
		"LICENSE.txt", "THIRD_PARTY.md", "extractor/weights.bin", "index.html", "metaqda-simd.wasm", "metaqda.wasm", "npz.js", "prior.safetensors", "samples/a.svg", "share/page.html",
		"wasm_exec.js", "web/app.js", "web/extractor/index.js", "web/icons/icon.png", "web/icons/icon.svg", "web/manifest.webmanifest", "web/style.css",
	}
	if got := m.paths(); !slices.Equal(got, want) {
		t.Errorf("paths\n%v, want\n%v", got, want)
	}
	for _, f := range m.Files {
		content := get(t, filepath.Join(b.out, f.Path))
		if f.Bytes != len(content) || f.SHA256 != hashOf(content) {
			t.Errorf("%s: %d bytes, hash %.8s in the manifest; %d and %.8s in the file", f.Path, f.Bytes, f.SHA256, len(content), hashOf(content))
		}
	}
}

func TestTheServiceWorkerBeginsWithTheVersion(t *testing.T) {
	b := newTree(t)
	m := build(t, b)
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(m.Version) {
		t.Errorf("version %q", m.Version)
	}
	want := `const VERSION = "` + m.Version + "\";\n" + string(get(t, filepath.Join(b.root, "web/offline/sw.js")))
	if got := string(get(t, filepath.Join(b.out, "sw.js"))); got != want {
		t.Errorf("sw.js is %q, want %q", got, want)
	}
}

func TestTheVersionChangesWithAnyFileAndOnlyThen(t *testing.T) {
	b := newTree(t)
	first := build(t, b).Version
	if again := build(t, b).Version; again != first {
		t.Errorf("nothing changed, but version %s became %s", first, again)
	}
	seen := map[string]string{first: "nothing"}
	for _, name := range []string{"web/app.js", "web/offline/sw.js", "index.html", "wasm_exec.js", "build/site/metaqda.wasm", "build/site/samples/a.svg"} {
		put(t, filepath.Join(b.root, name), string(get(t, filepath.Join(b.root, name)))+" ")
		version := build(t, b).Version
		if other, ok := seen[version]; ok {
			t.Errorf("after a change of %s the version is that after %s", name, other)
		}
		seen[version] = name
	}
}

func TestVariantsHoldTheBytesOfTheirFile(t *testing.T) {
	b := newTree(t)
	m := build(t, b)
	variants := 0
	for _, name := range append(m.paths(), "sw.js", manifestName) {
		content := get(t, filepath.Join(b.out, name))
		for suffix, open := range map[string]func(io.Reader) (io.Reader, error){
			".br": func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
			".gz": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		} {
			small, err := os.ReadFile(filepath.Join(b.out, name+suffix))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			variants++
			r, err := open(bytes.NewReader(small))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) || len(small) >= len(content) {
				t.Errorf("%s%s: %d bytes for %d, unpacks to %d (%v)", name, suffix, len(small), len(content), len(got), err)
			}
		}
	}
	// index.html, app.js, metaqda.wasm, a.svg, page.html, manifest.json; the png is packed
	// in itself and the rest is too short.
	if variants != 12 {
		t.Errorf("%d variants, want 12", variants)
	}
}

func TestARebuildKeepsWhatDidNotChange(t *testing.T) {
	b := newTree(t)
	build(t, b)
	poison := filepath.Join(b.cache, hashOf(get(t, filepath.Join(b.out, "web/app.js")))+".br")
	put(t, poison, "from the cache") // shows whether the second build compresses again
	before, err := os.Stat(filepath.Join(b.out, "web/app.js"))
	if err != nil {
		t.Fatal(err)
	}
	build(t, b)
	after, err := os.Stat(filepath.Join(b.out, "web/app.js"))
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("web/app.js was written again (%v)", err)
	}
	if got := get(t, filepath.Join(b.out, "web/app.js.br")); string(got) != "from the cache" {
		t.Error("web/app.js was compressed again")
	}
}

func TestWhatTheTreeNoLongerHasGoes(t *testing.T) {
	b := newTree(t)
	build(t, b)
	old := hashOf(get(t, filepath.Join(b.out, "web/app.js")))
	if err := os.Remove(filepath.Join(b.root, "web/app.js")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.out, "samples/a.svg")); err != nil {
		t.Fatal(err)
	}
	m := build(t, b)
	for _, name := range []string{"web/app.js", "web/app.js.br", "web/app.js.gz", "samples/a.svg.br", "../cache/" + old + ".br"} {
		if _, err := os.Stat(filepath.Join(b.out, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there (%v)", name, err)
		}
	}
	if slices.Contains(m.paths(), "web/app.js") {
		t.Error("the manifest still lists web/app.js")
	}
}

func TestAMissingPartIsNamed(t *testing.T) {
	for _, part := range required {
		b := newTree(t)
		if err := os.RemoveAll(filepath.Join(b.out, part)); err != nil {
			t.Fatal(err)
		}
		if err := b.build(io.Discard); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("without %s: %v", part, err)
		}
	}
}

func TestTheReportAddsUpTheParts(t *testing.T) {
	table := &sizeTable{}
	table.add("metaqda.wasm", [3]int{100, 10, 20})
	table.add("wasm_exec.js", [3]int{7, 1, 2})
	table.add("web/app.js", [3]int{1000, 1, 2})
	table.add("extractor/weights.bin", [3]int{10000, 3, 4})
	var out bytes.Buffer
	table.print(&out, "v")
	for _, want := range []string{`engine +2 +107 +22 +11\n`, `page +1 +1000 +2 +1\n`, `samples +0 +0 +0 +0\n`, `all +4 +11107 +28 +15\n`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no line %q in\n%s", want, &out)
		}
	}
}

func TestTheRuntimeOfTheToolchainIsFound(t *testing.T) {
	b := &builder{root: "."}
	name, err := b.findWasmExec()
	if err != nil {
		t.Fatal(err)
	}
	if content := get(t, name); !bytes.Contains(content, []byte("class")) || !bytes.Contains(content, []byte("Go")) {
		t.Errorf("%s does not look like wasm_exec.js", name)
	}
}
