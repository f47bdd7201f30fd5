package recipe

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"metaqda/core/lab/dataset"
)

// Families gives the family of a data set by its name: the kind of thing that it shows. A set is
// not unseen if another of its family was learned from. A set that it does not name is a family of
// its own.
type Families map[string]string

// ParseFamilies reads lines "SET FAMILY"; # begins a comment. file is used in messages.
func ParseFamilies(file string, text []byte) (Families, error) {
	f, number := Families{}, 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		number++
		entry, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(entry)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s, line %d: want a data set and its family, got %q", file, number, lines.Text())
		}
		f[words[0]] = words[1]
	}
	return f, lines.Err()
}

// of returns the family of a set.
func (f Families) of(s *dataset.Set) string {
	if family, ok := f[s.Name]; ok {
		return family
	}
	return s.Name
}

// foldsOf deals whole families out to at most n folds. The largest comes first, and each goes to
// the fold with the fewest sets. So folds are nearly as even as families allow.
func foldsOf(sets []*dataset.Set, f Families, n int) [][]*dataset.Set {
	var names []string
	members := map[string][]*dataset.Set{}
	for _, s := range sets {
		name := f.of(s)
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], s)
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(members[b]) - len(members[a]) })
	folds := make([][]*dataset.Set, min(n, len(names)))
	for _, name := range names {
		least := 0
		for i := range folds {
			if len(folds[i]) < len(folds[least]) {
				least = i
			}
		}
		folds[least] = append(folds[least], members[name]...)
	}
	return folds
}

func setNames(sets []*dataset.Set) []string {
	var names []string
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return names
}
