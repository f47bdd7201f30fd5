package discriminant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
)

// taught returns a classifier of classes with the given numbers of examples, and these.
func taught(rng *rand.Rand, p *niw.Prior, inf niw.Inference, pooled bool, shots ...int) (c *Classifier, examples []*mat.Dense) {
	white := make([]*mat.Dense, len(shots))
	for j, k := range shots {
		if examples = append(examples, nil); k > 0 {
			examples[j], white[j] = mat.NewDense(k, p.Dim(), niwtest.Vector(rng, k*p.Dim(), float64(j)/2)), mat.NewDense(k, p.Dim(), nil)
			p.WhitenRowsTo(white[j], examples[j])
		}
	}
	return New(p, inf, pooled, white), examples
}

// densities returns the log densities of x, that of a class never seen last.
func densities(c *Classifier, p *niw.Prior, x []float64, way int) []float64 {
	z, l := make([]float64, len(x)), make([]float64, way)
	p.WhitenTo(z, x)
	none := c.LogDensitiesTo(l, z)
	return append(l, none)
}

// Of d, 1 and 4 are for the dense form where all classes share it, 20 and 30 for low rank;
// of a class by itself 4 has one of each.
func TestDensitiesAreThoseOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 4, 20, 30} {
		for _, pooled := range []bool{false, true} {
			for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
				p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0.5)
				c, examples := taught(rng, p, inf, pooled, 3, 1, 7, 0)
				got := densities(c, p, query, 4)
				for j, g := range got {
					classes, own := examples, min(j, 3) // one never seen is like one without examples
					if !pooled {
						classes, own = examples[own:own+1], 0
					}
					want := niwtest.LogProb(t, p, inf, query, own, classes...)
					if !(math.Abs(g-want) <= 1e-10*math.Max(1, math.Abs(want))) {
						t.Errorf("d=%d, %v, pooled %v, class %d: %.12g, want %.12g", d, inf, pooled, j, g, want)
					}
				}
			}
		}
	}
}

// one is the log density of a query under a class by itself.
func one(p *niw.Prior, inf niw.Inference, x *mat.Dense, query []float64) float64 {
	k, d := x.Dims()
	white := mat.NewDense(k, d, nil)
	p.WhitenRowsTo(white, x)
	return densities(New(p, inf, false, []*mat.Dense{white}), p, query, 1)[0]
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

func TestWithoutExamplesEveryDensityIsThePriorPredictive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	p := niw.HandCrafted(3, 1)
	own, _ := taught(rng, p, niw.FB, false, 0, 0)
	pooled, _ := taught(rng, p, niw.FB, true, 0, 0)
	x := []float64{1, -2, 0.5}
	want, got := densities(own, p, x, 2), densities(pooled, p, x, 2)
	for j := range want {
		if math.Abs(got[j]-want[j]) > 1e-12 || want[j] != want[0] {
			t.Errorf("density %d is %v, by itself %v", j, got[j], want[j])
		}
	}
}

func TestOneDimensionIsTheUnivariateStudentT(t *testing.T) {
	p := niw.HandCrafted(1, 0.7)
	p.M[0], p.Kappa, p.Nu = 0.2, 1.5, 2.5
	x := mat.NewDense(3, 1, []float64{1, 2, 4})
	m, kappa, nu, s := niwtest.Posterior(p, 0, x)
	want := distuv.StudentsT{Mu: m[0], Sigma: math.Sqrt(s.At(0, 0) * (kappa + 1) / (kappa * nu)), Nu: nu}
	for _, q := range []float64{-3, 0, 1.9, 50} {
		near(t, "d=1", one(p, niw.FB, x, []float64{q}), want.LogProb(q), 1e-12)
	}
}

// With nu and S growing together Sigma becomes certain, and the Student-t the
// Normal N(m_j, Sigma (kappa_j+1)/kappa_j).
func TestLargeNuApproachesTheNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	p, x := niwtest.Prior(rng, 3), mat.NewDense(2, 3, niwtest.Vector(rng, 6, 0.5))
	sigma := mat.NewSymDense(3, nil)
	sigma.SymOuterK(1, p.L)
	m, kappa, _, _ := niwtest.Posterior(p, 0, x)
	sigma.ScaleSym((kappa+1)/kappa, sigma)
	want, _ := distmv.NewNormal(m, sigma, nil)
	p.Nu = 1e9
	p.L.ScaleTri(math.Sqrt(p.Nu), p.L)
	query := []float64{0.3, -1, 2}
	near(t, "nu to infinity", one(p, niw.FB, x, query), want.LogProb(query), 1e-6)
}

func TestAffineEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const d = 4
	p, x := niwtest.Prior(rng, d), mat.NewDense(3, d, niwtest.Vector(rng, 3*d, 0.5))
	query := mat.NewDense(1, d, niwtest.Vector(rng, d, 0.5))
	a := niwtest.Prior(rng, d).L // keeps the factor triangular
	move := func(rows *mat.Dense) *mat.Dense {
		var out mat.Dense
		out.Mul(rows, a.T())
		out.Apply(func(_, j int, v float64) float64 { return v + []float64{1e3, -5, 0.1, 7}[j] }, &out)
		return &out
	}
	moved := &niw.Prior{M: move(mat.NewDense(1, d, p.M)).RawRowView(0), Kappa: p.Kappa, L: mat.NewTriDense(d, mat.Lower, nil), Nu: p.Nu}
	moved.L.MulTri(a, p.L)
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		after := one(moved, inf, move(x), move(query).RawRowView(0))
		near(t, inf.String(), after+math.Log(math.Abs(mat.Det(a))), one(p, inf, x, query.RawRowView(0)), 1e-10)
	}
}

// LnΓ_d telescopes over the examples (Murphy, Conjugate Bayesian analysis of the Gaussian
// distribution, 2007, eq. 266):
//
//	ln p(X) = -Kd/2 ln π + d/2 ln(kappa/kappa_K) + lnΓ_d(nu_K/2) - lnΓ_d(nu/2)
//	          + nu/2 ln det S - nu_K/2 ln det S_K
func TestMarginalIsTheProductOfSequentialPredictives(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	p, x := niwtest.Prior(rng, 6), mat.NewDense(9, 6, niwtest.Vector(rng, 54, 0.5))
	sum, want := densities(New(p, niw.FB, false, nil), p, x.RawRowView(0), 0)[0], 0.0
	for i := range 9 {
		if i > 0 {
			sum += one(p, niw.FB, x.Slice(0, i, 0, 6).(*mat.Dense), x.RawRowView(i))
		}
		above, _ := math.Lgamma((p.Nu + float64(i) + 1) / 2)
		below, _ := math.Lgamma((p.Nu + float64(i) - 5) / 2)
		want += above - below - 3*math.Log(math.Pi)
	}
	_, kappa, nu, s := niwtest.Posterior(p, 0, x)
	logDet, _ := mat.LogDet(s)
	want += 3*math.Log(p.Kappa/kappa) + p.Nu/2*p.LogDetS() - nu/2*logDet
	near(t, "marginal likelihood", sum, want, 1e-12)
}

// However far an example lies, it is no impossible query: the difference of two large
// numbers that its quadratic form is stays at or above zero.
func TestFarExamplesAsQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	const d = 12
	for _, far := range []float64{1, 1e4, 1e8, 1e12, 1e30} {
		for k := 1; k <= 6; k++ {
			p, w := niwtest.Prior(rng, d), mat.NewDense(k, d, niwtest.Vector(rng, k*d, 0.5))
			w.Scale(far, w)
			for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
				c, l := New(p, inf, false, []*mat.Dense{w}), make([]float64, 1)
				for i := range k {
					c.LogDensitiesTo(l, w.RawRowView(i))
					nearest, farthest := c.pools[0].post, mat.Norm(w.RowView(i), 2)
					nearest.Kappa += float64(k)
					if !(l[0] >= nearest.LogProb(inf, farthest*farthest*(1+1e-9)) && l[0] <= nearest.LogProb(inf, 0)) || math.IsInf(l[0], 0) {
						t.Errorf("%g away, example %d of %d, %v: %v", far, i, k, inf, l[0])
					}
				}
			}
		}
	}
}

// Equal examples far away, as rows of numbers that were not scaled, still have densities.
func TestFarExamplesHaveDensities(t *testing.T) {
	const d = 5
	for _, far := range []float64{1e6, 1e8, 1e12, 1e30} {
		row := make([]float64, d)
		for i := range row {
			row[i] = far * float64(i+1)
		}
		for _, n := range []int{3, 7} {
			x := mat.NewDense(n, d, nil)
			for i := range n {
				x.SetRow(i, row)
			}
			for _, pooled := range []bool{false, true} {
				dst := make([]float64, 1)
				none := New(niw.HandCrafted(d, 1), niw.FB, pooled, []*mat.Dense{x}).LogDensitiesTo(dst, row)
				if !(dst[0] > none) || math.IsInf(dst[0], 0) {
					t.Errorf("%d examples at %v, pooled %v: log density %v, of none %v", n, far, pooled, dst[0], none)
				}
			}
		}
	}
}
