package metatrain

import (
	"context"
	"math"

	"gonum.org/v1/gonum/optimize"

	"metaqda/core/qda"
)

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

// scored is one episode's densities, all that fitting a head needs.
type scored struct {
	logp, logp0 []float64
	shots       []int
	labels      []int
	weight      float64 // 1/(episodes of the domain × domains)
}

// FitHead returns the head that best explains the validator's episodes with the
// prior held fixed, by BFGS from p's own head: first the coefficients of the
// temperature, at most degree of them, and where classes of one episode differ in
// shots those of the class offset but the constant, by the closed-set
// cross-entropy of the queries of taught classes (degree 0 leaves them as they
// are); then, if the validator's episodes hold
// queries of unseen classes, the offset of none-of-these by the open-set
// cross-entropy, the temperature held and the prior probability of none of these
// that of the episode. Domains weigh the same.
//
// Fitted on validation classes it corrects what training classes cannot show:
// on classes of its own a prior is surer than it may be.
func FitHead(ctx context.Context, v *Validator, p *Params, o Objective, degree, workers int) (Head, error) {
	e := NewEngine(p.Prior.Dim(), o)
	e.Set(p)
	data, unseen, err := v.densities(ctx, e, workers)
	if err != nil {
		return Head{}, err
	}
	h := p.Head
	temperature, offset := determined(data, degree)
	if degree > 0 {
		h.LogT[0] = startTemperature(&h, data)
		minimise(&h, temperature, data, CrossEntropy)
	}
	if unseen {
		minimise(&h, offset, data, OpenSet)
	}
	return h, ctx.Err()
}

// determined returns the head's values that the episodes can tell apart: as many
// coefficients of the temperature as there are different shots, at most degree
// of them, those of the class offset if shots differ within an episode, and those
// of the none-of-these offset whose argument varies.
func determined(data []scored, degree int) (temperature, offset []int) {
	shots, means, ways, uneven := map[int]bool{}, map[float64]bool{}, map[int]bool{}, false
	for _, s := range data {
		var total float64
		for _, k := range s.shots {
			shots[k] = true
			uneven = uneven || k != s.shots[0]
			total += float64(k)
		}
		means[total/float64(len(s.shots))] = true
		ways[len(s.shots)] = true
	}
	for i := range min(degree, Degree, len(shots)) {
		temperature = append(temperature, i)
	}
	for i := 1; uneven && i < min(Degree, len(shots)); i++ {
		temperature = append(temperature, Degree+i)
	}
	offset = []int{2 * Degree}
	if len(means) > 1 {
		offset = append(offset, 2*Degree+1)
	}
	if len(ways) > 1 {
		offset = append(offset, 2*Degree+2)
	}
	return temperature, offset
}

// startTemperature returns the best of a grid of constant log temperatures
// around the head's, so that the descent starts in the right valley.
func startTemperature(h *Head, data []scored) float64 {
	best, bestLoss := h.LogT[0], math.Inf(1)
	for k := -16; k <= 16; k++ {
		g := *h
		g.LogT[0] += float64(k) / 2
		if loss := headLoss(&g, data, CrossEntropy, nil); loss < bestLoss {
			best, bestLoss = g.LogT[0], loss
		}
	}
	return best
}

// densities scores every episode of the validator.
func (v *Validator) densities(ctx context.Context, e *Engine, workers int) (data []scored, unseen bool, err error) {
	for i := range v.domains {
		part := make([]scored, len(v.episodes[i]))
		weight := 1 / float64(len(part)*len(v.domains))
		err := v.forEach(ctx, e, i, workers, func(k int, w *Workspace, t *Task) {
			part[k] = scored{logp: append([]float64(nil), w.logp...), logp0: append([]float64(nil), w.logp0...),
				shots: append([]int(nil), t.Shots...), labels: append([]int(nil), t.Labels...), weight: weight}
		})
		if err != nil {
			return nil, false, err
		}
		for _, s := range part {
			for _, y := range s.labels {
				unseen = unseen || y == None
			}
		}
		data = append(data, part...)
	}
	return data, unseen, nil
}

// ridge keeps coefficients that the data barely determines near their start.
const ridge = 1e-6

// minimise moves the listed values of the head to the minimum of the loss.
func minimise(h *Head, free []int, data []scored, loss Loss) {
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
		Func: func(x []float64) float64 {
			return headLoss(at(x), data, loss, nil) + penalty(x, start, nil)
		},
		Grad: func(grad, x []float64) {
			var all [headSize]float64
			headLoss(at(x), data, loss, &all)
			for i, k := range free {
				grad[i] = all[k]
			}
			penalty(x, start, grad)
		},
	}
	// A line search that runs into rounding at the minimum reports an error beside
	// the minimum it found; either way the location is the best seen.
	result, _ := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: 200, GradientThreshold: 1e-9}, &optimize.BFGS{})
	if result != nil {
		*h = *at(result.X)
	}
}

// penalty returns ridge |x-start|² and adds its gradient to grad.
func penalty(x, start, grad []float64) (s float64) {
	for i := range x {
		d := x[i] - start[i]
		s += ridge * d * d
		if grad != nil {
			grad[i] += 2 * ridge * d
		}
	}
	return s
}

// headLoss returns the weighted mean loss of the episodes under the head; grad,
// if not nil, takes its gradient.
func headLoss(h *Head, data []scored, loss Loss, grad *[headSize]float64) (total float64) {
	var terms headTerms
	o := Objective{Loss: loss}
	var logits []float64
	for _, s := range data {
		h.prepare(&terms, s.shots, o.pi(s.labels))
		way := len(s.shots)
		scale := s.weight / math.Max(countQueries(s.labels, loss), 1)
		for i, y := range s.labels {
			logits = grown(logits, way+1)
			x := logits[:way]
			if terms.openWorld {
				x = logits
			}
			l := s.logp[i*way : (i+1)*way]
			terms.logits(x, l, s.logp0[i])
			score, counts := loss.query(x, l, y)
			total += scale * score.Loss
			if grad == nil || !counts {
				continue
			}
			for j := range x {
				x[j] *= scale
			}
			terms.reverse(x[:way], x, l, s.logp0[i], grad)
		}
	}
	return total
}
