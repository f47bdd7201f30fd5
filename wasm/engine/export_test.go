package engine

import (
	"bytes"
	"testing"
	"time"

	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/store"
)

// A file that is written in slices holds the session as it was when it was asked for,
// whatever happens between them, and notes that it was saved only once it is whole.
func TestAFileIsOfTheMomentItWasAskedFor(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	cat, dog := ids[0], ids[1]
	want, err := w.SharedFile(true)
	test.OK(t, err)

	pauses, whole := 0, false
	now := time.Unix(1e9, 0)
	w.Engine.hooks.Now = func() time.Time { now = now.Add(slice / 2); return now }
	w.Engine.hooks.Breathe = func(bool) {
		if pauses++; pauses == 1 {
			test.OK(t, first(w.RemoveClass(dog)))
			test.OK(t, w.RenameClass(cat, "tiger"))
		}
		test.FailIf(t, !whole && w.session.Saved != 0, "it is called saved before it is")
	}
	got, err := w.ExportSession()
	whole = true
	test.OK(t, err)
	test.StopIf(t, pauses < 2, "it was written in %d slices", 1+pauses)
	test.FailIf(t, !bytes.Equal(got, want), "the file holds what happened after it was asked for")
	file := test.Must(model.DecodeClassifier(got))(t)
	test.FailIf(t, len(file.Classes) != 2 || w.session.Saved == 0, "%d classes, saved %d", len(file.Classes), w.session.Saved)
	now2 := test.Must(w.SharedFile(true))(t)
	file, err = model.DecodeClassifier(now2)
	test.FailIf(t, err != nil || len(file.Classes) != 1 || file.Classes[0].Label != "tiger", "the session itself is not as it was changed %v", err)
}
