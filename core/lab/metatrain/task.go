package metatrain

import (
	"fmt"

	"metaqda/core/lab/episode"
	"metaqda/core/niw"
)

// Unknown is the label of a query that belongs to none of the task's classes.
const Unknown = episode.Unknown

// Task is one episode: the support of C classes and the queries to recognise,
// already transformed as at prediction. The zero Task is ready for [Episodes]
// to fill; its memory is used again for the next one.
type Task struct {
	Dim    int
	X      []float64 // (support + queries)×Dim row-major: the support class by class, then the queries
	Shots  []int     // K_j of each class, their sum is the number of support rows
	Labels []int     // class of each query, or Unknown
}

// support returns the number of support rows, the sum of the shots.
func (t *Task) support() int {
	n := 0
	for _, k := range t.Shots {
		n += k
	}
	return n
}

// rows returns the number of support rows and queries together.
func (t *Task) rows() int { return t.support() + len(t.Labels) }

// Validate checks that the sizes agree, that every label names a class and
// that every number is finite. Cost O(rows × Dim).
func (t *Task) Validate() error {
	if t.Dim < 1 || len(t.Shots) == 0 || len(t.Labels) == 0 {
		return fmt.Errorf("task with %d classes and %d queries of dimension %d: want at least one of each", len(t.Shots), len(t.Labels), t.Dim)
	}
	for j, k := range t.Shots {
		if k < 0 {
			return fmt.Errorf("task: class %d has %d examples: want none or more", j, k)
		}
	}
	for i, y := range t.Labels {
		if y != Unknown && (y < 0 || y >= len(t.Shots)) {
			return fmt.Errorf("task: query %d has label %d: want 0 to %d, or %d for none of the classes", i, y, len(t.Shots)-1, Unknown)
		}
	}
	return niw.CheckVector("task", t.X, t.rows()*t.Dim)
}

// resize sets the dimension and makes room for the rows, which it does not initialise.
func (t *Task) resize(dim int, rows int) {
	t.Dim = dim
	t.X = grown(t.X, rows*dim)
}

// grown returns s with length n, allocating only if its capacity is too small.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
