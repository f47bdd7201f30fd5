package qda

import (
	"math"

	"metaqda/core/niw"
)

// LogDensitiesTo stores the log density of x under each class in dst, of length
// C, and returns that under a class never seen. Classes without examples get
// the latter too. Errors and cost are those of [Classifier.ProbabilitiesTo].
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
	if len(c.a) == 0 || c.options.Pooled || c.dense {
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
	if c.options.Pooled && len(c.taught) > 0 {
		return c.pooledDensities(dst, q.r2)
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

func (c *Classifier) pooledDensities(dst []float64, r2 float64) (none float64) {
	if c.pool == nil {
		c.pool = newPool(c.prior, c.taught)
	}
	inf := c.options.Inference
	c.pool.prepare(c.z)
	none = c.pool.logProb(-1, inf, r2)
	taught := 0
	for i, k := range c.classes {
		dst[i] = none
		if k.count() > 0 {
			dst[i] = c.pool.logProb(taught, inf, r2)
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
// Cost d²/2 + N d multiply-adds for N examples in all, r d + N (d+r) with a spiked
// prior of rank r, and R (d+n) beside it with a background of n classes, without
// allocation once the classifier has settled. With Options.Centre it is d more.
func (c *Classifier) ProbabilitiesTo(dst, x []float64) (none float64, err error) {
	if len(dst) != len(c.classes) {
		panic("qda: destination of wrong length")
	}
	q, err := c.query(x)
	if err != nil {
		return 0, err
	}
	if len(c.taught) == 0 {
		return 0, ErrNoExamples
	}
	l0 := c.densities(c.logits, q)
	evidence := c.evidence(c.logits, l0)
	cal, p0 := &c.options.Calibration, c.options.NonePrior
	byLevels := len(cal.Known) > 0 && !c.options.Pooled
	sharpness, background := 1.0, 0.0
	if byLevels && p0 > 0 { // before the levels use the scratch that q lies in
		background = c.background.score(q)
	}
	if byLevels && len(cal.Tau) > 0 {
		sharpness = cal.Sharpness(c.levels(), evidence)
	}
	for i, k := range c.classes {
		c.logits[i] = c.logits[i]*sharpness + k.logWeight
	}
	if !byLevels || p0 == 0 {
		n := float64(len(c.taught))
		return softmax(dst, c.logits, math.Log(p0)+cal.NoneOffset(c.count/n, len(c.taught))-math.Log1p(-p0)), nil
	}
	logit := cal.KnownLogOdds(c.levels(), evidence, background) + math.Log1p(-p0) - math.Log(p0)
	known := 1 / (1 + math.Exp(-logit))
	softmax(dst, c.logits, math.Inf(-1))
	for i := range dst {
		dst[i] *= known
	}
	return 1 / (1 + math.Exp(logit)), nil
}

// settle computes what the classes contribute to every logit and the mean of the
// session, once after each change of examples or options.
func (c *Classifier) settle() {
	if c.settled {
		return
	}
	cal := &c.options.Calibration
	var weights float64
	c.count = 0
	for _, k := range c.taught {
		weights += k.weight
		c.count += float64(k.count())
	}
	for _, k := range c.taught {
		k.invT = 1 / cal.Temperature(k.count())
		k.offset = cal.ClassOffset(k.count())
		k.logWeight = math.Log(k.weight / weights)
	}
	c.recentre()
	c.session, c.settled = nil, true
}

// softmax stores exp(l_i)/Z in dst and returns exp(none)/Z, where Z sums all of
// them. At least one entry is finite.
func softmax(dst, l []float64, none float64) float64 {
	top := none
	for _, v := range l {
		top = math.Max(top, v)
	}
	z := math.Exp(none - top)
	for i, v := range l {
		dst[i] = math.Exp(v - top)
		z += dst[i]
	}
	for i := range dst {
		dst[i] /= z
	}
	return math.Exp(none-top) / z
}
