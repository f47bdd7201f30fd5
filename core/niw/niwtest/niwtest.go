// Package niwtest makes priors and embeddings for tests, with nothing special about them,
// and has the densities of package niw as the textbook writes them.
package niwtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/niw"
	"metaqda/core/test"
)

// Prior returns a prior of dimension d.
func Prior(rng *rand.Rand, d int) *niw.Prior {
	p := niw.HandCrafted(d, 1)
	p.Kappa, p.Nu = 0.3+rng.Float64(), float64(d)+3*rng.Float64()
	for i := range d {
		p.M[i] = 0.3 * rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.2*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.7+rng.Float64())
	}
	return p
}

// Spiked returns a spiked prior of dimension d and rank r, whose directions are those of
// a QR factorisation.
func Spiked(t testing.TB, rng *rand.Rand, d, r int) *niw.Prior {
	t.Helper()
	scale, lambda := make([]float64, d), make([]float64, r)
	for i := range scale {
		scale[i] = 0.5 + rng.Float64()
	}
	for i := range lambda {
		lambda[i] = math.Exp(rng.NormFloat64())
	}
	var directions *mat.Dense
	if r > 0 {
		var qr mat.QR
		qr.Factorize(mat.NewDense(d, r, Vector(rng, d*r, 0)))
		var q mat.Dense
		qr.QTo(&q)
		directions = mat.DenseCopyOf(q.Slice(0, d, 0, r).T())
	}
	s := test.Must(niw.NewSpiked(scale, directions, lambda))(t)
	p := &niw.Prior{M: Vector(rng, d, 0), Kappa: 0.3 + rng.Float64(), Spiked: s, Nu: float64(d) + rng.Float64()}
	for i := range p.M {
		p.M[i] *= 0.3
	}
	return p
}

// Vector returns d numbers about an offset.
func Vector(rng *rand.Rand, d int, offset float64) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = offset + rng.NormFloat64()
	}
	return x
}

// Posterior is the conjugate update in dense matrices and without whitening. It returns m_j and
// kappa_j of class j, and nu and S with the scatter of all classes. The rows of a class are its
// examples; nil is a class without any. Class -1 is one never seen.
func Posterior(p *niw.Prior, j int, classes ...*mat.Dense) (m []float64, kappa, nu float64, s *mat.SymDense) {
	d := p.Dim()
	m, kappa, nu, s = p.M, p.Kappa, p.Nu, mat.NewSymDense(d, nil)
	s.SymOuterK(1, p.Dense().L)
	for class, x := range classes {
		if x == nil {
			continue
		}
		rows, _ := x.Dims()
		k := float64(rows)
		nu += k
		mean, diff, prior := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil), mat.NewVecDense(d, p.M)
		for i := range rows {
			mean.AddScaledVec(mean, 1/k, x.RowView(i))
		}
		for i := range rows {
			diff.SubVec(x.RowView(i), mean)
			s.SymRankOne(s, 1, diff)
		}
		diff.SubVec(mean, prior)
		s.SymRankOne(s, p.Kappa*k/(p.Kappa+k), diff)
		if class == j {
			kappa += k
			mean.AddScaledVec(prior, k/kappa, diff)
			m = mean.RawVector().Data
		}
	}
	return m, kappa, nu, s
}

// LogProb is the log density of a query under class j of [Posterior], computed by gonum's
// distributions.
func LogProb(t testing.TB, p *niw.Prior, inf niw.Inference, query []float64, j int, classes ...*mat.Dense) float64 {
	t.Helper()
	m, kappa, nu, s := Posterior(p, j, classes...)
	d := float64(p.Dim())
	if inf == niw.MAP {
		s.ScaleSym(1/(nu+d+2), s)
		n, ok := distmv.NewNormal(m, s, nil)
		if !ok {
			t.Fatal("oracle: covariance not positive definite")
		}
		return n.LogProb(query)
	}
	df := nu - d + 1
	s.ScaleSym((kappa+1)/(kappa*df), s)
	st, ok := distmv.NewStudentsT(m, s, df, nil)
	if !ok {
		t.Fatal("oracle: scale matrix not positive definite")
	}
	return st.LogProb(query)
}
