package niw

import "math"

// LogMarginal returns the log marginal likelihood of the K examples of the
// group under the prior, mu and Sigma integrated out:
//
//	ln p(X) = -Kd/2 ln π + d/2 ln(kappa/kappa_K) + lnΓ_d(nu_K/2) - lnΓ_d(nu/2)
//	          + nu/2 ln det S - nu_K/2 ln det S_K
//
// (Murphy, Conjugate Bayesian analysis of the Gaussian distribution, 2007,
// eq. 266), equal to the product of the K sequential predictives. Cost O(min(K,d)).
func (g *Group) LogMarginal() float64 {
	d, k := float64(g.prior.Dim), float64(g.n)
	return -k*d/2*math.Log(math.Pi) + d/2*math.Log(g.prior.Kappa/g.post.Kappa) +
		lgammaRatio(g.prior.Dim, g.prior.Nu, g.n) +
		g.prior.Nu/2*g.prior.LogDetS - g.post.Nu/2*g.post.LogDetS
}

// lgammaRatio returns lnΓ_d((nu+k)/2) - lnΓ_d(nu/2). Since Γ_d(a) is a product
// of Γ(a + (1-i)/2) over i = 1..d, raising nu by one telescopes to the ratio of
// two gamma functions: Γ_d((nu+1)/2)/Γ_d(nu/2) = Γ((nu+1)/2)/Γ((nu-d+1)/2).
func lgammaRatio(d int, nu float64, k int) float64 {
	var s float64
	for i := range k {
		n := nu + float64(i)
		s += lgamma((n+1)/2) - lgamma((n-float64(d)+1)/2)
	}
	return s
}
