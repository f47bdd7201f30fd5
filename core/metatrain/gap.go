package metatrain

import (
	"gonum.org/v1/gonum/optimize"

	"metaqda/core/qda"
)

// gapSession is an episode whose support shows both levels.
type gapSession struct {
	u       []float64 // calibrated log odds of the queries of taught classes, n×C
	labels  []int     // n
	session *qda.Session
	weight  float64 // of each query
}

// FitGap returns Calibration.Gap, which sharpens or softens each session by how
// far apart its levels lie: the minimum of the cross-entropy of the queries of
// taught classes in all episodes whose support shows both levels, by BFGS, with
// temperature and offset of c as they are. It returns nil without such episodes.
func FitGap(data Scores, c *qda.Calibration) []float64 {
	sessions := gapSessions(data, c)
	if len(sessions) == 0 {
		return nil
	}
	gap := make([]float64, 2)
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return gapLoss(x, sessions, nil) },
		Grad: func(grad, x []float64) { gapLoss(x, sessions, grad) },
	}
	// As in minimiseHead, an error at the minimum leaves the best location.
	result, _ := optimize.Minimize(problem, gap, &optimize.Settings{MajorIterations: 100, GradientThreshold: 1e-8}, &optimize.BFGS{})
	if result != nil {
		copy(gap, result.X)
	}
	return gap
}

func gapSessions(data Scores, c *qda.Calibration) (sessions []gapSession) {
	for i := range data {
		s := &data[i]
		n := countQueries(s.labels, CrossEntropy)
		if s.support == nil || n == 0 {
			continue
		}
		g := gapSession{session: c.Session(s.support), weight: s.weight / n}
		if g.session.Form != 0 {
			continue
		}
		for k, y := range s.labels {
			if y == None {
				continue
			}
			u := make([]float64, len(s.shots))
			s.logOdds(u, c, k)
			g.u, g.labels = append(g.u, u...), append(g.labels, y)
		}
		sessions = append(sessions, g)
	}
	return sessions
}

// gapLoss returns the weighted sum of the cross-entropies under the coefficients
// x, with a small ridge that decides where all gaps are equal; grad, if not nil,
// takes its gradient. With v = u/τ and p = softmax(v), that by ln τ is
// Σ_j (1[j=y] - p_j) v_j.
func gapLoss(x []float64, sessions []gapSession, grad []float64) (loss float64) {
	for r, v := range x {
		loss += gapRidge * v * v
		if grad != nil {
			grad[r] = 2 * gapRidge * v
		}
	}
	var p []float64
	for _, s := range sessions {
		sharpness, way := s.session.Sharpness(x), len(s.u)/len(s.labels)
		p = grown(p, way)
		for i, y := range s.labels {
			u := s.u[i*way : (i+1)*way]
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
			grad[0] += s.weight * slope
			grad[1] += s.weight * slope * s.session.LogGap
		}
	}
	return loss
}

// gapRidge is far below what the episodes decide.
const gapRidge = 1e-5
