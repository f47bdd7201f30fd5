package baseline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/metrics"
)

// Cosine is the cosine classifier of Baseline++,
//
//	score_c = s cos(w_c, x),
//
// for rows of length one. The w_c start at the class means. SGD with momentum minimises the
// cross-entropy of the whole support in each step. The original starts at random vectors and takes
// batches of four. That costs hundreds of times more and gives nearly the same result, since the
// part of a random start outside the support's span only lowers all cosines. Source: Chen et al., A
// Closer Look at Few-shot Classification, 2019.
type Cosine struct {
	w   *mat.Dense // way x d, rows of length one after Fit
	way int
}

// The settings of Baseline++ as published, except scale: 2 to 10 there.
const (
	cosineScale    = 10
	cosineSteps    = 100
	cosineRate     = 0.01
	cosineMomentum = 0.9
)

// Fit runs the gradient steps. Cost O(steps n way d).
func (m *Cosine) Fit(t Task) error {
	m.w, _ = t.means()
	m.way = t.Way
	_, d := t.Support.Dims()
	velocity := mat.NewDense(t.Way, d, nil)
	grad := mat.NewDense(t.Way, d, nil)
	for range cosineSteps {
		m.loss(grad, t)
		velocity.Scale(cosineMomentum, velocity)
		velocity.Add(velocity, grad)
		grad.Scale(cosineRate, velocity)
		m.w.Sub(m.w, grad)
	}
	for c := range m.way {
		row := m.w.RawRowView(c)
		norm := length(row)
		for j := range row {
			row[j] /= norm
		}
	}
	return nil
}

// loss returns the cross-entropy summed over the support and stores its gradient. With u = w/|w|,
// d cos/dw = (x - (u.x) u)/|w|. The sum over the rows is one product P^T X less a multiple of w.
func (m *Cosine) loss(grad *mat.Dense, t Task) float64 {
	n, _ := t.Support.Dims()
	norm := make([]float64, m.way)
	for c := range norm {
		norm[c] = length(m.w.RawRowView(c))
	}
	cos := mat.NewDense(n, m.way, nil)
	cos.Mul(t.Support, m.w.T())
	p := mat.NewDense(n, m.way, nil)
	along := make([]float64, m.way) // sum of p cos
	sum := 0.0
	for i := range n {
		row, scores := cos.RawRowView(i), p.RawRowView(i)
		for c := range row {
			row[c] /= norm[c]
			scores[c] = cosineScale * row[c]
		}
		own := scores[t.Labels[i]]
		sum += metrics.SoftmaxTo(scores, scores, 1) - own
		scores[t.Labels[i]]--
		for c, v := range scores {
			along[c] += v * row[c]
		}
	}
	grad.Mul(p.T(), t.Support)
	for c := range m.way {
		g, w := grad.RawRowView(c), m.w.RawRowView(c)
		for j := range g {
			g[j] = cosineScale / norm[c] * (g[j] - along[c]/norm[c]*w[j])
		}
	}
	return sum
}

// ScoresTo stores the scaled cosines of queries of length one.
func (m *Cosine) ScoresTo(dst, queries *mat.Dense) {
	dst.Mul(queries, m.w.T())
	dst.Scale(cosineScale, dst)
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += v * y[j]
	}
	return sum
}

// length returns |x|, bounded from below by the smallest number that can be a divisor.
func length(x []float64) float64 { return math.Max(math.Sqrt(dot(x, x)), 1e-300) }
