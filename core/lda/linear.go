package lda

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// linear holds the scores as linear functions of an embedding. It computes their weights once enough
// predictions were made for this to save time. It computes a piece, the weights of some classes, at a
// time. The next piece follows once the predictions since then have cost as much. Several goroutines
// may read it at once.
type linear struct {
	worth     int64          // answers that cost as much as the weights of a piece
	piece     int            // classes whose weights are computed at once
	answers   atomic.Int64   // since the last piece, until all weights are there
	weights   blas64.General // n×d, n classes with examples
	known     int            // of these, in their order
	intercept []float64      // n
}

// linearPiece is about how many multiply-adds a piece takes: some ten milliseconds.
const linearPiece = 1 << 24

// newLinear returns a linear without weights yet, for a classifier that has settled.
func (c *Classifier) newLinear() *linear {
	classes, n, d := len(c.taught), c.shared.cov.n, c.Dim()
	whiten := d * d / 2
	if s := c.prior.Spiked; s != nil {
		whiten = 2 * s.Rank() * d
	}
	image, saved := n*n/2, whiten
	if !c.shared.cov.primal {
		image += n * d
		saved += image + classes*n // beside C d
	} else {
		saved += image
	}
	each := whiten + 2*image + 1
	piece := min(max(1, linearPiece/each), classes)
	return &linear{worth: int64((piece+1)*each/max(1, saved) + 1), piece: piece}
}

// all reports whether all weights are there.
func (l *linear) all() bool { return l.known > 0 && l.known == l.weights.Rows }

// due reports whether enough answers were given for the next piece.
func (l *linear) due() bool { return !l.all() && l.answers.Load() >= l.worth }

// learn computes a piece of the weights if it is due. The classifier has settled.
func (c *Classifier) learn() {
	l := c.linear
	if !l.due() {
		return
	}
	if n, d := len(c.taught), c.Dim(); l.weights.Data == nil {
		l.weights = blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
		l.intercept = make([]float64, n)
		c.interceptTo(l.intercept)
	}
	last := min(l.known+l.piece, l.weights.Rows)
	rows := l.weights
	rows.Rows, rows.Data = last-l.known, rows.Data[l.known*rows.Stride:]
	c.weightsTo(rows, c.shared.columns[l.known:last])
	l.answers.Store(0)
	if squaredNorm(rows.Data[:rows.Rows*rows.Stride])+squaredNorm(l.intercept) <= maxNorm2 {
		l.known = last
	} else {
		l.worth = math.MaxInt64 // weights this large are never used
	}
}

// maxOrdinary is the largest squared length of an embedding whose scores are taken from weights:
// [Classifier.whiten] judges what is larger.
const maxOrdinary = 1e20

// weigh stores u of x in dst and reports true if there are weights, and x is an ordinary embedding.
func (c *Classifier) weigh(dst, x []float64, w *work) bool {
	l := c.linear
	if !l.all() {
		l.answers.Add(1)
		return false
	}
	if len(x) != l.weights.Cols || !(squaredNorm(x) <= maxOrdinary) {
		return false
	}
	if r := c.reweighted; r != nil {
		copy(w.z, x)
		r.apply(w.z)
		x = w.z
	}
	copy(dst, l.intercept)
	blas64.Gemv(blas.NoTrans, 1, l.weights, vector(x), 1, vector(dst))
	return true
}

// weightsTo stores in row j the weights of u for the class in column columns[j] of the covariance.
// The classifier has settled. Cost for each n d + n², or d², and twice the cost of whitening a vector.
func (c *Classifier) weightsTo(rows blas64.General, columns []int) {
	s, mean := c.shared, make([]float64, c.Dim())
	blas64.Gemv(blas.Trans, 1, s.cov.meanRows(), vector(s.alpha), 0, vector(mean))
	for j, column := range columns {
		row := rowOf(rows, j)
		floats.SubTo(row, s.cov.mean(column), mean)
		floats.Scale(s.h[column]*c.work.slope, row)
	}
	s.cov.solveRows(rows)
	c.prior.AdjointRowsTo(rows)
}

// interceptTo stores u_j of the embedding zero. The classifier has settled.
func (c *Classifier) interceptTo(dst []float64) {
	origin := make([]float64, c.Dim())
	c.prior.WhitenTo(origin, origin)
	c.shared.scoresTo(dst, origin, &c.work)
	floats.Scale(c.work.slope, dst)
}

// solveRows overwrites the rows of b, whitened, with A⁻¹ times them. Cost n d + n², or d²,
// for each.
func (c *covariance) solveRows(b blas64.General) {
	if c.n == 0 {
		return
	}
	t := blas64.General{Rows: b.Rows, Cols: c.n, Stride: c.n, Data: make([]float64, b.Rows*c.n)}
	c.imagesTo(t, b)
	blas64.Trsm(blas.Right, blas.Trans, 1, c.factor(), t)
	if c.primal {
		for i := range b.Rows {
			copy(rowOf(b, i), rowOf(t, i))
		}
		return
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, t, c.differences(), 1, b)
}
