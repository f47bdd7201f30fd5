package lda

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// supportClasses and supportExamples are the largest numbers of classes and examples whose left-out
// scores [Classifier.Support] computes.
const (
	supportClasses  = 32
	supportExamples = 64
)

// support holds the left-out scores of some of a session's examples.
type support struct {
	session.Support
	asked []asked // the examples, in the order of the rows
	begun bool    // they are chosen since the last change
	done  int     // number of rows computed since then
	lent  bool    // the numbers are shared with a clone
}

// asked is an example that is scored under all classes.
type asked struct {
	of *class
	at int // index of the example in the class
}

// Support returns the left-out scores of at most 64 of the session's examples, under the classes
// with examples; see [session.Support]. The caller must not change it. It is valid until the next
// change of the classifier. It costs as much as [shared.supportTo].
func (c *Classifier) Support() *session.Support { return c.answering().ownSupport() }

func (c *Classifier) ownSupport() *session.Support {
	c.gatherSupport(always)
	return &c.support.Support
}

// Prepare does in advance the work of the first answer after changes. It calls more between pieces
// of work, and stops when more returns false. It reports whether the work is complete.
func (c *Classifier) Prepare(more func() bool) bool {
	if c.Settled() {
		return true
	}
	if !c.gatherSupport(more) || !c.infer(more) {
		return false
	}
	if c.chosen == nil && c.compares() {
		if !c.reweigh(more) {
			return false
		}
		for _, o := range c.others {
			if !o.infer(more) {
				return false
			}
		}
	}
	c.Session()
	c.chosen.learn()
	return true
}

// infer computes the posterior of a classifier whose support is gathered, until more returns false.
// It reports whether it has finished.
func (c *Classifier) infer(more func() bool) bool {
	if c.posterior != nil {
		return true
	}
	if c.inferring == nil {
		c.inferring = c.population().Inference(c.ownSupport())
	}
	for left := true; left; left = c.inferring.Next(piece(scoreCost / 2 * len(c.taught))) {
		if !more() {
			return false
		}
	}
	c.posterior, c.inferring = c.inferring.Posterior(), nil
	return true
}

// gatherSupport brings the densities and the support up to date, until more returns false. It reports
// whether it has finished.
func (c *Classifier) gatherSupport(more func() bool) bool {
	if !c.Group(more) || !c.shared.estimate(&c.estimation, c.taught, more) || !c.shared.cov.update(c.taught, more) || !c.settled && !more() {
		return false
	}
	c.settle()
	s, n := &c.support, len(c.taught)
	if !s.begun {
		c.beginSupport()
	}
	for size := c.supportPiece(); s.done < len(s.asked); {
		if !more() {
			return false
		}
		end := min(s.done+size, len(s.asked))
		c.shared.supportTo(s.Scores[s.done*n:], s.Unknown[s.done*n:], c.taught, s.asked[s.done:end])
		s.done = end
	}
	return true
}

// supportPiece returns the number of examples in a piece of work.
func (c *Classifier) supportPiece() int {
	n := c.shared.cov.n
	return piece(len(c.taught)*(c.Dim()+2*n) + n*n/2)
}

// beginSupport chooses the examples and makes room for their scores.
func (c *Classifier) beginSupport() {
	s := &c.support
	s.begun, s.done = true, 0
	if s.asked = c.chooseAsked(); s.lent {
		s.Support, s.lent = session.Support{}, false
	}
	s.Class, s.Shots, s.Bursts = s.Class[:0], s.Shots[:0], s.Bursts[:0]
	at := make(map[*class]int, len(c.taught))
	for j, k := range c.taught {
		at[k] = j
		s.Shots, s.Bursts = append(s.Shots, k.weight()), append(s.Bursts, float64(k.count()))
	}
	for _, a := range s.asked {
		s.Class = append(s.Class, at[a.of])
	}
	s.Scores, s.Unknown = grow(s.Scores, len(s.asked)*len(c.taught)), grow(s.Unknown, len(s.asked)*len(c.taught))
}

// chooseAsked returns the examples of the support. A classifier that follows another one uses the
// same examples as its leader.
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

