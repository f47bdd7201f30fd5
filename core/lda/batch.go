package lda

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/session"
)

const (
	// batchRounds is how often the pseudo-labels are updated.
	batchRounds = 3

	// scoreCost is roughly the cost of a picture for each class, without inner products, in
	// multiply-adds.
	scoreCost = 1000

	// withinCost is roughly the cost of a coordinate in [within], in multiply-adds of a product of
	// matrices, which is faster.
	withinCost = 6
)

// Context is the part of a context.Context that is needed: the error it ended with, nil until
// then. Importing package context would make a small program a tenth larger.
type Context interface{ Err() error }

// Answers are the probabilities of n pictures.
type Answers struct {
	Classes *mat.Dense // n×C in the order of [Classifier.Labels], empty if n is 0
	None    []float64  // n: of none of the classes; with Classes a row sums to one
}

// Classify predicts the rows of x, n×d, as [Classifier.ProbabilitiesTo] does, but judges them
// together. Pictures that are probably of a class become its pseudo-labelled examples. In the
// answer for a picture, neither the picture itself nor another frame of its burst counts. The
// probability of none of the classes stays as for a single picture. With one class or one picture,
// the answers equal those one by one. The order of the rows matters only for rounding. See
// core/session/TRANSDUCTION.md.
//
// The classes do not change. Without a Population, under plain Bayes' rule, pictures are predicted
// one by one.
//
// progress, unless nil, is called now and then. When ctx ends, Classify returns its error. A
// row that is not a finite embedding of length d is reported as a *[RowError]; [ErrNoExamples]
// is as for ProbabilitiesTo.
//
// Cost, for each picture, 2 r d to whiten it, or d²/2, n d + n²/2 of [covariance], and
// 4 C (d+n). At most 32 C pictures are also compared with all others, for n d each. A frame of a
// burst costs up to 32 C (d+n) in each round. Memory n (d + 5C) numbers.
func (c *Classifier) Classify(ctx Context, x *mat.Dense, progress func(done, total int)) (*Answers, error) {
	if err := c.checkRows(x); err != nil {
		return nil, err
	}
	if len(c.taught) == 0 {
		return nil, ErrNoExamples
	}
	c = c.answering()
	n, _ := x.Dims()
	if n == 0 {
		return &Answers{Classes: new(mat.Dense)}, ctx.Err()
	}
	a := &Answers{Classes: mat.NewDense(n, len(c.classes), nil), None: make([]float64, n)}
	if progress == nil {
		progress = func(int, int) {}
	}
	var err error
	if c.options.Population == nil {
		err = c.oneByOne(ctx, a, x, progress)
	} else {
		b := &batch{of: c, ctx: ctx, progress: progress, n: n, posterior: c.own()}
		b.total = n * (2 + batchRounds)
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
		if i%pieceRows == 0 {
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

// batch is the state of [Classifier.Classify].
type batch struct {
	of        *Classifier
	posterior *session.Posterior
	ctx       Context
	progress  func(done, total int)
	done      int
	total     int
	spent     int // cost of the work since the last rest

	n       int
	w       blas64.General  // n×d pictures, whitened
	images  blas64.General  // n×order of U, their images by [covariance.imageTo]
	r2      []float64       // |w_i|²
	onMean  []float64       // <w_i,m_s>
	left    []float64       // d+order: scratch of own
	inners  blas64.General  // n×C, <w_i,x̄_j>, in the order of taught
	pseudo  []*pseudoLabels // of the classes with examples
	burst   [][]uint64      // n: nil, or a bit for each picture, set for the picture itself and the frames of its burst; see findBurst
	share   *mat.Dense      // n×C: p(y=j | x), without none
	alone   *mat.Dense      // the same one by one
	weights *mat.Dense      // n×C: pseudo-label weights before λ
	none    []float64
	agree   agreement
}

// answer stores the probabilities in a.
func (b *batch) answer(a *Answers, x *mat.Dense) error {
	if err := b.whiten(x); err != nil {
		return err
	}
	b.none, b.share = a.None, mat.NewDense(b.n, len(b.of.taught), nil)
	b.weights, b.burst = mat.NewDense(b.n, len(b.of.taught), nil), make([][]uint64, b.n)
	b.agree = newAgreement(b)
	inners := make([]float64, b.n*len(b.of.taught))
	for j, k := range b.of.taught {
		b.pseudo = append(b.pseudo, newPseudoLabels(b, k, inners[j*b.n:(j+1)*b.n]))
		if err := b.spend(k.count() * x.RawMatrix().Cols); err != nil {
			return err
		}
	}
	for round := range 1 + batchRounds {
		if round > 0 {
			if err := b.label(); err != nil {
				return err
			}
		}
		if err := b.judge(round == 0); err != nil {
			return err
		}
		if round == 0 {
			b.alone = mat.DenseCopyOf(b.share)
		}
	}
	if err := b.temper(); err != nil {
		return err
	}
	places := make([]int, len(b.of.taught)) // among all classes
	for j, k := range b.of.taught {
		places[j] = b.of.index[k.label]
	}
	for i := range b.n {
		from, to := b.share.RawRowView(i), a.Classes.RawRowView(i)
		for j, at := range places {
			to[at] = from[j]
		}
		if err := b.spend(4 * len(from)); err != nil {
			return err
		}
	}
	return nil
}

// temper mixes the answers with those one by one, if judging together hardly made them surer: then
// the batch's clusters are not the classes. gain is the rise of the largest class probability, over
// all pictures and relative to the probability of any class:
//
//	gain = Σ_i (max_j p_ij - max_j p¹_ij)/Σ_ij p_ij,   p ← (1-v) p + v p¹,   v = (temperBy-gain)/(4 temperBy)
//
// with p¹ the answers one by one, and v kept between 0 and ½. So v is 0 for a gain of temperBy or
// more, and ½ for -temperBy or less. Copies count once in gain. Pictures too far out for a
// pseudo-label do not count.
func (b *batch) temper() error {
	together, alone, known := 0.0, 0.0, 0.0
	farthest := b.farthest()
	for i := range b.n {
		if b.agree.first[i] != i || b.r2[i] > farthest {
			continue
		}
		row := b.share.RawRowView(i)
		together += floats.Max(row)
		alone += floats.Max(b.alone.RawRowView(i))
		known += floats.Sum(row)
		if err := b.spend(4 * len(row)); err != nil {
			return err
		}
	}
	if known == 0 {
		return nil
	}
	gain := (together - alone) / known
	back := max(0, min(0.5, (temperBy-gain)/(4*temperBy)))
	for i := range b.n {
		row := b.share.RawRowView(i)
		floats.Scale(1-back, row)
		floats.AddScaled(row, back, b.alone.RawRowView(i))
		if err := b.spend(4 * len(row)); err != nil {
			return err
		}
	}
	return nil
}

const temperBy = 0.02

// each calls do for all pictures, block by block. cost is the cost of a picture, which sets the
// size of the blocks, and part its share of the progress. It returns the first error, or the error
// of a context that has ended.
func (b *batch) each(cost, part int, do func(first, end int) error) error {
	for first, size := 0, piece(cost); first < b.n; first += size {
		end := min(first+size, b.n)
		if err := do(first, end); err != nil {
			return err
		}
		b.done += part * (end - first)
		if err := b.rest(); err != nil {
			return err
		}
	}
	return nil
}

// spend counts the cost of work, and rests after each piece.
//
//go:noinline // some kilobytes less to download
func (b *batch) spend(cost int) error {
	if b.spent += cost; b.spent < pieceCost {
		return nil
	}
	return b.rest()
}

// rest ends a piece of work. It returns the error of a context that has ended.
func (b *batch) rest() error {
	b.spent = 0
	b.progress(b.done, b.total)
	return b.ctx.Err()
}

// whiten whitens the pictures and computes their inner products with themselves, with the class means
// and with the session's mean.
func (b *batch) whiten(x *mat.Dense) error {
	c, d, s := b.of, b.of.Dim(), b.of.shared
	n := max(1, s.cov.n)
	b.w = blas64.General{Rows: b.n, Cols: d, Stride: d, Data: make([]float64, b.n*d)}
	b.images = blas64.General{Rows: b.n, Cols: s.cov.n, Stride: n, Data: make([]float64, b.n*n)}
	b.inners = blas64.General{Rows: b.n, Cols: len(c.taught), Stride: len(c.taught), Data: make([]float64, b.n*len(c.taught))}
	b.r2, b.onMean = make([]float64, b.n), make([]float64, b.n)
	b.left = make([]float64, d+s.cov.n)
	row := make([]float64, len(c.taught))
	// A spiked prior whitens at about the cost of d/8 classes.
	return b.each((s.cov.n+len(c.taught)+d/8)*(d+s.cov.n), 1, func(first, end int) error {
		w := rowsOf(b.w, first, end-first)
		c.whitenRowsTo(mat.NewDense(w.Rows, d, w.Data), x.Slice(first, end, 0, d).(*mat.Dense))
		for i := first; i < end; i++ {
			var err error
			if b.r2[i], err = checkedNorm2(rowOf(b.w, i)); err != nil {
				return &RowError{Row: i, Err: err}
			}
		}
		images := s.innersOf(rowsOf(b.inners, first, end-first), w)
		for i := first; i < end; i++ {
			copy(rowOf(b.images, i), rowOf(images, i-first))
			copy(row, rowOf(b.inners, i))
			b.onMean[i] = floats.Dot(s.alpha, row)
			for j, column := range s.columns {
				rowOf(b.inners, i)[j] = row[column]
			}
		}
		return nil
	})
}

// judge turns scores into probabilities. The probability of none comes from the picture alone:
// pseudo-labels would make out-of-set pictures look known.
func (b *batch) judge(alone bool) error {
	c, u := b.of, &b.of.work
	return b.each(scoreCost*len(c.taught), 1, func(first, end int) error {
		for i := first; i < end; i++ {
			if err := b.scoresTo(u.u, i); err != nil {
				return err
			}
			for j := range u.u {
				u.u[j] *= u.slope
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
		return nil
	})
}

// scoresTo stores e_j of picture i in dst, as in [shared]. The mean of class j is the mean of its
// examples and its pseudo-labelled pictures, without i and frames of its burst. The session's
// mean stays the mean of the examples. It returns the error of a context that has ended.
func (b *batch) scoresTo(dst []float64, i int) error {
	s := b.of.shared
	b.agree.apart[i] = b.agree.apart[i][:0]
	mean := b.onMean[i]
	for j, q := range b.pseudo {
		column, k := s.columns[j], q.k
		at, norm, onMean, weight := k*rowOf(b.inners, i)[j], k*k*s.norm[column], k*s.atMean[column], k
		if len(q.pictures) > 0 {
			left := b.own(i, j)
			weight += q.weight - left.weight
			at += q.inners[i] - left.at
			norm += 2*k*(q.onClass-left.onClass) + q.norm - 2*left.onSum + left.norm
			onMean += q.onMean - left.onMean
			b.agree.keepApart(i, left.pictures)
			if err := b.spend(0); err != nil { // what own has spent
				return err
			}
		}
		sure := k + labelled*(weight-k)
		h := sure / (s.kappa + sure)
		dst[j] = h*(at/weight-mean) + s.constant(h, norm/(weight*weight), onMean/weight, s.meanNorm)
	}
	return nil
}

// left is the part of a pseudo-labelled sum that is left out when a picture is judged.
type left struct {
	pictures                                 []int
	weight, at, norm, onSum, onClass, onMean float64
}

// own returns the part of class j's sum that is picture i itself or frames of its burst.
func (b *batch) own(i, j int) (l left) {
	q, sum, image := b.pseudo[j], b.left[:b.w.Cols], b.left[b.w.Cols:]
	for r, f := range q.pictures {
		if !b.inBurst(f, i) {
			continue
		}
		if l.pictures == nil {
			clear(b.left)
		}
		w := q.weights[r]
		floats.AddScaled(sum, w, rowOf(b.w, f))
		floats.AddScaled(image, w, rowOf(b.images, f))
		l.weight += w
		l.onSum += w * q.inners[f]
		l.onClass += w * rowOf(b.inners, f)[j]
		l.onMean += w * b.onMean[f]
		l.pictures = append(l.pictures, f)
	}
	if l.pictures != nil {
		l.at = b.of.shared.cov.inner(rowOf(b.w, i), rowOf(b.images, i), sum, image)
		l.norm = b.of.shared.cov.inner(sum, image, sum, image)
		b.spent += (2 + len(l.pictures)) * len(b.left)
	}
	return l
}

// inBurst reports whether picture i is picture f or a frame of its burst. Call findBurst for f first.
//
//go:noinline // some kilobytes less to download
func (b *batch) inBurst(f, i int) bool { return b.burst[f][i/64]>>(i%64)&1 == 1 }

// findBurst finds the frames of the burst of picture f, unless they were found before. Cost n d at most.
func (b *batch) findBurst(f int) error {
	if b.burst[f] != nil {
		return nil
	}
	found := make([]uint64, (b.n+63)/64)
	for i := range b.n {
		near := max(reachOf(b.of.near), nearOfCopies(b.r2[i]+b.r2[f]))
		if b.burst[i] != nil && b.inBurst(i, f) || b.burst[i] == nil && within(rowOf(b.w, i), rowOf(b.w, f), near) {
			found[i/64] |= 1 << (i % 64)
		}
		if err := b.spend(withinCost * b.w.Cols); err != nil {
			return err
		}
	}
	b.burst[f] = found
	return nil
}

// nearOfCopies returns the squared distance below which two pictures are copies. r2 is the sum of
// their squared lengths. Copies whitened together and one by one differ by rounding.
func nearOfCopies(r2 float64) float64 { return math.Max(1e-13*r2, math.SmallestNonzeroFloat64) }

// within reports whether the squared distance of two points is below near, the same for (x, y)
// and (y, x). It sums squares over coordinates: unlike inner products, this keeps the digits of
// small distances, and shows early that a distance is large.
func within(x, y []float64, near float64) bool {
	var s float64
	for i, v := range x {
		if s += (v - y[i]) * (v - y[i]); s >= near {
			return false
		}
	}
	return true
}
