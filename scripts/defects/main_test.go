package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A table that has fallen behind the tree is noticed here and not hours later.
func TestTheTableIsThatOfTheTree(t *testing.T) {
	known := map[string]bool{}
	for _, d := range defects {
		if known[d.name] {
			t.Errorf("%q is there twice", d.name)
		}
		known[d.name] = true
		text, err := os.ReadFile(filepath.Join("../..", d.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), d.old); n != 1 || d.old == d.new {
			t.Errorf("%s: %s has %d times, once is wanted:\n%s", d.name, d.file, n, d.old)
		}
		if !there(t, d.test) {
			t.Errorf("%s: there is no test %s in %s", d.name, d.test.name, d.test.in)
		}
	}
}

// there tells whether a file of tests has the name.
func there(t *testing.T, c check) bool {
	t.Helper()
	pattern, name := filepath.Join("../..", c.in), c.name
	if !strings.HasSuffix(c.in, ".js") {
		pattern, name = filepath.Join(pattern, "*_test.go"), "func "+c.name+"("
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(name, " nothing keeps") // which stands apart there
		if strings.Contains(string(text), name) {
			return true
		}
	}
	return false
}
