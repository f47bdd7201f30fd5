package lda

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// Of clumps those groups are made that are no single picture, and what tells most is one
// of each, the largest first.
func TestClumpsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 1))
	for trial := range 20 {
		x, of := clumps(rng, 120)
		c := test.Must(New(niw.HandCrafted(120, 1), with(Options{NonePrior: 0.2})))(t)
		clump := func(list []int) (k []int) {
			for _, i := range list {
				k = append(k, of[i])
			}
			return k
		}
		all := make([]int, len(of))
		for i := range all {
			all[i] = i
		}
		groups := test.Must(c.Alike(t.Context(), x, nil, all))(t)[0]
		if len(groups) != 3 {
			t.Fatalf("trial %d: groups %v", trial, groups)
		}
		for k, size := range []int{12, 6, 3} { // the fourth clump is one picture
			if !slices.Equal(clump(groups[k]), slices.Repeat([]int{k}, size)) {
				t.Errorf("trial %d: group %d is of clumps %v", trial, k, clump(groups[k]))
			}
		}
		few := slices.DeleteFunc(all, func(i int) bool { return of[i] == 0 })
		both, err := c.Alike(t.Context(), x, nil, few, nil, few[:8])
		if err != nil || len(both) != 3 || len(both[0]) != 2 || of[both[0][0][0]] != 1 || of[both[0][1][0]] != 2 || both[1] != nil {
			t.Fatalf("trial %d, the first clump known: %v, %v", trial, both, err)
		}
		if alone := test.Must(c.Alike(t.Context(), x, nil, few[:8]))(t); !reflect.DeepEqual(both[2], alone[0]) {
			t.Errorf("trial %d: a set beside others has the groups %v, alone %v", trial, both[2], alone[0])
		}

		suggested := test.Must(c.Suggest(t.Context(), x, 4, nil))(t)
		if !slices.Equal(clump(suggested.Rows), []int{0, 1, 2, 3}) || !slices.Equal(suggested.Like, []int{11, 5, 2, 0}) {
			t.Fatalf("trial %d: clumps %v, %v others like them", trial, clump(suggested.Rows), suggested.Like)
		}
		test.OK(t, c.AddClass("first"))
		test.OK(t, c.Add("first", x.RawRowView(slices.Index(of, 0))))
		suggested = test.Must(c.Suggest(t.Context(), x, 2, nil))(t)
		if !slices.Equal(clump(suggested.Rows), []int{1, 2}) {
			t.Fatalf("trial %d, the first taught: clumps %v", trial, clump(suggested.Rows))
		}
	}
}

// Two pictures that resemble no third one tell the same, so the first of them is suggested, however
// their gains are rounded.
func TestOfTwoThatTellTheSameTheFirstIsSuggested(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))
	const pairs, d = 8, 16
	c := test.Must(New(niw.HandCrafted(d, 1), with(Options{NonePrior: 0.2})))(t)
	for trial := range 20 {
		x := mat.NewDense(2*pairs, d, nil)
		for k := range pairs {
			sin, cos := math.Sincos(0.1 + 0.5*rng.Float64())
			for i, sign := range []float64{1, -1} {
				x.Set(2*k+i, k, cos)
				x.Set(2*k+i, pairs+k, sign*sin)
			}
		}
		var turn mat.QR
		turn.Factorize(mat.NewDense(d, d, niwtest.Vector(rng, d*d, 1)))
		var q, turned mat.Dense
		turn.QTo(&q)
		turned.Mul(x, &q)
		for _, i := range test.Must(c.Suggest(t.Context(), &turned, pairs, nil))(t).Rows {
			if i%2 != 0 {
				t.Fatalf("trial %d: row %d is suggested before row %d, which tells the same", trial, i, i-1)
			}
		}
	}
}

// No member is far from the centre, nothing that could be grouped is left over, and
// the pictures may come in any order.
func TestAlikeIsAStarCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	const d, m = 5, 60
	p := niwtest.Prior(rng, d)
	c := test.Must(New(p, with(Options{NonePrior: 0.2})))(t)
	x, mean := mat.NewDense(m, d, nil), make([]float64, d)
	for i := range m {
		x.SetRow(i, niwtest.Vector(rng, d, 1))
		for j, v := range x.RawRowView(i) {
			mean[j] += v / m
		}
	}
	p.WhitenTo(mean, mean)
	w := make([][]float64, m)
	for i := range w {
		w[i] = make([]float64, d)
		p.WhitenTo(w[i], x.RawRowView(i))
		direct(w[i], mean)
	}
	cosine := func(i, j int) (s float64) {
		for k, v := range w[i] {
			s += v * w[j][k]
		}
		return s
	}
	left, turned := make([]int, m), mat.NewDense(m, d, nil)
	for i := range m {
		left[i] = i
		turned.SetRow(m-1-i, x.RawRowView(i))
	}
	groups := test.Must(c.Alike(t.Context(), x, nil, left))(t)[0]
	backwards := test.Must(c.Alike(t.Context(), turned, nil, left))(t)[0]
	if len(groups) < 3 {
		t.Fatalf("only %d groups", len(groups))
	}
	for g, group := range groups {
		neighbours := func(i int) (n int) {
			for _, j := range left {
				if cosine(i, j) >= alikeBound {
					n++
				}
			}
			return n
		}
		for _, i := range left {
			if neighbours(i) > len(group) {
				t.Errorf("group %d has %d, around %d there are %d", g, len(group), i, neighbours(i))
			}
		}
		for k, i := range group {
			if cosine(i, group[0]) < alikeBound || k > 1 && cosine(i, group[0]) > cosine(group[k-1], group[0])+1e-12 {
				t.Errorf("group %d: member %d at %g", g, k, cosine(i, group[0]))
			}
		}
		if len(group) != len(backwards[g]) {
			t.Errorf("group %d has %d, backwards %d", g, len(group), len(backwards[g]))
		}
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(group, i) })
	}
}

