package qda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/niw"
)

// someBackground has n classes in r directions that are not orthogonal.
func someBackground(t testing.TB, d, r, n int) *Background {
	t.Helper()
	rng := rand.New(rand.NewPCG(61, uint64(d)))
	random := func(rows, columns int, scale float64) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		m.Apply(func(int, int, float64) float64 { return scale * rng.NormFloat64() }, m)
		return m
	}
	b, err := NewBackground(random(r, d, 1/math.Sqrt(float64(d))), random(n, r, 2), 1.7)
	must(t, err)
	return b
}

// backgroundByDefinition returns b of w = L⁻¹(x-m) by gonum's Student-t.
func backgroundByDefinition(t testing.TB, p *niw.Prior, b *Background, w []float64) float64 {
	t.Helper()
	d := p.Dim()
	density := func(mean []float64, kappa, nu float64) float64 {
		df := nu - float64(d) + 1
		sigma := mat.NewSymDense(d, nil)
		for i := range d {
			sigma.SetSym(i, i, (kappa+1)/(kappa*df))
		}
		s, ok := distmv.NewStudentsT(mean, sigma, df, nil)
		if !ok {
			t.Fatal("the oracle's scale matrix is not positive definite")
		}
		return s.LogProb(w)
	}
	prior := density(make([]float64, d), p.Kappa, p.Nu)
	factor := mat.DenseCopyOf(p.Dense().L)
	n, _ := b.Coordinates.Dims()
	var sum float64
	for k := range n {
		var mean, x mat.VecDense
		x.MulVec(b.Directions.T(), b.Coordinates.RowView(k))
		must(t, mean.SolveVec(factor, &x))
		mean.ScaleVec(5/(p.Kappa+5), &mean)
		sum += math.Exp((density(mean.RawVector().Data, p.Kappa+5, p.Nu+5) - prior) / b.Temperature)
	}
	return math.Log(sum / float64(n))
}

// whitenedBySolving returns L⁻¹(x-m) by gonum's general solver.
func whitenedBySolving(t testing.TB, p *niw.Prior, x []float64) []float64 {
	t.Helper()
	var y, w mat.VecDense
	y.SubVec(mat.NewVecDense(len(x), x), mat.NewVecDense(len(x), p.M))
	must(t, w.SolveVec(mat.DenseCopyOf(p.L), &y))
	return w.RawVector().Data
}

func TestBackgroundIsAMixtureOfStudents(t *testing.T) {
	const d = 7
	rng := rand.New(rand.NewPCG(62, 1))
	p, b := randomPrior(rng, d), someBackground(t, d, 3, 9)
	s := b.Under(p)
	for range 20 {
		w := randomVector(rng, d, 0.5)
		got := make([]float64, 1)
		s.ScoresTo(got, blas64.General{Rows: 1, Cols: d, Stride: d, Data: w})
		same(t, "score", got, []float64{backgroundByDefinition(t, p, b, w)}, 1e-12)
	}
}

func TestLogOnePlus(t *testing.T) {
	for x := 1e-9; x < 1e12; x *= 1.07 {
		if got, want := logOnePlus(x), math.Log1p(x); math.Abs(got-want) > 1e-12*want {
			t.Errorf("ln(1+%v) is %v, want %v", x, got, want)
		}
	}
	if got := logOnePlus(0); got != 0 {
		t.Errorf("ln 1 is %v", got)
	}
}

// A query that resembles the background more than another of the same evidence
// is the more likely a stranger where the weight says so; one half whitened
// scores as one whitened whole, and nothing is left behind by an example or by
// another background.
func TestBackgroundOfAClassifier(t *testing.T) {
	const d, r = 8, 3
	rng := rand.New(rand.NewPCG(63, 1))
	b := someBackground(t, d, 4, 6)
	cal := domainCalibration(0)
	for name, p := range map[string]*niw.Prior{"dense": randomPrior(rng, d), "spiked": spikedPrior(t, rng, d, r)} {
		for _, shots := range [][]int{{1}, {3}, {1, 1}, {3, 1, 2}, {2, 9}} {
			for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
				what := fmt.Sprint(name, shots, inf)
				o := Options{NonePrior: 0.3, Inference: inf, Calibration: cal, Background: b}
				c, examples := teach(t, p, o, shots)
				query := randomVector(rng, d, 0.3)
				got := ask(t, c, query)
				score := func(x []float64) float64 {
					return backgroundByDefinition(t, p, b, whitenedBySolving(t, p.Dense(), x))
				}
				var mean, n float64
				for _, rows := range examples {
					for _, x := range rows {
						mean, n = mean+score(x), n+1
					}
				}
				v := score(query) - mean/n
				o.Background = nil
				without, _ := teach(t, p, o, shots)
				want := ask(t, without, query)
				s := without.session
				logit := func(none float64) float64 { return math.Log(1-none) - math.Log(none) }
				known := cal.Known[s.Form]
				same(t, what, []float64{logit(got[len(shots)])},
					[]float64{logit(want[len(shots)]) + v*(known[6]+known[7]*s.logGap)}, 1e-8)

				must(t, c.Add("c0", query))
				ask(t, c, query)
				must(t, c.Remove("c0", shots[0]))
				if after := ask(t, c, query); !slices.Equal(got, after) {
					t.Errorf("%s: %v, after adding and removing %v", what, got, after)
				}
				must(t, c.SetOptions(o))
				same(t, what+", taken away", ask(t, c, query), want, 0)
				o.Background = b
				must(t, c.SetOptions(o))
				if after := ask(t, c, query); !slices.Equal(got, after) {
					t.Errorf("%s: %v, after taking it away and back %v", what, got, after)
				}
			}
		}
	}
}

