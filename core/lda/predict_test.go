package lda

import (
	"cmp"
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
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// An affine change of coordinates of pictures and prior together changes no answer.
func TestAnswersAreEquivariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 1))
	for _, d := range []int{1, 4, 15} {
		p, s, x := niwtest.Prior(rng, d), randomScene(rng, d, 3, 6, 1), niwtest.Vector(rng, d, 1)
		a, shift := niwtest.Prior(rng, d).L.RawTriangular(), niwtest.Vector(rng, d, -3)
		transform := func(v []float64) []float64 {
			v = slices.Clone(v)
			blas64.Trmv(blas.NoTrans, a, blas64.Vector{N: d, Data: v, Inc: 1})
			floats.Add(v, shift)
			return v
		}
		q := &niw.Prior{M: transform(p.M), Kappa: p.Kappa, L: mat.NewTriDense(d, mat.Lower, nil), Nu: p.Nu}
		q.L.MulTri(mat.NewTriDense(d, mat.Lower, a.Data), p.L)
		other := make(scene, len(s))
		for j, pictures := range s {
			for _, v := range pictures {
				other[j] = append(other[j], transform(v))
			}
		}
		for variant, o := range variants {
			o.Centre, o.Parts = 0.4, nil // in other coordinates the parts are others
			same(t, fmt.Sprint(variant, " d=", d), ask(t, other.teach(t, q, o), transform(x)), ask(t, s.teach(t, p, o), x), 1e-9)
		}
	}
}

func TestDegenerateSessions(t *testing.T) {
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
				for _, o.Centre = range []float64{0, 1e-9, 1, math.MaxFloat64} {
					for _, o.Near = range []float64{0, 4} {
						o.Kappa = kappa
						c := s.teach(t, niw.HandCrafted(d, 1), o)
						for _, pictures := range s {
							for _, x := range pictures {
								ask(t, c, x)
							}
						}
						ask(t, c, []float64{1e60, -1e60, 0, 0, 0, 1}) // far away still sums to one
						if t.Failed() {
							t.Fatalf("%s, %s, kappa %v, centre %v", name, variant, kappa, o.Centre)
						}
					}
				}
			}
		}
	}
}

// The same prior with a factor L is the oracle.
func TestSpikedPriorAnswersAsItsFactorDoes(t *testing.T) {
	const d, r = 8, 3
	p := niwtest.Spiked(t, rand.New(rand.NewPCG(7, 1)), d, r)
	for name, o := range variants {
		for _, shots := range [][]int{{1}, {1, 1}, {3, 5, 2, 0}, {3, 9, 1}} {
			spiked, examples := teach(t, p, o, shots)
			dense, _ := teach(t, p.Dense(), o, shots)
			for range 3 {
				x := niwtest.Vector(rand.New(rand.NewPCG(8, uint64(len(shots)))), d, 0.5)
				same(t, name, ask(t, spiked, x), ask(t, dense, x), 1e-10)
			}
			before := ask(t, spiked, examples[0][0])
			test.OK(t, spiked.Add("c0", examples[0][0]))
			test.OK(t, spiked.Remove("c0", shots[0]))
			after := ask(t, spiked, examples[0][0])
			if !slices.Equal(before, after) {
				t.Errorf("%s: %v before adding and removing, %v after", name, before, after)
			}
			test.OK(t, spiked.Remove("c0", 0))
			test.OK(t, dense.Remove("c0", 0))
			if spiked.Count("c0") > 0 || len(shots) > 1 {
				same(t, name+", after a removal", ask(t, spiked, examples[0][0]), ask(t, dense, examples[0][0]), 1e-10)
			}
		}
	}
}

// answer does what the doc comment of [Predictor] says, and nothing else.
func (f *Predictor) answer(x []float64) (p []float64, none float64) {
	if f.Share != 0.5 {
		x = slices.Clone(x)
		(&Parts{First: f.First}).Apply(x, f.Share)
	}
	u := make([]float64, len(f.Labels))
	s := make([]float64, len(u))
	for j := range u {
		u[j] = floats.Dot(f.Weights.RawRowView(j), x) + f.Intercept[j]
		s[j] = u[j] + f.LogPrior[j]
	}
	p = make([]float64, len(u))
	for k, t := range f.Session.InverseT {
		e := make([]float64, len(u))
		for j := range e {
			e[j] = t*u[j] + f.LogPrior[j]
		}
		sum := floats.LogSumExp(e)
		for j := range e {
			p[j] += f.Session.HardWeight[k] * math.Exp(e[j]-sum)
		}
	}
	known := 0.0
	for k, w := range f.Session.KnownWeight {
		known += w / (1 + math.Exp(-(f.Session.Slope[k]*floats.LogSumExp(s) + f.Session.Offset[k] + f.LogOdds)))
	}
	floats.Scale(known, p)
	return p, 1 - known
}

