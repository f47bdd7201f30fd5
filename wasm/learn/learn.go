// Package learn learns a prior on a person's own classes, in the browser: the
// meta-training of core/metatrain, begun at the prior in use.
//
// With m0, L0 the prior in use, its classes' pictures are whitened,
//
//	w = L0⁻¹(x - m0),
//
// where the prior in use is m' = 0, L' = I. What is learned there, (m', L'),
// stands for
//
//	m = m0 + L0 m',   L = L0 L'
//
// kappa, nu and the model of sessions (core/session) stay: a person's few classes
// say too little about them. The best step is chosen on classes that are not learned from; step
// 0, the prior in use, is among the choices, so that learning cannot end with
// what measures worse there.
//
// A [Run] is the computation. A [Learner] is what drives it, one at a time: begun,
// paused, resumed after a reload, cancelled. The package knows nothing of
// JavaScript; it is for a person's own few classes, not for priors that ship, which
// scripts/metaqda learns from whole data sets.
package learn

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/episode"
	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
)

const (
	// MinClasses and MinExamples are the least to learn from: two classes to
	// learn from and two to validate on, and in each one picture for the
	// support beside two queries.
	MinClasses  = 4
	MinExamples = 3

	// MaxSteps is the most gradient steps of a run.
	MaxSteps = 20000

	heldOut        = 3  // one class in so many is kept for validation
	maxValidate    = 40 // classes
	validations    = 20 // during a run
	episodes       = 30 // of each validation, per shot
	mostRows       = 150
	typicalShots   = 3 // at which the population's temperature is taken
	learningRate   = 0.02
	samplingSeed   = 0x6c6561726e
	validationSeed = 0x76616c6964
)

// Class is one class to learn from: raw embeddings of one length.
type Class struct {
	Name     string
	Examples [][]float32
}

// Job is what to learn.
type Job struct {
	Classes []Class
	Prior   *model.Prior // the prior in use, which learning begins at
	Steps   int
	Seed    uint64
}

// TooLittleError says why classes are too few to learn from.
type TooLittleError struct{ Classes int }

func (e *TooLittleError) Error() string {
	return "Learning takes at least " + strconv.Itoa(MinClasses) + " classes with " + strconv.Itoa(MinExamples) +
		" pictures each, and here are " + strconv.Itoa(e.Classes) + ": add classes or pictures first."
}

// Run is a run of learning. Its methods must not be called at the same time.
type Run struct {
	job     Job
	dim     int
	trainer *metatrain.Trainer
}

// New prepares a run. Cost N d²/2 for N pictures, d³/3 for a spiked prior. It
// returns a *[TooLittleError], a *[niw.DimensionError], a *[niw.ValueError] or the
// error of the transform.
func New(job Job) (*Run, error) {
	usable := usableClasses(job.Classes)
	if len(usable) < MinClasses {
		return nil, &TooLittleError{Classes: len(usable)}
	}
	if job.Steps < 1 || job.Steps > MaxSteps {
		return nil, &niw.ValueError{Name: "number of steps", Index: -1, Value: float64(job.Steps), Want: "a whole number from 1 to " + strconv.Itoa(MaxSteps)}
	}
	shuffle(usable, job.Seed)
	full := *job.Prior // what is learned fills S, so it begins from a full one
	full.NIW = full.NIW.Dense()
	job.Prior = &full
	r := &Run{job: job, dim: job.Prior.NIW.Dim()}
	held := min(max(len(usable)/heldOut, 2), maxValidate)
	train, trainPool, err := r.domain("classes to learn from", usable[held:])
	if err != nil {
		return nil, err
	}
	val, valPool, err := r.domain("classes to validate on", usable[:held])
	if err != nil {
		return nil, err
	}
	validator, err := newValidator(val, valPool)
	if err != nil {
		return nil, err
	}
	sampler, err := episode.NewTraining([]episode.Pool{trainPool}, episode.Tasks{
		Way: episode.Range{Min: 2, Max: 20}, Shot: episode.Range{Min: 1, Max: 10}, Query: episode.Exactly(5), MaxRows: mostRows}, job.Seed^samplingSeed)
	if err != nil {
		return nil, err
	}
	source := &metatrain.Episodes{Domains: []*metatrain.Domain{train}, Sampler: sampler}
	r.trainer, err = metatrain.NewTrainer(r.dim, r.config(fingerprint(&job, usable)), source, validator, 1)
	return r, err
}

// usableClasses returns the classes with enough examples.
func usableClasses(classes []Class) []Class {
	var usable []Class
	for _, c := range classes {
		if len(c.Examples) >= MinExamples {
			usable = append(usable, c)
		}
	}
	return usable
}

func shuffle(classes []Class, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, validationSeed))
	rng.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
}

