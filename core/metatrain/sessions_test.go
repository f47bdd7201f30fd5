package metatrain

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/episode"
	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/session"
	"metaqda/core/test"
)

// Sessions over whitened rows score as a classifier does that is taught the rows
// themselves.
func TestSessionsScoreAsTheClassifierDoes(t *testing.T) {
	const d = 5
	w := newWorld(1, 8, 10, 0.5, spread(d))
	p := randomParams(rand.New(rand.NewPCG(43, 44)), d).Prior
	c := episode.Fixed(3, 2, 4)
	c.UnknownClasses = 2
	s := test.Must(episode.NewUniform(w.pool, c, 3))(t)
	for _, o := range []qda.Options{{Shared: 1, Kappa: 2}, {Shared: 0.3, Kappa: 5, Centre: 1.5, Near: 0.2}} {
		samples, err := Sessions(context.Background(), p, o, &w.domain, []episode.Sampler{s}, 4, 2)
		test.StopIf(t, err != nil || len(samples) != 4, "%v %v", err, len(samples))
		for n, got := range samples {
			e := s.Episode(n)
			c := taughtRows(t, p, o, w, &e)
			test.StopIf(t, got.Way() != 3, "%d classes", got.Way())
			near(t, fmt.Sprint("support of ", n), append(got.Scores, got.Unknown...), append(c.Support().Scores, c.Support().Unknown...))
			var query []float64
			for _, r := range e.Query {
				row := make([]float64, 3)
				test.OK(t, c.ScoresTo(row, wide(w.domain.row(r))))
				query = append(query, row...)
			}
			near(t, fmt.Sprint("queries of ", n), got.Query, query)
		}
	}
}

func taughtRows(t *testing.T, p *niw.Prior, o qda.Options, w *world, e *episode.Episode) *qda.Classifier {
	t.Helper()
	c := test.Must(qda.New(p.Clone(), o))(t)
	for j, rows := range e.Support {
		test.OK(t, c.AddClass(fmt.Sprint(j)))
		for _, r := range rows {
			test.OK(t, c.Add(fmt.Sprint(j), wide(w.domain.row(r))))
		}
	}
	return c
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	test.StopIf(t, len(got) != len(want), "%s: %d numbers, want %d", what, len(got), len(want))
	for i := range want {
		test.FailIf(t, !(math.Abs(got[i]-want[i]) <= 1e-8*math.Max(1, math.Abs(want[i]))), "%s: [%d] is %v, want %v", what, i, got[i], want[i])
	}
}

// The mean squared distance within classes, pair by pair.
func TestClassDistanceByPairs(t *testing.T) {
	const d = 4
	w := newWorld(2, 3, 5, 0.5, spread(d))
	p := randomParams(rand.New(rand.NewPCG(3, 4)), d).Prior
	var sum, n float64
	a, b := make([]float64, d), make([]float64, d)
	for _, rows := range w.pool.Rows {
		for i, r := range rows {
			for _, q := range rows[:i] {
				p.WhitenTo(a, wide(w.domain.row(r)))
				p.WhitenTo(b, wide(w.domain.row(q)))
				for k := range a {
					sum += (a[k] - b[k]) * (a[k] - b[k])
				}
				n++
			}
		}
	}
	got := ClassDistance(p, []Labelled{{&w.domain, w.pool.Rows}, {&Domain{Dim: d, X: make([]float32, d)}, [][]int{{0}}}}, 2)
	want := sum / n
	test.FailIf(t, !(math.Abs(got-want) <= 1e-9*want), "got %v, want %v", got, want)
}

// Scores that are so many times larger need a temperature that is so many times higher;
// where the sessions of each domain have one of their own the fit finds how much they
// differ, and predicts better than with one for all.
func TestFitOfSampledWorlds(t *testing.T) {
	var samples, even []session.Sample
	for domain, times := range []float64{0.6, 1, 2.2} {
		w := newWorld(uint64(10+domain), 30, 14, 0.25, []float64{1, 1, 1, 1, 1, 1})
		c := episode.Fixed(4, 5, 4)
		c.UnknownClasses = 4
		s := test.Must(episode.NewUniform(w.pool, c, 3))(t)
		ask := func() []session.Sample {
			part := test.Must(Sessions(context.Background(), niw.HandCrafted(6, math.Sqrt(20)), qda.Options{Shared: 1, Kappa: 1, Centre: 1}, &w.domain, []episode.Sampler{s}, 20, 2))(t)
			for i := range part {
				part[i].Domain = domain
			}
			return part
		}
		part := ask()
		even = append(even, ask()...)
		for i := range part {
			floats.Scale(3*times, part[i].Scores)
			floats.Scale(3*times, part[i].Unknown)
			floats.Scale(3*times, part[i].Query)
		}
		samples = append(samples, part...)
	}
	p, err := session.Fit(samples, nil, 2)
	test.OK(t, err)
	plain := test.Must(session.Fit(even, nil, 2))(t)
	got := p.LogT - plain.LogT - math.Log(3)
	test.FailIf(t, !(math.Abs(got) <= 0.35), "ln T is off by %.3f", got)
	test.FailIf(t, p.LogTemperature.SD < 0.25 || p.LogTemperature.SD > 1.2, "log temperatures deviate by %.3f, made with 0.53", p.LogTemperature.SD)
	one := *p
	one.LogTemperature.SD = 0
	a, b := closedLoss(p, samples), closedLoss(&one, samples)
	test.FailIf(t, a > b-0.002, "loss %.4f, with one temperature for all %.4f", a, b)
	again, err := session.Fit(samples, nil, 1)
	test.FailIf(t, err != nil || *again != *p, "with one worker %+v, with two %+v", again, p)
}

// closedLoss is the mean negative log probability of the right class.
func closedLoss(p *session.Population, samples []session.Sample) (loss float64) {
	var n float64
	for i := range samples {
		s := &samples[i]
		c := s.Way()
		q := p.Infer(&s.Support)
		buffer := make([]float64, 4*c)
		u, even, dst, scratch := buffer[:c], buffer[c:2*c], buffer[2*c:3*c], buffer[3*c:]
		for k, y := range s.Answer {
			if y == session.Unknown {
				continue
			}
			floats.ScaleTo(u, 1/p.Temperature(), s.Query[k*c:(k+1)*c])
			q.ProbabilitiesTo(dst, u, even, 0, scratch)
			loss -= math.Log(dst[y])
			n++
		}
	}
	return loss / n
}
