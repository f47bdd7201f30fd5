package metaqda

import (
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/lda"
	"metaqda/core/niw"
)

// Answer holds the probabilities of a vector and the decision.
type Answer struct {
	Label         string    // of the most probable class, whatever None is; Class and Headline take None into account
	Probabilities []float64 // C, of each class in the order of Classes
	None          float64   // probability of none of the classes; with Probabilities it sums to one
	Decision
}

func (c *Classifier) answer(p []float64, none float64, d Decision) Answer {
	return Answer{Label: c.classes[floats.MaxIdx(p)].Label, Probabilities: p, None: none, Decision: d}
}

// Predict answers for a vector of length d. It returns [lda.ErrNoExamples] if no class has an
// example. It returns a *[niw.DimensionError] for a vector of another length, and a
// *[niw.ValueError] for a number that is not finite. It costs as much as
// [lda.Classifier.ProbabilitiesTo].
func (c *Classifier) Predict(vector []float32) (Answer, error) {
	if err := c.hold(); err != nil {
		return Answer{}, err
	}
	defer c.mu.RUnlock()
	p := make([]float64, len(c.classes))
	none, err := c.probabilitiesTo(p, vector)
	if err != nil {
		return Answer{}, err
	}
	return c.answer(p, none, c.decide(p, none)), nil
}

// ProbabilitiesTo stores the probability of each class in dst, of length C, and returns the
// probability of none of them. It is Predict without allocation once the classifier has settled,
// with the same errors and cost. It returns an [Error] with the code "argument" for a dst of another
// length.
func (c *Classifier) ProbabilitiesTo(dst []float64, vector []float32) (none float64, err error) {
	if err := c.hold(); err != nil {
		return 0, err
	}
	defer c.mu.RUnlock()
	return c.probabilitiesTo(dst, vector)
}

// probabilitiesTo is ProbabilitiesTo under the lock. It changes nothing.
func (c *Classifier) probabilitiesTo(dst []float64, vector []float32) (none float64, err error) {
	if len(dst) != len(c.classes) {
		return 0, &Error{Code: "argument", Message: "The slice for the probabilities has length " + strconv.Itoa(len(dst)) + ", and the number of classes is " + strconv.Itoa(len(c.classes)) + ": make it as long."}
	}
	x := rooms.Get().(*[]float64)
	defer rooms.Put(x)
	*x = slices.Grow((*x)[:0], len(c.x))[:len(c.x)]
	if err := c.transformTo(*x, vector); err != nil {
		return 0, err
	}
	return c.lda.ProbabilitiesTo(dst, *x)
}

// Classify answers for many vectors judged together. That is usually right more often than one by one.
// [lda.Classifier.Classify] says how and at what cost. ctx may be a context.Context, or nil;
// once it has ended, its error is returned. progress, unless nil, is called now and then.
// Errors are those of Predict, as an [Error] that names the index of the vector.
func (c *Classifier) Classify(ctx Context, vectors [][]float32, progress func(done, total int)) ([]Answer, error) {
	b, err := c.finished(ctx, vectors, progress, c.BeginClassify)
	if err != nil {
		return nil, err
	}
	all := make([]Answer, b.Len())
	for i := range all {
		p, none := b.Answer(i)
		all[i] = b.asked.answer(p, none, b.Decide(p, none))
	}
	return all, nil
}

// Suggest returns the n of many vectors whose labels would help most, the best one first: see
// [lda.Classifier.Suggest]. The classifier may be empty. ctx, progress and errors are as for
// Classify.
func (c *Classifier) Suggest(ctx Context, vectors [][]float32, n int, progress func(done, total int)) ([]int, error) {
	b, err := c.finished(ctx, vectors, progress, func(x []float32, d int) (*Batch, error) { return c.BeginSuggest(x, d, n) })
	if err != nil {
		return nil, err
	}
	return b.Suggestions, nil
}

// finished returns a batch about vectors, which begin begins and Finish ends.
func (c *Classifier) finished(ctx Context, vectors [][]float32, progress func(done, total int), begin func(x []float32, d int) (*Batch, error)) (*Batch, error) {
	d := c.Dim()
	if d == 0 && len(vectors) > 0 {
		d = len(vectors[0])
	}
	x := make([]float32, 0, len(vectors)*d)
	for i, v := range vectors {
		if len(v) != d {
			return nil, rowless(&lda.RowError{Row: i, Err: &niw.DimensionError{Name: "vector", Got: len(v), Want: d}})
		}
		x = append(x, v...)
	}
	b, err := begin(x, d)
	if err == nil {
		err = b.Finish(ctx, progress)
	}
	return b, err
}

