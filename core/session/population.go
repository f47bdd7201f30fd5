package session

import (
	"math"

	"metaqda/core/niw"
)

// Population is what sessions have in common, section 2 of MODEL.md: Size
// coefficients, fitted by [Fit] with whole families of domains left out. Use
// [Bayes] for a prior that none was fitted for.
type Population struct {
	LogT     [2]float64 `json:"logT"`    // ln T(K) = LogT[0] + LogT[1] ln K
	Offset   [2]float64 `json:"offset"`  // b(K) = Offset[0] ln K + Offset[1] (ln K)²
	LeftOut  LeftOut    `json:"leftOut"` // what leaving out does to scores
	Hardness Hardness   `json:"hardness"`
	Level    Level      `json:"level"`
	Spread   Spread     `json:"spread"`
	Known    Known      `json:"known"`
}

// Size is the number of coefficients of a Population.
const Size = 19

// LeftOut is how much lower an example scores than a query like it because
// something was left out for it: Class/C where its class was, and Own/K where it was
// itself taken out of its class of K.
type LeftOut struct {
	Class float64 `json:"class"`
	Own   float64 `json:"own"`
}

// Hardness is the distribution of the log-temperature of sessions, h ~ N(0, SD²);
// its mean is part of T(K).
type Hardness struct {
	SD     float64 `json:"sd"`
	Weight float64 `json:"weight"` // power of the leave-one-out likelihood
}

// Level is the distribution over sessions of the mean score of unknowns:
// N(Mean[0] + Mean[1] ln C, SD²), as sure as the examples of Count classes make it.
type Level struct {
	Mean  [2]float64 `json:"mean"`
	SD    float64    `json:"sd"`
	Count float64    `json:"count"`
}

// Spread is the standard deviation of the scores of unknowns in a session before
// any is seen, as sure as Count examples make it.
type Spread struct {
	SD    float64 `json:"sd"`
	Count float64 `json:"count"`
}

// Known is the distribution over sessions of the threshold a and the log slope g,
// two normal ones.
type Known struct {
	Threshold Normal  `json:"threshold"`
	Slope     Normal  `json:"slope"`
	Weight    float64 `json:"weight"` // power of the session's own likelihood
}

// Normal is a normal distribution of one dimension.
type Normal struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// certain is a count beside which no session has any.
const certain = 1e300

// Bayes returns the population of a prior that is to be taken at its word:
// temperature one, no offsets, nothing latent. A query is then of none of the
// classes with the probability that Bayes' rule gives the prior predictive.
func Bayes() *Population {
	return &Population{Spread: Spread{SD: 1, Count: certain}, Level: Level{Count: certain}}
}

// Validate returns a *[niw.ValueError] that names a coefficient which is not
// finite, absurdly large, or negative where it may not be.
func (p *Population) Validate() error {
	for _, c := range p.list() {
		v := *c.at
		switch {
		case math.IsNaN(v) || math.Abs(v) > 1e3 && !(c.kind == count && v > 0):
			return &niw.ValueError{Name: "calibration: " + c.name, Index: -1, Value: v, Want: "a number of magnitude at most 1000"}
		case (c.kind == positive || c.kind == count) && v < 0:
			return &niw.ValueError{Name: "calibration: " + c.name, Index: -1, Value: v, Want: "a number that is not negative"}
		}
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"spread", p.Spread.SD}, {"count of the spread", p.Spread.Count}, {"count of the level", p.Level.Count}} {
		if v.value == 0 {
			return &niw.ValueError{Name: "calibration: " + v.name, Index: -1, Value: v.value, Want: "a positive number"}
		}
	}
	return nil
}

// Temperature returns T(K) for a class of k > 0 examples.
func (p *Population) Temperature(k float64) float64 {
	return bounded(p.LogT[0]+p.LogT[1]*math.Log(k), 300)
}

// classOffset returns b(K) for a class of k > 0 examples.
func (p *Population) classOffset(k float64) float64 {
	l := math.Log(k)
	return l * (p.Offset[0] + l*p.Offset[1])
}

// kind says which numbers a coefficient may be.
type kind int

const (
	plain    kind = iota
	positive      // not negative
	count         // of examples: not negative, of any size
)

// coefficient is one number of a Population.
type coefficient struct {
	name string
	at   *float64
	kind kind
}

// closedSize coefficients settle the probabilities among the classes, the next,
// up to openFrom, are measured, and the others settle the probability of none.
const closedSize, openFrom = 6, 10

// evenSize of them are left where T and b are the same for every K.
const evenSize = 3

// list returns them all.
func (p *Population) list() []coefficient {
	k := &p.Known
	return []coefficient{
		{"temperature", &p.LogT[0], plain},
		{"spread of hardness", &p.Hardness.SD, positive}, {"weight of hardness", &p.Hardness.Weight, positive},
		{"temperature by examples", &p.LogT[1], plain},
		{"offset", &p.Offset[0], plain}, {"offset, square", &p.Offset[1], plain},

		{"class left out", &p.LeftOut.Class, plain}, {"example left out", &p.LeftOut.Own, plain},
		{"level", &p.Level.Mean[0], plain}, {"level by classes", &p.Level.Mean[1], plain},

		{"spread of levels", &p.Level.SD, positive}, {"count of the level", &p.Level.Count, count},
		{"spread", &p.Spread.SD, positive}, {"count of the spread", &p.Spread.Count, count},
		{"threshold", &k.Threshold.Mean, plain}, {"spread of thresholds", &k.Threshold.SD, positive},
		{"slope", &k.Slope.Mean, plain}, {"spread of slopes", &k.Slope.SD, positive}, {"weight of known", &k.Weight, positive},
	}
}

// bounded returns exp(x) for an x of magnitude at most b: absurd coefficients, which
// a file may hold, must not make infinities.
func bounded(x, b float64) float64 { return math.Exp(math.Max(-b, math.Min(b, x))) }
