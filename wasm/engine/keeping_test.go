package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

func TestDamagedRecordsAreSetAside(t *testing.T) {
	s, id, ids := log.NewMemory(), "s", []string{"a", "b"}
	numbers := func(x []float32) []byte { return test.Must(binary.Append(nil, binary.LittleEndian, x))(t) }
	r := rand.New(rand.NewPCG(1, 2))
	examples := map[log.Key]any{}
	for k, class := range ids {
		for i := range 3 {
			key := fmt.Sprint(class, i)
			examples[log.Key{ID: key}] = log.Record{"id": key, "session": id, "class": class, "order": float64(i), "embedding": numbers(picture(r, float64(k+1)))}
		}
	}
	nan := float32(math.NaN())
	for key, x := range map[string]log.Record{
		"1": {"class": "a", "order": -9.0, "embedding": []byte{}},
		"2": {"class": "a", "order": 10.0, "embedding": numbers(append(make([]float32, dim-1), nan))},
		"3": {"class": "gone", "order": 11.0, "embedding": numbers(make([]float32, dim))},
		"0": {"class": "a", "order": -10.0, "embedding": numbers(make([]float32, dim-1))},
	} {
		x["session"], x["id"] = id, key
		examples[log.Key{ID: key}] = x
	}
	put(t, s, "examples", examples)
	put(t, s, "classes", map[log.Key]any{
		{ID: "a"}: log.Record{"session": id, "name": "cat", "order": 1.0}, {ID: "b"}: log.Record{"session": id, "name": "dog", "order": 2.0},
		{ID: "k"}: log.Record{"session": id, "name": "dog"}, {ID: "l"}: log.Record{"session": id, "order": "first"}})
	put(t, s, "sessions", map[log.Key]any{{ID: id}: "oops", {ID: "other"}: 7.0})
	again := newWorld(t, s)
	test.OK(t, again.OpenSession(id))
	state := again.State()
	if state.Damaged != 4 || state.Trouble != "" || len(state.Classes) != 4 {
		t.Fatalf("state is %+v", state)
	}
	names := map[string]bool{}
	for _, c := range state.Classes {
		names[c.Label] = true
	}
	if len(names) != 4 {
		t.Errorf("names are %v", names)
	}
	again.ask(t)
	if _, err := again.SaveSession(); err != nil {
		t.Errorf("the rest cannot be exported: %v", err)
	}
	test.OK(t, again.RenameSession(id, "Repaired"))
	test.OK(t, again.OpenSession("other"))
	test.OK(t, again.OpenSession(id))
	if s := again.State(); s.SessionName != "Repaired" {
		t.Errorf("the session is %+v", s)
	}
	token := test.Must(again.RemoveClass(ids[0]))(t) // with its damaged records
	test.OK(t, again.Kept(again.LastChange()))
	test.OK(t, again.Undo(token))
	if s := again.State(); s.Damaged != 1 {
		t.Errorf("%d damaged records are left, want the one of no class", s.Damaged)
	}
}

// dump returns the whole content of a store as bytes.
func dump(s *log.Memory) (b []byte) {
	for _, table := range log.Tables {
		for k, v := range s.Records(table) {
			b = fmt.Appendf(b, "%s/%d %s ", k.ID, k.N, v)
		}
	}
	return b
}

