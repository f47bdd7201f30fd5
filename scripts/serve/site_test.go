package main

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secret is the content of a file beside the site; no answer may ever hold it.
const secret = "the secret beside the site"

// newSite builds a folder with a site in it, and beside it a secret to which
// two symbolic links inside the site lead.
func newSite(t testing.TB) (*Site, string) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "site")
	write(t, filepath.Join(top, "secret.txt"), secret)
	for name, text := range map[string]string{
		"index.html":            "<!doctype html>",
		"web/app.js":            "export {};",
		"web/app.js.br":         "brotli variant",
		"web/app.js.gz":         "gzip variant",
		"web/style.css":         "body{}",
		"metaqda.wasm":          "\x00asm",
		"prior.safetensors":     "tensors",
		"manifest.json":         "{}",
		"app.webmanifest":       "{}",
		"icon.svg":              "<svg/>",
		"icon.png":              "png",
		"a b/ü.txt":             "odd names",
		".hidden":               "hidden",
		"web/.git/config":       "hidden",
		"extractor/weights.bin": "weights",
		"empty.txt":             "",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	for link, target := range map[string]string{"leak.txt": "../secret.txt", "leakdir": "..", "inside.txt": "web/style.css"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	// The variants are written in map order; make them as new as their file.
	now := time.Now()
	for _, name := range []string{"web/app.js", "web/app.js.br", "web/app.js.gz"} {
		if err := os.Chtimes(filepath.Join(dir, name), now, now); err != nil {
			t.Fatal(err)
		}
	}
	site, err := OpenSite(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	return site, dir
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ask sends one request; headers come as name, value pairs.
func ask(site http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := &http.Request{Method: method, URL: &url.URL{Path: path}, Header: http.Header{}}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w
}

func TestEveryKindOfFileHasItsMediaType(t *testing.T) {
	site, _ := newSite(t)
	for path, want := range map[string]string{
		"/":                      "text/html; charset=utf-8",
		"/index.html":            "text/html; charset=utf-8",
		"/web/app.js":            "text/javascript; charset=utf-8",
		"/web/style.css":         "text/css; charset=utf-8",
		"/metaqda.wasm":          "application/wasm",
		"/prior.safetensors":     "application/octet-stream",
		"/manifest.json":         "application/json",
		"/app.webmanifest":       "application/manifest+json",
		"/icon.svg":              "image/svg+xml",
		"/icon.png":              "image/png",
		"/extractor/weights.bin": "application/octet-stream",
		"/a b/ü.txt":             "text/plain; charset=utf-8",
		"/inside.txt":            "text/plain; charset=utf-8", // a link that stays inside
		"/empty.txt":             "text/plain; charset=utf-8",
	} {
		w := ask(site, "GET", path)
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want {
			t.Errorf("%s: status %d, Content-Type %q, want 200 and %q", path, w.Code, got, want)
		}
	}
}

func TestPrecompressedVariantsAreNegotiated(t *testing.T) {
	site, _ := newSite(t)
	tags := map[string]bool{}
	for accept, want := range map[string]struct{ coding, body string }{
		"gzip, br": {"br", "brotli variant"},
		"gzip":     {"gzip", "gzip variant"},
		"":         {"", "export {};"},
	} {
		w := ask(site, "GET", "/web/app.js", "Accept-Encoding", accept)
		if got := w.Header().Get("Content-Encoding"); got != want.coding || w.Body.String() != want.body {
			t.Errorf("accepting %q: coding %q, body %q, want %q, %q", accept, got, w.Body, want.coding, want.body)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("Content-Type") != mediaTypes[".js"] {
			t.Errorf("accepting %q: Vary %q, Content-Type %q", accept, w.Header().Get("Vary"), w.Header().Get("Content-Type"))
		}
		tags[w.Header().Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("%d different tags for 3 codings: %v", len(tags), tags)
	}
	if w := ask(site, "GET", "/web/style.css", "Accept-Encoding", "identity;q=0"); w.Code != http.StatusNotAcceptable {
		t.Errorf("a client that takes nothing got %d, want 406", w.Code)
	}
}

func TestAVariantOlderThanItsFileIsNotServed(t *testing.T) {
	site, dir := newSite(t)
	name := filepath.Join(dir, "web/app.js")
	write(t, name, "export const newer = 1;")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(name, later, later); err != nil {
		t.Fatal(err)
	}
	w := ask(site, "GET", "/web/app.js", "Accept-Encoding", "br")
	if w.Body.String() != "export const newer = 1;" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("after a rebuild: %q in coding %q", w.Body, w.Header().Get("Content-Encoding"))
	}
}

func TestAClientThatHoldsTheFileGets304(t *testing.T) {
	site, dir := newSite(t)
	first := ask(site, "GET", "/web/style.css")
	tag := first.Header().Get("ETag")
	second := ask(site, "GET", "/web/style.css", "If-None-Match", tag)
	if second.Code != http.StatusNotModified || second.Body.Len() != 0 || second.Header().Get("ETag") != tag {
		t.Errorf("status %d, %d bytes, tag %q, want 304, none, %q", second.Code, second.Body.Len(), second.Header().Get("ETag"), tag)
	}
	write(t, filepath.Join(dir, "web/style.css"), "body{color:red}")
	third := ask(site, "GET", "/web/style.css", "If-None-Match", tag)
	if third.Code != 200 || third.Body.String() != "body{color:red}" {
		t.Errorf("after a change: status %d, body %q", third.Code, third.Body)
	}
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	site, _ := newSite(t)
	for _, w := range []*httptest.ResponseRecorder{
		ask(site, "GET", "/"), ask(site, "HEAD", "/"), ask(site, "POST", "/"), ask(site, "GET", "/missing"),
		ask(site, "GET", "/", "If-None-Match", "*"), ask(site, "GET", "/", "Accept-Encoding", "*;q=0"),
	} {
		for name, want := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Accept-Ranges":                "none",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("status %d: %s is %q, want %q", w.Code, name, got, want)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("status %d: the policy %q lacks %q", w.Code, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe-inline") || strings.Contains(policy, "'unsafe-eval'") || strings.Contains(policy, "http") {
			t.Errorf("the policy is open: %q", policy)
		}
	}
	site.Isolate = true
	if got := ask(site, "GET", "/").Header().Get("Cross-Origin-Embedder-Policy"); got != "require-corp" {
		t.Errorf("isolated: Cross-Origin-Embedder-Policy is %q", got)
	}
}

func TestOnlyGetAndHeadAreAnswered(t *testing.T) {
	site, _ := newSite(t)
	get, head := ask(site, "GET", "/web/app.js"), ask(site, "HEAD", "/web/app.js")
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != get.Header().Get("Content-Length") {
		t.Errorf("HEAD: status %d, %d bytes, length %q", head.Code, head.Body.Len(), head.Header().Get("Content-Length"))
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""} {
		if w := ask(site, method, "/index.html"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%q: status %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	if w := ask(site, "GET", "/web/app.js", "Range", "bytes=0-1"); w.Code != 200 || w.Body.Len() != len("export {};") {
		t.Errorf("a range request got status %d and %d bytes, want the whole file", w.Code, w.Body.Len())
	}
}

// hostile are paths that must not be answered.
var hostile = []string{
	"", "//", "/../secret.txt", "/web/../../secret.txt", "/..", "/.", "/web/", "/web", "/leak.txt", "/leakdir/secret.txt",
	"/leakdir", "/.hidden", "/web/.git/config", "//secret.txt", "/web//app.js", "/web/./app.js", "/web\\app.js",
	"/..\\secret.txt", "/index.html\x00", "/index.html/", "/C:/secret.txt", "/web/app.js.br", "/web/app.js.gz",
	"/web/app.js::$DATA", "*", "index.html", "/%2e%2e/secret.txt", "/missing", "/\xff\xfe", "/" + strings.Repeat("a/", 5000),
}

func TestHostilePathsAreNotFound(t *testing.T) {
	site, _ := newSite(t)
	for _, path := range hostile {
		if w := ask(site, "GET", path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), secret) {
			t.Errorf("%.60q: status %d, body %.60q, want 404", path, w.Code, w.Body)
		}
	}
}

// FuzzPath asks for arbitrary paths: the answer is either 404 or exactly the
// bytes of a regular file that lies, links resolved, inside the folder.
func FuzzPath(f *testing.F) {
	site, dir := newSite(f)
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(hostile, "/", "/web/app.js", "/inside.txt", "/a b/ü.txt") {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		w := ask(site, "GET", path)
		switch {
		case w.Code == http.StatusNotFound:
			if len(w.Body.String()) > 20 {
				t.Fatalf("%q: a long refusal: %q", path, w.Body)
			}
			return
		case w.Code != http.StatusOK:
			t.Fatalf("%q: status %d", path, w.Code)
		case path == "/":
			path = "/index.html"
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil || !strings.HasPrefix(real, dir+string(filepath.Separator)) {
			t.Fatalf("%q was answered but is %q (%v), outside %q", path, real, err, dir)
		}
		want, err := os.ReadFile(real)
		if err != nil || !bytes.Equal(w.Body.Bytes(), want) {
			t.Fatalf("%q: answered %q, the file holds %q (%v)", path, w.Body, want, err)
		}
	})
}

func TestOpenSiteSaysHowToGetASite(t *testing.T) {
	_, err := OpenSite(filepath.Join(t.TempDir(), "nowhere"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make build") {
		t.Errorf("missing folder: %v", err)
	}
	if _, err := OpenSite(t.TempDir()); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("empty folder: %v", err)
	}
}
