package lda

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// ScoresTo stores the e_j of x (MODEL.md, sections 1 and 2) in dst, for [session.Sample]. dst has a
// number for each class with examples, in their order. With Options.Spread they are in units of the
// session's spread. Errors and cost are those of [Classifier.ProbabilitiesTo].
func (c *Classifier) ScoresTo(dst, x []float64) error {
	if len(dst) != len(c.taught) {
		panic("lda: destination of wrong length")
	}
	c = c.answering()
	c.settle()
	if err := c.whiten(c.z, x); err != nil {
		return err
	}
	c.shared.scoresTo(dst, c.z, &c.work)
	floats.Scale(c.shared.unit, dst)
	return nil
}

// ProbabilitiesTo stores p(y=j | x) in dst, of length C in the order of
// [Classifier.Labels], and returns the probability that x belongs to none of
// the classes. They sum to one; classes without examples get zero. It returns
// [ErrNoExamples] when all classes are empty, and a *[niw.DimensionError] or a
// *[niw.ValueError] for an x that is not a finite embedding of length d.
//
// Cost, in multiply-adds: 2 r d to whiten x with a spiked prior of rank r, or d²/2. Then, for
// ρ = N-C residuals of N examples in C classes, ρ d + ρ²/2 + C (d+ρ), and d²/2 + C d from ρ = d on.
// The scores are linear in x. So if [Classifier.Prepare] is called between answers, the cost becomes
// C d after enough answers since the last change, and answers differ by rounding. Nothing is
// allocated once the classifier has settled.
func (c *Classifier) ProbabilitiesTo(dst, x []float64) (none float64, err error) {
	if len(dst) != len(c.classes) {
		panic("lda: destination of wrong length")
	}
	if len(c.taught) == 0 {
		if err := niw.CheckVector("embedding", x, c.Dim()); err != nil {
			return 0, err
		}
		return 0, ErrNoExamples
	}
	c = c.answering()
	posterior := c.own()
	w := c.spare.Get().(*work)
	defer c.spare.Put(w)
	if c.weigh(w.u, x, w) {
		return c.probabilities(dst, posterior, w), nil
	}
	if err := c.whiten(w.z, x); err != nil {
		return 0, err
	}
	return c.probabilitiesAt(dst, posterior, w.z, w), nil
}

// Settled reports whether an answer changes nothing: all that it needs is computed.
func (c *Classifier) Settled() bool {
	a := c.chosen
	return len(c.taught) == 0 || a != nil && a.settled && a.posterior != nil && !a.linear.due()
}

// probabilitiesAt answers a whitened query of a classifier that has settled.
func (c *Classifier) probabilitiesAt(dst []float64, posterior *session.Posterior, z []float64, w *work) (none float64) {
	c.shared.scoresTo(w.u, z, w)
	floats.Scale(w.slope, w.u)
	return c.probabilities(dst, posterior, w)
}

