package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/lab/metrics"
	"metaqda/core/test"
)

// gaussianTask draws way classes of shot rows about random means, and queries.
func gaussianTask(seed uint64, way, shot, d int) (Task, *mat.Dense) {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := Task{Support: mat.NewDense(way*shot, d, nil), Way: way, Seed: seed}
	means := mat.NewDense(way, d, nil)
	means.Apply(func(_, _ int, _ float64) float64 { return 2 * rng.NormFloat64() }, means)
	for i := range way * shot {
		c := i % way
		t.Labels = append(t.Labels, c)
		for j := range d {
			t.Support.Set(i, j, means.At(c, j)+rng.NormFloat64())
		}
	}
	queries := mat.NewDense(4*way, d, nil)
	queries.Apply(func(i, j int, _ float64) float64 { return means.At(i%way, j) + rng.NormFloat64() }, queries)
	return t, queries
}

func scoresOf(t *testing.T, c Classifier, task Task, queries *mat.Dense) *mat.Dense {
	t.Helper()
	test.OK(t, c.Fit(task))
	q, _ := queries.Dims()
	dst := mat.NewDense(q, task.Way, nil)
	c.ScoresTo(dst, queries)
	return dst
}

func unitRows(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	y := mat.DenseCopyOf(x)
	for i := range n {
		row := y.RawRowView(i)
		norm := length(row)
		for j := range row {
			row[j] /= norm
		}
	}
	return y
}

// All methods but those marked Full must give the same answers from the coordinates of the span as
// from the features.
func TestSpanKeepsEveryAnswer(t *testing.T) {
	for _, m := range Methods() {
		if m.Full {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			for seed, shape := range map[uint64][3]int{1: {3, 4, 30}, 2: {4, 6, 5}, 3: {5, 1, 40}} {
				task, queries := gaussianTask(seed, shape[0], shape[1], shape[2])
				task.Support, queries = unitRows(task.Support), unitRows(queries)
				want := scoresOf(t, m.New(), task, queries)
				span := NewSpan(task.Support)
				task.Support = span.Coords
				got := scoresOf(t, m.New(), task, span.Project(queries))
				compareProbabilities(t, got, want)
			}
		})
	}
}

func compareProbabilities(t *testing.T, got, want *mat.Dense) {
	t.Helper()
	n, way := want.Dims()
	p, q := make([]float64, way), make([]float64, way)
	for i := range n {
		metrics.SoftmaxTo(p, got.RawRowView(i), 1)
		metrics.SoftmaxTo(q, want.RawRowView(i), 1)
		for c := range p {
			if !(math.Abs(p[c]-q[c]) <= 1e-4) {
				t.Errorf("query %d class %d: probability %v, want %v", i, c, p[c], q[c])
			}
		}
	}
}

func TestSpanKeepsInnerProducts(t *testing.T) {
	task, queries := gaussianTask(7, 3, 3, 20)
	// A repeated row and a sum of others add no dimension.
	task.Support.SetRow(8, task.Support.RawRowView(0))
	sum := mat.NewVecDense(20, nil)
	sum.AddVec(task.Support.RowView(1), task.Support.RowView(2))
	task.Support.SetRow(7, sum.RawVector().Data)
	s := NewSpan(task.Support)
	_, r := s.Coords.Dims()
	if r != 7 {
		t.Errorf("rank %d, want 7", r)
	}
	var want, got mat.Dense
	want.Mul(queries, task.Support.T())
	got.Mul(s.Project(queries), s.Coords.T())
	if !mat.EqualApprox(&got, &want, 1e-10) {
		t.Error("inner products of queries and support are not kept")
	}
	want.Reset()
	got.Reset()
	want.Mul(task.Support, task.Support.T())
	got.Mul(s.Coords, s.Coords.T())
	if !mat.EqualApprox(&got, &want, 1e-10) {
		t.Error("inner products within the support are not kept")
	}
}

func TestSpanOfZeros(t *testing.T) {
	s := NewSpan(mat.NewDense(4, 6, nil))
	got := s.Project(mat.NewDense(2, 6, []float64{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0}))
	if mat.Norm(got, 1) != 0 {
		t.Errorf("coordinates %v in the span of nothing", got.RawMatrix().Data)
	}
}

func TestCentroidByHand(t *testing.T) {
	task := Task{Support: mat.NewDense(3, 2, []float64{0, 0, 2, 0, 0, 3}), Labels: []int{0, 0, 1}, Way: 2}
	got := scoresOf(t, &Centroid{}, task, mat.NewDense(1, 2, []float64{1, 1}))
	if got.At(0, 0) != -1 || got.At(0, 1) != -5 {
		t.Errorf("scores %v, want -1 and -5", got.RawMatrix().Data)
	}
}

