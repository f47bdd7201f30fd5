package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestRunServesUntilInterruptedAndPrintsTheAddress(t *testing.T) {
	_, dir := newSite(t)
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	out, in := io.Pipe()
	var problems bytes.Buffer
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{"-dir", dir, "-addr", "127.0.0.1:0"}, in, &problems) }()

	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).Find(line[:n])
	if address == nil {
		t.Fatalf("no address in %q", line[:n])
	}
	answer, err := http.Get(string(address) + "/web/style.css")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || string(body) != "body{}" {
		t.Errorf("body %q, error %v", body, err)
	}
	interrupt()
	select {
	case got := <-status:
		if got != 0 || problems.Len() > 0 {
			t.Errorf("status %d after an interrupt, messages %q", got, problems.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still serving ten seconds after the interrupt")
	}
}

func TestATakenPortIsSaidInOneSentenceWithARemedy(t *testing.T) {
	_, dir := newSite(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	var problems bytes.Buffer
	if got := run(context.Background(), []string{"-dir", dir, "-addr", taken.Addr().String()}, io.Discard, &problems); got != 2 {
		t.Errorf("exit status %d, want 2", got)
	}
	message := problems.String()
	if !strings.Contains(message, "port "+port+" is already taken") || !strings.Contains(message, "make run PORT=") || strings.Count(message, "\n") != 1 {
		t.Errorf("message %q", message)
	}
}

func TestWrongUseExitsWithTwo(t *testing.T) {
	_, dir := newSite(t)
	for _, args := range [][]string{{"-nonsense"}, {"build/site"}, {"-dir", dir, "-addr", "8080"}, {"-dir", dir, "-addr", "localhost:99999"}} {
		var problems bytes.Buffer
		if got := run(context.Background(), args, io.Discard, &problems); got != 2 || problems.Len() == 0 {
			t.Errorf("%v: status %d, message %q", args, got, problems.String())
		}
	}
	if got := run(context.Background(), []string{"-dir", t.TempDir()}, io.Discard, io.Discard); got != 1 {
		t.Errorf("empty folder: status %d, want 1", got)
	}
}

func TestPublicURLNamesAHostABrowserCanOpen(t *testing.T) {
	taken := &net.TCPAddr{IP: net.IPv6zero, Port: 8081}
	for asked, want := range map[string]string{
		"localhost:8081": "http://localhost:8081",
		":8081":          "http://localhost:8081",
		"0.0.0.0:0":      "http://localhost:8081",
		"[::1]:8081":     "http://[::1]:8081",
		"127.0.0.1:0":    "http://127.0.0.1:8081",
	} {
		if got := publicURL(asked, taken); got != want {
			t.Errorf("publicURL(%q) = %q, want %q", asked, got, want)
		}
	}
}
