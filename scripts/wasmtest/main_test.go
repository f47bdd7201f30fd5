package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOnlyAFewVariablesAreHandedOn(t *testing.T) {
	got := handedOn([]string{"HOME=/h", "SECRET=s", "HOMELY=x", "METAQDA_DATA=d", "PATH=p", "CI=true", "EMPTY"})
	if want := []string{"HOME=/h", "METAQDA_DATA=d", "PATH=p", "CI=true"}; !slices.Equal(got, want) {
		t.Errorf("handed on %v, want %v", got, want)
	}
}

func TestNodeCanBeNamed(t *testing.T) {
	for want, environment := range map[string][]string{
		"node":  {"PATH=p", "NODE="},
		"other": {"NODE_ENV=x", "NODE=other"},
	} {
		if got := nodeName(environment); got != want {
			t.Errorf("nodeName(%v) = %q, want %q", environment, got, want)
		}
	}
}

// TestAProgramRunsInALargeEnvironment compiles this command and a probe, and
// runs the probe under 64 KiB of variables, eight times what Go's runtime for
// js can hold.
func TestAProgramRunsInALargeEnvironment(t *testing.T) {
	if _, err := exec.LookPath(nodeName(os.Environ())); err != nil {
		t.Skip("no Node.js here")
	}
	dir := t.TempDir()
	runner, probe := filepath.Join(dir, "wasmtest"), filepath.Join(dir, "probe.wasm")
	compile(t, runner, ".")
	compile(t, probe, "testdata/probe.go", "GOOS=js", "GOARCH=wasm")
	command := exec.Command(runner, probe, "one", "two")
	command.Env = append(os.Environ(), "METAQDA_PROBE=here", "LARGE="+strings.Repeat("x", 64<<10))
	out, err := command.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 3 {
		t.Errorf("error %v, want exit status 3", err)
	}
	if want := "[one two] here 0\n"; string(out) != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestAnotherScriptCanLoadTheProgram(t *testing.T) {
	if _, err := exec.LookPath(nodeName(os.Environ())); err != nil {
		t.Skip("no Node.js here")
	}
	dir := t.TempDir()
	runner, script := filepath.Join(dir, "wasmtest"), filepath.Join(dir, "start.mjs")
	compile(t, runner, ".")
	if err := os.WriteFile(script, []byte("console.log(process.argv.slice(2).join())"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(runner, "-start", script, "program", "-start", "x").CombinedOutput()
	if want := "program,-start,x\n"; err != nil || string(out) != want {
		t.Errorf("printed %q, %v, want %q", out, err, want)
	}
}

// compile builds a Go program for the target that the variables name.
func compile(t *testing.T, out, source string, variables ...string) {
	t.Helper()
	command := exec.Command("go", "build", "-o", out, source)
	command.Env = append(os.Environ(), variables...)
	if message, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", source, err, message)
	}
}
