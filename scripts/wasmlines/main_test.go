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

func TestProgramRunsWithoutLines(t *testing.T) {
	program, script := probe(t)
	const want = "12406 runtime error: index out of range [0] with length 0 main.main "
	if got := run(t, program, script); got != want+"true true\n" {
		t.Fatalf("before: %q", got)
	}
	stripped := bytes.Clone(program)
	if err := withoutLines(stripped); err != nil {
		t.Fatal(err)
	}
	if got := run(t, stripped, script); got != want+"false false\n" {
		t.Errorf("after: %q", got)
	}
	changed := 0
	for i := range program {
		if program[i] != stripped[i] {
			changed++
			if recordOnly := stripped[i] != 0; recordOnly {
				t.Fatalf("byte %d became %d: only zeros may be written", i, stripped[i])
			}
		}
	}
	if changed < len(program)/100 {
		t.Errorf("%d bytes of %d were cleared", changed, len(program))
	}
	again := bytes.Clone(stripped)
	if err := withoutLines(again); err != nil || !bytes.Equal(again, stripped) {
		t.Errorf("a second time: %v", err)
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
		if err := withoutLines(content); err == nil || !bytes.Equal(content, before) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := strip(name); err == nil {
		t.Error("a file that is no program was taken")
	}
	if err := strip(name + ".missing"); err == nil {
		t.Error("a missing file was taken")
	}
}
