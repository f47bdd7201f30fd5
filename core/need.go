package metaqda

// Need says which class needs another example most.
type Need struct {
	Class        int     // an index into Classes, -1 if fewer than two have examples
	ConfusedWith int     // the class that it is confused with most, -1 if that is not known
	Doubt        float64 // D_j of [Classifier.Needs]: mean probability of other classes for its examples, shrunk to the mean of all classes
}

// needPrior is the number of examples that the mean doubt counts as in D_j of [Classifier.Needs].
const needPrior = 2

// Needs returns the class that needs another example most, and the class that it is confused with
// most. Class j has n_j examples, a burst being one. Each is left out, and p_ik is the probability of
// class k for example i, given that i is of one of the classes. Needs chooses the class j with the
// largest
//
//	D_j/n_j,   D_j = (Σ_i (1 - p_ij) + 2 D)/(asked_j + 2)
//
// asked_j is the number of j's examples that could be predicted without them: none if n_j is 1. D is
// the mean over the classes of Σ_i (1 - p_ij)/asked_j, or ½ where asked_j is 0. Class j is confused
// most with the class k for which Σ p_ik over j's examples plus Σ p_ij over k's is largest. In
// experiments an example of the chosen class raised accuracy 1.7 times as much as one of a random
// class (core/lab/experiment/RESULTS.md).
//
// ctx and progress are as for Classify. It costs as much as [Classifier.LeaveOneOut]; nothing after
// [Classifier.Influence] or Needs, until something changes.
func (c *Classifier) Needs(ctx Context, progress func(done, total int)) (Need, error) {
	b, err := c.BeginInfluence(0)
	if err != nil {
		return Need{}, err
	}
	err = b.Finish(ctx, progress)
	return b.Need, err
}

// needed is the result of [Classifier.Needs] for a version of the classifier, with its labels and
// bursts.
type needed struct {
	version uint64
	Need
	labels []string
	bursts []int
}

// knownNeed returns the result of Needs for the present version, nil until it is computed.
func (c *Classifier) knownNeed() *needed {
	defer c.reading()()
	if c.need == nil || c.need.version != c.version {
		return nil
	}
	return c.need
}

func (c *Classifier) noteNeed(need *needed) {
	defer c.writing()()
	c.need = need
}

// needOf computes the result of [Classifier.Needs] from the answers to all examples, each left out.
// classes is the number of classes. needOf calls rest now and then.
func needOf(left []LeftOut, classes int, rest func()) Need {
	n, asked, doubts := make([]float64, classes), make([]float64, classes), make([]float64, classes)
	confused := make([]float64, classes*classes)
	for i := range left {
		if i%restRows == restRows-1 {
			rest()
		}
		x := &left[i]
		n[x.Class]++
		known := 1 - x.None
		if x.Alone || x.Probabilities == nil || known <= 0 {
			continue
		}
		asked[x.Class]++
		for j, p := range x.Probabilities {
			if j != x.Class {
				doubts[x.Class] += p / known
				confused[x.Class*classes+j] += p / known
			}
		}
	}
	mean, taught := 0.0, 0.0
	for j := range n {
		if n[j] > 0 {
			taught++
			if mean += 0.5; asked[j] > 0 {
				mean += doubts[j]/asked[j] - 0.5
			}
		}
	}
	need, most := Need{Class: -1, ConfusedWith: -1}, 0.0
	if taught < 2 {
		return need
	}
	mean /= taught
	for j := range n {
		if d := (doubts[j] + needPrior*mean) / (asked[j] + needPrior); n[j] > 0 && (need.Class < 0 || d/n[j] > most) {
			need.Class, need.Doubt, most = j, d, d/n[j]
		}
	}
	most = 0
	for k := range n {
		if p := confused[k*classes+need.Class] + confused[need.Class*classes+k]; k != need.Class && p > most {
			need.ConfusedWith, most = k, p
		}
	}
	return need
}
