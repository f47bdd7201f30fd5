package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNoticesNameAllThatIsUsed(t *testing.T) {
	text := "| `a.org/x` 1.2.3, `a.org/y` v2.0.0-2025 | MIT |\n| through y: `a.org/z` | MIT |\n| `@s/p` 0.1.0 (tests) | MIT |\n| inside `q`, 4.0.0 | MIT |\n"
	for name, c := range map[string]struct {
		pinned map[string]string
		want   string
	}{
		"in order":          {map[string]string{"a.org/x": "1.2.3", "a.org/y": "2.0.0-2025", "a.org/z": "9.9.9", "@s/p": "0.1.0"}, ""},
		"missing":           {map[string]string{"a.org": "1.0.0"}, "`a.org` 1.0.0 is used and not named"},
		"part of a name":    {map[string]string{"p": "0.1.0"}, "`p` 0.1.0 is used and not named"},
		"of another time":   {map[string]string{"a.org/x": "1.2.4"}, "`a.org/x` is 1.2.3 there and 1.2.4 in what is built"},
		"a longer version":  {map[string]string{"@s/p": "0.1.0-rc.1"}, "is 0.1.0 there"},
		"of another module": {map[string]string{"a.org/z": "1.0.0"}, ""},
	} {
		found := strings.Join(unnoticed(text, c.pinned), "\n")
		if !strings.Contains(found, c.want) || (c.want == "") != (found == "") {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}

func TestPinsAreReadFromBothFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "web"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"THIRD_PARTY.md":   "nothing",
		"go.mod":           "module metaqda\n\ngo 1.26.0\n\nrequire a.org/single v1.0.0\n\nrequire (\n\ta.org/x v1.2.3\n\ta.org/y/v2 v2.0.0 // indirect\n)\n\ntool a.org/x/cmd/t\n",
		"web/package.json": `{"dependencies": {"p": "1.0.0"}, "devDependencies": {"@s/q": "2.0.0"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := checkNotices(dir)
	if err != nil || len(found) != 5 {
		t.Errorf("%q, %v, want one finding for each of five pins", found, err)
	}
}
