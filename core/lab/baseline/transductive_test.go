package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/test"
)

func randomRows(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	return unitRows(x)
}

// The oracle sorts all distances.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := randomRows(rng, 300, 4) // three blocks
	for i, edges := range nearest(x, 5) {
		order := make([]int, 300)
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int {
			p, q := squaredDistance(x.RawRowView(i), x.RawRowView(a)), squaredDistance(x.RawRowView(i), x.RawRowView(b))
			if p < q {
				return -1
			}
			return 1
		})
		for k, e := range edges {
			if e.to != order[k+1] || math.Abs(e.weight-dot(x.RawRowView(i), x.RawRowView(e.to))) > 1e-14 {
				t.Fatalf("neighbour %d of row %d is %v, want row %d", k, i, e, order[k+1])
			}
		}
	}
	g := nearest(x.Slice(0, 1, 0, 4).(*mat.Dense), 5)
	if len(g) != 1 || len(g[0]) != 0 {
		t.Errorf("a single row has neighbours %v", g)
	}
}

// The oracle is the inverse of I - alpha D^-½ W D^-½ as a matrix.
func TestPropagationMatchesTheInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	support, queries := randomRows(rng, 6, 5), randomRows(rng, 11, 5)
	labels := []int{0, 1, 2, 0, 1, 2}
	m := &Propagation{Neighbours: 4, Alpha: 0.9, Gamma: 3}
	test.OK(t, m.Fit(Task{Support: support, Labels: labels, Way: 3}))
	got := mat.NewDense(11, 3, nil)
	m.ScoresTo(got, queries)

	all := stack(support, queries)
	n, _ := all.Dims()
	w := mat.NewDense(n, n, nil)
	for i := range n {
		order := make([]int, 0, n)
		for j := range n {
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			if dot(all.RawRowView(i), all.RawRowView(a)) > dot(all.RawRowView(i), all.RawRowView(b)) {
				return -1
			}
			return 1
		})
		for _, j := range order[:4] {
			a := math.Pow(math.Max(dot(all.RawRowView(i), all.RawRowView(j)), 0), 3)
			w.Set(i, j, w.At(i, j)+a)
			w.Set(j, i, w.At(j, i)+a)
		}
	}
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, -0.9*w.At(i, j)/math.Sqrt(mat.Sum(w.RowView(i))*mat.Sum(w.RowView(j))))
		}
		a.Set(i, i, a.At(i, i)+1)
	}
	y, z := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	for i, c := range labels {
		y.Set(i, c, 1)
	}
	test.OK(t, z.Solve(a, y))
	for i := range 11 {
		row := z.RawRowView(6 + i)
		for c, v := range row {
			want := v / (row[0] + row[1] + row[2])
			p := math.Exp(got.At(i, c))
			if math.Abs(p-want) > 1e-9 {
				t.Errorf("query %d, class %d: %.12g, want %.12g", i, c, p, want)
			}
		}
	}
}

// A query that no path leads to is anything.
func TestPropagationWithoutAPath(t *testing.T) {
	support := mat.NewDense(2, 3, []float64{1, 0, 0, 0.8, 0.6, 0})
	queries := mat.NewDense(2, 3, []float64{0, 0, 1, 0, 0, -1})
	m := &Propagation{Neighbours: 1, Alpha: 0.99, Gamma: 3}
	test.OK(t, m.Fit(Task{Support: support, Labels: []int{0, 1}, Way: 2}))
	got := mat.NewDense(2, 2, nil)
	m.ScoresTo(got, queries)
	for i := range 2 {
		for c := range 2 {
			v := got.At(i, c)
			if math.Abs(v-math.Log(0.5)) > 1e-9 {
				t.Errorf("query %d, class %d: %v, want log 1/2", i, c, v)
			}
		}
	}
}

