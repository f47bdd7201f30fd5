package metatrain

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"metaqda/core/niw"
)

// partials are the derivatives of one log density by its arguments.
type partials struct {
	q, kappa, nu, logDet float64
}

// norm holds the derivatives of a class's log normaliser, the part of its
// density that no query enters.
type norm struct {
	logNorm, kappa, nu float64
}

// newNorm returns the log normaliser of p and its derivatives with respect to kappa_j
// and nu_j; that with respect to log det S_j is -1/2 always.
func newNorm(inf niw.Inference, p *niw.Posterior) norm {
	n, d := norm{logNorm: p.LogNorm(inf)}, float64(p.Dim)
	if inf == niw.MAP {
		n.nu = d / (2 * (p.Nu + d + 2))
		return n
	}
	n.nu = (mathext.Digamma((p.Nu+1)/2) - mathext.Digamma((p.Nu-d+1)/2)) / 2
	n.kappa = d / 2 / (p.Kappa * (p.Kappa + 1))
	return n
}

// at returns the derivatives of the log density of [niw.Posterior.LogProb] at
// quadratic form q. With c = kappa_j/(kappa_j+1),
//
//	FB   d/dq = -(nu_j+1)/2 c/(1+qc)
//	     d/dnu_j = norm - ½ ln(1+qc)
//	     d/dkappa_j = norm - (nu_j+1)/2 q/((kappa_j+1)²(1+qc))
//	MAP  d/dq = -(nu_j+d+2)/2,  d/dnu_j = norm - q/2
func (n *norm) at(inf niw.Inference, p *niw.Posterior, q float64) partials {
	if inf == niw.MAP {
		return partials{q: -(p.Nu + float64(p.Dim) + 2) / 2, nu: n.nu - q/2, logDet: -0.5}
	}
	c := p.Kappa / (p.Kappa + 1)
	slope := -(p.Nu + 1) / 2 / (1 + q*c)
	return partials{
		q:      slope * c,
		nu:     n.nu - math.Log1p(q*c)/2,
		kappa:  n.kappa + slope*q/((p.Kappa+1)*(p.Kappa+1)),
		logDet: -0.5,
	}
}
