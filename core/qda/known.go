package qda

import (
	"math"

	"metaqda/core/niw"
)

const (
	// levelClasses and levelExamples bound the work of reading the levels off a
	// large session: that many classes and examples in all, evenly spaced.
	levelClasses  = 32
	levelExamples = 64

	// leastGap keeps ln g finite where the two levels meet or cross.
	leastGap = 0.2
)

// levels says how the session's own examples score, in calibrated evidence
// s = ln Σ_j exp(u_j) - ln C:
//
//	unseen  mean over examples of s without their own class: what a thing of an
//	        unseen class reaches; needs two classes
//	known   mean over examples of s where the example itself is left out of its
//	        class; needs a class of two examples, and spread is their standard
//	        deviation
//
// All in closed form from inner products of whitened examples.
type levels struct {
	unseen, known, spread float64
	hasUnseen, hasKnown   bool
}

// session holds what the probability of none of these needs besides the query.
type session struct {
	form   int     // 0: both levels, 1: no known, 2: no unseen, 3: neither
	middle float64 // evidence half-way between the levels
	logGap float64
	logK   float64 // mean of ln K_j
	logC   float64
}

// KnownFeatures returns the features (1, z, z ln g, mean ln K_j, ln C, ln g) of
// the query x of which Calibration.Known weighs those of the returned form, to
// fit it by logistic regression. The form is 0 when both levels of the session
// are there, 1 when every class has one example, 2 when there is one class, 3
// for one class of one example. Errors and cost are those of
// [Classifier.ProbabilitiesTo].
func (c *Classifier) KnownFeatures(x []float64) (form int, features [KnownFeatures]float64, err error) {
	r2, err := c.whiten(x)
	if err != nil {
		return 0, features, err
	}
	if len(c.taught) == 0 {
		return 0, features, ErrNoExamples
	}
	l0 := c.densities(c.logits, r2)
	s := c.sessionLevels()
	return s.form, s.features(c.evidence(c.logits, l0)), nil
}

func (s *session) features(evidence float64) [KnownFeatures]float64 {
	z := evidence - s.middle
	return [KnownFeatures]float64{1, z, z * s.logGap, s.logK, s.logC, s.logGap}
}

// logit returns ln p(known)/p(none) at even prior odds.
func (s *session) logit(coefficients []float64, evidence float64) float64 {
	var sum float64
	for i, f := range s.features(evidence) {
		sum += coefficients[i] * f
	}
	return sum
}

// evidence turns the log densities l into u, classes without examples into
// -Inf, and returns s.
func (c *Classifier) evidence(l []float64, l0 float64) float64 {
	c.settle()
	for i, k := range c.classes {
		if k.count() == 0 {
			l[i] = math.Inf(-1)
			continue
		}
		l[i] = (l[i]-l0)*k.invT + k.offset
	}
	return logSumExp(l) - math.Log(float64(len(c.taught)))
}

// sessionLevels returns the session's constants, computed anew after a change.
func (c *Classifier) sessionLevels() *session {
	c.settle()
	if c.session != nil {
		return c.session
	}
	s := &session{logC: math.Log(float64(len(c.taught)))}
	for _, k := range c.taught {
		s.logK += math.Log(float64(k.count())) / float64(len(c.taught))
	}
	v := c.measureLevels()
	var gap float64
	switch {
	case v.hasUnseen && v.hasKnown:
		gap = v.known - v.unseen
		s.middle = (v.known + v.unseen) / 2
	case v.hasUnseen: // one example each: the gap grows with the level itself
		s.form, gap = 1, 0.5*math.Sqrt(math.Max(v.unseen, 1))
		s.middle = v.unseen + gap/2
	case v.hasKnown: // one class: as far below as its own examples scatter
		s.form, gap = 2, 2*v.spread+1
		s.middle = v.known - gap/2
	default:
		s.form, gap, s.middle = 3, 1, 7
	}
	s.logGap = math.Log(math.Max(gap, leastGap))
	c.session = s
	return s
}

// measureLevels scores the session's examples, or an even choice of them.
func (c *Classifier) measureLevels() levels {
	chosen := everyNth(c.taught, levelClasses)
	u := make([]float64, len(chosen))
	each := max(1, levelExamples/len(chosen))
	var v levels
	var unseen, known, known2, nUnseen, nKnown float64
	logC := math.Log(float64(len(chosen)))
	for a, k := range chosen {
		take := min(each, k.count())
		for i := range take {
			row := i * k.count() / take
			own, ok := c.scoreExample(u, chosen, a, row)
			if len(chosen) > 1 {
				u[a] = math.Inf(-1)
				unseen += logSumExp(u) - math.Log(float64(len(chosen)-1))
				nUnseen++
			}
			if ok {
				u[a] = own
				s := logSumExp(u) - logC
				known, known2, nKnown = known+s, known2+s*s, nKnown+1
			}
		}
	}
	v.hasUnseen, v.hasKnown = nUnseen > 0, nKnown > 0
	v.unseen, v.known = unseen/nUnseen, known/nKnown
	v.spread = math.Sqrt(math.Max(known2/nKnown-v.known*v.known, 0))
	return v
}

// scoreExample stores the evidence of example i of class a under all chosen
// classes but its own in u, and returns that under its own class without it;
// ok is false if nothing is left of the class then.
func (c *Classifier) scoreExample(u []float64, chosen []*class, a, i int) (own float64, ok bool) {
	inf := c.options.Inference
	z := chosen[a].row(i)
	r2, _ := checkedNorm2(z)
	l0 := c.empty.LogProb(inf, r2)
	for j, k := range chosen {
		if j != a {
			u[j] = (k.logProb(c.prior, inf, z, r2, c.scratch)-l0)*k.invT + k.offset
		}
	}
	k := chosen[a]
	if k.count() < 2 {
		return 0, false
	}
	cal, n := &c.options.Calibration, k.count()-1
	return (k.logProbWithout(c, inf, i, r2)-l0)/cal.Temperature(n) + cal.ClassOffset(n), true
}

// logProbWithout returns the log density of the class's own example i, with
// r2 = |w_i|², after taking it out. A class in dense form has so many examples
// that one hardly counts; there it stays in. Cost O(K d + K³).
func (k *class) logProbWithout(c *Classifier, inf niw.Inference, i int, r2 float64) float64 {
	if !k.lowRank() {
		return k.logProb(c.prior, inf, k.row(i), r2, c.scratch)
	}
	gemv(k.w, k.row(i), k.cross)
	c.loo.CopyFrom(&k.group)
	c.loo.Remove(i)
	copy(k.cross[i:], k.cross[i+1:])
	return c.loo.LogProb(inf, r2, k.cross[:k.count()-1])
}

// everyNth returns at most n of the classes, evenly spaced.
func everyNth(k []*class, n int) []*class {
	if len(k) <= n {
		return k
	}
	chosen := make([]*class, n)
	for i := range chosen {
		chosen[i] = k[i*len(k)/n]
	}
	return chosen
}

// logSumExp returns ln Σ exp(x_i); at least one x_i is finite.
func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, v)
	}
	var s float64
	for _, v := range x {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}
