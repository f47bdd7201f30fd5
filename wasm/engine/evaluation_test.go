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
	"metaqda/wasm/store"
)

// What the page answers is what the evaluation measures: the engine takes pictures
// one at a time as they are, the evaluation classifies rows that it whitened all at
// once. The session has 95 examples, more than the 64 that say how hard it is.
func TestThePageAnswersAsTheEvaluation(t *testing.T) {
	b, err := os.ReadFile("../../web/prior/default.safetensors")
	must(t, err)
	prior, err := model.DecodePrior(b)
	must(t, err)
	set, err := dataset.Load("../../testdata/dataset/emoji.npz")
	must(t, err)
	white := mat.NewDense(set.Len(), set.Dim, nil)
	for i := range set.Len() {
		must(t, prior.Transform.ApplyTo(white.RawRowView(i), set.RowTo(white.RawRowView(i), i)))
	}
	prior.NIW.WhitenRowsTo(white, white)

	w := newWorld(t, store.NewMemory())
	w.files["prior"] = b
	must(t, w.UsePrior("prior", model.Sum(b)))
	none := 0.3
	must(t, w.Configure(Change{NonePrior: &none}))
	o := prior.Session.Options()
	o.NonePrior = none
	c, err := qda.New(prior.NIW.Whitened(), o)
	must(t, err)
	examples := 0
	for k, class := range set.Classes {
		id, _, err := w.AddClass(class)
		must(t, err)
		must(t, c.AddClass(class))
		rows := set.ClassRows(k)
		for _, r := range rows[1:] {
			_, err := w.AddExample(id, slices.Clone(set.Row(r)), nil)
			must(t, err)
			must(t, c.Add(class, white.RawRowView(r)))
			examples++
		}
	}
	if asked := len(c.Support().Class); examples <= asked {
		t.Fatalf("all of the %d examples are asked", examples)
	}
	want := make([]float64, len(set.Classes))
	for k := range set.Classes {
		query := set.ClassRows(k)[0]
		got, err := w.Probabilities(slices.Clone(set.Row(query)))
		must(t, err)
		wantNone, err := c.ProbabilitiesTo(want, white.RawRowView(query))
		must(t, err)
		if math.Abs(got.None-wantNone) > 1e-9 {
			t.Errorf("query %d: none %v, want %v", k, got.None, wantNone)
		}
		for _, class := range got.Classes {
			if p := want[c.Index(class.Name)]; math.Abs(class.P-p) > 1e-9 {
				t.Errorf("query %d, %s: %v, want %v", k, class.Name, class.P, p)
			}
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
			c.Classes = append(c.Classes, model.Class{Label: label, Weight: 1, Examples: []model.Example{{Embedding: x}}})
		}
		return c
	}
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog")
	before := w.ask(t)
	odd := []string{"<b>&amp;", "__proto__", "two  words", "👩‍🚀", strings.Repeat("e", model.MaxLabel)}
	b, err := model.EncodeClassifier(file(odd...))
	must(t, err)
	other := newWorld(t, store.NewMemory())
	_, _, err = other.ImportSession(b, here)
	must(t, err)
	for i, c := range other.State().Classes {
		if c.Name != odd[i] {
			t.Errorf("class %d is called %q, want %q", i, c.Name, odd[i])
		}
		if err := other.RenameClass(c.ID, c.Name); err != nil {
			t.Errorf("%q could not have been given here: %v", c.Name, err)
		}
	}
	sound, err := model.EncodeClassifier(file("<b>", "here"))
	must(t, err)
	_, _, err = w.ImportSession(changed(t, sound, "here", "there"), here)
	if err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a label that was changed in the file: %v", err)
	}
	same(t, "after what was refused", w.ask(t), before)
	// A file of the first version, which knew no such rules.
	for label, want := range map[string]string{"": "Unnamed", "    ": "Unnamed", "<b>": "<b> 2", " here": "here", "here\n": "here", "\u200b": "Unnamed",
		"e\u0301": "\u00e9", strings.Repeat("e", 400): strings.Repeat("e", model.MaxLabel)} {
		_, notice, err := w.ImportSession(changed(t, changed(t, changed(t, sound, "here", label), `"version":"2"`, `"version":"1"`), `"sha256":"`, `"was":"`), here)
		if got := w.State().Classes; err != nil || !strings.Contains(notice, "checksum") || got[0].Name != "<b>" || got[1].Name != want {
			t.Errorf("%q became %+v, want %q (%q, %v)", label, got, want, notice, err)
		}
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
			b, err := json.Marshal(label)
			must(t, err)
			label = string(b)
		}
		return []byte(label[1 : len(label)-1])
	}
	n := 8 + int(binary.LittleEndian.Uint64(file))
	header := bytes.Replace(file[8:n], inJSON(from), inJSON(to), 1)
	if bytes.Equal(header, file[8:n]) {
		t.Fatalf("the file has no label %q", from)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header, file[n:])
}
