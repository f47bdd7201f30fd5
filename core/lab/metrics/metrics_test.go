package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/test"
)

func relative(got, want float64) float64 { return math.Abs(got-want) / math.Abs(want) }

// Vectors computed elsewhere are compared in core/lab/oracle.
func TestTallyByHand(t *testing.T) {
	a := NewTally(10)
	p := make([]float64, 2)
	a.Add([]float64{math.Log(3), 0}, 0, 1, p)       // 3/4 for the label
	a.Add([]float64{0, math.Log(9) / 2}, 0, 0.5, p) // 1/10
	for name, v := range map[string][2]float64{
		"accuracy": {a.Accuracy(), 0.5}, "loss": {a.MeanLoss(), (math.Log(4./3) + math.Log(10)) / 2},
		"brier": {a.MeanBrier(), (2*0.0625 + 2*0.81) / 2}, "ece": {a.Bins.ECE(), (0.25 + 0.9) / 2}, "mce": {a.Bins.MCE(), 0.9},
	} {
		if !(relative(v[0], v[1]) < 1e-14) {
			t.Errorf("%s: got %v, want %v", name, v[0], v[1])
		}
	}
	if NewReliability(3).ECE() != 0 {
		t.Error("ECE of nothing is not 0")
	}
}

func TestFitTemperatureIsAMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, scale := range []float64{0.01, 1, 300, 1e9} {
		var scores [][]float64
		var labels []int
		for range 500 {
			s := make([]float64, 4)
			y := rng.IntN(4)
			for j := range s {
				s[j] = rng.NormFloat64() * scale
			}
			s[y] += scale
			scores, labels = append(scores, s), append(labels, y)
		}
		p := make([]float64, 4)
		loss := func(t float64) (sum float64) {
			for i, s := range scores {
				sum += SoftmaxTo(p, s, t) - s[labels[i]]/t
			}
			return sum
		}
		best := FitTemperature(scores, labels)
		for _, f := range []float64{0.9, 0.999, 1.001, 1.1} {
			if !(loss(best) < loss(best*f)) {
				t.Errorf("scale %v: loss at %v is not below that at %v times it", scale, best, f)
			}
		}
	}
}

func TestFitTemperatureStaysBounded(t *testing.T) {
	for name, c := range map[string]struct {
		scores [][]float64
		labels []int
	}{
		"all right":     {[][]float64{{1, 0}, {0, 1}}, []int{0, 1}},
		"all wrong":     {[][]float64{{1, 0}, {0, 1}}, []int{1, 0}},
		"all equal":     {[][]float64{{0, 0}, {0, 0}}, []int{1, 0}},
		"impossible":    {[][]float64{{0, math.Inf(-1)}, {0, 1}}, []int{1, 0}},
		"none":          {nil, nil},
		"huge margins":  {[][]float64{{1e9, 0}, {0, 1e9}, {0, 1e9}}, []int{0, 1, 0}},
		"single column": {[][]float64{{3}}, []int{0}},
	} {
		if got := FitTemperature(c.scores, c.labels); !(got >= minTemperature/2 && got <= maxTemperature*1.0001) {
			t.Errorf("%s: temperature %v", name, got)
		}
	}
}

// Pairwise comparison is the definition of the area under the ROC curve.
func TestAUROCEqualsPairwiseComparison(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		var pos, neg []float64
		for range 1 + rng.IntN(30) {
			pos = append(pos, float64(rng.IntN(8)+1))
		}
		for range 1 + rng.IntN(30) {
			neg = append(neg, float64(rng.IntN(8)))
		}
		want := 0.0
		for _, p := range pos {
			for _, n := range neg {
				if p > n {
					want++
				} else if p == n {
					want += 0.5
				}
			}
		}
		want /= float64(len(pos) * len(neg))
		got := AUROC(pos, neg)
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("AUROC %v, want %v", got, want)
		}
	}
	if !math.IsNaN(AUROC(nil, []float64{1})) {
		t.Error("AUROC without positives is a number")
	}
}

// Scores that are no numbers count as the lowest and stop nothing.
func TestDetectionOfWhatIsNoNumber(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][2][]float64{{{nan}, {nan}}, {{nan, 1}, {0}}, {{1}, {nan, 0, nan}}} {
		got := AUROC(c[0], c[1])
		if !(got >= 0 && got <= 1) {
			t.Errorf("AUROC of %v against %v is %v", c[0], c[1], got)
		}
		got = AUPR(c[0], c[1])
		if !(got >= 0 && got <= 1) {
			t.Errorf("AUPR of %v against %v is %v", c[0], c[1], got)
		}
	}
}

func TestBestIsTheFirstAmongEquals(t *testing.T) {
	for want, scores := range [][]float64{{2, 1, 2}, {1, 2, 2}, {math.Inf(-1), 0, 1}} {
		got := Best(scores)
		if got != want {
			t.Errorf("the best of %v is %d, want %d", scores, got, want)
		}
	}
}

