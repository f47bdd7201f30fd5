package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Posterior is the distribution of a session's theta, given its examples.
type Posterior struct {
	temperature temperature
	known       known
	from        *examples // nil for one of [Posterior.Without]
}

// examples are the evidence of a session's examples.
type examples struct {
	population     *Population
	support        Support
	said           []said
	unknown, known []float64 // results of [Support.scores]
}

// Infer returns the posterior of the session, sections 3 and 4. Without examples
// it is the population. Cost O(N C) exponentials a node.
func (p *Population) Infer(s *Support) *Posterior { return p.Inference(s).Posterior() }

// Inference is [Population.Infer] in pieces.
type Inference struct {
	population *Population
	support    *Support
	u          []float64
	said       []said // of the first examples
}

// Inference begins an inference in pieces.
func (p *Population) Inference(s *Support) *Inference {
	return &Inference{population: p, support: s, u: s.ratios(p)}
}

// Next computes the evidence of the next n examples, and reports whether there are more. Cost C
// exponentials a node for each.
func (q *Inference) Next(n int) (more bool) {
	all := len(q.support.Class)
	if q.support.Way() < 2 {
		return false // labels of one class say nothing
	}
	for ; n > 0 && len(q.said) < all; n-- {
		q.said = append(q.said, q.population.said(q.support, q.u, len(q.said)))
	}
	return len(q.said) < all
}

// Posterior computes the evidence of all examples that are left, and returns the posterior. The
// support must not change as long as [Posterior.Without] is called.
func (q *Inference) Posterior() *Posterior {
	q.Next(len(q.support.Class))
	p, s := q.population, q.support
	unknown, own := s.scores(p, q.u, p.LeftOut)
	from := &examples{p, *s, q.said, unknown, own}
	return &Posterior{p.temperatureOf(q.said, s.left), p.inferKnown(unknown, own, s.Bursts, s.Way()), from}
}

// ProbabilitiesTo stores p(y=j | x) in dst and returns the probability of none of the classes; all
// of them sum to one. The query has the calibrated log density ratios u. exp(logPrior) are the
// prior probabilities of the classes, and none is the one of no class. scratch has the length of
// dst. Cost C exponentials a node of h, without allocation.
func (q *Posterior) ProbabilitiesTo(dst, u, logPrior []float64, none float64, scratch []float64) float64 {
	q.ClassesTo(dst, u, logPrior, nil, scratch)
	if none == 0 {
		return 0
	}
	floats.AddTo(scratch, u, logPrior)
	in, out := q.known.at(floats.LogSumExp(scratch), LogOdds(none))
	for j := range dst {
		dst[j] *= in
	}
	return out
}

// ClassesTo stores p(y=j | x, known) in dst as ProbabilitiesTo does where none is 0,
// after more evidence of h, if any.
func (q *Posterior) ClassesTo(dst, u, logPrior []float64, more *Evidence, scratch []float64) {
	h := &q.temperature
	if more != nil {
		moved := q.temperature
		floats.Add(moved.log[:], more[:])
		normalise(moved.weight[:], moved.log[:])
		h = &moved
	}
	h.classesTo(dst, u, logPrior, scratch)
	for j, v := range dst {
		dst[j] = math.Min(v, 1) // a sum of weights may round above it
	}
}

// LogEvidence returns the log probability of the classes of the session's own examples, each left
// out, with its likelihood to the power of Weight:
//
//	ln ∫ p(h) Π_i softmax_{y_i}(u_i e^-h)^Weight dh
//
// where p(h) is the population's ([LogTemperature]). It serves to compare several transforms of the
// same examples. It is 0 if no class has two examples.
func (q *Posterior) LogEvidence() float64 { return floats.LogSumExp(q.temperature.log[:]) }

// LogTemperature returns the mean of h: above zero where the session's classes are
// harder to separate than those of most sessions.
func (q *Posterior) LogTemperature() (h float64) {
	for k, w := range q.temperature.weight {
		h -= w * math.Log(q.temperature.inverseT[k])
	}
	return h
}

// Table is a [Posterior] as numbers. With u and s of MODEL.md
//
//	p(y=j | x, known) = Σ_k HardWeight_k softmax_j(ln π_j + u_j InverseT_k)
//	p(known | x)      = Σ_k KnownWeight_k σ(Slope_k s + Offset_k + ln π_known/π_none)
type Table struct {
	InverseT, HardWeight       []float64
	Slope, Offset, KnownWeight []float64
}

// Table returns the nodes of the posterior, which must not be changed.
func (q *Posterior) Table() Table {
	n := len(q.known.lines)
	lines := make([]float64, 2*n)
	t := Table{q.temperature.inverseT[:], q.temperature.weight[:], lines[:n], lines[n:], q.known.weight[:]}
	for k, l := range q.known.lines {
		t.Slope[k], t.Offset[k] = l.slope, l.offset
	}
	return t
}

// LogOdds returns ln π_known/π_none for the prior probability of none of the classes,
// a number beyond all scores if that is zero.
func LogOdds(none float64) float64 {
	if none == 0 {
		return math.MaxFloat64
	}
	return math.Log1p(-none) - math.Log(none)
}
