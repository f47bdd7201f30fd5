package qda

import (
	"math"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// LogDensitiesTo stores the log density of x under each class in dst, of length
// C, and returns that under a class never seen. Classes without examples get
// the latter too. Where Options.Shared is positive the latter is 0 and the others are
// differences to it, the e_j of MODEL.md. Errors and cost are those of
// [Classifier.ProbabilitiesTo].
func (c *Classifier) LogDensitiesTo(dst, x []float64) (none float64, err error) {
	if len(dst) != len(c.classes) {
		panic("qda: destination of wrong length")
	}
	q, err := c.query(x)
	if err != nil {
		return 0, err
	}
	return c.densities(dst, q), nil
}

// query whitens x, in part where that is enough.
func (c *Classifier) query(x []float64) (q point, err error) {
	c.settle()
	q.z = c.z
	if len(c.a) == 0 || c.options.Pooled || c.dense || c.shared != nil {
		q.r2, err = c.whiten(x)
	} else if err = niw.CheckVector("embedding", x, c.Dim()); err == nil {
		q.a = c.a
		q.r2, err = checkedNorm2(c.prior.WhitenPartTo(c.z, c.a, x))
	}
	if err == nil {
		q.along = c.centre.along(q.z, q.a)
	}
	return q, err
}

// densities scores a whitened query.
func (c *Classifier) densities(dst []float64, q point) (none float64) {
	if c.shared != nil {
		c.shared.scoresTo(c.work.u, c.taught, q.z)
		for i, j := 0, 0; i < len(c.classes); i++ {
			dst[i] = 0
			if c.classes[i].count() > 0 {
				dst[i] = c.work.u[j]
				j++
			}
		}
		return 0
	}
	if c.options.Pooled && len(c.taught) > 0 {
		return c.pooledDensities(dst, q)
	}
	none = c.empty.LogProb(c.options.Inference, c.centre.r2(q))
	for i, k := range c.classes {
		dst[i] = none
		if k.count() > 0 {
			dst[i] = k.logProb(c, q)
		}
	}
	return none
}

func (c *Classifier) pooledDensities(dst []float64, q point) (none float64) {
	if c.pool == nil {
		c.pool = newPool(c.prior, c.taught)
	}
	inf := c.options.Inference
	c.pool.prepare(q.z)
	none = c.pool.logProb(-1, inf, q.r2)
	taught := 0
	for i, k := range c.classes {
		dst[i] = none
		if k.count() > 0 {
			dst[i] = c.pool.logProb(taught, inf, q.r2)
			taught++
		}
	}
	return none
}

// ProbabilitiesTo stores p(y=j | x) in dst, of length C in the order of
// [Classifier.Labels], and returns the probability that x belongs to none of
// the classes. They sum to one; classes without examples get zero. It returns
// [ErrNoExamples] when all classes are empty, and a *[niw.DimensionError] or a
// *[niw.ValueError] for an x that is not a finite embedding of length d.
//
// Cost, in multiply-adds, 2 r d to whiten x with a spiked prior of rank r, or d²/2, and for
// ρ = N-C residuals of N examples in C classes ρ d + ρ²/2 + C (d+ρ), from ρ = d on
// d²/2 + C d. Where Options.Shared is 0 it is r d + N (d+r), or d²/2 + N d. Nothing is
// allocated once the classifier has settled.
func (c *Classifier) ProbabilitiesTo(dst, x []float64) (none float64, err error) {
	if len(dst) != len(c.classes) {
		panic("qda: destination of wrong length")
	}
	if len(c.taught) == 0 {
		if err := niw.CheckVector("embedding", x, c.Dim()); err != nil {
			return 0, err
		}
		return 0, ErrNoExamples
	}
	posterior := c.Session() // before the query takes the scratch space
	q, err := c.query(x)
	if err != nil {
		return 0, err
	}
	return c.probabilities(dst, posterior, q), nil
}

// probabilities answers a whitened query of a classifier that has settled.
func (c *Classifier) probabilities(dst []float64, posterior *session.Posterior, q point) (none float64) {
	w := &c.work
	l0 := c.densities(c.logits, q)
	for i, j := 0, 0; i < len(c.classes); i++ {
		if k := c.classes[i]; k.count() > 0 {
			w.u[j] = k.slope*(c.logits[i]-l0) + k.offset
			j++
		}
	}
	none = posterior.ProbabilitiesTo(w.p, w.u, w.logPrior, c.options.NonePrior, w.scratch)
	for i, j := 0, 0; i < len(c.classes); i++ {
		dst[i] = 0
		if c.classes[i].count() > 0 {
			dst[i] = w.p[j]
			j++
		}
	}
	return none
}

// Session returns what the session's own examples say of it, brought up to date
// after a change: the posterior over which [Classifier.ProbabilitiesTo] averages.
// With Options.Pooled it keeps to the population. It panics without examples. Cost
// that of [Classifier.Support], and of [session.Population.Infer].
func (c *Classifier) Session() *session.Posterior {
	c.settle()
	if c.posterior == nil {
		s := c.Support()
		if c.options.Pooled {
			s = &session.Support{Shots: s.Shots}
		}
		c.posterior = c.population().Infer(s)
	}
	return c.posterior
}

// population returns that of the options, or Bayes' rule.
func (c *Classifier) population() *session.Population {
	if p := c.options.Population; p != nil {
		return p
	}
	return bayes
}

var bayes = session.Bayes()

// work is the scratch space of a prediction, by classes with examples.
type work struct{ u, p, logPrior, scratch []float64 }

// settle computes what the classes contribute to every query and the mean of the
// session, once after each change of examples or options.
func (c *Classifier) settle() {
	if c.settled {
		return
	}
	n := len(c.taught)
	buffer := make([]float64, 4*n)
	c.work = work{buffer[:n], buffer[n : 2*n], buffer[2*n : 3*n], buffer[3*n:]}
	var weights float64
	for _, k := range c.taught {
		weights += k.weight
	}
	for j, k := range c.taught {
		k.slope, k.offset = c.population().Line(float64(k.count()))
		c.work.logPrior[j] = math.Log(k.weight / weights)
	}
	if c.shared != nil {
		c.shared.settle(c.taught)
	} else {
		c.recentre()
	}
	c.posterior, c.settled = nil, true
}
