// Command wasi writes the table of the engine's functions into web/library/WASI.md:
//
//	go run ./scripts/wasi
//
// It takes the table from the exported functions of wasm/exports and their comments. `make check`
// runs its test, which fails if the document differs.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	source   = "wasm/exports"
	document = "web/library/WASI.md"
	begin    = "<!-- by scripts/wasi -->\n"
	end      = "<!-- end -->\n"
)

func main() {
	err := write(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "wasi:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	is, want, err := compare(root)
	if err != nil || bytes.Equal(is, want) {
		return err
	}
	return os.WriteFile(filepath.Join(root, document), want, 0o644)
}

// compare returns the document as it is and as the code wants it.
func compare(root string) (is, want []byte, err error) {
	functions, err := read(filepath.Join(root, source))
	if err != nil {
		return nil, nil, err
	}
	is, err = os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return nil, nil, err
	}
	before, rest, found := bytes.Cut(is, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, nil, fmt.Errorf("%s has no place for the table: put the lines %q and %q where it belongs", document, begin, end)
	}
	return is, slices.Concat(before, []byte(begin), []byte(table(functions)), []byte(end), after), nil
}

// function is an exported function.
type function struct{ name, goName, signature, about string }

var export = regexp.MustCompile(`(?m)^//go:wasmexport (\w+)$`)

// read returns the exported functions of a folder's Go files, those of exports first, in the order
// of their source.
func read(folder string) (functions []function, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			directive := f.Doc.List[len(f.Doc.List)-1].Text
			if found := export.FindStringSubmatch(directive); found != nil {
				functions = append(functions, function{found[1], f.Name.Name, signature(f.Type), f.Doc.Text()})
			}
		}
	}
	return functions, nil
}

func rank(file string) int {
	if strings.HasPrefix(filepath.Base(file), "exports") {
		return 0
	}
	return 1
}

var types = map[string]string{"int32": "i32", "int64": "i64", "float64": "f64", "Pointer": "i32"}

func signature(f *ast.FuncType) string {
	var parameters []string
	for _, p := range f.Params.List {
		for _, name := range p.Names {
			parameters = append(parameters, name.Name+" "+typeOf(p.Type))
		}
	}
	text := "(" + strings.Join(parameters, ", ") + ")"
	if f.Results != nil {
		text += " → " + typeOf(f.Results.List[0].Type)
	}
	return text
}

// typeOf returns WebAssembly's name of a type. An address has 32 bits.
func typeOf(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		e = s.Sel
	}
	return types[e.(*ast.Ident).Name]
}

var (
	reference = regexp.MustCompile(`\[(\w+)\]`)
	braces    = regexp.MustCompile(`\{[^{}]*(\{[^{}]*\}[^{}]*)*\}\]?`)
)

// table returns the functions as rows of Markdown.
func table(functions []function) string {
	names := map[string]string{}
	for _, f := range functions {
		names[f.goName] = f.name
	}
	var text strings.Builder
	text.WriteString("\n| function | what it does |\n|---|---|\n")
	for _, f := range functions {
		about := strings.TrimPrefix(strings.Join(strings.Fields(f.about), " "), f.goName+" ")
		about = strings.ToUpper(about[:1]) + about[1:]
		about = braces.ReplaceAllString(about, "`$0`")
		about = reference.ReplaceAllStringFunc(about, func(r string) string {
			if name := names[strings.Trim(r, "[]")]; name != "" {
				return "`" + name + "`"
			}
			return r
		})
		fmt.Fprintf(&text, "| `%s%s` | %s |\n", f.name, f.signature, about)
	}
	text.WriteString("\n")
	return text.String()
}
