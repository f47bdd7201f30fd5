package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/baseline"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metrics"
)

// Task is an episode as a method gets it: row numbers of the data set. [Space.Row] turns these into
// features. A task belongs to one worker and is overwritten by the next episode. Matrices for
// several methods are made once.
type Task struct {
	*episode.Episode
	Number int   // of the episode: with the plan's seed it is the seed of methods that draw random numbers
	Labels []int // class of each support row, class by class

	rows    []int // support rows, class by class
	full    map[*Space]*features
	reduced map[*Space]*features
}

// features is the support and the queries of an episode as matrices.
type features struct{ support, queries *mat.Dense }

// begin takes an episode and drops the products of the last one.
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

// Coordinates returns support (n x n) and queries (q x n) as coordinates in the span of the support.
// Inner products with the support are those of the features; see [baseline.Span].
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

// notBestTo is for methods without none of these. It stores in none, and returns, the log odds of
// any class but the best,
//
//	ln (1-max p)/max p = ln sum_(j != best) exp(s_j) - s_best,
//
// which is -Inf for a single class.
func notBestTo(none []float64, scores *mat.Dense) []float64 {
	for i := range none {
		row := scores.RawRowView(i)
		best := metrics.Best(row)
		others := slices.Concat(row[:best], row[best+1:])
		none[i] = metrics.SoftmaxTo(others, others, 1) - row[best]
		if math.IsNaN(none[i]) { // all scores are infinite: all classes alike
			none[i] = math.Log(float64(len(row) - 1))
		}
	}
	return none
}

// addSessions moves the measures of none of these to the fields of this protocol, and adds the rates
// of wrong decisions.
func (r *Result) addSessions(records []*Record) {
	var known, unseen []float64
	for _, e := range records {
		known, unseen = append(known, e.Open.Known.wide()...), append(unseen, e.Open.Unseen.wide()...)
	}
	r.NoneAUROC, r.NoneECE, r.NoneBrier = r.AUROCNone, r.ECENone, r.BrierNone
	r.AUROCNone, r.ECENone, r.BrierNone = nil, nil, nil
	r.WronglyNone = new(shareOf(known, func(logit float64) bool { return logit > 0 }))
	r.WronglyKnown = new(shareOf(unseen, func(logit float64) bool { return logit < 0 }))
}

func shareOf(logits []float64, wrong func(float64) bool) float64 {
	n := 0
	for _, v := range logits {
		if wrong(v) {
			n++
		}
	}
	return float64(n) / float64(len(logits))
}
