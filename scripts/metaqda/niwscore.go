package main

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/session"
)

// niwScorer scores episodes of a whitened data set by the classifier that the page
// uses.
type niwScorer struct {
	space   *space
	niw     *niw.Prior    // by which the rows are whitened
	prior   niw.Posterior // of an empty class
	options qda.Options
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-300

func (s *niwScorer) score(w *workspace, dst *mat.Dense, none []float64) (bool, error) {
	c, err := qda.New(s.niw.Whitened(), s.options)
	if err != nil {
		return false, err
	}
	for j, rows := range w.e.Support {
		label := strconv.Itoa(j)
		if err := c.AddClass(label); err != nil {
			return false, err
		}
		for _, i := range rows {
			if err := c.Add(label, s.space.row(i)); err != nil {
				return false, err
			}
		}
	}
	for i, row := range w.e.Query {
		p := dst.RawRowView(i)
		none[i], err = c.ProbabilitiesTo(p, s.space.row(row))
		if err != nil {
			return false, err
		}
		known := 0.0
		for j, v := range p {
			known += v
			p[j] = math.Log(math.Max(v, leastProbability))
		}
		none[i] = math.Log(math.Max(none[i], leastProbability)) - math.Log(math.Max(known, leastProbability))
	}
	return true, nil
}

// population returns that of the options, or Bayes' rule.
func (s *niwScorer) population() *session.Population {
	if p := s.options.Population; p != nil {
		return p
	}
	return session.Bayes()
}
