package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/episode"
	"metaqda/core/metrics"
)

// sessionsCell returns the sessions of a data set: their numbers of classes and
// of examples are drawn, so that there is one cell.
func (o *evalOptions) sessionsCell(s *source, test episode.Pool) ([]*cell, error) {
	sampler, err := episode.NewSessions(test, episode.AsPeopleMake(), o.seed)
	if err != nil {
		return nil, err
	}
	return []*cell{{source: s, test: sampler, doubts: true}}, nil
}

// notBestTo stores in none what a method that knows no none of these has in its
// place, the log odds of any class but the best,
//
//	ln (1-max p)/max p = ln sum_(j != best) exp(s_j) - s_best,
//
// -Inf where there is a single class, and returns it.
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

// addDoubts gives what was measured of none of these the names of the protocol,
// and adds how often it decides wrongly.
func (r *Result) addDoubts(records []*record) {
	var known, unseen []float64
	for _, e := range records {
		known, unseen = append(known, e.Open.Known.wide()...), append(unseen, e.Open.Unseen.wide()...)
	}
	r.NoneAUROC, r.NoneECE, r.NoneBrier = r.AUROCNone, r.ECENone, r.BrierNone
	r.AUROCNone, r.ECENone, r.BrierNone = nil, nil, nil
	r.WronglyNone = pointer(shareOf(known, func(odds float64) bool { return odds > 0 }))
	r.WronglyKnown = pointer(shareOf(unseen, func(odds float64) bool { return odds < 0 }))
}

func shareOf(odds []float64, wrong func(float64) bool) float64 {
	n := 0
	for _, v := range odds {
		if wrong(v) {
			n++
		}
	}
	return float64(n) / float64(len(odds))
}

// sessionsTable is one data set: methods down, measures across.
func (r *report) sessionsTable(d dataHeader) *table {
	c := episode.AsPeopleMake()
	t := &table{title: fmt.Sprintf("%s, split %s, sessions of %d to %d classes with %d to %d examples, %d queries and %d of strangers, %d sessions, seed %d", d.Name, r.splitOf(d),
		c.Way.Min, c.Way.Max, c.Shot.Min, c.Shot.Max, c.Queries, c.Queries, r.Tasks*r.Repeat, r.Seed), header: []string{"method"}}
	for _, c := range r.columns() {
		t.header = append(t.header, c.name)
	}
	for _, m := range r.Methods {
		row := []string{r.label(m)}
		for _, c := range r.columns() {
			row = append(row, c.get(r.sessionsOf(m, d.Name)))
		}
		t.add(row...)
	}
	t.note = "accuracy, ECE and NLL are of the taught classes, none of these left out"
	return t
}

// sessionsOf returns the result of a method on a data set, nil without one.
func (r *report) sessionsOf(method, data string) *Result {
	for _, x := range r.on(data) {
		if x.Method == method {
			return x
		}
	}
	return nil
}

// splitOf returns the split that the tasks of a data set were drawn from.
func (r *report) splitOf(d dataHeader) string { return orDefault(d.Split, r.Split) }
