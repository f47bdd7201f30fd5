package metaqda

import (
	"iter"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lda"
	"metaqda/core/niw"
)

// Context is the part of a context.Context that is needed.
type Context = lda.Context

// Batch is work on many vectors, done step by step, so that a program of one thread can do other
// work in between. It uses the classifier as it was at the start: later changes have no effect on
// it.
type Batch struct {
	Suggestions []int       // of BeginSuggest, once it is done: indices into the batch
	Like        []int       // for each of them, the number of other vectors that look like it
	Groups      [][][]int   // of BeginAlike, once it is done: the groups of each set, as indices into the batch
	LeftOut     []LeftOut   // of BeginLeaveOneOut, once it is done
	Influence   []Influence // of BeginInfluence, once it is done
	Need        Need        // the same

	asked       *Classifier
	labels      []string // of it
	bursts      []int
	answers     *lda.Answers // of BeginClassify, once it is done
	next        func() (struct{}, bool)
	stop        func()
	done, total int
	err         error
}

// Len returns the number of answers, once BeginClassify is done.
func (b *Batch) Len() int {
	if b.answers == nil {
		return 0
	}
	return len(b.answers.None)
}

// Answer returns the probabilities of the i-th vector: of each class, and of none.
func (b *Batch) Answer(i int) (classes []float64, none float64) {
	return b.answers.Classes.RawRowView(i), b.answers.None[i]
}

// Decide decides by probabilities as [Classifier.Decide] of the batch's classifier does, once the
// batch is done.
func (b *Batch) Decide(classes []float64, none float64) Decision {
	if b.labels == nil {
		b.labels, b.bursts = b.asked.Labels(), b.asked.Bursts()
	}
	return DecideAmong(b.labels, b.bursts, classes, none)
}

// Step works for a while and reports whether there is more to do. done and total count pieces of
// work. It returns the error of the work, if any.
func (b *Batch) Step() (more bool, done, total int, err error) {
	_, more = b.next()
	return more, b.done, b.total, b.err
}

// Stop ends the work early. Call Stop, or Step until the work is done, on every batch: otherwise
// its memory is never freed.
func (b *Batch) Stop() { b.stop() }

// Finish calls Step to the end. If ctx, unless nil, ends first, Finish returns the error of ctx. It
// calls progress, unless nil, now and then.
func (b *Batch) Finish(ctx Context, progress func(done, total int)) error {
	defer b.Stop()
	for {
		if ctx != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		more, done, total, err := b.Step()
		if err != nil {
			return err
		}
		if progress != nil {
			progress(done, total)
		}
		if !more {
			return nil
		}
	}
}

// pending is a context that ends when its batch is stopped.
type pending struct{ over bool }

func (w *pending) Err() error {
	if w.over {
		return errStopped
	}
	return nil
}

var errStopped = &Error{Code: "disposed", Message: "This batch was stopped: begin it again."}

// BeginClassify is [Classifier.Classify] step by step, for concatenated vectors of length d.
// Errors are those of Classify; a vector that cannot be used is found by the steps.
func (c *Classifier) BeginClassify(vectors []float32, d int) (*Batch, error) {
	if c.Count() == 0 {
		return nil, lda.ErrNoExamples
	}
	return c.ask(vectors, d, func(b *Batch, q *lda.Classifier, x *mat.Dense, ctx Context, progress func(done, total int)) (err error) {
		b.answers, err = q.Classify(ctx, x, progress)
		return err
	})
}

// BeginSuggest is [Classifier.Suggest] step by step, for concatenated vectors of length d. The
// classifier may be empty. Errors are those of Suggest.
func (c *Classifier) BeginSuggest(vectors []float32, d, n int) (*Batch, error) {
	return c.ask(vectors, d, func(b *Batch, q *lda.Classifier, x *mat.Dense, ctx Context, progress func(done, total int)) error {
		s, err := q.Suggest(ctx, x, n, progress)
		b.Suggestions, b.Like = s.Rows, s.Like
		return err
	})
}

// BeginAlike groups the vectors at the indices of each set by resemblance; see
// [lda.Classifier.Alike]. The classifier may be empty. Errors are those of Suggest, and an
// [Error] with the code "argument" for an index out of range.
func (c *Classifier) BeginAlike(vectors []float32, d int, sets ...[]int) (*Batch, error) {
	n := len(vectors) / max(1, d)
	for _, i := range slices.Concat(sets...) {
		if i < 0 || i >= n {
			return nil, &Error{Code: "argument", Message: "There is no vector " + strconv.Itoa(i) + " in this batch: give an index from 0 to below " + strconv.Itoa(n) + "."}
		}
	}
	return c.ask(vectors, d, func(b *Batch, q *lda.Classifier, x *mat.Dense, ctx Context, progress func(done, total int)) (err error) {
		b.Groups, err = q.Alike(ctx, x, progress, sets...)
		return err
	})
}

