package metaqda

import (
	"math"
	"strconv"

	"metaqda/core/model"
)

// checkScale returns an error for an unknown scale, or for a scale under a learned prior p.
func checkScale(s Settings, p *Prior) error {
	switch {
	case s.Scale != "" && s.Scale != model.Standardise:
		return &Error{Code: "value", Message: "There is no scale " + strconv.Quote(s.Scale) + ": give " + strconv.Quote(model.Standardise) + ", or leave it out."}
	case s.Scale != "" && p != nil && p.sum != "":
		return &Error{Code: "value", Message: "Under a learned prior vectors are not standardised, since it was learned from vectors as they are: leave out the prior or the scale."}
	}
	return nil
}

// unscaled reports whether columns must be standardised anew.
func (c *Classifier) unscaled() bool { return c.settings.Scale != "" && c.moved }

// standardise updates the means and deviations of the columns after examples changed. The frames of
// a group together count as one example, and so does each row of a batch: its rows say how far
// columns spread, which few examples hardly do. Cost O(N d), and that of teaching all examples anew.
func (c *Classifier) standardise() {
	if !c.unscaled() {
		return
	}
	d, n, units := c.dim(), 0.0, 0
	mean, scale := make([]float64, d), make([]float64, d)
	count := func(row []float32, w float64) { // West, 1979
		n += w
		for i, v := range row {
			step := w * (float64(v) - mean[i])
			mean[i] += step / n
			scale[i] += step * (float64(v) - mean[i])
		}
	}
	for _, k := range c.classes { // in their order, to get the same bits
		for _, u := range k.units {
			units++
			for _, x := range u.frames {
				count(x.Vector, 1/float64(len(u.frames)))
			}
		}
	}
	for at := 0; at < len(c.beside); at += d {
		units++
		count(c.beside[at:at+d], 1)
	}
	for i, v := range scale {
		if scale[i] = 0; v > 0 {
			scale[i] = 1 / math.Sqrt(v/n)
		}
	}
	file := *c.prior.file
	if file.Transform.Mean, file.Transform.Scale = mean, scale; units < 2 {
		file.Transform.Mean, file.Transform.Scale = nil, nil // one example has no deviation
	}
	_ = c.replacePrior(&Prior{file: &file}) // on numbers too large for it the old scale stays
	c.moved = false
}