// probabilities answers a query whose scores are w.u.
func (c *Classifier) probabilities(dst []float64, posterior *session.Posterior, w *work) (none float64) {
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

// Session returns the posterior over which [Classifier.ProbabilitiesTo] averages, given the session's
// own examples. It brings the posterior up to date after a change. It panics without examples. It
// costs as much as [Classifier.Support] and [session.Population.Infer].
func (c *Classifier) Session() *session.Posterior { return c.answering().own() }

func (c *Classifier) own() *session.Posterior {
	c.settle()
	if c.posterior == nil {
		c.posterior = c.population().Infer(c.ownSupport())
	}
	return c.posterior
}

// population returns the population of the options, or [session.Bayes] if they have none.
func (c *Classifier) population() *session.Population {
	if p := c.options.Population; p != nil {
		return p
	}
	return bayes
}

var bayes = session.Bayes()

// work is the scratch space of a prediction.
type work struct {
	u, p, logPrior, scratch []float64 // one number for each class with examples
	slope                   float64   // u = slope e
	image, inners           []float64 // of [covariance.imageTo] and [covariance.innerTo]
	z                       []float64 // the query, whitened
}

// newWork returns scratch space for the examples that there are.
func (c *Classifier) newWork() work {
	n, order, d := len(c.taught), c.shared.cov.n, c.Dim()
	all := make([]float64, 5*n+order+d)
	next := func(n int) (part []float64) { part, all = all[:n:n], all[n:]; return part }
	w := work{u: next(n), p: next(n), logPrior: next(n), scratch: next(n), inners: next(n), image: next(order), z: next(d)}
	for j := range w.logPrior {
		w.logPrior[j] = -math.Log(float64(n))
	}
	w.slope = c.shared.unit / c.population().Temperature()
	return w
}

// settle computes what every query needs, once after each change of examples or options.
func (c *Classifier) settle() {
	c.Group(always)
	if c.settled {
		return
	}
	c.shared.estimate(&c.estimation, c.taught, always)
	c.shared.settle(c.taught)
	c.work = c.newWork()
	c.spare = &sync.Pool{New: func() any { w := c.newWork(); return &w }}
	c.linear = c.newLinear()
	c.posterior, c.inferring, c.left, c.support.begun, c.settled = nil, nil, nil, false, true
}

// compares reports whether the session's examples can choose a share: the prior has [Parts], there
// are two classes with examples, and one of them has two.
func (c *Classifier) compares() bool {
	return len(c.others) > 0 && len(c.taught) > 1 && slices.ContainsFunc(c.taught, func(k *class) bool { return k.count() > 1 })
}

// answering returns the classifier that answers: this one, or the follower whose share makes the
// session most probable. After a change it costs as much as reweigh and the first answer of each.
func (c *Classifier) answering() *Classifier {
	c.Group(always)
	if c.chosen != nil {
		return c.chosen
	}
	c.chosen = c
	if !c.compares() {
		return c
	}
	c.reweigh(always)
	best := c.own().LogEvidence()
	for _, o := range c.others {
		if e := o.own().LogEvidence() - c.options.Parts.Odds; e > best {
			c.chosen, best = o, e
		}
	}
	return c.chosen
}

// Predictor holds all numbers that the answers of a [Classifier] depend on, until a change. The
// classes share one scale matrix. So the difference between the log densities of a class and of an
// unseen class is linear in x_s. That is the transformed embedding, reweighted by [Parts], of length
// d:
//
//	u_j = Weights_jᵀ x_s + Intercept_j
//	s   = ln Σ_j exp(u_j + LogPrior_j)
//
// [session.Table] turns u and s into probabilities. LogOdds is its ln π_known/π_none.
type Predictor struct {
	Labels    []string   // C
	Weights   *mat.Dense // C×d
	Intercept []float64  // C
	First     int        // length of the first part of x, see [Parts]; 0 if Share is ½
	Share     float64    // share of the second part; x_s is x if it is ½
	LogPrior  []float64  // C: ln 1/C for each class
	Session   session.Table
	LogOdds   float64
}

// Predictor returns the classifier's current [Predictor]. It leaves out classes without examples,
// which have probability zero. It returns [ErrNoExamples] if no class has any. It costs as much as
// the first prediction after a change, and for each class n d + n², or d², and twice the cost of
// whitening a vector.
func (c *Classifier) Predictor() (*Predictor, error) {
	n := len(c.taught)
	if n == 0 {
		return nil, ErrNoExamples
	}
	c = c.answering()
	posterior := c.own() // before what it settles is read
	p := &Predictor{
		Labels: make([]string, n), Weights: mat.NewDense(n, c.Dim(), nil), Intercept: make([]float64, n),
		LogPrior: slices.Clone(c.work.logPrior), Session: posterior.Table(), LogOdds: session.LogOdds(c.options.NonePrior), Share: 0.5,
	}
	if r := c.reweighted; r != nil {
		p.First, p.Share = r.First, r.share
	}
	rows := p.Weights.RawMatrix()
	c.weightsTo(rows, c.shared.columns)
	c.interceptTo(p.Intercept)
	for j, k := range c.taught {
		p.Labels[j] = k.label
	}
	return p, nil
}

// WeightsTo splits the difference of the scores u of two classes at x among the numbers of x. It
// stores the weights in dst and returns rest, with
//
//	u_label(x) - u_against(x) = dstᵀx + rest
//
// u_j is as in [Predictor]. An empty label or against stands for none of the classes, with u = 0.
// dst and x have length d. With a Share other than ½ the weights depend on x.
//
// It returns a *[LabelError] for an unknown class, [ErrNoExamples] for one without examples, and
// the errors of [Classifier.ProbabilitiesTo]. It costs as much as the first prediction after a
// change, one prediction, and [Classifier.Predictor] for both classes.
func (c *Classifier) WeightsTo(dst, x []float64, label, against string) (rest float64, err error) {
	if len(dst) != c.Dim() {
		panic("lda: destination of wrong length")
	}
	c = c.answering()
	c.settle()
	u := make([]float64, len(c.taught))
	if err := c.whiten(c.z, x); err != nil {
		return 0, err
	}
	c.shared.scoresTo(u, c.z, &c.work)
	clear(dst)
	for i, name := range []string{label, against} {
		if name == "" {
			continue
		}
		sign := 1 - 2*float64(i)
		if _, err := c.class(name); err != nil {
			return 0, err
		}
		at := slices.IndexFunc(c.taught, func(k *class) bool { return k.label == name })
		if at < 0 {
			return 0, ErrNoExamples
		}
		row := make([]float64, c.Dim())
		c.weightsTo(blas64.General{Rows: 1, Cols: len(row), Stride: len(row), Data: row}, c.shared.columns[at:at+1])
		floats.AddScaled(dst, sign, row)
		rest += sign * c.work.slope * u[at]
	}
	if r := c.reweighted; r != nil { // x counts as D x |x|/|D x|
		of := slices.Clone(x)
		r.apply(of)
		for i, v := range of {
			if v != 0 {
				dst[i] *= v / x[i]
			} else {
				dst[i] = 0
			}
		}
	}
	return rest - floats.Dot(dst, x), nil
}
