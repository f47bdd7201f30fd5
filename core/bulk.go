package metaqda

import (
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/lda"
	"metaqda/core/niw"
)

// Bulk is [Classifier.AddAll] in pieces, so that a program of one thread can do other work in
// between. Call BeginAdd, Take until it has all vectors, and Label until all have a label. Then
// call End until it reports true, and Enrol until it reports true. Only End changes the classifier.
// Others may use and change the classifier meanwhile. A call of the classifier between two calls of
// End waits until all examples are added.
type Bulk struct {
	of        *Classifier
	prior     *Prior // under which the vectors are checked
	examples  []Example
	labels    []string
	thumbnail []byte // of the examples that get a label from now on
	receivers *receivers
	ids       []string
	entries   []Entry
	applied   int    // of the entries
	version   uint64 // of the classifier when the entries were made
	ended     bool
	err       error // that End returns
	x         []float64
}

// placedAtOnce entries are applied in one piece of work.
const placedAtOnce = 512

// BeginAdd begins to add n examples of length d. It returns an [Error] with the code "limit" or
// "memory" if AddAll would refuse so many. It returns a *[niw.DimensionError] for another length
// than the classifier's.
func (c *Classifier) BeginAdd(n, d int) (*Bulk, error) {
	defer c.writing()()
	if n < 0 {
		return nil, &Error{Code: "argument", Message: strconv.Itoa(n) + " examples cannot be added: give 0 or more."}
	}
	if err := c.fits(n, d); err != nil {
		return nil, err
	}
	p, err := c.prior, error(nil)
	if c.open(d) {
		p, err = c.initial(d)
	} else if d != p.Dim() {
		err = &niw.DimensionError{Name: "vector", Got: d, Want: p.Dim()}
	}
	if err != nil {
		return nil, err
	}
	return &Bulk{of: c, prior: p, examples: make([]Example, 0, n), x: make([]float64, p.file.NIW.Dim())}, nil
}

var errEnded = &Error{Code: "argument", Message: "These examples were added already, or refused: begin anew for more."}

// Take copies concatenated vectors. It returns an [Error] that names the first unusable vector,
// counted from the first one taken, and an [Error] once End is done.
func (b *Bulk) Take(vectors []float32) error {
	defer b.of.writing()()
	if b.ended {
		return errEnded
	}
	for row := range slices.Chunk(vectors, b.prior.Dim()) {
		x := slices.Clone(row)
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

// fitting returns the error with which the densities would refuse the transformed vector x. It does
// not check vectors shorter than 1e20, since no prior makes these too long.
func (c *Classifier) fitting(x []float64) error {
	const long = 1e20
	if c.lda == nil || len(x) != c.lda.Dim() || floats.Norm(x, 2) < long {
		return nil
	}
	return c.lda.Check(x)
}

// Thumbnail sets the thumbnail of all examples that [Bulk.Label] labels from now on.
func (b *Bulk) Thumbnail(picture []byte) {
	defer b.of.writing()()
	b.thumbnail = picture
}

// Label sets the class and the group of each of the next examples. It returns an [Error] unless
// there is one label and one group for each example, or once End is done. It also returns the
// errors of AddAll. On error none of these labels counts. Cost O(N+C).
func (b *Bulk) Label(labels, groups []string) error {
	defer b.of.writing()()
	if b.ended {
		return errEnded
	}
	n := len(b.labels)
	if n+len(labels) > len(b.examples) {
		return labelsFor(len(b.examples), n+len(labels))
	}
	if len(groups) != len(labels) {
		return &Error{Code: "argument", Message: "The numbers of examples and groups differ, " + strconv.Itoa(len(labels)) + " and " + strconv.Itoa(len(groups)) + ": give one group for each example."}
	}
	for i := range labels {
		b.examples[n+i].Group, b.examples[n+i].Thumbnail = groups[i], b.thumbnail
	}
	if b.receivers == nil {
		b.receivers, b.version = b.of.receivers(), b.of.version
	}
	if err := b.find(labels, b.examples[n:n+len(labels)]); err != nil {
		return err
	}
	b.labels = append(b.labels, labels...)
	return nil
}

// find makes the entries of examples and of their classes.
func (b *Bulk) find(labels []string, examples []Example) error {
	into, err := b.receivers.all(labels)
	if err == nil {
		ids, entries := b.of.entriesOf(into, examples)
		b.ids, b.entries = append(b.ids, ids...), append(b.entries, entries...)
	}
	return err
}

// End adds the examples, all or none, as one step, and reports whether it is done. It calls more
// every few examples and stops when more returns false. Once done, it returns the ids of the
// examples. The sizes of bursts are known once Enrol or Prepare is done. Errors are those of
// AddAll. Cost O(N+C). If the classifier has changed since Label, add the cost of Label and Take.
func (b *Bulk) End(more func() bool) (ids []string, done bool, err error) {
	c := b.of
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.adding != b {
		c.addRest()
		if !b.ended {
			b.begin()
		}
	}
	if !b.ended && !b.apply(more) {
		return nil, false, nil
	}
	return b.ids, true, b.err
}

// begin brings the entries up to date with the classifier and begins to apply them. It ends the Bulk
// if they cannot be applied, or if there are none.
func (b *Bulk) begin() {
	c := b.of
	if len(b.labels) != len(b.examples) {
		b.err = labelsFor(len(b.examples), len(b.labels))
	} else if b.receivers != nil && b.version != c.version {
		b.receivers, b.ids, b.entries = c.receivers(), nil, nil
		b.err = b.find(b.labels, b.examples)
	}
	if b.err == nil && c.open(b.prior.Dim()) {
		b.err = c.begin(b.prior)
	} else if b.err == nil && c.prior != b.prior {
		b.err = c.fit(b.examples)
	}
	if b.ended = b.err != nil || len(b.ids) == 0; b.ended {
		b.ids = nil
		return
	}
	if c.examples == nil {
		c.ids, c.examples = map[string]*class{}, make(map[string]*Example, len(b.ids)) // else it grows step by step
	}
	c.adding, c.bulk = b, len(b.entries) > 1
}

// apply applies the entries until more returns false. It reports whether it has finished.
func (b *Bulk) apply(more func() bool) bool {
	c := b.of
	c.fitted, c.later = true, true
	defer func() { c.fitted, c.later = false, false }()
	for b.err == nil && b.applied < len(b.entries) {
		if b.applied%placedAtOnce == 0 && !more() {
			return false
		}
		if b.err = c.exchange(&b.entries[b.applied]); b.err == nil {
			b.applied++
		}
	}
	c.adding, b.ended = nil, true
	if b.err = c.exchanged(b.entries, b.applied, b.err); b.err == nil {
		c.noteAll(b.entries)
	} else {
		b.ids = nil
	}
	return true
}

// addRest finishes the Bulk whose examples are being added, if there is one.
func (c *Classifier) addRest() {
	if c.adding != nil {
		c.adding.apply(always)
	}
}

// Enrol adds the examples of a [Bulk] to the densities, as the first part of Prepare does, and
// reports whether it is done. It calls more every few examples and stops when more returns false.
func (c *Classifier) Enrol(more func() bool) bool {
	defer c.writing()()
	if c.lda == nil || !c.behind {
		return true
	}
	if !c.unscaled() { // otherwise the first answer must add all examples anew
		if !c.enrolLate(more) || !c.lda.Group(more) {
			return false
		}
		c.behind = false
	}
	c.tellLate()
	return true
}
