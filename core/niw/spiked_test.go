package niw

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/test"
)

// randomSpiked returns a spiked prior of rank r beside S written out from its
// definition.
func randomSpiked(t *testing.T, rng *rand.Rand, d, r int) (*Prior, *mat.SymDense) {
	t.Helper()
	scale, lambda := make([]float64, d), make([]float64, r)
	for i := range scale {
		scale[i] = 0.3 + rng.Float64()
	}
	for i := range lambda {
		lambda[i] = math.Exp(2 * rng.NormFloat64())
	}
	q := orthonormalRows(rng, r, d)
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			var v float64
			if i == j {
				v = 1
			}
			for k := range r {
				v += (lambda[k] - 1) * q.At(k, i) * q.At(k, j)
			}
			s.SetSym(i, j, v*scale[i]*scale[j])
		}
	}
	spiked := test.Must(NewSpiked(scale, q, lambda))(t)
	p := &Prior{M: make([]float64, d), Kappa: 0.3 + rng.Float64(), Spiked: spiked, Nu: float64(d) + rng.Float64()}
	for i := range p.M {
		p.M[i] = rng.NormFloat64()
	}
	return p, s
}

// orthonormalRows takes them from a QR factorisation; nil for no rows.
func orthonormalRows(rng *rand.Rand, r, d int) *mat.Dense {
	if r == 0 {
		return nil
	}
	var qr mat.QR
	qr.Factorize(randomRows(rng, d, r))
	var full mat.Dense
	qr.QTo(&full)
	return mat.DenseCopyOf(full.Slice(0, d, 0, r).T())
}

func TestSpikedIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, size := range [][2]int{{1, 0}, {1, 1}, {7, 0}, {7, 3}, {40, 17}, {40, 40}} {
		d, r := size[0], size[1]
		p, s := randomSpiked(t, rng, d, r)
		test.OK(t, p.Validate())
		var chol mat.Cholesky
		test.StopIf(t, !chol.Factorize(s), "S is not positive definite")
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

// gonum's distributions on the dense prior are the oracle.
func TestSpikedDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	const d = 9
	p, _ := randomSpiked(t, rng, d, 4)
	dense := p.Dense()
	for _, k := range []int{1, 4, 12} {
		x := randomRows(rng, k, d)
		query := randomRows(rng, 1, d).RawRowView(0)
		for _, inf := range []Inference{FB, MAP} {
			_, got := lowRank(p, x, inf, query)
			near(t, inf.String(), got, plainLogProb(t, dense, x, inf, query), 1e-9)
		}
		post, ok := p.Update(x)
		m, _, _, s := plainPosterior(dense, x)
		var product mat.SymDense
		product.SymOuterK(1, post.L)
		if !ok || !mat.EqualApprox(&product, s, 1e-9) || !mat.EqualApprox(mat.NewVecDense(d, post.M), mat.NewVecDense(d, m), 1e-10) {
			t.Errorf("K = %d: the posterior of the spiked prior is not that of the dense one", k)
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
	spiked := test.Must(NewSpiked(constant(d, 0.7), directions, []float64{0.1, 0.3, 4, 5, 9}))(t)
	flat := &Prior{M: make([]float64, d), Kappa: 1, Spiked: spiked, Nu: d}
	full := randomPrior(rng, d)
	for _, c := range []struct {
		name string
		p    *Prior
		r    int
	}{{"a spiked S at its rank", flat, 5}, {"any S at rank d", full, d}, {"any S at rank d-1", full, d - 1}} {
		q, rest, ok := Spike(c.p, c.r)
		test.StopIf(t, !ok || rest > 1e-12, "%s: ok %v, rest %g", c.name, ok, rest)
		var want, got mat.SymDense
		want.SymOuterK(1, c.p.Dense().L)
		got.SymOuterK(1, q.Dense().L)
		test.FailIf(t, !mat.EqualApprox(&want, &got, 1e-9), "%s: another matrix", c.name)
	}
	last := math.Inf(1)
	for r := 0; r <= d; r += 4 {
		q, rest, ok := Spike(full, r)
		test.FailIf(t, !ok || rest > last || q.Spiked.Rank() != r, "rank %d: ok %v, rest %g after %g", r, ok, rest, last)
		near(t, "log det S", q.LogDetS(), full.LogDetS(), 1e-10)
		last = rest
	}
}

// Rounded directions, as half precision leaves them, give a consistent S.
func TestSpikedFromRoundedDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	const d, r = 50, 20
	p, _ := randomSpiked(t, rng, d, r)
	rounded := mat.NewDense(r, d, nil)
	rounded.Apply(func(_, _ int, v float64) float64 { return math.Round(v*1024) / 1024 }, p.Spiked.Directions)
	s := test.Must(NewSpiked(p.Spiked.Scale, rounded, p.Spiked.Lambda))(t)
	p.Spiked = s
	near(t, "log det S", p.LogDetS(), p.Dense().LogDetS(), 1e-10)
	x := randomRows(rng, 2, d)
	for _, inf := range []Inference{FB, MAP} {
		_, got := lowRank(p, x, inf, x.RawRowView(1))
		near(t, inf.String(), got, plainLogProb(t, p.Dense(), x, inf, x.RawRowView(1)), 1e-9)
	}
}

func TestNewSpikedNamesTheValue(t *testing.T) {
	q := mat.NewDense(1, 3, []float64{1, 0, 0})
	for name, c := range map[string]struct {
		scale, lambda []float64
		q             *mat.Dense
	}{
		"scale of S":                       {[]float64{1, 0, 1}, []float64{2}, q},
		"eigenvalue of S":                  {constant(3, 1), []float64{0}, q},
		"directions of S":                  {constant(3, 1), []float64{2, 3}, q},
		"direction of S":                   {constant(4, 1), []float64{2}, q},
		"inner product of directions of S": {constant(3, 1), []float64{2}, mat.NewDense(1, 3, []float64{1, 1, 0})},
	} {
		_, err := NewSpiked(c.scale, c.q, c.lambda)
		test.FailIf(t, err == nil || !strings.HasPrefix(err.Error(), name), "%s: %v", name, err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		var value *ValueError
		_, err := NewSpiked(constant(3, 1), mat.NewDense(1, 3, []float64{1, bad, 0}), []float64{2})
		test.FailIf(t, !errors.As(err, &value), "%v among the directions: %v", bad, err)
		_, err = NewSpiked(constant(3, 1), q, []float64{bad})
		test.FailIf(t, !errors.As(err, &value), "%v among the eigenvalues: %v", bad, err)
	}
	p := HandCrafted(3, 1)
	p.Spiked, _ = NewSpiked(constant(3, 1), nil, nil)
	test.FailIf(t, p.Validate() == nil, "a prior with both L and a spiked S is valid")
	p.L, p.M = nil, make([]float64, 2)
	test.FailIf(t, p.Validate() == nil, "a prior with an S of another dimension is valid")
}

func constant(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
