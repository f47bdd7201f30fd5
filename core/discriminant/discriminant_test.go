package discriminant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// taught returns a classifier of classes with the given numbers of examples, and these.
func taught(rng *rand.Rand, p *niw.Prior, inf niw.Inference, pooled bool, shots ...int) (*Classifier, [][][]float64) {
	classes, examples := make([]*mat.Dense, len(shots)), make([][][]float64, len(shots))
	for j, k := range shots {
		if k == 0 {
			continue
		}
		classes[j] = mat.NewDense(k, p.Dim(), nil)
		for i := range k {
			x := niwtest.Vector(rng, p.Dim(), float64(j)/2)
			examples[j] = append(examples[j], x)
			p.WhitenTo(classes[j].RawRowView(i), x)
		}
	}
	return New(p, inf, pooled, classes), examples
}

// densities returns the log densities of x, that of a class never seen last.
func densities(c *Classifier, p *niw.Prior, x []float64, way int) []float64 {
	z, l := make([]float64, len(x)), make([]float64, way)
	p.WhitenTo(z, x)
	none := c.LogDensitiesTo(l, z)
	return append(l, none)
}

// pooledOracle is the pooled predictive by gonum's dense Student-t.
func pooledOracle(t *testing.T, p *niw.Prior, examples [][][]float64, query []float64) []float64 {
	t.Helper()
	d, n := p.Dim(), 0
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, p.L)
	means := make([][]float64, len(examples))
	for j, rows := range examples {
		k := float64(len(rows))
		n += len(rows)
		mean := make([]float64, d)
		for _, x := range rows {
			for i, v := range x {
				mean[i] += v / k
			}
		}
		diff := mat.NewVecDense(d, nil)
		for _, x := range rows {
			for i := range d {
				diff.SetVec(i, x[i]-mean[i])
			}
			s.SymRankOne(s, 1, diff)
		}
		means[j] = make([]float64, d)
		for i := range d {
			diff.SetVec(i, mean[i]-p.M[i])
			means[j][i] = (p.Kappa*p.M[i] + k*mean[i]) / (p.Kappa + k)
		}
		s.SymRankOne(s, p.Kappa*k/(p.Kappa+k), diff)
	}
	df := p.Nu + float64(n) - float64(d) + 1
	density := func(m []float64, kappa float64) float64 {
		scaled := mat.NewSymDense(d, nil)
		scaled.ScaleSym((kappa+1)/(kappa*df), s)
		st, ok := distmv.NewStudentsT(m, scaled, df, nil)
		test.StopIf(t, !ok, "oracle not positive definite")
		return st.LogProb(query)
	}
	var out []float64
	for j := range means {
		out = append(out, density(means[j], p.Kappa+float64(len(examples[j]))))
	}
	return append(out, density(p.M, p.Kappa))
}

func compare(t *testing.T, d, j int, got, want float64) {
	t.Helper()
	test.FailIf(t, !(math.Abs(got-want) <= 1e-10*math.Max(1, math.Abs(want))), "d=%d [%d]: got %.12g, want %.12g", d, j, got, want)
}

func TestPooledMatchesDenseStudentT(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 4, 30} { // dense form for 1 and 4, low rank for 30
		p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0.5)
		c, examples := taught(rng, p, niw.FB, true, 3, 1, 5)
		want := pooledOracle(t, p, examples, query)
		for j, g := range densities(c, p, query, 3) {
			compare(t, d, j, g, want[j])
		}
	}
}

// A scale matrix pooled of one class is the class's own.
func TestClassMatchesDenseStudentT(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, d := range []int{1, 4, 20} { // 20: low rank; 4: one class of each form
		p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0.4)
		c, examples := taught(rng, p, niw.FB, false, 2, 7, 0)
		got := densities(c, p, query, 3)
		for j := range 2 {
			compare(t, d, j, got[j], pooledOracle(t, p, examples[j:j+1], query)[0])
		}
		test.FailIf(t, got[2] != got[3], "a class without examples has %v, one never seen %v", got[2], got[3])
	}
}

// The mode is that of the posterior which [niw.Prior.Update] has.
func TestModeIsAGaussian(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	for _, d := range []int{3, 20} {
		p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0.4)
		c, examples := taught(rng, p, niw.MAP, false, 5)
		x := mat.NewDense(5, d, nil)
		for i, v := range examples[0] {
			x.SetRow(i, v)
		}
		post, _ := p.Update(x)
		s := mat.NewSymDense(d, nil)
		s.SymOuterK(1/(post.Nu+float64(d)+2), post.L)
		normal, ok := distmv.NewNormal(post.M, s, nil)
		test.StopIf(t, !ok, "oracle not positive definite")
		compare(t, d, 0, densities(c, p, query, 1)[0], normal.LogProb(query))
	}
}
