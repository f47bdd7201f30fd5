package anomaly

import "math"

// population holds the coefficients of [Model.Terms], fitted by `make anomaly`.
var population = []float64{-0.17, -0.38, 0.34, 0.36, 1.04}

// Terms returns the terms of the logit of p(wrong): 1, ln K, w, w ln K and the mean of ln C_k. w is the
// larger one of u and v, see [Answer].
func (m *Model) Terms(a *Answer) []float64 {
	k, w := math.Log(float64(m.bursts)), max(a.Whole, a.Place)
	return []float64{1, k, w, w * k, max(m.lnC.mean, leastMean)}
}

const (
	usualE    = 0.12 // variance of ln E_k in a session, the mean over all sets
	usualC    = 0.03 // variance of ln C_k in a session, the median over all sets
	counts    = 5    // number of bursts that these variances count as
	leastMean = -1   // lower means of ln C_k are raised to this: less than 1 % of the fitted sessions have one
)

// spread holds the weighted mean and mean square of the scores ln E_k or ln C_k.
type spread struct{ mean, square float64 }

// add adds a score with the weight share; all weights sum to one.
func (s *spread) add(share, score float64) {
	s.mean += share * score
	s.square += share * score * score
}

// of returns the number of standard deviations by which a score lies above the mean of n scores. Their
// variance is shrunk towards usual.
func (s *spread) of(score float64, n int, usual float64) float64 {
	own, k := max(0, s.square-s.mean*s.mean), float64(n)
	return (score - s.mean) / math.Sqrt((counts*usual+k*own)/(counts+k))
}
