package metatrain

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// Scalars of the parameter vector, learned without constraint:
// ln kappa, ln(nu-d+1), then those of the head.
const (
	atKappa = iota
	atNu
	atLogT
	atNone
	scalarCount
)

// floorShare bounds the diagonal of L from below, as a share of the start's.
// A step that would cross it stops there: L keeps its positive diagonal.
const floorShare = 0.01

// Trainer is Algorithm 1 of the paper. The number of workers does not
// change the parameters.
//
// The parameters are m, the lower triangle of L and the scalars. kappa and nu-d+1 stay
// positive because their logarithms are learned, the diagonal of L because it is clipped.
type Trainer struct {
	config    Config
	source    *Episodes
	validator *Validator
	workers   int

	engine  *Engine // holds m and L
	scalars [scalarCount]float64
	learned [scalarCount]bool
	moments *moments
	before  [5][]float64 // state before the step, to undo one that diverged
	floor   float64

	step    int
	lossSum float64 // since the last point of the history
	lossN   float64
	history []Point
	best    *Params // of the best validation, nil for none
	bestAt  int     // its index in the history, -1 for none

	grad  *Gradient
	tasks []Task
	works []Workspace
	loss  []float64
	norms []float64
}

// Point is one entry of the training curve.
type Point struct {
	Step       int         `json:"step"`
	Loss       float64     `json:"loss"` // mean training loss since the point before
	Validation *Validation `json:"validation,omitempty"`
}

// Progress is a gradient step, or a validation if Point is not nil.
type Progress struct {
	Step     int
	Loss     float64 // of the step's tasks
	GradNorm float64 // of m and L, before clipping
	Point    *Point  // that the validation added to the curve
	Best     bool    // the point is the best so far
}

// NewTrainer returns a trainer at step 0 for embeddings of dimension d. A nil
// validator leaves the last parameters as the result. workers bounds the
// goroutines and does not change any result.
func NewTrainer(d int, c Config, s *Episodes, v *Validator, workers int) (*Trainer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &Trainer{config: c, source: s, validator: v, workers: max(workers, 1), bestAt: -1,
		engine: NewEngine(d, c.Objective), grad: NewGradient(d), floor: floorShare * c.Start.Scale,
		moments: newMoments(c.Optimiser, rowAt(d, d)+scalarCount),
		tasks:   make([]Task, c.Batch), works: make([]Workspace, c.Batch), loss: make([]float64, c.Batch),
		norms: make([]float64, blockRows(d))}
	for i := range d {
		t.engine.factor.lower[i*d+i] = c.Start.Scale
	}
	t.scalars[atKappa], t.scalars[atNu] = math.Log(c.Start.Kappa), math.Log(c.Start.NuExcess)
	t.scalars[atLogT] = math.Log(c.Start.Temperature)
	t.chooseLearned()
	t.refresh()
	return t, nil
}

// chooseLearned marks the scalars that training moves.
func (t *Trainer) chooseLearned() {
	for i, name := range [scalarCount]string{atKappa: "kappa", atNu: "nu", atLogT: "temperature", atNone: "none"} {
		t.learned[i] = !t.config.fixed(name)
	}
}

// refresh brings the engine up to date with the parameters.
func (t *Trainer) refresh() {
	e, d := t.engine, float64(t.engine.factor.d)
	e.prior = niw.Posterior{Dim: e.factor.d, Kappa: math.Exp(t.scalars[atKappa]), Nu: d - 1 + math.Exp(t.scalars[atNu])}
	e.head = Head{t.scalars[atLogT], t.scalars[atNone]}
	e.update()
}

// StepCount returns the number of gradient steps done.
func (t *Trainer) StepCount() int { return t.step }

// History returns the training curve so far. It is a view.
func (t *Trainer) History() []Point { return t.history }

// Best returns the point of the best validation, or nil.
func (t *Trainer) Best() *Point {
	if t.bestAt < 0 {
		return nil
	}
	return &t.history[t.bestAt]
}