// Removed data is in no record, and unused priors are deleted.
func TestForgettingIsComplete(t *testing.T) {
	for what, remove := range map[string]func(w *world, class metaqda.Class) error{
		"a picture": func(w *world, c metaqda.Class) error { return first(w.RemoveExample(c.ID, c.Examples[1].ID)) },
		"a picture in a step": func(w *world, c metaqda.Class) error {
			w.Begin("")
			return first(w.RemoveExample(c.ID, c.Examples[1].ID))
		},
		"a class":   func(w *world, c metaqda.Class) error { return first(w.RemoveClass(c.ID)) },
		"a session": func(w *world, _ metaqda.Class) error { return w.DeleteSession(w.State().SessionID) },
	} {
		s := log.NewMemory()
		w := newWorld(t, s)
		w.teachAll(t, "cat", "dog", "hen", "owl")
		own, sum := priorFile(t, dim, 3)
		w.importPrior(t, own)
		thumbnail := bytes.Repeat([]byte("thumbnail"), 9)
		class := w.State().Classes[0]
		test.OK(t, first(w.AddExample(class.ID, picture(rand.New(rand.NewPCG(8, 8)), 1), thumbnail, "")))
		test.OK(t, first(w.RemoveExample(class.ID, class.Examples[0].ID))) // the new picture becomes the last
		class = w.State().Classes[0]
		class.Examples[0], class.Examples[1] = class.Examples[1], class.Examples[2]
		w.Flush()

		gone, session := class.Examples[1], w.State().SessionID
		numbers := test.Must(binary.Append(nil, binary.LittleEndian, gone.Vector))(t) // as in a record, and in a file
		if all := dump(s); bytes.Count(all, numbers) != 1 || bytes.Count(all, thumbnail) != 1 {
			t.Fatalf("%s: the test does not find in its record what it looks for", what)
		}
		test.OK(t, remove(w, class))
		w.Flush()
		if what != "a session" {
			if newWorld(t, s).State().Undo == "" {
				t.Errorf("%s: cannot be undone after a start", what)
			}
			w.ForgetUndo()
			w.Flush()
		}
		all := dump(s)
		if bytes.Contains(all, numbers) || bytes.Contains(all, thumbnail) {
			t.Errorf("%s: its bytes are still stored", what)
		}
		if left := newWorld(t, s).State(); left.Undo+left.Redo != "" || what == "a session" && left.SessionID == session {
			t.Errorf("%s: it can still be undone", what)
		}
		if what == "a session" {
			if b, err := log.Value[[]byte](s, log.Priors, sum); err != nil || b != nil {
				t.Errorf("its prior is still stored (%v)", err)
			}
		}
	}
}

// After a reload undo brings back the only examples, also if they are of another length than those
// of the site's prior and only the undo history has them.
func TestUndoBringsBackTheOnlyExamplesAfterAReload(t *testing.T) {
	for what, remove := range map[string]func(w *world, class, example string) error{
		"class":   func(w *world, class, _ string) error { return test.Err(w.RemoveClass(class)) },
		"example": func(w *world, class, example string) error { return test.Err(w.RemoveExample(class, example)) },
	} {
		w := newWorld(t, log.NewMemory())
		class := w.addClass(t, "cat")
		example := test.Must(w.AddExample(class, []float32{1, 2, 3, 4, 5}, nil, ""))(t)
		test.OK(t, remove(w, class, example))
		w.Flush()
		stored, c, err := log.Open(w.store, w.session.ID)
		test.OK(t, err)
		undo, redo := w.taught.History()
		if !test.Must(stored.Compact(w.store, log.Summary{Session: c.Session}, w.taught.Classes(), undo, redo))(t) {
			t.Fatal("nothing was compacted")
		}
		again := newWorld(t, w.store)
		test.OK(t, again.OpenSession(w.session.ID))
		if step, err := again.taught.Undo(); err != nil || step == nil || again.taught.Count() != 1 {
			t.Errorf("%s: %+v, %v, %d examples", what, step, err, again.taught.Count())
		}
	}
}

// A reload within an open step keeps the steps before it, and makes the new pictures a step of
// their own. Opening another session ends the open step.
func TestAReloadInAStepKeepsTheStepsBefore(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	test.OK(t, w.Undo(""))
	test.OK(t, w.Undo(""))
	test.Must(w.Engine.Redo())(t)
	want := w.State().Undo
	x := picture(rand.New(rand.NewPCG(8, 8)), 1)
	_, err := w.AddExamples([]string{"new", "new"}, [][]float32{x, x[:1]}, nil, "")
	w.Flush()
	if len(w.keeping.refused) > 0 {
		t.Errorf("what came to nothing was stored, and refused: %v", w.keeping.refused)
	}
	s := newWorld(t, w.store).State()
	if err == nil || s.Undo != want || s.Redo != w.State().Redo || s.Redo == "" || len(s.Classes) != len(w.State().Classes) {
		t.Errorf("after a refused batch: %v, undo %q, redo %q", err, s.Undo, s.Redo)
	}
	w.Begin("")
	test.Must(w.AddExample(ids[0], x, nil, ""))(t)
	token := test.Must(w.RemoveExample(ids[0], w.State().Classes[0].Examples[0].ID))(t)
	if token != "" {
		t.Error("what is changed in a step is undone by the step before it")
	}
	w.Flush()
	again := newWorld(t, w.store)
	s = again.State()
	if s.Undo != "add an example to cat" || s.Redo != "" {
		t.Errorf("undo %q, redo %q: what is changed in a step ends what can be redone", s.Undo, s.Redo)
	}
	test.OK(t, again.Undo(""))
	s = again.State()
	if s.Undo != want || len(s.Classes[0].Examples) != 3 {
		t.Errorf("undo %q, want %q; %d pictures, want 3: the broken-off step is undone as a whole", s.Undo, want, len(s.Classes[0].Examples))
	}
	again.Flush()
	test.OK(t, w.Follow(Note{Session: s.SessionID}))

	w.End()
	w.Begin("")
	test.Must(w.RemoveExample(ids[0], s.Classes[0].Examples[0].ID))(t)
	test.Must(w.NewSession("another"))(t)
	test.OK(t, w.OpenSession(s.SessionID))
	if w.State().Undo != "remove an example from cat" {
		t.Errorf("undo %q after another session", w.State().Undo)
	}
}

