package niw

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// shift is what a [Group] has beside M while the prior mean is elsewhere. With
// c = W δ the Gram matrix of the examples w_i - δ is G~ = G - c1ᵀ - 1cᵀ + |δ|²11ᵀ,
// so M~ of these examples and M differ by terms in 1 alone, which
//
//	Q = M⁻¹ - M⁻¹11ᵀM⁻¹/a,   a = 1ᵀM⁻¹1,   Q1 = 0
//
// does not notice: it is the same for both, and (I + scatter)⁻¹ = I - WᵀQW =: A for
// examples about their own mean w̄. With v = w̄ - δ all else follows from A and a rank
// one update by v,
//
//	T = 1/a~ = 1/kappa + 1/K + vᵀAv,   det M~ = a T det M
//	M~⁻¹ = Q + ββᵀ/T,   β = 1/K - QWv
//	(z-δ-m~_j)ᵀ S~_j⁻¹ (z-δ-m~_j) = xᵀAx + kappa/(K kappa_j) - (xᵀAv - 1/K)²/T,   x = z - w̄
//
// in whitened space. The formulas of Woodbury for the rank two difference of M~ and
// M come to the same, but lose twice the digits where δ is large.
type shift struct {
	on       bool
	norm2    float64   // |δ|²
	a, v2, t float64   // a, vᵀAv, T
	sum      float64   // 1ᵀc/K
	self     float64   // |w̄|²
	cross    []float64 // c
	one      []float64 // C⁻¹1 where M = C Cᵀ
	along    []float64 // C⁻¹Wv, orthogonal to that
	level    []float64 // W w̄
	inverted bool
	diag     []float64 // of M~⁻¹, if inverted
}

// Shift makes m + L δ the prior mean in place of m, as if the group had been made
// from the examples w_i - δ. It takes cross = W δ, of length K, and norm2 = |δ|².
// Until the examples change or [Group.Unshift] is called, the posterior is that of
// the other mean and queries go to [Group.LogProbShifted]. A second call replaces the
// first one. Cost O(K²), without allocation where the group had as many examples in an
// earlier one.
func (g *Group) Shift(cross []float64, norm2 float64) {
	if len(cross) != g.n {
		panic("niw: cross products of wrong length")
	}
	g.Unshift()
	s := &g.shift
	s.make(g.n)
	s.on, s.inverted, s.norm2 = true, false, norm2
	copy(s.cross, cross)
	if g.n > 0 {
		s.prepare(g)
		g.post.LogDetS += math.Log(s.a * s.t)
		g.renorm()
	}
}

// Unshift undoes [Group.Shift], to the bit.
func (g *Group) Unshift() {
	if g.shift.on {
		g.shift.on = false
		g.post.LogDetS = g.logDetS
		g.renorm()
	}
}

// Shifted tells whether [Group.Shift] is in force.
func (g *Group) Shifted() bool { return g.shift.on }

// make has room for n examples, as the group does.
func (s *shift) make(n int) {
	if n > cap(s.cross) {
		stride := max(4, 2*cap(s.cross), n)
		all := make([]float64, 5*stride)
		part := func(i int) []float64 { return all[i*stride : i*stride : (i+1)*stride] }
		s.cross, s.one, s.along, s.level, s.diag = part(0), part(1), part(2), part(3), part(4)
	}
	s.cross, s.one, s.along, s.level, s.diag = s.cross[:n], s.one[:n], s.along[:n], s.level[:n], s.diag[:n]
}

