package engine

import (
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/dataset"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// The page answers as the evaluation does: the engine takes pictures one at a time, the
// evaluation whitens all rows at once. The session has 95 examples, more than the 64 from which
// its difficulty is estimated.
func TestThePageAnswersAsTheEvaluation(t *testing.T) {
	b := test.Must(os.ReadFile("../../web/prior/default.safetensors"))(t)
	prior := test.Must(model.DecodePrior(b))(t)
	set := test.Must(dataset.Load("../../testdata/dataset/emoji.npz"))(t)
	white := mat.NewDense(set.Len(), set.Dim, nil)
	for i := range set.Len() {
		test.OK(t, prior.Transform.ApplyTo(white.RawRowView(i), set.RowTo(white.RawRowView(i), i)))
	}
	prior.NIW.WhitenRowsTo(white, white)

	w := newWorld(t, log.NewMemory())
	w.files["prior"] = b
	test.OK(t, w.UsePrior("prior", model.Sum(b)))
	none := 0.3
	test.OK(t, w.Configure(none))
	o := prior.Session.Options()
	o.NonePrior = none
	c := test.Must(lda.New(prior.NIW.Whitened(), o))(t)
	examples := 0
	for k, class := range set.Classes {
		id := w.addClass(t, class)
		test.OK(t, c.AddClass(class))
		rows := set.ClassRows(k)
		for _, r := range rows[1:] {
			test.Must(w.AddExample(id, slices.Clone(set.Row(r)), nil, ""))(t)
			test.OK(t, c.Add(class, white.RawRowView(r)))
			examples++
		}
	}
	asked := len(c.Support().Class)
	if examples <= asked {
		t.Fatalf("all of the %d examples are asked", examples)
	}
	want := make([]float64, len(set.Classes))
	for k := range set.Classes {
		query := set.ClassRows(k)[0]
		got := test.Must(w.Predict(slices.Clone(set.Row(query))))(t)
		wantNone := test.Must(c.ProbabilitiesTo(want, white.RawRowView(query)))(t)
		if math.Abs(got.None-wantNone) > 1e-9 {
			t.Errorf("query %d: none %v, want %v", k, got.None, wantNone)
		}
		for i, label := range c.Labels() {
			if p := got.byLabel()[label]; math.Abs(p-want[i]) > 1e-9 {
				t.Errorf("query %d, %s: %v, want %v", k, label, p, want[i])
			}
		}
	}
}
