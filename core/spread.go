package metaqda

import (
	"math"
	"slices"
)

// fewColumns is the largest number of columns that counts as few: a direction among them says little.
// Word vectors have more.
const fewColumns = 32

// mostColumns is the largest number of columns whose deviations are compared. Longer vectors come from
// networks. After a ReLU most columns are nearly always zero. Then the deviations among a few pictures
// of one class also differ a hundredfold: in 5 of 6 classes of steel_defects with five examples.
const mostColumns = 256

// spreadOf is the number of examples that [Classifier.Unscaled] uses. More would hardly change
// deviations.
const spreadOf = 1000

// Unscaled reports whether vectors look like rows of a table. Settings.Scale would help then. Under
// [Default] and without a scale it asks two questions. First, for vectors of at most 256 numbers: do the
// standard deviations of the columns differ by more than a hundredfold? Columns in different units do.
// Second, for vectors of at most 32 numbers: do their lengths differ by more than fourfold? Without a
// scale only directions count, and then they say too little. Constant columns do not count. With
// more than ten columns or vectors, the smallest and the largest tenth do not count. With more than
// 1,000 examples it uses 500 to 1,000 at equal steps. Cost O(N), and d for each used example.
func (c *Classifier) Unscaled() bool {
	defer c.reading()()
	if c.prior == nil || c.prior.sum != "" || c.settings.Scale != "" {
		return false
	}
	mean, square := make([]float64, c.dim()), make([]float64, c.dim())
	var lengths []float64 // squared
	n, at, step := 0.0, 0, (len(c.examples)+spreadOf-1)/spreadOf
	for _, k := range c.classes {
		for _, u := range k.units {
			for _, x := range u.frames {
				if at++; at%step != 0 {
					continue
				}
				n++
				squared := 0.0
				for i, v := range x.Vector { // Welford, 1962
					squared += float64(v) * float64(v)
					step := float64(v) - mean[i]
					mean[i] += step / n
					square[i] += step * (float64(v) - mean[i])
				}
				lengths = append(lengths, squared)
			}
		}
	}
	square = slices.DeleteFunc(square, func(s float64) bool { return s == 0 })
	return len(mean) <= mostColumns && differ(square, 100) || len(mean) <= fewColumns && differ(lengths, 4)
}

// differ reports whether the square roots of numbers differ by more than a factor, apart from the
// smallest and the largest tenth of more than ten.
func differ(squares []float64, factor float64) bool {
	slices.Sort(squares)
	aside := (len(squares) - 1) / 10
	return len(squares) > 1 && math.Sqrt(squares[len(squares)-1-aside]) > factor*math.Sqrt(squares[aside])
}
