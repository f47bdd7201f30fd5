package metaqda

import (
	"iter"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/qda"
)

// Batch is a question about many vectors at once, answered step by step, so that a
// program of one thread can do other things in between. It is about what was taught when
// it was asked: later changes do not reach it.
type Batch struct {
	Answers     *qda.Answers // of BeginClassify, once it is done
	Suggestions []int        // of BeginSuggest, once it is done: places in the batch

	next        func() (struct{}, bool)
	stop        func()
	done, total int
	err         error
}

// Step goes on for a while and reports whether there is more to do, after done of
// total, which count pieces of work. It returns the error that the question ended with.
func (b *Batch) Step() (more bool, done, total int, err error) {
	_, more = b.next()
	return more, b.done, b.total, b.err
}

// Stop gives the question up. Every batch wants it, or Step until there is no more:
// otherwise what it holds is never freed.
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

// wish is a context that ends when nobody wants an answer any more.
type wish struct{ over bool }

func (w *wish) Err() error {
	if w.over {
		return errStopped
	}
	return nil
}

var errStopped = &Error{Code: "disposed", Message: "This question was given up."}

// BeginClassify judges vectors of length d, one after the other, together: [Classifier.Classify]
// step by step. Errors are those of Classify.
func (c *Classifier) BeginClassify(vectors []float32, d int) (*Batch, error) {
	if c.qda == nil {
		return nil, qda.ErrNoExamples
	}
	return c.ask(vectors, d, func(b *Batch, q *qda.Classifier, x *mat.Dense, ctx qda.Context, progress func(done, total int)) (err error) {
		b.Answers, err = q.Classify(ctx, x, progress)
		return err
	})
}

// BeginSuggest finds which n of the vectors, of length d one after the other, tell most once
// they are labelled, the best one first: [Classifier.Suggest] step by step. Nothing need
// be taught before. Errors are those of Suggest.
func (c *Classifier) BeginSuggest(vectors []float32, d, n int) (*Batch, error) {
	if c.open(d) { // as the first of them will settle it
		fresh, err := New(c.settings, nil)
		if err == nil {
			err = fresh.begin(nil, d)
		}
		if err != nil {
			return nil, err
		}
		c = fresh
	}
	return c.ask(vectors, d, func(b *Batch, q *qda.Classifier, x *mat.Dense, ctx qda.Context, progress func(done, total int)) (err error) {
		b.Suggestions, err = q.Suggest(ctx, x, n, progress)
		return err
	})
}

// ask makes a batch of a question to a copy of the classifier. answer takes long: it
// calls progress now and then, and returns the error of the context once that has ended.
func (c *Classifier) ask(vectors []float32, d int, answer func(b *Batch, q *qda.Classifier, x *mat.Dense, ctx qda.Context, progress func(done, total int)) error) (*Batch, error) {
	if d != c.Dim() {
		return nil, &niw.DimensionError{Name: "vector", Got: d, Want: c.Dim()}
	}
	if rest := len(vectors) % d; rest != 0 {
		return nil, &niw.DimensionError{Name: "last vector", Got: rest, Want: d}
	}
	q, err := c.copied()
	if err != nil {
		return nil, err
	}
	x, err := c.rows(vectors)
	if err != nil {
		return nil, err
	}
	b := new(Batch)
	b.next, b.stop = iter.Pull(func(yield func(struct{}) bool) {
		ctx := new(wish)
		b.err = rowless(answer(b, q, x, ctx, func(done, total int) {
			b.done, b.total = done, total
			ctx.over = ctx.over || !yield(struct{}{})
		}))
	})
	return b, nil
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