func TestBackgroundErrorsNameTheTrouble(t *testing.T) {
	m := func(rows, columns int, v ...float64) *mat.Dense { return mat.NewDense(rows, columns, v) }
	v, c := m(1, 2, 1, 0), m(2, 1, 3, -1)
	for what, b := range map[string]struct {
		v, c *mat.Dense
		t    float64
	}{
		"no directions":              {nil, c, 1},
		"no classes":                 {v, nil, 1},
		"more directions than d":     {m(3, 2, 1, 0, 0, 1, 1, 1), m(1, 3, 1, 2, 3), 1},
		"coordinates of other rank":  {v, m(1, 2, 1, 2), 1},
		"too many classes":           {v, mat.NewDense(maxBackground+1, 1, nil), 1},
		"temperature of zero":        {v, c, 0},
		"temperature of NaN":         {v, c, math.NaN()},
		"direction of NaN":           {m(1, 2, math.NaN(), 0), c, 1},
		"direction without a bound":  {m(1, 2, 1e13, 0), c, 1},
		"coordinate that is inf":     {v, m(1, 1, math.Inf(1)), 1},
		"coordinate without a bound": {v, m(1, 1, -1e13), 1},
	} {
		_, err := NewBackground(b.v, b.c, b.t)
		var value *niw.ValueError
		var dimension *niw.DimensionError
		if !errors.As(err, &value) && !errors.As(err, &dimension) {
			t.Errorf("%s: %v", what, err)
		}
	}
	b, err := NewBackground(v, c, 1)
	must(t, err)
	var dimension *niw.DimensionError
	if _, err := New(niw.HandCrafted(3, 1), Options{Background: b}); !errors.As(err, &dimension) {
		t.Errorf("a background of another dimension: %v", err)
	}
}

func TestBackgroundDoesNotAllocate(t *testing.T) {
	const d = 8
	rng := rand.New(rand.NewPCG(64, 1))
	o := Options{NonePrior: 0.3, Calibration: domainCalibration(3), Domains: threeDomains(t, d), Background: someBackground(t, d, 4, 6)}
	c, examples := teach(t, spikedPrior(t, rng, d, 3), o, []int{2, 1, 3})
	probabilities := make([]float64, 3)
	predict := func() {
		if _, err := c.ProbabilitiesTo(probabilities, examples[0][0]); err != nil {
			t.Fatal(err)
		}
	}
	predict()
	if n := testing.AllocsPerRun(100, predict); n != 0 {
		t.Errorf("%v allocations per prediction", n)
	}
}

// Neither far points nor extreme files make NaN.
func TestBackgroundOfExtremes(t *testing.T) {
	for _, scale := range []float64{1e-12, 1, 1e12} {
		b, err := NewBackground(mat.NewDense(1, 2, []float64{scale, -scale}), mat.NewDense(2, 1, []float64{scale, 0}), 1e-3)
		must(t, err)
		o := Options{NonePrior: 0.3, Calibration: domainCalibration(0), Background: b}
		c, _ := teach(t, niw.HandCrafted(2, 1), o, []int{2, 1})
		for _, x := range [][]float64{{0, 0}, {1e-200, 0}, {1e50, -1e50}, {1e69, 1e69}} {
			var sum float64
			for _, p := range ask(t, c, x) {
				sum += p
			}
			if !(math.Abs(sum-1) < 1e-9) {
				t.Errorf("scale %g, query %v: the probabilities add up to %v", scale, x, sum)
			}
		}
	}
}
