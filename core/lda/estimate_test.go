package lda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// scatter returns Σ_i (x_i-x̄)(x_i-x̄)ᵀ of whitened rows and their mean.
func scatter(p *niw.Prior, rows [][]float64) (*mat.SymDense, *mat.VecDense) {
	d := p.Dim()
	s, mean := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	var all []*mat.VecDense
	for _, x := range rows {
		z := make([]float64, d)
		p.WhitenTo(z, x)
		all = append(all, mat.NewVecDense(d, z))
		mean.AddScaledVec(mean, 1/float64(len(rows)), all[len(all)-1])
	}
	for _, z := range all {
		z.SubVec(z, mean)
		s.SymRankOne(s, 1, z)
	}
	return s, mean
}

// With matrices in full, the estimates are those of their definitions.
func TestEstimatesByDefinition(t *testing.T) {
	for _, shots := range [][]int{{2, 2}, {1, 3, 2}, {5, 1, 1, 4}, {7, 8, 9, 6}} {
		const d = 7
		o := Options{Shared: 0.6, Kappa: 3, Centre: 1.2, Spread: 0.5}
		_, x := teach(t, niw.HandCrafted(d, 1.3), o, shots)
		for _, row := range slices.Concat(x...) {
			for i := range row {
				row[i] *= math.Pow(0.6, float64(i)) // else w is at its bound
			}
		}
		c := scene(x).teach(t, niw.HandCrafted(d, 1.3), o)
		c.settle()
		var scatters []*mat.SymDense
		var means []*mat.VecDense
		all, freedom, w, share := mat.NewSymDense(d, nil), 0.0, 0.0, make([]float64, len(shots))
		total, squares := 0.0, 0.0
		for j, rows := range x {
			s, mean := scatter(c.prior, rows)
			all.AddSym(all, s)
			scatters, means = append(scatters, s), append(means, mean)
			n := float64(len(rows))
			freedom += n - 1
			share[j] = o.Kappa * n / (o.Kappa + n)
			total += share[j]
		}
		w = mat.Trace(all) / freedom
		centre, noise := mat.NewVecDense(d, nil), 0.0
		for j, mean := range means {
			share[j] /= total
			squares += share[j] * share[j]
			centre.AddScaledVec(centre, share[j], mean)
			noise += share[j] / float64(shots[j])
		}
		classes, between := 1/squares, 0.0
		for j, mean := range means {
			var apart mat.VecDense
			apart.SubVec(mean, centre)
			between += classes * share[j] * mat.Dot(&apart, &apart)
		}
		between = max(0, between-(classes-1)*w*noise)
		if want := w * (o.Spread + classes - 1) / (o.Spread*w/o.Kappa + between); math.Abs(c.shared.kappa-bounded(want, o.Kappa)) > 1e-9*want {
			t.Errorf("%v: kappa %v, want %v", shots, c.shared.kappa, want)
		}
		// The scatters of two classes are independent, each (K-1) times the covariance in the mean.
		product, pairs := 0.0, 0.0
		for a := range scatters {
			for b := range a {
				var m mat.Dense
				m.Mul(scatters[a], scatters[b])
				product += mat.Trace(&m)
				pairs += float64((shots[a] - 1) * (shots[b] - 1))
			}
		}
		fills := max(1, min(d, w*w*pairs/product))
		fresh := bounded((d-fills)/(w*(1+fills)), o.Shared)
		want := math.Pow(math.Pow(fresh, freedom)*math.Pow(o.Shared, o.Spread), 1/(freedom+o.Spread))
		if got := c.shared.cov.weight; math.Abs(2*math.Log2(got)-math.Round(2*math.Log2(want))) > 1e-9 {
			t.Errorf("%v: w %v, want %v rounded to a power of √2", shots, got, want)
		}
	}
}

