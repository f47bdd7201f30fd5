package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"metaqda/core/test"
)

// newSite builds a folder with a site in it, and beside it a secret to which a symbolic
// link inside the site leads.
func newSite(t *testing.T) (http.Handler, string) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "site")
	write(t, filepath.Join(top, "secret.txt"), "the secret")
	for _, name := range []string{"index.html", "web/app.js", "web/app.js.gz", "web/app.js.br", "metaqda.wasm", "notes.md", ".hidden", "prior.safetensors"} {
		write(t, filepath.Join(dir, name), name)
	}
	if err := os.Symlink("../secret.txt", filepath.Join(dir, "leak.txt")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	root := test.Must(os.OpenRoot(dir))(t)
	t.Cleanup(func() { root.Close() })
	return site(root), dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	test.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
	test.OK(t, os.WriteFile(name, []byte(text), 0o644))
}

// ask sends one request; headers come as name, value pairs.
func ask(handler http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	r.URL.Path = path
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestFilesAreAnsweredWithTypeCodingAndHeaders(t *testing.T) {
	handler, _ := newSite(t)
	for _, c := range []struct{ path, accept, kind, coding, body string }{
		{"/", "gzip, br", "text/html; charset=utf-8", "", "index.html"},
		{"/index.html", "", "text/html; charset=utf-8", "", "index.html"},
		{"/metaqda.wasm", "", "application/wasm", "", "metaqda.wasm"},
		{"/notes.md", "", "text/plain; charset=utf-8", "", "notes.md"},
		{"/prior.safetensors", "", "application/octet-stream", "", "prior.safetensors"},
		{"/web/app.js", "gzip, deflate, br, zstd", "text/javascript; charset=utf-8", "br", "web/app.js.br"},
		{"/web/app.js", "gzip, deflate", "text/javascript; charset=utf-8", "gzip", "web/app.js.gz"},
		{"/web/app.js", "", "text/javascript; charset=utf-8", "", "web/app.js"},
		{"/web/app.js", "br;q=0, GZIP;q=0.5", "text/javascript; charset=utf-8", "gzip", "web/app.js.gz"},
		{"/web/app.js", "gzip;q=0.000, brotli", "text/javascript; charset=utf-8", "", "web/app.js"},
	} {
		w := ask(handler, c.path, "Accept-Encoding", c.accept)
		h := w.Header()
		if w.Code != 200 || h.Get("Content-Type") != c.kind || h.Get("Content-Encoding") != c.coding || w.Body.String() != c.body {
			t.Errorf("%s accepting %q: status %d, type %q, coding %q, body %q", c.path, c.accept, w.Code, h.Get("Content-Type"), h.Get("Content-Encoding"), w.Body)
		}
		for name, value := range headers {
			if h.Get(name) != value {
				t.Errorf("%s: %s is %q", c.path, name, h.Get(name))
			}
		}
	}
}

func TestNothingElseIsAnswered(t *testing.T) {
	handler, _ := newSite(t)
	for _, path := range []string{"", "//", "/..", "/../secret.txt", "/web/../../secret.txt", "/web", "/web/", "/web//app.js", "/web/./app.js",
		"/leak.txt", "/.hidden", "/index.html/", "/missing", "/web\\app.js", "/\x00", "*", "/" + strings.Repeat("a/", 5000)} {
		w := ask(handler, path)
		if w.Code != http.StatusNotFound || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%.60q: status %d, body %.60q", path, w.Code, w.Body)
		}
	}
}

func TestARebuildShowsAtTheNextRequest(t *testing.T) {
	handler, dir := newSite(t)
	tag := ask(handler, "/web/app.js").Header().Get("ETag")
	w := ask(handler, "/web/app.js", "If-None-Match", tag)
	if w.Code != http.StatusNotModified {
		t.Errorf("unchanged: status %d", w.Code)
	}
	// In the same second and of the same size; its variants are those of the former build.
	name := filepath.Join(dir, "web/app.js")
	write(t, name, "WEB/APP.JS")
	test.OK(t, os.Chtimes(name, time.Time{}, time.Now().Add(time.Millisecond)))
	w = ask(handler, "/web/app.js", "If-None-Match", tag, "Accept-Encoding", "br")
	if w.Body.String() != "WEB/APP.JS" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("changed: status %d, body %q", w.Code, w.Body)
	}
}

func TestOnlyThisMachinesNamesAreAnsweredOnLoopback(t *testing.T) {
	handler, _ := newSite(t)
	for host, want := range map[string]int{
		"localhost:8080": 200, "LOCALHOST": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "[::1]": 200, "metaqda.test:8080": 200,
		"evil.test:8080": 421, "localhost.evil.test:8080": 421, "127.0.0.2": 421, "": 421,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if onlyFor(handler, "metaqda.test").ServeHTTP(w, r); w.Code != want {
			t.Errorf("host %q: status %d, want %d", host, w.Code, want)
		}
	}
}

// Clients that send nothing keep no other one waiting.
func TestTheCommandServesBesideSilentConnectionsUntilItIsStopped(t *testing.T) {
	_, dir := newSite(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reader, writer := io.Pipe()
	status := make(chan int, 1)
	other := t.TempDir()
	write(t, filepath.Join(other, "modules.js"), "export {};")
	go func() {
		status <- run(ctx, []string{"-dir", dir, "-addr", "localhost:0", "-beside", "tests=" + other}, writer, io.Discard)
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSuffix(line, " (Ctrl-C stops it)\n"), "http://")
	if err != nil || !found {
		t.Fatalf("%q, %v", line, err)
	}
	var silent []net.Conn
	for range 130 {
		c := test.Must(net.Dial("tcp", address))(t)
		defer c.Close()
		silent = append(silent, c)
	}
	for path, want := range map[string]int{"/metaqda.wasm": 200, "/tests/modules.js": 200, "/modules.js": 404, "/tests/metaqda.wasm": 404} {
		answer := test.Must(http.Get("http://" + address + path))(t)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, answer.StatusCode, want)
		}
	}
	for i, c := range silent { // none had to be given up before
		test.OK(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
		_, err := c.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("silent connection %d: %v", i, err)
		}
	}
	stop()
	got := <-status
	if got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestWhatCannotBeServedIsToldWithTheRemedy(t *testing.T) {
	_, dir := newSite(t)
	taken := test.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for _, c := range []struct {
		args   []string
		status int
		word   string
	}{
		{[]string{"-nonsense"}, 2, "usage"},
		{[]string{"build/site"}, 2, "usage"},
		{[]string{"-dir", t.TempDir()}, 1, "make build"},
		{[]string{"-dir", dir, "-beside", "tests=" + filepath.Join(dir, "nowhere")}, 1, "give name=folder"},
		{[]string{"-dir", dir, "-beside", dir}, 1, "give name=folder"},
		{[]string{"-dir", dir, "-addr", "8080"}, 1, "make run PORT="},
		{[]string{"-dir", dir, "-addr", taken.Addr().String()}, 1, "make run PORT="},
	} {
		var problems bytes.Buffer
		got := run(context.Background(), c.args, io.Discard, &problems)
		if got != c.status || !strings.Contains(problems.String(), c.word) {
			t.Errorf("%v: status %d, message %q", c.args, got, problems.String())
		}
	}
}
