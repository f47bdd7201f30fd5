package niw

import "math"

// LogProbWithout returns the log density of the group's own example i after
// taking it out. With c = (kappa_j-1)/kappa_j and m_j, S_j those of all K
// examples
//
//	(x_i-m_j)ᵀ S_j⁻¹ (x_i-m_j) = c - (M⁻¹)_ii
//
// as x_i - m_j = L Wᵀ B e_i and W (I + Wᵀ B W)⁻¹ Wᵀ = B⁻¹ - B⁻¹ M⁻¹ B⁻¹. Taking
// x_i out moves the mean away from it by 1/c and subtracts one square,
//
//	x_i - m_-i = (x_i-m_j)/c,   S_-i = S_j - c (x_i-m_-i)(x_i-m_-i)ᵀ
//
// so that by the Sherman-Morrison formula and the determinant lemma
//
//	(x_i-m_-i)ᵀ S_-i⁻¹ (x_i-m_-i) = 1/(M⁻¹)_ii - 1/c
//	log det S_-i = log det S_j + ln((M⁻¹)_ii/c)
//
// where no difference of large numbers can turn negative: 0 < (M⁻¹)_ii <= c. It is
// what leaving one out of a Gaussian process comes to (Rasmussen and Williams
// 2006, eq. 5.10-5.12). Of the only example it is the predictive of the prior.
// A shifted group answers for the shifted mean, which stays where it is when the
// example goes. Cost O(1) after the first call since a change, which takes O(K²) for
// each example that came or changed, and O(K²) once for a shift.
func (g *Group) LogProbWithout(inf Inference, i int) float64 {
	g.check(i)
	if g.shift.on {
		return g.prior.without(inf, &g.post, g.n, g.shift.inverseDiagonal(g, i))
	}
	return g.prior.without(inf, &g.post, g.n, g.chol.inverseDiagonal(i))
}

// LogProbWithout is that of [Group.LogProbWithout] for one of the k examples of a
// class in dense form, of which q = (x-m_j)ᵀ S_j⁻¹ (x-m_j) and r2 = |w|² are
// given, r2 = |w-δ|² after [Scatter.AddShifted]. Here (M⁻¹)_ii = c - q, and
// (M⁻¹)_ii >= 1/M_ii bounds what rounding does to an example far away from all others.
func (s *Scatter) LogProbWithout(inf Inference, k int, q, r2 float64) float64 {
	post := s.Posterior(k)
	c := 1 - 1/post.Kappa
	m := math.Max(c-q, 1/(1+1/s.prior.Kappa+r2))
	return s.prior.without(inf, &post, k, math.Min(m, c))
}

// without returns the log density of one of n examples after taking it out of
// the posterior of all, with m = (M⁻¹)_ii.
func (p *Posterior) without(inf Inference, post *Posterior, n int, m float64) float64 {
	left := *post
	left.Kappa, left.Nu = p.Kappa+float64(n-1), post.Nu-1
	c := left.Kappa / post.Kappa
	left.LogDetS += math.Log(m / c)
	return left.LogProb(inf, math.Max(1/m-1/c, 0))
}
