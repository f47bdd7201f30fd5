package qda

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/session"
)

// heard is how much a picture that is known only by others says of the session beside
// an example whose class was told.
const heard = 0.3

// agreement is what the pictures of a batch say of how hard the session is. Each has
// been answered alone; together they are known better, so that the answers alone can
// be tested as those about examples are. A picture counts in proportion to
// what it is borrowed with, a copy not at all, and says nothing of itself.
type agreement struct {
	batch *batch
	alone *mat.Dense         // n×C: u of each picture when alone
	first []int              // n: the first picture, in the order of lengths, with the same numbers
	each  []session.Evidence // n: of those, and zero for copies
	total session.Evidence
	apart [][]int // n: borrowed frames of its burst
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
// counts as heard λ p_ij examples of class j. Cost 9 C exponentials a picture.
func (a *agreement) weigh(lambda float64) {
	b, share := a.batch, make([]float64, len(a.batch.borrows))
	a.total = session.Evidence{}
	for i := range b.n {
		if a.first[i] != i {
			continue
		}
		for j, q := range b.borrows {
			share[j] = 0
			if p := b.share.At(i, j); q.within(i, p) {
				share[j] = heard * lambda * p
			}
		}
		a.each[i] = b.of.population().Evidence(a.alone.RawRowView(i), share)
		a.total.Add(1, &a.each[i])
	}
}

// keepApart notes that picture i may not be judged by some others.
func (a *agreement) keepApart(i int, pictures []int) {
	for _, f := range pictures {
		if other := a.first[f]; other != a.first[i] && !slices.Contains(a.apart[i], other) {
			a.apart[i] = append(a.apart[i], other)
		}
	}
}

// without returns what all pictures say but i, its copies and borrowed frames of its
// burst.
func (a *agreement) without(i int) session.Evidence {
	e := a.total
	e.Add(-1, &a.each[a.first[i]])
	for _, other := range a.apart[i] {
		e.Add(-1, &a.each[other])
	}
	return e
}
