package metaqda

import (
	"iter"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/qda"
)

// Batch is a question about many vectors at once, answered step by step, so that a
// program of one thread can do other things in between. It is about what was taught when it was
// asked: later changes do not reach it.
type Batch struct {
	Answers     *qda.Answers // of [Classifier.BeginClassify], once it is done
	Suggestions []int        // of [Classifier.BeginSuggest], once it is done

	next        func() (struct{}, bool)
	stop        func()
	done, total int
	err         error
}

// Step goes on for a while and reports whether there is more to do, after done of
// total. It returns the error that the question ended with.
func (b *Batch) Step() (more bool, done, total int, err error) {
	_, more = b.next()
	return more, b.done, b.total, b.err
}

// Stop gives the question up.
func (b *Batch) Stop() { b.stop() }

// finish goes on to the end, or until ctx ends.
func (b *Batch) finish(ctx qda.Context, progress func(done, total int)) error {
	defer b.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return err
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

// begin makes a batch of what takes long. ask calls progress now and then, and returns
// the error of the context once that has ended.
func begin(ask func(ctx qda.Context, b *Batch, progress func(done, total int)) error) *Batch {
	b := new(Batch)
	b.next, b.stop = iter.Pull(func(yield func(struct{}) bool) {
		ctx := new(wish)
		b.err = rowless(ask(ctx, b, func(done, total int) {
			b.done, b.total = done, total
			ctx.over = ctx.over || !yield(struct{}{})
		}))
	})
	return b
}

// wish is a context that ends when nobody wants an answer any more.
type wish struct{ over bool }

func (w *wish) Err() error {
	if w.over {
		return errStopped
	}
	return nil
}

var errStopped = &Error{Code: "disposed", Message: "This question was given up."}

// BeginClassify judges vectors of length d, one after the other, together: see
// [qda.Classifier.Classify].
func (c *Classifier) BeginClassify(vectors []float32, d int) (*Batch, error) {
	if c.qda == nil {
		return nil, qda.ErrNoExamples
	}
	if d != c.Dim() {
		return nil, &niw.DimensionError{Name: "vector", Got: d, Want: c.Dim()}
	}
	q, err := c.copied()
	if err != nil {
		return nil, err
	}
	x, err := c.rows(vectors)
	if err != nil {
		return nil, err
	}
	return begin(func(ctx qda.Context, b *Batch, progress func(done, total int)) (err error) {
		b.Answers, err = q.Classify(ctx, x, progress)
		return err
	}), nil
}

// BeginSuggest finds which n of the vectors, of length d one after the other, tell most once
// they are labelled, the best one first: see [qda.Classifier.Suggest]. Nothing need be
// taught before.
func (c *Classifier) BeginSuggest(vectors []float32, d, n int) (*Batch, error) {
	if c.open(d) { // as the first of them will settle it
		fresh, err := New(c.settings, nil)
		if err == nil {
			err = fresh.begin(d)
		}
		if err != nil {
			return nil, err
		}
		c = fresh
	}
	if d != c.Dim() {
		return nil, &niw.DimensionError{Name: "vector", Got: d, Want: c.Dim()}
	}
	q, err := c.copied()
	if err != nil {
		return nil, err
	}
	x, err := c.rows(vectors)
	if err != nil {
		return nil, err
	}
	return begin(func(ctx qda.Context, b *Batch, progress func(done, total int)) (err error) {
		b.Suggestions, err = q.Suggest(ctx, x, n, progress)
		return err
	}), nil
}

// copied returns another classifier of package qda that was taught the same.
func (c *Classifier) copied() (*qda.Classifier, error) {
	q, err := qda.New(c.prior.NIW, options(c.prior, c.settings))
	if err != nil {
		return nil, err
	}
	for _, k := range c.classes {
		if err := q.AddClass(k.key); err != nil {
			return nil, err
		}
		if err := q.SetClassPrior(k.key, k.weight); err != nil {
			return nil, err
		}
		for _, b := range k.bursts {
			if err := c.mean(b); err != nil {
				return nil, err
			}
			if err := q.Add(k.key, c.x); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// rows returns vectors as package qda knows them.
func (c *Classifier) rows(vectors []float32) (*mat.Dense, error) {
	d := c.Dim()
	if len(vectors) == 0 {
		return new(mat.Dense), nil
	}
	x := mat.NewDense(len(vectors)/d, d, nil)
	for i := range len(vectors) / d {
		if err := c.transform(vectors[i*d : (i+1)*d]); err != nil {
			return nil, rowless(&qda.RowError{Row: i, Err: err})
		}
		copy(x.RawRowView(i), c.x)
	}
	return x, nil
}

// rowless returns what is wrong with a row as an error of its own, which names it.
func rowless(err error) error {
	if row, ok := err.(*qda.RowError); ok {
		return &Error{Code: Code(row.Err), Message: "Vector " + strconv.Itoa(row.Row) + " of the batch: " + row.Err.Error()}
	}
	return err
}
