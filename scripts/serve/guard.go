package main

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// piece is the number of bytes that are written under one deadline.
const piece = 64 << 10

// guarded lets only requests for this machine pass where the listener can be
// reached from nowhere else. Otherwise a page of another site could have its own
// name resolved to 127.0.0.1 and read the answers as if they were its own (DNS
// rebinding). asked is the address as it was asked for, taken the one listened on.
func guarded(site *Site, asked string, taken net.Addr) http.Handler {
	address, err := netip.ParseAddrPort(taken.String())
	if err != nil || !address.Addr().Unmap().IsLoopback() {
		return site
	}
	asked, _, _ = net.SplitHostPort(asked)
	_, port, _ := net.SplitHostPort(taken.String())
	allowed := map[string]bool{}
	for _, host := range []string{"localhost", "127.0.0.1", "::1", address.Addr().String(), asked} {
		allowed[strings.ToLower(net.JoinHostPort(host, port))] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(r.Host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "80") // browsers leave out the port of http
		}
		if !allowed[host] {
			site.secure(w.Header())
			refuse(w, http.StatusMisdirectedRequest)
			return
		}
		site.ServeHTTP(w, r)
	})
}

// paced gives the client so long for every piece of an answer, rather than for the
// whole: a large file over a slow link is no attack, a client that stopped reading is.
func paced(handler http.Handler, each time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&pacer{w, http.NewResponseController(w), each}, r)
	})
}

// A pacer writes piece by piece, each under a deadline of its own.
type pacer struct {
	http.ResponseWriter
	controller *http.ResponseController
	each       time.Duration
}

// Write writes all of b or fails.
func (p *pacer) Write(b []byte) (written int, err error) {
	for first := true; first || len(b) > 0; first = false {
		part := b[:min(len(b), piece)]
		if err := p.controller.SetWriteDeadline(time.Now().Add(p.each)); err != nil {
			return written, err
		}
		n, err := p.ResponseWriter.Write(part)
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}
