package experiment

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/discriminant"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metrics"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/model/modeltest"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// randomPrior has no special values.
func randomPrior(dim int) *Prior { return &Prior{Prior: modeltest.Prior(dim)} }

// sourceOf returns a plan and a source of random classes with a random prior.
func sourceOf(t testing.TB, classes, rows, dim int) (*Source, *Plan) {
	t.Helper()
	p := test.Must(NewPlan(Standard))(t)
	p.Ways, p.Shots, p.Queries, p.Tasks, p.ValTasks, p.Seed, p.Workers = []int{4}, []int{3}, 5, 8, 0, 2, 1
	sources := test.Must(p.sources([]Domain{{Set: datasettest.Gaussians{Classes: classes, Rows: rows, Dim: dim}.Set("alpha"), Prior: randomPrior(dim)}}))(t)
	return sources[0], p
}

// workerOf returns a worker with the scorer of one method.
func workerOf(t testing.TB, p *Plan, s *Source, method string) *worker {
	t.Helper()
	var err error
	p.Methods, err = Choose(Methods(), method)
	test.OK(t, err)
	workers := test.Must(p.prepare(s))(t)
	return workers[0]
}

// The evaluation whitens a data set once. The oracle is the classifier that the page
// uses, with the prior as it is, taught one example at a time.
func TestEvaluationAgreesWithTheClassifier(t *testing.T) {
	for _, shots := range []int{12, 5} { // classes of more rows than dimensions among them
		s, p := sourceOf(t, 24, 20, 9)
		pool := test.Must(s.Pool("test"))(t)
		config := episode.Config{Way: episode.Exactly(4), Shot: episode.Range{Min: 1, Max: shots}, Query: episode.Exactly(3), Imbalanced: true, UnknownClasses: 2}
		sampler := test.Must(episode.NewUniform(pool, config, 1))(t)
		s.rows = s.Set.Rows([]int{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
		options := s.Prior.Session.Options()
		options.NonePrior = 0.5
		w := workerOf(t, p, s, "metaqda")
		for i := range 10 {
			e := sampler.Episode(i)
			test.OK(t, w.score(&e, i, func(int, *mat.Dense, []float64) {}))
			compareWithClassifier(t, "metaqda", s, &e, w, options)
		}
	}
}

func compareWithClassifier(t *testing.T, method string, s *Source, e *episode.Episode, w *worker, o lda.Options) {
	t.Helper()
	c := test.Must(lda.New(s.Prior.NIW, o))(t)
	x := make([]float64, s.Set.Dim)
	for j, rows := range e.Support {
		label := fmt.Sprint(j)
		test.OK(t, c.AddClass(label))
		for _, i := range rows {
			test.OK(t, s.Prior.Transform.ApplyTo(x, s.Set.RowTo(x, i)))
			test.OK(t, c.Add(label, x))
		}
	}
	want, got := make([]float64, e.Way()), make([]float64, e.Way())
	for k, i := range e.Query {
		test.OK(t, s.Prior.Transform.ApplyTo(x, s.Set.RowTo(x, i)))
		none := test.Must(c.ProbabilitiesTo(want, x))(t)
		metrics.SoftmaxTo(got, w.scores.RawRowView(k), 1)
		for j := range got {
			p := want[j] / (1 - none)
			if math.Abs(got[j]-p) > 1e-7 {
				t.Fatalf("%s: query %d class %d: %v, the classifier says %v", method, k, j, got[j], p)
			}
		}
		p := 1 / (1 + math.Exp(-w.none[k]))
		if math.Abs(p-none) > 1e-8 {
			t.Fatalf("%s: query %d: none %v, the classifier says %v", method, k, p, none)
		}
	}
}

// The oracle is Bayes' rule over the paper's densities. The rows were not whitened for a data set;
// they are single rows or the means of bursts.
func TestEvaluationAgreesWithThePapersDensities(t *testing.T) {
	s, p := sourceOf(t, 24, 20, 9)
	pool, err := s.Pool("test")
	test.OK(t, err)
	s.rows = s.Set.Rows([]int{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
	config := episode.Config{Way: episode.Exactly(4), Shot: episode.Range{Min: 1, Max: 12}, Query: episode.Exactly(3), Imbalanced: true}
	sampler := test.Must(episode.NewUniform(pool, config, 1))(t)
	s.Prior.Session.Near = 0.8
	white := func(row int) []float64 {
		x := make([]float64, s.Set.Dim)
		test.OK(t, s.Prior.Transform.ApplyTo(x, s.Set.RowTo(x, row)))
		s.Prior.NIW.WhitenTo(x, x)
		return x
	}
	for _, c := range []struct {
		method string
		inf    niw.Inference
		pooled bool
	}{{"fb", niw.FB, false}, {"map", niw.MAP, false}, {"fb-lda", niw.FB, true}, {"map-lda", niw.MAP, true}} {
		s.Prior.NIW, s.spaces = modeltest.Prior(9).NIW, nil
		w := workerOf(t, p, s, c.method)
		for i := range 10 {
			if i == 5 { // queries far from all classes
				s.Prior.NIW.L.ScaleTri(0.02, s.Prior.NIW.L)
				s.spaces = nil
				w = workerOf(t, p, s, c.method)
			}
			e := sampler.Episode(i)
			test.OK(t, w.score(&e, i, func(int, *mat.Dense, []float64) {}))
			var classes []*mat.Dense
			for _, rows := range e.Support {
				x := mat.NewDense(len(rows), s.Set.Dim, nil)
				for k, row := range rows {
					x.SetRow(k, white(row))
				}
				classes = append(classes, x)
			}
			classes = test.Must(lda.BurstMeans(classes, lda.Options{Near: s.Prior.Session.Near}))(t)
			oracle := discriminant.New(s.Prior.NIW, c.inf, c.pooled, classes)
			want, got := make([]float64, 4), make([]float64, 4)
			for k, row := range e.Query {
				none := oracle.LogDensitiesTo(want, white(row))
				known := floats.LogSumExp(want) - math.Log(4)
				if math.Abs(w.none[k]-(none-known)) > 1e-7*math.Max(1, math.Abs(none-known)) {
					t.Fatalf("%s: query %d: log odds of none %v, want %v", c.method, k, w.none[k], none-known)
				}
				metrics.SoftmaxTo(want, want, 1)
				metrics.SoftmaxTo(got, w.scores.RawRowView(k), 1)
				for j := range got {
					if math.Abs(got[j]-want[j]) > 1e-7 {
						t.Fatalf("%s: query %d class %d: %v, want %v", c.method, k, j, got[j], want[j])
					}
				}
			}
		}
	}
}

// The balance of base and new classes is fitted on no row that is tested.
func TestBalanceIsFittedOnOtherRows(t *testing.T) {
	s, p := sourceOf(t, 24, 30, 8)
	p.Ways, p.Shots, p.ValTasks = []int{3}, []int{4}, 1
	r := test.Must(p.newIncrementalRun(s, test.Must(s.Pool("train"))(t), p.Split, 2))(t)
	val := p.validationRun(r)
	if len(val.queries) == 0 || len(val.base.Rows) != len(r.base.Rows) {
		t.Fatalf("%d validation queries of %d base classes", len(val.queries), len(val.base.Rows))
	}
	for _, sessions := range val.sessions {
		for _, session := range sessions {
			for _, row := range slices.Concat(slices.Concat(session.Support...), slices.Concat(session.Query...)) {
				if _, tested := r.at[row]; tested {
					t.Fatalf("row %d is tested, and the balance is fitted on it", row)
				}
			}
		}
	}
}

// spy notes which rows the base classes are taught.
type spy struct {
	ClassScorer
	way  int
	base [][][]int
}

func (s *spy) ClassScoresTo(dst *mat.Dense, support [][]int, queries []int, workers int) error {
	if len(support) > s.way {
		s.base = append(s.base, support)
	}
	return s.ClassScorer.ClassScoresTo(dst, support, queries, workers)
}

// The base classes are tested with the rows that the balance is fitted with: a density depends on how
// many rows its class has.
func TestBalanceIsOfTheTestedDensities(t *testing.T) {
	s, p := sourceOf(t, 24, 30, 8)
	p.Ways, p.Shots, p.ValTasks = []int{3}, []int{4}, 1
	r := test.Must(p.newIncrementalRun(s, test.Must(s.Pool("train"))(t), p.Split, 2))(t)
	val := p.validationRun(r)
	s.setRows(r.base, r.novel, val.novel)
	spied := &spy{ClassScorer: workerOf(t, p, s, "ncc-cl2n").scorers[0].(ClassScorer), way: 3}
	test.Must(r.method(t.Context(), Method{Name: "spied", Prepare: func(*Source, *Plan) (func() Scorer, error) { return func() Scorer { return spied }, nil }}, val))(t)
	if len(spied.base) != 2 || !slices.EqualFunc(spied.base[0], spied.base[1], slices.Equal) {
		t.Errorf("the base classes are fitted with %d rows and tested with %d", len(spied.base[0][0]), len(spied.base[len(spied.base)-1][0]))
	}
}

// Classes that are added one session at a time score as all of them together.
func TestIncrementalScoresAreThoseOfTheTask(t *testing.T) {
	s, p := sourceOf(t, 24, 30, 8)
	s.Prior.Session = model.Session{}
	p.Ways, p.Shots = []int{3}, []int{4}
	r := test.Must(p.newIncrementalRun(s, test.Must(s.Pool("train"))(t), p.Split, 1))(t)
	s.setRows(r.base, r.novel)
	for _, name := range []string{"fb", "map"} {
		scorer, ok := workerOf(t, p, s, name).scorers[0].(ClassScorer)
		if !ok {
			t.Fatalf("%s cannot add classes", name)
		}
		first, second := r.sessions[0][0], r.sessions[0][1]
		support := append(append([][]int{}, first.Support...), second.Support...)
		queries := r.queries[:12]
		one, all := mat.NewDense(len(queries), len(support), nil), mat.NewDense(len(queries), len(support), nil)
		test.OK(t, scorer.ClassScoresTo(one, support, queries, 2))
		task := &Task{Episode: &episode.Episode{Classes: make([]int, len(support)), Support: support, Query: queries, QueryLabel: make([]int, 12)}}
		test.Must(scorer.ScoresTo(all, make([]float64, 12), task))(t)
		for i := range queries {
			a, b := one.RawRowView(i), all.RawRowView(i)
			metrics.SoftmaxTo(a, a, 1)
			metrics.SoftmaxTo(b, b, 1)
			if !floats.EqualApprox(a, b, 1e-8) {
				t.Fatalf("%s: query %d: %v one by one, %v together", name, i, a, b)
			}
		}
	}
}