// clumps returns pictures in four clumps of 12, 6, 3 and 1, shuffled, and the clump
// of each.
func clumps(rng *rand.Rand, d int) (x *mat.Dense, of []int) {
	for k, n := range []int{12, 6, 3, 1} {
		of = append(of, slices.Repeat([]int{k}, n)...)
	}
	rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	centres := [][]float64{niwtest.Vector(rng, d, 5), niwtest.Vector(rng, d, 5), niwtest.Vector(rng, d, 5), niwtest.Vector(rng, d, 5)}
	x = mat.NewDense(len(of), d, nil)
	for i, k := range of {
		for j, v := range centres[k] {
			x.Set(i, j, v+0.3*rng.NormFloat64())
		}
	}
	return x, of
}

// The definition, by brute force: every choice is the best of all.
func TestSuggestIsGreedy(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	const d, m = 7, 25
	p := niwtest.Prior(rng, d)
	c := test.Must(New(p, with(Options{NonePrior: 0.2, Near: 0.1})))(t)
	test.OK(t, c.AddClass("a"))
	taught := [][]float64{niwtest.Vector(rng, d, 1), niwtest.Vector(rng, d, 1)}
	for _, x := range taught {
		test.OK(t, c.Add("a", x))
	}
	x := mat.NewDense(m, d, nil)
	for i := range m {
		x.SetRow(i, niwtest.Vector(rng, d, 1))
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
	got := test.Must(c.Suggest(t.Context(), x, m, nil))(t)
	for step, chosen := range got.Rows {
		with := append(slices.Clone(have), whiten(x.RawRowView(chosen)))
		for i := range m {
			other := coverage(append(slices.Clone(have), whiten(x.RawRowView(i))))
			if other > coverage(with)+1e-9 {
				t.Fatalf("step %d: %d covers %v, %d covers %v", step, chosen, coverage(with), i, other)
			}
		}
		have = with
	}
}

func TestDegeneratePictures(t *testing.T) {
	c := test.Must(New(niw.HandCrafted(3, 1), with(Options{NonePrior: 0.2})))(t)
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
		found, err := c.Suggest(t.Context(), of.x, of.n, nil)
		got := found.Rows
		if err != nil || len(got) != of.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		seen := slices.Clone(got)
		slices.Sort(seen)
		if len(slices.Compact(seen)) != len(got) {
			t.Errorf("%s: %v has one twice", name, got)
		}
	}
	groups, err := c.Alike(t.Context(), new(mat.Dense), nil, nil)
	if err != nil || len(groups) != 1 || groups[0] != nil {
		t.Errorf("none are alike: %v, %v", groups, err)
	}
	groups, err = c.Alike(t.Context(), mat.NewDense(4, 3, nil), nil, []int{0, 1, 2, 3})
	if err != nil || len(groups[0]) != 0 {
		t.Errorf("all the same, without a direction: %v, %v", groups, err)
	}
	near, err := c.Nearest(make([]float64, 3), 5)
	if err != nil || len(near) != 0 {
		t.Errorf("nothing taught is near: %v, %v", near, err)
	}
}

// Progress only grows and ends where all is done; a context that ends stops a question
// wherever it is, and it can be asked again.
func TestQuestionsTellProgressAndStop(t *testing.T) {
	rng := rand.New(rand.NewPCG(89, 1))
	s := randomScene(rng, 6, 2, 2)
	x, _ := s.clusters(rng, 150, 1)
	every := some(len(x))
	for variant, o := range batchVariants {
		c := s.teach(t, niwtest.Prior(rng, 6), o)
		for what, ask := range map[string]func(ctx Context, progress func(done, total int)) (any, error){
			"Classify": func(ctx Context, progress func(done, total int)) (any, error) {
				return c.Classify(ctx, dense(x), progress)
			},
			"Suggest": func(ctx Context, progress func(done, total int)) (any, error) {
				return c.Suggest(ctx, dense(x), 4, progress)
			},
			"Alike": func(ctx Context, progress func(done, total int)) (any, error) {
				return c.Alike(ctx, dense(x), progress, every, every[:9])
			},
		} {
			last, all, calls := -1, 0, 0
			want := test.Must(ask(t.Context(), func(done, total int) {
				if done < last || done > total {
					t.Errorf("%s, %s: %d of %d after %d", variant, what, done, total, last)
				}
				last, all = done, total
				calls++
			}))(t)
			if last != all || calls < 5 {
				t.Errorf("%s, %s: %d of %d in %d calls", variant, what, last, all, calls)
			}
			for stop := range calls - 1 {
				ctx, cancel := context.WithCancel(t.Context())
				n := 0
				_, err := ask(ctx, func(int, int) {
					if n++; n > stop {
						cancel()
					}
				})
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %s, stopped at call %d of %d: %v", variant, what, stop, calls, err)
				}
				cancel()
			}
			again := test.Must(ask(t.Context(), nil))(t)
			if !reflect.DeepEqual(again, want) {
				t.Errorf("%s, %s: %v, want %v", variant, what, again, want)
			}
		}
	}
}
