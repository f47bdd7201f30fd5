package metatrain

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// domainRows returns classes of rows about a centre: their means scatter by
// between, their rows about them by within.
func domainRows(rng *rand.Rand, name string, centre []float64, classes, n int, between, within float64) Labelled {
	dom := &Domain{Name: name, Dim: len(centre)}
	out := Labelled{Domain: dom}
	for range classes {
		mean := make([]float64, len(centre))
		for i, v := range centre {
			mean[i] = v + between*rng.NormFloat64()
		}
		var rows []int
		for range n {
			rows = append(rows, len(dom.X)/dom.Dim)
			for _, v := range mean {
				dom.X = append(dom.X, float32(v+within*rng.NormFloat64()))
			}
		}
		out.Classes = append(out.Classes, rows)
	}
	return out
}

func axis(d, i int, v float64) []float64 {
	x := make([]float64, d)
	x[i] = v
	return x
}

// Classes that had no part in it are recognised as their domain's, and those of
// another domain as of none.
func TestDomainsAreRecognised(t *testing.T) {
	const d = 12
	rng := rand.New(rand.NewPCG(51, 1))
	centres := [][]float64{axis(d, 0, 6), axis(d, 1, 6), axis(d, 2, 6)}
	var domains []Labelled
	for i, c := range centres {
		domains = append(domains, domainRows(rng, string(rune('a'+i)), c, 40, 10, 0.7, 0.5))
	}
	m, ok := NewDomains(d, domains, 2)
	if !ok {
		t.Fatal("not told apart")
	}
	if again, _ := NewDomains(d, domains, 1); !mat.Equal(again.Directions, m.Directions) {
		t.Error("another number of workers, another result")
	}
	// A session of five classes with one row each.
	session := func(centre []float64) []float64 {
		dom := domainRows(rng, "session", centre, 5, 1, 0.7, 0.5)
		mean, z := make([]float64, d), make([]float64, m.Rank())
		for r := range 5 {
			for i, v := range dom.Row(r) {
				mean[i] += float64(v) / 5
			}
		}
		m.CoordinatesTo(z, mean)
		return m.Recognise(z, 5)
	}
	for k, centre := range append(centres, axis(d, 1, -6)) {
		var p float64
		for range 50 {
			p += session(centre)[k] / 50
		}
		if p < 0.9 {
			t.Errorf("sessions of domain %d are found to be of it with a probability of %.2f in the mean", k, p)
		}
	}
}

// The oracle: gonum's covariance of all rows of a domain, and the equation that
// defines the directions.
func TestDomainsAreLinearDiscriminants(t *testing.T) {
	const d = 6
	rng := rand.New(rand.NewPCG(52, 1))
	domains := []Labelled{domainRows(rng, "a", axis(d, 0, 1), 5, 8, 1, 0.5), domainRows(rng, "b", axis(d, 3, 2), 9, 4, 0.3, 0.8), domainRows(rng, "c", axis(d, 5, 1), 4, 6, 0.6, 0.6)}
	m, ok := NewDomains(d, domains, 1)
	if !ok {
		t.Fatal("not told apart")
	}
	s := mat.NewSymDense(d, nil)
	mean, centre := make([][]float64, 3), make([]float64, d)
	for k, dom := range domains {
		n := len(dom.X) / d
		x := mat.NewDense(n, d, nil)
		for i, v := range dom.X {
			x.Set(i/d, i%d, float64(v))
		}
		var cov mat.SymDense
		stat.CovarianceMatrix(&cov, x, nil)
		addTo(s, float64(n-1)/float64(n)/3, &cov)
		mean[k] = make([]float64, d)
		for i := range d {
			mean[k][i] = stat.Mean(mat.Col(nil, i, x), nil)
			centre[i] += mean[k][i] / 3
		}
		// Mean and covariance of the coordinates are those of the rows seen so.
		var z mat.Dense
		z.Mul(x, m.Directions.T())
		var want mat.SymDense
		stat.CovarianceMatrix(&want, &z, nil)
		for i := range m.Rank() {
			near(t, "mean", m.Mean[k][i], stat.Mean(mat.Col(nil, i, &z), nil), 1e-9)
			for j := range m.Rank() {
				near(t, "covariance", m.Cov[k][i*m.Rank()+j], want.At(i, j)*float64(n-1)/float64(n), 1e-9)
			}
		}
	}
	trace := mat.Trace(s) / d
	s.ScaleSym(0.9, s)
	for i := range d {
		s.SetSym(i, i, s.At(i, i)+0.1*trace)
	}
	for k := range m.Rank() {
		var got mat.VecDense
		got.MulVec(s, m.Directions.RowView(k))
		want := mat.NewVecDense(d, nil)
		for i := range d {
			want.SetVec(i, mean[k][i]-centre[i])
		}
		cos := mat.Dot(&got, want) / mat.Norm(&got, 2) / mat.Norm(want, 2)
		near(t, "S w against the difference of means: cosine", cos, 1, 1e-9)
		var v float64
		for j := range domains {
			v += m.Cov[j][k*m.Rank()+k] / 3
		}
		near(t, "mean variance", v, 1, 1e-9)
	}
}

func addTo(dst *mat.SymDense, c float64, a *mat.SymDense) {
	var s mat.SymDense
	s.ScaleSym(c, a)
	dst.AddSym(dst, &s)
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestDomainsTooAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	a := domainRows(rng, "a", axis(4, 0, 1), 3, 4, 1, 1)
	if _, ok := NewDomains(4, []Labelled{a}, 1); ok {
		t.Error("one domain is told from nothing")
	}
	if _, ok := NewDomains(4, []Labelled{a, a}, 1); ok {
		t.Error("a domain is told from itself")
	}
	constant := domainRows(rng, "constant", axis(4, 0, 1), 3, 4, 0, 0)
	if _, ok := NewDomains(4, []Labelled{constant, constant}, 1); ok {
		t.Error("domains without variance are told apart")
	}
}

// The parts are those of the domains, and each weighs one.
func TestScoresOfADomain(t *testing.T) {
	data := Scores{{weight: 0.1, domain: 0}, {weight: 0.4, domain: 1}, {weight: 0.2, domain: 1}, {weight: 0.3, domain: 0}}
	for domain, want := range [][]float64{{0.25, 0.75}, {2. / 3, 1. / 3}, {}} {
		got := data.Of(domain)
		if len(got) != len(want) {
			t.Fatalf("domain %d: %d episodes, want %d", domain, len(got), len(want))
		}
		for i := range want {
			near(t, "weight", got[i].weight, want[i], 1e-15)
		}
	}
	if data[0].weight != 0.1 {
		t.Error("the weights of all were changed")
	}
}