// chooseAsked returns the examples whose left-out scores are evidence about the session: at most 64,
// of at most 32 classes. It takes those that come first by [byLot], so the order of examples and
// classes does not matter.
func chooseAsked(taught []*class) (chosen []asked) {
	classes := taught
	if len(taught) > supportClasses {
		first := make([][]float64, len(taught))
		for j, k := range taught {
			first[j] = k.row(0)
			for i := range k.count() {
				if byLot(k.row(i), first[j]) < 0 {
					first[j] = k.row(i)
				}
			}
		}
		classes = nil
		for _, j := range firstByLot(first, supportClasses) {
			classes = append(classes, taught[j])
		}
	}
	each := supportExamples / max(1, len(classes))
	for _, k := range classes {
		rows := make([][]float64, k.count())
		for i := range rows {
			rows[i] = k.row(i)
		}
		for _, i := range firstByLot(rows, each) {
			chosen = append(chosen, asked{k, i})
		}
	}
	return chosen
}

// firstByLot returns the indices of the n rows that come first by [byLot], in this order. If there are no
// more than n rows, it returns all in their own order. A sort of many rows would take longer.
func firstByLot(rows [][]float64, n int) (first []int) {
	for i, row := range rows {
		at := len(first)
		for len(rows) > n && at > 0 && byLot(row, rows[first[at-1]]) < 0 {
			at--
		}
		if at < n {
			first = slices.Insert(first[:min(len(first), n-1)], at, i)
		}
	}
	return first
}

// byLot compares two whitened examples by hashes in [0, 1) of their numbers. The first hashes that
// differ decide, since a number may be the same in all examples.
func byLot(x, y []float64) int {
	for i, v := range x {
		if c := cmp.Compare(lot(v), lot(y[i])); c != 0 {
			return c
		}
	}
	return 0
}

