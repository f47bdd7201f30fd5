package niw_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/discriminant"
	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// scaleOf returns S of a spiked prior by its definition.
func scaleOf(p *niw.Prior) *mat.SymDense {
	d, spiked := p.Dim(), p.Spiked
	s := mat.NewSymDense(d, nil)
	for i := range d {
		s.SetSym(i, i, 1)
	}
	for k, v := range spiked.Lambda {
		s.SymRankOne(s, v-1, spiked.Directions.RowView(k))
	}
	for i := range d {
		for j := range i + 1 {
			s.SetSym(i, j, s.At(i, j)*spiked.Scale[i]*spiked.Scale[j])
		}
	}
	return s
}

func TestSpikedIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, size := range [][2]int{{1, 0}, {1, 1}, {7, 0}, {7, 3}, {40, 17}, {40, 40}} {
		d, r := size[0], size[1]
		p := niwtest.Spiked(t, rng, d, r)
		s := scaleOf(p)
		test.OK(t, p.Validate())
		var chol mat.Cholesky
		if !chol.Factorize(s) {
			t.Fatal("S is not positive definite")
		}
		near(t, "log det S", p.LogDetS(), chol.LogDet(), 1e-10)

		x := randomRows(rng, 3, d)
		w := mat.NewDense(3, d, nil)
		p.WhitenRowsTo(w, x)
		for i := range 3 {
			y, solved := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
			y.SubVec(x.RowView(i), mat.NewVecDense(d, p.M))
			test.OK(t, chol.SolveVecTo(solved, y))
			near(t, "squared length", mat.Dot(w.RowView(i), w.RowView(i)), mat.Dot(y, solved), 1e-9)
			one := make([]float64, d)
			p.WhitenTo(one, x.RawRowView(i))
			for j, v := range one {
				near(t, "row by row", w.At(i, j), v, 1e-12)
			}
			p.UnwhitenTo(one)
			for j, v := range one {
				near(t, "there and back", v, y.AtVec(j), 1e-9)
			}
		}
		var product mat.SymDense
		product.SymOuterK(1, p.Dense().L)
		for i := range d {
			for j := range i + 1 {
				near(t, "L Lᵀ", product.At(i, j), s.At(i, j), 1e-10)
			}
		}
	}
}

// The oracle is WhitenTo, which is linear except for m.
func TestAdjointSaysWhatWhiteningDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(70, 1))
	const d = 7
	for i, p := range []*niw.Prior{niwtest.Prior(rng, d), niwtest.Spiked(t, rng, d, 0), niwtest.Spiked(t, rng, d, 2)} {
		for range 10 {
			f, v := niwtest.Vector(rng, d, 0), niwtest.Vector(rng, d, 0)
			white, origin := make([]float64, d), make([]float64, d)
			p.WhitenTo(white, v)
			p.WhitenTo(origin, origin)
			want := floats.Dot(f, white) - floats.Dot(f, origin)
			p.AdjointRowsTo(blas64.General{Rows: 1, Cols: d, Stride: d, Data: f})
			near(t, fmt.Sprint("product of prior ", i), floats.Dot(f, v), want, 1e-11)
		}
	}
}

// logProb is the log density of a query under the class of the rows of x.
func logProb(p *niw.Prior, x *mat.Dense, inf niw.Inference, query []float64) float64 {
	k, d := x.Dims()
	w, z, l := mat.NewDense(k, d, nil), make([]float64, d), make([]float64, 1)
	p.WhitenRowsTo(w, x)
	p.WhitenTo(z, query)
	discriminant.New(p, inf, false, []*mat.Dense{w}).LogDensitiesTo(l, z)
	return l[0]
}

// gonum's distributions on the dense prior are the oracle.
func TestSpikedDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	const d = 9
	p := niwtest.Spiked(t, rng, d, 4)
	for _, k := range []int{1, 4, 12} {
		x := randomRows(rng, k, d)
		query := randomRows(rng, 1, d).RawRowView(0)
		for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
			got := logProb(p, x, inf, query)
			near(t, inf.String(), got, niwtest.LogProb(t, p, inf, query, 0, x), 1e-9)
		}
	}
}

