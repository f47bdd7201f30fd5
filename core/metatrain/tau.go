package metatrain

import (
	"gonum.org/v1/gonum/optimize"

	"metaqda/core/qda"
)

// tauRidge is far below what the episodes decide.
const tauRidge = 1e-5

// tauSession is an episode whose sharpness its support decides.
type tauSession struct {
	u        []float64 // calibrated log odds of the queries of taught classes, n×C
	labels   []int     // n
	evidence []float64 // n
	session  *qda.Session
	weight   float64 // of each query
}

// FitTau returns the first n coefficients of Calibration.Tau, which sharpens or
// softens each session by what its support shows: the minimum of the
// cross-entropy of the queries of taught classes, by BFGS, with temperature and
// offset of c as they are. Those compare classes of unequal shots above all; how
// sure a session may be is decided here. It returns nil without episodes of two
// classes that all have examples. It panics if n is out of range.
func FitTau(data Scores, c *qda.Calibration, n int) []float64 {
	if n < 1 || n > qda.TauCoefficients {
		panic("metatrain: number of coefficients out of range")
	}
	sessions := tauSessions(data, c)
	if len(sessions) == 0 {
		return nil
	}
	tau := make([]float64, n)
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return tauLoss(x, sessions, nil) },
		Grad: func(grad, x []float64) { tauLoss(x, sessions, grad) },
	}
	// As in minimiseHead, an error at the minimum leaves the best location.
	result, _ := optimize.Minimize(problem, tau, &optimize.Settings{MajorIterations: 100, GradientThreshold: 1e-8}, &optimize.BFGS{})
	if result != nil {
		copy(tau, result.X)
	}
	return tau
}

func tauSessions(data Scores, c *qda.Calibration) (sessions []tauSession) {
	for i := range data {
		s := &data[i]
		n := countQueries(s.labels, CrossEntropy)
		if s.support == nil || n == 0 || len(s.shots) < 2 {
			continue
		}
		x := tauSession{session: c.Session(s.support), weight: s.weight / n}
		for k, y := range s.labels {
			if y == None {
				continue
			}
			u := make([]float64, len(s.shots))
			s.logOdds(u, c, k)
			x.u, x.labels, x.evidence = append(x.u, u...), append(x.labels, y), append(x.evidence, qda.Evidence(u))
		}
		sessions = append(sessions, x)
	}
	return sessions
}

// tauLoss returns the weighted sum of the cross-entropies under the coefficients
// x, with a small ridge that decides what the episodes do not show; grad, if not
// nil, takes its gradient. With v = u/τ and p = softmax(v), that by ln τ is
// Σ_j (1[j=y] - p_j) v_j.
func tauLoss(x []float64, sessions []tauSession, grad []float64) (loss float64) {
	for r, v := range x {
		loss += tauRidge * v * v
		if grad != nil {
			grad[r] = 2 * tauRidge * v
		}
	}
	var p []float64
	c := &qda.Calibration{Tau: x}
	for _, s := range sessions {
		way := len(s.u) / len(s.labels)
		p = grown(p, way)
		for i, y := range s.labels {
			u, sharpness := s.u[i*way:(i+1)*way], c.Sharpness(s.session, s.evidence[i])
			for j := range p {
				p[j] = u[j] * sharpness
			}
			own := u[y] * sharpness
			loss += s.weight * (softmax(p) - own)
			if grad == nil {
				continue
			}
			slope := own
			for j := range p {
				slope -= p[j] * u[j] * sharpness
			}
			f := s.session.TauFeatures(s.evidence[i])
			for r := range grad {
				grad[r] += s.weight * slope * f[r]
			}
		}
	}
	return loss
}
