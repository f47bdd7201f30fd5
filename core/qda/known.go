package qda

import "math"

const (
	// levelClasses and levelExamples bound the work of reading the levels off a
	// large session: that many classes and examples in all, evenly spaced.
	levelClasses  = 32
	levelExamples = 64

	// leastGap keeps ln g finite where the two levels meet or cross.
	leastGap = 0.2
)

// Levels collects how a session's own examples score, in calibrated evidence
// s = ln Σ_j exp(u_j) - ln C:
//
//	unseen  mean over examples of s without their own class: what a thing of an
//	        unseen class reaches; needs two classes
//	known   mean over examples of s where the example itself is left out of its
//	        class; needs a class of two examples; its standard deviation serves too
//
// All of it follows in closed form from inner products of whitened examples.
// The zero Levels is empty.
type Levels struct {
	unseen, known, square float64 // sums
	nUnseen, nKnown       int
}

// Add takes in one example. u holds its evidence under the C classes, of which
// the entry of its own class is ignored and overwritten; without is its evidence
// under its own class after taking it out, used if ok.
func (v *Levels) Add(u []float64, own int, without float64, ok bool) {
	u[own] = math.Inf(-1)
	if n := len(u) - 1; n > 0 {
		v.unseen += logSumExp(u) - math.Log(float64(n))
		v.nUnseen++
	}
	if ok {
		u[own] = without
		s := Evidence(u)
		v.known += s
		v.square += s * s
		v.nKnown++
	}
}

// Evidence returns s = ln Σ_j exp(u_j) - ln C.
func Evidence(u []float64) float64 { return logSumExp(u) - math.Log(float64(len(u))) }

// Session holds what the probability of none of these needs besides the query.
type Session struct {
	Form   int     // row of Calibration.Known; 0: both levels, 1: no known, 2: no unseen, 3: neither
	middle float64 // evidence half-way between the levels
	logGap float64
	logK   float64 // mean of ln K_j
	logC   float64

	// Background is the mean over the session's examples of their score against
	// the [Background], 0 without one.
	Background float64

	// Domains has the probabilities of [Domains.Recognise]; nil if the domain is
	// not asked for.
	Domains []float64
}

// Session returns the constants of a session whose C classes have the given
// numbers of examples, all above zero.
func (v *Levels) Session(shots []int) *Session {
	s := &Session{logC: math.Log(float64(len(shots)))}
	for _, k := range shots {
		s.logK += math.Log(float64(k)) / float64(len(shots))
	}
	unseen, known := v.unseen/float64(v.nUnseen), v.known/float64(v.nKnown)
	var gap float64
	switch {
	case v.nUnseen > 0 && v.nKnown > 0:
		gap, s.middle = known-unseen, (known+unseen)/2
	case v.nUnseen > 0: // one example each: the gap grows with the level itself
		s.Form, gap = 1, math.Sqrt(math.Max(unseen, 1))/2
		s.middle = unseen + gap/2
	case v.nKnown > 0: // one class: as far below as its own examples scatter
		spread := math.Sqrt(math.Max(v.square/float64(v.nKnown)-known*known, 0))
		s.Form, gap = 2, 2*spread+1
		s.middle = known - gap/2
	default:
		s.Form, gap, s.middle = 3, 1, 7
	}
	s.logGap = math.Log(math.Max(gap, leastGap))
	return s
}

// Features returns (1, z, z ln g, mean ln K_j, ln C, ln g, v, v ln g) for a query
// of the given evidence and score against the background: what Calibration.Known
// weighs.
func (s *Session) Features(evidence, background float64) [KnownFeatures]float64 {
	z, v := evidence-s.middle, background-s.Background
	return [KnownFeatures]float64{1, z, z * s.logGap, s.logK, s.logC, s.logGap, v, v * s.logGap}
}

// KnownLogOdds returns ln p(known)/p(none) of a query of the given evidence and
// score against the background, 0 without one, in a session, at even prior odds.
func (c *Calibration) KnownLogOdds(s *Session, evidence, background float64) float64 {
	x := s.Features(evidence, background)
	shares := s.shares(c)
	if len(shares) == 0 {
		return dot(c.Known[s.Form], x[:])
	}
	own, known, none := 1.0, 0.0, 0.0
	add := func(share, logit float64) {
		known += share / (1 + math.Exp(-logit))
		none += share / (1 + math.Exp(logit))
	}
	for t, p := range shares {
		own -= p
		add(p, dot(c.Domains[t].Known[s.Form], x[:]))
	}
	add(math.Max(own, 0), dot(c.Known[s.Form], x[:]))
	return math.Max(-maxLogOdds, math.Min(maxLogOdds, math.Log(known)-math.Log(none)))
}

