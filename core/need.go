package metaqda

// Need says which class needs another example most.
type Need struct {
	Class        int     // an index into Classes, -1 if fewer than two have examples
	ConfusedWith int     // the class that it is confused with most, -1 if that is not known
	Doubt        float64 // mean probability of other classes for its examples, each left out; see needOf
}

// needPrior is how many examples of the mean doubt each class has beforehand.
const needPrior = 2

// Needs returns the class that needs another example most, and the class that it is confused with
// most. Each of the n_j examples of class j is left out, and p are its probabilities given that it
// is one of the classes. The class is the one with the largest
//
//	D_j/n_j,   D_j = (Σ_i (1 - p_ij) + 2 D)/(asked_j + 2)
//
// D is the mean doubt of all classes; a class that cannot be asked about has ½. It is confused most
// with the class k of the largest sum of p_ik over j's examples and p_ij over k's. The next example
// of the needy class adds 1.7 times the accuracy that one of a random class adds
// (core/lab/experiment/RESULTS.md). ctx and progress are as for Classify. Cost that of
// [Classifier.LeaveOneOut]; none after [Classifier.Influence] or Needs, until something changes.
func (c *Classifier) Needs(ctx Context, progress func(done, total int)) (Need, error) {
	b, err := c.BeginInfluence(0)
	if err != nil {
		return Need{}, err
	}
	err = b.Finish(ctx, progress)
	return b.Need, err
}

// needed is what a version of the classifier needs.
type needed struct {
	version uint64
	Need
}

// knownNeed returns what the classifier needs, nil until that is computed.
func (c *Classifier) knownNeed() *Need {
	defer c.reading()()
	if c.need == nil || c.need.version != c.version {
		return nil
	}
	return &c.need.Need
}

func (c *Classifier) noteNeed(version uint64, need Need) {
	defer c.writing()()
	c.need = &needed{version, need}
}

// needOf is [Classifier.Needs] by all examples left out, of the given number of classes.
func needOf(left []LeftOut, classes int) Need {
	n, asked, doubts := make([]float64, classes), make([]float64, classes), make([]float64, classes)
	confused := make([]float64, classes*classes)
	for i := range left {
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
				confused[j*classes+x.Class] += p / known
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
