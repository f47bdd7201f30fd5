// Command wasmtest runs a program compiled with GOOS=js GOARCH=wasm in Node.js.
// It is for -exec:
//
//	go build -o build/bin/wasmtest ./scripts/wasmtest
//	GOOS=js GOARCH=wasm go test -exec "$PWD/build/bin/wasmtest" ./core/...
//
// It does what go_js_wasm_exec of the Go distribution does, with one
// difference: of the environment only a few variables are handed on. Go's
// runtime for js keeps arguments and environment in 8 KiB and ends a program
// that gets more with "total length of command line and environment variables
// exceeds limit", which the environment of a desktop or of a CI machine easily
// does.
//
// -start names another script that loads the program, in place of the
// distribution's wasm_exec_node.js: wasm/simd/exec.mjs adds the SIMD kernels.
//
// The exit status is that of the program, or 2 when it could not be started.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	start := flag.String("start", "", "script that loads the program (default: wasm_exec_node.js of the Go distribution)")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: wasmtest [-start SCRIPT] PROGRAM [ARGUMENT]...")
		os.Exit(2)
	}
	if err := run(*start, flag.Args(), os.Environ()); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() > 0 {
			os.Exit(ended.ExitCode())
		}
		fmt.Fprintf(os.Stderr, "wasmtest: %v\n", err)
		os.Exit(2)
	}
}

// run lets the script start load the program args[0] with the arguments
// args[1:] and what is needed of the environment.
func run(start string, args, environment []string) error {
	node, err := exec.LookPath(nodeName(environment))
	if err != nil {
		return fmt.Errorf("%w: install Node.js 20 or newer, or name it in the variable NODE", err)
	}
	if start == "" {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("go env GOROOT: %w", err)
		}
		start = filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec_node.js")
	}
	// The stack is that of go_js_wasm_exec; V8's own default is too small for
	// deep recursion in Go.
	command := exec.Command(node, append([]string{"--stack-size=8192", start}, args...)...)
	command.Env = handedOn(environment)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	return command.Run()
}

// nodeName returns the Node.js to run: NODE, or the one in the path.
func nodeName(environment []string) string {
	for _, variable := range environment {
		if name, found := strings.CutPrefix(variable, "NODE="); found && name != "" {
			return name
		}
	}
	return "node"
}

// handed are the variables that a test may need: where files are, how Go's
// runtime and the tests are set.
var handed = []string{"PATH", "HOME", "TMPDIR", "CI", "GODEBUG", "GOTRACEBACK", "GOMAXPROCS", "PWD", "SYSTEMROOT"}

// handedOn returns the variables of the environment that are in handed or begin
// with METAQDA_.
func handedOn(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(handed, name) || strings.HasPrefix(name, "METAQDA_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
