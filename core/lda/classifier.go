// Package lda is the few-shot classifier: named classes of examples. Its probabilities always
// include the case that a query belongs to none of them. It does not learn the prior
// (core/lab/metatrain does) and keeps nothing on disk (core/model does).
//
// A class is a Gaussian. Its examples move its mean away from the mean of the session. All classes
// share one scale matrix: the prior's, plus the scatter of every class about its own mean. The
// difference between the log densities of a class and of a class without examples is linear in the
// query. core/session turns these differences into probabilities.
//
// The density is in shared.go and covariance.go, bursts are in burst.go. The paper's own
// densities are in package discriminant.
//
// Vectors are transformed embeddings (package embed). Adding and removing a picture are exact:
// the remaining pictures answer as if they alone had been added, in that order. This holds to
// the bit while N - C/2 is at most 64, for N examples of C classes, and beyond that to rounding. The
// order matters only for rounding, and where Options.Near groups near-copies into bursts.
package lda

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// Options choose the densities, and how they become probabilities.
type Options struct {
	Shared     float64             // w of [covariance]: weight of the examples' scatter in the session's scale matrix; with Spread it is estimated, see [estimation]
	Kappa      float64             // kappa: the number of examples that the session's mean counts as in the mean of a class; likewise
	NonePrior  float64             // prior probability of none of these, in [0, 1); 0 is the closed set
	Near       float64             // squared whitened distance at which two pictures of a class correlate by 1/√2; with Spread it is in units of the session's spread; 0 for no correlation; see [bursts]
	Centre     float64             // kappa_d; a larger one keeps the session's own mean closer to m
	Spread     float64             // n_2 of the session's spread, the unit of densities; 0 for the prior's unit
	ByClasses  float64             // power of half the number of classes in that unit, if n_2 is not 0
	Population *session.Population // how densities become probabilities; nil for Bayes' rule as it stands
	Parts      *Parts              // of embeddings; nil for a single part
	Filled     int                 // how many of the d numbers differ from zero in some embedding; 0 for d
}

// filled returns how many of the d numbers differ from zero in some embedding.
func (o *Options) filled(d int) float64 {
	if o.Filled > 0 {
		d = o.Filled
	}
	return float64(d)
}

// Validate returns a *[niw.ValueError] for an option out of range.
func (o *Options) Validate() error {
	return cmp.Or(
		niw.CheckValue(o.NonePrior >= 0 && o.NonePrior < 1, "prior probability of none of these", o.NonePrior, "a number from 0 to below 1"),
		niw.CheckValue(o.Near >= 0 && o.Near <= math.MaxFloat64, "squared distance at which pictures correlate", o.Near, "a finite number from 0"),
		niw.CheckValue(o.Centre >= 0 && o.Centre <= math.MaxFloat64, "kappa of the session's mean", o.Centre, "a finite number from 0"),
		niw.CheckValue(o.Spread == 0 || o.Spread >= 1e-9 && o.Spread <= 1e9, "count of the session's spread", o.Spread, "0 or a number from 1e-9 to 1e9"),
		niw.CheckValue(math.Abs(o.ByClasses) <= 10, "power of the number of classes", o.ByClasses, "a number of magnitude at most 10"),
		niw.CheckValue(o.Shared >= 1e-9 && o.Shared <= 1e9, "weight of the session's scatter", o.Shared, "a number from 1e-9 to 1e9"), // quotients by less overflow
		niw.CheckValue(o.Kappa >= 1e-9 && o.Kappa <= 1e9, "kappa of the class means", o.Kappa, "a number from 1e-9 to 1e9"),
		o.Parts.Validate(),
		o.Population.Validate(),
	)
}

// Classifier holds C classes over embeddings of length d. While [Classifier.Settled] reports
// true, several goroutines may call [Classifier.ProbabilitiesTo] at once. Other methods are not
// safe for concurrent use.
type Classifier struct {
	prior     *niw.Prior
	options   Options
	near      float64 // near of the classes
	measured  bool    // near is up to date
	grouped   bool    // the bursts of all classes are found by near
	classes   []*class
	index     map[string]int
	shared    *shared
	taught    []*class // classes with examples
	settled   bool     // the fields below are up to date
	support   support
	posterior *session.Posterior // nil when not computed
	inferring *session.Inference // of it, nil when not begun
	left      *leftOuts          // nil when not computed
	work      work
	spare     *sync.Pool // of *work, for concurrent predictions
	linear    *linear
	z         []float64

	estimation estimation    // of w and kappa of shared
	others     []*Classifier // one for each share of [Parts]
	chosen     *Classifier   // nil when not known
	followed   bool          // the others have all examples
	reweighted *reweighted   // nil unless this follows another classifier
}

