// Package metrics measures classifiers: accuracy with its interval, calibration
// with and without a temperature, and the detection of unknown classes. It is not
// for running them (core/lda and core/lab/baseline do), nor for drawing. The expected calibration
// error and the temperature are those of Guo et al., On Calibration of Modern Neural Networks,
// 2017. The score is that of Brier, 1950. Average precision and the area under the ROC curve stand
// beside their functions.
//
// Scores are unnormalised log probabilities; the probabilities are
// softmax(scores / T) with the temperature T.
package metrics

import "math"

// SoftmaxTo sets dst = softmax(scores / t) and returns its log normaliser, ln Σ_j exp(scores_j /
// t). dst may alias scores. Scores that are all -Inf are alike and have the sum zero.
func SoftmaxTo(dst, scores []float64, t float64) (logSum float64) {
	if len(dst) != len(scores) {
		panic("metrics: wrong length of dst")
	}
	top := math.Inf(-1)
	for _, s := range scores {
		top = math.Max(top, s)
	}
	if math.IsInf(top, -1) {
		for j := range dst {
			dst[j] = 1 / float64(len(dst))
		}
		return top
	}
	sum := 0.0
	for j, s := range scores {
		dst[j] = math.Exp((s - top) / t)
		sum += dst[j]
	}
	for j := range dst {
		dst[j] /= sum
	}
	return top/t + math.Log(sum)
}

// Best returns the index of the largest score, the first among equals.
func Best(scores []float64) int {
	best := 0
	for j, s := range scores {
		if s > scores[best] {
			best = j
		}
	}
	return best
}

// BrierScore returns sum_j (p_j - [j = label])^2, in [0, 2].
func BrierScore(p []float64, label int) float64 {
	sum := 0.0
	for j, v := range p {
		if j == label {
			v--
		}
		sum += v * v
	}
	return sum
}

// MeanCI returns the mean of x and the half-width of its 95 % confidence interval. That is 1.96 sd
// / sqrt(n) with the sample standard deviation, as in the few-shot literature. One value has no
// interval: 0. None has no mean: NaN.
func MeanCI(x []float64) (mean, ci float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v
	}
	mean /= n
	if len(x) < 2 {
		return mean, 0
	}
	ss := 0.0
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	return mean, 1.96 * math.Sqrt(ss/(n-1)/n)
}
