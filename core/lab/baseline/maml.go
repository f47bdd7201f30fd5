package baseline

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/metrics"
	"metaqda/core/niw"
)

// MAMLQDA is the paper's competitor, quadratic discriminant analysis without Bayes. The mean of
// each class is by maximum likelihood. A few gradient steps on the likelihood of the support give
// its covariance factor, from a start meta-learned for the purpose:
//
//	score(x) = -sum_j log L_jj - 1/2 |L^-1 (x - mu_c)|^2,   Sigma_c = L L^T,
//	L <- L + rate 1/K sum_i d score(x_i)/dL.
//
// Source: section 5.6 of the paper; Finn et al., Model-Agnostic Meta-Learning,
// 2017, in its first-order form.
type MAMLQDA struct {
	Start *mat.TriDense // lower, d x d, from [TrainMAML]
	Steps int           // gradient steps on the support
	Rate  float64       // of the steps

	means   *mat.Dense
	factors []blas64.Triangular // of each class
}

// The inner loop as it is trained and tested.
const (
	MAMLSteps = 3
	MAMLRate  = 1e-3
)

// leastFactor keeps the diagonal of L positive under gradient steps.
const leastFactor = 1e-3

// Fit adapts the factors. Cost O(steps n d^2).
func (m *MAMLQDA) Fit(t Task) error {
	var count []int
	m.means, count = t.means()
	_, d := t.Support.Dims()
	m.factors = make([]blas64.Triangular, t.Way)
	gradient := general(d, d)
	for c := range m.factors {
		l := m.Start.RawTriangular()
		l.Data = append([]float64(nil), l.Data...)
		rows, weight := m.differences(t, c, count[c])
		for range m.Steps {
			clear(gradient.Data)
			addScoreGradient(gradient, l, rows, weight)
			step(l, gradient, m.Rate)
		}
		m.factors[c] = l
	}
	return nil
}

// differences returns the rows of a class less their mean, and equal weights.
func (m *MAMLQDA) differences(t Task, class, count int) (blas64.General, []float64) {
	_, d := t.Support.Dims()
	rows, weight := general(count, d), make([]float64, count)
	k := 0
	for i, c := range t.Labels {
		if c == class {
			floats.SubTo(rows.Data[k*d:(k+1)*d], t.Support.RawRowView(i), m.means.RawRowView(class))
			weight[k] = 1 / float64(count)
			k++
		}
	}
	return rows, weight
}

// addScoreGradient adds the gradient by L of sum_i weight_i score(row_i), rows
// being differences to the mean:
//
//	sum_i weight_i { tril(v_i w_i^T) - diag(1/L_jj) },  w = L^-1 row,  v = L^-T w.
//
// Only the lower triangle of dst has meaning afterwards.
func addScoreGradient(dst blas64.General, l blas64.Triangular, rows blas64.General, weight []float64) {
	w := clone(rows)
	niw.SolveRowsTo(w, l)
	v := clone(w)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, l, v)
	sum := 0.0
	for i, a := range weight {
		floats.Scale(a, v.Data[i*v.Stride:i*v.Stride+v.Cols])
		sum += a
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, v, w, 1, dst)
	for j := range l.N {
		dst.Data[j*dst.Stride+j] -= sum / l.Data[j*l.Stride+j]
	}
}

// step moves the lower triangle of l along the gradient.
func step(l blas64.Triangular, gradient blas64.General, rate float64) {
	for i := range l.N {
		for j := 0; j <= i; j++ {
			l.Data[i*l.Stride+j] += rate * gradient.Data[i*gradient.Stride+j]
		}
		l.Data[i*l.Stride+i] = math.Max(l.Data[i*l.Stride+i], leastFactor)
	}
}

// ScoresTo stores the log densities without their common constant.
func (m *MAMLQDA) ScoresTo(dst, queries *mat.Dense) {
	for c := range m.factors {
		m.classScores(dst, queries, c)
	}
}

// classScores fills one column and returns the differences to the mean.
func (m *MAMLQDA) classScores(dst, queries *mat.Dense, c int) blas64.General {
	q, d := queries.Dims()
	rows, l := general(q, d), m.factors[c]
	logDet := 0.0
	for j := range d {
		logDet += math.Log(l.Data[j*l.Stride+j])
	}
	for i := range q {
		floats.SubTo(rows.Data[i*d:(i+1)*d], queries.RawRowView(i), m.means.RawRowView(c))
	}
	w := clone(rows)
	niw.SolveRowsTo(w, l)
	for i := range q {
		r := w.Data[i*d : (i+1)*d]
		dst.Set(i, c, -logDet-dot(r, r)/2)
	}
	return rows
}

// Episode is one task to meta-learn from, with its labelled queries.
type Episode struct {
	Task
	Queries *mat.Dense // q x d
	Answers []int      // q
}

// TrainMAML meta-learns the start: n episodes, one step of Adam each, on the
// cross-entropy of the queries after adaptation. The first-order form takes the
// gradient by the adapted factors for that by the start. It begins at the
// identity, as the paper's priors do; the rate falls to nothing by a cosine.
func TrainMAML(d, n int, draw func(i int) Episode) *mat.TriDense {
	start := mat.NewTriDense(d, mat.Lower, nil)
	for j := range d {
		start.SetTri(j, j, 1)
	}
	m := &MAMLQDA{Start: start, Steps: MAMLSteps, Rate: MAMLRate}
	raw := start.RawTriangular()
	opt := newAdam(d * d)
	for i := range n {
		e := draw(i)
		gradient := general(d, d)
		m.loss(gradient, e)
		for r := range d {
			clear(gradient.Data[r*d+r+1 : (r+1)*d]) // above the diagonal
		}
		opt.rate = mamlOuterRate * (1 + math.Cos(math.Pi*float64(i)/float64(n))) / 2
		opt.step(raw.Data, gradient.Data)
		for j := range d {
			raw.Data[j*raw.Stride+j] = math.Max(raw.Data[j*raw.Stride+j], leastFactor)
		}
	}
	return start
}

const mamlOuterRate = 3e-3

// loss returns the mean cross-entropy of the queries of a task and adds its
// gradient by the adapted factors.
func (m *MAMLQDA) loss(gradient blas64.General, t Episode) float64 {
	if err := m.Fit(t.Task); err != nil {
		panic(err) // Fit has no way to fail
	}
	q, _ := t.Queries.Dims()
	scores := mat.NewDense(q, t.Way, nil)
	rows := make([]blas64.General, t.Way)
	for c := range rows {
		rows[c] = m.classScores(scores, t.Queries, c)
	}
	sum := 0.0
	weight := make([][]float64, t.Way)
	for c := range weight {
		weight[c] = make([]float64, q)
	}
	for i, y := range t.Answers {
		row := scores.RawRowView(i)
		own := row[y]
		sum += metrics.SoftmaxTo(row, row, 1) - own
		row[y]--
		for c, v := range row {
			weight[c][i] = v / float64(q)
		}
	}
	for c := range rows {
		addScoreGradient(gradient, m.factors[c], rows[c], weight[c])
	}
	return sum / float64(q)
}

func clone(a blas64.General) blas64.General {
	b := general(a.Rows, a.Cols)
	for i := range a.Rows {
		copy(b.Data[i*b.Stride:(i+1)*b.Stride], a.Data[i*a.Stride:i*a.Stride+a.Cols])
	}
	return b
}
