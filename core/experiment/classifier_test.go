package experiment

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset/datasettest"
	"metaqda/core/episode"
	"metaqda/core/metrics"
	"metaqda/core/model"
	"metaqda/core/model/modeltest"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// randomPrior has no special values, and a calibration that depends on the
// shot.
func randomPrior(dim int) *Prior { return &Prior{Prior: modeltest.Prior(dim)} }

// sourceOf returns a plan and a source of random classes with a random prior.
func sourceOf(t testing.TB, classes, rows, dim int) (*Source, *Plan) {
	t.Helper()
	p, err := NewPlan(Standard)
	if err != nil {
		t.Fatal(err)
	}
	p.Ways, p.Shots, p.Queries, p.Tasks, p.ValTasks, p.Seed, p.Workers = []int{4}, []int{3}, 5, 8, 0, 2, 1
	sources, err := p.sources([]Domain{{Set: datasettest.Gaussians{Classes: classes, Rows: rows, Dim: dim}.Set("alpha"), Prior: randomPrior(dim)}})
	if err != nil {
		t.Fatal(err)
	}
	return sources[0], p
}

// byClass makes the prior of a source one under which each class has a scale matrix of
// its own, with a population for each kind of inference.
func byClass(s *Source) {
	fb := s.Prior.Session.FB
	plugIn := *fb
	plugIn.LogT[0] += 0.2
	s.Prior.Session = model.Session{Near: 0.1, Centre: 1.5, FB: fb, MAP: &plugIn}
}

// workerOf returns a worker with the scorer of one method.
func workerOf(t testing.TB, p *Plan, s *Source, method string) *worker {
	t.Helper()
	var err error
	if p.Methods, err = Choose(Methods(), method); err != nil {
		t.Fatal(err)
	}
	workers, err := p.prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	return workers[0]
}

// The evaluation whitens a data set once. The oracle is the classifier that the page
// uses, with the prior as it is, taught one example at a time.
func TestEvaluationAgreesWithTheClassifier(t *testing.T) {
	for _, shots := range []int{12, 5} { // classes of more rows than dimensions among them
		s, p := sourceOf(t, 24, 20, 9)
		pool, err := s.Pool("test")
		if err != nil {
			t.Fatal(err)
		}
		config := episode.Config{Way: episode.Exactly(4), Shot: episode.Range{Min: 1, Max: shots}, Query: episode.Exactly(3), Imbalanced: true, UnknownClasses: 2}
		sampler, err := episode.NewUniform(pool, config, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.rows = s.Set.Rows([]int{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
		for _, c := range []struct {
			method string
			inf    niw.Inference
			pooled bool
		}{{"metaqda", niw.FB, false}, {"fb", niw.FB, false}, {"map", niw.MAP, false}, {"fb-lda", niw.FB, true}, {"map-lda", niw.MAP, true}} {
			options := s.Prior.Session.Options()
			if c.method != "metaqda" {
				byClass(s)
				options = s.Prior.Session.Own(c.inf)
			}
			options.Pooled, options.NonePrior = c.pooled, 0.5
			w := workerOf(t, p, s, c.method)
			for i := range 10 {
				e := sampler.Episode(i)
				if err := w.score(&e, i, func(int, *mat.Dense, []float64) {}); err != nil {
					t.Fatal(err)
				}
				compareWithClassifier(t, c.method, s, &e, w, options)
			}
		}
	}
}

func compareWithClassifier(t *testing.T, method string, s *Source, e *episode.Episode, w *worker, o qda.Options) {
	t.Helper()
	c, err := qda.New(s.Prior.NIW, o)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, s.Set.Dim)
	for j, rows := range e.Support {
		label := fmt.Sprint(j)
		if err := c.AddClass(label); err != nil {
			t.Fatal(err)
		}
		for _, i := range rows {
			if err := s.Prior.Transform.ApplyTo(x, s.Set.RowTo(x, i)); err != nil {
				t.Fatal(err)
			}
			if err := c.Add(label, x); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, got := make([]float64, e.Way()), make([]float64, e.Way())
	for k, i := range e.Query {
		if err := s.Prior.Transform.ApplyTo(x, s.Set.RowTo(x, i)); err != nil {
			t.Fatal(err)
		}
		none, err := c.ProbabilitiesTo(want, x)
		if err != nil {
			t.Fatal(err)
		}
		metrics.SoftmaxTo(got, w.scores.RawRowView(k), 1)
		for j := range got {
			if p := want[j] / (1 - none); math.Abs(got[j]-p) > 1e-7 {
				t.Fatalf("%s: query %d class %d: %v, the classifier says %v", method, k, j, got[j], p)
			}
		}
		if p := 1 / (1 + math.Exp(-w.none[k])); math.Abs(p-none) > 1e-8 {
			t.Fatalf("%s: query %d: none %v, the classifier says %v", method, k, p, none)
		}
	}
}

// Classes with fewer and with more rows than dimensions go different ways.
func TestIncrementalScoresAgreeWithTheClassifier(t *testing.T) {
	s, p := sourceOf(t, 24, 30, 8)
	byClass(s)
	p.Ways, p.Shots = []int{3}, []int{4}
	r, err := p.newIncrementalRun(s, p.Split, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.setRows(r.base, r.novel)
	for _, name := range []string{"fb", "map"} {
		scorer, ok := workerOf(t, p, s, name).scorers[0].(ClassScorer)
		if !ok {
			t.Fatalf("%s cannot add classes", name)
		}
		first, second := r.sessions[0][0], r.sessions[0][1]
		support := append(append([][]int{}, first.Support...), second.Support...)
		e := episode.Episode{Classes: make([]int, len(support)), Support: support, Query: r.allQueries()[:12], QueryLabel: make([]int, 12)}
		scores := mat.NewDense(len(e.Query), len(support), nil)
		if err := scorer.ClassScoresTo(scores, support, e.Query, 2); err != nil {
			t.Fatal(err)
		}
		inf, _ := niw.ParseInference(name)
		options := s.Prior.Session.Own(inf)
		plain := *options.Population
		plain.Hardness.SD = 0
		compareClosed(t, s, &e, scores, qda.Options{Inference: inf, Population: &plain})
	}
}

func compareClosed(t *testing.T, s *Source, e *episode.Episode, scores *mat.Dense, o qda.Options) {
	t.Helper()
	c, err := qda.New(s.Prior.NIW, o)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, s.Set.Dim)
	apply := func(i int) []float64 {
		if err := s.Prior.Transform.ApplyTo(x, s.Set.RowTo(x, i)); err != nil {
			t.Fatal(err)
		}
		return x
	}
	for j, rows := range e.Support {
		if err := c.AddClass(fmt.Sprint(j)); err != nil {
			t.Fatal(err)
		}
		for _, i := range rows {
			if err := c.Add(fmt.Sprint(j), apply(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, got := make([]float64, len(e.Support)), make([]float64, len(e.Support))
	for k, i := range e.Query {
		if _, err := c.ProbabilitiesTo(want, apply(i)); err != nil {
			t.Fatal(err)
		}
		metrics.SoftmaxTo(got, scores.RawRowView(k), 1)
		for j := range got {
			if math.Abs(got[j]-want[j]) > 1e-8 {
				t.Fatalf("query %d class %d: %v, the classifier says %v", k, j, got[j], want[j])
			}
		}
	}
}
