package niw

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Weighted is the posterior of one class whose i-th whitened example counts as much
// as w_i > 0 examples would: the conjugate update by p(x_i | mu, Sigma)^w_i,
//
//	kappa_j = kappa + Σ w_i,   nu_j = nu + Σ w_i,   m_j = Σ w_i x_i / kappa_j   (m = 0)
//	S_j = S + Σ w_i (x_i-x̄)(x_i-x̄)ᵀ + kappa Σw/kappa_j x̄x̄ᵀ,   x̄ = Σ w_i x_i / Σ w_i
//
// In the low-rank form of [Group] that is a_i = sqrt(w_i) in place of 1 and of rows
// w_i: with G_ik = a_i a_k x_iᵀx_k
//
//	M = I + aaᵀ/kappa + G,   log det S_j = log det S + ln(kappa/kappa_j) + log det M
//	(x-m_j)ᵀ S_j⁻¹ (x-m_j) = |x-m_j|² - uᵀM⁻¹u,   u = a∘(Xx) - Ga/kappa_j
//
// and an example can be left out of the density of another point: with t = x_b - m_j,
// kappa_0 = kappa_j - w_b, g = w_b kappa_j/kappa_0, q_b = tᵀS_j⁻¹t and
// h = (x-m_j)ᵀS_j⁻¹t
//
//	S_-b = S_j - g ttᵀ,   x - m_-b = x - m_j + (w_b/kappa_0) t
//	(x-m_-b)ᵀ S_-b⁻¹ (x-m_-b) = A + g B²/D,   log det S_-b = log det S_j + ln D
//	A = q_x + 2h w_b/kappa_0 + q_b (w_b/kappa_0)²,   B = h + q_b w_b/kappa_0
//	D = 1 - g q_b = (M⁻¹)_bb kappa_j/kappa_0
//
// where D is a positive number that no rounding turns negative.
type Weighted struct {
	prior, post Posterior
	weights     []float64
	root        []float64 // a
	level       []float64 // Ga/kappa_j
	total       float64   // |m_j|²
	chol        blas64.Triangular
	sums        []float64 // x_bᵀm_j
	solved      []float64 // n×n: C⁻¹u of each example, M = C Cᵀ
	left        []float64 // D of each example
	quads       []float64 // q_b of each example
}

// Fit makes g the posterior of examples with inner products gram, n×n, and the given
// positive weights. Cost O(n³).
func (g *Weighted) Fit(prior Posterior, gram blas64.General, weights []float64) {
	n := len(weights)
	if gram.Rows != n || n > 0 && gram.Cols != n {
		panic("niw: Gram matrix of wrong shape")
	}
	sum := floats.Sum(weights)
	g.prior, g.post, g.weights = prior, prior, weights
	g.post.Kappa += sum
	g.post.Nu += sum
	g.allocate(n)
	m := make([]float64, n*n)
	g.total = 0
	for i, w := range weights {
		g.root[i] = math.Sqrt(w)
	}
	for i, a := range g.root {
		row := gram.Data[i*gram.Stride : i*gram.Stride+n]
		for k, v := range row {
			b := g.root[k]
			m[i*n+k] = a * b * (v + 1/prior.Kappa)
			g.sums[i] += b * b * v
		}
		m[i*n+i]++
		g.sums[i] /= g.post.Kappa
		g.level[i] = a * g.sums[i]
		g.total += weights[i] * g.sums[i] / g.post.Kappa
	}
	g.total = math.Max(g.total, 0)
	g.factorize(m)
	for i := range g.root {
		g.post.LogDetS += 2 * math.Log(g.chol.Data[i*n+i])
	}
	g.post.LogDetS += math.Log(prior.Kappa / g.post.Kappa)
	for i, a := range g.root {
		y := g.solved[i*n : (i+1)*n]
		for k, v := range gram.Data[i*gram.Stride : i*gram.Stride+n] {
			y[k] = g.root[k]*v - g.level[k]
		}
		SolveTo(y, g.chol)
		g.leave(i, a*a)
	}
}

