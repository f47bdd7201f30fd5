package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Site is an http.Handler for the regular files of one folder.
//
// A request names a file exactly; there are no listings, no redirects, no
// ranges and no defaults but index.html for "/". Every look-up goes through an
// os.Root, so neither ".." nor a symbolic link leads out of the folder. Files
// whose names begin with a dot do not exist for it, and precompressed variants
// (app.js.br, app.js.gz) are reached only by asking for app.js.
//
// Files are kept in memory and read again when their size or time changes, so
// that a rebuild shows at the next reload.
type Site struct {
	// Isolate adds Cross-Origin-Embedder-Policy: require-corp. It is off by
	// default: with it TensorFlow.js would choose its threaded runtime, whose
	// workers come from blob: addresses that the content policy refuses.
	Isolate bool

	root  *os.Root
	mu    sync.Mutex
	files map[string]*file
}

// codings are the stored content codings, the best first, with the suffix of
// the file that holds each.
var codings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// A file is one served file: its codings under their names, "identity" always
// among them.
type file struct {
	stamp     [3]stamp // of the file and of its variants; a change means: read again
	mediaType string
	sum       string // sha256 of the uncompressed bytes, hex
	bodies    map[string][]byte
}

// A stamp tells whether a file changed; the zero stamp is a missing file.
type stamp struct {
	size int64
	time time.Time
}

// OpenSite returns the site in the folder dir, which must hold an index.html.
func OpenSite(dir string) (*Site, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the folder %s: run 'make build' first (%w)", dir, err)
	}
	s := &Site{root: root, files: map[string]*file{}}
	if s.stat("index.html") == (stamp{}) {
		root.Close()
		return nil, fmt.Errorf("the folder %s has no index.html: run 'make build' first", dir)
	}
	return s, nil
}

// Close releases the folder.
func (s *Site) Close() error { return s.root.Close() }

// ServeHTTP answers GET and HEAD as the type's comment says; all else is 405.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.secure(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	name, ok := fileName(r.URL.Path)
	if !ok {
		refuse(w, http.StatusNotFound)
		return
	}
	f, err := s.file(name)
	if err != nil {
		refuse(w, http.StatusNotFound)
		return
	}
	s.answer(w, r, name, f)
}

// answer sends f in the coding that the request prefers, or 304 where the
// client holds it, or 406 where the client takes none of the codings.
func (s *Site) answer(w http.ResponseWriter, r *http.Request, name string, f *file) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	coding, ok := negotiate(strings.Join(r.Header.Values("Accept-Encoding"), ","), f.has)
	if !ok {
		refuse(w, http.StatusNotAcceptable)
		return
	}
	tag := `"` + f.sum[:32] + "-" + coding + `"`
	h.Set("ETag", tag)
	h.Set("Cache-Control", cacheControl(name, r.URL.Query().Get("v"), f.sum))
	if matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.bodies[coding]
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if coding != identity {
		h.Set("Content-Encoding", coding)
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		w.Write(body) // a client that went away is its own business
	}
}

// refuse sends a status with its standard words.
func refuse(w http.ResponseWriter, status int) {
	text := http.StatusText(status) + "\n"
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text))
}

// fileName turns the path of a request into a slash-separated name below the
// root; ok is false for whatever is not plainly such a name.
func fileName(urlPath string) (name string, ok bool) {
	if urlPath == "/" {
		return "index.html", true
	}
	name, found := strings.CutPrefix(urlPath, "/")
	if !found || !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return "", false
		}
	}
	for _, c := range codings {
		if strings.HasSuffix(name, c.suffix) {
			return "", false
		}
	}
	return name, true
}

// file returns the named file, from memory unless it changed on disk.
func (s *Site) file(name string) (*file, error) {
	now := [3]stamp{s.stat(name), s.stat(name + codings[0].suffix), s.stat(name + codings[1].suffix)}
	if now[0] == (stamp{}) {
		return nil, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[name]; f != nil && f.stamp == now {
		return f, nil
	}
	f, err := s.load(name, now)
	if err != nil {
		return nil, err
	}
	s.files[name] = f
	return f, nil
}

// load reads a file and those of its variants that are not older than it: an
// older one holds the bytes of a former build.
func (s *Site) load(name string, stamps [3]stamp) (*file, error) {
	raw, err := s.root.ReadFile(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	f := &file{stamp: stamps, mediaType: mediaType(name), sum: hex.EncodeToString(sum[:]), bodies: map[string][]byte{identity: raw}}
	for i, c := range codings {
		if variant := stamps[i+1]; variant == (stamp{}) || variant.time.Before(stamps[0].time) {
			continue
		}
		if f.bodies[c.name], err = s.root.ReadFile(name + c.suffix); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// has reports whether the file is stored in a coding.
func (f *file) has(coding string) bool { return f.bodies[coding] != nil }

// stat returns the stamp of a regular file, or zero where there is none.
// Symbolic links are followed only as far as they stay inside the root.
func (s *Site) stat(name string) stamp {
	info, err := s.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// mediaTypes is complete for what the site holds. The system's own table is not
// asked: it differs between machines.
var mediaTypes = map[string]string{
	".avif":        "image/avif",
	".css":         "text/css; charset=utf-8",
	".gif":         "image/gif",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".jpeg":        "image/jpeg",
	".jpg":         "image/jpeg",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".md":          "text/plain; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".mp4":         "video/mp4",
	".png":         "image/png",
	".safetensors": "application/octet-stream",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".wav":         "audio/wav",
	".webm":        "video/webm",
	".webmanifest": "application/manifest+json",
	".webp":        "image/webp",
	".woff2":       "font/woff2",
}

// mediaType returns the Content-Type for a file name.
func mediaType(name string) string {
	if t, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}
