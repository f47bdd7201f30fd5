package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"metaqda/core/metrics"
)

func TestBalanceGradientByFiniteDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	l := balanceLoss{base: 3}
	for i := range 40 {
		row := make([]float64, 5)
		for c := range row {
			row[c] = 3 * rng.NormFloat64()
		}
		l.scores, l.labels = append(l.scores, row), append(l.labels, i%5)
	}
	x, got, scratch := []float64{-0.5, 0.3, 0.7}, make([]float64, 3), make([]float64, 3)
	l.loss(got, x)
	want := fd.Gradient(nil, func(x []float64) float64 { return l.loss(scratch, x) }, x, &fd.Settings{Formula: fd.Central})
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-7 {
			t.Errorf("derivative %d is %v, by differences %v", k, got[k], want[k])
		}
	}
}

// Scores that were made from known logits must be put back.
func TestBalanceIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	truth := balance{0.5, 2, -3}
	l := balanceLoss{base: 4}
	p := make([]float64, 6)
	for range 20000 {
		row := make([]float64, 6)
		for c := range row {
			row[c] = 2 * rng.NormFloat64()
		}
		logits := append([]float64(nil), row...)
		truth.apply(logits, 4)
		metrics.SoftmaxTo(p, logits, 1)
		u, y := rng.Float64(), 0
		for u > p[y] && y < 5 {
			u -= p[y]
			y++
		}
		l.scores, l.labels = append(l.scores, row), append(l.labels, y)
	}
	got := l.minimise()
	if got == nil || math.Abs(got.base-truth.base) > 0.05 || math.Abs(got.novel-truth.novel) > 0.1 || math.Abs(got.offset-truth.offset) > 0.2 {
		t.Errorf("got %+v, want about %+v", got, truth)
	}
}
