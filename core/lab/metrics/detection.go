package metrics

import (
	"cmp"
	"slices"
)

// AUROC returns the area under the ROC curve of a detector: the probability
// that a positive scores higher than a negative, ties counting half.
// It is NaN when either side is empty.
func AUROC(positive, negative []float64) float64 {
	var area, below float64 // below: negatives under the current score
	eachScore(positive, negative, func(pos, neg int) {
		area += float64(pos) * (below + float64(neg)/2)
		below += float64(neg)
	})
	return area / (float64(len(positive)) * float64(len(negative)))
}

// AUPR returns the average precision of a detector,
//
//	sum_n (R_n - R_(n-1)) P_n
//
// over the distinct scores from the highest down, where precision P and recall
// R take all examples that score at least as high: equal scores enter
// together, whatever their order. It is NaN when there is no positive.
func AUPR(positive, negative []float64) float64 {
	// From the lowest score up, what remains at or above the score is known.
	tp, fp := float64(len(positive)), float64(len(negative))
	sum := 0.0
	eachScore(positive, negative, func(pos, neg int) {
		if pos > 0 {
			sum += float64(pos) * tp / (tp + fp)
		}
		tp -= float64(pos)
		fp -= float64(neg)
	})
	return sum / float64(len(positive))
}

// eachScore calls f with the numbers of positives and negatives of every distinct
// score, in ascending order. All NaN count as one score.
func eachScore(positive, negative []float64, f func(pos, neg int)) {
	p, n := slices.Sorted(slices.Values(positive)), slices.Sorted(slices.Values(negative))
	for len(p)+len(n) > 0 {
		lowest := slices.MinFunc(slices.Concat(p[:min(1, len(p))], n[:min(1, len(n))]), cmp.Compare)
		above := func(v float64) bool { return cmp.Compare(v, lowest) > 0 }
		take := func(x []float64) (count int) {
			if count = slices.IndexFunc(x, above); count < 0 {
				count = len(x)
			}
			return count
		}
		pos, neg := take(p), take(n)
		p, n = p[pos:], n[neg:]
		f(pos, neg)
	}
}