// ask makes a batch that calls answer with a clone of the classifier. answer takes long: it calls
// progress now and then, and returns the error of ctx once ctx has ended.
func (c *Classifier) ask(vectors []float32, d int, answer func(b *Batch, q *lda.Classifier, x *mat.Dense, ctx Context, progress func(done, total int)) error) (*Batch, error) {
	if err := c.reserve(c.asking(len(vectors)/max(1, d), d)); err != nil {
		return nil, err
	}
	own, err := c.Clone()
	if err == nil {
		err = own.settleAt(d) // as the first vector would
	}
	if err != nil {
		return nil, err
	}
	if d != own.Dim() {
		return nil, &niw.DimensionError{Name: "vector", Got: d, Want: own.Dim()}
	}
	if rest := len(vectors) % d; rest != 0 {
		return nil, &niw.DimensionError{Name: "last vector", Got: rest, Want: d}
	}
	vectors = slices.Clone(vectors)
	if own.settings.Scale != "" && len(vectors) > d { // a single row is answered as by Predict
		own.beside, own.moved = vectors, true
	}
	return own.batch(func(b *Batch, ctx Context, progress func(done, total int)) error {
		x, err := own.rows(vectors, func() error { progress(0, 1); return ctx.Err() })
		vectors, own.beside = nil, nil // may be freed from here on
		if err != nil {
			return err
		}
		return answer(b, own.lda, x, ctx, progress)
	}), nil
}

// batch makes a batch that calls answer with this classifier, which must have no other user. It first
// prepares the classifier.
func (c *Classifier) batch(answer func(b *Batch, ctx Context, progress func(done, total int)) error) *Batch {
	b := &Batch{asked: c, total: 1}
	b.next, b.stop = iter.Pull(func(yield func(struct{}) bool) {
		ctx := new(pending)
		pause := func() bool { ctx.over = ctx.over || !yield(struct{}{}); return !ctx.over }
		for !c.Prepare(pause) {
			if ctx.over {
				return
			}
		}
		if !pause() {
			return
		}
		b.err = rowless(answer(b, ctx, func(done, total int) {
			b.done, b.total = done, total
			pause()
		}))
	})
	return b
}

// BeginLeaveOneOut is [Classifier.LeaveOneOut] step by step.
func (c *Classifier) BeginLeaveOneOut() (*Batch, error) {
	err := c.reserve(c.Count() * (8*c.Len() + 400))
	if err != nil {
		return nil, err
	}
	own, err := c.Clone()
	if err != nil {
		return nil, err
	}
	return own.batch(func(b *Batch, ctx Context, progress func(done, total int)) (err error) {
		b.LeftOut, err = own.leaveOut(ctx, progress)
		return err
	}), nil
}

// rows returns vectors transformed for package lda. It calls rest now and then, and returns its error.
func (c *Classifier) rows(vectors []float32, rest func() error) (*mat.Dense, error) {
	d := c.Dim()
	if len(vectors) == 0 {
		return new(mat.Dense), nil
	}
	if c.settings.Scale != "" { // standardise would spread a NaN over all rows
		raw := make([]float64, d)
		for i := range len(vectors) / d {
			for j, v := range vectors[i*d : (i+1)*d] {
				raw[j] = float64(v)
			}
			if err := niw.CheckVector("embedding", raw, d); err != nil {
				return nil, rowless(&lda.RowError{Row: i, Err: err})
			}
		}
		c.standardise()
		if err := c.enrolAll(); err != nil { // standardise leaves many for later
			return nil, err
		}
	}
	x := mat.NewDense(len(vectors)/d, len(c.x), nil)
	for i := range len(vectors) / d {
		if err := c.transform(vectors[i*d : (i+1)*d]); err != nil {
			return nil, rowless(&lda.RowError{Row: i, Err: err})
		}
		copy(x.RawRowView(i), c.x)
		if i%restRows == 0 {
			if err := rest(); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// restRows is how many rows are transformed between two rests.
const restRows = 64

// rowless turns a row error into an [Error] that names the row.
func rowless(err error) error {
	if row, ok := err.(*lda.RowError); ok {
		return &Error{Code: Code(row.Err), Message: "Vector " + strconv.Itoa(row.Row) + " of the batch: " + row.Err.Error()}
	}
	return err
}
