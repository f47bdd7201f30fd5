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
	// mostWeight bounds the pseudo-label weights of all classes together to Σ_j mostWeight c/K_j,
	// with c the result of [batch.certainty].
	mostWeight = 6

	// sharpness is the power of a picture's probabilities in its pseudo-label weights. With a
	// power of one, doubtful pictures would draw all means together.
	sharpness = 2

	// balancings is how often the total weights of the classes are made more equal, by the
	// square roots of their ratios. More often would assign pictures to absent classes.
	balancings = 2

	// labelled is how many examples a unit of pseudo-label weight counts as in h_j of [shared],
	// which says how sure the mean of a class is.
	labelled = 0.05

	// leastShare is the least weight before λ with which a picture counts for a class.
	leastShare = 0.01

	// leastWeight is a weight below which a picture changes only rounding.
	leastWeight = 1e-6

	// mostPictures bounds the work: only so many pictures of a class, the surest, have weight.
	mostPictures = 32

	// farOut bounds the squared distance of a picture from the prior's mean. Its unit is the
	// squared distance of the class's farthest example. Pictures beyond it get no weight in the
	// class, so a long vector that is not of a picture cannot move it. Vectors of length one may be
	// at the bound exactly, and rounding must not decide about these.
	farOut = 4 * (1 + 1e-9)
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
	farthest float64   // farOut times the largest squared distance of an example from the prior's mean

	picked []candidate // scratch of choose
	share  float64     // total weight before λ of all pictures of the class, without copies
}

// candidate is a picture with its weight before λ in the class.
type candidate struct {
	picture int
	p       float64
}

// newPseudoLabels returns the pseudo-labels of a class without pictures. It keeps inners, of length n.
// Cost K d.
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
			if err := b.findBurst(v); err != nil {
				return err
			}
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

// label gives pictures pseudo-label weights λ v_ij, with v_ij of [batch.sharpen]. λ is the same
// for all classes, so a class with many pictures gets more. It is smaller where the answers are
// in doubt.
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

// sharpen makes weights v_ij of the probabilities p_ij. They are powers of these, with the sizes of
// the classes made more equal. Those of picture i sum to p_i², with p_i its probability of being
// known. The square keeps out pictures that may be of none of the classes.
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

// certainty returns how sure the weights v_ij are: 0 for random weights, and 1 if each picture has
// weight in one class only:
//
//	(q - 1/C)/(1 - 1/C),   q = Σ_ij v_ij²/v_i / Σ_i v_i,   v_i = Σ_j v_ij
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

// choose picks the pictures of class j with the largest weights. Copies of examples, or of
// pictures already picked, are left out.
func (q *pseudoLabels) choose(j int) {
	b := q.batch
	var all []int
	for i := range b.n {
		if q.within(i, b.weights.At(i, j)) {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(x, y int) int {
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
		q.share += rest * picked / seen // as if the rest had the same share of copies
	}
}

// within reports whether picture i, with probability or weight p in the class, may count for the
// class.
func (q *pseudoLabels) within(i int, p float64) bool {
	return p >= leastShare && q.batch.r2[i] <= q.farthest
}

// has reports whether a picture is a copy of an example or of a picked picture.
func (q *pseudoLabels) has(picture int) bool {
	w, near := rowOf(q.batch.w, picture), nearOfCopies(2*q.batch.r2[picture])
	for i := range q.class.count() {
		if within(q.class.row(i), w, near) {
			return true
		}
	}
	for _, a := range q.picked {
		if within(rowOf(q.batch.w, a.picture), w, near) {
			return true
		}
	}
	return false
}

// take weighs the picked pictures: at most λ share together, and none above its weight before λ.
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

// tempering is the weight of a pseudo-labelled picture in the likelihood of the log temperature; an
// example has the weight 1.
const tempering = 0.3

// agreement is the evidence of a batch about the session's log temperature. Answers judged together
// are better than single answers, so they serve as labels for the single answers. A picture counts
// in proportion to λ p_ij, and a copy not at all. No picture is evidence for its own answer.
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
	slices.SortStableFunc(order, func(i, j int) int {
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

// weigh computes the evidence with the current p_ij: each picture counts as tempering λ p_ij
// examples of class j. Cost 9 C exponentials a picture.
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

// keepApart finds the other pictures that must not count in the answer for picture i.
func (a *agreement) keepApart(i int, pictures []int) {
	for _, f := range pictures {
		if other := a.first[f]; other != a.first[i] && !slices.Contains(a.apart[i], other) {
			a.apart[i] = append(a.apart[i], other)
		}
	}
}

// without returns the evidence of all pictures but i, its copies and the pseudo-labelled frames of
// its burst.
func (a *agreement) without(i int) session.Evidence {
	e := a.total
	e.Add(-1, &a.each[a.first[i]])
	for _, other := range a.apart[i] {
		e.Add(-1, &a.each[other])
	}
	return e
}
