package niw_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

func randomRows(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, 0.5+rng.NormFloat64())
		}
	}
	return x
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

func TestWhitenRowsMatchesWhiten(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, d := range []int{1, 63, 64, 65, 150} {
		p, x := niwtest.Prior(rng, d), randomRows(rng, 7, d)
		p.L.ScaleTri(3, p.L)
		for i := range d { // keep the random factor well conditioned
			p.L.SetTri(i, i, 5)
		}
		rows, want := mat.NewDense(7, d, nil), make([]float64, d)
		p.WhitenRowsTo(rows, x)
		for i := range 7 {
			p.WhitenTo(want, x.RawRowView(i))
			for j, v := range want {
				near(t, "row", rows.At(i, j), v, 1e-12)
			}
		}
	}
}

func TestValidateNamesTheValue(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*niw.Prior)
		want  string
	}{
		"kappa zero":  {func(p *niw.Prior) { p.Kappa = 0 }, "kappa"},
		"kappa NaN":   {func(p *niw.Prior) { p.Kappa = math.NaN() }, "kappa"},
		"nu at bound": {func(p *niw.Prior) { p.Nu = 1 }, "nu"},
		"nu infinite": {func(p *niw.Prior) { p.Nu = math.Inf(1) }, "nu"},
		"m NaN":       {func(p *niw.Prior) { p.M[1] = math.NaN() }, "prior mean m"},
		"diagonal":    {func(p *niw.Prior) { p.L.SetTri(1, 1, 0) }, "diagonal of L"},
		"L infinite":  {func(p *niw.Prior) { p.L.SetTri(1, 0, math.Inf(-1)) }, "factor L"},
		"upper":       {func(p *niw.Prior) { p.L = mat.NewTriDense(2, mat.Upper, []float64{1, 0, 0, 1}) }, "factor L"},
	} {
		p := niw.HandCrafted(2, 1)
		c.spoil(p)
		v := test.Refused[*niw.ValueError](t, p.Validate(), "%s", name)
		if v.Name != c.want {
			t.Errorf("%s: got %v, want a ValueError for %s", name, v, c.want)
		}
	}
	for _, p := range []*niw.Prior{{}, {M: []float64{1}, Kappa: 1, Nu: 1}, {M: []float64{1}, Kappa: 1, Nu: 1, L: mat.NewTriDense(2, mat.Lower, nil)}} {
		test.Refused[*niw.DimensionError](t, p.Validate(), "%+v", p)
	}
	test.OK(t, niw.HandCrafted(3, 0.5).Validate())
}

// A message names the value that is there and a remedy for priors, not for examples.
func TestValidateSaysWhatToDo(t *testing.T) {
	both := niw.HandCrafted(2, 1)
	both.Spiked, _ = niw.NewSpiked([]float64{1, 1}, nil, nil)
	upper, infinite, without, short, long := niw.HandCrafted(2, 1), niw.HandCrafted(2, 1), niw.HandCrafted(2, 1), niw.HandCrafted(2, 1), niw.HandCrafted(2, 1)
	upper.L = mat.NewTriDense(2, mat.Upper, []float64{1, 0, 0, 1})
	infinite.M[1] = math.Inf(1)
	without.L = nil
	short.L = niw.HandCrafted(1, 1).L
	long.L, long.Spiked = nil, test.Must(niw.NewSpiked([]float64{1, 1, 1}, nil, nil))(t)
	for want, p := range map[string]*niw.Prior{
		"factor L is set beside Spiked: want only one of both: set the other to nil": both,
		"factor L is upper triangular: want a lower triangular matrix: transpose it": upper,
		"prior mean m[1] is +Inf: want a finite number: make the prior anew":         infinite,
		"prior mean m has length 0, want 1: give it one number for each dimension":   {},
		"diagonal of L has length 0, want 2: set L or Spiked":                        without,
		"diagonal of L has length 1, want 2: make the prior anew":                    short,
		"scale of S has length 3, want 2: make the prior anew":                       long,
	} {
		if got := p.Validate().Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// Examples and queries keep their remedies.
	for want, x := range map[string][]float64{
		"embedding[0] is NaN: want a finite number: leave this vector out":               {math.NaN()},
		"embedding has length 0, want 1: use the same feature extractor for all of them": {},
	} {
		if got := niw.CheckVector("embedding", x, 1).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