// New returns a classifier without classes. It keeps the prior, which must not change
// afterwards. It returns the error of [niw.Prior.Validate] or a *[niw.ValueError] about the
// options.
func New(p *niw.Prior, o Options) (*Classifier, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Classifier{prior: p, index: map[string]int{}, z: make([]float64, p.Dim())}
	c.use(o)
	return c, nil
}

// use sets valid options.
func (c *Classifier) use(o Options) {
	before := c.options
	c.options, c.grouped, c.settled, c.followed, c.chosen = o, false, false, false, nil
	c.estimation = estimation{}
	if c.shared == nil {
		c.shared = newShared(&c.options, c.Dim())
	}
	c.near, c.measured = c.nearOf(), true
	c.useParts(before)
}

// Dim returns d.
//
//go:noinline // some kilobytes less to download
func (c *Classifier) Dim() int { return c.prior.Dim() }

// SetOptions replaces the options and keeps the pictures. It returns a *[niw.ValueError] for an option
// out of range, and then changes nothing. Cost O(C d), or O(1) if only NonePrior changes. After a
// change of Near or Shared the next answer finds the bursts or the scale matrix anew.
func (c *Classifier) SetOptions(o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	now := c.options
	if now.NonePrior = o.NonePrior; now != o {
		c.use(o)
		return nil
	}
	c.options = o
	for _, other := range c.others {
		other.options.NonePrior = o.NonePrior
	}
	return nil
}

// Labels returns the C labels in the order of the classes.
func (c *Classifier) Labels() []string {
	labels := make([]string, len(c.classes))
	for i, k := range c.classes {
		labels[i] = k.label
	}
	return labels
}

// Count returns the number of pictures of a class, 0 if there is no such class.
func (c *Classifier) Count(label string) int {
	if i, ok := c.index[label]; ok {
		return c.classes[i].pictures()
	}
	return 0
}

// BurstOf returns the index of the burst of the i-th picture of a class, oldest first, and its
// number of pictures. It returns -1 and 0 if there is no such picture.
func (c *Classifier) BurstOf(label string, i int) (burst, size int) {
	j, ok := c.index[label]
	if !ok || i < 0 || i >= c.classes[j].pictures() {
		return -1, 0
	}
	c.Group(always)
	k := c.classes[j]
	return k.of[i], len(k.list[k.of[i]].pictures)
}

// AddClass adds a class without examples. It returns a *[LabelError] if the
// label is blank or taken.
func (c *Classifier) AddClass(label string) error {
	if err := c.checkNew(label); err != nil {
		return err
	}
	c.index[label] = len(c.classes)
	c.classes = append(c.classes, newClass(label, c.Dim(), c.near))
	return nil
}

// RemoveClass deletes a class with its examples. The others stay.
func (c *Classifier) RemoveClass(label string) error {
	_, err := c.Detach(label)
	return err
}

// reindex updates the index of the classes from the i-th on.
func (c *Classifier) reindex(i int) {
	for ; i < len(c.classes); i++ {
		c.index[c.classes[i].label] = i
	}
}

// Add appends the picture x, of length d, to a class. It is an example of its own, or a frame
// of a burst if Options.Near says so. It returns a *[LabelError] for an unknown class. It
// returns a *[niw.DimensionError] or a *[niw.ValueError] for an x of the wrong length, not
// finite or too large to square. Cost d²/2 to whiten x, 2 r d with a spiked prior of rank r,
// and K d with bursts. The next answer costs O((n+C) (n+d)) more, n the lesser of N-C and d.
func (c *Classifier) Add(label string, x []float64) error {
	k, err := c.class(label)
	if err != nil {
		return err
	}
	return c.Insert(label, k.pictures(), x)
}

// Insert is [Classifier.Add] at index i of the class, from 0 to the number of pictures. The
// classifier answers as if the pictures had been added in the resulting order. It returns an
// *[ExampleError] for an index out of range. It costs as much as [Classifier.Remove].
func (c *Classifier) Insert(label string, i int, x []float64) error {
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if i < 0 || i > k.pictures() {
		return &ExampleError{Label: label, Index: i, Count: k.pictures()}
	}
	if err := c.whiten(c.z, x); err != nil {
		return err
	}
	k.putIn(i, c.z)
	c.changed()
	return nil
}

