package metatrain

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"metaqda/core/lab/episode"
	"metaqda/core/lda"
	"metaqda/core/niw"
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
	for _, o := range []lda.Options{{Shared: 1, Kappa: 2}, {Shared: 0.3, Kappa: 5, Centre: 1.5, Near: 0.2}} {
		samples, err := Sessions(context.Background(), p, o, &w.domain, []episode.Sampler{s}, 4, 2)
		if err != nil || len(samples) != 4 {
			t.Fatalf("%v %v", err, len(samples))
		}
		for n, got := range samples {
			e := s.Episode(n)
			c := taughtRows(t, p, o, w, &e)
			if got.Way() != 3 {
				t.Fatalf("%d classes", got.Way())
			}
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

func taughtRows(t *testing.T, p *niw.Prior, o lda.Options, w *world, e *episode.Episode) *lda.Classifier {
	t.Helper()
	c := test.Must(lda.New(p, o))(t)
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
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-8*math.Max(1, math.Abs(want[i]))) {
			t.Errorf("%s: [%d] is %v, want %v", what, i, got[i], want[i])
		}
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
	if !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