// Run validates at the start, every ValidateEvery steps and at the end. It ends after all steps, or
// once Patience validations in a row were no better than the best. It calls report after each step
// and validation, and returns the error of [Trainer.Step] or of ctx.
func (t *Trainer) Run(ctx context.Context, report func(Progress)) error {
	if report == nil {
		report = func(Progress) {}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.step%t.config.ValidateEvery == 0 || t.step == t.config.Steps {
			p, err := t.addPoint(ctx)
			if err != nil {
				return err
			}
			report(p)
		}
		if patience := t.config.Patience; t.step >= t.config.Steps || patience > 0 && len(t.history)-1-t.bestAt >= patience {
			return nil
		}
		p, err := t.Step()
		if err != nil {
			return err
		}
		report(p)
	}
}

// addPoint validates and adds a point to the curve.
func (t *Trainer) addPoint(ctx context.Context) (Progress, error) {
	p := Point{Step: t.step, Loss: t.lossSum / math.Max(t.lossN, 1)}
	if t.validator != nil {
		v, err := t.validator.run(ctx, t.engine, t.workers)
		if err != nil {
			return Progress{}, err
		}
		p.Validation = v
	}
	t.lossSum, t.lossN = 0, 0
	t.history = append(t.history, p)
	better := t.bestAt < 0 || t.validator == nil || p.Validation.betterThan(t.history[t.bestAt].Validation, t.config.Select)
	if better {
		t.bestAt, t.best = len(t.history)-1, t.params()
	}
	return Progress{Step: t.step, Point: &t.history[len(t.history)-1], Best: better}, nil
}

// Step does one gradient step. When the step would make a parameter infinite or NaN, kappa 0 or nu
// d-1, it returns a *[DivergedError] and the trainer stays where it was.
func (t *Trainer) Step() (Progress, error) {
	loss := t.gradient()
	norm, scalarNorm := t.gradNorms()
	if bad(loss) || bad(norm) || bad(scalarNorm) {
		return Progress{}, &DivergedError{Step: t.step, Loss: loss}
	}
	for i, values := range t.state() {
		t.before[i] = append(t.before[i][:0], values...)
	}
	t.move(t.config.rateAt(t.step), t.clip(norm), t.clip(scalarNorm))
	t.refresh()
	if !t.valid() {
		for i, values := range t.state() {
			copy(values, t.before[i])
		}
		t.refresh()
		return Progress{}, &DivergedError{Step: t.step, Loss: loss}
	}
	t.step++
	t.lossSum += loss
	t.lossN++
	return Progress{Step: t.step, Loss: loss, GradNorm: norm}, nil
}

// state returns what a step changes: the parameters and the optimiser's memory. They are views.
func (t *Trainer) state() [5][]float64 {
	return [5][]float64{t.engine.m, t.engine.factor.lower, t.scalars[:], t.moments.first, t.moments.second}
}

