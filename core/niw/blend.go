package niw

import "math"

// PrecisionScale returns tau_j, by which S_j⁻¹ becomes the precision of the
// predictive density: the inverse of the Student-t's scale matrix (FB) or of the
// Gaussian's covariance (MAP),
//
//	tau_j = kappa_j df_j/(kappa_j+1) (FB),   nu_j+d+2 (MAP),   df_j = nu_j-d+1
func (p *Posterior) PrecisionScale(inf Inference) float64 {
	d := float64(p.Dim)
	if inf == MAP {
		return p.Nu + d + 2
	}
	return p.Kappa * (p.Nu - d + 1) / (p.Kappa + 1)
}

// Blend returns the quadratic form to hand to [Posterior.LogProb] when the
// precision is blended with the identity, given the quadratic form q of S_j and
// the squared Euclidean distance e = |x-m_j|² of the embedding:
//
//	q' = (1-lambda) q + lambda e/tau_j
//
// so that tau_j q' = (x-m_j)ᵀ((1-lambda) tau_j S_j⁻¹ + lambda I)(x-m_j). The
// log-determinant stays that of S_j, as in the reference code of the paper's
// authors: lambda > 0 makes a score, no longer a density. lambda lies in [0, 1).
func (p *Posterior) Blend(inf Inference, lambda, q, e float64) float64 {
	return math.Min((1-lambda)*q+lambda*e/p.PrecisionScale(inf), math.MaxFloat64)
}

// CheckRegParam returns a *[ValueError] unless lambda is a share that
// [Posterior.Blend] takes.
func CheckRegParam(lambda float64) error {
	if !(lambda >= 0 && lambda < 1) {
		return &ValueError{Name: "share of the identity in the precision", Index: -1, Value: lambda, Want: "a number from 0 to below 1"}
	}
	return nil
}