// The oracle is gonum's covariance and multivariate normal density.
func TestDiscriminantAgreesWithNormalDensities(t *testing.T) {
	const way, shot, d = 3, 8, 4
	task, queries := gaussianTask(3, way, shot, d)
	covariance := func(labels func(c int) bool) *mat.SymDense {
		pooled := mat.NewSymDense(d, nil)
		n := 0
		for c := range way {
			if !labels(c) {
				continue
			}
			rows := classRows(task, c)
			var s mat.SymDense
			stat.CovarianceMatrix(&s, rows, nil)
			k, _ := rows.Dims()
			s.ScaleSym(float64(k-1), &s)
			pooled.AddSym(pooled, &s)
			n += k
		}
		pooled.ScaleSym(1/float64(n), pooled)
		return pooled
	}
	for _, pooled := range []bool{false, true} {
		got := scoresOf(t, &Discriminant{Pooled: pooled}, task, queries)
		for i := range 4 * way {
			base := math.NaN()
			for c := range way {
				s := covariance(func(o int) bool { return pooled || o == c })
				mean := make([]float64, d)
				for j := range mean {
					mean[j] = stat.Mean(mat.Col(nil, j, classRows(task, c)), nil)
				}
				normal, ok := distmv.NewNormal(mean, s, nil)
				if !ok {
					t.Fatal("oracle failed")
				}
				difference := got.At(i, c) - normal.LogProb(queries.RawRowView(i))
				if c == 0 {
					base = difference // the constant that is left out
				}
				if !(math.Abs(difference-base) <= 1e-4*(1+math.Abs(got.At(i, c)))) {
					t.Errorf("pooled %v query %d class %d: off by %v", pooled, i, c, difference-base)
				}
			}
		}
	}
}

func classRows(t Task, c int) *mat.Dense {
	var data []float64
	n := 0
	for i, y := range t.Labels {
		if y == c {
			data = append(data, t.Support.RawRowView(i)...)
			n++
		}
	}
	return mat.NewDense(n, len(data)/n, data)
}

func TestDiscriminantWithOneRowIsNearestCentroid(t *testing.T) {
	task, queries := gaussianTask(4, 5, 1, 12)
	want := scoresOf(t, &Centroid{}, task, queries)
	for _, pooled := range []bool{false, true} {
		got := scoresOf(t, &Discriminant{Pooled: pooled}, task, queries)
		for i := range 20 {
			if metrics.Best(got.RawRowView(i)) != metrics.Best(want.RawRowView(i)) {
				t.Errorf("pooled %v: query %d goes to another class than the nearest centroid", pooled, i)
			}
		}
	}
}

func TestDiscriminantOfEqualRowsIsDefined(t *testing.T) {
	task := Task{Support: mat.NewDense(4, 2, []float64{1, 1, 1, 1, 1, 1, 1, 1}), Labels: []int{0, 0, 1, 1}, Way: 2}
	got := scoresOf(t, &Discriminant{}, task, mat.NewDense(1, 2, []float64{0, 3}))
	if got.At(0, 0) != got.At(0, 1) || math.IsNaN(got.At(0, 0)) {
		t.Errorf("scores %v, want equal numbers", got.RawMatrix().Data)
	}
}

func checkGradient(t *testing.T, name string, loss func(grad, x []float64) float64, x []float64) {
	t.Helper()
	got := make([]float64, len(x))
	loss(got, x)
	scratch := make([]float64, len(x))
	want := fd.Gradient(nil, func(x []float64) float64 { return loss(scratch, x) }, x, &fd.Settings{Formula: fd.Central})
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-6*(1+math.Abs(want[i]))) {
			t.Errorf("%s: derivative %d is %v, by differences %v", name, i, got[i], want[i])
		}
	}
}

func TestGradientsByFiniteDifferences(t *testing.T) {
	task, _ := gaussianTask(5, 3, 4, 6)
	rng := rand.New(rand.NewPCG(5, 5))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	o := newLogisticLoss(task, 0.3)
	checkGradient(t, "logistic", o.loss, random(3*7))

	cosine := &Cosine{way: 3}
	task.Support = unitRows(task.Support)
	checkGradient(t, "cosine", func(grad, x []float64) float64 {
		cosine.w = mat.NewDense(3, 6, x)
		return cosine.loss(mat.NewDense(3, 6, grad), task)
	}, random(18))

	dense := &Dense{d: 6, way: 3}
	checkGradient(t, "dense", func(grad, x []float64) float64 {
		dense.params = x
		return dense.loss(grad, task, []int{0, 1, 2, 5, 7})
	}, random(6*denseHidden+denseHidden+3*denseHidden))
}