// drawn returns rows of classes whose means have the variance 1/kappa about zero in each direction,
// where the rows have the given deviations about them.
func drawn(rng *rand.Rand, deviations []float64, kappa float64, way, shot int) scene {
	x := make(scene, way)
	for j := range x {
		mean := make([]float64, len(deviations))
		for i, s := range deviations {
			mean[i] = s * rng.NormFloat64() / math.Sqrt(kappa)
		}
		for range shot {
			row := make([]float64, len(deviations))
			for i, s := range deviations {
				row[i] = mean[i] + s*rng.NormFloat64()
			}
			x[j] = append(x[j], row)
		}
	}
	return x
}

// In sessions whose classes were drawn so, kappa is found, and w makes the error of the covariance
// nearly as small as the best w of many.
func TestEstimatesFindHowSessionsWereDrawn(t *testing.T) {
	o := Options{Shared: 1, Kappa: 3, Centre: 1, Spread: 1}
	flat, steep := make([]float64, 30), make([]float64, 30)
	for i := range flat {
		flat[i], steep[i] = 0.4, math.Pow(0.8, float64(i))
	}
	rng := rand.New(rand.NewPCG(3, 14))
	for _, s := range []struct {
		name       string
		deviations []float64
		kappa      float64
	}{{"flat, apart", flat, 0.5}, {"flat, near", flat, 12}, {"steep, apart", steep, 0.5}, {"steep, near", steep, 12}} {
		const sessions = 30
		found, weight := 0.0, 0.0
		errors := map[float64]float64{}
		for range sessions {
			c := drawn(rng, s.deviations, s.kappa, 8, 6).teach(t, niw.HandCrafted(30, 1), o)
			c.settle()
			found += math.Log(c.shared.kappa) / sessions
			weight += math.Log2(c.shared.cov.weight) / sessions
			errors[-1] += misfit(c, c.shared.cov.weight, s.deviations)
			for e := -4.0; e <= 4; e++ {
				errors[math.Exp2(e)] += misfit(c, math.Exp2(e), s.deviations)
			}
		}
		if !(math.Abs(found-math.Log(s.kappa)) < 0.4) {
			t.Errorf("%s: kappa %v in the mean, want %v", s.name, math.Exp(found), s.kappa)
		}
		best := math.Inf(1)
		for w, e := range errors {
			if w > 0 {
				best = min(best, e)
			}
		}
		if errors[-1] > 1.1*best {
			t.Errorf("%s: squared error %v with w = 2^%.1f, but %v with the best w", s.name, errors[-1], weight, best)
		}
	}
}

// misfit returns the squared error of the multiple of I + w scatter that fits the true covariance best,
// relative to the square of the truth.
func misfit(c *Classifier, w float64, deviations []float64) float64 {
	d := len(deviations)
	a := mat.NewSymDense(d, nil)
	for i := range d {
		a.SetSym(i, i, 1)
	}
	for _, k := range c.taught {
		mean, r := make([]float64, d), mat.NewVecDense(d, nil)
		k.meanTo(mean)
		for i := range k.count() {
			r.SubVec(mat.NewVecDense(d, k.row(i)), mat.NewVecDense(d, mean))
			a.SymRankOne(a, w, r)
		}
	}
	dot, own, truth := 0.0, 0.0, 0.0
	for i, s := range deviations {
		dot += a.At(i, i) * s * s
		truth += s * s * s * s
		for j := range d {
			own += a.At(i, j) * a.At(i, j)
		}
	}
	return 1 - dot*dot/own/truth
}

