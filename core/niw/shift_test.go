package niw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// shifted returns the rows of w less delta.
func shifted(w *mat.Dense, delta []float64) *mat.Dense {
	s := mat.DenseCopyOf(w)
	n, _ := s.Dims()
	for i := range n {
		floats.Sub(s.RawRowView(i), delta)
	}
	return s
}

// shiftBy makes m + L δ the prior mean of the group of the given rows of w.
func (g *Group) shiftBy(w *mat.Dense, rows []int, delta []float64) {
	cross := make([]float64, len(rows))
	for k, r := range rows {
		cross[k] = floats.Dot(w.RawRowView(r), delta)
	}
	g.Shift(cross, floats.Dot(delta, delta))
}

// deltas are prior means by name, of a class with the rows w.
func deltas(rng *rand.Rand, w *mat.Dense, k int) map[string][]float64 {
	_, d := w.Dims()
	random, centre := randomRows(rng, 1, d).RawRowView(0), make([]float64, d)
	for i := range k {
		floats.AddScaled(centre, 1/float64(k), w.RawRowView(i))
	}
	large := append([]float64(nil), random...)
	floats.Scale(300, large)
	return map[string][]float64{"zero": make([]float64, d), "random": random, "large": large, "class mean": centre, "first example": w.RawRowView(0)}
}

// What rounding leaves is relative to one and to what the density is made of.
func shiftTolerance(kind string, delta []float64) float64 {
	return math.Max(10*tolerance(kind), 1e-14*floats.Dot(delta, delta))
}

// The oracle is the group of the examples w_i - δ.
func TestShiftIsAGroupOfShiftedExamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 1))
	const d = 15
	for _, kind := range kinds {
		for _, kappa := range []float64{1e-2, 0.7, 1e3} {
			for _, n := range []int{0, 1, 2, 9, 40} {
				p, w := randomPrior(rng, d), some(rng, kind, n+2, d)
				p.Kappa = kappa
				all := sequence(n)
				for name, delta := range deltas(rng, w, n+1) {
					what := fmt.Sprint(kind, ", kappa ", kappa, ", K ", n, ", δ ", name)
					g := groupOf(p, w, all)
					g.shiftBy(w, all, delta)
					s := shifted(w, delta)
					compareShifted(t, what, g, groupOf(p, s, all), w, s, delta, shiftTolerance(kind, delta)*math.Max(1, 1e-2/kappa))
				}
			}
		}
	}
}

// compareShifted asks both groups about row n of w, which is none of theirs.
func compareShifted(t *testing.T, what string, got, want *Group, w, s *mat.Dense, delta []float64, tol float64) {
	t.Helper()
	n := want.Len()
	near(t, what+": log det", got.Posterior().LogDetS, want.Posterior().LogDetS, tol)
	cross, apart := crossOf(w, n, sequence(n+1)), crossOf(s, n, sequence(n+1))
	along := floats.Dot(w.RawRowView(n), delta)
	for _, inf := range []Inference{FB, MAP} {
		near(t, what+": "+inf.String(), got.LogProbShifted(inf, cross[n], cross[:n], along), want.LogProb(inf, apart[n], apart[:n]), tol)
		for i := 0; i < n; i += 1 + n/50 {
			near(t, fmt.Sprint(what, ": ", inf, " without ", i), got.LogProbWithout(inf, i), want.LogProbWithout(inf, i), tol)
		}
	}
}

func TestShiftOfALargeGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	const n, d = 300, 350
	p, w := randomPrior(rng, d), randomRows(rng, n+1, d)
	for i := range n + 1 {
		w.Set(i, 0, w.At(i, 0)+30) // as far from the prior mean as sessions are
	}
	g := groupOf(p, w, sequence(n))
	for name, delta := range deltas(rng, w, n) {
		g.shiftBy(w, sequence(n), delta)
		s := shifted(w, delta)
		tol := 1e-9
		if name == "large" { // |δ|² = 3e7
			tol = 1e-7
		}
		compareShifted(t, name, g, groupOf(p, s, sequence(n)), w, s, delta, tol)
	}
}

func TestShiftEndsWithAChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	const n, d = 6, 9
	p, w := randomPrior(rng, d), randomRows(rng, n+1, d)
	delta := randomRows(rng, 1, d).RawRowView(0)
	for name, c := range map[string]struct {
		change func(g *Group)
		rows   []int
	}{
		"append":  {func(g *Group) { g.Append(crossOf(w, n, sequence(n+1))) }, sequence(n + 1)},
		"remove":  {func(g *Group) { g.Remove(2) }, except(sequence(n), 2)},
		"replace": {func(g *Group) { g.Replace(2, crossOf(w, n, []int{0, 1, n, 3, 4, 5})) }, []int{0, 1, n, 3, 4, 5}},
		"insert":  {func(g *Group) { g.Insert(2, crossOf(w, n, []int{0, 1, n, 2, 3, 4, 5})) }, []int{0, 1, n, 2, 3, 4, 5}},
		"unshift": {func(g *Group) { g.Unshift() }, sequence(n)},
	} {
		g, want := groupOf(p, w, sequence(n)), groupOf(p, w, c.rows)
		g.shiftBy(w, sequence(n), delta)
		g.LogProbWithout(FB, 0)
		c.change(g)
		if g.Shifted() {
			t.Errorf("%s: still shifted", name)
		}
		sameBits(t, name, g, want)
		g.shiftBy(w, c.rows, delta)
		want.shiftBy(w, c.rows, delta)
		sameBits(t, name+" and shift", g, want)
		cross := crossOf(w, 1, c.rows)
		if a, b := g.quadShifted(30, cross, 1), want.quadShifted(30, cross, 1); a != b {
			t.Errorf("%s and shift: quadratic form %v, want %v", name, a, b)
		}
	}
}

// Quadratic forms and log-determinants stay within their bounds whatever rounding
// does to what is beyond all digits.
func TestShiftBeyondAllDigits(t *testing.T) {
	const d = 5
	for _, far := range []float64{1e5, 1e9, 1e30, 1e69} {
		for _, n := range []int{1, 2, 7} {
			p := HandCrafted(d, 1)
			w := mat.NewDense(n+1, d, nil)
			for i := range n {
				w.Set(i, 0, far*(1+float64(i)*1e-3))
			}
			g := groupOf(p, w, sequence(n))
			for _, scale := range []float64{-1, 1e-9, 1, 3} {
				delta := make([]float64, d)
				delta[0] = scale * far
				g.shiftBy(w, sequence(n), delta)
				for i := range n + 1 {
					cross := crossOf(w, i, sequence(n))
					l := g.LogProbShifted(FB, floats.Dot(w.RawRowView(i), w.RawRowView(i)), cross, floats.Dot(w.RawRowView(i), delta))
					if i < n {
						l += g.LogProbWithout(FB, i)
					}
					if math.IsNaN(l) || math.IsInf(l, 0) {
						t.Errorf("%v away, δ %v times that, K %d, row %d: log density %v", far, scale, n, i, l)
					}
				}
			}
		}
	}
}

func TestShiftedScatterIsThatOfShiftedExamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 1))
	const n, d = 12, 5
	for _, kind := range kinds {
		p, w := randomPrior(rng, d), some(rng, kind, n, d)
		for name, delta := range deltas(rng, w, n) {
			var got, want Scatter
			got.Reset(p)
			got.AddShifted(w.RawMatrix(), delta)
			want.Reset(p)
			want.Add(shifted(w, delta).RawMatrix())
			if !got.Factorize() || !want.Factorize() {
				t.Fatal("not positive definite")
			}
			near(t, kind+", "+name, got.Posterior(n).LogDetS, want.Posterior(n).LogDetS, 1e-11)
		}
	}
}

func TestShiftDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	p, w := randomPrior(rng, 9), randomRows(rng, 6, 9)
	g, cross := groupOf(p, w, sequence(6)), crossOf(w, 5, sequence(6))
	g.Shift(cross, 5)
	if n := testing.AllocsPerRun(100, func() { g.Shift(cross, 40); g.LogProbShifted(FB, 9, cross, 1); g.LogProbWithout(FB, 3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestShiftedGroupRefusesUnshiftedQueries(t *testing.T) {
	var g Group
	g.Reset(HandCrafted(2, 1))
	refuses := func(what string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", what)
			}
		}()
		f()
	}
	refuses("shifted query of a group without a shift", func() { g.quadShifted(1, nil, 0) })
	g.Shift(nil, 2)
	refuses("query of a group with a shift", func() { g.quad(1, nil) })
	refuses("cross products of wrong length", func() { g.Shift([]float64{1}, 2) })
}
