package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Set is a data set of labelled embeddings.
//
// Numbers are stored as float32, the precision of extractors: 60,000 rows of 256
// numbers take 61 MB.
type Set struct {
	Name            string           // short name, as in the .json or of the file
	Dim             int              // d, the numbers in a row
	X               []float32        // N x d, row-major
	Labels          []int            // N, index into Classes
	Groups          []int32          // N, rows of one group show one thing; nil: every row is a group of its own
	Classes         []string         // class names
	Splits          map[string][]int // split name to class indices, in file order
	Extractor       string           // how the embeddings were made, in words
	ExtractorSHA256 string           // the extractor's sha256, empty if unknown

	file string  // for messages
	rows [][]int // rows of each class, ascending
}

// New returns a set of rows that are in memory: x holds len(labels) rows of dim
// numbers, row-major, and labels index the classes. groups may be nil, and so may
// meta: then classes are named by their numbers and the only split is "all". The
// set is checked like a file; messages use name for the file. The slices are not
// copied.
func New(name string, dim int, x []float32, labels []int, groups []int32, meta *Meta) (*Set, error) {
	return (&Set{Name: name, Dim: dim, X: x, Labels: labels, Groups: groups, file: name}).describe(meta)
}

// SplitAll is the name of the split that holds every class.
const SplitAll = "all"

// Len returns N, the number of rows.
func (s *Set) Len() int { return len(s.Labels) }

// File returns the path or name the set was read from.
func (s *Set) File() string { return s.file }

// Row returns row i, a view into the set.
func (s *Set) Row(i int) []float32 { return s.X[i*s.Dim : (i+1)*s.Dim : (i+1)*s.Dim] }

// RowTo copies row i into dst, which has length d, and returns dst.
func (s *Set) RowTo(dst []float64, i int) []float64 {
	if len(dst) != s.Dim {
		panic("dataset: wrong length of dst")
	}
	for j, v := range s.Row(i) {
		dst[j] = float64(v)
	}
	return dst
}

// ClassRows returns the rows of class c in ascending order. It is a view.
func (s *Set) ClassRows(c int) []int { return s.rows[c] }

// Split returns the class indices of the named split. "all" is every class;
// a list such as "val,test" is the union in the order given, with each class once.
func (s *Set) Split(name string) ([]int, error) {
	var classes []int
	listed := make([]bool, len(s.Classes))
	for part := range strings.SplitSeq(name, ",") {
		part = strings.TrimSpace(part)
		got, ok := s.Splits[part]
		if !ok && part == SplitAll {
			for c := range s.Classes {
				got = append(got, c)
			}
			ok = true
		}
		if !ok {
			return nil, &FileError{File: s.file, Row: -1, Problem: fmt.Sprintf("has no split %q (it has %s)", part, s.splitNames()),
				Remedy: "choose one of these, or name the classes of the split in the .json beside the data"}
		}
		for _, c := range got {
			if !listed[c] {
				classes, listed[c] = append(classes, c), true
			}
		}
	}
	return classes, nil
}

