package metatrain

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"metaqda/core/niw"
	"metaqda/core/qda"
)

// mean returns that of a list that is not empty.
func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// Calibration returns the head in the form the classifier evaluates, without
// trailing zeros.
func (h *Head) Calibration() qda.Calibration {
	return qda.Calibration{LogT: trimmed(h.LogT[:]), Offset: trimmed(h.Bias[:]), None: trimmed(h.None[:])}
}

func trimmed(c []float64) []float64 {
	n := len(c)
	for n > 0 && c[n-1] == 0 {
		n--
	}
	return append([]float64(nil), c[:n]...)
}

// Scores are how episodes score under one prior: what fitting a calibration
// needs. Scores under several priors, as of those that each leave one domain
// out, may be joined with append.
type Scores []scored

// scored is one episode: log densities minus that of the prior predictive.
type scored struct {
	query      []float64 // queries×C
	shots      []int
	labels     []int
	support    *qda.Support // nil if a class has no examples
	background []float64    // of the queries; nil without one
	weight     float64      // of the episode
	domain     int          // of the validator
}

// Of returns the scores of domain i of the validators they were collected by,
// with weights that add up to one.
func (data Scores) Of(i int) Scores {
	var part Scores
	var total float64
	for _, s := range data {
		if s.domain == i {
			part = append(part, s)
			total += s.weight
		}
	}
	for k := range part {
		part[k].weight /= total
	}
	return part
}

// Collect scores every episode of the validator under the prior of p, and against
// its background if that is not nil. Domains weigh the same, share in all. Cost N
// d²/2 for the N rows in use, then that of the episodes' inner products.
func (v *Validator) Collect(ctx context.Context, p *Params, background *qda.Background, o Objective, share float64, workers int) (Scores, error) {
	e := NewEngine(p.Prior.Dim(), o)
	e.Set(p)
	prior := niw.Posterior{Dim: p.Prior.Dim(), Kappa: p.Prior.Kappa, Nu: p.Prior.Nu, LogDetS: p.Prior.LogDetS()}
	var data Scores
	var whitened *qda.WhitenedBackground
	if background != nil {
		whitened = background.Under(p.Prior.Dense()) // as the engine whitens
	}
	for i := range v.domains {
		part := make(Scores, len(v.episodes[i]))
		err := v.forEach(ctx, e, i, workers, whitened, func(k int, w *Workspace, t *Task) {
			part[k] = newScored(w, t, prior, &o)
			part[k].weight, part[k].domain = share/float64(len(v.domains)*len(part)), i
		})
		if err != nil {
			return nil, err
		}
		data = append(data, part...)
	}
	return data, nil
}

// newScored copies the scores of one episode.
func newScored(w *Workspace, t *Task, prior niw.Posterior, o *Objective) scored {
	s := scored{query: append([]float64(nil), w.logp...), shots: append([]int(nil), t.Shots...), labels: append([]int(nil), t.Labels...)}
	way := len(t.Shots)
	for i, l0 := range w.logp0 {
		for j := range way {
			s.query[i*way+j] -= l0
		}
	}
	if !slices.Contains(t.Shots, 0) {
		s.support = qda.GramSupport(prior, o.Inference, t.Shots, supportGram(t))
		if n := t.Support(); len(t.background) > 0 {
			s.support.Background = mean(t.background[:n])
			s.background = append([]float64(nil), t.background[n:]...)
		}
	}
	return s
}

// logOdds stores the calibrated log odds u_j of query i in dst, of length C.
func (s *scored) logOdds(dst []float64, c *qda.Calibration, i int) {
	for j, k := range s.shots {
		dst[j] = c.LogOdds(s.query[i*len(s.shots)+j], k)
	}
}

// FitTemperature returns the head that best explains the scores, from h: degree
// coefficients of the temperature, and where classes of one episode differ in
// shots as many of the class offset but its constant, by the cross-entropy of the queries of
// taught classes among these. Degree 0 returns h.
//
// Fitted on classes, or better domains, that the prior was not learned on, it
// corrects what its own cannot show: there a prior is surer than it may be.
func FitTemperature(data Scores, h Head, degree int) Head {
	if free := determined(data, degree); len(free) > 0 {
		h.LogT[0] = startTemperature(&h, data)
		minimiseHead(&h, free, data)
	}
	return h
}

// determined returns the head's values that the episodes can tell apart: as many
// coefficients of the temperature as there are different shots, at most degree
// of them, and of the class offset but its constant if shots differ within an
// episode.
func determined(data Scores, degree int) (free []int) {
	shots, uneven := map[int]bool{}, false
	for _, s := range data {
		for _, k := range s.shots {
			shots[k] = true
			uneven = uneven || k != s.shots[0]
		}
	}
	n := min(degree, Degree, len(shots))
	for i := range n {
		free = append(free, i)
	}
	for i := 1; uneven && i <= min(n, Degree-1); i++ {
		free = append(free, Degree+i)
	}
	return free
}

// startTemperature returns the best of a grid of constant log temperatures
// around the head's, so that the descent starts in the right valley.
func startTemperature(h *Head, data Scores) float64 {
	best, bestLoss := h.LogT[0], math.Inf(1)
	for k := -16; k <= 16; k++ {
		g := *h
		g.LogT[0] += float64(k) / 2
		if loss := headLoss(&g, data, nil); loss < bestLoss {
			best, bestLoss = g.LogT[0], loss
		}
	}
	return best
}

// minimiseHead moves the listed values of the head to the minimum of the loss.
func minimiseHead(h *Head, free []int, data Scores) {
	values := h.values()
	at := func(x []float64) *Head {
		v, g := values, &Head{}
		for i, k := range free {
			v[k] = x[i]
		}
		g.setValues(v[:])
		return g
	}
	start := make([]float64, len(free))
	for i, k := range free {
		start[i] = values[k]
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return headLoss(at(x), data, nil) },
		Grad: func(grad, x []float64) {
			var all [headSize]float64
			headLoss(at(x), data, &all)
			for i, k := range free {
				grad[i] = all[k]
			}
		},
	}
	// A line search that runs into rounding at the minimum reports an error beside
	// the minimum it found; either way the location is the best seen.
	result, _ := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: 300, GradientThreshold: 1e-8}, &optimize.BFGS{})
	if result != nil {
		*h = *at(result.X)
	}
}

// headLoss returns the weighted mean cross-entropy of the taught queries; grad,
// if not nil, takes its gradient.
func headLoss(h *Head, data Scores, grad *[headSize]float64) (total float64) {
	var terms headTerms
	var logits []float64
	for _, s := range data {
		h.prepare(&terms, s.shots, 0)
		way := len(s.shots)
		scale := s.weight / math.Max(countQueries(s.labels, CrossEntropy), 1)
		logits = grown(logits, way)
		for i, y := range s.labels {
			if y == None {
				continue
			}
			e := s.query[i*way : (i+1)*way]
			terms.logits(logits, e, 0)
			score, _ := CrossEntropy.query(logits, e, y)
			total += scale * score.Loss
			if grad == nil {
				continue
			}
			for j := range logits {
				logits[j] *= scale
			}
			terms.reverse(logits, logits, e, 0, grad)
		}
	}
	return total
}
