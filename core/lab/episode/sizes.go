package episode

import (
	"math/rand/v2"
	"slices"
)

// sizes returns the number of queries of each class. Their mean is query.
func (s *Uniform) sizes(rng *rand.Rand, classes []int, query int) []int {
	if s.most == nil {
		return slices.Repeat([]int{query}, len(classes))
	}
	most := make([]int, len(classes))
	for j, c := range classes {
		most[j] = s.most[c]
	}
	return shareOut(query*len(classes), dirichlet(rng, len(classes), s.c.Concentration), most)
}

// dirichlet draws n shares that sum to one from the symmetric Dirichlet distribution with a whole
// parameter. They are Gamma variables divided by their sum. A Gamma variable is a sum of exponential
// ones.
func dirichlet(rng *rand.Rand, n, parameter int) []float64 {
	shares, sum := make([]float64, n), 0.0
	for j := range shares {
		for range parameter {
			shares[j] += rng.ExpFloat64()
		}
		sum += shares[j]
	}
	for j := range shares {
		shares[j] /= sum
	}
	return shares
}

// shareOut returns whole numbers that sum to n, in proportion to shares. It adds n ones, each to the
// number that is farthest below its share. Number j is at most most[j]. The sum of most must be at
// least n.
func shareOut(n int, shares []float64, most []int) []int {
	sizes := make([]int, len(shares))
	for range n {
		best := -1
		lacks := func(j int) float64 { return float64(n)*shares[j] - float64(sizes[j]) }
		for j := range sizes {
			if sizes[j] < most[j] && (best < 0 || lacks(j) > lacks(best)) {
				best = j
			}
		}
		sizes[best]++
	}
	return sizes
}

// mostQueries returns how many queries class c can supply if it has shot support rows, but at least
// least.
func (p *Pool) mostQueries(c, shot, least int) int {
	n := max(len(p.Rows[c])-shot, least)
	for n > least && p.mostSupport(c, n) < shot {
		n--
	}
	return n
}
