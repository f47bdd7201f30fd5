// Package checks holds what no compiler checks, as tests: the direction of imports, the
// top level of the tree, names that belong to one machine, the notices, and the links of the
// documents.
package checks

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"metaqda/core/test"
)

// layers orders the packages of core and those that the command metaqda is made of: each
// may import those on lower lines only. core itself is the package in front.
var layers = []string{
	"core/test",
	"core/json core/niw",
	"core/anomaly core/embed core/lab/metrics core/session core/lab/dataset core/niw/niwtest core/watch",
	"core/lda core/lab/discriminant core/lab/episode core/lab/dataset/datasettest",
	"core/model",
	"core core/lab/metatrain core/lab/baseline core/model/modeltest",
	"core/lab/oracle core/lab/experiment core/adapt core/lab/metatrain/recipe",
	"scripts/tables",
	"scripts/files",
	"scripts/metaqda",
}

// users says which folders may import a package from outside, and all below it. core is pure
// computation: JavaScript, files, network and processes are for others, with files excepted
// where data sets are read. The first rule that fits counts.
var users = []struct{ imported, by string }{
	{"^syscall/js$", `^(wasm\b|scripts/bench/browser$)`},
	{"^encoding/json$", "^(core/lab|scripts)"}, // it makes programs for the browser larger; core/json takes its place
	{"^fmt$", "^(core/(lab|test)|scripts)"},    // it brings reflection
	{"^(os|path/filepath)$", "^(core/lab/dataset|wasm|scripts)"},
	{"^(syscall|os|net|plugin|runtime/cgo|C)(/|$)", "^(wasm|scripts)"},
	{"^[^.]*(/|$)", ""}, // the rest of the standard library
	{`^gonum\.org/v1/gonum`, ""},
	{`^golang\.org/x/sync`, "^(core|scripts)"},
	{`^github\.com/urfave/cli`, "^scripts/metaqda$"},
	{`^github\.com/sbinet/npyio`, "^(core/lab/dataset|scripts)"},
	{`^github\.com/x448/float16`, "^core/(lab/dataset|model)$"},
	{`^github\.com/go-json-experiment/json/jsontext$`, "^core/json$"},
	{`^golang\.org/x/text/unicode/norm`, "^core/model$"},
	{`^(github\.com/hack-pad|honnef\.co/go/js/dom)`, "^wasm"},
	{"", "^scripts"},
}

// forbidden says why a package of this module may not import another, or "" where it may.
func forbidden(importer, imported string) string {
	layer := func(name string) int {
		return slices.IndexFunc(layers, func(line string) bool { return slices.Contains(strings.Fields(line), name) })
	}
	own, isOwn := strings.CutPrefix(imported, "metaqda/")
	from, to := layer(importer), layer(own)
	switch {
	case strings.HasPrefix(importer, "core") && from < 0:
		return "core has a new package: give it a layer"
	case !isOwn:
		for _, rule := range users {
			if regexp.MustCompile(rule.imported).MatchString(imported) {
				if !regexp.MustCompile(rule.by).MatchString(importer) {
					return "only for " + rule.by
				}
				return ""
			}
		}
	case strings.HasPrefix(importer, "core") && !strings.HasPrefix(own, "core"):
		return "core imports only core"
	case from >= 0 && to >= from:
		return "imports point from higher to lower layers"
	case strings.HasPrefix(importer, "wasm") && strings.HasPrefix(own, "scripts"):
		return "the engine does not depend on the command lines"
	case own == "wasm":
		return "the engine is a program, not a library"
	}
	return ""
}

func TestImportsPointFromHigherToLowerLayers(t *testing.T) {
	for _, platform := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		command := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", "metaqda/...")
		command.Env = append(os.Environ(), platform...)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			names := strings.Fields(line)
			for _, imported := range names[1:] {
				reason := forbidden(strings.TrimPrefix(names[0], "metaqda/"), imported)
				if reason != "" {
					t.Errorf("%s imports %s: %s", names[0], imported, reason)
				}
			}
		}
	}
}

func TestForbiddenImports(t *testing.T) {
	for _, c := range []struct {
		importer, imported string
		want               bool
	}{
		{"core/niw", "metaqda/core/lda", true}, {"core/lda", "metaqda/core/niw", false}, {"core/lda", "metaqda/core/lab/episode", true},
		{"core/new", "fmt", true}, {"wasm/library", "fmt", true}, {"core/lda", "encoding/json", true}, {"wasm/engine", "encoding/json", true}, {"wasm/bridge", "fmt", true}, {"core/lda", "metaqda/wasm/simd", true}, {"core/lda", "os", true}, {"core/lab/dataset", "os", false},
		{"core/lab/dataset", "os/exec", true}, {"core/lda", "io/fs", false}, {"core", "syscall/js", true}, {"wasm/engine", "syscall/js", false},
		{"scripts/serve", "syscall/js", true}, {"wasm/engine", "metaqda/scripts/files", true}, {"scripts/bench", "metaqda/wasm", true},
		{"core/lda", "gonum.org/v1/plot", true}, {"core/lda", "gonum.org/v1/gonum/mat", false}, {"scripts/files", "github.com/urfave/cli/v3", true},
		{"scripts/files", "metaqda/scripts/metaqda", true}, {"scripts/bench", "metaqda/wasm/simd", false},
	} {
		got := forbidden(c.importer, c.imported)
		if (got != "") != c.want {
			t.Errorf("%s imports %s: %q", c.importer, c.imported, got)
		}
	}
}

