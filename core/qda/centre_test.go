package qda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// session is a number of classes of raw pictures.
type scene [][][]float64

// randomSession draws classes about a point far from the prior mean, of which
// some pictures are frames of a burst.
func randomScene(rng *rand.Rand, d int, shots ...int) scene {
	s := make(scene, len(shots))
	middle := randomVector(rng, d, 2)
	for j, k := range shots {
		centre := randomVector(rng, d, 0)
		floats.Add(centre, middle)
		for i := range k {
			x := randomVector(rng, d, 0)
			floats.Add(x, centre)
			if i > 0 && i%3 == 0 {
				x = slices.Clone(s[j][i-1])
				x[0] += 0.01
			}
			s[j] = append(s[j], x)
		}
	}
	return s
}

func (s scene) teach(t testing.TB, p *niw.Prior, o Options) *Classifier {
	t.Helper()
	c, err := New(p, o)
	must(t, err)
	for j, pictures := range s {
		must(t, c.AddClass(fmt.Sprint("c", j)))
		for _, x := range pictures {
			must(t, c.Add(fmt.Sprint("c", j), x))
		}
	}
	return c
}

// sessionMean is m_s by its definition, from raw pictures.
func (s scene) mean(c *Classifier) []float64 {
	p, total := c.prior, c.options.Centre
	m, classes := make([]float64, p.Dim()), 0
	for j, pictures := range s {
		if len(pictures) == 0 || classes == centreClasses {
			continue
		}
		classes++
		label := fmt.Sprint("c", j)
		k := min(c.Bursts(label), centreExamples)
		a := p.Kappa * float64(k) / (p.Kappa + float64(k))
		total += a
		for i, x := range pictures {
			b, size := c.BurstOf(label, i)
			if b >= k {
				continue
			}
			weight := a / float64(k) / float64(size)
			for l, v := range x {
				m[l] += weight * (v - p.M[l])
			}
		}
	}
	floats.Scale(1/total, m)
	floats.Add(m, p.M)
	return m
}

// everything that a classifier says about x.
func everything(t testing.TB, c *Classifier, x []float64) []float64 {
	t.Helper()
	l := make([]float64, len(c.classes))
	none, err := c.LogDensitiesTo(l, x)
	must(t, err)
	return append(append(ask(t, c, x), l...), none)
}

func priors(t testing.TB, rng *rand.Rand) map[string]*niw.Prior {
	return map[string]*niw.Prior{"d=1": randomPrior(rng, 1), "d=3": randomPrior(rng, 3), "d=30": randomPrior(rng, 30), "spiked": spikedPrior(t, rng, 20, 4), "spiked d=4": spikedPrior(t, rng, 4, 2)}
}

var sessions = map[string][]int{
	"one picture": {1}, "one class": {7}, "one each": {1, 1, 1}, "uneven": {3, 5, 2, 0, 1}, "long": {0, 14, 2, 11},
	"many classes": {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
}

// The oracle is the same classifier over the prior whose mean is that of the
// session.
func TestCentreIsAnotherPriorMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(50, 1))
	for priorName, p := range priors(t, rng) {
		for sessionName, shots := range sessions {
			s := randomScene(rng, p.Dim(), shots...)
			for variant, o := range variants {
				for _, o.Near = range []float64{0, 0.01} {
					for _, o.Centre = range []float64{0.05, 1, 20} {
						if o.Pooled || o.Shared > 0 {
							continue
						}
						c := s.teach(t, p, o)
						moved, off := p.Clone(), o
						moved.M, off.Centre = s.mean(c), 0
						want := s.teach(t, moved, off)
						for range 2 {
							x := randomVector(rng, p.Dim(), 1)
							same(t, fmt.Sprint(priorName, ", ", sessionName, ", ", variant, ", ", o.Near, ", ", o.Centre), everything(t, c, x), everything(t, want, x), 1e-8)
						}
					}
				}
			}
		}
	}
}

func TestCentreOffIsOffToTheBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	for _, p := range priors(t, rng) {
		s, x := randomScene(rng, p.Dim(), 3, 9, 1), randomVector(rng, p.Dim(), 1)
		for variant, o := range variants {
			if o.Shared > 0 {
				continue // which has no prior mean to keep to
			}
			c := s.teach(t, p, o)
			off := everything(t, c, x)
			o.Centre = 1e300
			must(t, c.SetOptions(o))
			same(t, variant+", huge", everything(t, c, x), off, 1e-9)
			o.Centre = 0.5
			must(t, c.SetOptions(o))
			if on := everything(t, c, x); slices.Equal(on, off) != o.Pooled {
				t.Errorf("%s: %v with a centre, %v without", variant, on, off)
			}
			o.Centre = 0
			must(t, c.SetOptions(o))
			same(t, variant+", off again", everything(t, c, x), off, 0)
		}
	}
}

func TestCentreDoesNotKnowTheOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 1))
	for name, p := range priors(t, rng) {
		s, x := randomScene(rng, p.Dim(), 3, 8, 2), randomVector(rng, p.Dim(), 1)
		for variant, o := range variants {
			o.Centre = 0.7
			want := ask(t, s.teach(t, p, o), x)
			turned := scene{slices.Clone(s[2]), slices.Clone(s[0]), slices.Clone(s[1])}
			for _, k := range turned {
				slices.Reverse(k)
			}
			got := ask(t, turned.teach(t, p, o), x)
			same(t, name+", "+variant, []float64{got[1], got[2], got[0], got[3]}, want, 1e-10)
		}
	}
}

func TestCentreComesToRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	const d = 12
	p, shots := randomPrior(rng, d), slices.Repeat([]int{centreExamples}, centreClasses)
	s, x := randomScene(rng, d, shots...), randomVector(rng, d, 1)
	c := s.teach(t, p, Options{NonePrior: 0.2, Centre: 1})
	ask(t, c, x)
	want := slices.Clone(c.centre.delta)
	must(t, c.AddClass("one more"))
	for _, label := range []string{"c0", "c31", "one more", "c5"} {
		must(t, c.Add(label, randomVector(rng, d, 9)))
		ask(t, c, x)
		if !slices.Equal(c.centre.delta, want) {
			t.Errorf("the mean of the session moves with a picture of %s", label)
		}
	}
	must(t, c.Remove("c0", 2))
	ask(t, c, x)
	if slices.Equal(c.centre.delta, want) {
		t.Error("the mean of the session does not move when one of its pictures goes")
	}
}

func TestAddThenRemoveWithACentreGivesTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 1))
	for name, p := range priors(t, rng) {
		for _, near := range []float64{0, 0.01} {
			s, x := randomScene(rng, p.Dim(), 3, 1, p.Dim()-1, 11), randomVector(rng, p.Dim(), 1)
			o := variants["session"]
			o.Near, o.Centre = near, 0.5
			c := s.teach(t, p, o)
			want := everything(t, c, x)
			for j := range s {
				label := fmt.Sprint("c", j)
				must(t, c.Add(label, randomVector(rng, p.Dim(), 1)))
				everything(t, c, x)
				must(t, c.Remove(label, len(s[j])))
				same(t, fmt.Sprint(name, ", ", label), everything(t, c, x), want, 0)
			}
			must(t, c.AddClass("new"))
			must(t, c.Add("new", x))
			ask(t, c, x)
			must(t, c.RemoveClass("new"))
			same(t, name+", class", everything(t, c, x), want, 0)
		}
	}
}

// Bits of a session that is edited are those of one taught as it is.
func TestCentreOfAnEditedSession(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 1))
	for name, p := range priors(t, rng) {
		s := randomScene(rng, p.Dim(), 4, 9, 2)
		o := variants["session"]
		o.Centre = 2
		c, x := s.teach(t, p, o), randomVector(rng, p.Dim(), 1)
		for j, i := range []int{2, 0, 1} {
			ask(t, c, x)
			must(t, c.Remove(fmt.Sprint("c", j), i))
			s[j] = slices.Delete(s[j], i, i+1)
		}
		same(t, name, everything(t, c, x), everything(t, s.teach(t, p, o), x), 1e-10)
	}
}

func TestCentreIsEquivariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 1))
	for _, d := range []int{1, 4, 15} {
		p, s, x := randomPrior(rng, d), randomScene(rng, d, 3, 6, 1), randomVector(rng, d, 1)
		a, shift := randomPrior(rng, d).L.RawTriangular(), randomVector(rng, d, -3)
		transform := func(v []float64) []float64 {
			v = slices.Clone(v)
			blas64.Trmv(blas.NoTrans, a, blas64.Vector{N: d, Data: v, Inc: 1})
			floats.Add(v, shift)
			return v
		}
		q := p.Clone()
		q.M = transform(p.M)
		q.L = mat.NewTriDense(d, mat.Lower, nil)
		var l mat.Dense
		l.Mul(mat.NewTriDense(d, mat.Lower, a.Data), p.L)
		for i := range d {
			for j := range i + 1 {
				q.L.SetTri(i, j, l.At(i, j))
			}
		}
		other := make(scene, len(s))
		for j, pictures := range s {
			for _, v := range pictures {
				other[j] = append(other[j], transform(v))
			}
		}
		for variant, o := range variants {
			o.Centre = 0.4
			same(t, fmt.Sprint(variant, " d=", d), ask(t, other.teach(t, q, o), transform(x)), ask(t, s.teach(t, p, o), x), 1e-9)
		}
	}
}

func TestCentreOfDegenerateSessions(t *testing.T) {
	const d = 6
	all := func(v float64) []float64 { return slices.Repeat([]float64{v}, d) }
	for name, s := range map[string]scene{
		"one example":            {{all(2)}},
		"identical examples":     {slices.Repeat([][]float64{all(2)}, 9), {all(-1)}},
		"identical classes":      {{all(2), all(2)}, {all(2), all(2)}},
		"at the prior mean":      {{all(0), all(0)}, {all(0)}},
		"offset 1e3":             {{all(1e3), all(1001)}, {all(999)}},
		"offset 1e7":             {{all(1e7), all(1e7 + 1)}, {all(1e7 - 1)}},
		"offset 1e30":            {{all(1e30), all(1.1e30), all(1e30), all(1e29), all(1e30)}, {all(3e30)}},
		"almost overflowing":     {{all(1e69), all(2e69)}, {all(-1e69)}},
		"opposite":               {{all(1e5)}, {all(-1e5)}},
		"far class, near class":  {{all(1e12)}, {all(1), all(2)}},
		"empty class beside one": {{}, {all(3)}},
	} {
		for _, kappa := range []float64{1e-9, 1, 1e9} {
			for variant, o := range variants {
				for _, o.Centre = range []float64{5e-324, 1e-9, 1, math.MaxFloat64} {
					for _, o.Near = range []float64{0, 4} {
						if o.Pooled || o.Shared > 0 {
							continue
						}
						p := niw.HandCrafted(d, 1)
						p.Kappa = kappa
						c := s.teach(t, p, o)
						for _, pictures := range s {
							for _, x := range pictures {
								ask(t, c, x)
							}
						}
						if t.Failed() {
							t.Fatalf("%s, %s, kappa %v, centre %v", name, variant, kappa, o.Centre)
						}
					}
				}
			}
		}
	}
}

func TestCentreDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 1))
	for name, p := range map[string]*niw.Prior{"full": randomPrior(rng, 20), "spiked": spikedPrior(t, rng, 20, 4)} {
		o := variants["session"]
		o.Centre = 1
		c, x := randomScene(rng, 20, 5, 5, 5).teach(t, p, o), randomVector(rng, 20, 1)
		out := make([]float64, 3)
		if n := testing.AllocsPerRun(100, func() { _, _ = c.ProbabilitiesTo(out, x) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCentreIsANumberFromZero(t *testing.T) {
	for _, centre := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := New(niw.HandCrafted(2, 1), Options{Centre: centre}); err == nil {
			t.Errorf("centre %v is taken", centre)
		}
	}
}
