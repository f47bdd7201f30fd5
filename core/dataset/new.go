package dataset

// New returns a set of rows that are in memory: x holds len(labels) rows of dim
// numbers, row-major, and labels index the classes. groups may be nil, and so may
// meta: then classes are named by their numbers and there is no split but "all".
// It is checked as a file is; name stands for the file in messages. The slices are
// kept, not copied.
func New(name string, dim int, x []float32, labels []int, groups []int32, meta *Meta) (*Set, error) {
	s := &Set{Name: name, Dim: dim, X: x, Labels: labels, Groups: groups, file: name}
	if err := s.describe(meta, name); err != nil {
		return nil, err
	}
	return s, nil
}
