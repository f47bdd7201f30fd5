package engine

import (
	"bytes"
	"testing"
	"time"

	"metaqda/core/model"
	"metaqda/wasm/store"
)

// A file that is written in slices holds the session as it was when it was asked for,
// whatever happens between them, and notes that it was saved only once it is whole.
func TestAFileIsOfTheMomentItWasAskedFor(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	cat, dog := ids[0], ids[1]
	want, err := w.SharedFile(true)
	must(t, err)

	pauses, whole := 0, false
	now := time.Unix(1e9, 0)
	w.Engine.hooks.Now = func() time.Time { now = now.Add(slice / 2); return now }
	w.Engine.hooks.Breathe = func(bool) {
		if pauses++; pauses == 1 {
			must(t, first(w.RemoveClass(dog)))
			must(t, w.RenameClass(cat, "tiger"))
		}
		if !whole && w.session.Saved != 0 {
			t.Error("it is called saved before it is")
		}
	}
	got, err := w.ExportSession()
	whole = true
	must(t, err)
	if pauses < 2 {
		t.Fatalf("it was written in %d slices", 1+pauses)
	}
	if !bytes.Equal(got, want) {
		t.Error("the file holds what happened after it was asked for")
	}
	file, err := model.DecodeClassifier(got)
	must(t, err)
	if len(file.Classes) != 2 || w.session.Saved == 0 {
		t.Errorf("%d classes, saved %d", len(file.Classes), w.session.Saved)
	}
	now2, err := w.SharedFile(true)
	must(t, err)
	if file, err = model.DecodeClassifier(now2); err != nil || len(file.Classes) != 1 || file.Classes[0].Label != "tiger" {
		t.Error("the session itself is not as it was changed", err)
	}
}
