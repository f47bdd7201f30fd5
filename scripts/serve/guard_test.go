package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOnlyThisMachinesNamesAreAnsweredOnLoopback(t *testing.T) {
	site, _ := newSite(t)
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	for _, c := range []struct {
		asked string
		taken net.Addr
		host  string
		want  int
	}{
		{"localhost:8080", loopback, "localhost:8080", 200},
		{"localhost:8080", loopback, "LOCALHOST:8080", 200},
		{"localhost:8080", loopback, "127.0.0.1:8080", 200},
		{"localhost:8080", loopback, "[::1]:8080", 200},
		{"metaqda.test:0", loopback, "metaqda.test:8080", 200}, // a name that was asked for
		{"localhost:8080", loopback, "metaqda.test:8080", 421},
		{"localhost:8080", loopback, "localhost:8081", 421},
		{"localhost:8080", loopback, "localhost", 421},
		{"localhost:8080", loopback, "localhost.evil.test:8080", 421},
		{"localhost:8080", loopback, "127.0.0.1.evil.test:8080", 421},
		{"localhost:8080", loopback, "localhost:8080@evil.test", 421},
		{"localhost:8080", loopback, "localhost.:8080", 421},
		{"localhost:8080", loopback, "127.0.0.2:8080", 421},
		{"localhost:8080", loopback, "", 421},
		{"localhost:80", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "localhost", 200},
		{"localhost:80", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "[::1]", 200},
		{"localhost:80", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "evil.test", 421},
		{"[::1]:8080", &net.TCPAddr{IP: net.IPv6loopback, Port: 8080}, "evil.test:8080", 421},
		{"127.0.0.2:8080", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2), Port: 8080}, "127.0.0.2:8080", 200},
		{":8080", &net.TCPAddr{IP: net.IPv6zero, Port: 8080}, "house.test:8080", 200}, // open to others on purpose
	} {
		r := httptest.NewRequest("GET", "/web/style.css", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		guarded(site, c.asked, c.taken).ServeHTTP(w, r)
		if w.Code != c.want || w.Header().Get("Content-Security-Policy") == "" || (w.Code == 200) != (w.Body.String() == "body{}") {
			t.Errorf("listening on %s, host %q: status %d, body %q, want %d", c.taken, c.host, w.Code, w.Body, c.want)
		}
	}
}

// counted counts the connections that are open at a listener.
type counted struct {
	net.Listener
	open atomic.Int32
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.open.Add(1)
		return &countedConn{Conn: c, open: &l.open}, nil
	}
	return c, err
}

type countedConn struct {
	net.Conn
	open *atomic.Int32
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// attacked serves a site with a large file under short limits.
func attacked(t *testing.T, l limits) (address string, listener *counted) {
	t.Helper()
	site, dir := newSite(t)
	write(t, filepath.Join(dir, "large.bin"), strings.Repeat("x", 16<<20))
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener = &counted{Listener: inner}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, guarded(site, "localhost:0", listener.Addr()), l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), listener
}

// dial connects and sends text.
func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// whole asks for a file and returns how many bytes came.
func whole(address, path string) (int64, error) {
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + address + path)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, errors.New(answer.Status)
	}
	return io.Copy(io.Discard, answer.Body)
}

// Clients that send nothing keep no other one waiting, for however long they may.
func TestSilentConnectionsDelayNobody(t *testing.T) {
	address, _ := attacked(t, limits{header: time.Hour, write: time.Second, idle: time.Hour})
	for range 130 {
		dial(t, address, "")
	}
	if n, err := whole(address, "/web/style.css"); n != 6 || err != nil {
		t.Errorf("beside 130 silent connections: %d bytes, %v", n, err)
	}
}

// Clients that send no whole header and clients that do not read come by the dozen. All
// are left within the limits, and one that behaves is served beside them, in little memory.
func TestSlowClientsTakeFixedTimeAndMemory(t *testing.T) {
	l := limits{header: 300 * time.Millisecond, write: 300 * time.Millisecond, idle: 300 * time.Millisecond}
	address, listener := attacked(t, l)
	if n, err := whole(address, "/large.bin"); n != 16<<20 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	request := fmt.Sprintf("GET /large.bin HTTP/1.1\r\nHost: %s\r\n", address)
	for i := range 64 {
		if text := request; i%2 == 0 {
			dial(t, address, text) // the header never ends
		} else {
			dial(t, address, text+"\r\n") // the answer is never read
		}
	}
	if n, err := whole(address, "/web/style.css"); n != 6 || err != nil {
		t.Errorf("beside 64 slow clients: %d bytes, %v", n, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes more memory beside 64 slow clients", grown)
	}
	for end := time.Now().Add(30 * time.Second); listener.open.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are still open", listener.open.Load())
		}
	}
}

// A client that reads slowly but steadily gets all of a file, however much longer
// than the time for one piece that takes.
func TestAClientThatGoesOnReadingIsNotLeft(t *testing.T) {
	address, _ := attacked(t, limits{header: time.Second, write: 400 * time.Millisecond, idle: time.Second})
	c := dial(t, address, fmt.Sprintf("GET /large.bin HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address))
	start := time.Now()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for part := int64(1); part > 0; n += part {
		if part, err = io.CopyN(io.Discard, answer.Body, 256<<10); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("after %d bytes and %v: %v", n, time.Since(start), err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if took := time.Since(start); n != 16<<20 || took < 800*time.Millisecond {
		t.Errorf("%d bytes in %v", n, took)
	}
}

// A header sent byte by byte or without end is refused, not kept.
func TestHeadersWithoutEndAreRefused(t *testing.T) {
	address, _ := attacked(t, limits{header: 400 * time.Millisecond, write: time.Second, idle: time.Second})
	c := dial(t, address, "GET / HTTP/1.1\r\nHost: "+address+"\r\n")
	start := time.Now()
	go func() {
		for {
			if _, err := io.WriteString(c, "X"); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	c.SetReadDeadline(start.Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a header of one byte at a time was waited for")
	}
	c = dial(t, address, "GET / HTTP/1.1\r\nHost: "+address+"\r\nX: "+strings.Repeat("a", 32<<10)+"\r\n\r\n")
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("32 KB of header: %v, %v", answer, err)
	}
}
