package lda

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/session"
)

const (
	// mostWeight is the cap on the total pseudo-label weight of a class of one example,
	// on average over the classes, and mostWeight/K that of one of K examples.
	mostWeight = 6

	// sharpness is the power of a picture's probabilities that its pseudo-label weights go
	// by: pictures in doubt would draw all means together.
	sharpness = 2

	// balancings is how often the classes' shares of all pictures are brought nearer to
	// each other, by the square roots of their ratios. Many times would force pictures on
	// a class that has none.
	balancings = 2

	// labelled is what a unit of pseudo-label weight counts beside an example, as the K in
	// h_j of [shared], for how sure the mean of its class is.
	labelled = 0.05

	// leastShare is the least probability of a class that gives a picture weight in it.
	leastShare = 0.01

	// leastWeight is a weight below which a picture is but rounding.
	leastWeight = 1e-6

	// mostPictures bounds the work: the surest pictures of a class have weight in it.
	mostPictures = 32

	// farOut is how much farther from the session's mean, squared, than any example
	// a picture with weight in a class may be: one that is no embedding of a picture, and
	// may be of any length, must not carry a class away.
	farOut = 4
)

// pseudoLabels are the pictures of a batch that have weight in a class, with their sum by
// weights w:
//
//	b = Σ_v w_v v
type pseudoLabels struct {
	batch    *batch
	class    *class
	k        float64 // K_j, what its examples count
	pictures []int
	weights  []float64
	weight   float64   // Σ w_v
	inners   []float64 // n: <w_i, b>
	norm     float64   // <b,b>
	onClass  float64   // <b,x̄_j>
	onMean   float64   // <b,m_s>
	farthest float64   // farOut times the largest squared distance of an example from the mean of all

	picked []candidate // scratch of choose
	share  float64     // their total weight if every picture counted fully
}

// candidate is a picture with its probability of the class.
type candidate struct {
	picture int
	p       float64
}

// newPseudoLabels takes inners of length n. Cost K d.
func newPseudoLabels(b *batch, k *class, inners []float64) *pseudoLabels {
	q := &pseudoLabels{batch: b, class: k, k: k.weight(), inners: inners}
	for i := range k.count() {
		q.farthest = max(q.farthest, farOut*squaredNorm(k.row(i)))
	}
	return q
}

// sum brings the weighted sums up to date, as products of matrices.
func (b *batch) sum() error {
	d, n, c := b.w.Cols, b.images.Cols, len(b.pseudo)
	sums, images := matrix(&b.of.shared.room.means, c, d), matrix(&b.of.shared.room.meanImages, c, n)
	clear(sums.Data)
	clear(images.Data)
	for j, q := range b.pseudo {
		for r, v := range q.pictures {
			floats.AddScaled(rowOf(sums, j), q.weights[r], rowOf(b.w, v))
			floats.AddScaled(rowOf(images, j), q.weights[r], rowOf(b.images, v))
		}
		if err := b.spend(len(q.pictures) * (d + n)); err != nil {
			return err
		}
	}
	err := b.each(c*(d+n), 0, func(first, end int) error {
		products := matrix(&b.of.shared.room.inners, end-first, c)
		clear(products.Data)
		sign := 1.0
		if !b.of.shared.cov.primal {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(b.w, first, end-first), sums, 0, products)
			sign = -1
		}
		if n > 0 {
			blas64.Gemm(blas.NoTrans, blas.Trans, sign, rowsOf(b.images, first, end-first), images, 1, products)
		}
		for j, q := range b.pseudo {
			for i := first; i < end; i++ {
				q.inners[i] = products.Data[(i-first)*c+j]
			}
		}
		return nil
	})
	for j, q := range b.pseudo {
		q.norm, q.onClass, q.onMean = 0, 0, 0
		for r, v := range q.pictures {
			q.norm += q.weights[r] * q.inners[v]
			q.onClass += q.weights[r] * rowOf(b.inners, v)[j]
			q.onMean += q.weights[r] * b.onMean[v]
		}
	}
	return err
}

