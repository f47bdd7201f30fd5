// Command serve answers HTTP requests with the files of one folder: the built site. It is for
// trying the page on your own machine and for the browser tests. Any static web server can replace
// it.
//
// It listens on localhost only unless -addr says otherwise, because the camera
// and service workers need either localhost or https. There it answers only requests for localhost,
// 127.0.0.1, [::1] and the host of -addr. A foreign page whose name points to this machine gets
// status 421.
//
//	go run ./scripts/serve -dir build/site -addr localhost:8080
//
// Tests add a folder of their own: -beside tests=build/tests answers with its files below /tests/.
//
// The first line on standard output ends in the address. Exit status: 0 after
// an interrupt, or after the end of standard input with -until-eof; 1 for a folder or an address that cannot be served, 2 for wrong use.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// headers are on every answer. The policy lets the page load only from its own origin, compile
// WebAssembly, and show pictures it made itself (blob:, data:). Nothing may be sent anywhere else:
// the promise "nothing leaves the device" depends on this.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' blob: data:; " +
		"style-src 'self'; media-src 'self' blob:; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options": "nosniff",
	"Referrer-Policy":        "no-referrer",
	// Bluetooth is not named: the page has it anyway, and Chromium on Linux warns of a name that it does not know.
	"Permissions-Policy":           "camera=(self), microphone=(self), serial=(self), midi=(self), geolocation=(), payment=(), usb=()",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-cache",
	"Vary":                         "Accept-Encoding",
}

// mediaTypes are those that the tables of systems lack or disagree on.
var mediaTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".md": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json", ".safetensors": "application/octet-stream", ".bin": "application/octet-stream",
}

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until ctx ends and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "build/site", "folder to serve")
	addr := flags.String("addr", "localhost:8080", "host:port to listen on; port 0 takes any free one")
	beside := flags.String("beside", "", "name=folder: answer with the files of a second folder below /name/")
	untilEOF := flags.Bool("until-eof", false, "stop once standard input ends, as it does when the process behind it is killed")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		fmt.Fprintf(stderr, "serve: usage: serve [-dir folder] [-addr host:port] [-beside name=folder] [-until-eof]\n")
		return 2
	}
	root, err := os.OpenRoot(*dir)
	if err == nil {
		_, err = root.Stat("index.html")
	}
	if err != nil {
		fmt.Fprintf(stderr, "serve: there is no site in %s: run 'make build' first (%v)\n", *dir, err)
		return 1
	}
	handler := site(root)
	if *beside != "" {
		name, folder, _ := strings.Cut(*beside, "=")
		other, err := os.OpenRoot(folder)
		if err != nil || name == "" {
			fmt.Fprintf(stderr, "serve: -beside %s: give name=folder, such as tests=build/tests, with a folder that exists (%v)\n", *beside, err)
			return 1
		}
		both := http.NewServeMux()
		both.Handle("/", handler)
		both.Handle("/"+name+"/", http.StripPrefix("/"+name, site(other)))
		handler = both
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintf(stderr, "serve: %v: choose another port, for example 'make run PORT=8081'\n", err)
		return 1
	}
	host, _, _ := net.SplitHostPort(*addr)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	if listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		server.Handler = onlyFor(server.Handler, host)
	} else if net.ParseIP(host).IsUnspecified() {
		host = ""
	}
	fmt.Fprintf(stdout, "metaqda is ready: open http://%s (Ctrl-C stops it)\n", net.JoinHostPort(cmp.Or(host, "localhost"), port))
	context.AfterFunc(ctx, func() { server.Close() })
	if *untilEOF {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			server.Close()
		}()
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintf(stderr, "serve: %v\n", err)
		return 1
	}
	return 0
}

// site answers with the files below root, or with their variant .br or .gz if the client accepts
// it. It skips variants older than the file, which are from a former build. There are no listings;
// symbolic links are followed only inside root.
func site(root *os.Root) http.Handler {
	files := http.FileServerFS(root.FS())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		name := cmp.Or(strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/"), "index.html")
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() || strings.Contains("/"+name, "/.") || r.URL.Path != "/" && r.URL.Path != "/"+name {
			http.NotFound(w, r)
			return
		}
		if kind := cmp.Or(mediaTypes[path.Ext(name)], mime.TypeByExtension(path.Ext(name))); kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		for _, coding := range []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}} {
			variant, err := root.Stat(name + coding.suffix)
			if err == nil && !variant.ModTime().Before(info.ModTime()) && accepts(r.Header.Get("Accept-Encoding"), coding.name) {
				w.Header().Set("Content-Encoding", coding.name)
				name, info = name+coding.suffix, variant
				break
			}
		}
		// Two builds in one second have the same Last-Modified.
		w.Header().Set("ETag", fmt.Sprintf(`"%x-%x-%s"`, info.ModTime().UnixNano(), info.Size(), path.Ext(name)))
		// A FileServer answers "/" with index.html, and redirects requests for index.html.
		r.URL.Path = "/" + strings.TrimSuffix(name, "index.html")
		files.ServeHTTP(w, r)
	})
}

// accepts reports whether a list of codings has this one, with a weight that is not zero.
func accepts(list, coding string) bool {
	for one := range strings.SplitSeq(list, ",") {
		name, weight, weighted := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return !weighted || strings.Trim(weight, " q=0.") != ""
		}
	}
	return false
}

// onlyFor refuses requests for names of other machines. Otherwise another site could make its own
// name resolve to 127.0.0.1 and read the answers as its own (DNS rebinding).
func onlyFor(handler http.Handler, host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := (&url.URL{Host: strings.ToLower(r.Host)}).Hostname()
		if !slices.Contains([]string{"localhost", "127.0.0.1", "::1", strings.ToLower(host)}, asked) {
			http.Error(w, "Misdirected Request", http.StatusMisdirectedRequest)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