func TestPriorsNobodyUsesAreDeleted(t *testing.T) {
	s := log.NewMemory()
	w := newWorld(t, s)
	w.teachAll(t, "cat", "dog")
	one, sumOne := priorFile(t, dim, 3)
	two, sumTwo := priorFile(t, dim, 4)
	kept := func(sum string) bool {
		b := test.Must(log.Value[[]byte](s, log.Priors, sum))(t)
		return b != nil
	}
	w.importPrior(t, one)
	withOne := w.ask(t)
	undo := w.importPrior(t, two)
	if kept(sumOne) || !kept(sumTwo) {
		t.Errorf("kept: %v and %v, want the second alone", kept(sumOne), kept(sumTwo))
	}
	test.OK(t, w.Undo(undo))
	w.Flush()
	if !kept(sumOne) || kept(sumTwo) {
		t.Errorf("after undo kept: %v and %v, want the first alone", kept(sumOne), kept(sumTwo))
	}
	same(t, "the first again", newWorld(t, s).ask(t), withOne)
}

// small is a database with room for a given number of bytes of thumbnails.
type small struct {
	*log.Memory
	room int
}

func (s *small) Do(writes bool, f func(log.Tx) error) error {
	n := 0
	s.Memory.Before = func(table log.Table, _ log.Key, v any) error {
		if b, ok := v.([]byte); ok && table == log.Thumbnails {
			n += len(b)
		}
		if n > s.room {
			return &metaqda.Error{Code: "quota", Message: "The storage is full: save the session to a file."}
		}
		return nil
	}
	defer func() { s.Memory.Before = nil }()
	err := s.Memory.Do(writes, f)
	if err == nil {
		s.room -= n
	}
	return err
}

// Removals need no free space, and the removed records need not be written first.
func TestRemovalsAreStoredWhileTheStorageIsFull(t *testing.T) {
	s := &small{Memory: log.NewMemory(), room: 1000}
	w := newWorld(t, s)
	ids := w.teachAll(t, "cat", "dog")
	w.Flush()
	large := test.Must(w.AddExample(ids[0], picture(rand.New(rand.NewPCG(7, 7)), 1), make([]byte, 5000), ""))(t)
	w.Flush()
	if w.State().Trouble == "" {
		t.Fatal("there was room")
	}
	small := test.Must(w.AddExample(ids[1], picture(rand.New(rand.NewPCG(7, 8)), 1), make([]byte, 10), ""))(t)
	gone := w.State().Classes[0].Examples[0].ID
	test.OK(t, first(w.RemoveExample(ids[0], gone)))
	w.Flush()
	stored := func() map[string]bool {
		there := map[string]bool{}
		for _, k := range newWorld(t, s.Memory).State().Classes {
			for _, x := range k.Examples {
				there[x.ID] = true
			}
		}
		return there
	}
	there := stored()
	if there[gone] || there[large] {
		t.Errorf("while the storage is full: removed one there %v, large one there %v", there[gone], there[large])
	}
	test.OK(t, first(w.RemoveExample(ids[0], large)))
	w.Flush()
	there = stored()
	if w.State().Trouble != "" || there[large] || !there[small] {
		t.Errorf("after the large one was removed: %q, small one there %v", w.State().Trouble, there[small])
	}
	same(t, "reopened", newWorld(t, s.Memory).ask(t), w.ask(t))
}

