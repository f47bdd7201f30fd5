package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Support is what a session's own examples say, before any calibration. Row i
// has the log density of example i under each class less that under the prior
// predictive, under its own class after taking it out. The examples may be a part
// of the session's; a burst counts as one.
type Support struct {
	Shots  []float64 // K_j of the C classes, at least one each
	Class  []int     // of each of the N examples
	Scores []float64 // N×C; without meaning for an only example under its own class
}

// Way returns C.
func (s *Support) Way() int { return len(s.Shots) }

// left reports whether anything is left of the class of example i without it.
func (s *Support) left(i int) bool { return s.Shots[s.Class[i]] > 1 }

// ratios returns the calibrated log density ratios u of all examples, N×C (section
// 1): minus infinity where nothing is left of a class.
func (s *Support) ratios(p *Population) []float64 {
	c := s.Way()
	u, slope := make([]float64, len(s.Scores)), 1/p.Temperature()
	for i, e := range s.Scores {
		u[i] = slope * e
	}
	for i, y := range s.Class {
		if !s.left(i) {
			u[i*c+y] = math.Inf(-1)
		}
	}
	return u
}

// score returns s = ln 1/C Σ_j exp(u_j), what is known of a query beside its
// class.
func score(u []float64) float64 {
	return floats.LogSumExp(u) - math.Log(float64(len(u)))
}

// scores returns those of the examples without their own class, as unknowns
// score, and of those that leave something of their class, as known ones do, both
// corrected for what leaving out does to them.
func (s *Support) scores(u []float64, left LeftOut) (unknown, known []float64) {
	c := s.Way()
	row := make([]float64, c)
	for i, y := range s.Class {
		copy(row, u[i*c:])
		if s.left(i) {
			known = append(known, score(row)+left.Own/s.Shots[y])
		}
		if c > 1 {
			row[y] = math.Inf(-1)
			unknown = append(unknown, floats.LogSumExp(row)-math.Log(float64(c-1))+left.Class/float64(c))
		}
	}
	return unknown, known
}