// valid reports whether all parameters are finite, kappa is above 0 and nu above d-1.
func (t *Trainer) valid() bool {
	p, state := &t.engine.prior, t.state()
	for _, values := range state[:3] {
		if slices.ContainsFunc(values, bad) {
			return false
		}
	}
	return p.Kappa > 0 && p.Nu > float64(p.Dim-1) && !bad(p.Kappa) && !bad(p.Nu)
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// clip returns the factor that turns the gradient into the mean over the batch, cut to a norm of at
// most Clip. norm is the norm of that mean.
func (t *Trainer) clip(norm float64) float64 {
	f := 1 / float64(t.config.Batch)
	if t.config.Clip > 0 && norm > t.config.Clip {
		f *= t.config.Clip / norm
	}
	return f
}

// gradient sums the gradients of the step's tasks, in their order, and returns
// the mean loss. Tasks run in parallel, then block rows of L.
func (t *Trainer) gradient() float64 {
	batch, g := t.config.Batch, t.grad
	parallel(batch, t.workers, func(b int) {
		t.source.Task(t.step*batch+b, &t.tasks[b])
		t.engine.forward(&t.works[b], &t.tasks[b])
		t.loss[b] = t.engine.backward(&t.works[b], &t.tasks[b])
	})
	g.reset()
	if !t.config.fixed("scale") {
		parallel(blockRows(len(g.M)), t.workers, func(row int) {
			for b := range batch {
				t.engine.accumulateBlock(g, &t.works[b], row)
			}
		})
	}
	var sum float64
	for b := range batch {
		t.engine.accumulate(g, &t.works[b])
		sum += t.loss[b]
	}
	return sum / float64(batch)
}

// gradNorms returns the norms of the batch's mean gradient with respect to m and L, and to
// the learned scalars. The scalars' gradient is first carried over to their
// logarithms.
func (t *Trainer) gradNorms() (matrix, scalar float64) {
	g, d := t.grad, len(t.grad.M)
	if t.config.fixed("mean") {
		clear(g.M)
	}
	if t.config.fixed("scale") {
		clear(g.L)
	}
	parallel(len(t.norms), t.workers, func(b int) {
		var s float64
		for i := b * gradBlock; i < min((b+1)*gradBlock, d); i++ {
			row := g.L[i*d : i*d+i+1]
			s += dot(row, row)
		}
		t.norms[b] = s
	})
	sum := dot(g.M, g.M)
	for _, s := range t.norms {
		sum += s
	}
	s := t.scalarGradient()
	return math.Sqrt(sum) / float64(t.config.Batch), math.Sqrt(dot(s[:], s[:])) / float64(t.config.Batch)
}

// scalarGradient returns the gradient with respect to the learned scalars:
// d/d ln kappa = kappa d/dkappa, d/d ln(nu-d+1) = (nu-d+1) d/dnu.
func (t *Trainer) scalarGradient() (s [scalarCount]float64) {
	s[atKappa] = t.grad.Kappa * math.Exp(t.scalars[atKappa])
	s[atNu] = t.grad.Nu * math.Exp(t.scalars[atNu])
	s[atLogT], s[atNone] = t.grad.Head.LogT, t.grad.Head.None
	for i, learned := range t.learned {
		if !learned {
			s[i] = 0
		}
	}
	return s
}

// move applies the optimiser to every learned parameter.
func (t *Trainer) move(factor, clip, scalarClip float64) {
	c, e, d := &t.config, t.engine, t.engine.factor.d
	rate, step := c.Rate*factor, t.step+1
	if !c.fixed("mean") {
		c.update(t.moments, 0, e.m, t.grad.M, clip, rate, step)
	}
	if !c.fixed("scale") {
		parallel(blockRows(d), t.workers, func(b int) {
			for i := b * gradBlock; i < min((b+1)*gradBlock, d); i++ {
				row := e.factor.lower[i*d : i*d+i+1]
				c.update(t.moments, rowAt(d, i), row, t.grad.L[i*d:i*d+i+1], clip, rate, step)
				row[i] = math.Max(row[i], t.floor)
			}
		})
	}
	scalars := *c
	scalars.WeightDecay = 0
	s := t.scalarGradient()
	at := rowAt(d, d)
	for i, learned := range t.learned {
		if learned {
			scalars.update(t.moments, at+i, t.scalars[i:i+1], s[i:i+1], scalarClip, c.ScalarRate*factor, step)
		}
	}
}

// rowAt is where row i of L begins in the moments: after m, and before the scalars.
func rowAt(d, i int) int { return d + i*(i+1)/2 }

// Result returns the parameters of the best validation, or the present ones
// where none has been done.
func (t *Trainer) Result() *Params {
	if t.best == nil {
		return t.params()
	}
	return t.best
}

// params returns a copy of the present parameters.
func (t *Trainer) params() *Params {
	e, d := t.engine, t.engine.factor.d
	l := mat.NewTriDense(d, mat.Lower, slices.Clone(e.factor.lower))
	return &Params{Prior: &niw.Prior{M: slices.Clone(e.m), L: l, Kappa: e.prior.Kappa, Nu: e.prior.Nu}, Head: e.head}
}

// parallel calls f(0), ..., f(n-1) on at most workers goroutines. With one it
// stays on the caller's.
func parallel(n, workers int, f func(i int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
