package lda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/session"
	"metaqda/core/test"
)

// with fills in what options must have.
func with(o Options) Options {
	if o.Shared == 0 {
		o.Shared, o.Kappa = 0.6, 3
	}
	return o
}

var variants = map[string]Options{
	"session": {Shared: 0.6, Kappa: 3, Centre: 1.2, Spread: 0.5, NonePrior: 0.2, Population: somePopulation()},
	"parts":   {Shared: 0.6, Kappa: 3, Centre: 1.2, NonePrior: 0.2, Population: somePopulation(), Parts: &Parts{First: 2, Odds: -1}},
	"bayes":   {Shared: 1, Kappa: 1, NonePrior: 0.2},
}

// somePopulation has every coefficient away from where it would do nothing.
func somePopulation() *session.Population {
	return &session.Population{
		LogT: 1, LeftOut: 0.3, LogTemperature: session.LogTemperature{SD: 0.5, Weight: 0.6, Alone: [2]float64{0.3, 0.1}},
		CohortMean: session.CohortMean{Mean: [2]float64{0.5, 0.2}, SD: 0.7, Count: 3}, CohortDeviation: session.CohortDeviation{SD: 2, Count: 1.5},
		Known: session.Known{Threshold: session.Normal{Mean: 0.4, SD: 0.6}, ByShots: 0.3, Slope: session.Normal{Mean: 0.3, SD: 0.4}, Weight: 0.3, UnknownWeight: 0.2},
	}
}

// teach returns a classifier with the given shots per class, class j lying
// around j/2 in every coordinate.
func teach(t testing.TB, p *niw.Prior, o Options, shots []int) (*Classifier, [][][]float64) {
	t.Helper()
	c := test.Must(New(p, with(o)))(t)
	rng := rand.New(rand.NewPCG(42, uint64(p.Dim())))
	examples := make([][][]float64, len(shots))
	for j, k := range shots {
		label := fmt.Sprint("c", j)
		test.OK(t, c.AddClass(label))
		for range k {
			x := niwtest.Vector(rng, p.Dim(), float64(j)/2)
			examples[j] = append(examples[j], x)
			test.OK(t, c.Add(label, x))
		}
	}
	return c, examples
}

// ask returns the probabilities with that of none of these appended.
func ask(t testing.TB, c *Classifier, x []float64) []float64 {
	t.Helper()
	p := make([]float64, len(c.classes), len(c.classes)+1)
	none := test.Must(c.ProbabilitiesTo(p, x))(t)
	p = append(p, none)
	var sum float64
	for _, v := range p {
		if !(v >= 0 && v <= 1) {
			t.Fatalf("probability %v", v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-12) {
		t.Fatalf("probabilities sum to %v", sum)
	}
	return p
}

func same(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] && !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: [%d] is %.15g, want %.15g", what, i, got[i], want[i])
		}
	}
}

// scene is a number of classes of raw pictures.
type scene [][][]float64

// randomScene draws classes about a point far from the prior mean, of which
// some pictures are frames of a burst.
func randomScene(rng *rand.Rand, d int, shots ...int) scene {
	s := make(scene, len(shots))
	middle := niwtest.Vector(rng, d, 2)
	for j, k := range shots {
		centre := niwtest.Vector(rng, d, 0)
		floats.Add(centre, middle)
		for i := range k {
			x := niwtest.Vector(rng, d, 0)
			floats.Add(x, centre)
			if i > 0 && i%3 == 0 {
				x = slices.Clone(s[j][i-1])
				x[0] += 0.01
			}
			s[j] = append(s[j], x)
		}
	}
	return s
}

func (s scene) teach(t testing.TB, p *niw.Prior, o Options) *Classifier {
	t.Helper()
	c := test.Must(New(p, with(o)))(t)
	for j, pictures := range s {
		test.OK(t, c.AddClass(fmt.Sprint("c", j)))
		for _, x := range pictures {
			test.OK(t, c.Add(fmt.Sprint("c", j), x))
		}
	}
	return c
}

// everything that a classifier says about x.
func everything(t testing.TB, c *Classifier, x []float64) []float64 {
	t.Helper()
	e := make([]float64, len(c.taught))
	test.OK(t, c.ScoresTo(e, x))
	return append(ask(t, c, x), e...)
}

func priors(t testing.TB, rng *rand.Rand) map[string]*niw.Prior {
	return map[string]*niw.Prior{"d=1": niwtest.Prior(rng, 1), "d=3": niwtest.Prior(rng, 3), "d=30": niwtest.Prior(rng, 30), "spiked": niwtest.Spiked(t, rng, 20, 4), "spiked d=4": niwtest.Spiked(t, rng, 4, 2)}
}

var sessions = map[string][]int{
	"one picture": {1}, "one class": {7}, "one each": {1, 1, 1}, "uneven": {3, 5, 2, 0, 1}, "long": {0, 14, 2, 11},
	"many classes": {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
}

// BenchmarkShared times a prediction, the first one after an example more, and making
// the covariance anew: go test -run=^$ -bench=Shared ./core/lda
func BenchmarkShared(b *testing.B) {
	const d = 1280
	for _, size := range []struct{ way, shot int }{{5, 5}, {100, 5}, {1000, 5}, {1, 1000}, {1000, 1}} {
		rng := rand.New(rand.NewPCG(1, 1))
		c := test.Must(New(niw.HandCrafted(d, 1), Options{Shared: 3. / d, Kappa: 5, Centre: 1.67, NonePrior: 0.2, Population: somePopulation()}))(b)
		for j := range size.way {
			label := fmt.Sprint(j)
			test.OK(b, c.AddClass(label))
			x := mat.NewDense(size.shot, d, nil)
			x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
			test.OK(b, c.AddRows(label, x))
		}
		query, p := niwtest.Vector(rng, d, 1), make([]float64, size.way)
		ask := func() {
			test.Must(c.ProbabilitiesTo(p, query))(b)
		}
		name := fmt.Sprintf("%dx%d", size.way, size.shot)
		b.Run(name+"/build", func(b *testing.B) {
			for b.Loop() {
				c.shared.cov.build(c.taught, size.way*size.shot-size.way >= d, always)
			}
		})
		ask()
		b.Run(name+"/predict", func(b *testing.B) {
			for b.Loop() {
				ask()
			}
		})
		b.Run(name+"/add", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				test.OK(b, c.Add(fmt.Sprint(i%size.way), query))
				ask()
				b.StopTimer()
				test.OK(b, c.Remove(fmt.Sprint(i%size.way), size.shot))
				ask()
				b.StartTimer()
			}
		})
		b.Run(name+"/remove", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				test.OK(b, c.Add(fmt.Sprint(i%size.way), query))
				ask()
				b.StartTimer()
				test.OK(b, c.Remove(fmt.Sprint(i%size.way), size.shot/2))
				ask()
			}
		})
	}
}
