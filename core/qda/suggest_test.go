package qda

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// clumps returns pictures in four clumps of 12, 6, 3 and 1, shuffled, and the clump
// of each.
func clumps(rng *rand.Rand, d int) (x *mat.Dense, of []int) {
	for k, n := range []int{12, 6, 3, 1} {
		of = append(of, slices.Repeat([]int{k}, n)...)
	}
	rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	centres := [][]float64{randomVector(rng, d, 5), randomVector(rng, d, 5), randomVector(rng, d, 5), randomVector(rng, d, 5)}
	x = mat.NewDense(len(of), d, nil)
	for i, k := range of {
		for j, v := range centres[k] {
			x.Set(i, j, v+0.3*rng.NormFloat64())
		}
	}
	return x, of
}

func TestSuggestCoversTheLargestFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(70, 1))
	for trial := range 20 {
		x, of := clumps(rng, 30)
		c, err := New(niw.HandCrafted(30, 1), with(Options{NonePrior: 0.2}))
		must(t, err)
		got, err := c.Suggest(t.Context(), x, 4, nil)
		must(t, err)
		clump := func(list []int) (k []int) {
			for _, i := range list {
				k = append(k, of[i])
			}
			return k
		}
		if k := clump(got); !slices.Equal(k, []int{0, 1, 2, 3}) {
			t.Fatalf("trial %d: clumps %v", trial, k)
		}
		must(t, c.AddClass("first"))
		must(t, c.Add("first", x.RawRowView(slices.Index(of, 0))))
		if got, err = c.Suggest(t.Context(), x, 2, nil); err != nil || !slices.Equal(clump(got), []int{1, 2}) {
			t.Fatalf("trial %d, the first taught: clumps %v, %v", trial, clump(got), err)
		}
	}
}

// The definition, by brute force: every choice is the best of all.
func TestSuggestIsGreedy(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	const d, m = 7, 25
	p := randomPrior(rng, d)
	c, err := New(p, with(Options{NonePrior: 0.2, Near: 0.1}))
	must(t, err)
	must(t, c.AddClass("a"))
	taught := [][]float64{randomVector(rng, d, 1), randomVector(rng, d, 1)}
	for _, x := range taught {
		must(t, c.Add("a", x))
	}
	x := mat.NewDense(m, d, nil)
	for i := range m {
		x.SetRow(i, randomVector(rng, d, 1))
	}
	whiten := func(v []float64) []float64 { w := make([]float64, d); p.WhitenTo(w, v); return w }
	mean := make([]float64, d)
	for i := range m {
		for k, v := range whiten(x.RawRowView(i)) {
			mean[k] += v / m
		}
	}
	cosine := func(a, b []float64) float64 {
		var ab, aa, bb float64
		for k := range d {
			u, v := a[k]-mean[k], b[k]-mean[k]
			ab, aa, bb = ab+u*v, aa+u*u, bb+v*v
		}
		return max(0, ab/math.Sqrt(aa*bb))
	}
	have := [][]float64{whiten(taught[0]), whiten(taught[1])}
	coverage := func(have [][]float64) (sum float64) {
		for u := range m {
			var most float64
			for _, h := range have {
				most = max(most, cosine(h, whiten(x.RawRowView(u))))
			}
			sum += most
		}
		return sum
	}
	got, err := c.Suggest(t.Context(), x, 6, nil)
	must(t, err)
	for step, chosen := range got {
		with := append(slices.Clone(have), whiten(x.RawRowView(chosen)))
		for i := range m {
			if other := coverage(append(slices.Clone(have), whiten(x.RawRowView(i)))); other > coverage(with)+1e-9 {
				t.Fatalf("step %d: %d covers %v, %d covers %v", step, chosen, coverage(with), i, other)
			}
		}
		have = with
	}
}

func TestSuggestOfDegeneratePictures(t *testing.T) {
	c, err := New(niw.HandCrafted(3, 1), with(Options{NonePrior: 0.2}))
	must(t, err)
	for name, of := range map[string]struct {
		x    *mat.Dense
		n    int
		want int
	}{
		"none":          {&mat.Dense{}, 3, 0},
		"nil":           {nil, 3, 0},
		"one":           {mat.NewDense(1, 3, []float64{1, 2, 3}), 3, 1},
		"all identical": {mat.NewDense(4, 3, slices.Repeat([]float64{1, 2, 3}, 4)), 3, 3},
		"all zero":      {mat.NewDense(2, 3, nil), 9, 2},
		"none wanted":   {mat.NewDense(2, 3, nil), 0, 0},
		"negative":      {mat.NewDense(2, 3, nil), -1, 0},
		"many":          {mat.NewDense(3000, 3, slices.Repeat([]float64{1, -2, 3, 0, 5, 1}, 1500)), 2, 2},
	} {
		got, err := c.Suggest(t.Context(), of.x, of.n, nil)
		if err != nil || len(got) != of.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		seen := slices.Clone(got)
		slices.Sort(seen)
		if len(slices.Compact(seen)) != len(got) {
			t.Errorf("%s: %v has one twice", name, got)
		}
	}
	var value *niw.ValueError
	var row *RowError
	if _, err := c.Suggest(t.Context(), mat.NewDense(2, 3, []float64{0, 0, 0, 0, math.NaN(), 0}), 1, nil); !errors.As(err, &value) || !errors.As(err, &row) || row.Row != 1 {
		t.Errorf("NaN: %v", err)
	}
	var dimension *niw.DimensionError
	if _, err := c.Suggest(t.Context(), mat.NewDense(1, 2, nil), 1, nil); !errors.As(err, &dimension) {
		t.Errorf("two numbers: %v", err)
	}
}

// Progress only grows and ends where all is done; a context that ends stops it.
func TestSuggestTellsProgressAndStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 1))
	x := mat.NewDense(300, 5, randomVector(rng, 1500, 1))
	c, err := New(niw.HandCrafted(5, 1), with(Options{NonePrior: 0.2}))
	must(t, err)
	must(t, c.AddClass("a"))
	must(t, c.Add("a", x.RawRowView(7)))
	last, all, calls := -1, 0, 0
	want, err := c.Suggest(t.Context(), x, 4, func(done, total int) {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last, all = done, total
		calls++
	})
	must(t, err)
	if last != all || calls < 10 {
		t.Errorf("%d of %d in %d calls", last, all, calls)
	}
	for stop := range calls {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		got, err := c.Suggest(ctx, x, 4, func(int, int) {
			if n++; n > stop {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || got != nil {
			t.Fatalf("stopped at %d: %v, %v", stop, got, err)
		}
		cancel()
	}
	if again, err := c.Suggest(t.Context(), x, 4, nil); err != nil || !slices.Equal(again, want) {
		t.Errorf("%v, %v, want %v", again, err, want)
	}
}