// Near is an example near a vector.
type Near struct {
	Example  *Example
	Distance float64 // Euclidean, of whitened vectors
	Near     bool    // close enough to be of one burst
}

// Nearest returns the n examples nearest to a vector of length d, the closest first. A group is
// represented by its first frame, at the distance of the group's mean. See
// [lda.Classifier.Nearest]. Errors are those of Predict.
func (c *Classifier) Nearest(vector []float32, n int) ([]Near, error) {
	defer c.writing()()
	if err := c.settle(); err != nil {
		return nil, err
	}
	if err := c.transform(vector); err != nil {
		return nil, err
	}
	found, err := c.lda.Nearest(c.x, n)
	if err != nil {
		return nil, err
	}
	all := make([]Near, len(found))
	for i, f := range found {
		all[i] = Near{Example: c.ids[f.Label].units[f.Picture].frames[0], Distance: f.Distance, Near: f.Linked}
	}
	return all, nil
}

// LeftOut is the answer for an example after leaving it out. Frames of a burst are left out
// together, and their mean is the query.
type LeftOut struct {
	Of            int        // number of examples to leave out, bursts counted once
	Examples      []*Example // one, or the frames of a burst
	Class         int        // their own class, an index into Classes
	Alone         bool       // their class has no other example
	Probabilities []float64  // C, of each class; nil for the only example of all
	None          float64    // probability of none of the classes
}

// LeaveOut predicts the i-th of all examples, a burst counting as one, without itself: see
// [lda.Classifier.LeaveOutTo]. It returns nil for an i out of range. It costs a few times as much as
// Predict. With Settings.Scale, sessions of at most [lda.ExactUpTo] examples scale the columns
// without the example. Larger sessions scale them with all examples.
func (c *Classifier) LeaveOut(i int) (*LeftOut, error) {
	defer c.writing()()
	return c.leaveOutOne(i)
}

func (c *Classifier) leaveOutOne(i int) (*LeftOut, error) {
	if i < 0 || c.settle() != nil {
		return nil, nil
	}
	out, at := &LeftOut{Class: -1}, i
	for j, k := range c.classes {
		n := len(k.Bursts)
		if out.Class < 0 && i < out.Of+n {
			out.Class, out.Alone, at = j, n == 1, i-out.Of
		}
		out.Of += n
	}
	if out.Class < 0 {
		return nil, nil
	}
	k := c.classes[out.Class]
	units, err := c.lda.Pictures(k.ID, at)
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		out.Examples = append(out.Examples, k.units[u].frames...)
	}
	out.Probabilities = make([]float64, len(c.classes))
	if c.settings.Scale != "" && out.Of > 1 && out.Of <= lda.ExactUpTo {
		out.None, err = c.leaveOutAnew(out)
		return out, err
	}
	if out.None, err = c.lda.LeaveOutTo(out.Probabilities, k.ID, at); err == lda.ErrNoExamples {
		out.Probabilities, err = nil, nil
	}
	return out, err
}

// leaveOutAnew predicts with a copy that lacks the examples and scales its columns without them.
// It costs as much as teaching the copy.
func (c *Classifier) leaveOutAnew(out *LeftOut) (none float64, err error) {
	without, err := c.clone()
	if err != nil {
		return 0, err
	}
	for _, x := range out.Examples {
		if err := without.do(Entry{Do: "example", ID: x.ID}); err != nil {
			return 0, err
		}
	}
	if err := without.settle(); err != nil {
		return 0, err
	}
	if err := without.mean(&unit{frames: out.Examples}); err != nil {
		return 0, err
	}
	return without.lda.ProbabilitiesTo(out.Probabilities, without.x)
}

// LeaveOneOut leaves each example out in turn and returns the answers in the order of
// [Classifier.Classes]. ctx and progress are as for Classify. It costs as much as
// [Classifier.LeaveOut] for each.
func (c *Classifier) LeaveOneOut(ctx Context, progress func(done, total int)) ([]LeftOut, error) {
	b, err := c.BeginLeaveOneOut()
	if err != nil {
		return nil, err
	}
	err = b.Finish(ctx, progress)
	return b.LeftOut, err
}
