package session

import (
	"cmp"
	"math"

	"metaqda/core/niw"
)

// Population is the distribution of sessions (section 2 of MODEL.md). It has Size coefficients: [Fit]
// fits fifteen of them with whole families of domains left out, and FitAlone two. Use [Bayes] for a
// prior without a fitted population.
type Population struct {
	LogT            float64 // ln T, of all sessions
	LeftOut         float64 // η: an example left out of a class of K scores lower than a query by η/K
	LogTemperature  LogTemperature
	CohortMean      CohortMean
	CohortDeviation CohortDeviation
	Known           Known
}

// Size is the number of coefficients of a Population.
const Size = 19

// LogTemperature is the distribution of the log temperature of a session, h ~ N(0, SD²);
// its mean is part of LogT.
type LogTemperature struct {
	SD     float64
	Weight float64 // power of the leave-one-out likelihood

	// Alone holds for examples that are the only ones of their classes. Their mean u under the
	// other classes, z, moves the mean of h by SD (Alone[0] + Alone[1] z). It is zero unless
	// [Population.FitAlone] has fitted it.
	Alone [2]float64
}

// CohortMean is the distribution over sessions of the mean score of queries out of the set of
// classes: N(Mean[0] + Mean[1] ln C, SD²). It weighs as much as the examples of Count classes.
type CohortMean struct {
	Mean  [2]float64
	SD    float64
	Count float64
}

// CohortDeviation is the prior standard deviation of these scores in a session. It weighs as much
// as Count examples. [Fit] leaves it at one for all sessions.
type CohortDeviation struct{ SD, Count float64 }

// Known is the distribution over sessions of the threshold a and the log slope g,
// two normal ones.
type Known struct {
	Threshold     Normal  // a, in sessions of one burst a class
	ByShots       float64 // increase of the mean of a per unit of the mean over classes of ln(number of bursts)
	Slope         Normal  // g
	Weight        float64 // power of the likelihood of the session's own examples as known ones
	UnknownWeight float64 // power of their likelihood as unknowns, with their class left out
}

// Normal is a normal distribution of one dimension.
type Normal struct{ Mean, SD float64 }

// certain is a count so large that the session's own count does not matter.
const certain = 1e300

// Bayes returns a population with temperature one and nothing latent. Probabilities then follow
// from the densities by Bayes' rule, with the prior predictive as the density of none of the classes.
func Bayes() *Population {
	return &Population{CohortDeviation: CohortDeviation{SD: 1, Count: certain}, CohortMean: CohortMean{Count: certain}}
}

// Validate returns a *[niw.ValueError] for a coefficient outside its domain. Their magnitude is at
// most 1000, except for counts, which may be any positive numbers. Some must be positive or not
// negative. It returns nil for a nil population.
func (p *Population) Validate() error {
	if p == nil {
		return nil
	}
	for _, c := range p.list() {
		v := *c.at
		err := cmp.Or(
			niw.CheckValue(math.Abs(v) <= 1e3 || c.kind == count, "calibration: "+c.name, v, "a number of magnitude at most 1000"),
			niw.CheckValue(v >= 0 || c.kind == plain, "calibration: "+c.name, v, "a number that is not negative"),
			niw.CheckValue(v > 0 || c.kind < positive, "calibration: "+c.name, v, "a positive number"),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// Temperature returns T: the log density ratios of a session are divided by it.
func (p *Population) Temperature() float64 { return bounded(p.LogT, 300) }

// kind says which numbers a coefficient may be.
type kind int

const (
	plain    kind = iota
	fromZero      // not negative
	positive
	count // of examples: positive, of any size
)

// coefficient is one number of a Population.
type coefficient struct {
	name string
	at   *float64
	kind kind
}

// These divide the coefficients in the order of list. Those below closedSize give the probabilities
// among the classes. From there to openFrom, [Population.measure] finds them by least squares. Up to
// openTo they give the probability of none, and up to aloneTo they are for [Population.FitAlone]. The
// last two are not fitted.
const closedSize, openFrom, openTo, aloneTo = 3, 6, 15, 17

// list returns all Size coefficients.
func (p *Population) list() []coefficient {
	k := &p.Known
	return []coefficient{
		{"temperature", &p.LogT, plain},
		{"deviation of log temperatures", &p.LogTemperature.SD, fromZero}, {"weight of the log temperature", &p.LogTemperature.Weight, fromZero},

		{"example left out", &p.LeftOut, plain},
		{"cohort mean", &p.CohortMean.Mean[0], plain}, {"cohort mean by classes", &p.CohortMean.Mean[1], plain},

		{"deviation of cohort means", &p.CohortMean.SD, fromZero}, {"count of the cohort mean", &p.CohortMean.Count, count},
		{"threshold", &k.Threshold.Mean, plain}, {"deviation of thresholds", &k.Threshold.SD, fromZero}, {"threshold by examples", &k.ByShots, plain},
		{"slope", &k.Slope.Mean, plain}, {"deviation of slopes", &k.Slope.SD, fromZero},
		{"weight of known", &k.Weight, fromZero}, {"weight of unknown", &k.UnknownWeight, fromZero},

		{"examples alone", &p.LogTemperature.Alone[0], plain}, {"examples alone by likeness", &p.LogTemperature.Alone[1], plain},

		{"cohort deviation", &p.CohortDeviation.SD, positive}, {"count of the cohort deviation", &p.CohortDeviation.Count, count},
	}
}

// bounded returns exp(x) with x cut to a magnitude of at most b, so that coefficients from a file
// cannot make it infinite or zero.
func bounded(x, b float64) float64 { return math.Exp(math.Max(-b, math.Min(b, x))) }