// fewRows is the largest number of rows for which AddRows allocates memory at once if Near is set.
const fewRows = 64

// AddRows appends the rows of x, n×d, to a class, all or none. The result is as with
// [Classifier.Add] row by row, but whitening is one matrix product.
func (c *Classifier) AddRows(label string, x *mat.Dense) error {
	k, err := c.class(label)
	if err != nil {
		return err
	}
	n, d := x.Dims()
	for i := range n {
		if err := niw.CheckVector("embedding", x.RawRowView(i), c.Dim()); err != nil {
			return err
		}
	}
	w := mat.NewDense(n, d, nil)
	c.prior.WhitenRowsTo(w, x)
	for i := range n {
		if _, err := checkedNorm2(w.RawRowView(i)); err != nil {
			return err
		}
	}
	k.own()
	if k.near == 0 || n <= fewRows { // otherwise most may be frames of a few bursts
		k.w.Data = slices.Grow(k.w.Data, n*d)
	}
	for i := range n {
		k.add(w.RawRowView(i))
	}
	c.changed()
	return nil
}

// Remove deletes the i-th picture of a class, from 0 in their order. The classifier then answers as
// if the picture had never been there. It returns a *[LabelError] or an *[ExampleError] if there is no
// such picture. It costs as much as [Classifier.Add], and K² d to link the K other pictures of its
// burst anew.
func (c *Classifier) Remove(label string, i int) error {
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if i < 0 || i >= k.pictures() {
		return &ExampleError{Label: label, Index: i, Count: k.pictures()}
	}
	k.takeOut(i)
	c.changed()
	return nil
}

// Truncate keeps the first n pictures of a class and deletes the others. It is like [Classifier.Remove]
// from the last one backwards, but links each burst anew only once.
func (c *Classifier) Truncate(label string, n int) error {
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if n < 0 || n > k.pictures() {
		return &ExampleError{Label: label, Index: n, Count: k.pictures()}
	}
	if n < k.pictures() {
		k.truncate(n)
		c.changed()
	}
	return nil
}

// class returns the class of a label, or a *[LabelError].
//
//go:noinline // some kilobytes less to download
func (c *Classifier) class(label string) (*class, error) {
	i, ok := c.index[label]
	if !ok {
		return nil, &LabelError{Label: label, Reason: "does not exist: choose a class that does"}
	}
	return c.classes[i], nil
}

func (c *Classifier) checkNew(label string) error {
	if strings.TrimSpace(label) == "" {
		return &LabelError{Label: label, Reason: "has no visible name: give it one"}
	}
	if _, ok := c.index[label]; ok {
		return &LabelError{Label: label, Reason: "exists already: choose another name"}
	}
	return nil
}

// changed updates the state after examples were added or removed.
//
//go:noinline // some kilobytes less to download
func (c *Classifier) changed() {
	c.measured, c.grouped, c.settled, c.followed, c.chosen = false, false, false, false, nil
	c.estimation = estimation{}
	c.taught = c.taught[:0]
	for _, k := range c.classes {
		if k.count() > 0 {
			c.taught = append(c.taught, k)
		}
	}
}

// whiten stores L⁻¹(x-m) in dst.
func (c *Classifier) whiten(dst, x []float64) error {
	if err := niw.CheckVector("embedding", x, c.Dim()); err != nil {
		return err
	}
	c.whitenTo(dst, x)
	_, err := checkedNorm2(dst)
	return err
}

// Check returns the error that [Classifier.Add] would return for x.
func (c *Classifier) Check(x []float64) error { return c.whiten(c.z, x) }

// maxNorm2 keeps products of squared lengths, and sums of many, finite.
const maxNorm2 = 1e140

//go:noinline // some kilobytes less to download
func squaredNorm(z []float64) float64 { return inner(z, z) }

// checkedNorm2 returns the squared length of a whitened point, or an error if it is too large to
// compute with.
func checkedNorm2(z []float64) (float64, error) {
	s := squaredNorm(z)
	return s, niw.CheckValue(s <= maxNorm2, "squared distance of the embedding from the prior mean", s, "at most 1e140: check the embedding's scale")
}
