package metaqda

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Influence describes an example that looks like another class, and how the answers to the other
// examples change without it.
type Influence struct {
	LeftOut         // the example or burst, and the answer after leaving it out
	Like    int     // the most probable other class, an index into Classes
	Odds    float64 // ln p(Like)/p(Class) after leaving it out, above 0
	Asked   int     // number of other examples that were predicted with and without it
	Right   int     // change of the number of right decisions about these, without it
	LogProb float64 // change of their mean ln p(own class)
}

// MostInfluence bounds the work of [Classifier.Influence].
const MostInfluence = 12

// The examples found cost at most mostAnswers predictions, except for the first leastInfluence ones.
const mostAnswers, leastInfluence = 1000 * MostInfluence, 3

// noneOverLike bounds p(none)/p(Like). An example above it looks like none of the classes, so it is not
// listed.
const noneOverLike = 10

// leastProb replaces lower probabilities in logarithms, so that one answer cannot outweigh all others.
const leastProb = 1e-6

// Influence finds the examples that probably have a wrong label, the most probable first. It leaves
// each example out. Then another class must be more probable than the example's own, and at least a
// tenth as probable as none of these. The log odds of both classes give the order. There are at most
// 12, and fewer in sessions of more than a thousand examples. For each example found, Influence predicts
// every other example once more, left out, without the found one. So Right and LogProb are exact in the
// sense of [lda.Classifier.LeaveOutTo]. The only example of a class is not predicted.
//
// This order has 80 % of the wrong labels that cost accuracy among its first three. An order by
// LogProb has 43 % (core/lab/experiment/RESULTS.md). ctx and progress are as for Classify. It costs
// as much as [Classifier.LeaveOneOut], once more for each example found.
func (c *Classifier) Influence(ctx Context, progress func(done, total int)) ([]Influence, error) {
	b, err := c.BeginInfluence(MostInfluence)
	if err != nil {
		return nil, err
	}
	err = b.Finish(ctx, progress)
	return b.Influence, err
}

// BeginInfluence begins [Classifier.Influence] for at most limit examples, as a [Batch]. It also
// computes [Classifier.Needs].
func (c *Classifier) BeginInfluence(limit int) (*Batch, error) {
	if need := c.knownNeed(); limit == 0 && need != nil {
		return &Batch{Need: need.Need, labels: need.labels, bursts: need.bursts, done: 1, total: 1, next: func() (struct{}, bool) { return struct{}{}, false }, stop: func() {}}, nil
	}
	err := c.reserve(c.Count() * (8*c.Len() + 400))
	if err != nil {
		return nil, err
	}
	own, err := c.Clone()
	if err != nil {
		return nil, err
	}
	version := own.version
	return own.batch(func(b *Batch, ctx Context, progress func(done, total int)) error {
		left, err := own.leaveOut(ctx, func(done, of int) { progress(done, (1+limit)*of) })
		if err != nil {
			return err
		}
		b.Need = needOf(left, own.Len(), func() { progress(len(left), (1+limit)*len(left)) })
		c.noteNeed(&needed{version, b.Need, own.Labels(), own.Bursts()})
		found := suspects(left, min(max(0, limit), max(leastInfluence, mostAnswers/max(1, len(left)))))
		for i := range found {
			less, err := own.without(found[i].Examples)
			if err != nil {
				return err
			}
			err = less.leaveEach(ctx, comparing(&found[i], left), func(done, _ int) { progress((1+i)*len(left)+done, (1+len(found))*len(left)) })
			if err != nil {
				return err
			}
			found[i].LogProb /= float64(max(1, found[i].Asked))
		}
		b.Influence = found
		return nil
	}), nil
}

// leaveOut returns the answers of [Classifier.leaveEach].
func (c *Classifier) leaveOut(ctx Context, progress func(done, of int)) (all []LeftOut, err error) {
	if err = c.leaveEach(ctx, func(x *LeftOut) { all = append(all, *x) }, progress); err != nil {
		return nil, err
	}
	return all, nil
}

// leaveEach leaves out each example in turn, and passes its answer to take.
func (c *Classifier) leaveEach(ctx Context, take func(*LeftOut), progress func(done, of int)) error {
	if !c.Prepare(func() bool { progress(0, 1); return ctx.Err() == nil }) {
		return ctx.Err()
	}
	for i := 0; ; i++ {
		out, err := c.LeaveOut(i)
		if out == nil || err != nil {
			return err
		}
		take(out)
		if progress(i+1, out.Of); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// suspects returns at most limit examples to which another class fits better, the worst first.
func suspects(left []LeftOut, limit int) []Influence {
	like, odds, order := make([]int, len(left)), make([]float64, len(left)), []int(nil)
	for i := range left {
		x := &left[i]
		if x.Alone || x.Probabilities == nil {
			continue
		}
		p, own := x.Probabilities, x.Probabilities[x.Class]
		p[x.Class] = -1
		like[i], p[x.Class] = floats.MaxIdx(p), own
		if odds[i] = logOf(p[like[i]]) - logOf(own); odds[i] > 0 && noneOverLike*p[like[i]] > x.None {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(odds[j], odds[i]) })
	found := make([]Influence, min(len(order), limit))
	for k := range found {
		i := order[k]
		found[k] = Influence{LeftOut: left[i], Like: like[i], Odds: odds[i]}
	}
	return found
}

func logOf(p float64) float64 { return math.Log(math.Max(p, leastProb)) }

// without returns a clone that lacks some examples.
func (c *Classifier) without(examples []*Example) (*Classifier, error) {
	less, err := c.Clone()
	if err != nil {
		return nil, err
	}
	for _, e := range examples {
		if err := less.Remove(e.ID); err != nil {
			return nil, err
		}
	}
	return less, nil
}

// comparing returns a function that takes an answer given without x. It adds the difference from the
// answer before to Asked, Right and LogProb of x. Bursts may differ without x, so each burst of
// before is looked up by its first frame.
func comparing(x *Influence, before []LeftOut) func(now *LeftOut) {
	at := make(map[string]*LeftOut, len(before))
	for i := range before {
		at[before[i].Examples[0].ID] = &before[i]
	}
	right := func(a *LeftOut) int {
		if decided(a.Probabilities, a.None) == a.Class {
			return 1
		}
		return 0
	}
	return func(now *LeftOut) {
		for _, e := range now.Examples {
			old := at[e.ID]
			if old == nil || old.Alone || now.Alone {
				continue
			}
			x.Asked++
			x.Right += right(now) - right(old)
			x.LogProb += logOf(now.Probabilities[now.Class]) - logOf(old.Probabilities[old.Class])
		}
	}
}