// A picture that only gets another place needs no room for its thumbnail: one that is moved, and a frame
// whose group loses its first one.
func TestAnotherPlaceNeedsNoRoom(t *testing.T) {
	s := &small{Memory: log.NewMemory(), room: 1000}
	w := newWorld(t, s)
	ids := w.teachAll(t, "cat", "dog")
	r := rand.New(rand.NewPCG(5, 5))
	first := test.Must(w.AddExample(ids[0], picture(r, 1), []byte{1}, "g"))(t)
	test.Must(w.AddExample(ids[0], picture(r, 1), []byte{2}, ""))(t)
	test.Must(w.AddExample(ids[0], picture(r, 1), []byte{3}, "g"))(t)
	w.Flush()
	s.room = 0
	test.Must(w.RemoveExample(ids[0], first))(t)
	w.Flush()
	if trouble := w.State().Trouble; trouble != "" {
		t.Errorf("removing the first frame of a group: %s", trouble)
	}
	test.Must(w.MoveExample(ids[0], w.State().Classes[0].Examples[0].ID, ids[1]))(t)
	w.Flush()
	if trouble := w.State().Trouble; trouble != "" {
		t.Errorf("moving: %s", trouble)
	}
}

// While the storage is full, a session can be opened, and nothing is said to be unsaved.
func TestASessionIsOpenedWhileTheStorageIsFull(t *testing.T) {
	m := log.NewMemory()
	w := newWorld(t, m)
	w.teachAll(t, "cat")
	first := w.State().SessionID
	test.Must(w.NewSession("Desk"))(t)
	full := false
	m.Before = func(table log.Table, _ log.Key, v any) error {
		if full = full || table == log.Meta && v != nil; full {
			return &metaqda.Error{Code: "quota", Message: "The storage is full: save the session to a file."}
		}
		return nil
	}
	test.OK(t, w.OpenSession(first))
	if s := w.State(); !full || s.SessionID != first || s.Trouble != "" {
		t.Errorf("full %v, session %q, trouble %q", full, s.SessionID, s.Trouble)
	}
}

// If there is no room for anything, a removal waits too, and nothing tries again until the next change.
func TestARemovalWaitsForRoom(t *testing.T) {
	s := &stubborn{Memory: log.NewMemory()}
	w := newWorld(t, s)
	ids := w.teachAll(t, "cat", "dog")
	w.Flush()
	s.fails = func(log.Table) error { return &metaqda.Error{Code: "quota", Message: "The storage is full."} }
	gone := w.State().Classes[0].Examples[0].ID
	test.OK(t, first(w.RemoveExample(ids[0], gone)))
	w.Flush()
	if w.State().Trouble != "The storage is full." || s.writes > 2 {
		t.Fatalf("after %d transactions the state says %q", s.writes, w.State().Trouble)
	}
	s.fails = nil
	w.Flush()
	if left := newWorld(t, s.Memory).State().Classes[0].Examples; w.State().Trouble != "" || len(left) != 2 {
		t.Errorf("with room again: %q, %d examples stored, want 2", w.State().Trouble, len(left))
	}
}

// A session for which there is no room is listed and can be opened again and deleted.
func TestSessionsThatCannotBeStoredAreListed(t *testing.T) {
	s := &stubborn{Memory: log.NewMemory()}
	w := newWorld(t, s)
	former := w.State().SessionID
	s.fails = func(log.Table) error { return &metaqda.Error{Code: "quota", Message: "The storage is full."} }
	ids := []string{test.Must(w.NewSession("Garden"))(t), ""}
	w.addClass(t, "finch")
	ids[1] = test.Must(w.NewSession("Pond"))(t)
	test.OK(t, w.OpenSession(former))
	w.addClass(t, "cat")
	var all []string
	for _, one := range test.Must(w.Sessions())(t) {
		all = append(all, fmt.Sprint(one.Name, " ", one.Classes))
	}
	if slices.Sort(all); !slices.Equal(all, []string{"Garden 1", "My classes 1", "Pond 0"}) {
		t.Errorf("listed are %v", all)
	}
	test.OK(t, w.DeleteSession(ids[1]))
	test.OK(t, w.OpenSession(ids[0]))
	if k := w.State().Classes; len(k) != 1 || k[0].Label != "finch" {
		t.Errorf("the session that is opened again has %+v", k)
	}
	test.OK(t, w.DeleteSession(ids[0]))
	s.fails = nil
	w.Flush()
	if all := test.Must(newWorld(t, s.Memory).Sessions())(t); len(all) != 1 || all[0].ID != former || all[0].Classes != 1 {
		t.Errorf("with room again these are stored: %+v", all)
	}
}

