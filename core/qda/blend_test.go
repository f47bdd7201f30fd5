package qda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// blendOracle is the blended score with the d×d precision formed explicitly: the
// Student-t or Gaussian of the class's own scale matrix, in which the quadratic
// form alone is that of (1-λ) P + λ I.
func blendOracle(t *testing.T, p *niw.Prior, inf niw.Inference, lambda float64, rows [][]float64, query []float64) float64 {
	t.Helper()
	d, k := p.Dim(), float64(len(rows))
	kj, nj := p.Kappa+k, p.Nu+k
	mean := make([]float64, d)
	for i := range d {
		mean[i] = p.Kappa * p.M[i] / kj
		for _, x := range rows {
			mean[i] += x[i] / kj
		}
	}
	// S_j = S + Σ xxᵀ + kappa mmᵀ - kappa_j m_j m_jᵀ
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, p.L)
	for _, x := range rows {
		s.SymRankOne(s, 1, mat.NewVecDense(d, x))
	}
	s.SymRankOne(s, p.Kappa, mat.NewVecDense(d, p.M))
	s.SymRankOne(s, -kj, mat.NewVecDense(d, mean))
	df := nj - float64(d) + 1
	if inf == niw.MAP {
		s.ScaleSym(1/(nj+float64(d)+2), s)
	} else {
		s.ScaleSym((kj+1)/(kj*df), s)
	}
	var precision, blended mat.Dense
	if err := precision.Inverse(s); err != nil {
		t.Fatal(err)
	}
	blended.Scale(1-lambda, &precision)
	for i := range d {
		blended.Set(i, i, blended.At(i, i)+lambda)
	}
	diff := mat.NewVecDense(d, nil)
	for i := range d {
		diff.SetVec(i, query[i]-mean[i])
	}
	q, n := mat.Inner(diff, &blended, diff), float64(d)
	logDet, _ := mat.LogDet(s)
	if inf == niw.MAP {
		return -n/2*math.Log(2*math.Pi) - logDet/2 - q/2
	}
	a, _ := math.Lgamma((df + n) / 2)
	b, _ := math.Lgamma(df / 2)
	return a - b - n/2*math.Log(math.Pi*df) - logDet/2 - (df+n)/2*math.Log1p(q/df)
}

func TestBlendMatchesTheDensePrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, d := range []int{1, 4, 20} { // 20: low rank; 4: one class of each form
		for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
			for _, lambda := range []float64{0, 0.3, 0.5, 0.99} {
				p := randomPrior(rng, d)
				c, examples := teach(t, p, Options{Inference: inf, RegParam: lambda}, []int{2, 7, 0})
				query := randomVector(rng, d, 0.4)
				got := make([]float64, 3)
				none, err := c.LogDensitiesTo(got, query)
				must(t, err)
				for j, rows := range append(examples, nil) {
					want := blendOracle(t, p, inf, lambda, rows, query)
					if g := append(got, none)[j]; math.Abs(g-want) > 1e-9*math.Max(1, math.Abs(want)) {
						t.Errorf("d=%d %v λ=%v [%d]: got %.12g, want %.12g", d, inf, lambda, j, g, want)
					}
				}
			}
		}
	}
}

// With one class the pooled scale matrix is the class's own.
func TestBlendPooledOfOneClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	for _, d := range []int{3, 20} {
		p, query := randomPrior(rng, d), randomVector(rng, d, 0.4)
		for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
			c, examples := teach(t, p, Options{Inference: inf, RegParam: 0.5, Pooled: true}, []int{5})
			got := make([]float64, 1)
			_, err := c.LogDensitiesTo(got, query)
			must(t, err)
			same(t, inf.String(), got, []float64{blendOracle(t, p, inf, 0.5, examples[0], query)}, 1e-9)
		}
	}
}

// Removing an example gives the bits of a classifier that never had it, the
// blend's own part included.
func TestBlendRemoveIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 1))
	o := variants["blend fb"]
	for _, d := range []int{4, 40} {
		p := randomPrior(rng, d)
		c, examples := teach(t, p, o, []int{4, 3})
		query := randomVector(rng, d, 0.2)
		want := ask(t, c, query)
		must(t, c.Add("c0", randomVector(rng, d, 50)))
		ask(t, c, query)
		must(t, c.Remove("c0", 4))
		same(t, "added and removed", ask(t, c, query), want, 0)
		must(t, c.Remove("c0", 1))
		fresh, err := New(p, o)
		must(t, err)
		for j, rows := range examples {
			must(t, fresh.AddClass(fmt.Sprint("c", j)))
			for i, x := range rows {
				if j != 0 || i != 1 {
					must(t, fresh.Add(fmt.Sprint("c", j), x))
				}
			}
		}
		same(t, "removed from the middle", ask(t, c, query), ask(t, fresh, query), 0)
	}
}

// The share can be changed with examples in place.
func TestBlendSwitchedOnLater(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	p := randomPrior(rng, 12)
	c, _ := teach(t, p, variants["fb"], []int{3, 2})
	query := randomVector(rng, 12, 0.2)
	plain := ask(t, c, query)
	must(t, c.SetOptions(variants["blend fb"]))
	direct, _ := teach(t, p, variants["blend fb"], []int{3, 2})
	same(t, "on", ask(t, c, query), ask(t, direct, query), 0)
	must(t, c.SetOptions(variants["fb"]))
	same(t, "off", ask(t, c, query), plain, 0)
}

func TestBlendRejects(t *testing.T) {
	var value *niw.ValueError
	for _, bad := range []float64{-0.1, 1, math.NaN(), math.Inf(1)} {
		if _, err := New(niw.HandCrafted(2, 1), Options{RegParam: bad}); !errors.As(err, &value) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	huge := niw.HandCrafted(2, 1e80)
	if _, err := New(huge, Options{RegParam: 0.5}); !errors.As(err, &value) {
		t.Errorf("L too large: %v", err)
	}
	c, _ := teach(t, niw.HandCrafted(2, 1e60), Options{RegParam: 0.5}, []int{1})
	if err := c.Add("c0", []float64{1e90, 0}); !errors.As(err, &value) {
		t.Errorf("example too far: %v", err)
	}
	if err := c.AddRows("c0", mat.NewDense(1, 2, []float64{1e90, 0})); !errors.As(err, &value) {
		t.Errorf("row too far: %v", err)
	}
}
