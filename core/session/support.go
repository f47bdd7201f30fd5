package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Support holds the scores of a session's own examples, before any calibration. A row is the log
// density of an example under each class less that under the prior predictive. The examples may be
// a part of the session's; a burst counts as one.
type Support struct {
	Shots   []float64 // K_j of the C classes, what their examples count, at least one each
	Bursts  []float64 // their number of each class, a frame or many
	Class   []int     // of each of the N examples
	Scores  []float64 // N×C, the example left out; minus infinity for an only one under its own class
	Unknown []float64 // N×C, its class left out of the session's mean; without meaning under that
}

// Way returns C.
func (s *Support) Way() int { return len(s.Shots) }

// left reports whether the class of example i has others.
func (s *Support) left(i int) bool { return !math.IsInf(s.Scores[i*s.Way()+s.Class[i]], -1) }

// ratios returns the calibrated log density ratios u of all examples, N×C (section
// 1): minus infinity where nothing is left of a class.
func (s *Support) ratios(p *Population) []float64 {
	u, slope := make([]float64, len(s.Scores)), 1/p.Temperature()
	for i, e := range s.Scores {
		u[i] = slope * e
	}
	return u
}

// score returns s = ln 1/C Σ_j exp(u_j), the evidence that a query is known.
func score(u []float64) float64 {
	return floats.LogSumExp(u) - math.Log(float64(len(u)))
}

// scores returns the scores of the examples in two ways. Without their own class they score as
// unknowns do. Left out of a class that has others, they score as known ones do. The latter are
// corrected for the effect of leaving them out.
func (s *Support) scores(p *Population, u []float64, own float64) (unknown, known []float64) {
	c := s.Way()
	row, slope := make([]float64, c), 1/p.Temperature()
	for i, y := range s.Class {
		if s.left(i) {
			known = append(known, score(u[i*c:(i+1)*c])+own/s.Shots[y])
		}
		if c > 1 {
			floats.ScaleTo(row, slope, s.Unknown[i*c:(i+1)*c])
			row[y] = math.Inf(-1)
			unknown = append(unknown, floats.LogSumExp(row)-math.Log(float64(c-1)))
		}
	}
	return unknown, known
}
