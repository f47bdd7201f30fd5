package qda

import (
	"cmp"
	"math"
	"slices"

	"metaqda/core/session"
)

// supportClasses and supportExamples bound the work of reading off a large
// session what it says of itself.
const (
	supportClasses  = 32
	supportExamples = 64
)

// support is a session's own examples under its own classes.
type support struct {
	session.Support
	asked []asked
}

// asked is an example that is asked under all classes.
type asked struct {
	of *class
	at int // which example of it
}

// Support returns what the session's own examples say, at most 64 of them, of
// classes that have examples; see [session.Support]. It must not be changed and
// holds until the next change of the classifier. Cost that of [shared.supportTo].
func (c *Classifier) Support() *session.Support { return c.answering().ownSupport() }

func (c *Classifier) ownSupport() *session.Support {
	c.gatherSupport(always)
	return &c.support.Support
}

// Prepare does what the first answer after changes would do beforehand, as long as
// more says so, and reports whether that is all.
func (c *Classifier) Prepare(more func() bool) bool {
	if len(c.taught) == 0 || c.posterior != nil && c.settled && c.chosen != nil {
		return true
	}
	if !c.gatherSupport(more) || c.chosen == nil && c.compares() && !c.follow(more) {
		return false
	}
	c.Session()
	return true
}

// gatherSupport brings the support up to date, unless more says that it is enough for
// now.
func (c *Classifier) gatherSupport(more func() bool) bool {
	if !c.shared.cov.update(c.taught, more) {
		return false
	}
	c.settle()
	s := &c.support
	s.asked = c.chooseAsked()
	s.Class, s.Shots = s.Class[:0], s.Shots[:0]
	at := make(map[*class]int, len(c.taught))
	for j, k := range c.taught {
		at[k] = j
		s.Shots = append(s.Shots, float64(k.count()))
	}
	for _, a := range s.asked {
		s.Class = append(s.Class, at[a.of])
	}
	s.Scores, s.Unknown = grow(s.Scores, len(s.asked)*len(c.taught)), grow(s.Unknown, len(s.asked)*len(c.taught))
	c.shared.supportTo(s.Scores, s.Unknown, c.taught, s.asked)
	return true
}

// chooseAsked returns which examples are asked: of a classifier that follows another one
// the same as there.
func (c *Classifier) chooseAsked() []asked {
	r := c.reweighted
	if r == nil {
		return chooseAsked(c.taught)
	}
	chosen := chooseAsked(r.leader.taught)
	for i, a := range chosen {
		chosen[i].of = r.as[a.of]
	}
	return chosen
}

// chooseAsked returns which examples of a session are asked what they say of it: at most
// 64, of at most 32 classes, by a number that hardly anything is known from but the
// example itself, so that neither the order of examples nor that of classes matters.
func chooseAsked(taught []*class) (chosen []asked) {
	classes := slices.Clone(taught)
	if len(classes) > supportClasses {
		first := make(map[*class]float64, len(classes))
		for _, k := range classes {
			first[k] = 1
			for i := range k.count() {
				first[k] = min(first[k], k.lot(i))
			}
		}
		slices.SortStableFunc(classes, func(a, b *class) int { return cmp.Compare(first[a], first[b]) })
		classes = classes[:supportClasses]
	}
	each := supportExamples / max(1, len(classes))
	for _, k := range classes {
		order := make([]int, k.count())
		for i := range order {
			order[i] = i
		}
		if len(order) > each {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(k.lot(a), k.lot(b)) })
			order = order[:each]
		}
		for _, i := range order {
			chosen = append(chosen, asked{k, i})
		}
	}
	return chosen
}

// lot is a number in [0, 1) drawn by the digits of the i-th example.
func (c *class) lot(i int) float64 {
	x := c.row(i)
	_, f := math.Modf(math.Abs(x[0]) * 4096)
	return f
}

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
// of a classifier that differs in nothing else. The session's mean, its log temperature and
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
	z, all := map[*Classifier][]float64{}, []*Classifier{c}
	if c.answering(); c.compares() {
		all = append(all, c.others...)
	}
	for _, v := range all {
		v.settle()
		same := v.classes[c.index[label]]
		z[v] = slices.Clone(same.row(b))
		defer v.changed()
		defer v.shared.keep(same)()
	}
	k.remove(b)
	c.changed()
	if len(c.taught) == 0 {
		return 0, ErrNoExamples
	}
	a := c.answering()
	return a.probabilities(dst, a.own(), z[a]), nil
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
