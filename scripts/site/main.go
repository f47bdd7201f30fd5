// Command site turns the parts that were built into the folder that is served.
//
// Before it runs, the out folder holds what other build steps made:
// metaqda.wasm, metaqda-simd.wasm, prior.safetensors, npz.js, extractor/, samples/
// and share/. It adds
//
//   - the page: index.html, the notices, web/ without tests, build scripts, what of the
//     npm package it does not use, examples, shared page and package files, all byte for byte as they stand in the tree;
//   - wasm_exec.js of the toolchain that built the engine;
//   - manifest.json: {version, files: [{path, bytes, sha256}]}, every file that
//     the page may ask for with its uncompressed size (Content-Length tells the
//     compressed one, so progress needs this) and hash, sorted by path. The
//     service worker and the manifest itself are not in it;
//   - sw.js: web/offline/sw.js after one line that defines VERSION, the version
//     of the manifest. It stands at the top to have the whole site as its scope.
//     A browser updates a service worker only when its own bytes change; that
//     line changes whenever any file does;
//   - beside every file that gets smaller its precompressed variants, .br and
//     .gz. They are kept in a cache under the hash of their file, so a rebuild
//     compresses only what changed.
//
// What a former build left in web/, and variants without a file, are removed.
// Only what changed is written.
//
//	go run ./scripts/site -root . -out build/site -cache build/cache/variants
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	var b builder
	flag.StringVar(&b.root, "root", ".", "the source tree")
	flag.StringVar(&b.out, "out", "build/site", "folder to complete")
	flag.StringVar(&b.cache, "cache", "build/cache/variants", "folder for compressed files, kept between builds")
	flag.StringVar(&b.wasmExec, "wasm-exec", "", "wasm_exec.js to ship (default: that of 'go env GOROOT')")
	flag.Parse()
	if err := b.build(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
}

// A builder holds the folders of one build.
type builder struct{ root, out, cache, wasmExec string }

// required are the parts that other build steps must have made.
var required = []string{"metaqda.wasm", "metaqda-simd.wasm", "prior.safetensors", "npz.js", "extractor", "samples", "share"}

// build completes the out folder and prints the sizes of what is to download.
func (b *builder) build(report io.Writer) error {
	for _, name := range required {
		if _, err := os.Stat(filepath.Join(b.out, name)); err != nil {
			return fmt.Errorf("%s is missing in %s: 'make build' makes it", name, b.out)
		}
	}
	if err := b.copyPage(); err != nil {
		return err
	}
	m, err := newManifest(b.out)
	if err != nil {
		return err
	}
	worker, err := os.ReadFile(filepath.Join(b.root, filepath.FromSlash(workerSource)))
	if err != nil {
		return err
	}
	m.Version = m.version(worker)
	if err := writeIfChanged(filepath.Join(b.out, "sw.js"), stamped(worker, m.Version)); err != nil {
		return err
	}
	manifest, err := m.encode()
	if err != nil {
		return err
	}
	if err := writeIfChanged(filepath.Join(b.out, manifestName), manifest); err != nil {
		return err
	}
	sizes, err := b.compressAll(append(m.paths(), "sw.js", manifestName))
	if err != nil {
		return err
	}
	sizes.print(report, m.Version)
	return nil
}

// stamped returns the service worker with the version of its site in front.
func stamped(worker []byte, version string) []byte {
	return append(fmt.Appendf(nil, "const VERSION = %q;\n", version), worker...)
}

// copyPage brings the page's own files into out and removes those that the tree
// no longer has.
func (b *builder) copyPage() error {
	files, err := pageFiles(b.root)
	if err != nil {
		return err
	}
	if files["wasm_exec.js"], err = b.findWasmExec(); err != nil {
		return err
	}
	for name, source := range files {
		content, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := writeIfChanged(filepath.Join(b.out, filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	return removeStale(b.out, "web", func(name string) bool { return files[name] != "" })
}

// pageFiles maps each file of the page, named as in the site with slashes, to
// its source in the tree.
func pageFiles(root string) (map[string]string, error) {
	files := map[string]string{
		"index.html":     filepath.Join(root, "index.html"),
		"LICENSE.txt":    filepath.Join(root, "LICENSE"),
		"THIRD_PARTY.md": filepath.Join(root, "THIRD_PARTY.md"),
	}
	err := walk(root, "web", func(name string) error {
		if shipped(name) {
			files[name] = filepath.Join(root, filepath.FromSlash(name))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Modules that name npm packages are served as web/build/kit.mjs bundled them.
	bundled, err := filepath.Glob(filepath.Join(root, "build/kit/*.js"))
	for _, source := range bundled {
		files["web/ui/kit/"+filepath.Base(source)] = source
	}
	return files, err
}

// shippedTypes are the endings of what a browser asks for.
var shippedTypes = map[string]bool{".js": true, ".css": true, ".svg": true, ".png": true, ".webp": true, ".ico": true, ".webmanifest": true}

// workerSource is the service worker in the tree.
const workerSource = "web/offline/sw.js"

// ofPage are the modules of the npm package that the page uses.
var ofPage = map[string]bool{"web/library/storage.js": true, "web/library/extractors.js": true, "web/library/kept.js": true}

// shipped reports whether a file below web/ belongs to the page. The service
// worker is written apart, at the top of the site, to have the whole of it as
// its scope.
func shipped(name string) bool {
	if ofPage[name] {
		return true
	}
	for _, apart := range []string{"web/node_modules/", "web/test/", "web/build/", "web/library/", "web/examples/", "web/share/page/"} {
		if strings.HasPrefix(name, apart) {
			return false
		}
	}
	return name != workerSource && !strings.HasSuffix(name, ".test.js") && shippedTypes[filepath.Ext(name)]
}

// findWasmExec returns the path of the wasm_exec.js that fits the toolchain.
func (b *builder) findWasmExec() (string, error) {
	if b.wasmExec != "" {
		return b.wasmExec, nil
	}
	command := exec.Command("go", "env", "GOROOT")
	command.Dir = b.root // the go.mod there may choose another toolchain
	goroot, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	dir := strings.TrimSpace(string(goroot))
	for _, place := range []string{"lib", "misc"} { // misc: before Go 1.24
		name := filepath.Join(dir, place, "wasm", "wasm_exec.js")
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("no wasm_exec.js below %s: install Go from its own archive, some distributions leave the file out", dir)
}

// writeIfChanged writes a file whole or not at all, and leaves one that already
// holds the content untouched, so that its time and the clients' copies stay.
func writeIfChanged(name string, content []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails, as it should, after the rename
	_, err = temp.Write(content)
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(temp.Name(), 0o644)
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}

// hashOf returns the sha256 of b in hex.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
