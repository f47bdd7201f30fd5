package metatrain

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/discriminant"
	"metaqda/core/lab/episode"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// world is a data set drawn from a hierarchical model: each class has a mean
// from N(0, Sigma/kappa) and n rows from N(mean, Sigma).
type world struct {
	domain Domain
	pool   episode.Pool
}

// newWorld draws a world whose Sigma has standard deviations sd.
func newWorld(seed uint64, classes, n int, kappa float64, sd []float64) *world {
	rng := rand.New(rand.NewPCG(seed, 99))
	w := &world{domain: Domain{Name: "world", Dim: len(sd)}}
	for range classes {
		mean := make([]float64, len(sd))
		for i := range mean {
			mean[i] = sd[i] / math.Sqrt(kappa) * rng.NormFloat64()
		}
		var rows []int
		for range n {
			rows = append(rows, len(w.domain.X)/len(sd))
			for i := range mean {
				w.domain.X = append(w.domain.X, float32(mean[i]+sd[i]*rng.NormFloat64()))
			}
		}
		w.pool.Rows = append(w.pool.Rows, rows)
	}
	return w
}

// spread returns d standard deviations from 3 down to 0.1: a world where the
// identity is a poor guess of the scale.
func spread(d int) []float64 {
	sd := make([]float64, d)
	for i := range sd {
		sd[i] = 3 * math.Pow(0.1/3, float64(i)/float64(d-1))
	}
	return sd
}

func (w *world) source(t testing.TB, tasks episode.Tasks) *Episodes {
	t.Helper()
	s := test.Must(episode.NewTraining([]episode.Pool{w.pool}, tasks, 5))(t)
	return &Episodes{Domains: []*Domain{&w.domain}, Sampler: s}
}

func (w *world) validator(t testing.TB, n int, c episode.Config) *Validator {
	t.Helper()
	s := test.Must(episode.NewUniform(w.pool, c, 77))(t)
	return NewValidator([]*Domain{&w.domain}, [][]episode.Sampler{{s}}, n)
}

func smallConfig() Config {
	c := DefaultConfig()
	c.Start = Start{Scale: 1, Kappa: 1, NuExcess: 1, Temperature: 1}
	c.Steps, c.ValidateEvery, c.WarmUp, c.Batch = 60, 20, 5, 3
	c.Rate, c.Fixed = 0.02, ""
	return c
}

var smallTasks = episode.Tasks{Way: episode.Range{Min: 3, Max: 6}, Shot: episode.Range{Min: 1, Max: 4}, Query: episode.Exactly(3), Imbalanced: true}

func newTrainer(t testing.TB, c Config, workers int) *Trainer {
	t.Helper()
	train, val := newWorld(1, 30, 12, 0.5, spread(10)), newWorld(2, 15, 12, 0.5, spread(10))
	tr := test.Must(NewTrainer(10, c, train.source(t, smallTasks), val.validator(t, 40, episode.Fixed(5, 1, 5)), workers))(t)
	return tr
}

func run(t *testing.T, tr *Trainer) *Trainer {
	t.Helper()
	test.OK(t, tr.Run(context.Background(), nil))
	return tr
}

func TestTrainingImprovesValidationAccuracy(t *testing.T) {
	for _, o := range []Optimiser{SGD, Adam} {
		for _, loss := range []Loss{CrossEntropy, NLL} {
			for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
				c := smallConfig()
				c.Optimiser, c.Objective.Loss, c.Objective.Inference = o, loss, inf
				c.Steps = 200
				tr := run(t, newTrainer(t, c, 1))
				first, best := tr.History()[0].Validation, tr.Best().Validation
				if best.Accuracy < first.Accuracy+0.03 {
					t.Errorf("%s %v %v: accuracy from %.3f to %.3f", o, loss, inf, first.Accuracy, best.Accuracy)
				}
				test.OK(t, tr.Result().Prior.Validate())
			}
		}
	}
}

// Maximum likelihood finds the kappa the world was made with, from either side.
func TestKappaIsRecovered(t *testing.T) {
	const truth = 0.3
	w := newWorld(3, 400, 10, truth, []float64{1, 1, 1, 1, 1, 1})
	for _, start := range []float64{0.05, 3} {
		c := smallConfig()
		c.Objective.Loss, c.Optimiser, c.Fixed = NLL, Adam, ""
		c.Start.Kappa, c.Start.NuExcess = start, 20
		c.Start.Scale = math.Sqrt(20 + 6 - 1) // E[Sigma] = S/(nu-d-1) close to I
		c.Steps, c.ScalarRate, c.Rate, c.Clip, c.ValidateEvery = 500, 0.03, 0.01, 0, 1000
		tr := test.Must(NewTrainer(6, c, w.source(t, episode.Tasks{Way: episode.Exactly(10), Shot: episode.Range{Min: 1, Max: 3}, Query: episode.Exactly(4)}), nil, 1))(t)
		got := run(t, tr).Result().Prior.Kappa
		if !(math.Abs(math.Log(got/truth)) <= 0.25) {
			t.Errorf("from %v: kappa %.3f, want about %v", start, got, truth)
		}
	}
}

