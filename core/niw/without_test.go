package niw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// crossOf returns the inner products of row i of w with the given rows.
func crossOf(w *mat.Dense, i int, rows []int) []float64 {
	cross := make([]float64, len(rows))
	for k, r := range rows {
		cross[k] = mat.Dot(w.RowView(i), w.RowView(r))
	}
	return cross
}

// groupOf returns the group of the given rows of w, whitened.
func groupOf(p *Prior, w *mat.Dense, rows []int) *Group {
	var g Group
	g.Reset(p)
	for k, r := range rows {
		g.Append(crossOf(w, r, rows[:k+1]))
	}
	return &g
}

// some returns a number of whitened rows by name.
func some(rng *rand.Rand, name string, n, d int) *mat.Dense {
	w := randomRows(rng, n, d)
	switch name {
	case "duplicates":
		for i := range n {
			w.SetRow(i, w.RawRowView(i%3))
		}
	case "all identical":
		for i := range n {
			w.SetRow(i, w.RawRowView(0))
		}
	case "huge scatter":
		w.Scale(1e4, w)
	case "tiny scatter":
		w.Scale(1e-4, w)
	case "one far away":
		w.SetRow(1, make([]float64, d))
		w.Set(1, 0, 1e5)
	case "zero":
		w.Zero()
	}
	return w
}

// eachKind calls f with n whitened rows of every kind and with small and large kappa.
func eachKind(rng *rand.Rand, n, d int, f func(kind string, p *Prior, w *mat.Dense)) {
	for _, kind := range kinds {
		for _, kappa := range []float64{1e-3, 0.7, 1e3} {
			p, w := randomPrior(rng, d), some(rng, kind, n, d)
			p.Kappa = kappa
			f(kind, p, w)
		}
	}
}

var kinds = []string{"ordinary", "duplicates", "all identical", "huge scatter", "tiny scatter", "one far away", "zero"}

func TestLogProbWithoutIsRemove(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	const n, d = 9, 15
	eachKind(rng, n, d, func(kind string, p *Prior, w *mat.Dense) {
		for k := 1; k <= n; k++ {
			all := sequence(k)
			g := groupOf(p, w, all)
			for i := range k {
				left := except(all, i)
				want := groupOf(p, w, all)
				want.Remove(i)
				cross := crossOf(w, i, append(left, i))
				for _, inf := range []Inference{FB, MAP} {
					what := fmt.Sprint(kind, " kappa ", p.Kappa, ", ", i, " of ", k, ", ", inf)
					near(t, what, g.LogProbWithout(inf, i), want.LogProb(inf, cross[k-1], cross[:k-1]), tolerance(kind)*math.Max(1, 1e-2/p.Kappa))
				}
			}
		}
	})
}

// tolerance is what rounding in the Gram matrix leaves of the density; a small
// kappa takes its own share.
func tolerance(kind string) float64 {
	if kind == "huge scatter" || kind == "one far away" {
		return 1e-7
	}
	return 1e-12
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func except(s []int, i int) []int {
	return append(append([]int(nil), s[:i]...), s[i+1:]...)
}

func TestDenseLogProbWithoutIsLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	const n, d = 12, 5
	eachKind(rng, n, d, func(kind string, p *Prior, w *mat.Dense) {
		g := groupOf(p, w, sequence(n))
		var s Scatter
		s.Reset(p)
		s.Add(w.RawMatrix())
		if !s.Factorize() {
			t.Fatal("not positive definite")
		}
		centre := make([]float64, d)
		mean(centre, w.RawMatrix())
		for i := range n {
			v := append([]float64(nil), w.RawRowView(i)...)
			for k := range v {
				v[k] -= centre[k] * n / (p.Kappa + n)
			}
			s.SolveTo(v)
			x := blas64.Vector{N: d, Data: v, Inc: 1}
			got := s.LogProbWithout(FB, n, blas64.Dot(x, x), mat.Dot(w.RowView(i), w.RowView(i)))
			near(t, fmt.Sprint(kind, " kappa ", p.Kappa, ", ", i), got, g.LogProbWithout(FB, i), 10*tolerance(kind))
		}
	})
}

// All that rotations make of a factor and its inverse is what a new one is.
func TestRotationsMatchANewFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	for _, kind := range kinds {
		for round := range 40 {
			n := 2 + rng.IntN(9)
			p, w := randomPrior(rng, 7), some(rng, kind, n+1, 7)
			g := groupOf(p, w, sequence(n))
			if rng.IntN(3) > 0 { // T of some rows
				part := groupOf(p, w, sequence(rng.IntN(n)+1))
				part.LogProbWithout(FB, 0)
				for k := part.Len(); k < n; k++ {
					part.Append(crossOf(w, k, sequence(k+1)))
				}
				g = part
			}
			i, rows := rng.IntN(n), sequence(n)
			g.chol.remove(i)
			if round%2 == 0 {
				rows[i] = n
				cross := crossOf(w, n, append(except(rows, i), n))
				g.chol.n++
				g.chol.set(n-1, 0, cross, 1/p.Kappa)
				g.chol.moveLast(i)
			} else {
				rows = except(rows, i)
			}
			sameFactor(t, fmt.Sprint(kind, " ", i, " of ", n), &g.chol, &groupOf(p, w, rows).chol, tolerance(kind))
		}
	}
}

