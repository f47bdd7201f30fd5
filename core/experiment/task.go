package experiment

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/episode"
)

// Task is an episode as a method sees it: rows of the data set by their numbers,
// which [Space.Row] turns into features. It belongs to one worker and is overwritten
// by the next episode; matrices that several methods ask for are made once.
type Task struct {
	*episode.Episode
	Number int   // of the episode: the seed of methods that draw random numbers
	Labels []int // class of each support row, class by class

	rows    []int // support rows, class by class
	full    map[*Space]*features
	reduced map[*Space]*features
}

// features is the support and the queries of an episode as matrices.
type features struct{ support, queries *mat.Dense }

// begin takes up an episode and forgets the products of the last one.
func (t *Task) begin(e *episode.Episode, number int) {
	t.Episode, t.Number = e, number
	t.full, t.reduced = map[*Space]*features{}, map[*Space]*features{}
	t.rows, t.Labels = t.rows[:0], t.Labels[:0]
	for j, rows := range e.Support {
		for _, i := range rows {
			t.rows = append(t.rows, i)
			t.Labels = append(t.Labels, j)
		}
	}
}

// Features returns support (n x d) and queries (q x d), which are not to be changed.
func (t *Task) Features(s *Space) (support, queries *mat.Dense) {
	f, ok := t.full[s]
	if !ok {
		f = &features{s.Rows(t.rows), s.Rows(t.Query)}
		t.full[s] = f
	}
	return f.support, f.queries
}

// Coordinates returns support (n x n) and queries (q x n) in the span of the
// support, which have the inner products of the features; see [baseline.Span].
func (t *Task) Coordinates(s *Space) (support, queries *mat.Dense) {
	r, ok := t.reduced[s]
	if !ok {
		support, queries := t.Features(s)
		span := baseline.NewSpan(support)
		r = &features{span.Coords, span.Project(queries)}
		t.reduced[s] = r
	}
	return r.support, r.queries
}
