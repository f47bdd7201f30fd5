package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset"
	"metaqda/core/model"
	"metaqda/core/qda"
	"metaqda/core/test"
	"metaqda/wasm/store"
)

// What the page answers is what the evaluation measures: the engine takes pictures
// one at a time as they are, the evaluation classifies rows that it whitened all at
// once. The session has 95 examples, more than the 64 that say how hard it is.
func TestThePageAnswersAsTheEvaluation(t *testing.T) {
	b := test.Must(os.ReadFile("../../web/prior/default.safetensors"))(t)
	prior := test.Must(model.DecodePrior(b))(t)
	set := test.Must(dataset.Load("../../testdata/dataset/emoji.npz"))(t)
	white := mat.NewDense(set.Len(), set.Dim, nil)
	for i := range set.Len() {
		test.OK(t, prior.Transform.ApplyTo(white.RawRowView(i), set.RowTo(white.RawRowView(i), i)))
	}
	prior.NIW.WhitenRowsTo(white, white)

	w := newWorld(t, store.NewMemory())
	w.files["prior"] = b
	test.OK(t, w.UsePrior("prior", model.Sum(b)))
	none := 0.3
	test.OK(t, w.Configure(Change{NonePrior: &none}))
	o := prior.Session.Options()
	o.NonePrior = none
	c := test.Must(qda.New(prior.NIW.Whitened(), o))(t)
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
	test.StopIf(t, examples <= asked, "all of the %d examples are asked", examples)
	want := make([]float64, len(set.Classes))
	for k := range set.Classes {
		query := set.ClassRows(k)[0]
		got := test.Must(w.Predict(slices.Clone(set.Row(query))))(t)
		wantNone := test.Must(c.ProbabilitiesTo(want, white.RawRowView(query)))(t)
		test.FailIf(t, math.Abs(got.None-wantNone) > 1e-9, "query %d: none %v, want %v", k, got.None, wantNone)
		for _, class := range got.Classes {
			p := want[slices.Index(c.Labels(), class.Name)]
			test.FailIf(t, math.Abs(class.P-p) > 1e-9, "query %d, %s: %v, want %v", k, class.Name, class.P, p)
		}
	}
}

// Labels of a file come in as they are. A file with labels that nobody could have
// given here is refused as a whole.
func TestLabelsOnImport(t *testing.T) {
	file := func(labels ...string) *model.Classifier {
		c := &model.Classifier{Name: "a session", Settings: model.Settings{NonePrior: 0.1}}
		for i, label := range labels {
			x := make([]float32, dim)
			x[i] = 1
			c.Classes = append(c.Classes, model.Class{Label: label, Examples: []model.Example{{Embedding: x}}})
		}
		return c
	}
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog")
	before := w.ask(t)
	odd := []string{"<b>&amp;", "__proto__", "two  words", "👩‍🚀", strings.Repeat("e", model.MaxLabel)}
	b := test.Must(model.EncodeClassifier(file(odd...)))(t)
	other := newWorld(t, store.NewMemory())
	other.importSession(t, b)
	for i, c := range other.State().Classes {
		test.FailIf(t, c.Label != odd[i], "class %d is called %q, want %q", i, c.Label, odd[i])
		if err := other.RenameClass(c.ID, c.Label); err != nil {
			t.Errorf("%q could not have been given here: %v", c.Label, err)
		}
	}
	sound := test.Must(model.EncodeClassifier(file("<b>", "here")))(t)
	_, _, err := w.ImportSession(changed(t, sound, "here", "there"), here)
	test.FailIf(t, err == nil || !strings.Contains(err.Error(), "checksum"), "a label that was changed in the file: %v", err)
	same(t, "after what was refused", w.ask(t), before)
	// A file of the first version, which knew no such rules.
	for label, want := range map[string]string{"": "Unnamed", "    ": "Unnamed", "<b>": "<b> 2", " here": "here", "here\n": "here", "\u200b": "Unnamed",
		"e\u0301": "\u00e9", strings.Repeat("e", 400): strings.Repeat("e", model.MaxLabel)} {
		_, notice, err := w.ImportSession(changed(t, changed(t, changed(t, sound, "here", label), `"version":"2"`, `"version":"1"`), `"sha256":"`, `"was":"`), here)
		got := w.State().Classes
		test.FailIf(t, err != nil || !strings.Contains(notice, "checksum") || got[0].Label != "<b>" || got[1].Label != want, "%q became %+v, want %q (%q, %v)", label, got, want, notice, err)
	}
}

// changed returns a classifier file with another text in its header.
func changed(t *testing.T, file []byte, from, to string) []byte {
	t.Helper()
	if from[0] == '"' {
		n := 8 + int(binary.LittleEndian.Uint64(file))
		header := bytes.Replace(file[8:n], []byte(from), []byte(to), 1)
		return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header, file[n:])
	}
	inJSON := func(label string) []byte { // a string in JSON that is itself a string in JSON
		for range 2 {
			b := test.Must(json.Marshal(label))(t)
			label = string(b)
		}
		return []byte(label[1 : len(label)-1])
	}
	n := 8 + int(binary.LittleEndian.Uint64(file))
	header := bytes.Replace(file[8:n], inJSON(from), inJSON(to), 1)
	test.StopIf(t, bytes.Equal(header, file[8:n]), "the file has no label %q", from)
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header, file[n:])
}
