// Command defects shows that tests can fail. In a copy of the tree it makes, one at a
// time, each of the defects in its table, most of them what this project once did, and
// runs the test that must notice: first as the tree is, where it has to pass, then with
// the defect, where it has to fail.
//
//	go run ./scripts/defects [-run PATTERN] [-browser]
//
// Those that show in a browser alone are left out without -browser: each of them builds
// the site anew and takes one to three minutes; all others take a few minutes together.
// Each defect is one line; the exit status is 1 if a test did not notice.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	pattern := flag.String("run", "", "make only the defects whose name this regular expression matches")
	browser := flag.Bool("browser", false, "make those too that show in a browser alone")
	flag.Parse()
	chosen, err := regexp.Compile(*pattern)
	if err == nil {
		var missed int
		if missed, err = all(chosen, *browser); err == nil && missed > 0 {
			os.Exit(1)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "defects: %v\n", err)
		os.Exit(2)
	}
}

// all makes the chosen defects and returns how many were missed.
func all(chosen *regexp.Regexp, browser bool) (missed int, err error) {
	tree, err := os.MkdirTemp("", "defects-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tree)
	if err := copyTree(tree); err != nil {
		return 0, err
	}
	sound := map[check]error{}
	for _, d := range defects {
		if !chosen.MatchString(d.name) || d.test.browser() && !browser {
			continue
		}
		if _, known := sound[d.test]; !known {
			sound[d.test] = d.test.run(tree)
		}
		if why := sound[d.test]; why != nil {
			return missed, fmt.Errorf("%s: the test fails without the defect:\n%w", d.name, why)
		}
		verdict := "noticed"
		noticed, err := d.noticed(tree)
		if err != nil || !noticed {
			verdict = "MISSED "
			missed++
		}
		fmt.Printf("%s  %-62s %s\n", verdict, d.name, d.test.name)
		if err != nil {
			fmt.Println(err)
		}
	}
	return missed, nil
}

// copyTree copies what git tracks or would track and has the installed packages beside it.
func copyTree(to string) error {
	// What is built is copied with its times, so that only what changes is built again.
	script := `git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 cp -a --parents -t "$1" &&
		for found in build web/node_modules web/test/extractors/node_modules; do
			test ! -e "$found" || { test "$found" = build && cp -a build "$1/build" || ln -s "$PWD/$found" "$1/$found"; } || exit 1
		done`
	if out, err := exec.Command("bash", "-c", script, "copy", to).CombinedOutput(); err != nil {
		return fmt.Errorf("copying the tree: %w\n%s", err, out)
	}
	return nil
}

// defect is a text in a file that another takes the place of.
type defect struct {
	name, file, old, new string
	test                 check
}

// noticed makes the defect, reports whether the test fails, and takes it back.
func (d defect) noticed(tree string) (bool, error) {
	path := filepath.Join(tree, d.file)
	sound, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if n := bytes.Count(sound, []byte(d.old)); n != 1 {
		return false, fmt.Errorf("%s has %d times what was to be replaced, once is wanted: bring the table up to date:\n%s", d.file, n, d.old)
	}
	if err := os.WriteFile(path, bytes.Replace(sound, []byte(d.old), []byte(d.new), 1), 0o666); err != nil {
		return false, err
	}
	why := d.test.run(tree)
	if err := os.WriteFile(path, sound, 0o666); err != nil {
		return false, err
	}
	if why != nil && !d.test.ran(why.Error()) {
		return false, fmt.Errorf("the defect stops the test from running at all:\n%w", why)
	}
	return why != nil, nil
}

// check is one test: of a Go package, or of a file of JavaScript.
type check struct {
	in   string // "wasm/store", or "web/test/unit/sw.test.js"
	name string // a regular expression
}

func (c check) browser() bool { return strings.HasPrefix(c.in, "web/test/browser/") }

// patience is how long a test may take; one that hangs has noticed too.
const patience = 4 * time.Minute

// run returns nil if the test passes, and an error with what it printed if not.
func (c check) run(tree string) error {
	ctx, stop := context.WithTimeout(context.Background(), patience+2*time.Minute)
	defer stop()
	var cmd *exec.Cmd
	switch {
	case c.browser():
		// The site is built first, and a failure of that is none of the test's.
		cmd = exec.CommandContext(ctx, "bash", "-c", `make -s build >&2 && CHROMIUM=$(build/bin/chromium -install) node --test --test-reporter=tap --test-timeout="$3" --test-name-pattern="$2" "$1"`,
			"check", c.in, c.name, fmt.Sprint(patience.Milliseconds()))
	case strings.HasSuffix(c.in, ".js"):
		cmd = exec.CommandContext(ctx, "node", "--test", "--test-reporter=tap", "--test-timeout=60000", "--test-name-pattern="+c.name, c.in)
	default:
		cmd = exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=60s", "-v", "-run", "^"+c.name+"$", "./"+c.in)
	}
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "METAQDA_LONG=1") // some of the tests are
	out, err := cmd.CombinedOutput()
	if err == nil && !c.ran(string(out)) {
		return fmt.Errorf("no test of that name ran:\n%s", out)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// ran tells from what was printed whether a test of that name began.
func (c check) ran(out string) bool {
	if !strings.HasSuffix(c.in, ".js") {
		return strings.Contains(out, "=== RUN")
	}
	for line := range strings.Lines(out) {
		if (strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "not ok ")) && !strings.Contains(line, "# SKIP") {
			return true
		}
	}
	return false
}
