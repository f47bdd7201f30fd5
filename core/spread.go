package metaqda

import (
	"math"
	"slices"
)

// spreadOf is how many examples [Classifier.Unscaled] looks at. More would hardly change deviations.
const spreadOf = 1000

// Unscaled reports whether vectors look like rows of a table whose columns have different units.
// Settings.Scale would help then. Under [Default] and without a scale it asks if the standard
// deviations of columns differ by more than a hundredfold. Constant columns do not count. With more
// than ten columns, neither do the smallest and the largest tenth. With more than 1,000 examples it
// takes about 1,000 at equal steps. Cost O(N), and d for each that it takes.
func (c *Classifier) Unscaled() bool {
	defer c.reading()()
	if c.prior == nil || c.prior.sum != "" || c.settings.Scale != "" {
		return false
	}
	mean, square := make([]float64, c.dim()), make([]float64, c.dim())
	n, at, step := 0.0, 0, (len(c.examples)+spreadOf-1)/spreadOf
	for _, k := range c.classes {
		for _, u := range k.units {
			for _, x := range u.frames {
				if at++; at%step != 0 {
					continue
				}
				n++
				for i, v := range x.Vector { // Welford, 1962
					step := float64(v) - mean[i]
					mean[i] += step / n
					square[i] += step * (float64(v) - mean[i])
				}
			}
		}
	}
	square = slices.DeleteFunc(square, func(s float64) bool { return s == 0 })
	slices.Sort(square)
	aside := (len(square) - 1) / 10
	return len(square) > 1 && math.Sqrt(square[len(square)-1-aside]/square[aside]) > 100
}
