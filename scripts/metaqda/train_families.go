package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"metaqda/core/dataset"
)

// families says of data sets what kind of thing they show and how often they are
// drawn from in a round: two sets of one family are not strangers to each other.
// What it does not name is a family of its own, drawn from once.
type families map[string]family

type family struct {
	name  string
	draws int
}

// readFamilies reads a file of lines "SET FAMILY [DRAWS]"; what follows # is not read.
func readFamilies(path string) (families, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%s); check the path of --families", path, reason(err))
	}
	defer file.Close()
	f, number := families{}, 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		entry := family{draws: 1}
		var err error
		if len(words) == 3 {
			entry.draws, err = strconv.Atoi(words[2])
		}
		if len(words) < 2 || len(words) > 3 || err != nil || entry.draws < 1 || entry.draws > 100 {
			return nil, fmt.Errorf("%s, line %d: want a data set, its family and perhaps how often it is drawn, got %q", path, number, lines.Text())
		}
		entry.name = words[1]
		f[words[0]] = entry
	}
	return f, lines.Err()
}

// of returns the family of a set.
func (f families) of(s *dataset.Set) family {
	if entry, ok := f[s.Name]; ok {
		return entry
	}
	return family{s.Name, 1}
}

// drawn returns the sets as often as they are drawn in a round.
func (f families) drawn(sets []*dataset.Set) (round []*dataset.Set) {
	for _, s := range sets {
		for range f.of(s).draws {
			round = append(round, s)
		}
	}
	return round
}

// foldsOf deals whole families out to at most n folds, the largest first and each to
// the fold that has the fewest sets, so that folds are as even as families allow.
func foldsOf(sets []*dataset.Set, f families, n int) [][]*dataset.Set {
	var names []string
	members := map[string][]*dataset.Set{}
	for _, s := range sets {
		name := f.of(s).name
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

func setNames(sets []*dataset.Set) string {
	var names []string
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
