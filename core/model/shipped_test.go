package model_test

import (
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/experiment"
	"metaqda/core/test"
)

// The prior that the page begins with, on small real embeddings: 19 concepts drawn as
// emoji in six art styles. Queries are in styles new to their class. Half of them are of classes
// that were not taught. The floors are some points below the measured figures. That leaves room for
// a prior that is learned anew.
func TestShippedPriorOnEmoji(t *testing.T) {
	const name = "../../web/prior/default.safetensors"
	prior := test.Must(experiment.DecodePrior(name, test.Must(os.ReadFile(name))(t)))(t)
	set := test.Must(dataset.Load("../../testdata/dataset/emoji.npz"))(t)
	plan := test.Must(experiment.NewPlan(experiment.OpenSet))(t)
	plan.Shots, plan.Queries, plan.Tasks, plan.ValTasks, plan.Seed, plan.Split = []int{1, 2, 5}, 1, 200, 0, 1, "all"
	plan.Methods = test.Must(experiment.Choose(experiment.Methods(), "metaqda", "ncc-l2n"))(t)
	part := test.Must(plan.Run(t.Context(), []experiment.Domain{{Set: set, Prior: prior}}))(t)
	report := part.Report()
	for _, floor := range []struct {
		shot     int
		accuracy float64
		centroid float64 // how much better than the nearest centroid
		ece      float64 // at most
		auroc    float64 // of none, and above that of one minus the largest probability
		noneECE  float64 // at most
	}{
		{1, 0.83, 0.02, 0.10, 0.84, 0.10},
		{2, 0.91, 0.015, 0.045, 0.89, 0.11},
		{5, 0.95, 0.01, 0.035, 0.92, 0.09},
	} {
		r, centroid := report.Find("metaqda", set.Name, 5, floor.shot), report.Find("ncc-l2n", set.Name, 5, floor.shot).Accuracy.Mean
		accuracy, auroc, byMax := r.Accuracy.Mean, *r.AUROCNone, *r.AUROCMaxProb
		t.Logf("%d shots: accuracy %.3f, nearest centroid %.3f, ECE %.3f, AUROC of none %.3f, of 1-max %.3f, ECE of none %.3f", floor.shot, accuracy, centroid, r.ECE, auroc, byMax, *r.ECENone)
		if !(accuracy >= floor.accuracy && accuracy >= centroid+floor.centroid && r.ECE <= floor.ece && auroc >= floor.auroc && auroc > byMax && *r.ECENone <= floor.noneECE) {
			t.Errorf("want %+v", floor)
		}
	}
}

// A power below one takes weight from the speech embedding where speech is probable, which
// cost two points on spoken words (core/lab/experiment/SOUNDS.md).
func TestSoundsPriorKeepsTheWeightOfSpeech(t *testing.T) {
	const name, first = "../../web/prior/sounds.safetensors", 1024
	prior := test.Must(experiment.DecodePrior(name, test.Must(os.ReadFile(name))(t)))(t)
	if prior.Session.Parts == nil || prior.Session.Parts.First != first {
		t.Fatalf("parts %+v", prior.Session.Parts)
	}
	x := make([]float64, prior.NIW.Dim())
	for i := range x {
		x[i] = math.Sqrt(0.2 / first)
		if i >= first {
			x[i] = math.Sqrt(0.8 / float64(len(x)-first))
		}
	}
	prior.Transform.Centre = make([]float64, len(x))
	test.OK(t, prior.Transform.ApplyTo(x, x))
	speech := floats.Dot(x[first:], x[first:])
	if math.Abs(speech-0.8) > 1e-9 {
		t.Errorf("of the squared length %.3f is of speech, want .8", speech)
	}
}