func lot(v float64) float64 {
	_, f := math.Modf(math.Abs(v) * 4096)
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

// example returns the class with a label, if it has a b-th example. It returns a *[LabelError] or an
// *[ExampleError] if not.
func (c *Classifier) example(label string, b int) (*class, error) {
	k, err := c.class(label)
	if err != nil {
		return nil, err
	}
	c.Group(always)
	if b < 0 || b >= k.count() {
		return nil, &ExampleError{Label: label, Index: b, Count: k.count()}
	}
	return k, nil
}

// Parts describes embeddings that join the outputs of two networks. Sessions differ in which of the
// two tells their classes apart. A session gives the second part the share s. An embedding x then
// counts as
//
//	x_s = D x |x|/|D x|,   D = diag((1-s) I, s I)
//
// which for s = ½ is x. Among ½ and [Shares], s is the share with the largest ln p(s) +
// [session.Posterior.LogEvidence]: it makes the examples, each left out, most probable. It is ½
// with fewer than two classes, and while no class has two examples.
type Parts struct {
	First int     // numbers of the first part; the others are of the second
	Odds  float64 // ln p(½)/p(s), the same for each other share
}

// Shares lists the shares of the second part beside ½. It does not count, counts half or twice as
// much as the first part, or counts alone.
var Shares = [...]float64{0, 1. / 3, 2. / 3, 1}

// Validate returns a *[niw.ValueError] that names what is out of range, nil for nil.
func (p *Parts) Validate() error {
	if p == nil {
		return nil
	}
	return cmp.Or(
		niw.CheckValue(p.First >= 1, "length of the first part", float64(p.First), "a number from 1"),
		niw.CheckValue(math.Abs(p.Odds) <= 1e3, "log odds of the parts as they are", p.Odds, "a number of magnitude at most 1000"),
	)
}

// reweighted says how a classifier follows its leader: it has the same examples with another share of
// the second part.
type reweighted struct {
	*Parts
	share  float64
	leader *Classifier
	as     map[*class]*class // from a class of the leader to the follower's copy
}

// apply overwrites x with x_s. If r is nil, the classifier follows none and x stays as it is.
func (r *reweighted) apply(x []float64) {
	if r != nil {
		r.Apply(x, r.share)
	}
}

// Apply overwrites x with x_s for the share s. x becomes zero if D x is zero up to rounding. Cost
// O(d).
func (p *Parts) Apply(x []float64, s float64) {
	before := math.Sqrt(squaredNorm(x))
	for i := range x {
		if i < p.First {
			x[i] *= 1 - s
		} else {
			x[i] *= s
		}
	}
	after := math.Sqrt(squaredNorm(x))
	if !(after > rounding*before) { // D x is rounding alone, without a direction
		clear(x)
		return
	}
	for i := range x {
		x[i] *= before / after
	}
}

// rounding is the relative length up to which a part of an embedding may be rounding alone. The
// embedding was whitened and unwhitened before.
const rounding = 1e-9

// whitenTo stores x, reweighted if the classifier follows another one, then whitened, in dst. dst may
// be x.
func (c *Classifier) whitenTo(dst, x []float64) {
	copy(dst, x)
	c.reweighted.apply(dst)
	c.prior.WhitenTo(dst, dst)
}

// whitenRowsTo is whitenTo for the rows of x.
func (c *Classifier) whitenRowsTo(dst, x *mat.Dense) {
	dst.Copy(x)
	for i := range dst.RawMatrix().Rows {
		c.reweighted.apply(dst.RawRowView(i))
	}
	c.prior.WhitenRowsTo(dst, dst)
}

// useParts makes a classifier for each of [Shares], which follows this one. If Parts are those of the
// options before, it keeps the existing ones and only changes their options.
func (c *Classifier) useParts(before Options) {
	now := c.options
	now.Parts = nil
	if p := c.options.Parts; p != before.Parts {
		c.others = nil
		for _, s := range Shares {
			if p != nil && p.First < c.Dim() {
				r := &reweighted{p, s, c, map[*class]*class{}}
				c.others = append(c.others, &Classifier{prior: c.prior, reweighted: r, z: make([]float64, c.Dim())})
			}
		}
	}
	for _, o := range c.others {
		if o.options = now; o.shared == nil {
			o.shared = newShared(&o.options, c.Dim())
		}
	}
}

// reweigh copies the examples of this classifier, reweighted, to the classifiers that follow it, and
// gathers their support. Their bursts are the bursts of this classifier. It stops when more returns
// false, and reports whether it has finished. It costs as much as whitening each new example four
// times, and finding the ids of N examples in their classes.
func (c *Classifier) reweigh(more func() bool) bool {
	if !c.followed && !c.copyTo(more) {
		return false
	}
	for _, o := range c.others {
		if !o.gatherSupport(more) {
			return false
		}
	}
	return true
}

// copyTo is the first part of reweigh: it copies the examples.
func (c *Classifier) copyTo(more func() bool) bool {
	for _, o := range c.others {
		o.mirror(c)
	}
	x, first := make([]float64, c.Dim()), c.others[0]
	for j, k := range c.classes {
		for i := len(first.classes[j].ids) - 1; i >= 0; i-- {
			if slices.Contains(k.ids, first.classes[j].ids[i]) {
				continue
			}
			for _, o := range c.others {
				o.classes[j].remove(i)
			}
		}
		for i, id := range k.ids {
			if ids := first.classes[j].ids; i < len(ids) && ids[i] == id {
				continue
			}
			if !more() {
				return false
			}
			copy(x, k.row(i))
			c.prior.UnwhitenTo(x)
			floats.Add(x, c.prior.M)
			for _, o := range c.others {
				o.whitenTo(o.z, x)
				o.classes[j].insert(i, o.z, k.n[i])
				o.classes[j].ids[i] = id
			}
		}
		for _, o := range c.others {
			o.classes[j].serial = k.serial
		}
	}
	for _, o := range c.others {
		o.changed()
	}
	c.followed = true
	return true
}

// mirror gives a follower the classes of its leader. Classes new to it have no examples yet.
func (c *Classifier) mirror(leader *Classifier) {
	r := c.reweighted
	as := make(map[*class]*class, len(leader.classes))
	c.classes, c.index = c.classes[:0], leader.index
	for _, k := range leader.classes {
		m := r.as[k]
		if m == nil {
			m = newClass(k.label, c.Dim(), 0) // the leader finds the bursts
		}
		m.label, as[k] = k.label, m
		c.classes = append(c.classes, m)
	}
	r.as = as
}
