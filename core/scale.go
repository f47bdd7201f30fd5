package metaqda

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metaqda/core/embed"
	"metaqda/core/model"
)

// checkScale returns an error for an unknown scale, or for a scale under a learned prior p.
func checkScale(s Settings, p *Prior) error {
	switch {
	case s.Scale != "" && s.Scale != model.Standardise:
		return &Error{Code: "value", Message: "There is no scale " + strconv.Quote(s.Scale) + ": give " + strconv.Quote(model.Standardise) + ", or leave it out."}
	case s.Scale != "" && p != nil && p.sum != "":
		return &Error{Code: "value", Message: "Under a learned prior vectors cannot be standardised, since it was learned from unchanged vectors: leave out the prior or the scale."}
	}
	return nil
}

// unscaled reports whether columns must be standardised anew.
func (c *Classifier) unscaled() bool { return c.settings.Scale != "" && c.moved }

// standardise finds the transform of [Classifier.columns] anew after examples changed. The frames of a
// group together count as one example, and so does each row of a batch. Such rows show how far columns
// spread; few examples hardly do. It costs O(N d), and as much as teaching all examples anew.
func (c *Classifier) standardise() {
	if !c.unscaled() {
		return
	}
	file := *c.prior.file
	file.Transform = c.columns()
	defer func(later bool) { c.later = later }(c.later)
	c.later = true                          // many examples are enrolled in pieces
	_ = c.replacePrior(&Prior{file: &file}) // if numbers are too large for it, the old scale stays
	c.moved = false
}

// columns returns the transform that standardises the examples' columns. If no number of them is
// negative, as of counts and sizes, each x of a column with the mean μ first becomes
//
//	v = (x/μ + ½)^¼
//
// which is near to a logarithm: such columns often have a long tail of large numbers. Then the
// column's mean is subtracted, and the rest divided by its deviation; see [shrunk] and
// [Classifier.within]. Measured in core/session/EXPERIMENTS.md.
func (c *Classifier) columns() embed.Transform {
	d := c.dim()
	least := float32(math.Inf(1))
	units := c.eachRow(func(row []float32, _ float64) { least = min(least, slices.Min(row)) })
	t := embed.Transform{Kind: embed.L2, Constant: math.Sqrt(float64(d))}
	if units < 2 { // one example has no deviation
		return t
	}
	value := func(_ int, x float64) float64 { return x }
	raw := momentsOf(c.eachRow, value)
	of := raw
	if least >= 0 {
		value = func(i int, x float64) float64 { return tailless(x, raw.mean[i]) }
		of = momentsOf(c.eachRow, value)
	}
	varying := 0.0
	t.Mean, t.Scale = of.mean, c.within(shrunk(of, raw), value)
	for i, v := range t.Scale {
		if v > 0 {
			t.Scale[i] = 1 / math.Sqrt(v)
			varying++
		}
	}
	t.Constant = math.Sqrt(max(1, varying))
	if least >= 0 { // s v = (s⁴ (x + μ/2)/μ)^¼
		t.Kind, t.Power, t.Centre, t.Mean = embed.CL2N, tailPower, make([]float64, d), raw.mean
		for i, s := range t.Scale {
			t.Centre[i] = s * of.mean[i]
			if s > 0 {
				t.Scale[i] = s * s * s * s / t.Mean[i]
			}
			t.Mean[i] *= -0.5
		}
	}
	return t
}

const tailPower = 0.25 // of v

// tailless returns v of an x >= 0 for [Classifier.columns].
func tailless(x, mean float64) float64 {
	if mean == 0 {
		return 0
	}
	return math.Sqrt(math.Sqrt(x/mean + 0.5))
}

// eachRow calls f with each example and its weight, and with the rows of a batch. It returns how many
// count.
func (c *Classifier) eachRow(f func(row []float32, w float64)) (units int) {
	for _, k := range c.classes { // in their order, to get the same bits
		units += k.eachRow(f)
	}
	d := c.dim()
	for at := 0; at < len(c.beside); at += d {
		units++
		f(c.beside[at:at+d], 1)
	}
	return units
}

// eachRow is [Classifier.eachRow] of the examples of one class.
func (k *class) eachRow(f func(row []float32, w float64)) (units int) {
	for _, u := range k.units {
		for _, x := range u.frames {
			f(x.Vector, 1/float64(len(u.frames)))
		}
	}
	return len(k.units)
}

