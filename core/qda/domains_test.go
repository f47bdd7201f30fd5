package qda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/niw"
)

// threeDomains are told apart in two directions of embeddings of length d.
func threeDomains(t testing.TB, d int) *Domains {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, uint64(d)))
	w := mat.NewDense(2, d, nil)
	w.Apply(func(int, int, float64) float64 { return rng.NormFloat64() / math.Sqrt(float64(d)) }, w)
	m, err := NewDomains([]string{"a", "b", "c"}, w, [][]float64{{1, 0}, {-0.5, 0.5}, {0.2, -1}},
		[][]float64{{1, 0.3, 0.3, 0.8}, {0.5, -0.2, -0.2, 1.2}, {1.4, 0, 0, 0.7}})
	must(t, err)
	return m
}

// domainCalibration differs between domains in every coefficient.
func domainCalibration(n int) Calibration {
	rng := rand.New(rand.NewPCG(32, 1))
	row := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 0.2 * rng.NormFloat64()
		}
		return x
	}
	known := func() (k [][]float64) {
		for range KnownCases {
			k = append(k, row(KnownFeatures))
		}
		return k
	}
	c := Calibration{LogT: []float64{0.5}, Offset: []float64{0, -0.2}, Known: known(), Tau: row(TauCoefficients - 1)}
	for range n {
		c.Domains = append(c.Domains, DomainCalibration{Known: known(), Tau: row(TauCoefficients)})
	}
	return c
}

// gonum's densities are the oracle.
func TestRecogniseIsBayesRule(t *testing.T) {
	m := threeDomains(t, 5)
	rng := rand.New(rand.NewPCG(33, 1))
	var middle, within, between [4]float64 // middle uses two
	for k := range 3 {
		for i := range 2 {
			middle[i] += m.Mean[k][i] / 3
		}
		for i := range 4 {
			within[i] += m.Cov[k][i] / 3
		}
	}
	for k := range 3 {
		for i := range 4 {
			between[i] += (m.Mean[k][i/2] - middle[i/2]) * (m.Mean[k][i%2] - middle[i%2]) / 2
		}
	}
	density := func(z, mean, cov []float64) float64 {
		n, ok := distmv.NewNormal(mean, mat.NewSymDense(2, cov), nil)
		if !ok {
			t.Fatal("the oracle's covariance is not positive definite")
		}
		return math.Exp(n.LogProb(z))
	}
	for _, classes := range []int{1, 2, 5, 20} {
		for range 10 {
			z := []float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}
			want, sum := make([]float64, 4), 0.0
			for k := range 3 {
				cov := make([]float64, 4)
				for i, v := range m.Cov[k] {
					cov[i] = 1.5 * v / float64(classes)
				}
				want[k] = density(z, m.Mean[k], cov) / 6
			}
			cov := make([]float64, 4)
			for i := range cov {
				cov[i] = between[i] + within[i]/2 + within[i]/float64(classes)
			}
			want[3] = density(z, middle[:2], cov) / 2
			for _, v := range want {
				sum += v
			}
			for i := range want {
				want[i] /= sum
			}
			same(t, fmt.Sprint(classes, z), m.Recognise(slices.Clone(z), classes), want, 1e-12)
		}
	}
	for _, z := range [][]float64{{math.Inf(1), 0}, {math.NaN(), 0}, {0, 1e200}} {
		same(t, fmt.Sprint(z), m.Recognise(z, 5), []float64{0, 0, 0, 1}, 0)
	}
	same(t, "far from all", m.Recognise([]float64{1e90, -1e90}, 5), []float64{0, 0, 0, 1}, 0)
}

// Other coordinates of the same plane change nothing.
func TestRecogniseIsAffine(t *testing.T) {
	m := threeDomains(t, 5)
	a, ai := mat.NewDense(2, 2, []float64{2, -1, 0.5, 3}), new(mat.Dense)
	must(t, ai.Inverse(a))
	var w mat.Dense
	w.Mul(a, m.Directions)
	var mean, cov [][]float64
	for k := range 3 {
		var mk, ck mat.Dense
		mk.Mul(a, mat.NewDense(2, 1, m.Mean[k]))
		ck.Mul(a, mat.NewDense(2, 2, m.Cov[k]))
		ck.Mul(&ck, a.T())
		mean, cov = append(mean, mk.RawMatrix().Data), append(cov, ck.RawMatrix().Data)
	}
	other, err := NewDomains(m.Names, &w, mean, cov)
	must(t, err)
	x := randomVector(rand.New(rand.NewPCG(34, 1)), 5, 1)
	z, v := make([]float64, 2), make([]float64, 2)
	m.CoordinatesTo(z, x)
	other.CoordinatesTo(v, x)
	same(t, "affine", other.Recognise(v, 3), m.Recognise(z, 3), 1e-12)
}

