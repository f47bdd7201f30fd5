package engine

import (
	"testing"
	"time"

	"metaqda/core/test"
	"metaqda/wasm/store"
	"metaqda/wasm/view"
)

// Whoever deletes a class and adds one of the same name loses neither.
func TestAClassReturnsBesideItsNamesake(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	ids := w.teachAll(t, "cup", "dog")
	before := w.ask(t)
	var tokens []string
	gone := ids[0]
	for _, name := range []string{"cup", "Cup"} {
		token, err := w.RemoveClass(gone)
		test.OK(t, err)
		tokens = append(tokens, token)
		gone, _, err = w.AddClass(name)
		test.OK(t, err)
	}
	test.OK(t, w.Undo(tokens[1])) // the second one, without pictures
	test.OK(t, w.Undo(tokens[0]))
	names := map[string]int{}
	for _, c := range w.State().Classes {
		names[c.Name] = len(c.Examples)
	}
	test.StopIf(t, len(names) != 4 || names["cup (3)"] != len(w.State().Classes[0].Examples) || names["cup (3)"] == 0, "classes %v", names)
	c := w.State().Classes[0]
	test.FailIf(t, c.ID != ids[0] || w.ask(t).Classes[0].P != before.Classes[0].P, "the class came back as %q with probability %v, was %v", c.Name, w.ask(t).Classes[0].P, before.Classes[0].P)
	w.Flush()
	same(t, "stored", newWorld(t, w.store).ask(t), w.ask(t))
}

// Hundreds of pictures added while an answer shows ask for few answers, and the
// last one shown is that of all.
func TestAnAnswerFollowsManyChangesTogether(t *testing.T) {
	var shown int
	var last view.Frame
	var later []func()
	now := time.UnixMilli(0)
	e := New(store.NewMemory(), "", Hooks{
		Show:  func(f view.Frame) { shown++; last = f },
		Now:   func() time.Time { now = now.Add(time.Millisecond); return now },
		Later: func(_ time.Duration, f func()) { later = append(later, f) },
	})
	test.OK(t, e.Start())
	w := &world{Engine: e}
	ids := w.teachAll(t, "cat", "dog")
	query := e.State().Classes[0].Examples[0].Vector
	test.Must(e.Recognise(query))(t)
	shown = 0
	for i := range 100 {
		test.Must(e.AddExample(ids[i%2], e.State().Classes[i%2].Examples[i%3].Vector, nil))(t)
	}
	test.FailIf(t, shown > 20 || len(later) == 0, "%d answers, %d put off, for 100 pictures", shown, len(later))
	for _, f := range later {
		f()
	}
	want := test.Must(e.Probabilities(query))(t)
	for _, r := range last.Rows {
		for _, c := range want.Classes {
			test.FailIf(t, r.ID == c.ID && r.P != c.P, "%s is shown with %v, is %v", c.Name, r.P, c.P)
		}
	}
}

func TestSavingIsNoted(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog")
	all := test.Must(w.Sessions())(t)
	test.StopIf(t, all[0].Saved != 0, "saved before it was")
	test.Must(w.ExportSession())(t)
	all = test.Must(w.Sessions())(t)
	test.FailIf(t, all[0].Saved == 0, "that it was saved is not noted")
}
