package niw

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Group is the posterior of one class in low-rank form: all the predictive
// densities need of K whitened examples w_i = L⁻¹(x_i-m) is their Gram matrix
// G = W Wᵀ. With
//
//	B   = I - 11ᵀ/(kappa+K),   B⁻¹ = I + 11ᵀ/kappa
//	S_j = L (I + Wᵀ B W) Lᵀ
//	M   = I + 11ᵀ/kappa + G
//
// the determinant lemma and the Woodbury identity give
//
//	log det S_j = log det S + ln(kappa/(kappa+K)) + log det M
//	(x-m_j)ᵀ S_j⁻¹ (x-m_j) = r2 - uᵀ M⁻¹ u
//	r2 = |z|² - 2 (1ᵀg)/(kappa+K) + (1ᵀG1)/(kappa+K)²,  u = g - G1/(kappa+K)
//
// where z = L⁻¹(x-m) is the whitened query and g = W z. M is at least the
// identity, so its Cholesky factor always exists. An empty Group, K = 0, is the
// predictive of the prior: the density of an example of a class never seen.
//
// The zero Group is not usable; begin with [Group.Reset] or [Group.Fit]. A
// Group holds scratch space and must not be used from two goroutines at once.
type Group struct {
	prior   Posterior // of the empty class
	post    Posterior
	norm    [2]float64  // LogNorm of post by Inference
	chol    [][]float64 // rows of the lower triangular C of M = C Cᵀ
	logDet  float64     // Σ ln C_ii
	rowSum  []float64   // G1
	total   float64     // 1ᵀG1
	scratch []float64
}

// Reset empties the group and takes over kappa, nu and log det S of p. Cost
// O(d) for the determinant.
func (g *Group) Reset(p *Prior) {
	g.prior = Posterior{Dim: p.Dim(), Kappa: p.Kappa, Nu: p.Nu, LogDetS: p.LogDetS()}
	g.chol, g.rowSum, g.logDet, g.total = g.chol[:0], g.rowSum[:0], 0, 0
	g.update()
}

// Fit makes g the posterior for the K examples with Gram matrix gram, of which
// the lower or upper triangle may be stored. A nil gram stands for K = 0. Cost O(K³).
func (g *Group) Fit(p *Prior, gram *mat.SymDense) {
	g.Reset(p)
	if gram == nil {
		return
	}
	cross := make([]float64, gram.SymmetricDim())
	for i := range cross {
		for j := range i + 1 {
			cross[j] = gram.At(i, j)
		}
		g.Append(cross[:i+1])
	}
}

// Posterior returns kappa_j, nu_j and log det S_j.
func (g *Group) Posterior() Posterior { return g.post }

// Append adds one example given its inner products with the examples already
// in the group and, last, with itself: cross has length K+1. Cost O(K²).
func (g *Group) Append(cross []float64) {
	k := len(g.chol)
	if len(cross) != k+1 {
		panic("niw: cross products of wrong length")
	}
	var own float64
	for j, v := range cross[:k] {
		own += v
		g.rowSum[j] += v
	}
	g.rowSum, g.scratch = append(g.rowSum, own+cross[k]), append(g.scratch[:k], 0)
	g.total = 0
	for _, v := range g.rowSum {
		g.total += v
	}
	g.factorise(cross)
	g.update()
}

// factorise appends a row to C. Cost O(K²).
func (g *Group) factorise(cross []float64) {
	k := len(g.chol)
	row := make([]float64, k+1)
	for i, s := range cross {
		s += 1 / g.prior.Kappa
		if i == k {
			s++
		}
		above := row
		if i < k {
			above = g.chol[i]
		}
		for j := range i {
			s -= row[j] * above[j]
		}
		if i == k {
			// The Schur complement of M is at least one; rounding may say otherwise.
			row[k] = math.Sqrt(math.Max(s, 1))
		} else {
			row[i] = s / above[i]
		}
	}
	g.chol = append(g.chol, row)
	g.logDet += math.Log(row[k])
}

// LogProb returns the log density of a query with r2 = |z|² and cross = W z of
// length K, in the order the examples were added. Cost O(K²), no allocation.
func (g *Group) LogProb(inf Inference, r2 float64, cross []float64) float64 {
	return g.norm[inf] + g.post.LogKernel(inf, g.quad(r2, cross))
}

// quad returns (x-m_j)ᵀ S_j⁻¹ (x-m_j) = r2 - uᵀM⁻¹u for the query of
// [Group.LogProb]. Rounding cannot make it negative.
func (g *Group) quad(r2 float64, cross []float64) float64 {
	if len(cross) != len(g.chol) {
		panic("niw: cross products of wrong length")
	}
	if len(cross) == 0 {
		return r2
	}
	var sum float64
	for _, v := range cross {
		sum += v
	}
	kj := g.post.Kappa
	r2 += -2*sum/kj + g.total/(kj*kj)
	return math.Max(r2-g.explained(cross, kj), 0)
}

// explained returns uᵀM⁻¹u = |C⁻¹u|² where M = C Cᵀ.
func (g *Group) explained(cross []float64, kj float64) float64 {
	y := g.scratch[:len(cross)]
	for i, v := range cross {
		y[i] = v - g.rowSum[i]/kj
	}
	var norm2 float64
	for i, s := range y {
		row := g.chol[i]
		for j, c := range row[:i] {
			s -= c * y[j]
		}
		y[i] = s / row[i]
		norm2 += y[i] * y[i]
	}
	return norm2
}

// update brings all that follows from G and the factor up to date.
func (g *Group) update() {
	k := float64(len(g.chol))
	g.post = g.prior
	g.post.Kappa += k
	g.post.Nu += k
	g.post.LogDetS += 2*g.logDet + math.Log(g.prior.Kappa/g.post.Kappa)
	g.norm = [2]float64{FB: g.post.LogNorm(FB), MAP: g.post.LogNorm(MAP)}
}
