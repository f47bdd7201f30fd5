package niw

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
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
// [Group.Shift] moves the prior mean; every change of the examples undoes it.
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
	chol    factor    // of M
	rowSum  []float64 // G1
	total   float64   // 1ᵀG1
	logDetS float64   // log det S_j without a shift
	shift   shift
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
	g.chol.empty()
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
	cross := blas64.General{Rows: k, Cols: k, Stride: k, Data: make([]float64, k*k)}
	for i := range k {
		for j := 0; j <= i; j++ {
			cross.Data[i*k+j] = gram.At(i, j)
		}
	}
	g.AppendRows(cross)
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
	g.n, g.chol.n = g.n+1, k+1
	g.setFrom(k, 0)
	g.update()
}

// exactWork bounds what a change of the i-th of K examples may cost for the sake
// of the same bits: (K-i) K², which for up to 256 examples is always within it.
const exactWork = 1 << 24

// exact tells whether the rows of the Cholesky factor from i on are computed anew.
func (g *Group) exact(i int) bool { return (g.n-i)*g.n*g.n <= exactWork }

// Remove takes the i-th example out. In a group of up to 256, and among the last
// examples of a larger one, the Cholesky factor is computed anew from the Gram
// matrix in the order of the examples left, so that adding an example and
// removing it again gives back the same bits. Elsewhere rotations take the
// example out of the factor, to rounding. Cost O(K²), or that of the factor where it
// is computed anew.
func (g *Group) Remove(i int) {
	g.check(i)
	exact := g.exact(i + 1)
	for r := i + 1; r < g.n; r++ {
		src, dst := g.gram[r*g.stride:], g.gram[(r-1)*g.stride:]
		copy(dst[:i], src[:i])
		copy(dst[i:r], src[i+1:r+1])
	}
	g.n--
	if exact {
		g.chol.cut(i)
		g.setFrom(i, i)
	} else {
		g.chol.remove(i)
	}
	g.update()
}

// Replace changes the i-th example to one with the given inner products with the
// K examples, in their order; cross[i] is that with itself. Bits and cost are
// those of [Group.Remove].
func (g *Group) Replace(i int, cross []float64) {
	g.check(i)
	if len(cross) != g.n {
		panic("niw: cross products of wrong length")
	}
	copy(g.gram[i*g.stride:], cross[:i+1])
	for r := i + 1; r < g.n; r++ {
		g.gram[r*g.stride+i] = cross[r]
	}
	if g.exact(i) || i == g.n-1 {
		g.chol.forget(i)
		g.chol.set(i, 0, g.gram[i*g.stride:], 1/g.prior.Kappa)
		g.setFrom(i+1, i)
	} else {
		g.chol.remove(i)
		g.rotateIn(i, cross)
	}
	g.update()
}

// Insert adds an example as the i-th, given its inner products with the K+1
// examples that there are then, in their order; cross[i] is that with itself.
// Bits and cost are those of [Group.Remove].
func (g *Group) Insert(i int, cross []float64) {
	if len(cross) != g.n+1 {
		panic("niw: cross products of wrong length")
	}
	g.grow(g.n + 1)
	g.n++
	g.check(i)
	for r := g.n - 1; r > i; r-- {
		src, dst := g.gram[(r-1)*g.stride:], g.gram[r*g.stride:]
		copy(dst[i+1:r+1], src[i:r])
		copy(dst[:i], src[:i])
		dst[i] = cross[r]
	}
	copy(g.gram[i*g.stride:], cross[:i+1])
	if g.exact(i) || i == g.n-1 {
		g.chol.forget(i)
		g.chol.n++
		g.setFrom(i, 0)
	} else {
		g.rotateIn(i, cross)
	}
	g.update()
}

// rotateIn adds an example to the factor as the i-th.
func (g *Group) rotateIn(i int, cross []float64) {
	last := append(g.scratch[:0], cross[:i]...)
	last = append(append(last, cross[i+1:]...), cross[i])
	g.chol.n++
	g.chol.set(g.n-1, 0, last, 1/g.prior.Kappa)
	g.chol.moveLast(i)
}

func (g *Group) check(i int) {
	if i < 0 || i >= g.n {
		panic("niw: example out of range")
	}
}

// setFrom computes the rows of the factor of M from k on, from the given column
// on.
func (g *Group) setFrom(k, column int) {
	for r := k; r < g.n; r++ {
		g.chol.set(r, column, g.gram[r*g.stride:], 1/g.prior.Kappa)
	}
}

// CopyFrom makes g an independent copy of other, without its shift. Cost O(K²).
func (g *Group) CopyFrom(other *Group) {
	g.n = 0
	g.chol.empty()
	g.grow(other.n)
	for i := range other.n {
		copy(g.gram[i*g.stride:i*g.stride+i+1], other.gram[i*other.stride:])
	}
	g.chol.copyFrom(&other.chol)
	g.prior, g.n = other.prior, other.n
	g.update()
}

// LogProb returns the log density of a query with r2 = |z|² and cross = W z of
// length K, in the order the examples were added. Cost O(K²), no allocation.
func (g *Group) LogProb(inf Inference, r2 float64, cross []float64) float64 {
	return g.norm[inf] + g.post.LogKernel(inf, g.quad(r2, cross))
}

// quad returns (x-m_j)ᵀ S_j⁻¹ (x-m_j) = r2 - uᵀM⁻¹u for the query of
// [Group.LogProb]. Rounding cannot make it negative.
func (g *Group) quad(r2 float64, cross []float64) float64 {
	if len(cross) != g.n {
		panic("niw: cross products of wrong length")
	}
	if g.shift.on {
		panic("niw: group with a shift")
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
	for i, v := range cross {
		y[i] = v - g.rowSum[i]/kj
	}
	g.chol.solve(y)
	var norm2 float64
	for _, v := range y {
		norm2 += v * v
	}
	return norm2
}

// update brings all that follows from G and the factor up to date.
func (g *Group) update() {
	g.sums()
	var logDet float64
	for i := range g.n {
		logDet += math.Log(g.chol.row(i)[i])
	}
	k := float64(g.n)
	g.post = g.prior
	g.post.Kappa += k
	g.post.Nu += k
	g.post.LogDetS += 2*logDet + math.Log(g.prior.Kappa/g.post.Kappa)
	g.logDetS, g.shift.on = g.post.LogDetS, false
	g.renorm()
}

// renorm computes what does not depend on the query from the posterior.
func (g *Group) renorm() {
	g.norm = [2]float64{FB: g.post.LogNorm(FB), MAP: g.post.LogNorm(MAP)}
}

// sums computes G1 and 1ᵀG1 from the lower triangle.
func (g *Group) sums() {
	g.total = 0
	for i := range g.n {
		row := g.gram[i*g.stride : i*g.stride+i+1]
		before := g.rowSum[:i]
		var s float64
		for j, v := range row[:i] {
			s += v
			before[j] += v
		}
		g.rowSum[i] = s + row[i]
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
	gram := make([]float64, stride*stride)
	for i := range g.n {
		copy(gram[i*stride:], g.gram[i*g.stride:i*g.stride+i+1])
	}
	g.gram, g.stride = gram, stride
	g.chol.grow(stride)
	sum := make([]float64, 2*stride)
	copy(sum, g.rowSum[:g.n])
	g.rowSum, g.scratch = sum[:stride:stride], sum[stride:]
}
