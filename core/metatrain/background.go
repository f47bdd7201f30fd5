package metatrain

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/qda"
)

const (
	// backgroundClasses is the most classes of a domain that a background has.
	backgroundClasses = 64

	// backgroundRank is the most dimensions it lies in: with half of them it tells
	// strangers apart less well, with twice as many no better.
	backgroundRank = 32
)

// NewBackground returns the background of the domains under a prior: the means of
// at most 64 classes of each, evenly chosen, in the space of their 32 principal
// directions about the prior's mean, by their lengths when whitened. ok is false
// where they do not differ from it. Cost N d for the N rows of these classes, n d²
// for n of them.
func NewBackground(p *niw.Prior, domains []Labelled, temperature float64) (b *qda.Background, ok bool) {
	d := p.Dim()
	var rows []float64
	mean := make([]float64, d)
	for _, dom := range domains {
		n := min(len(dom.Classes), backgroundClasses)
		for i := range n {
			classMean(mean, dom.Domain, dom.Classes[i*len(dom.Classes)/n])
			rows = append(rows, mean...)
		}
	}
	if len(rows) == 0 {
		return nil, false
	}
	w := mat.NewDense(len(rows)/d, d, rows)
	p.WhitenRowsTo(w, w)
	v := principal(w, backgroundRank)
	if v == nil {
		return nil, false
	}
	var c mat.Dense
	c.Mul(w, v.T())
	for i := range v.RawMatrix().Rows {
		p.UnwhitenTo(v.RawRowView(i))
	}
	b, err := qda.NewBackground(v, &c, temperature)
	return b, err == nil
}

// principal returns at most r orthonormal directions that hold the most of the
// squared length of the rows of w, by the eigenvectors of their Gram matrix; nil
// if it has none.
func principal(w *mat.Dense, r int) *mat.Dense {
	n, d := w.Dims()
	gram := mat.NewSymDense(n, nil)
	gram.SymOuterK(1, w)
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil
	}
	values := eigen.Values(nil) // ascending
	var u mat.Dense
	eigen.VectorsTo(&u)
	least := 1e-9 * values[n-1]
	rank := 0
	for rank < min(r, n, d) && values[n-1-rank] > least {
		rank++
	}
	if rank == 0 || !(values[n-1] > 0) {
		return nil
	}
	v := mat.NewDense(rank, d, nil)
	for k := range rank {
		column := n - 1 - k
		scaled := make([]float64, n)
		mat.Col(scaled, column, &u)
		for i := range scaled {
			scaled[i] /= math.Sqrt(values[column])
		}
		blas64.Gemv(blas.Trans, 1, w.RawMatrix(), vector(scaled), 0, vector(v.RawRowView(k)))
	}
	return v
}

// backgroundScores returns the scores of whitened rows; nil without a background.
func backgroundScores(b *qda.WhitenedBackground, d int, white []float64, workers int) []float64 {
	if b == nil {
		return nil
	}
	n, scores := len(white)/d, make([]float64, len(white)/d)
	parallel((n+rowBlock-1)/rowBlock, workers, func(block int) {
		lo, hi := block*rowBlock, min((block+1)*rowBlock, n)
		b.ScoresTo(scores[lo:hi], blas64.General{Rows: hi - lo, Cols: d, Stride: d, Data: white[lo*d : hi*d]})
	})
	return scores
}