// prepare computes what follows from the examples and δ.
func (s *shift) prepare(g *Group) {
	k, l := float64(g.n), g.chol.triangle()
	s.sum, s.self = floats.Sum(s.cross)/k, g.total/(k*k)
	trace := 1.0
	for i, c := range s.cross {
		s.one[i] = 1
		s.level[i] = g.rowSum[i] / k
		s.along[i] = s.level[i] - c
		trace += math.Max(g.gram[i*g.stride+i]-s.self, 0)
	}
	SolveTo(s.one, l)
	SolveTo(s.along, l)
	s.a = within(floats.Dot(s.one, s.one), 1/(1/g.prior.Kappa+1/k+math.Max(s.self, 0)), 1/(1/g.prior.Kappa+1/k))
	floats.AddScaled(s.along, -floats.Dot(s.one, s.along)/s.a, s.one)
	// No eigenvalue of I + scatter is above its trace.
	v2 := math.Max(s.self-2*s.sum+s.norm2, 0)
	s.v2 = within(v2-floats.Dot(s.along, s.along), v2/trace, v2)
	s.t = 1/g.prior.Kappa + 1/k + s.v2
}

// within returns x where it is between two bounds that hold whatever rounding makes
// of x, else the nearer one; the lower one if x is not a number.
func within(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return math.Min(x, high)
}

// LogProbShifted is [Group.LogProb] of a shifted group. The query is that of m:
// r2 = |z|², cross = W z, and along = zᵀδ.
func (g *Group) LogProbShifted(inf Inference, r2 float64, cross []float64, along float64) float64 {
	return g.norm[inf] + g.post.LogKernel(inf, g.quadShifted(r2, cross, along))
}

// quadShifted is quad of a shifted group, for the query of
// [Group.LogProbShifted]. Cost that of quad and O(K).
func (g *Group) quadShifted(r2 float64, cross []float64, along float64) float64 {
	if len(cross) != g.n {
		panic("niw: cross products of wrong length")
	}
	s := &g.shift
	if !s.on {
		panic("niw: group without a shift")
	}
	if g.n == 0 {
		return math.Max(r2-2*along+s.norm2, 0)
	}
	var sum float64
	for _, v := range cross {
		sum += v
	}
	k := float64(g.n)
	sum /= k
	y := g.scratch[:g.n]
	for i, v := range cross {
		y[i] = v - s.level[i]
	}
	g.chol.solve(y)
	var norm2, y1, yv float64
	for i, v := range y {
		norm2 += v * v
		y1 += v * s.one[i]
		yv += v * s.along[i]
	}
	x2 := math.Max(r2-2*sum+s.self, 0)
	xx := within(x2-(norm2-y1*y1/s.a), 0, x2)
	most := math.Sqrt(xx) * math.Sqrt(s.v2)
	e := within(sum-s.self-(along-s.sum)-yv, -most, most) - 1/k
	return math.Max(xx+g.prior.Kappa/(k*g.post.Kappa)-e*e/s.t, 0)
}

// inverseDiagonal returns (M~⁻¹)_ii. It is never above c = 1 - 1/kappa_j, nor below
// 1/M~_ii. Cost O(1) after the first call, which takes O(K²).
func (s *shift) inverseDiagonal(g *Group, i int) float64 {
	if !s.inverted {
		s.inverted = true
		for k := range s.diag {
			s.diag[k] = s.invert(g, k)
		}
	}
	return s.diag[i]
}

// invert returns (M~⁻¹)_ii = (M⁻¹)_ii - (M⁻¹1)_i²/a + β_i²/T.
func (s *shift) invert(g *Group, i int) float64 {
	m := g.chol.inverseDiagonal(i)
	t := g.chol.row(i) // of Tᵀ, its diagonal inverted
	one := s.one[i]/t[i] + dot(t[i+1:], s.one[i+1:])
	beta := 1/float64(g.n) - s.along[i]/t[i] - dot(t[i+1:], s.along[i+1:])
	least := 1 / (1 + 1/g.prior.Kappa + math.Max(g.gram[i*g.stride+i]-2*s.cross[i]+s.norm2, 0))
	return within(math.Max(m-one*one/s.a, 0)+beta*beta/s.t, least, 1-1/g.post.Kappa)
}

// dot returns xᵀy.
func dot(x, y []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return blas64.Dot(blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

// triangle returns C.
func (f *factor) triangle() blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: f.n, Stride: f.stride, Data: f.a}
}