// Once the storage was cleared, the session that only the tab has stays open.
func TestASessionInThisTabAloneIsNotReplaced(t *testing.T) {
	s := log.NewMemory()
	w := newWorld(t, s)
	other := test.Must(w.NewSession("Garden"))(t)
	w.teachAll(t, "cat", "dog")
	id, file := w.State().SessionID, test.Must(w.SharedFile(true))(t)
	w.Lose()
	_, made := w.NewSession("Pond")
	_, _, imported := w.ImportSession(file, model.Extractor{})
	for what, err := range map[string]error{"a new one": made, "a file": imported, "another": w.OpenSession(other), "deletion": w.DeleteSession(id)} {
		if code(err) != "cleared" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := test.Must(w.SharedFile(true))(t); !bytes.Equal(got, file) || w.State().SessionID != id {
		t.Error("the session is another one now")
	}
}

// stubborn is a database whose writes fail, or that reports complete transactions as timed out.
type stubborn struct {
	*log.Memory
	fails  func(log.Table) error
	late   bool
	writes int // that failed
}

func (s *stubborn) Do(writes bool, f func(log.Tx) error) error {
	s.Memory.Before = func(table log.Table, _ log.Key, v any) error {
		if s.fails == nil || v == nil {
			return nil
		}
		s.writes++
		if s.writes > 100 { // a loop would never end
			return nil
		}
		return s.fails(table)
	}
	defer func() { s.Memory.Before = nil }()
	err := s.Memory.Do(writes, f)
	if err == nil && writes && s.late {
		return &metaqda.Error{Code: "blocked", Message: "The browser does not answer."}
	}
	return err
}

// A change is made once, also if its transaction is reported as timed out and completes after all.
func TestAChangeThatIsStoredLateIsMadeOnce(t *testing.T) {
	for name, change := range map[string]func(w *world, ids []string) error{
		"an added example": func(w *world, ids []string) error {
			return first(w.AddExample(ids[0], picture(rand.New(rand.NewPCG(7, 7)), 1), make([]byte, 10), ""))
		},
		"a removed example": func(w *world, ids []string) error {
			return first(w.RemoveExample(ids[0], w.State().Classes[0].Examples[0].ID))
		},
		"an undone change":  func(w *world, _ []string) error { return w.Undo("") },
		"a renamed class":   func(w *world, ids []string) error { return w.RenameClass(ids[0], "mouse") },
		"a removed class":   func(w *world, ids []string) error { return first(w.RemoveClass(ids[0])) },
		"an added class":    func(w *world, _ []string) error { return second(w.AddClass("mouse")) },
		"a changed setting": func(w *world, _ []string) error { return w.RenameSession(w.State().SessionID, "Garden") },
	} {
		for after, more := range map[string]bool{"alone": false, "before another change": true, "after one of another tab": false} {
			t.Run(name+", "+after, func(t *testing.T) {
				s := &stubborn{Memory: log.NewMemory()}
				w := newWorld(t, s)
				ids := w.teachAll(t, "cat", "dog")
				w.Flush()
				s.late = true
				before := w.LastChange()
				test.OK(t, change(w, ids))
				w.Flush()
				if w.State().Trouble == "" {
					t.Fatal("the transaction was in time")
				}
				s.late = false
				if after == "after one of another tab" {
					other := newWorld(t, s.Memory)
					test.OK(t, other.RenameSession(other.State().SessionID, "Shed"))
					other.Flush()
					test.OK(t, w.Follow(Note{w.State().SessionID, 100}))
				}
				if more {
					test.OK(t, second(w.AddClass("horse")))
				}
				test.OK(t, w.Engine.Kept(before, w.LastChange()))
				again := newWorld(t, s.Memory)
				got, want := w.State(), again.State()
				if got.Trouble != "" || got.Damaged != 0 || want.Damaged != 0 || got.Undo != want.Undo || got.Redo != want.Redo || got.SessionName != want.SessionName {
					t.Errorf("here %q, undo %q, redo %q, stored undo %q, redo %q", got.Trouble, got.Undo, got.Redo, want.Undo, want.Redo)
				}
				if got, want := fmt.Sprint(contents(w)), fmt.Sprint(contents(again)); got != want {
					t.Errorf("here %s, stored %s", got, want)
				}
			})
		}
	}
}

// A new session is stored once, also if its transaction is reported as timed out and completes after all.
// What other tabs did with the session meanwhile stays.
func TestASessionThatIsStoredLateIsMadeOnce(t *testing.T) {
	for name, deleted := range map[string]bool{"changed in another tab": false, "deleted in another tab": true} {
		t.Run(name, func(t *testing.T) {
			s := &stubborn{Memory: log.NewMemory()}
			w := newWorld(t, s)
			w.teachAll(t, "cat", "dog")
			file := test.Must(w.SaveSession())(t)
			s.late = true
			w.importSession(t, file)
			id := w.State().SessionID
			w.addClass(t, "horse")
			other := newWorld(t, s.Memory)
			test.OK(t, other.OpenSession(id))
			other.addClass(t, "cow")
			other.ForgetUndo()
			test.Must(other.RemoveExample(other.State().Classes[0].ID, other.State().Classes[0].Examples[0].ID))(t)
			other.ForgetUndo() // writes a snapshot
			test.OK(t, other.Kept(other.LastChange()))
			if deleted {
				test.OK(t, other.DeleteSession(id))
			}
			s.late = false
			w.Flush()
			if deleted {
				k := w.State().Classes[0]
				test.Must(w.RemoveExample(k.ID, k.Examples[0].ID))(t) // before the tab opens another session
				w.ForgetUndo()
				for range 2 { // the second one compacts
					w.Flush()
				}
				for _, n := range w.stale {
					test.OK(t, w.Follow(n))
				}
				if err := log.Exists(s, id); err != log.ErrDeleted || w.State().SessionID == id {
					t.Errorf("the session is there again: %v", err)
				}
				return
			}
			test.OK(t, w.Follow(Note{Session: id}))
			again := newWorld(t, s.Memory)
			test.OK(t, again.OpenSession(id))
			want := "[cat2 cow0 dog3 horse0]"
			for _, tab := range []*world{w, again} {
				if got := fmt.Sprint(slices.Sorted(slices.Values(contents(tab)))); got != want || tab.State().Damaged > 0 {
					t.Errorf("%s, %d damaged records; want %s", got, tab.State().Damaged, want)
				}
			}
		})
	}
}

// contents are the labels of the classes, each with its number of examples.
func contents(w *world) (all []string) {
	for _, k := range w.State().Classes {
		all = append(all, fmt.Sprint(k.Label, len(k.Examples)))
	}
	return all
}

func TestLimitsHaveWords(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	for i := range model.MaxClasses {
		test.OK(t, second(w.AddClass(fmt.Sprint("class ", i))))
	}
	err := second(w.AddClass("one more"))
	if code(err) != "limit" || !strings.Contains(err.Error(), "2000 classes: divide") {
		t.Errorf("class: %v", err)
	}
	token := test.Must(w.RemoveClass(w.State().Classes[0].ID))(t)
	test.OK(t, second(w.AddClass("one instead")))
	if err := w.Undo(token); code(err) != "limit" {
		t.Errorf("a class that comes back: %v", err)
	}
	if _, err := w.SaveSession(); err != nil {
		t.Error(err)
	}
}

// A database that the browser has lost looks like a first visit, except for the marks. Deleted
// sessions are not missed.
func TestWhatVanishedIsNoticed(t *testing.T) {
	noted := map[string]string{}
	hooks := Hooks{
		Marks: func() string { return "[" + strings.Join(slices.Collect(maps.Values(noted)), ",") + "]" },
		Mark: func(id, mark string) {
			if noted[id] = mark; mark == "" {
				delete(noted, id)
			}
		},
	}
	open := func(s log.DB) *Engine {
		e := newEngine(s, hooks)
		test.OK(t, e.Start())
		return e
	}
	teach := func(e *Engine) {
		test.OK(t, second(e.AddClass("cat")))
		e.Flush()
	}
	s := log.NewMemory()
	e := open(s)
	teach(e)
	first := e.State().SessionID
	test.Must(e.NewSession("Garden"))(t)
	teach(e)
	v := open(s).State().Vanished
	if v != "" || len(noted) != 2 {
		t.Errorf("all is there, and it is said: %q; noted %v", v, noted)
	}
	test.OK(t, e.DeleteSession(first))
	v = open(s).State().Vanished
	if v != "" || len(noted) != 1 {
		t.Errorf("one was deleted, and it is said: %q; noted %v", v, noted)
	}
	lost := log.NewMemory()
	for range 2 { // until something new is taught
		e = open(lost)
		v := e.State().Vanished
		if !strings.Contains(v, "lost or deleted what was kept here: “Garden” (1 class, 0 pictures)") {
			t.Errorf("all is gone, and it is said: %q", v)
		}
	}
	teach(e)
	v = open(lost).State().Vanished
	if v != "" {
		t.Errorf("said once more: %q", v)
	}
	test.Must(e.RemoveClass(e.State().Classes[0].ID))(t)
	e.Flush()
	v = open(log.NewMemory()).State().Vanished
	if v != "" {
		t.Errorf("a session without classes was lost, and it is said: %q", v)
	}
}

// A session of a former version for which there is no room is not lost, and says what it waits for.
func TestAFullStorageOpensWithoutFormerSessions(t *testing.T) {
	db := log.NewMemory()
	test.OK(t, db.Do(true, func(tx log.Tx) error {
		return tx.Put("sessions", log.Key{ID: "old"}, log.Record{"name": "Kitchen"})
	}))
	hooks := Hooks{Marks: func() string { return `[{"ID":"old","Name":"Kitchen","Classes":1}]` }}
	db.Before = func(_ log.Table, k log.Key, v any) error {
		if k.ID == "old" && v != nil {
			return &metaqda.Error{Code: "quota", Message: "The storage is full."}
		}
		return nil
	}
	e := newEngine(db, hooks)
	test.OK(t, e.Start())
	s := e.State()
	if v := s.Vanished; !strings.Contains(v, "1 session of a former version") || strings.Contains(v, "lost or deleted") {
		t.Errorf("it is said: %q", v)
	}
	if s.Trouble != "" {
		t.Errorf("the new session is not kept: %q", s.Trouble)
	}
	db.Before = nil
	e = newEngine(db, hooks)
	test.OK(t, e.Start())
	test.OK(t, e.OpenSession("old"))
	if s := e.State(); s.SessionName != "Kitchen" || s.Vanished != "" {
		t.Errorf("opened %q, and it is said: %q", s.SessionName, s.Vanished)
	}
}

// Several changes that are asked about together are refused together: none is forgotten.
func TestChangesAreAskedAboutTogether(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	before := w.LastChange()
	for _, label := range []string{"cat", "dog"} {
		test.OK(t, w.Change(false, func(c *metaqda.Classifier) error {
			_, err := c.AddClass(label)
			return err
		}))
	}
	first := w.Recent()
	if first.Before != before || first.Number != before+2 || first.Undo == "" || first.Taught {
		t.Errorf("%+v, want both changes after number %d", first, before)
	}
	if again := w.Recent(); again != (Recent{}) {
		t.Errorf("%+v was told twice", again)
	}
	test.OK(t, w.Ask(false, func(c *metaqda.Classifier) error { return nil }))
	if asked := w.Recent(); asked != (Recent{}) {
		t.Errorf("a question changed %+v", asked)
	}
	test.OK(t, w.Change(false, func(c *metaqda.Classifier) error { return test.Err(c.Undo()) }))
	if undone := w.Recent(); undone.Undo != "" {
		t.Errorf("an undo is no step, and answers the id %q", undone.Undo)
	}
	test.OK(t, w.Change(false, func(c *metaqda.Classifier) error { return test.Err(c.Redo()) }))
	if redone := w.Recent(); redone.Undo != first.Undo {
		t.Errorf("redone is the step %q, want %q", redone.Undo, first.Undo)
	}
}

// silent is a database that does not answer. Each question waits for half a minute.
type silent struct{ asked int }

func (s *silent) Do(bool, func(log.Tx) error) error {
	s.asked++
	return &metaqda.Error{Code: "blocked", Message: "The browser does not answer."}
}

func (s *silent) Erase() {}

func TestAStorageThatDoesNotAnswerIsAskedOnce(t *testing.T) {
	s := &silent{}
	marks := func() string { return `[{"ID":"a","Name":"Kitchen"}]` }
	if err := newEngine(s, Hooks{Marks: marks}).Start(); Explain(err).Code != "blocked" || s.asked != 1 {
		t.Errorf("asked %d times: %v", s.asked, err)
	}
}
