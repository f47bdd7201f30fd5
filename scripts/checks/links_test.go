package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fences   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	links    = regexp.MustCompile(`\[([^\]]*)\]\(([^()\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.+)$`)
	symbol   = regexp.MustCompile("^`(?:\\w+\\.)?(\\w+)`$")
)

// anchor returns the name that GitHub gives a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// broken says for each relative link of a document why it leads nowhere. read returns the
// text of a file or folder, "" for a folder, and whether it is there. A link whose text is a
// name in backquotes must lead to a file that has this name in it.
func broken(document string, read func(name string) (text string, ok bool)) (reasons []string) {
	text, _ := read(document)
	for _, link := range links.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		target, fragment, _ := strings.Cut(link[2], "#")
		if strings.Contains(target, ":") {
			continue
		}
		name := document
		if target != "" {
			name = filepath.Join(filepath.Dir(document), target)
		}
		there, ok := read(name)
		found := fragment == ""
		for _, h := range headings.FindAllStringSubmatch(fences.ReplaceAllString(there, ""), -1) {
			found = found || anchor(h[1]) == fragment
		}
		named := symbol.FindStringSubmatch(link[1])
		switch {
		case !ok:
			reasons = append(reasons, link[0]+": there is no such file")
		case !found:
			reasons = append(reasons, link[0]+": the document has no such heading")
		case named != nil && there != "" && !regexp.MustCompile(`\b`+named[1]+`\b`).MatchString(there):
			reasons = append(reasons, link[0]+": the file does not have this name")
		}
	}
	return reasons
}

func TestEveryRelativeLinkOfADocumentResolves(t *testing.T) {
	read := func(name string) (string, bool) {
		info, err := os.Stat("../../" + name)
		if err != nil || info.IsDir() {
			return "", err == nil
		}
		text, err := os.ReadFile("../../" + name)
		return string(text), err == nil
	}
	documents := strings.Fields(git(t, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"))
	if len(documents) < 10 {
		t.Fatalf("only %d documents were found", len(documents))
	}
	for _, document := range documents {
		for _, reason := range broken(document, read) {
			t.Errorf("%s: %s", document, reason)
		}
	}
}

func TestBrokenLinks(t *testing.T) {
	files := map[string]string{"a/b.go": "func Parse() {}", "a": "", "README.md": "# The model, in six\n```\n# no heading\n[x](gone.go)\n```\n"}
	for link, want := range map[string]string{
		"[a](../a/b.go)": "", "[`Parse`](../a/b.go)": "", "[`b.Parse`](../a/b.go)": "", "[folder](../a)": "", "[`a`](../a)": "",
		"[m](../README.md#the-model-in-six)": "", "[w](https://example.org/x)": "", "[here](#mine)": "",
		"[a](../a/c.go)": "no such file", "[`Pars`](../a/b.go)": "not have this name",
		"[m](../README.md#no-heading)": "no such heading", "[here](#yours)": "no such heading",
	} {
		reasons := broken("docs/x.md", func(name string) (string, bool) {
			if name == "docs/x.md" {
				return "## Mine\n" + link, true
			}
			text, ok := files[name]
			return text, ok
		})
		if got := strings.Join(reasons, "; "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}
