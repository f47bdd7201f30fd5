package experiment

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/niw"
)

// Space is the rows of a data set seen through a transform, and for methods with a
// prior whitened by it. It is made once and read by all workers.
type Space struct {
	x     *mat.Dense // rows x d
	index []int32    // row of the set to row of x, -1 where it is not held
}

// newSpace transforms the given rows of the set and, if whiten is not nil,
// whitens them: O(n d^2) once instead of in every episode.
func newSpace(set *dataset.Set, rows []int, t *embed.Transform, whiten *niw.Prior) (*Space, error) {
	s := &Space{x: mat.NewDense(len(rows), set.Dim, nil), index: make([]int32, set.Len())}
	for i := range s.index {
		s.index[i] = -1
	}
	for k, i := range rows {
		row := set.RowTo(s.x.RawRowView(k), i)
		if err := t.ApplyTo(row, row); err != nil {
			return nil, &dataset.FileError{File: set.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")",
				Remedy: "use a prior made for these embeddings", Err: err}
		}
		s.index[i] = int32(k)
	}
	if whiten != nil {
		whiten.WhitenRowsTo(s.x, s.x)
	}
	return s, nil
}

// Dim returns d, the numbers in a row.
func (s *Space) Dim() int { return s.x.RawMatrix().Cols }

// Row returns row i of the data set as it is here, a view of length d. Only rows
// that episodes ask for are held; others panic.
func (s *Space) Row(i int) []float64 {
	if s.index[i] < 0 {
		panic("experiment: row outside the prepared classes")
	}
	return s.x.RawRowView(int(s.index[i]))
}

// Rows copies rows of the data set into a matrix (len(rows) x d).
func (s *Space) Rows(rows []int) *mat.Dense {
	m := mat.NewDense(max(len(rows), 1), s.Dim(), nil)
	for k, i := range rows {
		copy(m.RawRowView(k), s.Row(i))
	}
	return m
}
