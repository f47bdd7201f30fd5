package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// A Workload is a taught classifier with the bytes it was loaded from, a query
// and a trainer.
type Workload struct {
	Case
	Examples []float32 // classes*shots embeddings, class by class, row-major
	Query    []float32 // one more embedding of class 0

	prior, session []byte
	transform      embed.Transform
	classifier     *lda.Classifier
	labels         []string
	x              []float64
	probabilities  []float64
	trainer        *metatrain.Trainer
	enrolled       string // label of the class that has one more example, or ""
	at             int
}

// New makes the workload of a case. The numbers depend on the case alone.
func New(c Case) *Workload {
	rnd := rand.New(rand.NewPCG(uint64(c.Dimension), uint64(c.Classes)))
	w := &Workload{Case: c, x: make([]float64, c.Dimension), probabilities: make([]float64, c.Classes)}
	w.prior = priorFile(c.Dimension, rnd)
	w.session = w.sessionFile(rnd)
	if c.Measures("train_episode") {
		w.trainer = newTrainer(c.Dimension, rnd)
	}
	w.Load()
	return w
}

// priorFile is a prior like the one that ships: a spiked S near a multiple of the
// identity, features CL2N, one scale matrix for the session and a model of sessions.
func priorFile(d int, rnd *rand.Rand) []byte {
	center := make([]float64, d)
	for i := range center {
		center[i] = 0.6 + 0.1*rnd.Float64()
	}
	p := &model.Prior{NIW: newPrior(d, rnd), Transform: embed.Transform{Kind: embed.CL2N, Shift: 0.375, Power: 0.5, Centre: center}, Facts: map[string]string{"data": "synthetic"}}
	p.Session = model.Session{Near: 0.5, Centre: 1.67, Shared: 1, Kappa: 3, Population: population()}
	return must(model.EncodePrior(p))
}

// population is a session model with which predictions do all the work that a session may need.
func population() *session.Population {
	return &session.Population{LogT: -3.5, LogTemperature: session.LogTemperature{SD: 0.5, Weight: 0.6},
		CohortMean: session.CohortMean{Mean: [2]float64{1.5, 4}, SD: 0.5, Count: 10}, CohortDeviation: session.CohortDeviation{SD: 6, Count: 1},
		Known: session.Known{Threshold: session.Normal{Mean: 0.6, SD: 0.7}, Slope: session.Normal{Mean: 0.8, SD: 0.6}, Weight: 0.3}}
}

// newPrior has the rank of the shipped prior, or a smaller one if the dimension is too small.
func newPrior(d int, rnd *rand.Rand) *niw.Prior {
	scale, lambda := make([]float64, d), make([]float64, min(128, d/4))
	for i := range scale {
		scale[i] = 0.5 + 0.2*rnd.Float64()
	}
	for i := range lambda {
		lambda[i] = math.Exp(0.5 * rnd.NormFloat64())
	}
	x := mat.NewDense(d, len(lambda), nil)
	x.Apply(func(int, int, float64) float64 { return rnd.NormFloat64() }, x)
	var qr mat.QR
	qr.Factorize(x)
	var q mat.Dense
	qr.QTo(&q)
	directions := mat.DenseCopyOf(q.Slice(0, d, 0, len(lambda)).T())
	return &niw.Prior{M: make([]float64, d), Kappa: 1, Spiked: must(niw.NewSpiked(scale, directions, lambda)), Nu: float64(d)}
}

// sessionFile teaches every class examples around a centre of its own.
func (w *Workload) sessionFile(rnd *rand.Rand) []byte {
	s := &model.Classifier{Name: "bench", Settings: model.Settings{NonePrior: 0.2}}
	s.PriorSum = model.Sum(w.prior)
	centre := make([]float64, w.Dimension)
	for c := range w.Classes {
		for i := range centre {
			centre[i] = rnd.NormFloat64()
		}
		class := model.Class{Label: fmt.Sprintf("class %d", c)}
		for range w.Shots {
			x := near(centre, rnd)
			class.Examples = append(class.Examples, model.Example{Embedding: x})
			w.Examples = append(w.Examples, x...)
		}
		if c == 0 {
			w.Query = near(centre, rnd)
		}
		s.Classes = append(s.Classes, class)
		w.labels = append(w.labels, class.Label)
	}
	return must(model.EncodeClassifier(s))
}

// near draws an embedding around a centre.
func near(centre []float64, rnd *rand.Rand) []float32 {
	x := make([]float32, len(centre))
	for i, c := range centre {
		x[i] = float32(c + 0.7*rnd.NormFloat64())
	}
	return x
}