// moments are weighted means and variances of columns.
type moments struct {
	n              float64
	mean, variance []float64
}

// momentsOf returns those of the numbers that value makes of rows, by West's updates (1979).
func momentsOf(each func(func(row []float32, w float64)) int, value func(column int, x float64) float64) (m moments) {
	each(func(row []float32, w float64) {
		if m.n += w; m.mean == nil { // about the first row a constant column does not vary at all
			m.mean, m.variance = make([]float64, len(row)), make([]float64, len(row))
			for i, x := range row {
				m.mean[i] = value(i, float64(x))
			}
		}
		for i, x := range row {
			v := value(i, float64(x))
			step := w * (v - m.mean[i])
			m.mean[i] += step / m.n
			m.variance[i] += step * (v - m.mean[i])
		}
	})
	floats.Scale(1/m.n, m.variance)
	return m
}

// countOfTotal is how many degrees of freedom the variance of all examples counts in
// [Classifier.within]. From 10 to 40 it makes little difference.
const countOfTotal = 20

// within moves the variances t of columns toward the variances within the classes. A column that tells
// classes apart varies more between them than within. The new variance is
//
//	(ν t + W/r)/(ν + n),   ν = countOfTotal
//
// W is the sum of squares within the classes. It has n degrees of freedom. r is the geometric mean of
// W/(n t) over the columns. within works in place. Cost O(N d).
func (c *Classifier) within(t []float64, value func(column int, x float64) float64) []float64 {
	w, n := make([]float64, len(t)), 0.0
	for _, k := range c.classes {
		if m := momentsOf(k.eachRow, value); m.n > 1 {
			floats.AddScaled(w, m.n, m.variance)
			n += m.n - 1
		}
	}
	var logs []float64
	for i, v := range t {
		if v > 0 && w[i] > 0 {
			logs = append(logs, math.Log(w[i]/v))
		}
	}
	if len(logs) == 0 {
		return t
	}
	r := math.Exp(stat.Mean(logs, nil)) / n
	for i, v := range t {
		if v > 0 {
			t[i] = (countOfTotal*v + w[i]/r) / (countOfTotal + n)
		}
	}
	return t
}

// leastTau2 is the least τ² of [shrunk]. On fifteen tables .02 to 2 make little difference.
const leastTau2 = 0.25

// taylor is a of [shrunk]. From .1 to .2 it makes little difference on 46 tables.
const taylor = 0.15

// shrunk returns better variances of columns than the s² of few examples, which are noisy. Numbers vary
// more in columns where they are larger, but not quite in proportion (Taylor, Nature 189, 1961). So with
// n > 1 examples
//
//	ln s² ~ N(θ, ψ'((n-1)/2)),   θ ~ N(ln(m² + s²) - a ln M² + b, τ²)
//
// where of has the mean m of the column, and M² is its mean square in raw, before any transform. b and τ²
// are of all columns that vary: b is the mean of ln s² - ln(m² + s²) + a ln M², and τ² is the variance of
// that less ψ'. A variance becomes e^E(θ). Hence columns of larger numbers count more while examples are
// few. Smyth (Statistical Applications in Genetics and Molecular Biology 3, 2004) shrinks log
// variances in this way, but to one value. shrunk works in place; a column that does not vary stays
// at 0. Measured in core/session/EXPERIMENTS.md. Cost O(d).
func shrunk(of, raw moments) []float64 {
	sizes := make([]float64, len(of.mean))
	var ratios []float64
	for i, v := range of.variance {
		if v > 0 {
			sizes[i] = math.Log(of.mean[i]*of.mean[i]+v) - taylor*math.Log(raw.mean[i]*raw.mean[i]+raw.variance[i])
			ratios = append(ratios, math.Log(v)-sizes[i])
		}
	}
	b, spread := stat.PopMeanVariance(ratios, nil)
	x := math.Max(raw.n-1, 1) / 2
	noise := (1 + (1+1/(3*x))/(2*x)) / x // of ψ'(x) three terms: 8 % too much at n = 2, 1 % at n = 3
	tau2 := math.Max(leastTau2, spread-noise)
	for i, v := range of.variance {
		if v > 0 {
			of.variance[i] = math.Exp((tau2*math.Log(v) + noise*(sizes[i]+b)) / (tau2 + noise))
		}
	}
	return of.variance
}
