package niw

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// denseWeighted returns the log densities of a query under the weighted examples by
// the definition: d×d matrices and gonum's Student-t.
func denseWeighted(t *testing.T, p *Prior, x *mat.Dense, weights, query []float64) (fb, plugIn float64) {
	t.Helper()
	d := p.Dim()
	var l mat.Dense
	l.CloneFrom(p.Dense().L)
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, &l)
	mean, sum := mat.NewVecDense(d, nil), 0.0
	for i, w := range weights {
		mean.AddScaledVec(mean, w, x.RowView(i))
		sum += w
	}
	mean.ScaleVec(1/sum, mean)
	diff := mat.NewVecDense(d, nil)
	for i, w := range weights {
		diff.SubVec(x.RowView(i), mean)
		s.SymRankOne(s, w, diff)
	}
	m := mat.NewVecDense(d, p.M)
	diff.SubVec(mean, m)
	s.SymRankOne(s, p.Kappa*sum/(p.Kappa+sum), diff)
	kappa, nu := p.Kappa+sum, p.Nu+sum
	at := mat.NewVecDense(d, nil)
	at.AddScaledVec(at, p.Kappa/kappa, m)
	at.AddScaledVec(at, sum/kappa, mean)
	df := nu - float64(d) + 1
	scaled := mat.NewSymDense(d, nil)
	scaled.ScaleSym((kappa+1)/(kappa*df), s)
	st, ok := distmv.NewStudentsT(at.RawVector().Data, scaled, df, nil)
	if !ok {
		t.Fatal("oracle not positive definite")
	}
	scaled.ScaleSym(1/(nu+float64(d)+2), s)
	normal, ok := distmv.NewNormal(at.RawVector().Data, scaled, nil)
	if !ok {
		t.Fatal("oracle not positive definite")
	}
	return st.LogProb(query), normal.LogProb(query)
}

// weightedScene is a prior, n examples with weights and their whitened rows.
func weightedScene(rng *rand.Rand, d, n int) (p *Prior, x *mat.Dense, weights []float64) {
	p = HandCrafted(d, 1)
	p.Kappa, p.Nu = 0.2+rng.Float64(), float64(d)+2*rng.Float64()
	for i := range d {
		p.M[i] = rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.3*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.5+rng.Float64())
	}
	x = mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
		weights = append(weights, 0.02+rng.Float64())
	}
	return p, x, weights
}

func (p *Prior) whitenedRows(x *mat.Dense) blas64.General {
	n, d := x.Dims()
	w := mat.NewDense(n, d, nil)
	p.WhitenRowsTo(w, x)
	return w.RawMatrix()
}

func outer(a, b blas64.General) blas64.General {
	c := blas64.General{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows, Data: make([]float64, a.Rows*b.Rows)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c)
	return c
}

// Whatever the point, the density is that of the weighted conjugate update, and
// leaving an example out that of the update without it.
func TestWeightedMatchesDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	for _, d := range []int{1, 3, 12} {
		for _, n := range []int{2, 5, 16} {
			p, x, weights := weightedScene(rng, d, n)
			weights[0], weights[1] = 1, 1e-3
			q := mat.NewDense(n+1, d, nil)
			for i := range d {
				q.Set(n, i, rng.NormFloat64())
			}
			q.Slice(0, n, 0, d).(*mat.Dense).Copy(x) // the examples themselves, and another
			w, v := p.whitenedRows(x), p.whitenedRows(q)
			var g Weighted
			g.Fit(Posterior{Dim: d, Kappa: p.Kappa, Nu: p.Nu, LogDetS: p.LogDetS()}, outer(w, w), weights)
			for b := -1; b < n; b++ {
				rest, restWeights := x, weights
				if b >= 0 {
					rest, restWeights = mat.NewDense(n-1, d, nil), nil
					for i, at := 0, 0; i < n; i++ {
						if i != b {
							rest.SetRow(at, x.RawRowView(i))
							restWeights = append(restWeights, weights[i])
							at++
						}
					}
				}
				for _, inf := range []Inference{FB, MAP} {
					got, r2, without := make([]float64, n+1), make([]float64, n+1), make([]int, n+1)
					for i := range got {
						without[i] = b
						for _, z := range v.Data[i*d : (i+1)*d] {
							r2[i] += z * z
						}
					}
					g.LogProbRowsTo(got, inf, r2, outer(v, w), without)
					for i := range got {
						want, plugIn := denseWeighted(t, p, rest, restWeights, q.RawRowView(i))
						if inf == MAP {
							want = plugIn
						}
						if math.Abs(got[i]-want) > 1e-9*math.Max(1, math.Abs(want)) {
							t.Errorf("d=%d n=%d without %d, %v of %d: %.14g, want %.14g", d, n, b, inf, i, got[i], want)
						}
					}
				}
			}
		}
	}
}

