package metaqda

import "metaqda/core/model"

// needs estimates the bytes for N examples of C classes of length d: vectors, whitened vectors
// and the densities, class means and the factor of [lda.Classifier]. Half of it is room for growth.
func needs(examples, classes, d int) int {
	return 2 * (examples*(12*d+400) + densities(examples, classes, d))
}

func densities(examples, classes, d int) int {
	order := min(max(0, examples-classes), d)
	bytes := classes*24*d + 8*order*(order+classes)
	if order < d {
		bytes += 8 * order * d
	}
	return bytes
}

// cloning estimates the bytes that [Classifier.Clone] takes, with a later change that copies the
// shared parts of the densities.
func (c *Classifier) cloning() int {
	return 400*len(c.examples) + densities(len(c.examples), len(c.classes), c.dim())
}

// asking estimates the bytes that a batch of n vectors of length d takes.
func (c *Classifier) asking(n, d int) int {
	return n * (8*(2*d+min(d, c.Count())+6*c.Len()) + 400)
}

// fits returns nil if n examples of length d fit, or the [Error] that AddAll returns for them.
func (c *Classifier) fits(n, d int) error {
	if n > model.MaxExamples-len(c.examples) { // the sum may be too large for an int
		return tooMany(model.MaxExamples, "examples")
	}
	all, classes := len(c.examples)+n, len(c.classes)
	return c.reserve(needs(all, classes, d) - needs(len(c.examples), classes, d))
}

// reserve asks Reserve for memory.
func (c *Classifier) reserve(bytes int) error {
	if c.Reserve == nil || bytes <= 0 {
		return nil
	}
	return c.Reserve(bytes)
}
