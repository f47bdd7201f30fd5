package metaqda

import (
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/lda"
	"metaqda/core/niw"
)

// Bulk is [Classifier.AddAll] in pieces, so that a program of one thread can do other work in
// between: BeginAdd, Take until all vectors are there, Label, End, and Enrol until it reports
// true. The classifier changes in End alone, and may be used and changed meanwhile.
type Bulk struct {
	of       *Classifier
	prior    *Prior // under which the vectors are checked
	examples []Example
	labels   []string
	ids      []string
	entries  []Entry
	version  uint64 // of the classifier when the entries were made
	x        []float64
}

// BeginAdd begins to add n examples of length d. It returns the [Error] with which AddAll would
// refuse so many, with the code "limit" or "memory", and a *[niw.DimensionError] for another
// length than that of the classifier.
func (c *Classifier) BeginAdd(n, d int) (*Bulk, error) {
	defer c.writing()()
	if err := c.fits(n, d); err != nil {
		return nil, err
	}
	p, err := c.prior, error(nil)
	if c.open(d) {
		p, err = Default(d)
	} else if d != p.Dim() {
		err = &niw.DimensionError{Name: "vector", Got: d, Want: p.Dim()}
	}
	if err != nil {
		return nil, err
	}
	return &Bulk{of: c, prior: p, examples: make([]Example, 0, n), x: make([]float64, d)}, nil
}

// Take copies concatenated vectors. It returns an [Error] that names the first one, counted from
// the begin, that cannot be an example.
func (b *Bulk) Take(vectors []float32) error {
	defer b.of.writing()()
	for d := len(b.x); len(vectors) > 0; vectors = vectors[d:] {
		x := slices.Clone(vectors[:d])
		err := b.prior.transform(b.x, x)
		if err == nil {
			err = b.of.fitting(b.x)
		}
		if err != nil {
			return rowless(&lda.RowError{Row: len(b.examples), Err: err})
		}
		b.examples = append(b.examples, Example{Vector: x})
	}
	return nil
}

// fitting returns the error with which the densities would refuse x, transformed. Whitening
// shorter ones is not worth its time: no prior stretches by 1e50.
func (c *Classifier) fitting(x []float64) error {
	const long = 1e20
	if c.lda == nil || len(x) != c.lda.Dim() || floats.Norm(x, 2) < long {
		return nil
	}
	return c.lda.Check(x)
}

// Label says to which class and to which group each example goes. It returns an [Error] unless there
// is one of both for each, and the errors of AddAll. Cost O(N+C).
func (b *Bulk) Label(labels, groups []string) error {
	defer b.of.writing()()
	if len(groups) != len(b.examples) {
		return &Error{Code: "argument", Message: "There are " + strconv.Itoa(len(b.examples)) + " examples and " + strconv.Itoa(len(groups)) + " groups: give one group for each."}
	}
	for i := range b.examples {
		b.examples[i].Group = groups[i]
	}
	b.labels = labels
	return b.find()
}

// find makes the entries of the classes and the examples.
func (b *Bulk) find() error {
	into, err := b.of.receivers(b.labels, b.examples)
	if err == nil {
		b.ids, b.entries = b.of.entriesOf(into, b.examples)
	}
	b.version = b.of.version
	return err
}

// End adds the examples, all or none, as one step, and returns their ids. The sizes of bursts
// follow once Enrol or Prepare is done. Errors are those of AddAll. Cost O(N+C), and that of Label and of Take where the classifier has changed since.
func (b *Bulk) End() (ids []string, err error) {
	c := b.of
	defer c.writing()()
	if b.version != c.version {
		err = b.find()
	}
	if err == nil && c.open(len(b.x)) {
		err = c.begin(nil, len(b.x))
	} else if err == nil && c.prior != b.prior {
		err = c.fit(b.examples)
	}
	if err != nil || len(b.ids) == 0 {
		return nil, err
	}
	c.later = true
	defer func() { c.later = false }()
	return b.ids, c.addFit(b.entries)
}

// Enrol has the densities take in the examples of a [Bulk], as the first part of Prepare, and
// reports whether it is done. It asks more every few examples and stops when more returns false.
func (c *Classifier) Enrol(more func() bool) bool {
	defer c.writing()()
	if c.lda == nil || !c.behind {
		return true
	}
	if !c.unscaled() { // else the first answer has to teach all anew
		if !c.enrolLate(more) || !c.lda.Group(more) {
			return false
		}
		c.behind = false
	}
	c.tellLate()
	return true
}