// newTrainer prepares steps of one episode each: 5 classes, 5 shots, 15 queries a class.
func newTrainer(d int, rnd *rand.Rand) *metatrain.Trainer {
	const way, shot, queries = 5, 5, 15
	dom, pool := &metatrain.Domain{Dim: d}, episode.Pool{}
	centre, y := make([]float64, d), make([]float64, d)
	for range way {
		for i := range centre {
			centre[i] = rnd.NormFloat64()
		}
		var rows []int
		for range shot + queries {
			widen(y, near(centre, rnd))
			floats.Scale(1/floats.Norm(y, 2), y)
			rows = append(rows, len(dom.X)/d)
			for _, v := range y {
				dom.X = append(dom.X, float32(v))
			}
		}
		pool.Rows = append(pool.Rows, rows)
	}
	config := metatrain.DefaultConfig()
	config.Steps, config.Batch, config.ValidateEvery = 1<<30, 1, 1<<30
	source := &metatrain.Episodes{Domains: []*metatrain.Domain{dom}, Sampler: must(episode.NewUniform(pool, episode.Fixed(way, shot, queries), 1))}
	return must(metatrain.NewTrainer(d, config, source, nil, 1))
}

// Load makes the classifier from the bytes of prior and session.
func (w *Workload) Load() { w.Full(false) }

// Full is [Workload.Load]. If full is true, it expands the prior to its full factor L.
func (w *Workload) Full(full bool) {
	p := must(model.DecodePrior(w.prior))
	if full {
		p.NIW = p.NIW.Dense()
	}
	s := must(model.DecodeClassifier(w.session))
	options := p.Session.Options()
	options.NonePrior = s.Settings.NonePrior
	c := must(lda.New(p.NIW, options))
	for _, k := range s.Classes {
		check(c.AddClass(k.Label))
		x := mat.NewDense(len(k.Examples), w.Dimension, nil)
		for i, e := range k.Examples {
			widen(x.RawRowView(i), e.Embedding)
			check(p.Transform.ApplyTo(x.RawRowView(i), x.RawRowView(i)))
		}
		check(c.AddRows(k.Label, x))
	}
	w.transform, w.classifier, w.enrolled = p.Transform, c, ""
}

// Predict returns the probabilities of the classes for an embedding. The result is
// valid until the next call.
func (w *Workload) Predict(x []float32) []float64 {
	widen(w.x, x)
	check(w.transform.ApplyTo(w.x, w.x))
	must(w.classifier.ProbabilitiesTo(w.probabilities, w.x))
	return w.probabilities
}

// Enrol adds an embedding to the next class in turn. [Workload.Remove] takes it
// out again.
func (w *Workload) Enrol(x []float32) {
	w.enrolled = w.labels[w.at%len(w.labels)]
	w.at++
	widen(w.x, x)
	check(w.transform.ApplyTo(w.x, w.x))
	check(w.classifier.Add(w.enrolled, w.x))
}

// Remove takes out what Enrol added last.
func (w *Workload) Remove() {
	check(w.classifier.Remove(w.enrolled, w.classifier.Count(w.enrolled)-1))
}

// TrainEpisode does one step of meta-training.
func (w *Workload) TrainEpisode() { must(w.trainer.Step()) }

// Operation returns the function to time for a name. It also returns the function to run untimed
// before the next repetition, or nil. The caller chooses the order of enrol and remove.
func (w *Workload) Operation(name string) (operation, reset func()) {
	switch name {
	case "predict":
		return func() { w.Predict(w.Query) }, nil
	case "predict-full":
		w.Full(true)
		return func() { w.Predict(w.Query) }, nil
	case "enrol":
		return func() { w.Enrol(w.Query) }, w.Remove
	case "remove":
		w.Enrol(w.Query)
		return w.Remove, func() { w.Enrol(w.Query) }
	case "train_episode":
		return w.TrainEpisode, nil
	case "load":
		return w.Load, nil
	}
	panic("measure: unknown operation " + name)
}

// Done undoes what [Workload.Operation] left for another repetition.
func (w *Workload) Done(name string) {
	switch name {
	case "remove":
		w.Remove()
	case "predict-full":
		w.Full(false)
	}
}

// BytesPerOp returns the bytes that one operation allocates, the mean of n. Allocations of reset
// are not counted.
func BytesPerOp(operation, reset func(), n int) float64 {
	var total uint64
	var before, after runtime.MemStats
	for range n {
		runtime.ReadMemStats(&before)
		operation()
		runtime.ReadMemStats(&after)
		total += after.TotalAlloc - before.TotalAlloc
		if reset != nil {
			reset()
		}
	}
	return float64(total) / float64(n)
}

func widen(dst []float64, x []float32) {
	for i, v := range x {
		dst[i] = float64(v)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(fmt.Sprintf("measure: %v", err))
	}
}
