package dataset

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// labelColumns are the headings that mark the column of class names. If several are present, the
// first in this list counts: below the headings x, y and label, y is a number.
var labelColumns = []string{"label", "class", "target", "y"}

// groupColumn is the heading of the column of groups.
const groupColumn = "group"

// DecodeCSV decodes one example per line. The column of class names is the one headed label, or else
// class, target or y. Without a heading it is the only column that is not a number. A column headed
// group has the group of each row, or nothing for a row that is a group of its own. Rows in messages
// count the examples from 0. file is used in messages, meta may be nil.
func DecodeCSV(file string, r io.Reader, meta *Meta) (*Set, error) {
	p := csvParser{file: file}
	if err := p.read(r); err != nil {
		return nil, err
	}
	s := &Set{Name: baseName(file), Dim: p.dim, X: p.x, Groups: p.groups, file: file}
	if err := s.label(p.names, meta); err != nil {
		return nil, err
	}
	return s.describe(meta)
}

// read reads all lines.
func (p *csvParser) read(r io.Reader) error {
	c, err := unmarked(p.file, r)
	if err != nil {
		return err
	}
	c.ReuseRecord = true
	for first := true; ; first = false {
		record, err := c.Read()
		header := false
		switch {
		case errors.Is(err, io.EOF) && first:
			return noEmbeddings(p.file)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && first:
			return damaged(p.file, "is no CSV with a label column", err)
		case err != nil:
			return damaged(p.file, "breaks off ("+err.Error()+")", err)
		case first:
			header, err = p.findLabel(record)
			if line := strings.Join(record, ""); (err != nil || len(record) == 1) && strings.ContainsAny(line, ";\t") {
				return &FileError{File: p.file, Row: -1, Problem: "has other marks than commas between its columns", Remedy: "write commas there, and decimal points"}
			}
		}
		if err == nil && !header {
			err = p.add(record)
		}
		if err != nil {
			return err
		}
	}
}

// unmarked returns a reader of CSV without the byte order mark that spreadsheets write before UTF-8.
func unmarked(file string, r io.Reader) (*csv.Reader, error) {
	b := bufio.NewReader(r)
	start, _ := b.Peek(3)
	switch {
	case string(start) == "\ufeff":
		_, _ = b.Discard(3) // they are there
	case len(start) > 1 && (string(start[:2]) == "\xff\xfe" || string(start[:2]) == "\xfe\xff"):
		return nil, &FileError{File: file, Row: -1, Problem: "is in UTF-16", Remedy: "save it as CSV in UTF-8"}
	}
	return csv.NewReader(b), nil
}

type csvParser struct {
	file   string
	column int  // of the label, -1 for none
	bare   bool // labels are not needed
	want   int  // numbers of a row, if that is known
	x      []float32
	names  []string // class name of each row
	dim    int

	group  int // column of the group, -1 for none
	groups []int32
	known  map[string]int32 // number of each group
	next   int32
}

// findLabel finds the columns of labels and groups by the first line. It reports whether that
// line has headings.
func (p *csvParser) findLabel(first []string) (header bool, err error) {
	if i := unheaded(first); i >= 0 {
		return false, &FileError{File: p.file, Row: -1, Problem: fmt.Sprintf("has nothing in column %d of its first line", i),
			Remedy: "leave out a column of row numbers (index=False in pandas), or give it a heading or a value"}
	}
	p.dim, p.group = len(first), headed(first, groupColumn)
	if p.group >= 0 {
		p.dim--
	}
	for i, name := range labelColumns {
		if i > 0 && p.dim == p.want { // y is a number, too
			break
		}
		if p.column = headed(first, name); p.column >= 0 {
			p.dim--
			return true, nil
		}
	}
	words := 0
	for i, field := range first {
		if _, err := strconv.ParseFloat(strings.TrimSpace(field), 64); err != nil {
			p.column = i
			words++
		}
	}
	counts := p.counts(first)
	if p.bare && (words != 1 || len(first) == 1 || counts) { // all numbers, or headings of these
		p.column = -1
		return words == len(first) || counts, nil
	}
	if words != 1 || counts {
		return false, &FileError{File: p.file, Row: -1, Problem: "does not say which column holds the classes",
			Remedy: "add a first line of headings with one column called label"}
	}
	p.dim, p.group = len(first)-1, -1
	return false, nil
}

// counts reports whether a line counts the columns of numbers from 0, as pandas heads an array.
func (p *csvParser) counts(line []string) bool {
	n := 0
	for i, field := range line {
		if i != p.group {
			if strings.TrimSpace(field) != strconv.Itoa(n) {
				return false
			}
			n++
		}
	}
	return n > 2 // fewer may be an embedding
}

// headed returns the column of a heading, -1 for none.
func headed(first []string, name string) int {
	return slices.IndexFunc(first, func(field string) bool { return strings.EqualFold(strings.TrimSpace(field), name) })
}

// unheaded returns the column of the first empty field, -1 for none. pandas writes one above its column
// of row numbers, which is no part of an embedding.
func unheaded(first []string) int {
	return slices.IndexFunc(first, func(field string) bool { return strings.TrimSpace(field) == "" })
}

func (p *csvParser) add(record []string) error {
	row := len(p.x) / max(p.dim, 1)
	for i, field := range record {
		field = strings.TrimSpace(field)
		if i == p.column {
			p.names = append(p.names, field)
			continue
		}
		if i == p.group {
			p.groups = append(p.groups, p.numberOf(field))
			continue
		}
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 {
			return &FileError{File: p.file, Row: row, Problem: fmt.Sprintf("column %d is %q", i, field),
				Remedy: "every value but the label must be a finite number up to 3.4e38: correct or remove the row"}
		}
		p.x = append(p.x, float32(v))
	}
	return nil
}

// numberOf returns the number of a group, a new one for an empty name.
func (p *csvParser) numberOf(group string) int32 {
	if n, ok := p.known[group]; ok && group != "" {
		return n
	}
	if p.known == nil {
		p.known = map[string]int32{}
	}
	p.next++
	p.known[group] = p.next
	return p.next
}

// readNames returns the class names of a split list: one name a line, or a
// CSV with a column called label (names may repeat there).
func readNames(file string, r io.Reader) ([]string, error) {
	c, err := unmarked(file, r)
	if err != nil {
		return nil, err
	}
	c.FieldsPerRecord = -1
	records, err := c.ReadAll()
	if err != nil {
		return nil, damaged(file, "is not a list of classes ("+err.Error()+")", err)
	}
	column := 0
	if len(records) > 0 {
		for i, field := range records[0] {
			if strings.EqualFold(strings.TrimSpace(field), "label") {
				column = i
				records = records[1:]
				break
			}
		}
	}
	seen := map[string]bool{}
	for row, record := range records {
		if column >= len(record) {
			return nil, &FileError{File: file, Row: row, Problem: "has no label", Remedy: "write one class name a line"}
		}
		if name := strings.TrimSpace(record[column]); name != "" {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}