// With one row at +1 and one at -1 the optimum is b = 0 and W = (w, -w). There w solves w = 2 C
// sigmoid(-2 w): the derivative of log(1+exp(-2w)) twice.
func TestLogisticSolvesTheScalarProblem(t *testing.T) {
	task := Task{Support: mat.NewDense(2, 1, []float64{1, -1}), Labels: []int{0, 1}, Way: 2}
	for _, c := range []float64{0.1, 1, 50} {
		m := &Logistic{C: c}
		got := scoresOf(t, m, task, mat.NewDense(1, 1, []float64{1}))
		lo, hi := 0.0, 2*c
		for range 200 {
			w := (lo + hi) / 2
			if w < 2*c/(1+math.Exp(2*w)) {
				lo = w
			} else {
				hi = w
			}
		}
		if math.Abs(got.At(0, 0)-lo) > 1e-5 || math.Abs(got.At(0, 1)+lo) > 1e-5 {
			t.Errorf("C = %v: scores %v, want +-%v", c, got.RawMatrix().Data, lo)
		}
	}
}

func TestLogisticStopsWhereTheGradientVanishes(t *testing.T) {
	task, _ := gaussianTask(6, 5, 5, 25)
	m := &Logistic{}
	test.OK(t, m.Fit(task))
	x := append(append([]float64{}, m.w.RawMatrix().Data...), m.b...)
	grad := make([]float64, len(x))
	newLogisticLoss(task, m.penalty()).loss(grad, x)
	g := length(grad)
	if g > 1e-4 {
		t.Errorf("gradient of length %v at the optimum", g)
	}
}

// Votes are counted; among equal ones the class of the nearest row wins, or the first as
// TensorFlow.js has it.
func TestNeighboursVotes(t *testing.T) {
	task := Task{Support: mat.NewDense(6, 1, []float64{0, 1, 10, 11, 12, 2.5}), Labels: []int{1, 1, 0, 0, 0, 2}, Way: 3}
	got := scoresOf(t, &Neighbours{K: 3}, task, mat.NewDense(1, 1, []float64{0.4}))
	for c, want := range []float64{math.Log(1e-12), math.Log(2.0 / 3), math.Log(1.0 / 3)} {
		if !(math.Abs(got.At(0, c)-want) <= 1e-12) {
			t.Errorf("class %d: %v, want %v", c, got.At(0, c), want)
		}
	}
	equal := Task{Support: mat.NewDense(4, 1, []float64{3, 9, 1, -9}), Labels: []int{0, 0, 1, 1}, Way: 2}
	for atMostShot, want := range map[bool]int{true: 1, false: 0} {
		got := metrics.Best(scoresOf(t, &Neighbours{K: 2, AtMostShot: atMostShot}, equal, mat.NewDense(1, 1, []float64{0})).RawRowView(0))
		if got != want {
			t.Errorf("nearest wins %v: class %d, want %d", atMostShot, got, want)
		}
	}
	const n = 160 // rows, of which the tie is broken with the smallest numbers
	rows, labels := mat.NewDense(n, 1, nil), make([]int, n)
	for i := range n {
		rows.Set(i, 0, float64(i))
		labels[i] = i % 2
	}
	far := Task{Support: rows, Labels: labels, Way: 2}
	for c, got := range scoresOf(t, &Neighbours{K: n / 2, AtMostShot: true}, far, mat.NewDense(1, 1, []float64{0})).RawRowView(0) {
		if !(math.Abs(got-math.Log(0.5)) <= 1e-6) {
			t.Errorf("%d votes of %d for class %d are %v, want ln ½", n/4, n/2, c, got)
		}
	}
}

// Every method must learn easy tasks: well separated classes.
func TestMethodsSeparateWhatIsSeparate(t *testing.T) {
	task, queries := gaussianTask(8, 4, 5, 40)
	for _, m := range Methods() {
		if m.Name == "knn-tfjs" {
			continue
		}
		support, q := task, queries
		if m.Name == "cosine" {
			support.Support, q = unitRows(task.Support), unitRows(queries)
		}
		scores := scoresOf(t, m.New(), support, q)
		for i := range 16 {
			if metrics.Best(scores.RawRowView(i)) != i%4 {
				t.Errorf("%s: query %d of class %d goes to %d", m.Name, i, i%4, metrics.Best(scores.RawRowView(i)))
			}
		}
	}
}

func TestDenseIsRepeatable(t *testing.T) {
	task, queries := gaussianTask(9, 3, 3, 10)
	a, b := scoresOf(t, &Dense{}, task, queries), scoresOf(t, &Dense{}, task, queries)
	if !mat.Equal(a, b) {
		t.Error("the same seed trained two heads")
	}
	task.Seed++
	if mat.Equal(a, scoresOf(t, &Dense{}, task, queries)) {
		t.Error("another seed trained the same head")
	}
}

// No neighbours give no votes: that is a programmer's mistake, not NaN.
func TestNeighboursAreWanted(t *testing.T) {
	task, _ := gaussianTask(1, 3, 2, 4)
	for _, m := range []interface{ Fit(Task) error }{&Neighbours{}, &Propagation{}, &Laplacian{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T fits without a number of neighbours", m)
				}
			}()
			_ = m.Fit(task)
		}()
	}
}