// label gives pictures pseudo-label weights. With p_ij the probability of class j
// each counts λ p_ij, λ being the same for all classes, so that a class of which there
// are many gets more, and smaller where the answers are in doubt.
func (b *batch) label() error {
	if err := b.sharpen(); err != nil {
		return err
	}
	total, most, certain := 0.0, 0.0, b.certainty()
	for j, q := range b.pseudo {
		q.choose(j)
		if err := b.spend(scoreCost / 20 * b.n); err != nil {
			return err
		}
		total += q.share
		most += mostWeight * certain / q.k
	}
	lambda := 0.0
	if total > 0 {
		lambda = min(1, most/total)
	}
	for _, q := range b.pseudo {
		q.take(lambda)
	}
	if err := b.sum(); err != nil {
		return err
	}
	return b.agree.weigh(lambda)
}

// sharpen makes weights of the probabilities: of a picture that is known with probability p_i,
// p_i² times its probabilities to a power, with class sizes nearer to each other. The square
// keeps out pictures that may be of none of the classes.
func (b *batch) sharpen() error {
	_, c := b.share.Dims()
	known, sums := make([]float64, b.n), make([]float64, c)
	farthest := b.farthest()
	if err := b.each(scoreCost/4*c, 0, func(first, end int) error {
		for i := first; i < end; i++ {
			row := b.weights.RawRowView(i)
			if clear(row); b.r2[i] > farthest {
				continue
			}
			for j, p := range b.share.RawRowView(i) {
				row[j] = math.Pow(p, sharpness)
				known[i] += p
			}
			known[i] *= known[i]
		}
		return nil
	}); err != nil {
		return err
	}
	for range balancings {
		clear(sums)
		if err := b.normalise(known, func(row []float64) { floats.Add(sums, row) }); err != nil {
			return err
		}
		mean := floats.Sum(sums) / float64(c)
		for j, v := range sums {
			sums[j] = math.Sqrt(mean / math.Max(v, leastWeight))
		}
		for i := range b.n {
			floats.Mul(b.weights.RawRowView(i), sums)
			if err := b.spend(2 * c); err != nil {
				return err
			}
		}
	}
	return b.normalise(known, func([]float64) {})
}

// farthest is the largest squared length of a picture that may have weight in some class.
func (b *batch) farthest() (r2 float64) {
	for _, q := range b.pseudo {
		r2 = max(r2, q.farthest)
	}
	return r2
}

// normalise makes the weights of picture i sum to known[i], and then calls then for them.
func (b *batch) normalise(known []float64, then func(row []float64)) error {
	for i := range b.n {
		row := b.weights.RawRowView(i)
		if sum := floats.Sum(row); sum > 0 {
			floats.Scale(known[i]/sum, row)
		}
		then(row)
		if err := b.spend(4 * len(row)); err != nil {
			return err
		}
	}
	return nil
}

// certainty returns how sure the answers of known pictures are, 0 for those of chance
// and 1 for those beyond doubt: with p_ij the probability of class j and
// p_i = Σ_j p_ij that of being known
//
//	(c - 1/C)/(1 - 1/C),   c = Σ_ij p_ij²/p_i / Σ_i p_i
func (b *batch) certainty() float64 {
	squares, sum := 0.0, 0.0
	for i := range b.n {
		row := b.weights.RawRowView(i)
		if known := floats.Sum(row); known > 0 {
			squares += floats.Dot(row, row) / known
			sum += known
		}
	}
	chance := 1 / float64(len(b.pseudo))
	if !(sum > 0) || chance == 1 {
		return 0
	}
	return max(squares/sum-chance, 0) / (1 - chance)
}

