package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/session"
)

// Predictor is all that the answers of a [Classifier] depend on as long as nothing is
// taught. With one scale matrix for the session the log density of each of its C classes,
// less that of a class never seen, is linear in a transformed embedding x of length d:
//
//	u_j = Weights_jᵀ x + Intercept_j
//	s   = ln Σ_j exp(u_j + LogPrior_j)
//
// Probabilities are those of Session, with LogOdds in place of ln π_known/π_none.
type Predictor struct {
	Labels    []string   // C
	Weights   *mat.Dense // C×d
	Intercept []float64  // C
	LogPrior  []float64  // C
	Session   session.Table
	LogOdds   float64
}

// Predictor returns what the classifier answers by now. Classes without examples, which
// have probability zero, are left out. It returns [ErrNoExamples] if that is all. Cost that of the first prediction after a
// change, and for each class n d + n², or d², and twice what it takes to whiten a vector.
func (c *Classifier) Predictor() (*Predictor, error) {
	n := len(c.taught)
	if n == 0 {
		return nil, ErrNoExamples
	}
	posterior := c.Session() // before what it settles is read
	p := &Predictor{
		Labels: make([]string, n), Weights: mat.NewDense(n, c.Dim(), nil), Intercept: make([]float64, n),
		LogPrior: slices.Clone(c.work.logPrior), Session: posterior.Table(), LogOdds: session.LogOdds(c.options.NonePrior),
	}
	s, rows := c.shared, p.Weights.RawMatrix()
	for j, k := range c.taught {
		m := s.cov.index[k]
		row := rowOf(rows, j)
		copy(row, s.cov.mean(m.column))
		blas64.Gemv(blas.Trans, -1, s.cov.meanRows(), vector(s.alpha), 1, vector(row))
		floats.Scale(s.h[m.column], row)
	}
	s.cov.solveRows(rows)
	origin := make([]float64, c.Dim())
	c.prior.WhitenTo(origin, origin)
	s.scoresTo(p.Intercept, c.taught, origin)
	for j, k := range c.taught {
		p.Labels[j] = k.label
		c.prior.AdjointTo(rowOf(rows, j))
	}
	floats.Scale(c.work.slope, p.Intercept)
	floats.Scale(c.work.slope, rows.Data)
	return p, nil
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
