package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// notices names the file that lists what others made, with its licences.
const notices = "THIRD_PARTY.md"

// required finds the modules of a go.mod with their versions.
var required = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.-]+\.[\w.-]+/\S+) v(\S+)`)

// checkNotices compares the notices with what go.mod and package.json pin: each
// module and package must be named, and where its version is told it must be the
// pinned one.
func checkNotices(root string) ([]string, error) {
	var texts [3]string
	for i, name := range []string{notices, "go.mod", "web/package.json"} {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		texts[i] = string(content)
	}
	pinned := map[string]string{}
	for _, m := range required.FindAllStringSubmatch(texts[1], -1) {
		pinned[m[1]] = m[2]
	}
	var packages struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(texts[2]), &packages); err != nil {
		return nil, fmt.Errorf("web/package.json: %w", err)
	}
	for _, group := range []map[string]string{packages.Dependencies, packages.DevDependencies} {
		for name, version := range group {
			pinned[name] = version
		}
	}
	return unnoticed(texts[0], pinned), nil
}

// unnoticed returns the findings in the notices, sorted.
func unnoticed(text string, pinned map[string]string) []string {
	var findings []string
	for name, version := range pinned {
		row := regexp.MustCompile("`" + regexp.QuoteMeta(name) + "`(?:[^`|\n]*? v?(\\d[\\w.+-]*))?")
		found := row.FindStringSubmatch(text)
		switch {
		case found == nil:
			findings = append(findings, fmt.Sprintf("%s: `%s` %s is used and not named: add it with its holder and licence", notices, name, version))
		case found[1] != "" && strings.TrimRight(found[1], ".") != version:
			findings = append(findings, fmt.Sprintf("%s: `%s` is %s there and %s in what is built", notices, name, found[1], version))
		}
	}
	slices.Sort(findings)
	return findings
}
