package metatrain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"metaqda/core/episode"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// tauWorld returns scores of episodes, some with one example a class and some
// with more, and a calibration c for them.
func tauWorld(t *testing.T, seed uint64, n int) (data Scores, c qda.Calibration) {
	t.Helper()
	w := newWorld(seed, 40, 20, 0.2, spread(8))
	for _, most := range []int{1, 4} {
		v := w.validator(t, n, episode.Config{Way: episode.Range{Min: 2, Max: 5}, Shot: episode.Range{Min: 1, Max: most}, Query: episode.Exactly(5), Imbalanced: most > 1, Strangers: 1})
		part, err := v.Collect(context.Background(), &Params{Prior: niw.HandCrafted(8, 1)}, nil, Objective{}, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, part...)
	}
	return data, qda.Calibration{LogT: []float64{0.6, -0.1}, Offset: []float64{0, -0.2}}
}

func TestTauGradient(t *testing.T) {
	data, c := tauWorld(t, 41, 20)
	sessions := tauSessions(data, &c)
	var forms [2]int
	for _, s := range sessions {
		forms[s.session.Form]++
	}
	if forms[0] < 5 || forms[1] < 5 {
		t.Fatalf("%d sessions with both levels, %d with one", forms[0], forms[1])
	}
	for _, x := range [][]float64{{0, 0, 0, 0}, {0.3, -0.2, 0.1, 0.2}, {-0.5, 0.1, -0.2, -0.1, 0.05}} {
		got := make([]float64, len(x))
		tauLoss(x, sessions, got)
		want := fd.Gradient(nil, func(x []float64) float64 { return tauLoss(x, sessions, nil) }, x, &fd.Settings{Formula: fd.Central})
		for r := range want {
			if math.Abs(got[r]-want[r]) > 1e-7 {
				t.Errorf("at %v by coefficient %d: %v, by differences %v", x, r, got[r], want[r])
			}
		}
	}
}

// Answers drawn from the probabilities that coefficients give lead back to them.
func TestFitTauRecoversTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	data, c := tauWorld(t, 42, 1500)
	truth := []float64{-0.3, 0.5, 0.2, -0.4, 0.03}
	for i := range data {
		s := &data[i]
		session := c.Session(s.support)
		u := make([]float64, len(s.shots))
		for k, y := range s.labels {
			if y == None {
				continue
			}
			s.logOdds(u, &c, k)
			sharpness := (&qda.Calibration{Tau: truth}).Sharpness(session, qda.Evidence(u))
			for j := range u {
				u[j] *= sharpness
			}
			softmax(u)
			s.labels[k] = draw(rng, u)
		}
	}
	got := FitTau(data, &c, len(truth))
	for r, v := range truth {
		if math.Abs(got[r]-v) > 0.1 {
			t.Errorf("coefficient %d: got %.3f, want %.3f", r, got[r], v)
		}
	}
}

func draw(rng *rand.Rand, p []float64) int {
	x := rng.Float64()
	for j, v := range p {
		if x -= v; x < 0 {
			return j
		}
	}
	return len(p) - 1
}

func TestFitTauByWhatThereIs(t *testing.T) {
	data, c := tauWorld(t, 45, 40)
	one := slices.DeleteFunc(slices.Clone(data), func(s scored) bool { return slices.Max(s.shots) > 1 })
	if got := FitTau(one, &c, 4); len(got) != 4 || got[0] == 0 || got[1] != 0 || got[2] != 0 || got[3] != 0 {
		t.Errorf("one example each: %v", got)
	}
	if got := FitTau(nil, &c, 4); got != nil {
		t.Errorf("no episodes: %v", got)
	}
}