func TestFixedStaysFixed(t *testing.T) {
	c := smallConfig()
	c.Fixed, c.Patience, c.Steps = "mean,scale,kappa,nu,temperature,none", 2, 1000
	tr := run(t, newTrainer(t, c, 1))
	if tr.StepCount() != 2*c.ValidateEvery || tr.Best().Step != 0 {
		t.Errorf("what nothing betters went on to step %d, best %d", tr.StepCount(), tr.Best().Step)
	}
	got, want := tr.Result(), niw.HandCrafted(10, 1)
	if !mat.Equal(got.Prior.L, want.L) || !mat.Equal(mat.NewVecDense(10, got.Prior.M), mat.NewVecDense(10, want.M)) ||
		got.Prior.Kappa != 1 || got.Prior.Nu != 10 || got.Head != (Head{}) {
		t.Errorf("got %+v", got)
	}
}

func TestDivergenceIsAnError(t *testing.T) {
	c := smallConfig()
	c.Clip, c.Rate, c.Objective.Loss = 0, 1e300, NLL
	var bad *DivergedError
	err := newTrainer(t, c, 1).Run(context.Background(), nil)
	if !errors.As(err, &bad) {
		t.Errorf("got %v", err)
	}
}

// After a step that would diverge, one of an ordinary rate is that of a trainer that never saw it.
func TestADivergedStepChangesNothing(t *testing.T) {
	for what, spoil := range map[string]func(*Config){
		"rate":                func(c *Config) { c.Rate, c.Optimiser = math.MaxFloat64, SGD },
		"scalar rate":         func(c *Config) { c.ScalarRate, c.Optimiser = 1e9, SGD },
		"scalar rate of Adam": func(c *Config) { c.ScalarRate, c.Optimiser = 1e9, Adam },
	} {
		large := smallConfig()
		large.Clip, large.WarmUp = 0, 0
		spoil(&large)
		small := large
		small.Rate, small.ScalarRate = smallConfig().Rate, smallConfig().ScalarRate
		got, want := newTrainer(t, small, 1), newTrainer(t, small, 1)
		step := func(of ...*Trainer) {
			for range 2 {
				for _, tr := range of {
					test.Must(tr.Step())(t)
				}
			}
		}
		step(got, want)
		got.config = large
		test.Refused[*DivergedError](t, test.Err(got.Step()), "%s", what)
		got.config = small
		step(got, want)
		if a, b := got.params(), want.params(); got.StepCount() != 4 || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: the trainer goes on with %+v, want %+v", what, a, b)
		}
	}
}

func TestConfigRejects(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"scale": func(c *Config) { c.Start.Scale = 0 }, "kappa": func(c *Config) { c.Start.Kappa = math.NaN() }, "kappa beyond a prior": func(c *Config) { c.Start.Kappa = 1e300 }, "nu": func(c *Config) { c.Start.NuExcess = -1 },
		"rate": func(c *Config) { c.Rate = math.Inf(1) }, "optimiser": func(c *Config) { c.Optimiser = "newton" }, "fixed": func(c *Config) { c.Fixed = "everything" },
		"steps": func(c *Config) { c.Steps = -1 }, "schedule": func(c *Config) { c.Schedule = "" }, "none prior": func(c *Config) { c.Objective.NonePrior = 1 },
	} {
		c := smallConfig()
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s passed", name)
		}
	}
}

// Adam's first step is the rate times the sign of the gradient, and momentum
// sums a constant gradient geometrically.
func TestUpdateRules(t *testing.T) {
	c := DefaultConfig()
	c.Optimiser = Adam
	x := []float64{1, 1}
	c.update(newMoments(Adam, 2), 0, x, []float64{0.3, -7}, 1, 0.1, 1)
	if math.Abs(x[0]-0.9) > 1e-6 || math.Abs(x[1]-1.1) > 1e-6 {
		t.Errorf("adam: %v", x)
	}
	c.Optimiser, c.Momentum = SGD, 0.5
	m, y := newMoments(SGD, 1), []float64{0}
	for i := range 3 {
		c.update(m, 0, y, []float64{1}, 1, 1, i+1)
	}
	want := -(1 + 1.5 + 1.75)
	if y[0] != want {
		t.Errorf("momentum: got %v, want %v", y[0], want)
	}
}