func (g *Weighted) allocate(n int) {
	buffer := make([]float64, 5*n+n*n)
	part := func() []float64 {
		p := buffer[:n:n]
		buffer = buffer[n:]
		return p
	}
	g.root, g.level, g.sums, g.left, g.quads, g.solved = part(), part(), part(), part(), part(), buffer
}

// factorize overwrites m with its Cholesky factor. No pivot of M is below one,
// whatever rounding says.
func (g *Weighted) factorize(m []float64) {
	n := len(g.root)
	for k := range n {
		row := m[k*n:]
		for i := 0; i <= k; i++ {
			above := m[i*n:]
			s := row[i] - dot(row[:i], above[:i])
			if i == k {
				row[k] = math.Sqrt(math.Max(s, 1))
			} else {
				row[i] = s / above[i]
			}
		}
	}
	g.chol = blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: n, Data: m}
}

// leave computes what leaving example b out takes. Cost O(n²).
func (g *Weighted) leave(b int, w float64) {
	n, rest := len(g.root), g.post.Kappa-w
	unit := make([]float64, n)
	unit[b] = 1
	SolveTo(unit, g.chol)
	inverse := math.Min(dot(unit, unit), rest/g.post.Kappa)
	g.left[b] = inverse * g.post.Kappa / rest
	g.quads[b] = math.Max(rest/g.post.Kappa-inverse, 0) / w
}

// LogProbRowsTo stores in dst the log density of each of q points, leaving out for
// the i-th the example without[i], or none if that is -1. It takes r2[i] = |x_i|² and
// the inner products of the points with the examples, cross, q×n, which it
// overwrites. Cost q n²/2, most of it in matrix products.
func (g *Weighted) LogProbRowsTo(dst []float64, inf Inference, r2 []float64, cross blas64.General, without []int) {
	n := len(g.root)
	if cross.Rows != len(dst) || cross.Cols != n || len(r2) != len(dst) || len(without) != len(dst) {
		panic("niw: rows of wrong shape")
	}
	along := make([]float64, 2*len(dst)) // xᵀm_j; xᵀx_b
	for i, b := range without {
		row := cross.Data[i*cross.Stride : i*cross.Stride+n]
		if b >= 0 {
			along[len(dst)+i] = row[b]
		}
		for k, a := range g.root {
			u := a * row[k]
			along[i] += a * u / g.post.Kappa
			row[k] = u - g.level[k]
		}
	}
	SolveRowsTo(cross, g.chol)
	norm := g.post.LogNorm(inf)
	for i, b := range without {
		y := cross.Data[i*cross.Stride : i*cross.Stride+n]
		q := math.Max(math.Max(r2[i]-2*along[i]+g.total, 0)-dot(y, y), 0)
		if b < 0 {
			dst[i] = norm + g.post.LogKernel(inf, q)
			continue
		}
		h := along[len(dst)+i] - along[i] - g.sums[b] + g.total - dot(y, g.solved[b*n:(b+1)*n])
		dst[i] = g.logProbWithout(inf, b, q, h)
	}
}

// logProbWithout returns the log density of a point with quadratic form q after
// leaving out example b, where h = (x-m_j)ᵀ S_j⁻¹ (x_b-m_j).
func (g *Weighted) logProbWithout(inf Inference, b int, q, h float64) float64 {
	w, post := g.weights[b], g.post
	post.Kappa -= w
	post.Nu -= w
	post.LogDetS += math.Log(g.left[b])
	most := math.Sqrt(q) * math.Sqrt(g.quads[b])
	h = math.Max(-most, math.Min(h, most))
	share := w / post.Kappa
	inner := h + share*g.quads[b]
	q += share*(2*h+share*g.quads[b]) + w*g.post.Kappa/post.Kappa*inner*inner/g.left[b]
	return post.LogProb(inf, math.Max(q, 0))
}