// choose picks the surest pictures of the class, the j-th. A copy of an example, or of
// a picture picked before, adds nothing.
func (q *pseudoLabels) choose(j int) {
	b := q.batch
	var all []int
	for i := range b.n {
		if q.within(i, b.weights.At(i, j)) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(x, y int) int {
		if p := cmp.Compare(b.weights.At(y, j), b.weights.At(x, j)); p != 0 {
			return p
		}
		return slices.Compare(rowOf(b.w, x), rowOf(b.w, y))
	})
	q.picked = q.picked[:0]
	var seen, picked, rest float64
	for _, i := range all {
		a := candidate{i, b.weights.At(i, j)}
		if len(q.picked) == mostPictures {
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

// within tells whether picture i, of the class with probability p, may have weight in it.
func (q *pseudoLabels) within(i int, p float64) bool {
	return p >= leastShare && q.batch.r2[i] <= q.farthest
}

// has tells whether a picture is a copy of what the class has.
func (q *pseudoLabels) has(picture int) bool {
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

// take gives the pictures picked their weights: λ share in all, no picture more than its
// probability.
func (q *pseudoLabels) take(lambda float64) {
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

// tempering is what the likelihood of a pseudo-labelled picture counts for the log
// temperature beside that of an example.
const tempering = 0.3

// agreement is what the pictures of a batch say of the session's log temperature. Each has
// been answered alone; together they are known better, so that the answers alone can
// be tested as those about examples are. A picture counts in proportion to
// its pseudo-label weight, a copy not at all, and says nothing of itself.
type agreement struct {
	batch *batch
	alone *mat.Dense         // n×C: u of each picture when alone
	first []int              // n: the first picture, in the order of lengths, with the same numbers
	each  []session.Evidence // n: of those, and zero for copies
	total session.Evidence
	apart [][]int // n: pseudo-labelled frames of its burst
}

func newAgreement(b *batch) agreement {
	a := agreement{batch: b, alone: mat.NewDense(b.n, len(b.of.taught), nil), first: make([]int, b.n),
		each: make([]session.Evidence, b.n), apart: make([][]int, b.n)}
	order := make([]int, b.n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if c := cmp.Compare(b.r2[i], b.r2[j]); c != 0 {
			return c
		}
		return slices.Compare(rowOf(b.w, i), rowOf(b.w, j))
	})
	for at, i := range order {
		a.first[i] = i
		if at > 0 && slices.Equal(rowOf(b.w, i), rowOf(b.w, order[at-1])) {
			a.first[i] = a.first[order[at-1]]
		}
	}
	return a
}

// weigh asks the answers alone again, now that p_ij is known better: each picture
// counts as tempering λ p_ij examples of class j. Cost 9 C exponentials a picture.
func (a *agreement) weigh(lambda float64) error {
	b, share := a.batch, make([]float64, len(a.batch.pseudo))
	a.total = session.Evidence{}
	return b.each(scoreCost*len(share), 0, func(first, end int) error {
		for i := first; i < end; i++ {
			if a.first[i] != i {
				continue
			}
			for j, q := range b.pseudo {
				share[j] = 0
				if p := b.share.At(i, j); q.within(i, p) {
					share[j] = tempering * lambda * p
				}
			}
			a.each[i] = b.of.population().Evidence(a.alone.RawRowView(i), share)
			a.total.Add(1, &a.each[i])
		}
		return nil
	})
}

// keepApart notes that picture i may not be judged by some others.
func (a *agreement) keepApart(i int, pictures []int) {
	for _, f := range pictures {
		if other := a.first[f]; other != a.first[i] && !slices.Contains(a.apart[i], other) {
			a.apart[i] = append(a.apart[i], other)
		}
	}
}

// without returns what all pictures say but i, its copies and pseudo-labelled frames of
// its burst.
func (a *agreement) without(i int) session.Evidence {
	e := a.total
	e.Add(-1, &a.each[a.first[i]])
	for _, other := range a.apart[i] {
		e.Add(-1, &a.each[other])
	}
	return e
}
