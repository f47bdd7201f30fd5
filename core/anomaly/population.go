package anomaly

import "math"

// population holds the coefficients of [Model.Terms], fitted by `make anomaly`.
var population = []float64{0.43, -0.5, 0.08, 0.42, 0.21, 0.2}

// Terms returns the arguments of the logistic function p(wrong): 1, ln K, u, v, u ln K and v ln K.
func (m *Model) Terms(a *Answer) []float64 {
	k := math.Log(float64(m.bursts))
	return []float64{1, k, a.Whole, a.Place, a.Whole * k, a.Place * k}
}

const (
	usual  = 0.12 // mean over all sets of the variance of ln E_k, and of ln C_k
	counts = 5    // number of good pictures that it counts as
)

// spread holds the weighted mean and mean square of the scores ln E_k or ln C_k.
type spread struct{ mean, square float64 }

// add adds a score with the weight share; all weights sum to one.
func (s *spread) add(share, score float64) {
	s.mean += share * score
	s.square += share * score * score
}

// of returns the number of standard deviations by which a score lies above the mean of n scores. The
// standard deviation is shrunk to the population's.
func (s *spread) of(score float64, n int) float64 {
	own, k := max(0, s.square-s.mean*s.mean), float64(n)
	return (score - s.mean) / math.Sqrt((counts*usual+k*own)/(counts+k))
}
