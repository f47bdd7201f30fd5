package metatrain

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"metaqda/core/episode"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// The features that none of these is fitted on are those the classifier weighs:
// with any weights both give the same probability.
func TestKnownEvidenceIsTheClassifiers(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	const d = 5
	for _, shots := range [][]int{{3, 1, 2}, {1, 1, 1}, {4}, {1}} {
		p, task := randomParams(rng, d), randomTask(rng, d, shots, 3, true)
		c := p.Head.Calibration()
		for range qda.KnownCases {
			row := make([]float64, qda.KnownFeatures)
			for i := range row {
				row[i] = rng.NormFloat64()
			}
			c.Known = append(c.Known, row)
		}
		o := Objective{Inference: niw.FB}
		e, w := NewEngine(d, o), &Workspace{}
		e.Set(p)
		e.Forward(w, task)
		white := &Task{Dim: d, X: w.rows, Shots: task.Shots, Labels: task.Labels}
		scores := newScored(w, white, e.prior, &o)
		got := scores.evidence(&c)
		want := teach(t, p, c, task)
		for i, x := range got.Features {
			none := 1 / (1 + math.Exp(dot(c.Known[got.Form], x[:])))
			if math.Abs(none-want[i]) > 1e-9 {
				t.Errorf("shots %v, query %d: %v by features, %v by the classifier", shots, i, none, want[i])
			}
			if got.Known[i] != (task.Labels[i] != None) {
				t.Errorf("query %d has the wrong answer", i)
			}
		}
	}
}

// teach returns the classifier's probability of none of these for each query, at
// even odds.
func teach(t *testing.T, p *Params, c qda.Calibration, task *Task) (none []float64) {
	t.Helper()
	q, err := qda.New(p.Prior, qda.Options{NonePrior: 0.5, Calibration: c})
	if err != nil {
		t.Fatal(err)
	}
	d, row := task.Dim, 0
	for j, k := range task.Shots {
		if err := q.AddClass(fmt.Sprint(j)); err != nil {
			t.Fatal(err)
		}
		for range k {
			if err := q.Add(fmt.Sprint(j), task.X[row*d:(row+1)*d]); err != nil {
				t.Fatal(err)
			}
			row++
		}
	}
	prob := make([]float64, len(task.Shots))
	for range task.Labels {
		v, err := q.ProbabilitiesTo(prob, task.X[row*d:(row+1)*d])
		if err != nil {
			t.Fatal(err)
		}
		none = append(none, v)
		row++
	}
	return none
}

// Answers drawn from a logistic model give back its weights.
func TestFitKnownRecoversTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	truth := []float64{0.4, 1.5, -0.7, 0.3, -0.5, 0.6, -0.4, 0.2}
	var evidence []Evidence
	for range 400 {
		e := Evidence{Form: 2, Weight: 1}
		known := 0
		for len(e.Known) < 60 {
			x := [qda.KnownFeatures]float64{1}
			for i := 1; i < len(x); i++ {
				x[i] = rng.NormFloat64()
			}
			y := rng.Float64() < 1/(1+math.Exp(-dot(truth, x[:])))
			// Known and unseen count half each, so draw as many of both.
			if y && known == 30 || !y && len(e.Known)-known == 30 {
				continue
			}
			if y {
				known++
			}
			e.Features, e.Known = append(e.Features, x), append(e.Known, y)
		}
		evidence = append(evidence, e)
	}
	got := FitKnown(evidence)
	for i := 1; i < len(truth); i++ { // drawing as many of both moves the constant
		if math.Abs(got[2][i]-truth[i]) > 0.1 {
			t.Errorf("weight %d: got %.3f, want %.3f", i, got[2][i], truth[i])
		}
	}
	if got[0][1] != 0.5 {
		t.Errorf("a form without evidence: %v", got[0])
	}
	if FitKnown(nil) != nil {
		t.Error("weights without evidence")
	}
}

// On classes that resemble the world it was fitted on, the probability of none
// of these comes true.
func TestKnownIsCalibrated(t *testing.T) {
	sd := spread(8)
	fit, test := newWorld(31, 60, 20, 0.2, sd), newWorld(32, 60, 20, 0.2, sd)
	p := &Params{Prior: niw.HandCrafted(8, 1)}
	c := episode.Config{Way: episode.Range{Min: 2, Max: 6}, Shot: episode.Range{Min: 1, Max: 5}, Query: episode.Exactly(4), Strangers: 4}
	var cal qda.Calibration
	collect := func(w *world) []Evidence {
		scores, err := w.validator(t, 200, c).Collect(context.Background(), p, nil, Objective{}, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		return scores.Evidence(&cal)
	}
	known := FitKnown(collect(fit))
	var bias, n float64
	for _, e := range collect(test) {
		taught := 0.0
		for _, y := range e.Known {
			if y {
				taught++
			}
		}
		for i, x := range e.Features {
			share, answer := taught, 1.0
			if !e.Known[i] {
				share, answer = float64(len(e.Known))-taught, 0
			}
			weight := 0.5 / share
			bias += weight * (answer - 1/(1+math.Exp(-dot(known[e.Form], x[:]))))
			n += weight
		}
	}
	if math.Abs(bias/n) > 0.03 {
		t.Errorf("off by %.3f on average", bias/n)
	}
}