// A spiked S is its own nearest one of the same rank, and at full rank every S is.
func TestSpikeFindsWhatIsThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 1))
	const d = 16
	// Walsh functions and equal scales leave the diagonal of S constant.
	directions := mat.NewDense(5, d, nil)
	directions.Apply(func(i, j int, _ float64) float64 { return 0.25 - 0.5*float64(bits.OnesCount(uint((i+1)&j))%2) }, directions)
	spiked := test.Must(niw.NewSpiked(slices.Repeat([]float64{0.7}, d), directions, []float64{0.1, 0.3, 4, 5, 9}))(t)
	flat := &niw.Prior{M: make([]float64, d), Kappa: 1, Spiked: spiked, Nu: d}
	full := niwtest.Prior(rng, d)
	for _, c := range []struct {
		name string
		p    *niw.Prior
		r    int
	}{{"a spiked S at its rank", flat, 5}, {"any S at rank d", full, d}, {"any S at rank d-1", full, d - 1}} {
		q, rest, ok := niw.Spike(c.p, c.r)
		if !ok || rest > 1e-12 {
			t.Fatalf("%s: ok %v, rest %g", c.name, ok, rest)
		}
		var want, got mat.SymDense
		want.SymOuterK(1, c.p.Dense().L)
		got.SymOuterK(1, q.Dense().L)
		if !mat.EqualApprox(&want, &got, 1e-9) {
			t.Errorf("%s: another matrix", c.name)
		}
	}
	last := math.Inf(1)
	for r := 0; r <= d; r += 4 {
		q, rest, ok := niw.Spike(full, r)
		if !ok || rest > last || q.Spiked.Rank() != r {
			t.Errorf("rank %d: ok %v, rest %g after %g", r, ok, rest, last)
		}
		near(t, "log det S", q.LogDetS(), full.LogDetS(), 1e-10)
		last = rest
	}
}

// Rounded directions, as half precision leaves them, give a consistent S.
func TestSpikedFromRoundedDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	const d, r = 50, 20
	p := niwtest.Spiked(t, rng, d, r)
	rounded := mat.NewDense(r, d, nil)
	rounded.Apply(func(_, _ int, v float64) float64 { return math.Round(v*1024) / 1024 }, p.Spiked.Directions)
	s := test.Must(niw.NewSpiked(p.Spiked.Scale, rounded, p.Spiked.Lambda))(t)
	p.Spiked = s
	near(t, "log det S", p.LogDetS(), p.Dense().LogDetS(), 1e-10)
	x := randomRows(rng, 2, d)
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		got := logProb(p, x, inf, x.RawRowView(1))
		near(t, inf.String(), got, niwtest.LogProb(t, p, inf, x.RawRowView(1), 0, x), 1e-9)
	}
}

func TestNewSpikedNamesTheValue(t *testing.T) {
	q, ones := mat.NewDense(1, 3, []float64{1, 0, 0}), []float64{1, 1, 1}
	for name, c := range map[string]struct {
		scale, lambda []float64
		q             *mat.Dense
	}{
		"scale of S":                       {[]float64{1, 0, 1}, []float64{2}, q},
		"eigenvalue of S":                  {ones, []float64{0}, q},
		"column of the directions of S":    {ones, []float64{2, 3}, q},
		"direction of S":                   {[]float64{1, 1, 1, 1}, []float64{2}, q},
		"inner product of directions of S": {ones, []float64{2}, mat.NewDense(1, 3, []float64{1, 1, 0})},
	} {
		_, err := niw.NewSpiked(c.scale, c.q, c.lambda)
		if err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		test.Refused[*niw.ValueError](t, test.Err(niw.NewSpiked(ones, mat.NewDense(1, 3, []float64{1, bad, 0}), []float64{2})), "%v among the directions", bad)
		test.Refused[*niw.ValueError](t, test.Err(niw.NewSpiked(ones, q, []float64{bad})), "%v among the eigenvalues", bad)
	}
	p := niw.HandCrafted(3, 1)
	p.Spiked, _ = niw.NewSpiked(ones, nil, nil)
	if p.Validate() == nil {
		t.Error("a prior with both L and a spiked S is valid")
	}
	p.L, p.M = nil, make([]float64, 2)
	if p.Validate() == nil {
		t.Error("a prior with an S of another dimension is valid")
	}
}

// Directions in which examples of a class do not differ at all, or differ a million
// times as much as elsewhere, are bounded: S keeps a Cholesky factor.
func TestSpikesAreBounded(t *testing.T) {
	const d = 6
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i := range d {
		l.SetTri(i, i, 1)
	}
	for i := 1; i < d; i++ { // rows 0 to 3 nearly parallel
		if i < 4 {
			l.SetTri(i, 0, 1)
			l.SetTri(i, i, 1e-6)
		}
	}
	p := &niw.Prior{M: make([]float64, d), Kappa: 1, L: l, Nu: d}
	q, _, ok := niw.Spike(p, 4)
	if !ok {
		t.Fatal("no spiked prior of nearly parallel rows")
	}
	for i, v := range q.Spiked.Lambda {
		if !(v >= 1/1e6 && v <= 1e6) {
			t.Errorf("eigenvalue %d is %v", i, v)
		}
	}
	test.OK(t, q.Dense().Validate())
}