// Examples of weight one are those of a Group, and k of them at one place one of
// weight k.
func TestWeightedIsGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 1))
	p, x, _ := weightedScene(rng, 9, 4)
	w := p.whitenedRows(x)
	gram := outer(w, w)
	sym := mat.NewSymDense(4, nil)
	for i := range 4 {
		for j := range i + 1 {
			sym.SetSym(i, j, gram.Data[i*4+j])
		}
	}
	var group Group
	group.Fit(p, sym)
	var g Weighted
	g.Fit(group.prior, gram, []float64{1, 1, 1, 1})
	a, b := g.post, group.Posterior()
	if a.Kappa != b.Kappa || a.Nu != b.Nu || math.Abs(a.LogDetS-b.LogDetS) > 1e-11 {
		t.Errorf("posterior %v, want %v", a, b)
	}
	got := make([]float64, 4)
	r2 := []float64{gram.Data[0], gram.Data[5], gram.Data[10], gram.Data[15]}
	g.LogProbRowsTo(got, FB, r2, outer(w, w), []int{0, 1, 2, 3})
	for i, v := range got {
		if want := group.LogProbWithout(FB, i); math.Abs(v-want) > 1e-10*math.Abs(want) {
			t.Errorf("without %d: %.14g, want %.14g", i, v, want)
		}
	}
	g.Fit(group.prior, outer(w, w), []float64{1, 1, 1, 3})
	twice := blas64.General{Rows: 6, Cols: 9, Stride: 9, Data: append(append(append([]float64(nil), w.Data...), w.Data[27:]...), w.Data[27:]...)}
	var many Weighted
	many.Fit(group.prior, outer(twice, twice), []float64{1, 1, 1, 1, 1, 1})
	want := make([]float64, 4)
	none := []int{-1, -1, -1, -1}
	g.LogProbRowsTo(got, FB, r2, outer(w, w), none)
	many.LogProbRowsTo(want, FB, r2, outer(w, twice), none)
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-10*math.Abs(want[i]) {
			t.Errorf("point %d: %.14g, want %.14g", i, v, want[i])
		}
	}
}

// Nothing is left of a class without its only example: the prior predictive.
func TestWeightedWithoutItsOnlyExample(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	p, x, _ := weightedScene(rng, 5, 1)
	w := p.whitenedRows(x)
	prior := Posterior{Dim: 5, Kappa: p.Kappa, Nu: p.Nu, LogDetS: p.LogDetS()}
	var g Weighted
	g.Fit(prior, outer(w, w), []float64{0.7})
	got, r2 := make([]float64, 1), outer(w, w).Data
	g.LogProbRowsTo(got, FB, r2, outer(w, w), []int{0})
	if want := prior.LogProb(FB, r2[0]); math.Abs(got[0]-want) > 1e-11*math.Abs(want) {
		t.Errorf("%.14g, want %.14g", got[0], want)
	}
	if len(g.root) != 1 {
		t.Errorf("%d examples, want 1", len(g.root))
	}
}

// Rounding makes no density infinite where examples lie far away or in one place.
func TestWeightedFarAndIdentical(t *testing.T) {
	prior := Posterior{Dim: 3, Kappa: 0.5, Nu: 4}
	for _, scale := range []float64{0, 1, 1e20, 1e60} {
		w := blas64.General{Rows: 6, Cols: 3, Stride: 3, Data: make([]float64, 18)}
		for i := range 6 {
			w.Data[3*i] = scale
		}
		gram := outer(w, w)
		var g Weighted
		g.Fit(prior, gram, []float64{1, 1, 0.3, 0.1, 0.01, 1})
		got, r2 := make([]float64, 6), make([]float64, 6)
		for i := range r2 {
			r2[i] = gram.Data[7*i]
		}
		g.LogProbRowsTo(got, FB, r2, gram, []int{0, 1, 2, 3, -1, -1})
		for i, v := range got {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("scale %g: density %d is %v", scale, i, v)
			}
		}
	}
}
