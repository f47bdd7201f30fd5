package qda

import (
	"cmp"
	"math"
	"slices"
)

// Neighbour is a taught picture beside a query.
type Neighbour struct {
	Label    string
	Picture  int     // of the class, in the order added
	Distance float64 // Euclidean, of whitened embeddings
}

// Nearest returns the n taught pictures closest to x by whitened distance
//
//	|W (x - p)|,  W' W = S⁻¹
//
// the closest first; fewer where there are fewer. Of the frames of a burst, which
// are nearly the same, only the closest counts. Ties go to what was taught first. It
// returns a *[niw.DimensionError] or *[niw.ValueError] about x.
//
// Cost d² for whitening, at most d for each picture.
func (c *Classifier) Nearest(x []float64, n int) ([]Neighbour, error) {
	if err := c.whiten(x); err != nil {
		return nil, err
	}
	n = max(n, 0)
	var best, own []Neighbour // the closest so far with those not compared yet; one for each burst of a class
	bound := math.Inf(1)      // the n-th of them
	sift := func() {
		slices.SortStableFunc(best, func(a, b Neighbour) int { return cmp.Compare(a.Distance, b.Distance) })
		if best = best[:min(n, len(best))]; n > 0 && len(best) == n {
			bound = best[n-1].Distance
		}
	}
	for _, k := range c.taught {
		own = own[:0]
		for b := range k.count() {
			own = append(own, Neighbour{Label: k.label, Distance: math.Inf(1), Picture: b})
		}
		for i := range k.pictures() {
			if at, d := &own[k.of[i]], distance(k.picture(i), c.z, bound); d < at.Distance {
				at.Picture, at.Distance = i, d
			}
		}
		for _, one := range own {
			if one.Distance <= bound {
				best = append(best, one)
			}
		}
		if len(best) > 2*n+64 {
			sift()
		}
	}
	sift()
	return best, nil
}

// distance returns |x - y|, or infinity for one that is found to be above a bound.
func distance(x, y []float64, bound float64) float64 {
	const piece = 64
	most := bound * bound
	var s float64
	for ; len(x) > piece; x, y = x[piece:], y[piece:] {
		for i, v := range x[:piece] {
			s += (v - y[i]) * (v - y[i])
		}
		if s > most {
			return math.Inf(1)
		}
	}
	for i, v := range x {
		s += (v - y[i]) * (v - y[i])
	}
	return math.Sqrt(s)
}
