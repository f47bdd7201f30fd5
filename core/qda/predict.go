package qda

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// ScoresTo stores the e_j of x (MODEL.md, section 1) in dst, in the order of the classes
// that have examples and of their number: what [session.Sample] holds of a query. Errors
// and cost are those of [Classifier.ProbabilitiesTo].
func (c *Classifier) ScoresTo(dst, x []float64) error {
	if len(dst) != len(c.taught) {
		panic("qda: destination of wrong length")
	}
	c.settle()
	if err := c.whiten(x); err != nil {
		return err
	}
	c.shared.scoresTo(dst, c.taught, c.z)
	return nil
}

// ProbabilitiesTo stores p(y=j | x) in dst, of length C in the order of
// [Classifier.Labels], and returns the probability that x belongs to none of
// the classes. They sum to one; classes without examples get zero. It returns
// [ErrNoExamples] when all classes are empty, and a *[niw.DimensionError] or a
// *[niw.ValueError] for an x that is not a finite embedding of length d.
//
// Cost, in multiply-adds, 2 r d to whiten x with a spiked prior of rank r, or d²/2, and for
// ρ = N-C residuals of N examples in C classes ρ d + ρ²/2 + C (d+ρ), from ρ = d on
// d²/2 + C d. Nothing is allocated once the classifier has settled.
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
	posterior := c.Session()
	if err := c.whiten(x); err != nil {
		return 0, err
	}
	return c.probabilities(dst, posterior, c.z), nil
}

// probabilities answers a whitened query of a classifier that has settled.
func (c *Classifier) probabilities(dst []float64, posterior *session.Posterior, z []float64) (none float64) {
	w := &c.work
	c.shared.scoresTo(w.u, c.taught, z)
	floats.Scale(w.slope, w.u)
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
// after a change: the posterior over which [Classifier.ProbabilitiesTo] averages. It
// panics without examples. Cost that of [Classifier.Support], and of
// [session.Population.Infer].
func (c *Classifier) Session() *session.Posterior {
	c.settle()
	if c.posterior == nil {
		c.posterior = c.population().Infer(c.Support())
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
type work struct {
	u, p, logPrior, scratch []float64
	slope                   float64 // u = slope e
}

// settle computes what every query needs, once after each change of examples or options.
func (c *Classifier) settle() {
	if c.settled {
		return
	}
	n := len(c.taught)
	buffer := make([]float64, 4*n)
	c.work = work{buffer[:n], buffer[n : 2*n], buffer[2*n : 3*n], buffer[3*n:], 1 / c.population().Temperature()}
	for j := range c.work.logPrior {
		c.work.logPrior[j] = -math.Log(float64(n))
	}
	c.shared.settle(c.taught)
	c.posterior, c.settled = nil, true
}

// NoneFrom is the probability of none of the classes from which on that is what a
// picture is taken for: a third, and so much more that whole percents tell it too (34
// is none, 33 is not).
const NoneFrom = 0.335

// Decide returns what a picture is taken for: the index of the most probable class, the
// first of several, or -1 for none of them.
//
// It is the decision that costs least where a stranger taken for one of the classes
// costs twice as much as a known picture laid aside (Chow, On optimum recognition error
// and reject tradeoff, 1970): laid aside it is looked at, among the known it spoils a
// class. Whether it is one of the classes is decided before which one. So pictures
// judged together, which are surer of their class and as sure as before of being of
// none, are laid aside as they are one by one; the most probable of all answers would
// lay aside fewer the surer the classes are. TRANSDUCTION.md has the figures.
func Decide(classes []float64, none float64) int {
	best := -1
	if none >= NoneFrom {
		return best
	}
	for j, p := range classes {
		if best < 0 || p > classes[best] {
			best = j
		}
	}
	return best
}