// A loss that no temperature can lower does not move it.
func TestLostLabelsDoNotMoveTheTemperature(t *testing.T) {
	scores, labels := [][]float64{{3, 0}, {1, 2}, {0, 1}, {2, 1}}, []int{0, 1, 0, 0}
	want := FitTemperature(scores, labels)
	got := FitTemperature(append(scores, []float64{5, math.Inf(-1)}), append(labels, 1))
	if !(relative(got, want) < 1e-12) {
		t.Errorf("temperature %v, without the lost label %v", got, want)
	}
}

func TestAUPRByHand(t *testing.T) {
	for name, c := range map[string]struct {
		pos, neg []float64
		want     float64
	}{
		"perfect":    {[]float64{3, 4}, []float64{1, 2}, 1},
		"all tied":   {[]float64{1, 1}, []float64{1, 1, 1}, 0.4},
		"alternates": {[]float64{4, 2}, []float64{3, 1}, 0.5*1 + 0.5*2/3.0},
		"worst":      {[]float64{0}, []float64{1, 2, 3}, 0.25},
	} {
		got := AUPR(c.pos, c.neg)
		if !(math.Abs(got-c.want) <= 1e-15) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestMeanCI(t *testing.T) {
	mean, ci := MeanCI([]float64{1, 2, 3, 4})
	want := 1.96 * math.Sqrt(5.0/3/4)
	if mean != 2.5 || math.Abs(ci-want) > 1e-15 {
		t.Errorf("got %v and %v, want 2.5 and %v", mean, ci, want)
	}
	if _, ci := MeanCI([]float64{7}); ci != 0 {
		t.Errorf("one value has the interval %v", ci)
	}
}

func TestSoftmaxAtTheEdges(t *testing.T) {
	p := make([]float64, 2)
	for _, c := range []struct{ scores, want []float64 }{
		{[]float64{-1e308, 1e308}, []float64{0, 1}},
		{[]float64{math.Inf(-1), 0}, []float64{0, 1}},
		{[]float64{math.Inf(-1), math.Inf(-1)}, []float64{0.5, 0.5}},
		{[]float64{1e6, 1e6}, []float64{0.5, 0.5}},
	} {
		logSum := SoftmaxTo(p, c.scores, 1)
		if p[0] != c.want[0] || p[1] != c.want[1] {
			t.Errorf("softmax%v = %v, want %v", c.scores, p, c.want)
		}
		want := floats.LogSumExp(c.scores)
		if logSum != want {
			t.Errorf("the logarithm of the sum is %v, want %v", logSum, want)
		}
	}
	impossible := NewTally(1)
	if impossible.Add([]float64{math.Inf(-1), 0}, 0, 1, p); impossible.Loss != -math.Log(1e-12) {
		t.Errorf("loss of an impossible label is %v", impossible.Loss)
	}
	alike := NewTally(1)
	if alike.Add([]float64{math.Inf(-1), math.Inf(-1)}, 0, 1, p); alike.Loss != math.Ln2 {
		t.Errorf("loss of one of two impossible labels is %v", alike.Loss)
	}
}

func TestTalliesMergedInOrderAreTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	parts := make([]*Tally, 9)
	p := make([]float64, 3)
	atOnce := NewTally(DefaultBins)
	for i := range parts {
		parts[i] = NewTally(DefaultBins)
		for range 20 {
			scores, label := []float64{rng.NormFloat64(), rng.NormFloat64(), 0}, rng.IntN(3)
			parts[i].Add(scores, label, 0.7, p)
			atOnce.Add(scores, label, 0.7, p)
		}
	}
	merged := NewTally(DefaultBins)
	for _, a := range parts {
		// A shard's tally goes through JSON in the same way.
		text := test.Must(json.Marshal(a))(t)
		back := new(Tally)
		test.OK(t, json.Unmarshal(text, back))
		merged.Merge(back)
	}
	whole := NewTally(DefaultBins)
	for _, a := range parts {
		whole.Merge(a)
	}
	if merged.Loss != whole.Loss || merged.Brier != whole.Brier || merged.Bins.ECE() != whole.Bins.ECE() || merged.Queries != 180 {
		t.Errorf("merged %+v, whole %+v", merged, whole)
	}
	// Up to rounding, as the sums are put together otherwise, it is one tally.
	for name, v := range map[string][2]float64{
		"accuracy": {merged.Accuracy(), atOnce.Accuracy()}, "loss": {merged.MeanLoss(), atOnce.MeanLoss()}, "brier": {merged.MeanBrier(), atOnce.MeanBrier()},
		"ece": {merged.Bins.ECE(), atOnce.Bins.ECE()}, "mce": {merged.Bins.MCE(), atOnce.Bins.MCE()}, "total": {float64(merged.Bins.Total()), 180},
	} {
		if !(relative(v[0], v[1]) < 1e-12) {
			t.Errorf("%s: merged %v, at once %v", name, v[0], v[1])
		}
	}
}