// The oracle is the classifier itself.
func TestPredictorAnswersAreThoseOfTheClassifier(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 1))
	asked := 0
	for priorName, p := range priors(t, rng) {
		for sessionName, shots := range sessions {
			s := randomScene(rng, p.Dim(), shots...)
			for variant, o := range variants {
				for _, o.Centre = range []float64{0, 1} {
					o.Near = 0.01
					c := s.teach(t, p, o)
					f := test.Must(c.Predictor())(t)
					for range 2 {
						x := niwtest.Vector(rng, p.Dim(), 1)
						got, none := f.answer(x)
						want := make([]float64, len(c.classes))
						wantNone := test.Must(c.ProbabilitiesTo(want, x))(t)
						var taught []float64
						var labels []string
						for j, k := range c.classes {
							if k.count() > 0 {
								taught, labels = append(taught, want[j]), append(labels, k.label)
							}
						}
						if !slices.Equal(f.Labels, labels) {
							t.Errorf("labels %q of those taught, %q", f.Labels, labels)
						}
						same(t, priorName+", "+sessionName+", "+variant, append(got, none), append(taught, wantNone), 1e-9)
						asked++
					}
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d questions asked", asked)
	}
}

// By the definition: with S = s² I the whitened distance is the plain one over s. The first
// few of many are those of the whole order, ties by what was taught first.
func TestNearestByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 1))
	const d, scale = 150, 4.0
	c := test.Must(New(niw.HandCrafted(d, scale), with(Options{})))(t)
	var all []Neighbour // in the order taught
	var vectors [][]float64
	twin := niwtest.Vector(rng, d, 1) // the same picture in several classes
	for k := range 40 {
		label := string(rune('A' + k))
		test.OK(t, c.AddClass(label))
		for i := range 12 {
			x := niwtest.Vector(rng, d, 1)
			if k%5 == 4 {
				x = twin
			}
			test.OK(t, c.Add(label, x))
			all, vectors = append(all, Neighbour{Label: label, Picture: i}), append(vectors, x)
		}
	}
	test.OK(t, c.AddClass("empty"))
	for _, x := range [][]float64{niwtest.Vector(rng, d, 1), twin} {
		want := slices.Clone(all)
		for i, v := range vectors {
			want[i].Distance = floats.Distance(x, v, 2) / scale
		}
		slices.SortStableFunc(want, func(a, b Neighbour) int { return cmp.Compare(a.Distance, b.Distance) })
		got := test.Must(c.Nearest(x, 1000))(t)
		if len(got) != len(want) {
			t.Fatalf("%d neighbours of %d pictures", len(got), len(want))
		}
		for i, n := range got {
			if n.Label != want[i].Label || n.Picture != want[i].Picture || math.Abs(n.Distance-want[i].Distance) > 1e-9 {
				t.Errorf("neighbour %d is %v, want %v", i, *n, want[i])
			}
		}
		for _, n := range []int{0, 1, 4, 99} {
			some, err := c.Nearest(x, n)
			if err != nil || !slices.EqualFunc(some, got[:n], func(a, b *Neighbour) bool { return *a == *b }) {
				t.Errorf("the first %d are not those of all (%v)", n, err)
			}
		}
	}
}

func TestNearestTakesABurstOnce(t *testing.T) {
	const d = 4
	c := test.Must(New(niw.HandCrafted(d, 1), with(Options{Near: 0.5})))(t)
	test.OK(t, c.AddClass("cup"))
	for _, v := range []float64{1, 1.01, 1.02, 9} {
		test.OK(t, c.Add("cup", []float64{v, 0, 0, 0}))
	}
	got := test.Must(c.Nearest([]float64{1.011, 0, 0, 0}, 3))(t)
	if len(got) != 2 || got[0].Picture != 1 || got[1].Picture != 3 {
		t.Errorf("nearest %v, want the second frame of the burst and the last picture", got)
	}
}

// The oracle is the score that answers are made of. Without parts the weights are those of
// every x.
func TestWeightsAreThoseOfTheScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 2))
	asked, reweighted := 0, 0
	for priorName, p := range priors(t, rng) {
		for sessionName, shots := range sessions {
			s := randomScene(rng, p.Dim(), shots...)
			for variant, o := range variants {
				c := s.teach(t, p, o)
				temperature := c.answering().population().Temperature()
				for range 2 {
					x := niwtest.Vector(rng, p.Dim(), 1)
					taught := c.answering().taught
					u := make([]float64, len(taught))
					test.OK(t, c.ScoresTo(u, x))
					i, j := rng.IntN(len(u)), rng.IntN(len(u)+1)
					want, against := u[i], ""
					if j < len(u) {
						want, against = want-u[j], taught[j].label
					}
					w := make([]float64, p.Dim())
					rest := test.Must(c.WeightsTo(w, x, taught[i].label, against))(t)
					same(t, priorName+", "+sessionName+", "+variant, []float64{floats.Dot(w, x) + rest}, []float64{want / temperature}, 1e-9)
					again := make([]float64, p.Dim())
					restAgain := test.Must(c.WeightsTo(again, niwtest.Vector(rng, p.Dim(), 1), taught[i].label, against))(t)
					same(t, variant+", the rest elsewhere", []float64{restAgain}, []float64{rest}, 1e-8)
					if c.options.Parts == nil {
						same(t, variant+", elsewhere", again, w, 1e-8)
					} else if c.answering() != c {
						reweighted++
					}
					asked++
				}
			}
		}
	}
	if asked < 50 || reweighted < 10 {
		t.Errorf("only %d questions asked, %d of them of a session that chose a share", asked, reweighted)
	}
	c := test.Must(New(niw.HandCrafted(3, 1), with(Options{})))(t)
	test.OK(t, c.AddClass("empty"))
	w, x := make([]float64, 3), []float64{1, 2, 3}
	if _, err := c.WeightsTo(w, x, "empty", ""); err != ErrNoExamples {
		t.Errorf("a class without examples: %v", err)
	}
	test.Refused[*LabelError](t, test.Err(c.WeightsTo(w, x, "unknown", "")), "an unknown class")
}
