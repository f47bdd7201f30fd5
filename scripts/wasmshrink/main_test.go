package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// probe builds the probe and returns its bytes and the script that runs it.
func probe(t *testing.T) (program []byte, script string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "probe.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", name, "testdata/probe.go")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return program, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js")
}

func run(t *testing.T, program []byte, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.wasm")
	if err := os.WriteFile(name, program, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "--stack-size=8192", script, name)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "GODEBUG=gcstoptheworld=1"}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestProgramRunsAsBefore(t *testing.T) {
	program, script := probe(t)
	const want = "12406 runtime error: index out of range [0] with length 0 main.main "
	if got := run(t, program, script); got != want+"true true\n" {
		t.Fatalf("before: %q", got)
	}
	before := bytes.Clone(program)
	small, err := shrink(program, 256)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(program, before) {
		t.Error("what was handed in has changed")
	}
	if got := run(t, small, script); got != want+"false false\n" {
		t.Errorf("after: %q", got)
	}
	again, err := shrink(small, 256)
	if err != nil || !bytes.Equal(again, small) {
		t.Errorf("a second time: %v", err)
	}
	compareMemory(t, program, small)
}

// compareMemory checks that the initial memories differ by zeros alone, and that
// few segments are left.
func compareMemory(t *testing.T, program, small []byte) {
	t.Helper()
	a, err := findData(program)
	if err != nil {
		t.Fatal(err)
	}
	b, err := findData(small)
	if err != nil {
		t.Fatal(err)
	}
	before, after := a.image(program), b.image(small)
	if len(before) != len(after) || len(b.segments)*20 > len(a.segments) {
		t.Fatalf("%d bytes in %d segments became %d in %d", len(before), len(a.segments), len(after), len(b.segments))
	}
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
			if after[i] != 0 {
				t.Fatalf("address %d became %d: only zeros may be written", i, after[i])
			}
		}
	}
	if changed < len(before)/100 {
		t.Errorf("%d bytes of %d were cleared", changed, len(before))
	}
	if !bytes.Equal(program[:a.from], small[:b.from]) || !bytes.Equal(program[a.to:], small[b.to:]) {
		t.Error("other sections have changed")
	}
}

func TestSignedNumbersReadBack(t *testing.T) {
	for _, v := range []int{0, 1, 63, 64, 127, 128, 8191, 8192, 1<<20 - 1, 1 << 27, 1<<31 - 1} {
		r := &reader{b: appendSigned(nil, v)}
		if got := r.uvarintSigned(); got != v || r.at != len(r.b) || r.err != nil {
			t.Errorf("%d reads as %d", v, got)
		}
	}
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	for name, content := range map[string][]byte{
		"empty":      {},
		"text":       []byte("no program"),
		"no data":    []byte("\x00asm\x01\x00\x00\x00"),
		"cut":        []byte("\x00asm\x01\x00\x00\x00\x0b\x80"),
		"other data": append([]byte("\x00asm\x01\x00\x00\x00\x0b\x07\x01\x00\x41\x10\x0b\x01"), 7),
	} {
		before := bytes.Clone(content)
		if _, err := shrink(content, 256); err == nil || !bytes.Equal(content, before) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := shrinkFile(name, 256); err == nil {
		t.Error("a file that is no program was taken")
	}
	if err := shrinkFile(name+".missing", 256); err == nil {
		t.Error("a missing file was taken")
	}
}
