// Command checktree checks what no compiler does, over the files that git
// tracks or would track:
//
//   - the top level holds what the design says and nothing else;
//
//   - no text names the host of a package registry: each machine is set up for
//     its own, and a name would bypass that;
//
//   - no text names a folder of one machine;
//
//   - THIRD_PARTY.md names every Go module and npm package that is pinned, in its
//     version where it tells one.
//
//     go run ./scripts/checktree [ROOT]
//
// Each finding is one line; the exit status is then 1.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	names, err := tracked(root)
	if err != nil {
		fmt.Fprintf(os.Stderr, "checktree: %v\n", err)
		os.Exit(2)
	}
	findings, err := check(root, names)
	if err != nil {
		fmt.Fprintf(os.Stderr, "checktree: %v\n", err)
		os.Exit(2)
	}
	unnamed, err := checkNotices(root)
	if err != nil {
		fmt.Fprintf(os.Stderr, "checktree: %v\n", err)
		os.Exit(2)
	}
	findings = append(findings, unnamed...)
	for _, f := range findings {
		fmt.Fprintf(os.Stderr, "checktree: %s\n", f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
	fmt.Printf("tree: %d files in order\n", len(names))
}

// topLevel is what the top level may hold, besides names with a dot in front.
var topLevel = []string{
	"wasm", "core", "web", "scripts", "testdata",
	"go.mod", "go.sum", "Makefile", "index.html", "README.md", "LICENSE", "THIRD_PARTY.md",
}

// unwanted are patterns that no text may hold. They are put together from
// pieces, so that this file does not hold them itself.
var unwanted = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"the host of a package registry", alternatives(
		`registry\.`+`npmjs\.org`, `registry\.`+`yarnpkg\.com`, `proxy\.`+`golang\.org`, `sum\.`+`golang\.org`, `goproxy\.`+`(io|cn)`,
		`deb\.`+`debian\.org`, `security\.`+`debian\.org`, `archive\.`+`ubuntu\.com`, `pypi\.`+`org`, `files\.`+`pythonhosted\.org`, `static\.`+`crates\.io`)},
	{"a folder of one machine", alternatives(
		`(^|[^\w./~-])/`+`work/`, `(^|[^\w./~-])/`+`home/\w`, `(^|[^\w./~-])/`+`root/`, `(^|[^\w./~-])/`+`Users/\w`, `(^|[^\w./~-])/`+`tmp/\w`)},
}

// alternatives joins patterns by "or".
func alternatives(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile("(?m:" + strings.Join(patterns, "|") + ")")
}

// tracked lists the files that git tracks or would track, sorted.
func tracked(root string) ([]string, error) {
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = root
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(names)
	return slices.Compact(names), nil
}

// check returns the findings in the named files below root.
func check(root string, names []string) ([]string, error) {
	var findings []string
	for _, name := range names {
		if top, _, _ := strings.Cut(name, "/"); !strings.HasPrefix(top, ".") && !slices.Contains(topLevel, top) {
			findings = append(findings, fmt.Sprintf("%s: the top level holds only %s and names with a dot in front", name, strings.Join(topLevel, ", ")))
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // removed, but the removal is not committed yet
		}
		if err != nil {
			return nil, err
		}
		findings = append(findings, checkText(name, content)...)
	}
	return findings, nil
}

// checkText returns the findings in one file; files that are not text have none.
func checkText(name string, content []byte) []string {
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return nil
	}
	var findings []string
	for _, u := range unwanted {
		for _, at := range u.pattern.FindAllIndex(content, -1) {
			line := 1 + bytes.Count(content[:at[1]], []byte("\n"))
			findings = append(findings, fmt.Sprintf("%s:%d: %q is %s", name, line, bytes.TrimSpace(content[at[0]:at[1]]), u.what))
		}
	}
	return findings
}
