package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// one returns a tree with a single file that imports target.
func one(name, target string) fstest.MapFS {
	return fstest.MapFS{name: {Data: []byte("//go:build anything\n\npackage p\n\nimport _ \"" + target + "\"\n")}}
}

func TestEveryViolationIsCaught(t *testing.T) {
	for _, c := range []struct{ file, target, reason string }{
		{"core/niw/a.go", "metaqda/core/qda", "higher to lower"},
		{"core/niw/a.go", "metaqda/core/niw", "higher to lower"},
		{"core/qda/a.go", "metaqda/core/metatrain", "higher to lower"},
		{"core/qda/a.go", "metaqda/core/model", "higher to lower"},
		{"core/metatrain/a.go", "metaqda/core/baseline", "higher to lower"},
		{"core/niw/a.go", "metaqda/wasm/simd", "core imports only core"},
		{"core/model/a.go", "metaqda/scripts/metaqda", "core imports only core"},
		{"core/experiment/a.go", "metaqda/core/metatrain/recipe", "higher to lower"},
		{"core/metatrain/recipe/a.go", "metaqda/core/experiment", "higher to lower"},
		{"core/metatrain/a.go", "metaqda/core/metatrain/recipe", "higher to lower"},
		{"core/experiment/a.go", "metaqda/scripts/tables", "core imports only core"},
		{"core/experiment/a.go", "os", "pure computation"},
		{"core/metatrain/recipe/a.go", "path/filepath", "pure computation"},
		{"scripts/tables/a.go", "metaqda/scripts/output", "lower layers"},
		{"scripts/training/a.go", "metaqda/scripts/reproduce", "lower layers"},
		{"scripts/reproduce/a.go", "metaqda/scripts/metaqda", "lower layers"},
		{"scripts/reproduce/a.go", "github.com/urfave/cli/v3", "only for scripts/metaqda"},
		{"core/experiment/a.go", "github.com/urfave/cli/v3", "only for scripts/metaqda"},
		{"wasm/a.go", "golang.org/x/sync/errgroup", "only for core/, scripts/"},
		{"core/novel/a.go", "metaqda/core/niw", "give core/novel a layer"},
		{"scripts/x/a.go", "metaqda/core/novel", "give core/novel a layer"},
		{"wasm/a.go", "metaqda/scripts/site", "command lines"},
		{"wasm/simd/a.go", "metaqda/scripts/site", "command lines"},
		{"scripts/x/a.go", "metaqda/wasm", "not a library"},
		{"core/niw/a.go", "syscall/js", "pure computation"},
		{"core/dataset/a.go", "syscall/js", "pure computation"},
		{"scripts/x/a.go", "syscall/js", "for wasm and"},
		{"core/qda/a.go", "os", "pure computation"},
		{"core/qda/a_js.go", "os/exec", "pure computation"},
		{"core/qda/a.go", "io/ioutil", "pure computation"},
		{"core/model/a.go", "path/filepath", "pure computation"},
		{"core/embed/a.go", "net/http", "pure computation"},
		{"core/dataset/a.go", "net", "pure computation"},
		{"core/dataset/a.go", "os/exec", "pure computation"},
		{"core/niw/deeper/a.go", "os", "pure computation"},
		{"core/niw/a.go", "gonum.org/v1/plot", "only for scripts"},
		{"core/niw/a.go", "github.com/sbinet/npyio/npy", "only for core/dataset"},
		{"core/niw/a.go", "github.com/x448/float16", "only for core/dataset"},
		{"core/niw/a.go", "golang.org/x/text/unicode/norm", "only for core/model"},
		{"scripts/x/a.go", "honnef.co/go/js/dom/v2", "only for wasm"},
		{"wasm/a.go", "github.com/andybalholm/brotli", "only for scripts"},
		{"core/niw/a.go", "golang.org/x/exp/rand", "only for scripts"},
	} {
		violations, _, err := check(one(c.file, c.target))
		if err != nil || len(violations) != 1 || !strings.Contains(violations[0], c.reason) || !strings.Contains(violations[0], c.file+":5:8") {
			t.Errorf("%s imports %s: %q, %v, want one violation with %q", c.file, c.target, violations, err, c.reason)
		}
	}
}

func TestWhatPointsTheRightWayPasses(t *testing.T) {
	for _, c := range []struct{ file, target string }{
		{"core/niw/a.go", "gonum.org/v1/gonum/mat"},
		{"core/model/a.go", "github.com/x448/float16"},
		{"core/niw/a.go", "io/fs"},
		{"core/niw/a.go", "math"},
		{"core/model/a.go", "metaqda/core/qda"},
		{"core/metatrain/a.go", "metaqda/core/model"},
		{"core/baseline/a.go", "metaqda/core/niw"},
		{"core/dataset/a.go", "os"},
		{"core/dataset/a.go", "path/filepath"},
		{"core/dataset/a.go", "github.com/sbinet/npyio/npz"},
		{"core/experiment/a.go", "golang.org/x/sync/errgroup"},
		{"core/metatrain/recipe/a.go", "metaqda/core/metatrain"},
		{"core/experiment/a.go", "metaqda/core/baseline"},
		{"scripts/metaqda/a.go", "github.com/urfave/cli/v3"},
		{"scripts/metaqda/a.go", "metaqda/scripts/reproduce"},
		{"scripts/output/a.go", "metaqda/scripts/tables"},
		{"wasm/a_js.go", "syscall/js"},
		{"wasm/a_js.go", "honnef.co/go/js/dom/v2"},
		{"wasm/a_js.go", "metaqda/wasm/simd"},
		{"wasm/a_js.go", "metaqda/core/metatrain"},
		{"scripts/x/a.go", "metaqda/core/baseline"},
		{"scripts/x/a.go", "metaqda/wasm/simd"},
		{"scripts/x/a.go", "net/http"},
		{"scripts/bench/browser/a_js.go", "syscall/js"},
		{"scripts/x/a.go", "gonum.org/v1/plot"},
		{"core/niw/a_test.go", "os"},
		{"core/niw/a_test.go", "metaqda/core/qda"},
		{"core/niw/testdata/a.go", "os"},
		{"web/node_modules/x/a.go", "anything.example/x"},
		{"build/a.go", "anything.example/x"},
	} {
		tree := one(c.file, c.target)
		tree["core/niw/other.go"] = &fstest.MapFile{Data: []byte("package niw\n")}
		if violations, _, err := check(tree); err != nil || len(violations) > 0 {
			t.Errorf("%s imports %s: %q, %v", c.file, c.target, violations, err)
		}
	}
}

func TestWhatCannotBeCheckedIsAnError(t *testing.T) {
	if _, _, err := check(fstest.MapFS{}); err == nil {
		t.Error("an empty tree passed")
	}
	if _, _, err := check(fstest.MapFS{"core/niw/a.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that is not Go passed")
	}
}

func TestThisTreeIsInOrder(t *testing.T) {
	violations, files, err := check(os.DirFS("../.."))
	if err != nil || len(violations) > 0 || files < 5 {
		t.Errorf("%d files, %v, %v", files, violations, err)
	}
}