// On a line: prototypes at 0 and 10 but for the pictures that rectify them, found by
// hand.
func TestLaplacianByHand(t *testing.T) {
	support := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	queries := mat.NewDense(3, 2, []float64{1, 0.1, 0.9, 0, 0, 1})
	m := &Laplacian{Neighbours: 1, Lambda: 0.5}
	test.OK(t, m.Fit(Task{Support: support, Labels: []int{0, 1}, Way: 2}))
	// The mean of the support is (.5, .5), of the queries (1.9/3, 1.1/3): shift
	// (-.4/3, .4/3).
	const s = 0.4 / 3
	moved := [][]float64{{1, 0}, {0, 1}, {1 - s, 0.1 + s}, {0.9 - s, s}, {-s, 1 + s}}
	weight := func(v []float64, c int) float64 {
		norm := math.Hypot(v[0], v[1])
		return 1 / (1 + math.Exp(10*(v[1-c]-v[c])/norm))
	}
	prototype := func(c int, rows ...int) (m [2]float64) {
		var total float64
		for _, i := range rows {
			w := weight(moved[i], c)
			m[0] += w * moved[i][0]
			m[1] += w * moved[i][1]
			total += w
		}
		return [2]float64{m[0] / total, m[1] / total}
	}
	prototypes := [2][2]float64{prototype(0, 0, 2, 3), prototype(1, 1, 4)}
	rectified, _ := m.rectified(queries)
	var a [3][2]float64
	for c, want := range prototypes {
		for k, v := range want {
			if math.Abs(rectified.At(c, k)-v) > 1e-12 {
				t.Errorf("prototype %d: %v, want %v", c, rectified.RawRowView(c), want)
			}
		}
		for i := range 3 {
			dx, dy := moved[2+i][0]-want[0], moved[2+i][1]-want[1]
			a[i][c] = dx*dx + dy*dy
		}
	}
	// The nearest of the first two are each other, of the third the first.
	neighbour := [3]int{1, 0, 0}
	y := [3]float64{} // of class 0
	for i := range y {
		y[i] = 1 / (1 + math.Exp(a[i][0]-a[i][1]))
	}
	for range 1000 {
		var next [3]float64
		for i, p := range neighbour {
			next[i] = 1 / (1 + math.Exp(a[i][0]-a[i][1]-0.5*(2*y[p]-1)))
		}
		y = next
	}
	got := mat.NewDense(3, 2, nil)
	m.ScoresTo(got, queries)
	for i, want := range y {
		p := math.Exp(got.At(i, 0))
		if math.Abs(p-want) > 1e-4 {
			t.Errorf("query %d: %v, want %v", i, p, want)
		}
	}
}

// A shift of all queries changes no answer.
func TestLaplacianForgetsAShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	support, queries := randomRows(rng, 6, 5), randomRows(rng, 11, 5)
	m := &Laplacian{Neighbours: 3, Lambda: 0.5}
	test.OK(t, m.Fit(Task{Support: support, Labels: []int{0, 1, 2, 0, 1, 2}, Way: 3}))
	want, got := mat.NewDense(11, 3, nil), mat.NewDense(11, 3, nil)
	m.ScoresTo(want, queries)
	queries.Apply(func(_, j int, v float64) float64 { return v + 0.3*float64(j) }, queries)
	m.ScoresTo(got, queries)
	if !mat.EqualApprox(got, want, 1e-9) {
		t.Errorf("shifted queries have\n%.3v\nwant\n%.3v", mat.Formatted(got), mat.Formatted(want))
	}
}

// Both find clusters about one example each, and a single query is no trouble.
func TestTransductiveMethods(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const d, way, n = 20, 3, 15
	centres := randomRows(rng, way, d)
	draw := func(n int) (*mat.Dense, []int) {
		x, labels := mat.NewDense(n*way, d, nil), []int{}
		for i := range n * way {
			row := x.RawRowView(i)
			for j, v := range centres.RawRowView(i % way) {
				row[j] = v + 0.12*rng.NormFloat64()
			}
			labels = append(labels, i%way)
		}
		return unitRows(x), labels
	}
	support, labels := draw(1)
	queries, classes := draw(n)
	for _, m := range []Classifier{&Propagation{Neighbours: 10, Alpha: 0.8, Gamma: 3}, &Laplacian{Neighbours: 3, Lambda: 0.5}} {
		test.OK(t, m.Fit(Task{Support: support, Labels: labels, Way: way}))
		scores := mat.NewDense(n*way, way, nil)
		m.ScoresTo(scores, queries)
		right := 0
		for i, c := range classes {
			row := scores.RawRowView(i)
			sum := 0.0
			for _, v := range row {
				sum += math.Exp(v)
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%T: probabilities sum to %v", m, sum)
			}
			if row[c] == slices.Max(row) {
				right++
			}
		}
		if right < 43 {
			t.Errorf("%T: %d of 45 right", m, right)
		}
		one := mat.NewDense(1, way, nil)
		m.ScoresTo(one, queries.Slice(0, 1, 0, d).(*mat.Dense))
		row := one.RawRowView(0)
		_, moves := m.(*Laplacian) // a single query to the mean of the support
		if math.IsNaN(row[0]) || row[0] != slices.Max(row) && !moves {
			t.Errorf("%T: a single query has %v", m, row)
		}
	}
}
