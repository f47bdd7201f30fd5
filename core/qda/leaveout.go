package qda

import (
	"slices"

	"metaqda/core/niw"
)

// Pictures returns the pictures that make up the b-th example of a class, counted
// from 0 in the order they were added: one, or the frames of a burst. It returns a
// *[LabelError] or an *[ExampleError].
func (c *Classifier) Pictures(label string, b int) ([]int, error) {
	k, err := c.example(label, b)
	if err != nil {
		return nil, err
	}
	return slices.Clone(k.list[b].pictures), nil
}

// LeaveOutTo asks what the b-th example of a class would be taken for had it never
// been taught: dst, of length C, and none are the answer of [Classifier.ProbabilitiesTo]
// of a classifier that differs in nothing else. The session's mean, its hardness and
// its level of unknowns are those without it too, which is leave-one-out
// cross-validation by its definition. A burst is left out as a whole and asked about
// by its mean. Where it is the only example of its class the class gets zero, where
// it is the only one of all [ErrNoExamples] is returned.
//
// Nothing changes, to the bit. Cost that of removing an example and of the first
// prediction after it, see [Classifier.Support]; twice, since the next prediction
// finds the example back.
func (c *Classifier) LeaveOutTo(dst []float64, label string, b int) (none float64, err error) {
	if len(dst) != len(c.classes) {
		panic("qda: destination of wrong length")
	}
	k, err := c.example(label, b)
	if err != nil {
		return 0, err
	}
	z := slices.Clone(k.row(b))
	if c.shared != nil {
		c.settle()
		defer c.shared.keep(k)()
	}
	group := new(niw.Group)
	if k.lowRank() {
		group.CopyFrom(&k.group)
	}
	k.remove(b, c.empty)
	c.changed()
	defer func() {
		insertRow(&k.w, b, z)
		if k.b.Cols > 0 {
			insertRow(&k.b, b, nil)
			c.prior.PartnerTo(rowOf(k.b, b), z)
		}
		k.cross, k.ids = append(k.cross, 0), slices.Insert(k.ids, b, 0)
		k.identify(b)
		if k.lowRank() {
			k.group = *group
		}
		k.touch()
		c.changed()
	}()
	if len(c.taught) == 0 {
		return 0, ErrNoExamples
	}
	posterior := c.Session()
	q := point{z: z, r2: squaredNorm(z)}
	q.along = c.centre.along(z, nil)
	return c.probabilities(dst, posterior, q), nil
}

// example returns the class that has the b-th example.
func (c *Classifier) example(label string, b int) (*class, error) {
	k, err := c.class(label)
	if err != nil {
		return nil, err
	}
	if b < 0 || b >= k.count() {
		return nil, &ExampleError{Label: label, Index: b, Count: k.count()}
	}
	return k, nil
}
