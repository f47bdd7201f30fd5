package qda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

// answer does what the doc comment of [Predictor] says, and nothing else.
func (f *Predictor) answer(x []float64) (p []float64, none float64) {
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
					f, err := c.Predictor()
					must(t, err)
					for range 2 {
						x := randomVector(rng, p.Dim(), 1)
						got, none := f.answer(x)
						want := make([]float64, len(c.classes))
						wantNone, err := c.ProbabilitiesTo(want, x)
						must(t, err)
						var taught []float64
						for j, k := range c.classes {
							if k.count() > 0 {
								taught = append(taught, want[j])
							}
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

func TestPredictorLabelsAreThoseTaught(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 2))
	c := randomScene(rng, 6, 2, 0, 3).teach(t, spikedPrior(t, rng, 6, 2), Options{Shared: 0.6, Kappa: 3, NonePrior: 0.2, Population: somePopulation()})
	f, err := c.Predictor()
	must(t, err)
	if len(f.Labels) != 2 || f.Labels[0] != "c0" || f.Labels[1] != "c2" {
		t.Errorf("labels %q", f.Labels)
	}
	x := randomVector(rng, 6, 1)
	want := ask(t, c, x)
	got, _ := f.answer(x)
	same(t, "two of three", got, []float64{want[0], want[2]}, 1e-12)
}

func TestNothingTaughtCannotBeExported(t *testing.T) {
	c, err := New(niw.HandCrafted(3, 1), with(Options{}))
	must(t, err)
	must(t, c.AddClass("cup"))
	if _, err := c.Predictor(); !errors.Is(err, ErrNoExamples) {
		t.Errorf("error %v, want that there are no examples", err)
	}
}
