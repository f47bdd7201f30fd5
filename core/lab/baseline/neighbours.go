package baseline

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// Neighbours is K-nearest-neighbours: the fraction of a class among the K support rows nearest to
// the query by Euclidean distance. On rows of length one this is the order of their cosines.
//
// score_c = log(votes_c / K), log 1e-12 for a class without a vote. With AtMostShot, among classes of
// equal votes the one with the nearest row wins. Otherwise the first one wins, as in the KNN classifier
// of TensorFlow.js.
type Neighbours struct {
	K          int  // at least 1
	AtMostShot bool // K is at most the rows of the smallest class

	t Task
	k int
}

// Fit keeps the support. It panics if K is below 1.
func (m *Neighbours) Fit(t Task) error {
	t.check()
	checkNeighbours(m.K)
	m.t = t
	m.k = min(m.K, len(t.Labels))
	if m.AtMostShot {
		_, count := t.means()
		for _, n := range count {
			m.k = max(1, min(m.k, n))
		}
	}
	return nil
}

// ScoresTo stores the logarithms of the fractions of the votes.
func (m *Neighbours) ScoresTo(dst, queries *mat.Dense) {
	q, _ := queries.Dims()
	n := len(m.t.Labels)
	order, distance := make([]int, n), make([]float64, n)
	for i := range q {
		for s := range n {
			order[s] = s
			distance[s] = squaredDistance(queries.RawRowView(i), m.t.Support.RawRowView(s))
		}
		sort.SliceStable(order, func(a, b int) bool { return distance[order[a]] < distance[order[b]] })
		m.vote(dst.RawRowView(i), order[:m.k])
	}
}

// tieBreak/2^r is added to the votes of the class of the r-th nearest row, r from 0. Among classes
// with equal votes the one with the nearest row then wins. It is too small to matter as a
// probability.
const tieBreak = 1e-9

func (m *Neighbours) vote(scores []float64, nearest []int) {
	clear(scores)
	for _, s := range nearest {
		scores[m.t.Labels[s]]++
	}
	if m.AtMostShot {
		for r, s := range nearest {
			scores[m.t.Labels[s]] += math.Ldexp(tieBreak, -r)
		}
	}
	for c, v := range scores {
		scores[c] = math.Log(math.Max(v/float64(len(nearest)), 1e-12))
	}
}
