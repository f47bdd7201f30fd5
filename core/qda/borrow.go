package qda

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
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

// borrower is what a class borrows of a batch, the sum of the pictures v by weights w:
//
//	b = Σ_v w_v v
type borrower struct {
	batch    *batch
	class    *class
	pictures []int // that are borrowed
	weights  []float64
	weight   float64   // Σ w_v
	inners   []float64 // n: <w_i, b>
	norm     float64   // <b,b>
	onClass  float64   // <b,x̄_j>
	onMean   float64   // <b,m_s>
	farthest float64   // farOut times the largest squared distance of an example from the mean of all

	picked []candidate // scratch of choose
	share  float64     // what it would borrow if every picture counted fully
}

// candidate is a picture with its probability of the class.
type candidate struct {
	picture int
	p       float64
}

func newBorrower(b *batch, k *class) *borrower {
	q := &borrower{batch: b, class: k, inners: make([]float64, b.n)}
	for i := range k.count() {
		q.farthest = max(q.farthest, farOut*squaredNorm(k.row(i)))
	}
	return q
}

// sum brings up to date what the classes borrowed, as products of matrices.
func (b *batch) sum() {
	d, n, c := b.w.Cols, b.images.Cols, len(b.borrows)
	sums := blas64.General{Rows: c, Cols: d, Stride: d, Data: make([]float64, c*d)}
	images := blas64.General{Rows: c, Cols: n, Stride: max(1, n), Data: make([]float64, c*max(1, n))}
	for j, q := range b.borrows {
		for r, v := range q.pictures {
			floats.AddScaled(rowOf(sums, j), q.weights[r], rowOf(b.w, v))
			floats.AddScaled(rowOf(images, j), q.weights[r], rowOf(b.images, v))
		}
	}
	products := blas64.General{Rows: b.n, Cols: c, Stride: c, Data: make([]float64, b.n*c)}
	sign := 1.0
	if !b.of.shared.cov.primal {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, b.w, sums, 0, products)
		sign = -1
	}
	if n > 0 {
		blas64.Gemm(blas.NoTrans, blas.Trans, sign, b.images, images, 1, products)
	}
	for j, q := range b.borrows {
		for i := range b.n {
			q.inners[i] = products.Data[i*c+j]
		}
		q.norm, q.onClass, q.onMean = 0, 0, 0
		for r, v := range q.pictures {
			q.norm += q.weights[r] * q.inners[v]
			q.onClass += q.weights[r] * rowOf(b.inners, v)[j]
			q.onMean += q.weights[r] * b.onMean(v)
		}
	}
}

// borrow lets every class choose its pictures. With p_ij the probability of class j
// each counts λ p_ij, λ being the same for all classes, so that a class of which there
// are many borrows more, and smaller where the answers are in doubt.
func (b *batch) borrow() {
	total, most, certain := 0.0, 0.0, b.certainty()
	for j, q := range b.borrows {
		q.choose(j)
		total += q.share
		most += worth * certain / float64(q.class.count())
	}
	lambda := 0.0
	if total > 0 {
		lambda = min(1, most/total)
	}
	for _, q := range b.borrows {
		q.take(lambda)
	}
	b.sum()
	b.agree.weigh(lambda)
}

// certainty returns how sure the answers of known pictures are, 0 for those of chance
// and 1 for those beyond doubt: with p_ij the probability of class j and
// p_i = Σ_j p_ij that of being known
//
//	(c - 1/C)/(1 - 1/C),   c = Σ_ij p_ij²/p_i / Σ_i p_i
func (b *batch) certainty() float64 {
	squares, sum, farthest := 0.0, 0.0, 0.0
	for _, q := range b.borrows {
		farthest = max(farthest, q.farthest)
	}
	for i := range b.n {
		if b.r2[i] > farthest {
			continue
		}
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
		if slices.Equal(q.class.row(i), w) {
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
	picked := 0.0
	for _, a := range q.picked {
		picked += a.p
	}
	q.pictures, q.weights, q.weight = q.pictures[:0], q.weights[:0], 0
	for _, a := range q.picked {
		w := a.p * min(1, lambda*q.share/picked)
		if w < leastWeight {
			break
		}
		q.pictures, q.weights = append(q.pictures, a.picture), append(q.weights, w)
		q.weight += w
	}
}
