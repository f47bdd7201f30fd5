package niw_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

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

// lowRank returns the group of the rows of x and its log density of the query.
func lowRank(p *niw.Prior, x *mat.Dense, inf niw.Inference, query []float64) (*niw.Group, float64) {
	k, d := x.Dims()
	z := make([]float64, d)
	p.WhitenTo(z, query)
	w, gram := mat.NewDense(k, d, nil), mat.NewSymDense(k, nil)
	p.WhitenRowsTo(w, x)
	gram.SymOuterK(1, w)
	cross := mat.NewVecDense(k, nil)
	cross.MulVec(w, mat.NewVecDense(d, z))
	var g niw.Group
	g.Fit(p, gram)
	return &g, g.LogProb(inf, mat.Dot(mat.NewVecDense(d, z), mat.NewVecDense(d, z)), cross.RawVector().Data)
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	test.FailIf(t, !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))), "%s: got %.15g, want %.15g", what, got, want)
}

func TestLowRankMatchesGonumDistributions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 2, 5, 17} {
		for _, k := range []int{1, 2, 5, 20} {
			p, x := niwtest.Prior(rng, d), randomRows(rng, k, d)
			query := randomRows(rng, 1, d).RawRowView(0)
			for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
				_, got := lowRank(p, x, inf, query)
				near(t, inf.String(), got, niwtest.LogProb(t, p, inf, query, 0, x), 1e-11)
			}
		}
	}
}

func TestDenseMatchesLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, d := range []int{1, 3, 8} {
		for _, k := range []int{1, 4, 12} {
			p, x := niwtest.Prior(rng, d), randomRows(rng, k, d)
			query := randomRows(rng, 1, d).RawRowView(0)
			_, want := lowRank(p, x, niw.FB, query)
			w := mat.NewDense(k, d, nil)
			p.WhitenRowsTo(w, x)
			var s niw.Scatter
			s.Reset(p)
			s.Add(w.RawMatrix())
			test.StopIf(t, !s.Factorize(), "not positive definite")
			post, _ := p.Update(x)
			v := make([]float64, d)
			for i := range v {
				v[i] = query[i] - post.M[i] + p.M[i]
			}
			p.WhitenTo(v, v)
			s.SolveTo(v)
			vv := mat.NewVecDense(d, v)
			sp := s.Posterior(k)
			near(t, "dense", sp.LogProb(niw.FB, mat.Dot(vv, vv)), want, 1e-11)
		}
	}
}

func TestPriorPredictiveIsTheEmptyGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	p := niwtest.Prior(rng, 4)
	query := []float64{1, -2, 0.5, 3}
	var g niw.Group
	g.Fit(p, nil)
	z := make([]float64, 4)
	p.WhitenTo(z, query)
	zz := mat.NewVecDense(4, z)
	near(t, "prior predictive", g.LogProb(niw.FB, mat.Dot(zz, zz), nil), niwtest.LogProb(t, p, niw.FB, query, -1), 1e-12)
}

func TestOneDimensionIsTheUnivariateStudentT(t *testing.T) {
	p := niw.HandCrafted(1, 0.7)
	p.M[0], p.Kappa, p.Nu = 0.2, 1.5, 2.5
	x := mat.NewDense(3, 1, []float64{1, 2, 4})
	m, kappa, nu, s := niwtest.Posterior(p, 0, x)
	want := distuv.StudentsT{Mu: m[0], Sigma: math.Sqrt(s.At(0, 0) * (kappa + 1) / (kappa * nu)), Nu: nu}
	for _, q := range []float64{-3, 0, 1.9, 50} {
		_, got := lowRank(p, x, niw.FB, []float64{q})
		near(t, "d=1", got, want.LogProb(q), 1e-12)
	}
}

// With nu and S growing together Sigma becomes certain, and the Student-t the
// Normal N(m_j, Sigma (kappa_j+1)/kappa_j).
func TestLargeNuApproachesTheNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	p, x := niwtest.Prior(rng, 3), randomRows(rng, 2, 3)
	sigma := mat.NewSymDense(3, nil)
	sigma.SymOuterK(1, p.L)
	m, kappa, _, _ := niwtest.Posterior(p, 0, x)
	sigma.ScaleSym((kappa+1)/kappa, sigma)
	want, _ := distmv.NewNormal(m, sigma, nil)
	p.Nu = 1e9
	p.L.ScaleTri(math.Sqrt(p.Nu), p.L)
	query := []float64{0.3, -1, 2}
	_, got := lowRank(p, x, niw.FB, query)
	near(t, "nu to infinity", got, want.LogProb(query), 1e-6)
}

func TestAffineEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const d = 4
	p, x := niwtest.Prior(rng, d), randomRows(rng, 3, d)
	query := randomRows(rng, 1, d)
	a := mat.NewTriDense(d, mat.Lower, nil) // keeps the factor triangular
	for i := range d {
		for j := range i {
			a.SetTri(i, j, rng.NormFloat64())
		}
		a.SetTri(i, i, 1+rng.Float64())
	}
	shift := []float64{1e3, -5, 0.1, 7}
	move := func(rows *mat.Dense) *mat.Dense {
		n, _ := rows.Dims()
		out := mat.NewDense(n, d, nil)
		out.Mul(rows, a.T())
		for i := range n {
			for j := range d {
				out.Set(i, j, out.At(i, j)+shift[j])
			}
		}
		return out
	}
	moved := &niw.Prior{M: move(mat.NewDense(1, d, p.M)).RawRowView(0), Kappa: p.Kappa, L: mat.NewTriDense(d, mat.Lower, nil), Nu: p.Nu}
	moved.L.MulTri(a, p.L)
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		_, before := lowRank(p, x, inf, query.RawRowView(0))
		_, after := lowRank(moved, move(x), inf, move(query).RawRowView(0))
		near(t, inf.String(), after+math.Log(math.Abs(mat.Det(a))), before, 1e-10)
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
		test.FailIf(t, v.Name != c.want, "%s: got %v, want a ValueError for %s", name, v, c.want)
	}
	for _, p := range []*niw.Prior{{}, {M: []float64{1}, Kappa: 1, Nu: 1}, {M: []float64{1}, Kappa: 1, Nu: 1, L: mat.NewTriDense(2, mat.Lower, nil)}} {
		test.Refused[*niw.DimensionError](t, p.Validate(), "%+v", p)
	}
	test.OK(t, niw.HandCrafted(3, 0.5).Validate())
}

func TestUpdateInTwoStepsIsOneUpdate(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	p, x := niwtest.Prior(rng, 5), randomRows(rng, 7, 5)
	once, ok := p.Update(x)
	first, ok1 := p.Update(x.Slice(0, 3, 0, 5))
	twice, ok2 := first.Update(x.Slice(3, 7, 0, 5))
	test.StopIf(t, !ok || !ok1 || !ok2, "not positive definite")
	near(t, "kappa", twice.Kappa, once.Kappa, 1e-14)
	near(t, "nu", twice.Nu, once.Nu, 1e-14)
	for i := range 5 {
		near(t, "m", twice.M[i], once.M[i], 1e-12)
		for j := range i + 1 {
			near(t, "L", twice.L.At(i, j), once.L.At(i, j), 1e-11)
		}
	}
}

// LnΓ_d telescopes over the examples (Murphy, Conjugate Bayesian analysis of the Gaussian
// distribution, 2007, eq. 266):
//
//	ln p(X) = -Kd/2 ln π + d/2 ln(kappa/kappa_K) + lnΓ_d(nu_K/2) - lnΓ_d(nu/2)
//	          + nu/2 ln det S - nu_K/2 ln det S_K
func TestMarginalIsTheProductOfSequentialPredictives(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	p, x := niwtest.Prior(rng, 6), randomRows(rng, 9, 6)
	var sum, want float64
	var g niw.Group
	g.Fit(p, nil)
	w := mat.NewDense(9, 6, nil)
	p.WhitenRowsTo(w, x)
	for i := range 9 {
		cross := make([]float64, i+1)
		for j := range cross {
			cross[j] = mat.Dot(w.RowView(i), w.RowView(j))
		}
		sum += g.LogProb(niw.FB, cross[i], cross[:i])
		g.Append(cross)
		above, _ := math.Lgamma((p.Nu + float64(i) + 1) / 2)
		below, _ := math.Lgamma((p.Nu + float64(i) - 5) / 2)
		want += above - below - 3*math.Log(math.Pi)
	}
	post := g.Posterior()
	want += 3*math.Log(p.Kappa/post.Kappa) + p.Nu/2*p.LogDetS() - post.Nu/2*post.LogDetS
	near(t, "marginal likelihood", sum, want, 1e-12)
}

// However far an example lies, it is no impossible query: the difference of two large
// numbers that its quadratic form is stays at or above zero.
func TestFarExamplesAsQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	const d = 12
	for _, far := range []float64{1, 1e4, 1e8, 1e12, 1e30} {
		for k := 1; k <= 6; k++ {
			p, w := niwtest.Prior(rng, d), randomRows(rng, k, d)
			w.Scale(far, w)
			var gram mat.SymDense
			gram.SymOuterK(1, w)
			var g niw.Group
			g.Fit(p, &gram)
			for i := range k {
				cross := append(mat.Row(nil, i, &gram), gram.At(i, i))
				for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
					v, post := g.LogProb(inf, cross[k], cross[:k]), g.Posterior()
					test.FailIf(t, !(v >= post.LogProb(inf, cross[k]) && v <= post.LogProb(inf, 0)) || math.IsInf(v, 0), "%g away, example %d of %d, %v: %v", far, i, k, inf, v)
				}
			}
		}
	}
}
