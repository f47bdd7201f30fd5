package metaqda

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metaqda/core/test"
)

var renew = flag.Bool("renew", false, "write the list of what is exported")

// What is exported is meant to be: it changes only together with its list.
func TestSurfaceIsTheOneListed(t *testing.T) {
	const list = "testdata/exported.txt"
	got := surface(t)
	if *renew {
		test.OK(t, os.WriteFile(list, []byte(got), 0o666))
	}
	want := test.Must(os.ReadFile(list))(t)
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range was {
		test.FailIf(t, !slices.Contains(is, line), "no longer exported: %s", line)
	}
	for _, line := range is {
		test.FailIf(t, !slices.Contains(was, line), "newly exported: %s", line)
	}
	test.FailIf(t, t.Failed() || string(want) != got, "%s is another list; if that is meant: go test ./core -run TestSurface -renew", list)
}

// surface returns the exported declarations of this package, in order.
func surface(t *testing.T) string {
	names := test.Must(filepath.Glob("*.go"))(t)
	var all []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		f := test.Must(parser.ParseFile(files, name, nil, 0))(t)
		ast.FileExports(f)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if fn.Body = nil; fn.Recv != nil && !ast.IsExported(receiver(fn)) {
					continue
				}
			}
			var text bytes.Buffer
			test.OK(t, format.Node(&text, files, d))
			all = append(all, text.String()+"\n")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// receiver returns the name of the type that a method is of.
func receiver(fn *ast.FuncDecl) string {
	x := fn.Recv.List[0].Type
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	return x.(*ast.Ident).Name
}
