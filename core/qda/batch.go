package qda

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/session"
)

const (
	// batchRounds is how often the borrowed pictures are chosen anew.
	batchRounds = 3

	// batchBlock pictures are scored together.
	batchBlock = 64
)

// Context is what is asked of a context.Context: the error that it ended with, nil
// until then. Package context itself would make a small program a tenth larger.
type Context interface{ Err() error }

// Answers are the probabilities of n pictures.
type Answers struct {
	Classes *mat.Dense // n×C in the order of [Classifier.Labels], empty if n is 0
	None    []float64  // n: of none of the classes; with Classes a row sums to one
}

// Classify returns what [Classifier.ProbabilitiesTo] answers for the rows of x, n×d,
// but judges them together: every class borrows the pictures that are probably its
// own, and no picture is judged by itself or another frame of its burst. The
// probability of none of the classes is that of a picture alone. Where one class is
// taught, and for one picture, together is no different from one by one. The order of
// the rows does not matter but for rounding. See TRANSDUCTION.md.
//
// What was taught stays as it is: pictures are borrowed by copies of the classes.
// Classes with d examples or more borrow nothing. The pooled variant answers one by one,
// and so does Bayes' rule as it stands, without a Population: it is so sure of what it
// borrows that one class takes all.
//
// Now and then progress, unless it is nil, is told how much is done of how much. When
// ctx ends, Classify returns its error. A row that is not a finite embedding of length
// d is reported as a *[RowError]; [ErrNoExamples] is as for ProbabilitiesTo.
//
// Cost 2 r d + 4 Σ_j (K_j+32) (d + K_j+32) for each picture, whitening being d²/2 with
// a prior that is not spiked, and (K_j+32)³ more where it has several frames among what
// a class borrowed. Memory n (d + 3C) numbers, and a copy of the examples.
func (c *Classifier) Classify(ctx Context, x *mat.Dense, progress func(done, total int)) (*Answers, error) {
	if err := c.checkRows(x); err != nil {
		return nil, err
	}
	if len(c.taught) == 0 {
		return nil, ErrNoExamples
	}
	n, _ := x.Dims()
	if n == 0 {
		return &Answers{Classes: new(mat.Dense)}, ctx.Err()
	}
	a := &Answers{Classes: mat.NewDense(n, len(c.classes), nil), None: make([]float64, n)}
	if progress == nil {
		progress = func(int, int) {}
	}
	var err error
	if c.options.Pooled || c.options.Population == nil {
		err = c.oneByOne(ctx, a, x, progress)
	} else {
		b := &batch{of: c, ctx: ctx, progress: progress, n: n, posterior: c.Session()}
		b.total = n * (1 + (1+batchRounds)*len(c.taught))
		err = b.answer(a, x)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// checkRows returns a *[RowError] for the first row that is not a finite embedding.
func (c *Classifier) checkRows(x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		if err := niw.CheckVector("embedding", x.RawRowView(i), c.Dim()); err != nil {
			return &RowError{Row: i, Err: err}
		}
	}
	return nil
}

func (c *Classifier) oneByOne(ctx Context, a *Answers, x *mat.Dense, progress func(done, total int)) (err error) {
	for i := range a.None {
		if i%batchBlock == 0 {
			progress(i, len(a.None))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if a.None[i], err = c.ProbabilitiesTo(a.Classes.RawRowView(i), x.RawRowView(i)); err != nil {
			return &RowError{Row: i, Err: err}
		}
	}
	progress(len(a.None), len(a.None))
	return nil
}

// batch is what [Classifier.Classify] works on. Pictures and examples are whitened and
// stand about the session's mean.
type batch struct {
	of        *Classifier
	posterior *session.Posterior
	ctx       Context
	progress  func(done, total int)
	done      int
	total     int

	n       int
	w       blas64.General // n×d pictures
	r2      []float64      // |w_i|²
	empty   []float64      // log density under a class never seen
	borrows []*borrower    // of the classes with examples
	share   *mat.Dense     // n×C of these: p(y=j | x), without what is none
	none    []float64
	agree   agreement
}

// answer stores the probabilities in a.
func (b *batch) answer(a *Answers, x *mat.Dense) error {
	if err := b.whiten(x); err != nil {
		return err
	}
	b.none, b.share = a.None, mat.NewDense(b.n, len(b.of.taught), nil)
	b.agree = newAgreement(b)
	for _, k := range b.of.taught {
		b.borrows = append(b.borrows, newBorrower(b, k))
	}
	for round := range 1 + batchRounds {
		if round > 0 {
			b.borrow()
		}
		for _, k := range b.borrows {
			if err := k.score(); err != nil {
				return err
			}
		}
		b.judge(round == 0)
	}
	for i := range b.n {
		from, to := b.share.RawRowView(i), a.Classes.RawRowView(i)
		for j, k := range b.of.taught {
			to[b.of.index[k.label]] = from[j]
		}
	}
	return nil
}

// step notes that so much more is done. It returns the error of a context that ended.
func (b *batch) step(done int) error {
	b.done += done
	b.progress(b.done, b.total)
	return b.ctx.Err()
}

// whiten takes in the pictures.
func (b *batch) whiten(x *mat.Dense) error {
	c, d := b.of, b.of.Dim()
	b.w = blas64.General{Rows: b.n, Cols: d, Stride: d, Data: make([]float64, b.n*d)}
	b.r2, b.empty = make([]float64, b.n), make([]float64, b.n)
	for first := 0; first < b.n; first += batchBlock {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		end := min(first+batchBlock, b.n)
		c.prior.WhitenRowsTo(mat.NewDense(end-first, d, b.w.Data[first*d:end*d]), x.Slice(first, end, 0, d))
		for i := first; i < end; i++ {
			row := rowOf(b.w, i)
			if _, err := checkedNorm2(squaredNorm(row)); err != nil {
				return &RowError{Row: i, Err: err}
			}
			if c.centre.on {
				floats.Sub(row, c.centre.delta)
			}
			b.r2[i] = squaredNorm(row)
			b.empty[i] = c.empty.LogProb(c.options.Inference, b.r2[i])
		}
		if err := b.step(end - first); err != nil {
			return err
		}
	}
	return nil
}

// judge turns the scores into probabilities. Whether a picture is of no class is
// settled when it is alone: what is borrowed would make strangers look known.
func (b *batch) judge(alone bool) {
	c, u := b.of, &b.of.work
	for i := range b.n {
		for j, k := range b.borrows {
			slope, offset := c.population().Line(float64(k.class.count()) + k.borrowed[i])
			u.u[j] = slope*k.scores[i] + offset
		}
		row := b.share.RawRowView(i)
		if alone {
			b.none[i] = b.posterior.ProbabilitiesTo(row, u.u, u.logPrior, c.options.NonePrior, u.scratch)
			copy(b.agree.alone.RawRowView(i), u.u)
			continue
		}
		more := b.agree.without(i)
		b.posterior.ClassesTo(row, u.u, u.logPrior, &more, u.scratch)
		floats.Scale(1-b.none[i], row)
	}
}

// products stores in dst the inner products of the pictures from first up to end with
// the rows of m.
func (b *batch) products(dst blas64.General, first, end int, m blas64.General) {
	d := b.w.Cols
	x := blas64.General{Rows: end - first, Cols: d, Stride: d, Data: b.w.Data[first*d : end*d]}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, m, 0, dst)
}
