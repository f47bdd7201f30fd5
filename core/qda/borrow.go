package qda

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

const (
	// worth is how many examples what a class of one example borrows counts at most on
	// average, where all answers are beyond doubt, and worth/K for one of K: the more
	// pictures there are, the less each of them counts.
	worth = 12

	// leastShare is the least probability of a class with which it borrows a picture.
	leastShare = 0.01

	// leastWeight is a weight below which an example is but rounding.
	leastWeight = 1e-6

	// mostBorrowed bounds the work: a class borrows its surest pictures.
	mostBorrowed = 32

	// farOut is how much farther from the session's mean, squared, than any example
	// a picture may be that is borrowed: one that is no embedding of a picture, and
	// may be of any length, must not carry a class away.
	farOut = 4
)

// borrower is a copy of a class that takes in pictures of a batch.
type borrower struct {
	batch    *batch
	class    *class
	rows     blas64.General // the examples about the session's mean, then the pictures borrowed
	pictures []int          // that are borrowed
	weights  []float64      // of all rows
	gram     blas64.General // of the rows
	post     niw.Weighted
	scores   []float64 // n: log density less that under a class never seen
	borrowed []float64 // n: weight of the pictures that judge a picture
	farthest float64   // farOut times the largest squared length of an example

	picked []candidate // scratch of choose
	share  float64     // what it would borrow if every picture counted fully
}

// candidate is a picture with its probability of the class.
type candidate struct {
	picture int
	p       float64
}

func newBorrower(b *batch, k *class) *borrower {
	q := &borrower{batch: b, class: k, scores: make([]float64, b.n), borrowed: make([]float64, b.n)}
	n, d := k.count(), b.w.Cols
	if !k.lowRank() {
		return q
	}
	q.rows = blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d, (n+min(mostBorrowed, b.n))*d)}
	for i := range n {
		row := rowOf(q.rows, i)
		copy(row, k.row(i))
		if delta := b.of.centre.shift(); delta != nil {
			floats.Sub(row, delta)
		}
		q.farthest = max(q.farthest, farOut*squaredNorm(row))
	}
	q.weights = slices.Repeat([]float64{1}, n)
	q.fit()
	return q
}

// fit makes the posterior that of the rows.
func (q *borrower) fit() {
	n := q.rows.Rows
	q.gram = blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, q.rows, q.rows, 0, q.gram)
	q.post.Fit(q.batch.of.empty, q.gram, q.weights)
}

// score brings the scores of all pictures up to date.
func (q *borrower) score() error {
	b := q.batch
	if !q.class.lowRank() {
		return q.scoreDense()
	}
	m := q.rows.Rows
	buffer, without := make([]float64, batchBlock*m), make([]int, batchBlock)
	for first := 0; first < b.n; first += batchBlock {
		end := min(first+batchBlock, b.n)
		cross := blas64.General{Rows: end - first, Cols: m, Stride: m, Data: buffer[:(end-first)*m]}
		b.products(cross, first, end, q.rows)
		several := map[int]float64{} // scores of pictures that several rows are left out for
		for i := first; i < end; i++ {
			row := rowOf(cross, i-first)
			left := q.without(i, row)
			without[i-first] = -1
			switch {
			case len(left) == 1:
				without[i-first] = left[0]
			case len(left) > 1:
				several[i] = q.logProbWithout(i, left, row)
			}
			q.borrowed[i] = 0
			b.agree.keepApart(i, q, left)
			for r := q.class.count(); r < m; r++ {
				if !slices.Contains(left, r) {
					q.borrowed[i] += q.weights[r]
				}
			}
		}
		q.post.LogProbRowsTo(q.scores[first:end], b.of.options.Inference, b.r2[first:end], cross, without[:end-first])
		for i, score := range several {
			q.scores[i] = score
		}
		floats.Sub(q.scores[first:end], b.empty[first:end])
		if err := b.step(end - first); err != nil {
			return err
		}
	}
	return nil
}

// without returns the rows that picture i may not be judged by: itself and borrowed
// frames of a burst it is in. cross has its inner products with the rows.
func (q *borrower) without(i int, cross []float64) (rows []int) {
	const rounding = 1e-13
	k, r2 := q.class.count(), q.batch.r2
	for b, picture := range q.pictures {
		near := max(q.class.near, rounding*(r2[i]+r2[picture]))
		if picture == i || r2[i]+r2[picture]-2*cross[k+b] < near {
			rows = append(rows, k+b)
		}
	}
	return rows
}

// logProbWithout returns the log density of picture i under all rows but some.
func (q *borrower) logProbWithout(i int, without []int, cross []float64) float64 {
	var keep []int
	for r := range cross {
		if !slices.Contains(without, r) {
			keep = append(keep, r)
		}
	}
	n := len(keep)
	gram := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	weights, products := make([]float64, n), make([]float64, n)
	for a, r := range keep {
		weights[a], products[a] = q.weights[r], cross[r]
		for c, s := range keep {
			gram.Data[a*n+c] = q.gram.Data[r*q.gram.Stride+s]
		}
	}
	var post niw.Weighted
	post.Fit(q.batch.of.empty, gram, weights)
	dst := make([]float64, 1)
	row := blas64.General{Rows: 1, Cols: n, Stride: n, Data: products}
	post.LogProbRowsTo(dst, q.batch.of.options.Inference, q.batch.r2[i:i+1], row, []int{-1})
	return dst[0]
}

