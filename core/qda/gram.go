package qda

import (
	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/niw"
)

// gramSession scores the examples of a session given by their Gram matrix.
type gramSession struct {
	prior  niw.Posterior
	inf    niw.Inference
	gram   blas64.General
	groups []niw.Group
	first  []int // first row of each class
}

// Support holds how a session's own examples score before any calibration: row
// i of e, N×C, has l_j-l_0 of example i under each class, under its own class
// after taking it out. That entry has no meaning where nothing is left of the
// class then.
type Support struct {
	shots []int
	e     []float64

	// Background is that of the [Session]; the caller's to set.
	Background float64
}

// GramSupport returns the scores of a session given by the Gram matrix of its
// whitened examples, N×N, class by class with the given numbers of examples, all
// above zero. It serves evaluation and fitting, where whole data sets are
// whitened at once. Cost O(N Σ_j K_j²).
func GramSupport(prior niw.Posterior, inf niw.Inference, shots []int, gram blas64.General) *Support {
	g := newGramSession(prior, inf, shots, gram)
	s := &Support{shots: append([]int(nil), shots...), e: make([]float64, gram.Rows*len(shots))}
	row := s.e
	for a, k := range shots {
		for i := range k {
			g.score(row[:len(shots)], a, i)
			row = row[len(shots):]
		}
	}
	return s
}

// Session returns what [Classifier] would find for the session.
func (c *Calibration) Session(s *Support) *Session {
	way := len(s.shots)
	u, row := make([]float64, way), s.e
	var v Levels
	for a, k := range s.shots {
		for range k {
			for j, e := range row[:way] {
				u[j] = c.LogOdds(e, s.shots[j])
			}
			without := 0.0
			if k > 1 {
				without = c.LogOdds(row[a], k-1)
			}
			v.Add(u, a, without, k > 1)
			row = row[way:]
		}
	}
	session := v.Session(s.shots)
	session.Background = s.Background
	return session
}

// GramSession returns the session of [GramSupport].
func (c *Calibration) GramSession(prior niw.Posterior, inf niw.Inference, shots []int, gram blas64.General) *Session {
	return c.Session(GramSupport(prior, inf, shots, gram))
}

func newGramSession(prior niw.Posterior, inf niw.Inference, shots []int, gram blas64.General) *gramSession {
	g := &gramSession{prior: prior, inf: inf, gram: gram, groups: make([]niw.Group, len(shots)), first: make([]int, len(shots))}
	at := 0
	for j, k := range shots {
		g.first[j] = at
		g.groups[j].ResetFrom(prior)
		for i := range k {
			g.groups[j].Append(rowOf(gram, at+i)[at : at+i+1])
		}
		at += k
	}
	return g
}

func rowOf(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// score stores the log densities of example i of class a in e, less that under
// the prior; under its own class after taking it out, if anything is left then.
func (g *gramSession) score(e []float64, a, i int) {
	at := g.first[a] + i
	row := rowOf(g.gram, at)
	r2 := row[at]
	l0 := g.prior.LogProb(g.inf, r2)
	for j := range g.groups {
		if k := g.groups[j].Len(); j != a {
			e[j] = g.groups[j].LogProb(g.inf, r2, row[g.first[j]:g.first[j]+k]) - l0
		}
	}
	if g.groups[a].Len() > 1 {
		e[a] = g.groups[a].LogProbWithout(g.inf, i) - l0
	}
}