func sameFactor(t *testing.T, what string, got, want *factor, tol float64) {
	t.Helper()
	for i := range want.n {
		near(t, what+": diagonal of the inverse", got.inverseDiagonal(i), want.inverseDiagonal(i), tol)
	}
	for i := range want.n {
		scale := math.Max(1, want.row(i)[i])
		for j, v := range want.row(i) {
			if j <= i {
				near(t, fmt.Sprint(what, ": C ", i, j), got.row(i)[j]/scale, v/scale, tol)
			} else {
				near(t, fmt.Sprint(what, ": T ", j, i), got.row(i)[j], v, tol)
			}
		}
	}
}

func TestReplaceIsAsIfAlwaysThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	const n, d = 7, 9
	p, w := randomPrior(rng, d), randomRows(rng, n+1, d)
	for i := range n {
		rows := sequence(n)
		g := groupOf(p, w, rows)
		g.LogProbWithout(FB, 0)
		rows[i] = n
		g.Replace(i, crossOf(w, n, rows))
		sameBits(t, fmt.Sprint("example ", i), g, groupOf(p, w, rows))
	}
}

func TestInsertIsAsIfAlwaysThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 1))
	for _, n := range []int{6, 300} {
		p, w := randomPrior(rng, 9), randomRows(rng, n+1, 9)
		want := groupOf(p, w, sequence(n+1))
		for _, i := range []int{0, n / 2, n} {
			g := groupOf(p, w, except(sequence(n+1), i))
			g.LogProbWithout(FB, 0)
			g.Insert(i, crossOf(w, i, sequence(n+1)))
			if n < 256 {
				sameBits(t, fmt.Sprint("example ", i), g, want)
			}
			near(t, "log det", g.Posterior().LogDetS, want.Posterior().LogDetS, 1e-12)
			sameFactor(t, fmt.Sprint(i, " of ", n), &g.chol, &want.chol, 1e-11)
		}
	}
}

func sameBits(t *testing.T, what string, got, want *Group) {
	t.Helper()
	if got.Len() != want.Len() || got.Posterior() != want.Posterior() {
		t.Errorf("%s: posterior %v, want %v", what, got.Posterior(), want.Posterior())
	}
	for i := range want.Len() {
		if a, b := got.LogProbWithout(FB, i), want.LogProbWithout(FB, i); a != b {
			t.Errorf("%s: without %d: got %v, want %v", what, i, a, b)
		}
	}
}

// Large groups change by rotations, but at the end to the bit.
func TestLargeGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	const n, d = 400, 40
	p, w := randomPrior(rng, d), randomRows(rng, n+1, d)
	rows := sequence(n)
	g := groupOf(p, w, rows)
	g.LogProbWithout(FB, 0)
	want := new(Group)
	want.CopyFrom(g)
	g.Append(crossOf(w, n, sequence(n+1)))
	g.LogProbWithout(FB, 0)
	g.Remove(n)
	sameBits(t, "add and remove", g, want)
	for range 5 {
		i := rng.IntN(100)
		rows[i] = n
		g.Replace(i, crossOf(w, n, rows))
		i = rng.IntN(100)
		g.Remove(i)
		rows = except(rows, i)
	}
	g.LogProbWithout(FB, 0)
	sameFactor(t, "large", &g.chol, &groupOf(p, w, rows).chol, 1e-11)
	near(t, "log det", g.Posterior().LogDetS, groupOf(p, w, rows).Posterior().LogDetS, 1e-13)
}

func TestLogProbWithoutDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	p, w := randomPrior(rng, 9), randomRows(rng, 6, 9)
	g := groupOf(p, w, sequence(5))
	cross := crossOf(w, 5, sequence(5))
	cross[2] = 30
	if n := testing.AllocsPerRun(100, func() { g.Replace(2, cross); g.LogProbWithout(FB, 3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// go test -run=^$ -bench=Group ./core/niw
func BenchmarkGroup(b *testing.B) {
	rng := rand.New(rand.NewPCG(26, 1))
	const n, d = 1000, 64
	p, w := randomPrior(rng, d), randomRows(rng, n+1, d)
	g := groupOf(p, w, sequence(n))
	all := func() {
		for i := range g.Len() {
			g.LogProbWithout(FB, i)
		}
	}
	all()
	end := crossOf(w, n, sequence(n+1))
	for _, i := range []int{0, 500, 980, 999} {
		cross := crossOf(w, i, sequence(n))
		b.Run(fmt.Sprint("Replace=", i), func(b *testing.B) {
			for b.Loop() {
				g.Replace(i, cross)
				g.LogProbWithout(FB, i)
			}
		})
	}
	b.Run("AppendRemove", func(b *testing.B) {
		for b.Loop() {
			g.Append(end)
			g.LogProbWithout(FB, n)
			g.Remove(n)
		}
	})
	b.Run("LogProbWithout", func(b *testing.B) {
		for b.Loop() {
			all()
		}
	})
	for _, i := range []int{0, 500, 980} {
		b.Run(fmt.Sprint("Remove=", i), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				var h Group
				h.CopyFrom(g)
				b.StartTimer()
				h.Remove(i)
				h.LogProbWithout(FB, i)
			}
		})
	}
}