func (s *Set) splitNames() string {
	names := append(slices.Collect(maps.Keys(s.Splits)), SplitAll)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Rows returns all rows of the given classes, class by class.
func (s *Set) Rows(classes []int) []int {
	var rows []int
	for _, c := range classes {
		rows = append(rows, s.rows[c]...)
	}
	return rows
}

// Mean returns the mean of the given rows, summed in their order, or nil for no
// rows. CL2N subtracts the mean of the rows of the training classes.
func (s *Set) Mean(rows []int) []float64 {
	if len(rows) == 0 {
		return nil
	}
	mean := make([]float64, s.Dim)
	for _, i := range rows {
		for j, v := range s.Row(i) {
			mean[j] += float64(v)
		}
	}
	for j := range mean {
		mean[j] /= float64(len(rows))
	}
	return mean
}

// check validates the whole set and fills the derived fields.
func (s *Set) check() error {
	if err := s.checkShape(); err != nil {
		return err
	}
	if err := checkClasses(s.file, s.Classes); err != nil {
		return err
	}
	if err := checkFinite(s.file, s.X, s.Dim); err != nil {
		return err
	}
	s.rows = make([][]int, len(s.Classes))
	for i, c := range s.Labels {
		if c < 0 || c >= len(s.Classes) {
			return &FileError{File: s.file, Row: i, Problem: fmt.Sprintf("label %d is outside 0..%d", c, len(s.Classes)-1),
				Remedy: "whole numbers count the classes from 0: save names in their place, with numpy's astype(str), or name the classes in the .json beside the data"}
		}
		s.rows[c] = append(s.rows[c], i)
	}
	return nil
}

func (s *Set) checkShape() error {
	if s.Dim <= 0 || len(s.Labels) == 0 {
		return noEmbeddings(s.file)
	}
	if n := len(s.X) / s.Dim; n != len(s.Labels) {
		return &FileError{File: s.file, Row: -1, Problem: fmt.Sprintf("has different numbers of embeddings and labels, %d and %d", n, len(s.Labels)),
			Remedy: "write one label for each row"}
	}
	return s.checkGroups(s.file)
}

func (s *Set) checkGroups(file string) error {
	if s.Groups != nil && len(s.Groups) != len(s.Labels) {
		return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("has different numbers of groups and embeddings, %d and %d", len(s.Groups), len(s.Labels)),
			Remedy: "write one group for each row, or leave the groups out"}
	}
	return nil
}

func checkClasses(file string, classes []string) error {
	seen := make(map[string]int, len(classes))
	for c, name := range classes {
		if strings.TrimSpace(name) == "" {
			return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("class %d has an empty name", c), Remedy: "give every class a name"}
		}
		if first, ok := seen[name]; ok {
			return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("classes %d and %d are both called %q", first, c, name),
				Remedy: "class names must be unique: rename one"}
		}
		seen[name] = c
	}
	return nil
}

// label sets Labels and Classes from the class name of each row. The classes are those of the .json
// beside the data, or else the sorted names.
func (s *Set) label(names []string, m *Meta) error {
	index := make(map[string]int)
	for row, name := range names {
		if strings.TrimSpace(name) == "" {
			return &FileError{File: s.file, Row: row, Problem: "has no label", Remedy: "write the name of its class there, or remove the row"}
		}
		index[name] = -1
	}
	if s.Classes = slices.Sorted(maps.Keys(index)); m != nil && len(m.Classes) > 0 {
		s.Classes = m.Classes
	}
	for c, name := range s.Classes {
		index[name] = c
	}
	s.Labels = make([]int, len(names))
	for row, name := range names {
		if s.Labels[row] = index[name]; s.Labels[row] < 0 {
			return &FileError{File: s.file, Row: row, Problem: fmt.Sprintf("class %q is not among the classes of the .json beside it", name),
				Remedy: "add the class there or correct the row"}
		}
	}
	return nil
}

// setSplits sets Splits from the names or numbers of classes. A class may be in one split
// only: a test on classes from training would be meaningless.
func (s *Set) setSplits(file string, splits map[string]ClassNames) error {
	index := make(map[string]int, len(s.Classes))
	for c, name := range s.Classes {
		index[name] = c
	}
	owner := make(map[int]string)
	s.Splits = make(map[string][]int, len(splits))
	for _, split := range slices.Sorted(maps.Keys(splits)) {
		for _, name := range splits[split] {
			c, ok := index[name]
			if n, err := strconv.Atoi(name); !ok && err == nil && n >= 0 && n < len(s.Classes) {
				c, ok = n, true
			}
			if !ok {
				return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("split %q names the class %q, which the data does not have", split, name),
					Remedy: "correct the name or remove it from the split"}
			}
			if other, taken := owner[c]; taken {
				return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("class %q stands in split %q and again in split %q", name, other, split),
					Remedy: "keep every class in one split only"}
			}
			owner[c] = split
			s.Splits[split] = append(s.Splits[split], c)
		}
	}
	return nil
}
