package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUnwantedTextIsFoundWithItsLine(t *testing.T) {
	for _, text := range []string{
		"https://registry." + "npmjs.org/x/-/x-1.0.0.tgz", "GOPROXY=https://proxy." + "golang.org", "http://deb." + "debian.org/debian",
		"cd /" + "work/main", "\"/" + "home/ada/metaqda\"", "=/" + "root/go", "/" + "Users/ada", "file:/" + "tmp/x", "a\n/" + "work/main",
	} {
		found := checkText("a.md", []byte("first\n"+text+"\n"))
		want := "a.md:" + map[bool]string{true: "3", false: "2"}[strings.HasPrefix(text, "a\n")] + ": "
		if len(found) != 1 || !strings.HasPrefix(found[0], want) {
			t.Errorf("%q: %q, want one finding that begins with %q", text, found, want)
		}
	}
}

func TestOrdinaryTextPasses(t *testing.T) {
	for _, text := range []string{
		"https://github.com/x/wo" + "rk/main", "web/wo" + "rk/", "../home/x", "./root/x", "https://www.npm" + "js.com/package/x", "import \"golang.org/x/mod\"",
		"/opt/x", "build/tmp/x", "~/wo" + "rk/x", "os.TempDir()", "binary \x00 /wo" + "rk/main",
	} {
		if found := checkText("a.md", []byte(text)); len(found) > 0 {
			t.Errorf("%q: %q", text, found)
		}
	}
}

func TestTheTopLevelIsFixed(t *testing.T) {
	dir := t.TempDir()
	names := []string{"core/a.go", "Makefile", ".gitignore", ".ci/run", "notes.txt", "src/a.go"}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := check(dir, append(names, "core/removed.go"))
	if err != nil || len(found) != 2 || !strings.HasPrefix(found[0], "notes.txt:") || !strings.HasPrefix(found[1], "src/a.go:") {
		t.Errorf("%q, %v, want findings for notes.txt and src/a.go", found, err)
	}
}

func TestTrackedLeavesOutWhatGitIgnores(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for name, text := range map[string]string{".gitignore": "ignored\n", "ignored": "x", "ü new": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := tracked(dir); err != nil || !slices.Equal(got, []string{".gitignore", "ü new"}) {
		t.Errorf("tracked %q, %v", got, err)
	}
}
