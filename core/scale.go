package metaqda

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"

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

// standardise updates the means and deviations of the columns after examples changed; see [shrunk].
// The frames of a group together count as one example, and so does each row of a batch: its rows say
// how far columns spread, which few examples hardly do. Cost O(N d), and that of teaching all
// examples anew.
func (c *Classifier) standardise() {
	if !c.unscaled() {
		return
	}
	d, n, units := c.dim(), 0.0, 0
	mean, scale := make([]float64, d), make([]float64, d)
	var first []float32                       // the origin, about which a constant column is zero
	count := func(row []float32, w float64) { // West, 1979
		if first == nil {
			first = row
		}
		n += w
		for i, v := range row {
			x := float64(v) - float64(first[i])
			step := w * (x - mean[i])
			mean[i] += step / n
			scale[i] += step * (x - mean[i])
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
	for i, v := range first {
		mean[i] += float64(v)
		scale[i] /= n
	}
	varying := 0.0
	for i, v := range shrunk(mean, scale, n) {
		if scale[i] = 0; v > 0 {
			scale[i] = 1 / math.Sqrt(v)
			varying++
		}
	}
	file := *c.prior.file
	file.Transform.Mean, file.Transform.Scale, file.Transform.Constant = mean, scale, math.Sqrt(max(1, varying))
	if units < 2 {
		file.Transform.Mean, file.Transform.Scale = nil, nil // one example has no deviation
		file.Transform.Constant = math.Sqrt(float64(d))
	}
	defer func(later bool) { c.later = later }(c.later)
	c.later = true                          // many examples are enrolled in pieces
	_ = c.replacePrior(&Prior{file: &file}) // on numbers too large for it the old scale stays
	c.moved = false
}

// leastTau2 is the least τ² of [shrunk]. On fifteen tables .02 to 2 make little difference.
const leastTau2 = 0.25

// shrunk returns better variances of columns than the s² of n examples, n > 1, which are noisy if
// n is small. Columns of measurements often vary in proportion to their size, so
//
//	ln s² ~ N(θ, ψ'((n-1)/2)),   θ ~ N(ln(m² + s²) + b, τ²),   m the mean of the column
//
// with b and τ² of all columns that vary: b is the mean of ln s² - ln(m² + s²), and τ² is the variance
// of that less ψ'. A variance becomes e^E(θ). The more columns differ in that ratio, the less they
// change. The method is that of Smyth (Statistical Applications in Genetics and Molecular Biology 3,
// 2004), who shrinks log variances to one value. It works in place; a column that does not vary stays
// at 0. Measured in core/lab/experiment/RESULTS.md. Cost O(d).
func shrunk(mean, variances []float64, n float64) []float64 {
	size := func(i int) float64 { return math.Log(mean[i]*mean[i] + variances[i]) }
	var ratios []float64
	for i, v := range variances {
		if v > 0 {
			ratios = append(ratios, math.Log(v)-size(i))
		}
	}
	b, spread := stat.PopMeanVariance(ratios, nil)
	x := math.Max(n-1, 1) / 2
	noise := (1 + (1+1/(3*x))/(2*x)) / x // of ψ'(x) three terms: 8 % too much at n = 2, 1 % at n = 3
	tau2 := math.Max(leastTau2, spread-noise)
	for i, v := range variances {
		if v > 0 {
			variances[i] = math.Exp((tau2*math.Log(v) + noise*(size(i)+b)) / (tau2 + noise))
		}
	}
	return variances
}
