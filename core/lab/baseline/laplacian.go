package baseline

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/metrics"
)

// Laplacian is LaplacianShot: assignments y of the queries that minimise
//
//	Σ_q Σ_c y_qc |x_q - m_c|² + Lambda/2 Σ_qp w_qp |y_q - y_p|²
//
// relaxed as published. The queries x_q are first moved so that their mean is that of the support.
// w_qp is 1 if p is one of the nearest neighbours of q among the queries. From y_q = softmax(-a_q),
// a_qc = |x_q - m_c|², all queries are updated at once,
//
//	y_q <- softmax(-a_q + Lambda Σ_p w_qp y_p)
//
// until the energy stands still. The m_c are prototypes rectified by the queries. Each support row and
// query counts for the class whose support has the nearest mean by cosine. m_c is the mean of those of c,
// weighted by the softmax of ten times their cosines with all the means. Source: Ziko et al.,
// Laplacian Regularized Few-Shot Learning, 2020, with the rectification of Liu et al., Prototype
// Rectification for Few-Shot Learning, 2020.
type Laplacian struct {
	Neighbours int     // at least 1
	Lambda     float64 // 0 or more; 0 lets no neighbour count

	t     Task
	means *mat.Dense
}

// rectifyScale is epsilon of Liu et al.
const rectifyScale = 10

// Fit keeps the support. It panics if Neighbours is below 1.
func (m *Laplacian) Fit(t Task) error {
	checkNeighbours(m.Neighbours)
	m.means, _ = t.means()
	m.t = t
	return nil
}

// ScoresTo stores the logarithms of the assignments. Cost q² d, memory
// O(q (Neighbours + way)).
func (m *Laplacian) ScoresTo(dst, queries *mat.Dense) {
	prototypes, queries := m.rectified(queries)
	(&Centroid{means: prototypes}).ScoresTo(dst, queries)
	unary := mat.DenseCopyOf(dst)
	graph := nearest(queries, m.Neighbours)
	q, way := dst.Dims()
	logSoftmax(dst)
	y, pull := mat.NewDense(q, way, nil), make([]float64, way)
	const most, tolerance = 100, 1e-8
	before := math.NaN()
	for range most {
		y.Apply(func(_, _ int, v float64) float64 { return math.Exp(v) }, dst)
		energy := 0.0
		for i, edges := range graph {
			clear(pull)
			for _, e := range edges {
				floats.Add(pull, y.RawRowView(e.to))
			}
			for c, p := range y.RawRowView(i) {
				energy += p * (dst.At(i, c) - unary.At(i, c) - m.Lambda*pull[c])
			}
			floats.AddScaledTo(dst.RawRowView(i), unary.RawRowView(i), m.Lambda, pull)
		}
		logSoftmax(dst)
		if math.Abs(energy-before) <= tolerance*math.Abs(before) {
			break
		}
		before = energy
	}
}

// rectified returns the prototypes, way x d, and the moved queries.
func (m *Laplacian) rectified(queries *mat.Dense) (prototypes, moved *mat.Dense) {
	all := stack(m.t.Support, queries)
	n, d := all.Dims()
	support := len(m.t.Labels)
	shift := make([]float64, d)
	for i := range n {
		if i < support {
			floats.AddScaled(shift, 1/float64(support), all.RawRowView(i))
		} else {
			floats.AddScaled(shift, -1/float64(n-support), all.RawRowView(i))
		}
	}
	for i := support; i < n; i++ {
		floats.Add(all.RawRowView(i), shift)
	}
	prototypes = mat.NewDense(m.t.Way, d, nil)
	total := make([]float64, m.t.Way)
	cos := make([]float64, m.t.Way)
	for i := range n {
		x := all.RawRowView(i)
		for c := range cos {
			mean := m.means.RawRowView(c)
			cos[c] = dot(x, mean) / (length(x) * length(mean))
		}
		best := metrics.Best(cos)
		floats.Scale(rectifyScale, cos)
		w := math.Exp(cos[best] - floats.LogSumExp(cos))
		floats.AddScaled(prototypes.RawRowView(best), w, x)
		total[best] += w
	}
	for c, w := range total {
		if w > 0 {
			floats.Scale(1/w, prototypes.RawRowView(c))
		} else {
			prototypes.SetRow(c, m.means.RawRowView(c))
		}
	}
	return prototypes, all.Slice(support, n, 0, d).(*mat.Dense)
}

// logSoftmax makes every row logarithms of probabilities.
func logSoftmax(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		floats.AddConst(-floats.LogSumExp(row), row)
	}
}
