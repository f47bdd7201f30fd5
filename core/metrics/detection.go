package metrics

import (
	"cmp"
	"slices"
)

// AUROC returns the area under the ROC curve of a detector: the probability
// that a positive scores higher than a negative, ties counting half.
// It is NaN when either side is empty.
func AUROC(positive, negative []float64) float64 {
	d := newDetection(positive, negative)
	var area, below float64 // below: negatives under the current score
	d.each(func(pos, neg int) {
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
	d := newDetection(positive, negative)
	// From the lowest score up, what remains at or above the score is known.
	tp, fp := float64(len(positive)), float64(len(negative))
	sum := 0.0
	d.each(func(pos, neg int) {
		if pos > 0 {
			sum += float64(pos) * tp / (tp + fp)
		}
		tp -= float64(pos)
		fp -= float64(neg)
	})
	return sum / float64(len(positive))
}

// detection is the scores of both sides in ascending order.
type detection []scored

type scored struct {
	score    float64
	positive bool
}

func newDetection(positive, negative []float64) detection {
	var d detection
	for _, s := range positive {
		d = append(d, scored{s, true})
	}
	for _, s := range negative {
		d = append(d, scored{s, false})
	}
	slices.SortFunc(d, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	return d
}

// each calls f with the numbers of positives and negatives of every distinct
// score, from the lowest up; those that are no number are one score.
func (d detection) each(f func(pos, neg int)) {
	for len(d) > 0 {
		pos, neg := 0, 0
		for s := d[0].score; len(d) > 0 && cmp.Compare(d[0].score, s) == 0; d = d[1:] {
			if d[0].positive {
				pos++
			} else {
				neg++
			}
		}
		f(pos, neg)
	}
}
