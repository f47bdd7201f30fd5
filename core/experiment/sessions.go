package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/metrics"
)

// notBestTo stores in none what a method that knows no none of these has in its
// place, the log odds of any class but the best,
//
//	ln (1-max p)/max p = ln sum_(j != best) exp(s_j) - s_best,
//
// -Inf where there is a single class, and returns it.
func notBestTo(none []float64, scores *mat.Dense) []float64 {
	for i := range none {
		row := scores.RawRowView(i)
		best := metrics.Best(row)
		others := slices.Concat(row[:best], row[best+1:])
		none[i] = metrics.SoftmaxTo(others, others, 1) - row[best]
		if math.IsNaN(none[i]) { // all scores are infinite: all classes alike
			none[i] = math.Log(float64(len(row) - 1))
		}
	}
	return none
}

// addSessions gives what was measured of none of these the names of the protocol,
// and adds how often it decides wrongly.
func (r *Result) addSessions(records []*Record) {
	var known, unseen []float64
	for _, e := range records {
		known, unseen = append(known, e.Open.Known.wide()...), append(unseen, e.Open.Unseen.wide()...)
	}
	r.NoneAUROC, r.NoneECE, r.NoneBrier = r.AUROCNone, r.ECENone, r.BrierNone
	r.AUROCNone, r.ECENone, r.BrierNone = nil, nil, nil
	r.WronglyNone = pointer(shareOf(known, func(logit float64) bool { return logit > 0 }))
	r.WronglyKnown = pointer(shareOf(unseen, func(logit float64) bool { return logit < 0 }))
}

func shareOf(logits []float64, wrong func(float64) bool) float64 {
	n := 0
	for _, v := range logits {
		if wrong(v) {
			n++
		}
	}
	return float64(n) / float64(len(logits))
}
