package qda

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/niw"
)

// GramBlend is what [Calibration.GramSession] needs for a blended precision: the
// share of the identity, and the Gram matrix of the examples less m that are not
// whitened. The zero GramBlend is none.
type GramBlend struct {
	RegParam float64
	Gram     blas64.General
}

// gramSession scores the examples of a session given by Gram matrices.
type gramSession struct {
	prior  niw.Posterior
	inf    niw.Inference
	gram   blas64.General
	blend  GramBlend
	groups []niw.Group
	first  []int     // first row of each class
	total  []float64 // 1ᵀE1 of each class, E its block of blend.Gram
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
// whitened at once. Cost O(N Σ_j K_j² + Σ_j K_j⁴).
func GramSupport(prior niw.Posterior, inf niw.Inference, shots []int, gram blas64.General, blend GramBlend) *Support {
	g := newGramSession(prior, inf, shots, gram, blend)
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
func (c *Calibration) GramSession(prior niw.Posterior, inf niw.Inference, shots []int, gram blas64.General, blend GramBlend) *Session {
	return c.Session(GramSupport(prior, inf, shots, gram, blend))
}

func newGramSession(prior niw.Posterior, inf niw.Inference, shots []int, gram blas64.General, blend GramBlend) *gramSession {
	g := &gramSession{prior: prior, inf: inf, gram: gram, blend: blend,
		groups: make([]niw.Group, len(shots)), first: make([]int, len(shots)), total: make([]float64, len(shots))}
	at := 0
	for j, k := range shots {
		g.first[j] = at
		g.groups[j].ResetFrom(prior)
		for i := range k {
			g.groups[j].Append(rowOf(gram, at+i)[at : at+i+1])
		}
		for i := 0; blend.RegParam > 0 && i < k; i++ {
			g.total[j] += sum(rowOf(blend.Gram, at+i)[at : at+k])
		}
		at += k
	}
	return g
}

func rowOf(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// score stores the log densities of example i of class a in e, less that under
// the prior; under its own class after taking it out, if anything is left then.
func (g *gramSession) score(e []float64, a, i int) {
	at := g.first[a] + i
	row := rowOf(g.gram, at)
	r2 := row[at]
	q0 := r2
	if g.blend.RegParam > 0 {
		q0 = g.mixed(&g.prior, r2, rowOf(g.blend.Gram, at)[at])
	}
	l0 := g.prior.LogProb(g.inf, q0)
	for j := range g.groups {
		if k := g.groups[j].Len(); j != a {
			e[j] = g.logProb(&g.groups[j], r2, row[g.first[j]:g.first[j]+k], func() float64 { return g.distance(j, at) }) - l0
		}
	}
	n := g.groups[a].Len() - 1
	if n < 1 {
		return
	}
	var loo niw.Group
	loo.CopyFrom(&g.groups[a])
	loo.Remove(i)
	cross := append(append(make([]float64, 0, n), row[g.first[a]:at]...), row[at+1:g.first[a]+n+1]...)
	e[a] = g.logProb(&loo, r2, cross, func() float64 { return withoutOne(g.distance(a, at), g.groups[a].Posterior().Kappa) }) - l0
}

// logProb is [niw.Group.LogProb] with the blend; e gives |x-m_j|² and is called
// for a blend only.
func (g *gramSession) logProb(group *niw.Group, r2 float64, cross []float64, e func() float64) float64 {
	q := group.Quad(r2, cross)
	if g.blend.RegParam > 0 {
		post := group.Posterior()
		q = g.mixed(&post, q, e())
	}
	return group.LogProbAt(g.inf, q)
}

func (g *gramSession) mixed(post *niw.Posterior, q, e float64) float64 {
	return post.Blend(g.inf, g.blend.RegParam, q, e)
}

// distance returns |x-m_j|² of the example in row at,
//
//	E_ii - 2 (E1)_i/kappa_j + 1ᵀE1/kappa_j²
//
// with the sums over class j.
func (g *gramSession) distance(j, at int) float64 {
	row, first, kj := rowOf(g.blend.Gram, at), g.first[j], g.groups[j].Posterior().Kappa
	s := sum(row[first : first+g.groups[j].Len()])
	return math.Max(row[at]-2*s/kj+g.total[j]/(kj*kj), 0)
}
