// Command checkimports enforces the direction of imports in the tree:
//
//	scripts, wasm -> experiment, recipe -> metatrain, baseline -> model -> qda -> niw -> gonum
//	metaqda -> reproduce, sorting -> training, input -> output -> tables -> core
//
// In detail, for files that are not tests:
//
//   - a package of core imports only packages of core on a lower layer, the
//     standard library, gonum, goroutine groups of golang.org/x/sync, where files
//     are read a type for half floats, and in core/dataset a reader of .npy files;
//   - core never touches JavaScript or the system: no syscall/js, no files, no
//     network, no processes. core/dataset alone may read files;
//   - go-indexeddb and dom are for wasm, plotting is for scripts, the parser of
//     command lines for scripts/metaqda alone;
//   - the packages that scripts/metaqda is made of import only those on lower
//     layers;
//   - wasm and scripts do not import each other's commands, though scripts may
//     use what wasm keeps in packages of its own.
//
// Tests may import what they like from core, and read files.
//
//	go run ./scripts/checkimports [ROOT]
//
// Each violation is one line; the exit status is then 1.
package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	violations, files, err := check(os.DirFS(root))
	if err != nil {
		fmt.Fprintf(os.Stderr, "checkimports: %v\n", err)
		os.Exit(2)
	}
	for _, v := range violations {
		fmt.Fprintf(os.Stderr, "checkimports: %s\n", v)
	}
	if len(violations) > 0 {
		os.Exit(1)
	}
	fmt.Printf("import direction: %d files in order\n", files)
}

// module is the path of this module.
const module = "metaqda/"

// layers orders the packages of core; each may import those on lower layers.
var layers = map[string]int{
	"core/niw":       0,
	"core/embed":     1,
	"core/metrics":   1,
	"core/session":   1,
	"core/dataset":   1,
	"core/qda":       2,
	"core/episode":   2,
	"core/model":     3,
	"core/metatrain": 4,
	"core/baseline":  4,
	"core/oracle":    5,
	"core":           4,

	"core/dataset/datasettest": 2,
	"core/model/modeltest":     4,
	"core/experiment":          5,
	"core/metatrain/recipe":    5,
}

// rooms orders the packages that the command metaqda is made of likewise.
var rooms = map[string]int{
	"scripts/tables":    0,
	"scripts/output":    1,
	"scripts/input":     2,
	"scripts/training":  2,
	"scripts/reproduce": 3,
	"scripts/sorting":   3,
	"scripts/metaqda":   4,
}

// systemPackages reach past the program: to JavaScript, files, network or
// processes. A package is meant with all that lies below it, but io/fs, path
// and the like only compute.
var systemPackages = []string{"syscall", "os", "io/ioutil", "net", "path/filepath", "plugin", "runtime/cgo", "C"}

// fileReaders may read files, but nothing else of the system.
var fileReaders = map[string][]string{"core/dataset": {"os", "path/filepath"}}

// foreign says who may import a module from outside; the first prefix counts.
var foreign = []struct {
	prefix string
	users  []string // path prefixes
}{
	{"gonum.org/v1/gonum", []string{"core", "wasm", "scripts/"}},
	{"gonum.org/v1/plot", []string{"scripts/"}},
	{"golang.org/x/sync", []string{"core/", "scripts/"}},
	{"github.com/urfave/cli", []string{"scripts/metaqda"}},
	{"github.com/sbinet/npyio", []string{"core/dataset", "scripts/"}},
	{"github.com/x448/float16", []string{"core/dataset", "core/model"}},
	{"golang.org/x/text/unicode/norm", []string{"core/model"}},
	{"github.com/hack-pad/", []string{"wasm"}},
	{"honnef.co/go/js/dom", []string{"wasm"}},
	{"", []string{"scripts/"}}, // everything else
}

// check parses the imports of every Go file below core, wasm and scripts in
// root, whatever its build tags, and returns the violations and the number of
// files it looked at. A file that is not Go is an error.
func check(root fs.FS) (violations []string, files int, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || name == "build" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		found, err := checkFile(root, name)
		violations = append(violations, found...)
		return err
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("no Go files found: run it in the root of the tree")
	}
	return violations, files, err
}

// checkFile returns the violations of one file.
func checkFile(root fs.FS, name string) ([]string, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var violations []string
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if reason := forbidden(path.Dir(name), target); reason != "" {
			violations = append(violations, fmt.Sprintf("%s imports %s: %s", set.Position(spec.Pos()), target, reason))
		}
	}
	return violations, nil
}

// forbidden says why the package in dir may not import target, or "" when it may.
func forbidden(dir, target string) string {
	if own, ok := strings.CutPrefix(target, module); ok {
		return forbiddenOwn(dir, own)
	}
	if first, _, _ := strings.Cut(target, "/"); strings.Contains(first, ".") {
		return forbiddenForeign(dir, target)
	}
	return forbiddenStandard(dir, target)
}

// forbiddenOwn judges imports within the module.
func forbiddenOwn(dir, target string) string {
	layer, inCore := layers[dir]
	below, targetInCore := layers[target]
	room, inRooms := rooms[dir]
	lower, targetInRooms := rooms[target]
	switch {
	case inRooms && targetInRooms && lower >= room:
		return fmt.Sprintf("the command's packages import those on lower layers, but %s is on layer %d and %s on %d", dir, room, target, lower)
	case strings.HasPrefix(dir, "core/") && !inCore:
		return "core has a new package: give " + dir + " a layer in scripts/checkimports"
	case inCore && !targetInCore:
		return "core imports only core"
	case inCore && below >= layer:
		return fmt.Sprintf("imports in core point from higher to lower layers, but %s is on layer %d and %s on %d", dir, layer, target, below)
	case !inCore && strings.HasPrefix(target, "core/") && !targetInCore:
		return "core has a new package: give " + target + " a layer in scripts/checkimports"
	case under(dir, "wasm") && under(target, "scripts"):
		return "the engine does not depend on the command lines"
	case target == "wasm":
		return "the engine is a program, not a library"
	}
	return ""
}

// forbiddenForeign judges imports from other modules.
func forbiddenForeign(dir, target string) string {
	for _, rule := range foreign {
		if !strings.HasPrefix(target, rule.prefix) {
			continue
		}
		for _, user := range rule.users {
			if strings.HasPrefix(dir, user) {
				return ""
			}
		}
		return "only for " + strings.Join(rule.users, ", ")
	}
	return ""
}

// forbiddenStandard judges imports from the standard library.
func forbiddenStandard(dir, target string) string {
	if !strings.HasPrefix(dir, "core/") {
		if target == "syscall/js" && !under(dir, "wasm") && dir != "scripts/bench/browser" {
			return "JavaScript is for wasm and for the program that the benchmark runs in the browser"
		}
		return ""
	}
	for _, allowed := range fileReaders[dir] {
		if target == allowed {
			return ""
		}
	}
	for _, system := range systemPackages {
		if under(target, system) {
			return "core is pure computation: no JavaScript, files, network or processes"
		}
	}
	return ""
}

// under reports whether name is the folder dir or lies in it.
func under(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }
