package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

// onlyInJS are the packages that exist for GOOS=js alone.
var onlyInJS = []string{"syscall/js", "github.com/hack-pad/", "honnef.co/go/js/dom"}

// TestFilesForJSSayItInTheirNames checks that what needs JavaScript is in files
// whose name keeps them out of native builds, and only that: so that the rest is
// tested natively too.
func TestFilesForJSSayItInTheirNames(t *testing.T) {
	files := 0
	test.OK(t, fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimSuffix(path, ".go"), "_test")
		for _, i := range f.Imports {
			for _, p := range onlyInJS {
				test.FailIf(t, strings.HasPrefix(strings.Trim(i.Path.Value, `"`), p) && !strings.HasSuffix(name, "_js"), "%s imports %s: its name must end in _js.go or _js_test.go", path, i.Path.Value)
			}
		}
		return nil
	}))
	test.StopIf(t, files < 15, "only %d files found", files)
}
