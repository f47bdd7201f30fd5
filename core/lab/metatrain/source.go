package metatrain

import (
	"metaqda/core/lab/episode"
)

// Domain is one data set to draw tasks from. Its rows are transformed as for prediction. float32
// halves the memory and keeps the precision of extractors.
type Domain struct {
	Name string
	Dim  int
	X    []float32 // N×Dim, row-major
}

// row returns row i, a view.
func (d *Domain) row(i int) []float32 { return d.X[i*d.Dim : (i+1)*d.Dim] }

// fillTo makes t the task of episode e.
func (d *Domain) fillTo(t *Task, e *episode.Episode) {
	t.Shots = t.Shots[:0]
	rows := len(e.Query)
	for _, s := range e.Support {
		t.Shots = append(t.Shots, len(s))
		rows += len(s)
	}
	t.resize(d.Dim, rows)
	at := 0
	put := func(row int) {
		dst := t.X[at*d.Dim : (at+1)*d.Dim]
		for i, v := range d.row(row) {
			dst[i] = float64(v)
		}
		at++
	}
	for _, s := range e.Support {
		for _, r := range s {
			put(r)
		}
	}
	t.Labels = append(t.Labels[:0], e.QueryLabel...)
	for _, r := range e.Query {
		put(r)
	}
}

// Episodes are the tasks to learn from: the Pool of an episode is an index into Domains.
type Episodes struct {
	Domains []*Domain
	Sampler episode.Sampler
}

// Task makes t the i-th task and reuses t's memory if it is large enough. Several goroutines may
// call it at once.
func (s *Episodes) Task(i int, t *Task) {
	e := s.Sampler.Episode(i)
	s.Domains[e.Pool].fillTo(t, &e)
}