// git runs git in the root of the tree. It is skipped where there is none.
func git(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", "../.."}, arguments...)...).Output()
	if ended, ok := err.(*exec.ExitError); err != nil && (!ok || ended.ExitCode() > 1) {
		t.Skipf("git %s: %v", arguments[0], err)
	}
	return strings.TrimSpace(string(out))
}

func TestTheTopLevelHoldsWhatTheDesignSays(t *testing.T) {
	allowed := regexp.MustCompile(`^(\..*|wasm|core|web|scripts|testdata|go\.mod|go\.sum|Makefile|index\.html|README\.md|LICENSE|THIRD_PARTY\.md)$`)
	for name := range strings.SplitSeq(git(t, "ls-files", "--cached", "--others", "--exclude-standard"), "\n") {
		top, _, _ := strings.Cut(name, "/")
		if !allowed.MatchString(top) {
			t.Errorf("%s: the top level has no place for it", name)
		}
	}
}

// Each machine is set up for registries of its own, which a name would bypass.
func TestNoTextNamesARegistryOrAFolderOfOneMachine(t *testing.T) {
	const unwanted = `(registry[.](npmjs[.]org|yarnpkg[.]com)|(proxy|sum)[.]golang[.]org|goproxy[.](io|cn)|(deb|security)[.]debian[.]org|archive[.]ubuntu[.]com|pypi[.]org|files[.]pythonhosted[.]org|static[.]crates[.]io)` +
		`|(^|[^[:alnum:]_./~-])/(work/|root/|(home|Users|tmp)/[[:alnum:]_])`
	found := git(t, "grep", "-nIE", "--untracked", unwanted, "--", ":!scripts/checks")
	if found != "" {
		t.Errorf("%v", found)
	}
}

// Of a target of the laboratory without its data make says which archive is missing. With -n make
// prints the message and goes on.
func TestMakeSaysWhichDataAreMissing(t *testing.T) {
	for _, target := range []string{"embed", "why", "anomaly", "streams", "bursts-sounds", "lodo-sounds", "hands-prior"} {
		said, err := exec.Command("make", "-n", "-C", "../..", target, "PICTURES=/none", "SOUNDS=/none", "LAB=/none").CombinedOutput()
		if err != nil || !strings.Contains(string(said), ".tar is missing: core/lab/experiment/DATA.md says") {
			t.Errorf("make %s: %v\n%.300s", target, err, said)
		}
	}
}

func TestTheNoticesNameEveryPinnedModuleAndPackage(t *testing.T) {
	read := func(name string) string {
		content := test.Must(os.ReadFile("../../" + name))(t)
		return string(content)
	}
	pinned := map[[2]string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*([\w.-]+\.[\w.-]+/\S+) v(\S+)`).FindAllStringSubmatch(read("go.mod"), -1) {
		pinned[[2]string{m[1], m[2]}] = true
	}
	for _, manifest := range strings.Fields(git(t, "ls-files", "web/**package.json")) {
		var packages struct{ Dependencies, DevDependencies map[string]string }
		test.OK(t, json.Unmarshal([]byte(read(manifest)), &packages))
		for _, group := range []map[string]string{packages.Dependencies, packages.DevDependencies} {
			for name, pin := range group {
				pinned[[2]string{name, pin}] = true
			}
		}
	}
	if len(pinned) < 10 {
		t.Fatalf("%d pins", len(pinned))
	}
	notices := read("THIRD_PARTY.md")
	for pin := range pinned {
		var versions []string
		found := regexp.MustCompile("`"+regexp.QuoteMeta(pin[0])+"`(?:[^`|\n]*? v?(\\d[\\w.+-]*))?").FindAllStringSubmatch(notices, -1)
		for _, m := range found {
			if m[1] != "" {
				versions = append(versions, strings.TrimRight(m[1], "."))
			}
		}
		if found == nil || versions != nil && !slices.Contains(versions, pin[1]) {
			t.Errorf("THIRD_PARTY.md does not name `%s` %s with its holder and licence", pin[0], pin[1])
		}
	}
}
