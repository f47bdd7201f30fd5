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
	norm    [2]float64 // LogNorm of post by Inference
	n       int
	stride  int
	gram    []float64 // G, row-major, lower part, n×stride
	chol    []float64 // Cholesky factor of M, row-major, lower part, n×stride
	rowSum  []float64 // G1
	total   float64   // 1ᵀG1
	scratch []float64
}

// Reset empties the group and takes over kappa, nu and log det S of p. Cost
// O(d) for the determinant; [Group.ResetFrom] avoids it.
func (g *Group) Reset(p *Prior) {
	g.ResetFrom(Posterior{Dim: p.Dim(), Kappa: p.Kappa, Nu: p.Nu, LogDetS: p.LogDetS()})
}

// ResetFrom is [Group.Reset] with the constants of the prior given.
func (g *Group) ResetFrom(prior Posterior) {
	g.prior, g.n, g.total = prior, 0, 0
	g.update()
}

// Fit makes g the posterior for the K examples with Gram matrix gram, of which
// the lower or upper triangle may be stored. A nil gram stands for K = 0.
func (g *Group) Fit(p *Prior, gram *mat.SymDense) {
	g.Reset(p)
	if gram == nil {
		return
	}
	k := gram.SymmetricDim()
	row := make([]float64, k)
	for i := range k {
		for j := 0; j <= i; j++ {
			row[j] = gram.At(i, j)
		}
		g.Append(row[:i+1])
	}
}

// Len returns K.
func (g *Group) Len() int { return g.n }

// Posterior returns kappa_j, nu_j and log det S_j.
func (g *Group) Posterior() Posterior { return g.post }

// Append adds one example given its inner products with the examples already
// in the group and, last, with itself: cross has length K+1. Cost O(K²).
func (g *Group) Append(cross []float64) {
	if len(cross) != g.n+1 {
		panic("niw: cross products of wrong length")
	}
	g.grow(g.n + 1)
	k := g.n
	copy(g.gram[k*g.stride:], cross)
	g.factorRow(k)
	g.n++
	g.update()
}

// Remove takes the i-th example out. The Cholesky factor is computed anew from
// the Gram matrix in the order of the examples left, so that adding an example
// and removing it again gives back the same bits. Cost O(K³/3).
func (g *Group) Remove(i int) {
	if i < 0 || i >= g.n {
		panic("niw: example out of range")
	}
	for r := i + 1; r < g.n; r++ {
		src, dst := g.gram[r*g.stride:], g.gram[(r-1)*g.stride:]
		copy(dst[:i], src[:i])
		copy(dst[i:r], src[i+1:r+1])
	}
	g.n--
	for r := i; r < g.n; r++ {
		g.factorRow(r)
	}
	g.update()
}

// CopyFrom makes g an independent copy of other. Cost O(K²).
func (g *Group) CopyFrom(other *Group) {
	g.n = 0
	g.grow(other.n)
	for i := range other.n {
		copy(g.gram[i*g.stride:i*g.stride+i+1], other.gram[i*other.stride:])
		copy(g.chol[i*g.stride:i*g.stride+i+1], other.chol[i*other.stride:])
	}
	g.prior, g.n = other.prior, other.n
	g.update()
}

// LogProb returns the log density of a query with r2 = |z|² and cross = W z of
// length K, in the order the examples were added. Cost O(K²), no allocation.
func (g *Group) LogProb(inf Inference, r2 float64, cross []float64) float64 {
	return g.norm[inf] + g.post.LogKernel(inf, g.Quad(r2, cross))
}

// Quad returns (x-m_j)ᵀ S_j⁻¹ (x-m_j) = r2 - uᵀM⁻¹u for the query of
// [Group.LogProb]. Rounding cannot make it negative.
func (g *Group) Quad(r2 float64, cross []float64) float64 {
	if len(cross) != g.n {
		panic("niw: cross products of wrong length")
	}
	if g.n == 0 {
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
	y := g.scratch[:g.n]
	var norm2 float64
	for i := range y {
		row := g.chol[i*g.stride : i*g.stride+i+1]
		s := cross[i] - g.rowSum[i]/kj
		for j, c := range row[:i] {
			s -= c * y[j]
		}
		s /= row[i]
		y[i] = s
		norm2 += s * s
	}
	return norm2
}

// factorRow computes row k of the Cholesky factor of M from row k of G and the
// rows above.
func (g *Group) factorRow(k int) {
	row, gram := g.chol[k*g.stride:], g.gram[k*g.stride:]
	inv := 1 / g.prior.Kappa
	for i := 0; i <= k; i++ {
		s := gram[i] + inv
		if i == k {
			s++
		}
		above := g.chol[i*g.stride:]
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
}

// update brings all that follows from G and the factor up to date.
func (g *Group) update() {
	g.sums()
	var logDet float64
	for i := range g.n {
		logDet += math.Log(g.chol[i*g.stride+i])
	}
	k := float64(g.n)
	g.post = g.prior
	g.post.Kappa += k
	g.post.Nu += k
	g.post.LogDetS += 2*logDet + math.Log(g.prior.Kappa/g.post.Kappa)
	g.norm = [2]float64{FB: g.post.LogNorm(FB), MAP: g.post.LogNorm(MAP)}
}

// sums computes G1 and 1ᵀG1 from the lower triangle.
func (g *Group) sums() {
	clear(g.rowSum[:g.n])
	g.total = 0
	for i := range g.n {
		row := g.gram[i*g.stride : i*g.stride+i+1]
		for j, v := range row[:i] {
			g.rowSum[i] += v
			g.rowSum[j] += v
		}
		g.rowSum[i] += row[i]
	}
	for _, v := range g.rowSum[:g.n] {
		g.total += v
	}
}

// grow makes room for n examples, doubling so that appends cost O(K²) each.
func (g *Group) grow(n int) {
	if n <= g.stride {
		return
	}
	stride := max(4, 2*g.stride, n)
	gram, chol := make([]float64, stride*stride), make([]float64, stride*stride)
	for i := range g.n {
		copy(gram[i*stride:], g.gram[i*g.stride:i*g.stride+i+1])
		copy(chol[i*stride:], g.chol[i*g.stride:i*g.stride+i+1])
	}
	g.gram, g.chol, g.stride = gram, chol, stride
	sum := make([]float64, 2*stride)
	copy(sum, g.rowSum[:g.n])
	g.rowSum, g.scratch = sum[:stride:stride], sum[stride:]
}
