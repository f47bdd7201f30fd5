package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/lab/metrics"
)

func randomFactor(seed uint64, d int) *mat.TriDense {
	rng := rand.New(rand.NewPCG(seed, 3))
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i := range d {
		for j := range i {
			l.SetTri(i, j, 0.2*rng.NormFloat64())
		}
		l.SetTri(i, i, 0.7+rng.Float64())
	}
	return l
}

// Without steps the scores are Gaussian log densities with the start as factor
// of every covariance.
func TestMAMLWithoutStepsIsGaussian(t *testing.T) {
	task, queries := gaussianTask(1, 3, 4, 5)
	start := randomFactor(1, 5)
	got := scoresOf(t, &MAMLQDA{Start: start}, task, queries)
	var sigma mat.SymDense
	sigma.SymOuterK(1, start)
	means, _ := task.means()
	for c := range 3 {
		normal, ok := distmv.NewNormal(means.RawRowView(c), &sigma, nil)
		if !ok {
			t.Fatal("oracle failed")
		}
		for i := range 12 {
			want := normal.LogProb(queries.RawRowView(i)) + 2.5*math.Log(2*math.Pi)
			if !(math.Abs(got.At(i, c)-want) <= 1e-9) {
				t.Errorf("query %d class %d: %v, want %v", i, c, got.At(i, c), want)
			}
		}
	}
}

// With first-order MAML and no inner step the gradient is exact.
func TestMAMLGradientByFiniteDifferences(t *testing.T) {
	const d = 4
	task, queries := gaussianTask(2, 3, 2, d)
	episode := Episode{Task: task, Queries: queries}
	for i := range 12 {
		episode.Answers = append(episode.Answers, i%3)
	}
	start := randomFactor(2, d)
	var lower [][2]int
	var x []float64
	for i := range d {
		for j := 0; j <= i; j++ {
			lower = append(lower, [2]int{i, j})
			x = append(x, start.At(i, j))
		}
	}
	checkGradient(t, "start", func(grad, x []float64) float64 {
		for k, ij := range lower {
			start.SetTri(ij[0], ij[1], x[k])
		}
		m := &MAMLQDA{Start: start}
		g := general(d, d)
		loss := m.loss(g, episode)
		for k, ij := range lower {
			grad[k] = g.Data[ij[0]*d+ij[1]]
		}
		return loss
	}, x)
}

// The steps must raise the likelihood of the support they climb.
func TestMAMLStepsRaiseTheLikelihood(t *testing.T) {
	task, _ := gaussianTask(3, 2, 6, 5)
	start := randomFactor(3, 5)
	likelihood := func(steps int) (sum float64) {
		scores := scoresOf(t, &MAMLQDA{Start: start, Steps: steps, Rate: 1e-2}, task, task.Support)
		for i, c := range task.Labels {
			sum += scores.At(i, c)
		}
		return sum
	}
	a, b, c := likelihood(0), likelihood(1), likelihood(20)
	if !(a < b && b < c) {
		t.Errorf("log likelihood %v after no step, %v after one, %v after 20", a, b, c)
	}
}

func TestTrainMAMLLowersTheLoss(t *testing.T) {
	const d = 6
	// Only the first coordinate tells classes apart; the others are noise.
	draw := func(i int) Episode {
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		draw := func(n int) (*mat.Dense, []int) {
			x, y := mat.NewDense(n, d, nil), make([]int, n)
			for r := range n {
				y[r] = r % 3
				for j := range d {
					x.Set(r, j, rng.NormFloat64())
				}
				x.Set(r, 0, 0.3*x.At(r, 0)+2*float64(y[r]))
			}
			return x, y
		}
		support, labels := draw(6)
		queries, answers := draw(30)
		return Episode{Task{Support: support, Labels: labels, Way: 3}, queries, answers}
	}
	loss := func(start *mat.TriDense) float64 {
		tally, p := metrics.NewTally(1), make([]float64, 3)
		for i := 1000; i < 1040; i++ {
			e := draw(i)
			m := &MAMLQDA{Start: start, Steps: MAMLSteps, Rate: MAMLRate}
			if err := m.Fit(e.Task); err != nil {
				return math.NaN()
			}
			scores := mat.NewDense(30, 3, nil)
			m.ScoresTo(scores, e.Queries)
			for i, y := range e.Answers {
				tally.Add(scores.RawRowView(i), y, 1, p)
			}
		}
		return tally.MeanLoss()
	}
	before, after := loss(TrainMAML(d, 0, draw)), loss(TrainMAML(d, 300, draw))
	if !(after < 0.8*before) {
		t.Errorf("loss %v before, %v after training", before, after)
	}
}