// With domains none of these has the mixture of the probabilities that each gives
// at even odds, and the classes have the mean of the coefficients of τ, in
// proportion to what the examples say, for every form of session and of prior.
func TestSessionUsesWhatItsDomainsDo(t *testing.T) {
	const d = 8
	rng := rand.New(rand.NewPCG(35, 1))
	m := threeDomains(t, d)
	cal := domainCalibration(3)
	seen := make([]float64, 4)
	for _, p := range []*niw.Prior{randomPrior(rng, d), spikedPrior(t, rng, d, 3)} {
		for _, shots := range [][]int{{1}, {3}, {1, 1}, {1, 1, 1, 1}, {3, 1, 2}, {2, 9}} {
			o := Options{NonePrior: 0.3, Calibration: cal, Domains: m}
			c, examples := teach(t, p, o, shots)
			z := make([]float64, 2)
			for _, rows := range examples {
				for _, x := range rows {
					for r := range z {
						z[r] += mat.Dot(m.Directions.RowView(r), mat.NewVecDense(d, x)) / float64(len(rows)*len(shots))
					}
				}
			}
			pi := m.Recognise(z, len(shots))
			for i, v := range pi {
				seen[i] += v
			}
			query := randomVector(rng, d, 0.3)
			each := append(slices.Clone(cal.Domains), DomainCalibration{cal.Known, cal.Tau})
			tau, known, want := make([]float64, TauCoefficients), 0.0, []float64(nil)
			for k, domain := range each {
				for i, v := range domain.Tau {
					tau[i] += pi[k] * v
				}
			}
			for k, domain := range each {
				one := Calibration{LogT: cal.LogT, Offset: cal.Offset, Known: domain.Known, Tau: tau}
				plain, _ := teach(t, p, Options{NonePrior: 0.5, Calibration: one}, shots)
				want = ask(t, plain, query)
				known += pi[k] * (1 - want[len(shots)])
			}
			odds := known / (1 - known) * 0.7 / 0.3
			for i := range shots {
				want[i] *= odds / (1 + odds) / (1 - want[len(shots)])
			}
			want[len(shots)] = 1 / (1 + odds)
			before := ask(t, c, query)
			same(t, fmt.Sprint(shots), before, want, 1e-10)
			must(t, c.Add("c0", query))
			ask(t, c, query)
			must(t, c.Remove("c0", shots[0]))
			if after := ask(t, c, query); !slices.Equal(before, after) {
				t.Errorf("%v: an example left something behind: %v, then %v", shots, before, after)
			}
			o.Domains = nil
			must(t, c.SetOptions(o))
			own := Calibration{LogT: cal.LogT, Offset: cal.Offset, Known: cal.Known, Tau: cal.Tau}
			plain, _ := teach(t, p, Options{NonePrior: 0.3, Calibration: own}, shots)
			same(t, "domains not told apart", ask(t, c, query), ask(t, plain, query), 1e-12)
		}
	}
	for i, v := range seen {
		if v < 0.05 {
			t.Errorf("the sessions say too little of domain %d: %v", i, seen)
		}
	}
}

func TestDomainsErrorsNameTheTrouble(t *testing.T) {
	names := []string{"a", "b"}
	w := func(v ...float64) *mat.Dense { return mat.NewDense(1, len(v), v) }
	one, many := [][]float64{{1}, {1}}, make([]string, maxDomains+1)
	for what, c := range map[string]struct {
		names     []string
		w         *mat.Dense
		mean, cov [][]float64
	}{
		"domains":                          {nil, w(1, 2), nil, nil},
		"domains: many":                    {many, w(1, 2), one, one},
		"directions of the domains":        {names, nil, one, one},
		"directions of the domains: empty": {names, new(mat.Dense), one, one},
		"direction of the domains":         {names, w(1, math.NaN()), one, one},
		"direction of the domains: large":  {names, w(1, 1e13), one, one},
		"means of the domains":             {names, w(1, 2), one[:1], one},
		"covariances of the domains":       {names, w(1, 2), one, one[:1]},
		"mean of a domain":                 {names, w(1, 2), [][]float64{{1}, {1, 2}}, one},
		"mean of a domain: infinite":       {names, w(1, 2), [][]float64{{1}, {math.Inf(1)}}, one},
		"covariance of a domain":           {names, w(1, 2), one, [][]float64{{1}, {math.NaN()}}},
		"variance of a domain":             {names, w(1, 2), one, [][]float64{{1}, {0}}},
		"covariance of a domain: singular": {names, mat.NewDense(2, 2, []float64{1, 0, 0, 1}), [][]float64{{1, 1}, {1, 1}}, [][]float64{{1, 0, 0, 1}, {1, 1, 1, 1}}},
	} {
		_, err := NewDomains(c.names, c.w, c.mean, c.cov)
		var value *niw.ValueError
		var dimension *niw.DimensionError
		if !errors.As(err, &value) && !errors.As(err, &dimension) {
			t.Errorf("%s: %v", what, err)
		}
	}
	m := threeDomains(t, 3)
	p := niw.HandCrafted(2, 1)
	for what, o := range map[string]Options{
		"other dimension":      {Domains: m, Calibration: domainCalibration(3)},
		"other number":         {Domains: threeDomains(t, 2), Calibration: domainCalibration(2)},
		"domains without tau":  {Calibration: Calibration{Known: domainCalibration(1).Known, Domains: domainCalibration(1).Domains}},
		"domain without known": {Calibration: Calibration{Known: domainCalibration(1).Known, Tau: []float64{0}, Domains: []DomainCalibration{{Tau: []float64{0}}}}},
		"domain of NaN":        {Calibration: Calibration{Known: domainCalibration(1).Known, Tau: []float64{0}, Domains: []DomainCalibration{{Known: domainCalibration(1).Known, Tau: []float64{math.NaN()}}}}},
	} {
		if _, err := New(p, o); err == nil {
			t.Errorf("%s passed", what)
		}
	}
}
