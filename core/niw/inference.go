package niw

import (
	"errors"
	"math"
	"strconv"
)

// Inference chooses how the posterior of a class becomes a density for a query.
type Inference int

const (
	// FB integrates mu and Sigma out: a multivariate Student-t.
	FB Inference = iota
	// MAP plugs in the mode of the joint posterior density: a Gaussian.
	MAP
)

// String returns "fb" or "map".
func (i Inference) String() string {
	if i == MAP {
		return "map"
	}
	return "fb"
}

// ParseInference is the inverse of [Inference.String].
func ParseInference(s string) (Inference, error) {
	switch s {
	case "fb":
		return FB, nil
	case "map":
		return MAP, nil
	}
	return FB, errors.New("inference " + strconv.Quote(s) + ": want fb (fully Bayesian) or map (maximum a posteriori)")
}

// Posterior holds the parameters of a class density besides the quadratic form: the updated
// kappa and nu and the log-determinant of the updated scale matrix,
//
//	kappa_j = kappa + K,   nu_j = nu + n,   log det S_j
//
// where K counts the class's own examples and n those in S_j. They differ only when all classes
// share one scale matrix.
type Posterior struct {
	Dim       int
	Kappa, Nu float64
	LogDetS   float64
}

// LogProb returns the log density of a query from its quadratic form
// q = (x-m_j)ᵀ S_j⁻¹ (x-m_j).
//
// FB is the Student-t with df_j = nu_j-d+1, location m_j and scale matrix
// (kappa_j+1)/(kappa_j df_j) S_j (eq:studentt-test of the paper):
//
//	log t = lnΓ((nu_j+1)/2) - lnΓ(df_j/2) - d/2 ln(π(kappa_j+1)/kappa_j)
//	        - ½ log det S_j - (nu_j+1)/2 ln(1 + q kappa_j/(kappa_j+1))
//
// MAP is the Gaussian with mean m_j and covariance S_j/(nu_j+d+2), the mode of the joint
// density (eq:map-parameters prints d+1, the mode of the marginal):
//
//	log N = -d/2 ln(2π/(nu_j+d+2)) - ½ log det S_j - (nu_j+d+2)/2 q
func (p *Posterior) LogProb(inf Inference, q float64) float64 {
	return p.LogNorm(inf) + p.LogKernel(inf, q)
}

// LogNorm is the part of [Posterior.LogProb] that does not depend on the query.
func (p *Posterior) LogNorm(inf Inference) float64 {
	d := float64(p.Dim)
	if inf == MAP {
		return -d/2*math.Log(2*math.Pi/(p.Nu+d+2)) - p.LogDetS/2
	}
	return lgamma((p.Nu+1)/2) - lgamma((p.Nu-d+1)/2) -
		d/2*math.Log(math.Pi*(p.Kappa+1)/p.Kappa) - p.LogDetS/2
}

// LogKernel is the part of [Posterior.LogProb] that depends on the query.
func (p *Posterior) LogKernel(inf Inference, q float64) float64 {
	if inf == MAP {
		return -(p.Nu + float64(p.Dim) + 2) / 2 * q
	}
	return -(p.Nu + 1) / 2 * math.Log1p(q*p.Kappa/(p.Kappa+1))
}

// lgamma is ln Γ(x) for x > 0.
func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