// Where the session says nothing, or the prior knows its scale, w and kappa are the options. They are
// never far from these.
func TestEstimatesWithoutEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	known, spread := Options{Shared: 0.6, Kappa: 3, Centre: 1.2}, Options{Shared: 0.6, Kappa: 3, Centre: 1.2, Spread: 1}
	one := niwtest.Vector(rng, 4, 0)
	far, beside := []float64{1e6, 2e6, 0, 3e6}, []float64{1e6, 2e6, 0.1, 3e6}
	for name, s := range map[string]struct {
		o Options
		x scene
	}{
		"a learned scale":   {known, drawn(rng, []float64{1, 1, 0, 0}, 1, 3, 5)},
		"single examples":   {spread, drawn(rng, []float64{1, 1, 1, 1}, 1, 3, 1)},
		"one class":         {spread, drawn(rng, []float64{1, 1, 1, 1}, 1, 1, 5)},
		"the same row":      {spread, scene{{one, one, one}, {one, one}}},
		"all but the same":  {spread, scene{{far, beside, far}, {beside, far}}},
		"repeated in class": {spread, scene{{one, one, one}, {niwtest.Vector(rng, 4, 0)}}},
	} {
		c := s.x.teach(t, niw.HandCrafted(4, 1), s.o)
		if c.settle(); c.shared.kappa != 3 || c.shared.cov.weight != 0.6 {
			t.Errorf("%s: w %v, kappa %v, want .6 and 3", name, c.shared.cov.weight, c.shared.kappa)
		}
	}
	for name, x := range map[string]scene{
		"apart":     {{{1e6, 0}, {1e6, 1e-3}}, {{0, 1e6}, {1e-3, 1e6}}},
		"identical": {{{1, 0}, {-1, 0}}, {{1, 0}, {-1, 0}}},
	} {
		c := x.teach(t, niw.HandCrafted(2, 1), spread)
		if c.settle(); !(c.shared.kappa >= 3./furthest && c.shared.kappa <= 3*furthest && c.shared.cov.weight > 0.5/furthest && c.shared.cov.weight < furthest) {
			t.Errorf("%s: w %v, kappa %v", name, c.shared.cov.weight, c.shared.kappa)
		}
	}
}

// Residuals of two classes that are orthogonal, as of texts without a common word, are evidence: w does
// not jump where they are nearly so.
func TestOrthogonalResidualsAreEvidence(t *testing.T) {
	weight := func(e float64) float64 {
		x := scene{
			{{1, 1, 0, e, 0, 0, 0, 0}, {1, 0, 1, 0, 0, 0, 0, 0}, {1, .5, .9, 0, 0, 0, 0, 0}},
			{{0, 0, 0, 0, 1, 1, 0, e}, {0, e, 0, 0, 1, 0, 1, 0}, {0, 0, 0, 0, 1, .3, .8, 0}},
		}
		c := x.teach(t, niw.HandCrafted(8, 1), Options{Shared: 1, Kappa: 3, Centre: 1.2, Spread: 1})
		c.settle()
		return c.shared.cov.weight
	}
	if at, near := weight(0), weight(1e-6); at != near {
		t.Errorf("w is %v for orthogonal residuals, %v for nearly orthogonal ones", at, near)
	}
}

// Frames of one thing that were not found as near-copies lie closer than its other pictures. So where
// near-copies are looked for, kappa is never below the option.
func TestKappaIsNotBelowTheOptionBesideNearCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	o := Options{Shared: 0.6, Kappa: 3, Centre: 1.2, Spread: 1}
	x := drawn(rng, []float64{1, 1, 1, 1, 1, 1}, 0.05, 4, 5)
	alone := x.teach(t, niw.HandCrafted(6, 1), o)
	o.Near = 1e-9
	beside := x.teach(t, niw.HandCrafted(6, 1), o)
	alone.settle()
	if beside.settle(); !(alone.shared.kappa < 1 && beside.shared.kappa == 3) {
		t.Errorf("kappa is %v, and %v where near-copies are looked for", alone.shared.kappa, beside.shared.kappa)
	}
}

// The squares of squared lengths may be too small for a number.
func TestTinyExamplesAreAnswered(t *testing.T) {
	for _, size := range []float64{1e-80, 1e-100, 1e-160} {
		rng := rand.New(rand.NewPCG(5, 5))
		c := test.Must(New(niw.HandCrafted(2, 1), variants["session"]))(t)
		for j := range 2 {
			test.OK(t, c.AddClass(fmt.Sprint(j)))
			for range 3 {
				test.OK(t, c.Add(fmt.Sprint(j), []float64{size * rng.NormFloat64(), size * (float64(j) + rng.NormFloat64())}))
			}
		}
		ask(t, c, []float64{size, size})
	}
}
