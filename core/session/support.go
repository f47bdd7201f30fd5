package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Support holds the scores of a session's own examples, before any calibration. A row is the log
// density of an example under each class, less its log density under an unseen class. The examples
// may be only some of the session's. A burst is one example.
type Support struct {
	Shots   []float64 // C: K_j, the sum of what the examples of class j count, at least 1
	Bursts  []float64 // C: number of bursts of each class, of one picture or more
	Class   []int     // N: class of each example
	Scores  []float64 // N×C: the example left out; minus infinity under its own class if it is the only one there
	Unknown []float64 // N×C: its whole class left out; its own column has no meaning
}

// Way returns C.
func (s *Support) Way() int { return len(s.Shots) }

// left reports whether the class of example i has other examples.
func (s *Support) left(i int) bool { return !math.IsInf(s.Scores[i*s.Way()+s.Class[i]], -1) }

// ratios returns the log density ratios u of all examples, N×C: Scores over the temperature (section
// 2). They are minus infinity if a class has no other example.
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

// scores returns the scores of the examples in two ways. unknown has them with their whole class left
// out, as of unknown queries; with one class it is empty. known has them left out of classes that
// have others, plus own/K of their class, since they score lower than known queries.
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
