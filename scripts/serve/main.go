// Command serve answers HTTP requests with the files of one folder: the built
// site. It is for trying the page on one's own machine and for the browser
// tests; any static web host can take its place.
//
// The handler is our own because none of statigz, lpar/gzipped and Caddy's file
// server tags by content, heeds every weight of Accept-Encoding, refuses the
// variants of a former build and shows a rebuild at the next reload.
//
// It listens on localhost only unless -addr says otherwise, because the camera
// and service workers need either localhost or https. There it answers only
// requests for localhost, 127.0.0.1, [::1] and the host of -addr, with its port: a
// page elsewhere whose name is made to point to this machine gets status 421. A
// client that does not take 64 KiB in ten seconds, or says nothing for five, is left.
//
//	go run ./scripts/serve -dir build/site -addr localhost:8080
//
// The first line on standard output ends in the address. Exit status: 0 after
// an interrupt, 1 for a broken folder or server, 2 for wrong use or an address
// that cannot be had.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments: it serves until ctx ends and
// returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "build/site", "folder to serve")
	addr := flags.String("addr", "localhost:8080", "host:port to listen on; port 0 takes any free one")
	isolate := flags.Bool("isolate", false, "cross-origin isolate the page (finer clock, memory measurement, shared memory)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "serve: unexpected argument %q: folder and address are given with -dir and -addr\n", flags.Arg(0))
		return 2
	}
	site, err := OpenSite(*dir)
	if err != nil {
		fmt.Fprintf(stderr, "serve: %v\n", err)
		return 1
	}
	defer site.Close()
	site.Isolate = *isolate
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintf(stderr, "serve: %s\n", listenAdvice(*addr, err))
		return 2
	}
	fmt.Fprintf(stdout, "metaqda is ready: open %s (Ctrl-C stops it)\n", publicURL(*addr, listener.Addr()))
	if err := serve(ctx, listener, guarded(site, *addr, listener.Addr()), usual); err != nil {
		fmt.Fprintf(stderr, "serve: %v\n", err)
		return 1
	}
	return 0
}

// limits bound how long one client can take of the server. Connections are not counted:
// where silent ones took every place, others would wait.
type limits struct {
	header time.Duration // until the whole header of a request is there
	write  time.Duration // until the client has taken one piece of an answer
	idle   time.Duration // between two requests
}

// usual are the limits of the command. A piece is 64 KiB, so a client may be as
// slow as 6 KB a second.
var usual = limits{header: 5 * time.Second, write: 10 * time.Second, idle: time.Minute}

// serve answers on listener until ctx ends, then lets the running answers
// finish for at most three seconds.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, l limits) error {
	server := &http.Server{
		Handler:           paced(handler, l.write),
		ReadHeaderTimeout: l.header,
		ReadTimeout:       l.header,
		WriteTimeout:      l.write, // begun anew at every piece
		IdleTimeout:       l.idle,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that misbehave are no news
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return server.Close() // a browser that keeps its connection busy is no failure
	}
	return nil
}

// listenAdvice turns a failed listen into one sentence with its remedy.
func listenAdvice(addr string, err error) string {
	_, port, splitErr := net.SplitHostPort(addr)
	switch {
	case splitErr != nil:
		return fmt.Sprintf("address %q is not host:port, for example localhost:8080", addr)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("port %s is already taken by another program: stop that one, or choose another port, for example 'make run PORT=8081'", port)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("port %s is reserved by the system: choose one above 1023, for example 'make run PORT=8080'", port)
	}
	return fmt.Sprintf("cannot listen on %s (%v): choose another address with -addr or 'make run PORT=8081'", addr, err)
}

// publicURL is what a person types into the browser: the host as it was asked
// for and the port that was really taken.
func publicURL(asked string, taken net.Addr) string {
	host, _, _ := net.SplitHostPort(asked)
	_, port, _ := net.SplitHostPort(taken.String())
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
