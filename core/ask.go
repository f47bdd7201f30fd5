package metaqda

import (
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// Answer says what a vector is, and how surely.
type Answer struct {
	Label         string    // of the most probable class, whatever None is
	Probabilities []float64 // C, of each class in the order of Classes
	None          float64   // probability of none of the classes; with Probabilities it sums to one
}

func (c *Classifier) answer(p []float64, none float64) Answer {
	best := 0
	for i, v := range p {
		if v > p[best] {
			best = i
		}
	}
	return Answer{Label: c.classes[best].label, Probabilities: p, None: none}
}

// Recognise says what a vector of length d is. It returns [qda.ErrNoExamples] while no
// class has an example, and a *[niw.DimensionError] or *[niw.ValueError] for a vector
// that is not of length d or not finite. Cost that of [qda.Classifier.ProbabilitiesTo].
func (c *Classifier) Recognise(vector []float32) (Answer, error) {
	p := make([]float64, len(c.classes))
	none, err := c.ProbabilitiesTo(p, vector)
	if err != nil {
		return Answer{}, err
	}
	return c.answer(p, none), nil
}

// Classify says what each of many vectors is, judged together, which is right more often
// than one by one; see [qda.Classifier.Classify] for how and at what cost. A
// context.Context serves as ctx, whose error is returned once it has ended. progress,
// unless nil, is told now and then how much is done of how much. It returns what
// Recognise does, as an [Error] that names the vector by its place.
func (c *Classifier) Classify(ctx qda.Context, vectors [][]float32, progress func(done, total int)) ([]Answer, error) {
	b, err := c.all(vectors, c.BeginClassify)
	if err != nil {
		return nil, err
	}
	if err := b.finish(ctx, progress); err != nil {
		return nil, err
	}
	all := make([]Answer, len(b.Answers.None))
	for i, none := range b.Answers.None {
		all[i] = c.answer(b.Answers.Classes.RawRowView(i), none)
	}
	return all, nil
}

// Suggest says which n of many vectors tell most once they are labelled, the best one
// first: see [qda.Classifier.Suggest]. Nothing need be taught before. ctx, progress and
// errors are as for Classify.
func (c *Classifier) Suggest(ctx qda.Context, vectors [][]float32, n int, progress func(done, total int)) ([]int, error) {
	b, err := c.all(vectors, func(x []float32, d int) (*Batch, error) { return c.BeginSuggest(x, d, n) })
	if err != nil {
		return nil, err
	}
	if err := b.finish(ctx, progress); err != nil {
		return nil, err
	}
	return b.Suggestions, nil
}

// all begins with vectors put one after the other.
func (c *Classifier) all(vectors [][]float32, begin func(x []float32, d int) (*Batch, error)) (*Batch, error) {
	d := c.Dim()
	if d == 0 && len(vectors) > 0 {
		d = len(vectors[0])
	}
	x := make([]float32, 0, len(vectors)*d)
	for i, v := range vectors {
		if len(v) != d {
			return nil, rowless(&qda.RowError{Row: i, Err: &niw.DimensionError{Name: "vector", Got: len(v), Want: d}})
		}
		x = append(x, v...)
	}
	return begin(x, d)
}

// ProbabilitiesTo stores the probability of each class in dst, of length C, and returns
// that of none of them: Recognise without allocation once the classifier has settled,
// with its errors and its cost.
func (c *Classifier) ProbabilitiesTo(dst []float64, vector []float32) (none float64, err error) {
	if c.qda == nil {
		return 0, qda.ErrNoExamples
	}
	if err := c.transform(vector); err != nil {
		return 0, err
	}
	return c.qda.ProbabilitiesTo(dst, c.x)
}

// LeftOut is what an example would be taken for had it never been taught.
type LeftOut struct {
	ID            uint32
	Class         int       // its own, an index into Classes
	Probabilities []float64 // C, of each class; nil for the only example of all
	None          float64   // probability of none of the classes
}

// LeaveOneOut leaves each example out in turn, exactly, and returns the answers in the
// order of [Classifier.Classes]. Frames of a burst are left out together and asked about
// by their mean, hence have the same answer. Cost, for each example, that of removing it
// and of the first answer after that.
func (c *Classifier) LeaveOneOut() ([]LeftOut, error) {
	var all []LeftOut
	for i, k := range c.classes {
		for b := range c.bursts(k) {
			pictures, err := c.qda.Pictures(k.key, b)
			if err != nil {
				return nil, err
			}
			p := make([]float64, len(c.classes))
			none, err := c.qda.LeaveOutTo(p, k.key, b)
			if err == qda.ErrNoExamples {
				p, err = nil, nil
			}
			if err != nil {
				return nil, err
			}
			for _, at := range pictures {
				for _, x := range k.bursts[at].examples {
					all = append(all, LeftOut{ID: x.id, Class: i, None: none, Probabilities: p})
				}
			}
		}
	}
	return all, nil
}

func (c *Classifier) bursts(k *class) int {
	if c.qda == nil {
		return 0
	}
	return c.qda.Bursts(k.key)
}