// maxLogOdds bounds what the domains say together.
const maxLogOdds = 300

// shares returns the probabilities of the domains that c knows, in their order.
func (s *Session) shares(c *Calibration) []float64 {
	return s.Domains[:min(len(s.Domains), len(c.Domains))]
}

func dot(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// maxLogTau bounds ln τ, whatever the gap of a strange session.
const maxLogTau = 3

// TauFeatures returns what Calibration.Tau weighs for a query of the given
// evidence.
func (s *Session) TauFeatures(evidence float64) [TauCoefficients]float64 {
	switch s.Form {
	case 0:
		return [TauCoefficients]float64{0, 1, s.logK, s.logGap, evidence}
	case 1:
		return [TauCoefficients]float64{1, 0, 0, 0, evidence}
	}
	return [TauCoefficients]float64{}
}

// Sharpness returns 1/τ, by which the log odds u_j of a query of the given
// evidence are multiplied; 1 without coefficients.
func (c *Calibration) Sharpness(s *Session, evidence float64) float64 {
	if len(c.Tau) == 0 {
		return 1
	}
	x := s.TauFeatures(evidence)
	own, logTau := 1.0, 0.0
	for t, p := range s.shares(c) {
		own -= p
		logTau += p * dot(c.Domains[t].Tau, x[:])
	}
	return sharpness(logTau + own*dot(c.Tau, x[:]))
}

// sharpness returns 1/τ within bounds.
func sharpness(logTau float64) float64 {
	return math.Exp(-math.Max(-maxLogTau, math.Min(maxLogTau, logTau)))
}

// evidence turns the log densities l into u, classes without examples into
// -Inf, and returns s.
func (c *Classifier) evidence(l []float64, l0 float64) float64 {
	for i, k := range c.classes {
		if k.count() == 0 {
			l[i] = math.Inf(-1)
			continue
		}
		l[i] = (l[i]-l0)*k.invT + k.offset
	}
	return logSumExp(l) - math.Log(float64(len(c.taught)))
}

// levels returns the session's constants, computed anew after a change from all
// examples or an even choice of them.
func (c *Classifier) levels() *Session {
	if c.session != nil {
		return c.session
	}
	chosen := everyNth(c.taught, levelClasses)
	each := max(1, levelExamples/len(chosen))
	u := make([]float64, len(chosen))
	var v Levels
	for a, k := range chosen {
		take := min(each, k.count())
		for i := range take {
			without, ok := c.scoreExample(u, chosen, a, i*k.count()/take)
			v.Add(u, a, without, ok)
		}
	}
	shots := make([]int, len(c.taught))
	for j, k := range c.taught {
		shots[j] = k.count()
	}
	c.session = v.Session(shots)
	c.session.Background = c.background.mean(chosen, each)
	c.session.Domains = c.recognise(chosen, each)
	return c.session
}

// scoreExample stores the evidence of example i of class a under all chosen
// classes but its own in u, and returns that under its own class without it;
// ok is false if nothing is left of the class then.
func (c *Classifier) scoreExample(u []float64, chosen []*class, a, i int) (without float64, ok bool) {
	x := c.whole(chosen[a].row(i))
	l0 := c.empty.LogProb(c.options.Inference, c.centre.r2(x))
	for j, k := range chosen {
		if j != a {
			u[j] = (k.logProb(c, x)-l0)*k.invT + k.offset
		}
	}
	k := chosen[a]
	if k.count() < 2 {
		return 0, false
	}
	return c.options.Calibration.LogOdds(k.logProbWithout(c, i, c.centre.r2(x))-l0, k.count()-1), true
}

// whole returns the point w, whitened and checked when it was added.
func (c *Classifier) whole(w []float64) point {
	return point{z: w, r2: squaredNorm(w), along: c.centre.along(w, nil)}
}

// logProbWithout returns the log density of the class's own example i, with
// r2 = |w_i-δ|², after taking it out; δ stays where it is. Cost O(1), after a change O(K³) or O(K d² + d³)
// once, and d²/2 in dense form.
func (k *class) logProbWithout(c *Classifier, i int, r2 float64) float64 {
	if k.lowRank() {
		return k.group.LogProbWithout(c.options.Inference, i)
	}
	q := k.denseQuad(c, k.row(i))
	return k.dense.LogProbWithout(c.options.Inference, k.count(), q, r2)
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
