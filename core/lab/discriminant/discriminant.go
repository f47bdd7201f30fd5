// Package discriminant has the classifiers of the paper. In MetaQDA each class has a scale matrix
// of its own, in MetaLDA all classes share one. Both average over the posterior (fully Bayesian) or
// take its mode, under a learned or a hand-made prior. Source: Zhang, Meng, Gouk and Hospedales,
// Shallow Bayesian Meta Learning for Real-World Few-Shot Recognition, ICCV 2021. They are methods
// of `metaqda eval`, and `make reproduce` compares them. The page and the packages use core/lda.
package discriminant

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// Classifier has the posteriors of C classes in coordinates whitened by the prior. It is
// not safe for use by several goroutines at once.
type Classifier struct {
	inference niw.Inference
	empty     niw.Posterior // of an unseen class, where each has a scale matrix of its own
	pools     []*pool       // of each class by itself, nil for one without examples; or one of all
	pooled    bool
}

// New returns the classifier of the given classes. The rows of each are its examples, whitened by
// p. nil is a class without examples, whose density is the prior predictive. Cost K² d for a class
// of K examples, or K d² + d³ if K is not below d. With one scale matrix for all, K is the number
// of all examples.
func New(p *niw.Prior, inf niw.Inference, pooled bool, classes []*mat.Dense) *Classifier {
	c := &Classifier{inference: inf, pooled: pooled, empty: niw.Posterior{Dim: p.Dim(), Kappa: p.Kappa, Nu: p.Nu, LogDetS: p.LogDetS()}}
	if pooled {
		c.pools = []*pool{newPool(p, classes)}
		return c
	}
	c.pools = make([]*pool, len(classes))
	for j, x := range classes {
		if x != nil {
			c.pools[j] = newPool(p, classes[j:j+1])
		}
	}
	return c
}

// LogDensitiesTo stores the log density of the whitened query z under each class in dst, of length
// C. It returns the log density under an unseen class. Cost K d + K² for each class of K
// examples, or d²/2; with one scale matrix N d + N², or d²/2, for all N examples.
func (c *Classifier) LogDensitiesTo(dst, z []float64) (none float64) {
	r2 := floats.Dot(z, z)
	if c.pooled {
		q := c.pools[0]
		q.prepare(z)
		for j := range dst {
			dst[j] = q.logProb(j, c.inference, r2)
		}
		return q.logProb(-1, c.inference, r2)
	}
	none = c.empty.LogProb(c.inference, r2)
	for j, q := range c.pools {
		if dst[j] = none; q != nil {
			q.prepare(z)
			dst[j] = q.logProb(0, c.inference, r2)
		}
	}
	return none
}