// domain returns the classes' whitened rows and which belong together.
func (r *Run) domain(name string, classes []Class) (*metatrain.Domain, episode.Pool, error) {
	pool := episode.Pool{Name: name}
	dom := &metatrain.Domain{Name: name, Dim: r.dim}
	for _, c := range classes {
		var rows []int
		x := mat.NewDense(len(c.Examples), r.dim, nil)
		for i, e := range c.Examples {
			if len(e) != r.dim {
				return nil, pool, &niw.DimensionError{Name: "embedding", Got: len(e), Want: r.dim}
			}
			row := x.RawRowView(i)
			for j, v := range e {
				row[j] = float64(v)
			}
			if err := r.job.Prior.Transform.ApplyTo(row, row); err != nil {
				return nil, pool, err
			}
			rows = append(rows, len(dom.X)/r.dim+i)
		}
		r.job.Prior.NIW.WhitenRowsTo(x, x)
		for _, v := range x.RawMatrix().Data {
			if math.Abs(v) > 1e18 {
				return nil, pool, &niw.ValueError{Name: "whitened embedding", Index: -1, Value: v, Want: "a smaller number: the background knowledge in use does not fit these pictures"}
			}
			dom.X = append(dom.X, float32(v))
		}
		pool.Classes, pool.Rows = append(pool.Classes, c.Name), append(pool.Rows, rows)
	}
	return dom, pool, nil
}

// newValidator validates with one picture a class and, where there are enough,
// with more.
func newValidator(dom *metatrain.Domain, pool episode.Pool) (*metatrain.Validator, error) {
	smallest := len(pool.Rows[0])
	for _, rows := range pool.Rows {
		smallest = min(smallest, len(rows))
	}
	shots := []int{1}
	if more := min(5, smallest-1); more > 1 {
		shots = append(shots, more)
	}
	var samplers []episode.Sampler
	for _, shot := range shots {
		s, err := episode.NewUniform(pool, episode.Fixed(min(5, len(pool.Rows)), shot, min(5, smallest-shot)), validationSeed)
		if err != nil {
			return nil, err
		}
		samplers = append(samplers, s)
	}
	return metatrain.NewValidator([]*metatrain.Domain{dom}, [][]episode.Sampler{samplers}, episodes)
}

func (r *Run) config(data string) metatrain.Config {
	c := metatrain.DefaultConfig()
	p := r.job.Prior
	c.Start = metatrain.Start{Scale: 1, Kappa: p.NIW.Kappa, NuExcess: p.NIW.Nu - float64(r.dim) + 1, Temperature: 1}
	if q := p.Session.FB; q != nil {
		c.Start.Temperature = q.Temperature(typicalShots)
	}
	c.Rate = learningRate
	c.Steps, c.WarmUp = r.job.Steps, min(c.WarmUp, r.job.Steps/10)
	c.ValidateEvery = max(r.job.Steps/validations, 1)
	c.Fixed = "kappa,nu,temperature,temperature-shape,bias,none"
	c.Data = data
	return c
}

// fingerprint tells runs on different data, priors or seeds apart.
func fingerprint(job *Job, classes []Class) string {
	h := sha256.New()
	var b [8]byte
	put := func(v uint64) { binary.LittleEndian.PutUint64(b[:], v); h.Write(b[:]) }
	put(job.Seed)
	for _, v := range job.Prior.NIW.M {
		put(math.Float64bits(v))
	}
	for i := range job.Prior.NIW.Dim() {
		put(math.Float64bits(job.Prior.NIW.L.At(i, i)))
	}
	for _, c := range classes {
		put(uint64(len(c.Examples)))
		for _, e := range c.Examples {
			for _, v := range e {
				put(uint64(math.Float32bits(v)))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Step does the next piece of work. See [metatrain.Trainer.Step].
func (r *Run) Step(ctx context.Context) (metatrain.Progress, error) { return r.trainer.Step(ctx) }

// Steps returns the steps done and those of the whole run.
func (r *Run) Steps() (done, all int) { return r.trainer.StepCount(), r.job.Steps }

// History returns the curve so far. It is a view.
func (r *Run) History() []metatrain.Point { return r.trainer.History() }

// Best returns the best point, or nil before the first validation.
func (r *Run) Best() *metatrain.Point { return r.trainer.Best() }

// State returns the state to go on from, see [Run.LoadState].
func (r *Run) State() []byte { return r.trainer.State() }

// LoadState goes on where State was taken from a run of the same job. It returns
// a *[metatrain.StateError] if the job is another.
func (r *Run) LoadState(state []byte) error { return r.trainer.LoadState(state) }

// Prior returns the best prior so far. Cost d³/3.
func (r *Run) Prior() *model.Prior {
	from := r.job.Prior
	p := *from
	p.NIW = compose(from.NIW, r.trainer.Result())
	p.Precision = "F32"
	p.Facts = maps.Clone(from.Facts)
	if p.Facts == nil {
		p.Facts = map[string]string{}
	}
	p.Facts["name"] = "Learned here"
	p.Facts["learned-on"] = fmt.Sprintf("%d classes", len(usableClasses(r.job.Classes)))
	p.Facts["learned-steps"] = fmt.Sprintf("%d of %d", r.trainer.StepCount(), r.job.Steps)
	if best := r.trainer.Best(); best != nil && best.Validation != nil {
		p.Facts["learned-validation"] = fmt.Sprintf("step %d, accuracy %.4f, loss %.4f; before, accuracy %.4f, loss %.4f", best.Step,
			best.Validation.Accuracy, best.Validation.Loss, r.trainer.History()[0].Validation.Accuracy, r.trainer.History()[0].Validation.Loss)
	}
	return &p
}

// compose returns the prior of the rows as they are for parameters learned on
// rows whitened by base: m = m0 + L0 m', L = L0 L'.
func compose(base *niw.Prior, learned *metatrain.Params) *niw.Prior {
	p := metatrain.BaseOf(base.L).Compose(learned).Prior
	floats.Add(p.M, base.M)
	return p
}
