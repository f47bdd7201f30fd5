package qda

import (
	"math"

	"metaqda/core/niw"
)

// Calibration turns log densities into the log odds they deserve. Embeddings
// are not drawn from the model, so at d in the hundreds its log densities are
// far too sure of themselves. With l_j the log density of class j, l_0 that of
// the prior predictive and K_j the number of examples of class j,
//
//	u_j  = (l_j - l_0)/T(K_j) + b(K_j)
//	ln T(K) = Σ_i LogT[i] (ln K)^i,   b(K) = Σ_i Offset[i] (ln K)^i
//
// are the calibrated log odds of the class against one never seen. Measuring
// against l_0 keeps classes with different numbers of examples comparable.
//
// None of these has one of two forms. Without Known it is one more hypothesis
// of Bayes' rule with a logit of its own, K the mean of the K_j and C the number
// of classes that have examples:
//
//	logit_j    = ln p(y=j) + u_j
//	logit_none = ln p(none) + None[0] + None[1] ln K + None[2] ln C
//
// How high an example of an unseen class scores differs by tens of nats from
// one domain to the next, more than such an offset can follow. With Known the
// level is therefore read off the session's own examples (see [Levels]): the
// evidence s = ln Σ_j exp(u_j) - ln C of a query is compared with what the
// session's examples reach with and without their own class,
//
//	ln p(known)/p(none) = Known[case]·(1, z, z ln g, mean ln K_j, ln C, ln g, v, v ln g) + ln (1-p0)/p0
//	z = s - middle,   p(y=j) = p(known) softmax_j(ln p(y=j) + u_j/τ)
//
// where g is the gap between the two levels, p0 the prior probability of
// none of these, and v how much more the query resembles the [Background] than the
// session's examples do in the mean, 0 without one. The gap also tells how hard
// the session is, so that domains need not share one temperature:
//
//	ln τ = Tau[0] + Tau[4] s                                       with one example a class
//	ln τ = Tau[1] + Tau[2] mean ln K_j + Tau[3] ln g + Tau[4] s    with two of some class
//
// and τ = 1 without Tau or with one class.
//
// A prior that was learned from several domains may hold Known and Tau of each.
// A session that [Domains] finds to be of domain t with probability π_t then has
// the mixture of the p(known) that Domains[t] and, with 1 - Σ_t π_t, its own Known
// give at even odds, and the mean of the coefficients Tau: those of its own serve
// domains never seen.
//
// Missing coefficients are zero, so that the zero Calibration is Bayes' rule as
// it stands: T = 1, no offsets.
type Calibration struct {
	LogT   []float64   `json:"logT,omitempty"`
	Offset []float64   `json:"offset,omitempty"`
	None   []float64   `json:"none,omitempty"`
	Known  [][]float64 `json:"known,omitempty"` // KnownCases rows of at most KnownFeatures coefficients
	Tau    []float64   `json:"tau,omitempty"`   // at most TauCoefficients; takes Known

	Domains []DomainCalibration `json:"domains,omitempty"` // none or one for each of [Domains]; takes Known and Tau
}

// DomainCalibration is what serves the sessions of one domain.
type DomainCalibration struct {
	Known [][]float64 `json:"known"`
	Tau   []float64   `json:"tau"`
}

const (
	// KnownCases is the number of rows of Calibration.Known, one for each
	// combination of levels a session can show; see [Session].
	KnownCases = 4
	// KnownFeatures is the most coefficients that each can hold.
	KnownFeatures = 8
	// TauCoefficients is the most that Calibration.Tau can hold.
	TauCoefficients = 5
)

// leastFeatures is the number without those of a background: files from before
// there was one.
const leastFeatures = 6

// maxCoefficients bounds the degree of the polynomials; a file that asks for
// more is not ours.
const maxCoefficients = 8

// Validate returns a *[niw.ValueError] if a coefficient is not finite or absurdly
// large, or a *[niw.DimensionError] if there are too many of them.
func (c *Calibration) Validate() error {
	for _, p := range []struct {
		name string
		c    []float64
		most int
	}{{"temperature", c.LogT, maxCoefficients}, {"class offset", c.Offset, maxCoefficients}, {"none-of-these offset", c.None, 3}} {
		if len(p.c) > p.most {
			return &niw.DimensionError{Name: "calibration: " + p.name, Got: len(p.c), Want: p.most}
		}
		for i, v := range p.c {
			if math.IsNaN(v) || math.Abs(v) > 1e3 {
				return &niw.ValueError{Name: "calibration: " + p.name, Index: i, Value: v, Want: "a number of magnitude at most 1000"}
			}
		}
	}
	if len(c.Known) > 0 {
		if err := checkKnown(c.Known); err != nil {
			return err
		}
	}
	if len(c.Tau) > 0 {
		if len(c.Known) == 0 {
			return &niw.DimensionError{Name: "calibration: known, beside tau", Got: 0, Want: KnownCases}
		}
		if err := checkTau(c.Tau); err != nil {
			return err
		}
	}
	return c.validateDomains()
}

func (c *Calibration) validateDomains() error {
	if len(c.Domains) > 0 && len(c.Tau) == 0 {
		return &niw.DimensionError{Name: "calibration: tau, beside domains", Got: 0, Want: TauCoefficients}
	}
	for i := range c.Domains {
		if err := checkKnown(c.Domains[i].Known); err != nil {
			return err
		}
		if err := checkTau(c.Domains[i].Tau); err != nil {
			return err
		}
	}
	return nil
}

func checkTau(tau []float64) error {
	return checkCoefficients("calibration: tau", tau, min(len(tau), TauCoefficients))
}

func checkKnown(known [][]float64) error {
	if len(known) != KnownCases {
		return &niw.DimensionError{Name: "calibration: known", Got: len(known), Want: KnownCases}
	}
	for _, row := range known {
		if err := checkCoefficients("calibration: known", row, min(max(len(row), leastFeatures), KnownFeatures)); err != nil {
			return err
		}
	}
	return nil
}

func checkCoefficients(name string, c []float64, n int) error {
	if err := niw.CheckVector(name, c, n); err != nil {
		return err
	}
	for i, v := range c {
		if math.Abs(v) > 1e3 {
			return &niw.ValueError{Name: name, Index: i, Value: v, Want: "a number of magnitude at most 1000"}
		}
	}
	return nil
}

// LogOdds returns u_j of a class with k > 0 examples under which a query has the
// log density e more than under the prior predictive.
func (c *Calibration) LogOdds(e float64, k int) float64 {
	return e/c.Temperature(k) + c.ClassOffset(k)
}

// Temperature returns T(K) for a class with k > 0 examples.
func (c *Calibration) Temperature(k int) float64 {
	return math.Exp(bounded(polynomial(c.LogT, math.Log(float64(k)))))
}

// ClassOffset returns b(K).
func (c *Calibration) ClassOffset(k int) float64 {
	return polynomial(c.Offset, math.Log(float64(k)))
}

// NoneOffset returns o(K, C) for a mean of k examples in each of n classes.
func (c *Calibration) NoneOffset(k float64, n int) float64 {
	var s float64
	for i, v := range c.None {
		s += v * [3]float64{1, math.Log(k), math.Log(float64(n))}[i]
	}
	return s
}

// polynomial evaluates Σ c_i x^i by Horner's rule.
func polynomial(c []float64, x float64) float64 {
	var s float64
	for i := len(c) - 1; i >= 0; i-- {
		s = s*x + c[i]
	}
	return s
}

// bounded keeps exp of x and its inverse finite for any coefficients.
func bounded(x float64) float64 { return math.Max(-300, math.Min(300, x)) }