// scoreDense is score of a class in dense form, which borrows nothing: once.
func (q *borrower) scoreDense() error {
	b, c := q.batch, q.batch.of
	once := b.done < b.n*(1+len(b.borrows))
	z := make([]float64, b.w.Cols)
	for first := 0; first < b.n; first += batchBlock {
		end := min(first+batchBlock, b.n)
		for i := first; once && i < end; i++ {
			copy(z, rowOf(b.w, i))
			if delta := c.centre.shift(); delta != nil {
				floats.Add(z, delta)
			}
			quad := q.class.denseQuad(c, z)
			post := q.class.dense.Posterior(q.class.count())
			q.scores[i] = post.LogProb(c.options.Inference, quad) - b.empty[i]
		}
		if err := b.step(end - first); err != nil {
			return err
		}
	}
	return nil
}

// borrow lets every class choose its pictures. With p_ij the probability of class j
// each counts λ p_ij, λ being the same for all classes, so that a class of which there
// are many borrows more, and smaller where the answers are in doubt.
func (b *batch) borrow() {
	total, most, certain := 0.0, 0.0, b.certainty()
	for j, q := range b.borrows {
		if q.class.lowRank() {
			q.choose(j)
			total += q.share
			most += worth * certain / float64(q.class.count())
		}
	}
	lambda := 0.0
	if total > 0 {
		lambda = min(1, most/total)
	}
	for _, q := range b.borrows {
		if q.class.lowRank() {
			q.take(lambda)
		}
	}
	b.agree.weigh(lambda)
}

// certainty returns how sure the answers of known pictures are, 0 for those of chance
// and 1 for those beyond doubt: with p_ij the probability of class j and
// p_i = Σ_j p_ij that of being known
//
//	(c - 1/C)/(1 - 1/C),   c = Σ_ij p_ij²/p_i / Σ_i p_i
func (b *batch) certainty() float64 {
	squares, sum := 0.0, 0.0
	for i := range b.n {
		row := b.share.RawRowView(i)
		if known := floats.Sum(row); known > 0 {
			squares += floats.Dot(row, row) / known
			sum += known
		}
	}
	chance := 1 / float64(len(b.borrows))
	if !(sum > 0) || chance == 1 {
		return 0
	}
	return max(squares/sum-chance, 0) / (1 - chance)
}

// choose picks the surest pictures of the class, the j-th. A copy of an example, or of
// a picture picked before, adds nothing.
func (q *borrower) choose(j int) {
	b := q.batch
	var all []int
	for i := range b.n {
		if q.within(i, b.share.At(i, j)) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(x, y int) int {
		if p := cmp.Compare(b.share.At(y, j), b.share.At(x, j)); p != 0 {
			return p
		}
		return slices.Compare(rowOf(b.w, x), rowOf(b.w, y))
	})
	q.picked = q.picked[:0]
	var seen, picked, rest float64
	for _, i := range all {
		a := candidate{i, b.share.At(i, j)}
		if len(q.picked) == mostBorrowed {
			rest += a.p
			continue
		}
		seen += a.p
		if !q.has(a.picture) {
			q.picked = append(q.picked, a)
			picked += a.p
		}
	}
	q.share = picked
	if rest > 0 {
		q.share += rest * picked / seen // as many of them are copies
	}
}

// within tells whether picture i, of the class with probability p, can be borrowed.
func (q *borrower) within(i int, p float64) bool {
	return p >= leastShare && q.batch.r2[i] <= q.farthest
}

// has tells whether a picture is a copy of what the class has.
func (q *borrower) has(picture int) bool {
	w := rowOf(q.batch.w, picture)
	for i := range q.class.count() {
		if slices.Equal(rowOf(q.rows, i), w) {
			return true
		}
	}
	for _, a := range q.picked {
		if slices.Equal(rowOf(q.batch.w, a.picture), w) {
			return true
		}
	}
	return false
}

// take borrows the pictures picked: λ share in all, no picture more than its
// probability.
func (q *borrower) take(lambda float64) {
	k, picked := q.class.count(), 0.0
	for _, a := range q.picked {
		picked += a.p
	}
	q.rows.Rows, q.rows.Data = k, q.rows.Data[:k*q.rows.Cols]
	q.pictures, q.weights = q.pictures[:0], q.weights[:k]
	for _, a := range q.picked {
		w := a.p * min(1, lambda*q.share/picked)
		if w < leastWeight {
			break
		}
		q.rows.Rows++
		q.rows.Data = append(q.rows.Data, rowOf(q.batch.w, a.picture)...)
		q.pictures = append(q.pictures, a.picture)
		q.weights = append(q.weights, w)
	}
	q.fit()
}
