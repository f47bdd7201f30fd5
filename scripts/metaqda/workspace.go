package main

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/episode"
)

// workspace is what one worker needs to score episodes: matrices that are
// reused, and products that several methods share within an episode.
type workspace struct {
	e      *episode.Episode
	number int // of the episode, the seed of methods that draw numbers
	scores *mat.Dense
	none   []float64
	spans  map[*space]*reduced
	full   map[*space]*reduced
	rows   []int
	labels []int
}

// reduced is the support and the queries of an episode as matrices.
type reduced struct{ support, queries *mat.Dense }

// begin takes up an episode and forgets the products of the last one.
func (w *workspace) begin(e *episode.Episode, number int) {
	w.e, w.number = e, number
	w.spans, w.full = map[*space]*reduced{}, map[*space]*reduced{}
	w.rows, w.labels = w.rows[:0], w.labels[:0]
	for j, rows := range e.Support {
		for _, i := range rows {
			w.rows = append(w.rows, i)
			w.labels = append(w.labels, j)
		}
	}
	w.scores = grow(w.scores, len(e.Query), e.Way())
	if cap(w.none) < len(e.Query) {
		w.none = make([]float64, len(e.Query))
	}
	w.none = w.none[:len(e.Query)]
}

// features returns support and queries as they are.
func (w *workspace) features(s *space) *reduced {
	if r, ok := w.full[s]; ok {
		return r
	}
	_, d := s.x.Dims()
	r := &reduced{mat.NewDense(len(w.rows), d, nil), mat.NewDense(max(len(w.e.Query), 1), d, nil)}
	s.gather(r.support, 0, w.rows)
	s.gather(r.queries, 0, w.e.Query)
	w.full[s] = r
	return r
}

// coordinates returns support and queries in the span of the support.
func (w *workspace) coordinates(s *space) *reduced {
	if r, ok := w.spans[s]; ok {
		return r
	}
	f := w.features(s)
	span := baseline.NewSpan(f.support)
	r := &reduced{span.Coords, span.Project(f.queries)}
	w.spans[s] = r
	return r
}

// grow returns an r x c matrix, in m's memory where it fits.
func grow(m *mat.Dense, r, c int) *mat.Dense {
	if m != nil {
		if data := m.RawMatrix().Data; cap(data) >= r*c {
			return mat.NewDense(r, c, data[:r*c])
		}
	}
	return mat.NewDense(r, c, nil)
}
