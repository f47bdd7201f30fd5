package engine

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"

	"metaqda/core/dataset"
	"metaqda/core/model"
	"metaqda/wasm/store"
)

// What a worker makes of the session's bytes answers as the engine does: one picture
// alone to the number, many with the same probability of none.
func TestJudgeAnswersAsTheEngine(t *testing.T) {
	b, err := os.ReadFile("../../web/prior/default.safetensors")
	must(t, err)
	set, err := dataset.Load("../../testdata/dataset/emoji.npz")
	must(t, err)
	w := newWorld(t, store.NewMemory())
	w.files["prior"] = b
	must(t, w.UsePrior("prior", model.Sum(b)))
	none := 0.3
	must(t, w.Configure(Change{NonePrior: &none}))
	var many []float32
	for k, class := range set.Classes {
		rows := set.ClassRows(k)
		if k < 4 {
			id, _, err := w.AddClass(class)
			must(t, err)
			for _, r := range rows[:2] {
				_, err := w.AddExample(id, slices.Clone(set.Row(r)), nil)
				must(t, err)
			}
		}
		if k < 8 {
			many = append(many, set.Row(rows[2])...)
		}
	}
	session, err := w.ExportSession()
	must(t, err)
	j, err := NewJudge(session, b, set.Dim)
	must(t, err)
	for i := range len(many) / set.Dim {
		want, err := w.Ask(many[i*set.Dim:(i+1)*set.Dim], false)
		must(t, err)
		got, err := j.Classify(context.Background(), many[i*set.Dim:(i+1)*set.Dim], nil)
		must(t, err)
		for k, p := range want {
			if math.Abs(got[k]-p) > 1e-9 {
				t.Errorf("picture %d: %v, want %v", i, got, want)
				break
			}
		}
		together, err := j.Classify(context.Background(), many, nil)
		must(t, err)
		if row := together[i*5 : (i+1)*5]; math.Abs(row[0]-want[0]) > 1e-9 {
			t.Errorf("picture %d: none %v together, %v alone", i, row[0], want[0])
		}
	}
	if got, err := j.Suggest(many, 3); err != nil || len(got) != 3 {
		t.Errorf("suggested %v, %v", got, err)
	}
	if _, err := j.Alike(many, []int{0, 8}); code(err) != "argument" {
		t.Errorf("a picture that is not there: %v", err)
	}
	if _, err := j.Classify(context.Background(), many[1:], nil); code(err) != "dimension" {
		t.Errorf("less than whole pictures: %v", err)
	}
	many[3] = float32(math.NaN())
	if _, err := j.Classify(context.Background(), many, nil); code(err) != "value" {
		t.Errorf("no number: %v", err)
	}
}

func TestJudgeOfNothingTaught(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	session, err := w.ExportSession()
	must(t, err)
	j, err := NewJudge(session, nil, 4)
	must(t, err)
	x := []float32{1, 0, 0, 0, 0, 1, 0, 0, 0, 0.9, 0.1, 0}
	if p, err := j.Classify(context.Background(), x, nil); err != nil || p != nil {
		t.Errorf("answers %v, %v", p, err)
	}
	if got, err := j.Suggest(x, 2); err != nil || len(got) != 2 {
		t.Errorf("suggested %v, %v", got, err)
	}
	if p, err := j.Classify(context.Background(), nil, nil); err != nil || p != nil {
		t.Errorf("of no pictures %v, %v", p, err)
	}
	if _, err := NewJudge([]byte("no file"), nil, 4); code(err) != "format" {
		t.Errorf("no session file: %v", err)
	}
}