func TestSchedules(t *testing.T) {
	c := Config{Schedule: Cosine, Steps: 100}
	for step, want := range map[int]float64{0: 1, 50: 0.5, 100: 0} {
		got := c.rateAt(step)
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("cosine at %d: got %v, want %v", step, got, want)
		}
	}
	c = Config{Schedule: Stepped, StepEvery: 10, StepFactor: 0.1, WarmUp: 4}
	for step, want := range map[int]float64{0: 0.25, 3: 1, 9: 1, 10: 0.1, 25: 0.01} {
		got := c.rateAt(step)
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("step at %d: got %v, want %v", step, got, want)
		}
	}
}

// Log densities are the paper's, and the loss is theirs under the head, by its definition.
func TestLossIsThatOfTheDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const d, pi = 5, 0.3
	p, task := randomParams(rng, d), randomTask(rng, d, []int{1, 9, 0, 2}, 2, true)
	way := len(task.Shots)
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		classes := make([]*mat.Dense, way) // nil for no examples
		row := 0
		for j, k := range task.Shots {
			if k > 0 {
				classes[j] = mat.NewDense(k, d, nil)
			}
			for i := range k {
				p.Prior.WhitenTo(classes[j].RawRowView(i), task.X[row*d:(row+1)*d])
				row++
			}
		}
		c := discriminant.New(p.Prior, inf, false, classes)
		e, w := NewEngine(d, Objective{Inference: inf, Loss: OpenSet, NonePrior: pi}), &Workspace{}
		e.Set(p)
		e.forward(w, task)
		loss, want := e.lossGradient(w, task), 0.0
		l, z := make([]float64, way+1), make([]float64, d)
		for i, y := range task.Labels {
			p.Prior.WhitenTo(z, task.X[(row+i)*d:(row+i+1)*d])
			none := c.LogDensitiesTo(l[:way], z)
			if !floats.EqualApprox(w.logp[i*way:(i+1)*way], l[:way], 1e-9) {
				t.Errorf("%v, query %d: log densities %v, want %v", inf, i, w.logp[i*way:(i+1)*way], l[:way])
			}
			for j := range task.Shots {
				l[j] = math.Log((1-pi)/float64(way)) + (l[j]-none)/math.Exp(p.Head.LogT)
			}
			l[way] = math.Log(pi) + p.Head.None
			if y == Unknown {
				y = way
			}
			want += (floats.LogSumExp(l) - l[y]) / float64(len(task.Labels))
		}
		if !(math.Abs(loss-want) <= 1e-9) {
			t.Errorf("%v: loss %v, by the densities %v", inf, loss, want)
		}
	}
}

// A step moves m and L together, and the scalars, by no more than rate times Clip.
func TestStepsAreClipped(t *testing.T) {
	c := smallConfig()
	c.Optimiser, c.Momentum, c.Schedule, c.WarmUp, c.Fixed = SGD, 0, Constant, 0, "none"
	c.Rate, c.ScalarRate = 0.3, 0.2
	moved := func(clip float64) (matrix, scalar float64) {
		c.Clip = clip
		tr := newTrainer(t, c, 1)
		now := func() (matrix, scalars []float64) {
			return slices.Concat(tr.engine.m, tr.engine.factor.lower), slices.Clone(tr.scalars[:])
		}
		m, s := now()
		test.Must(tr.Step())(t)
		m2, s2 := now()
		return floats.Distance(m, m2, 2), floats.Distance(s, s2, 2)
	}
	freeMatrix, freeScalar := moved(0)
	clip := math.Min(freeMatrix/c.Rate, freeScalar/c.ScalarRate) / 4
	matrix, scalar := moved(clip)
	if !(math.Abs(matrix-c.Rate*clip) <= 1e-9 && math.Abs(scalar-c.ScalarRate*clip) <= 1e-9) {
		t.Errorf("m and L moved by %v, the scalars by %v; want %v and %v", matrix, scalar, c.Rate*clip, c.ScalarRate*clip)
	}
}

// If the objective names no prior probability of none of these, it is the share among the task's
// own queries. It is never one.
func TestNonePriorOfATask(t *testing.T) {
	for _, c := range []struct {
		o      Objective
		labels []int
		want   float64
	}{
		{Objective{Loss: OpenSet}, []int{0, 1, Unknown}, 1. / 3}, {Objective{Loss: OpenSet}, []int{0, 1}, 0}, {Objective{Loss: OpenSet}, []int{Unknown}, mostNone},
		{Objective{Loss: OpenSet, NonePrior: 0.2}, []int{0, 1, Unknown}, 0.2}, {Objective{NonePrior: 0.2}, []int{0, Unknown}, 0},
	} {
		got := c.o.pi(c.labels)
		if got != c.want {
			t.Errorf("%+v, labels %v: %v, want %v", c.o, c.labels, got, c.want)
		}
	}
}
