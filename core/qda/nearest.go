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
// Cost d² for whitening, d for each picture.
func (c *Classifier) Nearest(x []float64, n int) ([]Neighbour, error) {
	if _, err := c.whiten(x); err != nil {
		return nil, err
	}
	var all []Neighbour
	for _, k := range c.taught {
		first := len(all)
		for b := range k.count() {
			all = append(all, Neighbour{Label: k.label, Distance: math.Inf(1), Picture: b})
		}
		for i := range k.pictures() {
			if at, d := &all[first+k.of[i]], distance(k.picture(i), c.z); d < at.Distance {
				at.Picture, at.Distance = i, d
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Neighbour) int { return cmp.Compare(a.Distance, b.Distance) })
	return all[:min(max(n, 0), len(all))], nil
}

// distance returns |x - y|.
func distance(x, y []float64) float64 {
	var s float64
	for i, v := range x {
		s += (v - y[i]) * (v - y[i])
	}
	return math.Sqrt(s)
}
