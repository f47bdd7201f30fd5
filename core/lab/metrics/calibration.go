package metrics

import "math"

// DefaultBins is the number of reliability bins the paper uses.
const DefaultBins = 20

// Bin is one bar of a reliability diagram: the predictions whose confidence
// (largest probability) falls into an interval.
type Bin struct {
	Count      int     `json:"count"`
	Correct    int     `json:"correct"`
	Confidence float64 `json:"confidence"` // sum over the predictions
}

// Reliability holds the bins of equal width, bin b of B for confidences in
// [b/B, (b+1)/B), the last with 1.
type Reliability []Bin

// NewReliability returns n empty bins.
func NewReliability(n int) Reliability { return make(Reliability, n) }

// Add counts one prediction.
func (r Reliability) Add(confidence float64, correct bool) {
	b := &r[min(max(int(confidence*float64(len(r))), 0), len(r)-1)]
	b.Count++
	b.Confidence += confidence
	if correct {
		b.Correct++
	}
}

// Merge adds the counts of o, which has as many bins.
func (r Reliability) Merge(o Reliability) {
	if len(r) != len(o) {
		panic("metrics: merging reliabilities of different bins")
	}
	for b := range r {
		r[b].Count += o[b].Count
		r[b].Correct += o[b].Correct
		r[b].Confidence += o[b].Confidence
	}
}

// Total returns the number of predictions.
func (r Reliability) Total() int {
	n := 0
	for _, b := range r {
		n += b.Count
	}
	return n
}

// Gap returns |accuracy - mean confidence| of the bin, 0 when it is empty.
func (b Bin) Gap() float64 {
	if b.Count == 0 {
		return 0
	}
	return math.Abs(float64(b.Correct)-b.Confidence) / float64(b.Count)
}

// ECE returns the expected calibration error,
//
//	ECE = sum_b n_b/N |acc(b) - conf(b)|,
//
// as section 5.5 of the paper defines it. No prediction gives 0.
func (r Reliability) ECE() float64 {
	n, sum := r.Total(), 0.0
	if n == 0 {
		return 0
	}
	for _, b := range r {
		sum += b.Gap() * float64(b.Count)
	}
	return sum / float64(n)
}

// MCE returns the maximum calibration error, max_b |acc(b) - conf(b)| over the
// bins that hold predictions.
func (r Reliability) MCE() float64 {
	m := 0.0
	for _, b := range r {
		m = math.Max(m, b.Gap())
	}
	return m
}

// Bounds of a fitted temperature. If all answers on a set are right, there is no best temperature: the
// lower the better. If classes are nearly points, as in QDA with one example each, their densities need
// 1e8 and more.
const (
	minTemperature = 1e-4
	maxTemperature = 1e100
)

// FitTemperature returns the temperature T that minimises the mean negative
// log probability of the labels under softmax(scores / T).
//
// The loss is convex in b = 1/T,
//
//	f(b)  = mean log sum_j exp(b s_j) - b s_y
//	f'(b) = mean E_p[s] - s_y,   f''(b) = mean Var_p[s],
//
// so Newton's method, held inside a shrinking bracket, finds the root of f' to rounding. Without
// scores T is 1. Scores of -Inf have probability zero. Source: Guo et al., On Calibration of Modern
// Neural Networks, 2017.
func FitTemperature(scores [][]float64, labels []int) float64 {
	if len(scores) != len(labels) {
		panic("metrics: scores and labels differ in number")
	}
	if len(scores) == 0 {
		return 1
	}
	lo, hi := 1/maxTemperature, 1/minTemperature
	b := 1.0
	for range 200 {
		d1, d2 := slope(scores, labels, b)
		if d1 > 0 {
			hi = b
		} else {
			lo = b
		}
		next := b - d1/d2
		if !(next > lo && next < hi) {
			next = math.Sqrt(lo * hi)
		}
		if math.Abs(next-b) <= 1e-14*b {
			return 1 / next
		}
		b = next
	}
	return 1 / b
}

// slope returns the first two derivatives of the loss with respect to the inverse temperature.
func slope(scores [][]float64, labels []int, b float64) (d1, d2 float64) {
	for i, s := range scores {
		top := s[Best(s)]
		if math.IsInf(s[labels[i]], -1) {
			continue // probability zero at any temperature
		}
		var z, m1, m2 float64
		for _, v := range s {
			v -= top // keeps the moments small
			if e := math.Exp(b * v); e > 0 {
				z += e
				m1 += e * v
				m2 += e * v * v
			}
		}
		m1 /= z
		d1 += m1 - (s[labels[i]] - top)
		d2 += m2/z - m1*m1
	}
	return d1, d2
}
