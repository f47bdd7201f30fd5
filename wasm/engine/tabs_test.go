package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// tabs are engines on one store, like the tabs of one browser.
type tabs struct {
	t     *testing.T
	store *log.Memory
	all   []*world
	inbox [][]Note // undelivered notes of each tab
	read  []int    // number of each tab's notes that were sent
	count int      // of notes that were delivered
}

func newTabs(t *testing.T, n int) *tabs {
	w := &tabs{t: t, store: log.NewMemory(), inbox: make([][]Note, n), read: make([]int, n)}
	for range n {
		w.all = append(w.all, newWorld(t, w.store))
	}
	return w
}

// post sends the notes of each tab to the others.
func (w *tabs) post() {
	for i, from := range w.all {
		for _, n := range from.stored[w.read[i]:] {
			for j := range w.all {
				if j != i {
					w.inbox[j] = append(w.inbox[j], n)
				}
			}
		}
		w.read[i] = len(from.stored)
		w.inbox[i] = append(w.inbox[i], from.stale...)
		from.stale = nil
	}
}

// deliver hands a tab a note, not always the one that came first.
func (w *tabs) deliver(i int) {
	w.post()
	if len(w.inbox[i]) > 0 {
		w.count++
		at := w.count % len(w.inbox[i])
		n := w.inbox[i][at]
		w.inbox[i] = slices.Delete(w.inbox[i], at, at+1)
		test.OK(w.t, w.all[i].Follow(n))
		w.post()
	}
}

// settle stores everything and delivers all notes.
func (w *tabs) settle() {
	for again := true; again; {
		again = false
		for _, tab := range w.all {
			tab.Flush()
		}
		w.post()
		for i := range w.all {
			for len(w.inbox[i]) > 0 {
				again = true
				w.deliver(i)
			}
		}
	}
}

// equal checks that all tabs show and export the stored state.
func (w *tabs) equal(what string) {
	w.t.Helper()
	fresh := newWorld(w.t, w.store)
	test.OK(w.t, fresh.OpenSession(w.all[0].State().SessionID))
	for i, tab := range w.all {
		tab.agrees(w.t, fmt.Sprint(what, ": tab ", i), fresh, true)
	}
}

// agrees checks that a tab has what is stored. history says whether its undo history must be stored, too.
func (w *world) agrees(t *testing.T, what string, stored *world, history bool) {
	t.Helper()
	shown := func(w *world) string {
		w.PrepareAll()
		s := w.State()
		text := fmt.Sprintf("%q, settings %+v, prior %s, extractor %+v, %d damaged, saved %d", s.SessionName, s.Settings, s.Prior.Sum, s.Extractor, s.Damaged, s.Saved)
		for i, k := range s.Classes {
			text += fmt.Sprintf("\n%s %q %q, firsts %v:", k.ID, k.Label, k.Actions, s.Firsts[i])
			for _, x := range k.Examples {
				text += " " + x.ID
			}
		}
		if undo, redo := w.taught.History(); history {
			for _, one := range slices.Concat(undo, []*metaqda.Step{{ID: "redo:"}}, redo) {
				text += "\n" + one.ID + " " + one.Name
			}
		}
		return text
	}
	if got, want := shown(w), shown(stored); got != want {
		t.Fatalf("%s has\n%s\nstored is\n%s", what, got, want)
	}
	if !bytes.Equal(test.Must(w.SharedFile(true))(t), test.Must(stored.SharedFile(true))(t)) {
		t.Fatalf("%s exports something else than what is stored", what)
	}
	query := picture(rand.New(rand.NewPCG(3, 4)), 1)
	got, want := test.Must(w.Predict(query))(t), test.Must(stored.Predict(query))(t)
	if (got == nil) != (want == nil) {
		t.Fatalf("%s answers %v, what is stored %v", what, got, want)
	}
	if got != nil {
		near(t, what, *got, *want)
	}
}

// near compares answers of classifiers with different orders of examples.
func near(t *testing.T, what string, got, want Prediction) {
	t.Helper()
	for label, p := range want.byLabel() {
		if d := got.byLabel()[label] - p; len(got.Probabilities) != len(want.Probabilities) || d > 1e-9 || d < -1e-9 {
			t.Fatalf("%s: %+v, want %+v", what, got, want)
		}
	}
}

// Tabs in concurrent goroutines lose nothing.
func TestTabsAtOnce(t *testing.T) {
	w := newTabs(t, 3)
	ids := w.all[0].teachAll(t, "cat")
	w.settle()
	var all sync.WaitGroup
	for k, tab := range w.all {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 5))
			for i := range 100 {
				_, err := tab.AddExample(ids[0], picture(r, float64(i%5)), nil, "")
				if err == nil {
					err = tab.Kept(tab.LastChange())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w.settle()
	w.equal("at once")
	n := len(w.all[1].State().Classes[0].Examples)
	if n != 303 {
		t.Errorf("%d pictures, want 303", n)
	}
}

// later is a database in which another tab does something after so many writes.
type later struct {
	log.DB
	writes int
	other  func()
}

func (s *later) Do(writes bool, f func(log.Tx) error) error {
	if writes {
		if s.writes--; s.writes == -1 {
			s.other()
		}
	}
	return s.DB.Do(writes, f)
}

func refusal(t *testing.T, what string, err error, want string) {
	t.Helper()
	if code(err) != want {
		t.Errorf("%s: %v, want a refusal with code %q", what, err, want)
	}
}

// overtaken is a database in which another tab does something before the first write.
type overtaken struct {
	*log.Memory
	other func()
}

func (s *overtaken) Do(writes bool, f func(log.Tx) error) error {
	if other := s.other; writes && other != nil {
		s.other = nil
		other()
	}
	return s.Memory.Do(writes, f)
}

// A session without pictures has no extractor before the first one. It keeps its undo history all the same.
func TestClassesWithoutPicturesCanBeUndoneInEveryTab(t *testing.T) {
	w := newTabs(t, 2)
	a := w.all[0]
	test.OK(t, a.UseExtractor(here, false))
	a.addClass(t, "cat")
	w.settle()
	again := newWorld(t, w.store)
	for i, tab := range append(w.all[1:], again) {
		test.OK(t, tab.UseExtractor(here, false))
		if got := tab.State().Undo; got != "add cat" {
			t.Errorf("tab %d offers %q", i+1, got)
		}
	}
	w.settle()
	test.OK(t, w.all[1].RenameClass(a.State().Classes[0].ID, "dog"))
	w.settle()
	test.OK(t, a.Undo(""))
	if got := a.State().Undo; got != "add cat" {
		t.Errorf("%q is offered", got)
	}
}

// Of two priors that are chosen at once the later one in the log counts, in both tabs.
func TestPriorsChosenInTwoTabsAtOnce(t *testing.T) {
	file, sum := priorFile(t, dim, 3)
	other, _ := priorFile(t, dim, 4)
	third, _ := priorFile(t, dim, 5)
	for name, choose := range map[string]func(w *world){
		sum: func(w *world) { w.importPrior(t, file) },
		"":  func(w *world) { test.Must(w.ResetPrior())(t) },
	} {
		w := newTabs(t, 2)
		a, b := w.all[0], w.all[1]
		a.teachAll(t, "cat", "dog")
		a.importPrior(t, other)
		w.settle()
		a.Engine.db = &overtaken{w.store, func() {
			b.importPrior(t, third)
		}}
		choose(a)
		w.settle()
		want := newWorld(t, w.store)
		for i, tab := range w.all {
			if got, stored := tab.State().Prior, want.State().Prior; got.Sum != stored.Sum || got.Trouble != "" {
				t.Errorf("chosen %q: tab %d has %q, %s; stored is %q", name, i, got.Sum, got.Trouble, stored.Sum)
			}
			near(t, "chosen "+name, tab.ask(t), want.ask(t))
		}
	}
}

func TestTwoTabsAtAFirstVisitMakeOneSession(t *testing.T) {
	store := log.NewMemory()
	var b *world
	a := newWorld(t, &overtaken{store, func() { b = newWorld(t, store) }})
	if all := test.Must(a.Sessions())(t); len(all) != 1 || a.State().SessionID != b.State().SessionID {
		t.Errorf("the sessions are %+v; open are %q and %q", all, a.State().SessionID, b.State().SessionID)
	}
}

// Cases of two people at work in two tabs.
func TestTwoTabs(t *testing.T) {
	x := func(i int) []float32 { return picture(rand.New(rand.NewPCG(uint64(i), 9)), 1) }
	for name, check := range map[string]func(t *testing.T, w *tabs, a, b *world, ids []string){
		"a name given in one while the other adds stays": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.OK(t, b.RenameSession(b.State().SessionID, "Kitchen"))
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			test.OK(t, a.Kept(a.LastChange()))
			w.settle()
			n := a.State().SessionName
			if n != "Kitchen" {
				t.Errorf("the session is called %q", n)
			}
		},
		"a picture of one is seen in the other, which is adding": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(b.AddExample(ids[0], x(1), nil, ""))(t)
			b.Flush()
			test.Must(a.AddExample(ids[1], x(2), nil, ""))(t) // not stored yet when the note comes
			w.deliver(0)
			n := len(a.State().Classes[0].Examples)
			if n != 4 {
				t.Errorf("%d pictures, want 4", n)
			}
		},
		"a session that is deleted stays deleted": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			id := a.State().SessionID
			test.OK(t, b.DeleteSession(id))
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			refusal(t, "adding to it", a.Kept(a.LastChange()), "session")
			w.settle()
			_, c, err := log.Open(w.store, id)
			if err != nil || c != nil {
				t.Errorf("it is there again: %+v, %v", c, err)
			}
			left, err := log.Unreachable(w.store)
			if err != nil || len(left) > 0 {
				t.Errorf("%d records belong to no session, %v", len(left), err)
			}
			if a.State().SessionID == id {
				t.Error("it is still open")
			}
		},
		"a class to which another tab adds is not removed unseen": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			for i := range 30 {
				test.Must(b.AddExample(ids[0], x(i), nil, ""))(t)
			}
			b.Flush()
			test.Must(a.RemoveClass(ids[0]))(t)
			refusal(t, "removing it", a.Kept(a.LastChange()), "changed")
			w.settle()
			n := len(a.State().Classes[0].Examples)
			if n != 33 {
				t.Errorf("%d pictures, want 33", n)
			}
		},
		"a class to which another tab adds is not undone unseen": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			id := a.addClass(t, "hen")
			w.settle()
			test.Must(b.AddExample(id, x(1), nil, ""))(t)
			b.Flush()
			test.OK(t, a.Undo(""))
			refusal(t, "undoing it", a.Kept(a.LastChange()), "changed")
			if n := len(a.State().Classes); n != 3 {
				t.Errorf("%d classes, want 3", n)
			}
		},
		"a picture for a class that was removed is refused": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.RemoveClass(ids[0]))(t)
			test.OK(t, a.Kept(a.LastChange()))
			test.Must(b.AddExample(ids[0], x(1), nil, ""))(t)
			refusal(t, "adding to it", b.Kept(b.LastChange()), "class")
			n := len(b.State().Classes)
			if n != 1 {
				t.Errorf("%d classes, want 1", n)
			}
		},
		"a name is given once": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			a.addClass(t, "cup")
			test.OK(t, a.Kept(a.LastChange()))
			b.addClass(t, "cup")
			refusal(t, "the second", b.Kept(b.LastChange()), "label")
			test.OK(t, b.RenameClass(ids[1], "pot"))
			test.OK(t, b.Kept(b.LastChange()))
			test.OK(t, a.RenameClass(ids[0], "pot"))
			refusal(t, "the second", a.Kept(a.LastChange()), "label")
		},
		"what waited for room is told to whoever has its session open": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			full := &small{Memory: w.store}
			a.Engine.db = full
			test.Must(a.AddExample(ids[0], x(1), []byte("large"), ""))(t)
			session := a.State().SessionID
			a.Flush()
			test.Must(a.NewSession("Garden"))(t)
			full.room = 1000
			test.OK(t, second(a.AddClass("hen")))
			a.Flush()
			w.settle()
			n := len(b.State().Classes[0].Examples)
			if n != 4 {
				t.Errorf("%d pictures, want 4", n)
			}
			test.OK(t, a.OpenSession(session))
		},
		"what is forgotten in one is kept by neither": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.RemoveExample(ids[0], a.State().Classes[0].Examples[0].ID))(t)
			w.settle()
			test.Must(b.RemoveExample(ids[1], b.State().Classes[1].Examples[0].ID))(t)
			b.ForgetUndo()
			b.Flush()
			w.settle()
			for _, tab := range w.all {
				if s := tab.State(); s.Undo+s.Redo != "" {
					t.Errorf("undo %q, redo %q are offered", s.Undo, s.Redo)
				}
			}
			n := len(w.store.Records(log.Thumbnails))
			if n != 4 {
				t.Errorf("%d thumbnails are kept, want those of 4 pictures", n)
			}
		},
		"what one tab forgets while another brings it back leaves nothing": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.RemoveExample(ids[0], a.State().Classes[0].Examples[0].ID))(t)
			w.settle()
			test.OK(t, a.Undo(""))
			b.ForgetUndo()
			b.Flush()
			w.settle()
			left := test.Must(log.Unreachable(w.store))(t)
			if len(left) > 0 {
				t.Errorf("%d records belong to no session: %+v", len(left), left)
			}
		},
		"a picture is not moved out of a class that was removed": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(b.RemoveClass(ids[0]))(t)
			test.OK(t, b.Kept(b.LastChange()))
			test.Must(a.MoveExample(ids[0], a.State().Classes[0].Examples[0].ID, ids[1]))(t)
			refusal(t, "moving it", a.Kept(a.LastChange()), "example")
			if n := a.State().Damaged; n > 0 {
				t.Errorf("%d damaged records", n)
			}
		},
		"a picture that was moved stays when its former class is removed": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.MoveExample(ids[0], a.State().Classes[0].Examples[0].ID, ids[1]))(t)
			test.OK(t, a.Kept(a.LastChange()))
			test.Must(b.RemoveClass(ids[0]))(t)
			test.OK(t, b.Kept(b.LastChange()))
			if s := b.State(); len(s.Classes) != 1 || len(s.Classes[0].Examples) != 4 || s.Damaged > 0 {
				t.Errorf("%d classes, %d damaged records; want one class with 4 pictures", len(s.Classes), s.Damaged)
			}
		},
		"a picture that was moved stays when the storage is full": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			full := &small{Memory: w.store}
			a.Engine.db = full
			test.Must(a.AddExample(ids[1], x(1), []byte("large"), ""))(t) // what follows waits for it
			test.Must(a.MoveExample(ids[0], a.State().Classes[0].Examples[0].ID, ids[1]))(t)
			test.Must(a.RemoveClass(ids[0]))(t)
			a.Flush()
			full.room = 1000
			a.Flush()
			if s := a.State(); len(s.Classes) != 1 || len(s.Classes[0].Examples) != 5 {
				t.Errorf("%d classes, the first has %d pictures; want one class with 5", len(s.Classes), len(s.Classes[0].Examples))
			}
		},
		"a full storage is told no longer than something waits for room": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			a.Engine.db = &small{Memory: w.store}
			test.Must(a.AddExample(ids[0], x(1), []byte("large"), ""))(t)
			a.Flush()
			if a.State().Trouble == "" {
				t.Error("nothing is told while it waits")
			}
			test.Must(b.RemoveClass(ids[0]))(t)
			b.Flush()
			w.settle()
			if got := a.State().Trouble; got != "" {
				t.Error(got)
			}
		},
		"what is stored first for lack of room is first in all tabs' history": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			full := &small{Memory: w.store}
			a.Engine.db = &later{full, 2, func() {
				test.OK(t, b.RenameClass(ids[1], "hound"))
				b.Flush()
				full.room = 1000
			}}
			test.Must(a.AddExample(ids[0], x(1), []byte("large"), ""))(t)
			test.Must(a.RemoveExample(ids[1], a.State().Classes[1].Examples[0].ID))(t)
			a.Flush()
		},
		"a removal that waits for room comes after those that are stored": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			for i := range ids {
				test.Must(a.RemoveExample(ids[i], a.State().Classes[i].Examples[0].ID))(t)
			}
			n := 0
			w.store.Before = func(table log.Table, _ log.Key, _ any) error {
				if n++; n <= 2 { // both together, then the first
					return &metaqda.Error{Code: "quota", Message: "The storage is full: save the session to a file."}
				}
				return nil
			}
			a.Flush()
		},
		"a group whose beginning is refused is the latest step": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(b.RemoveClass(ids[0]))(t)
			b.Flush()
			a.Engine.db = &later{w.store, 1, func() { // after the refusal
				test.Must(b.AddExample(ids[1], x(2), nil, ""))(t)
				b.Flush()
			}}
			a.Begin("")
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			test.Must(a.AddExample(ids[1], x(1), nil, ""))(t)
			a.End()
			a.Flush()
		},
		"a group whose beginning is forgotten is the latest step": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			a.Begin("")
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			w.settle()
			b.ForgetUndo()
			b.Flush()
			test.Must(a.AddExample(ids[1], x(1), nil, ""))(t)
			a.Engine.db = &later{w.store, 1, func() { // after it has forgotten, too
				test.Must(b.AddExample(ids[1], x(2), nil, ""))(t)
				b.Flush()
			}}
			a.Flush()
			a.End()
		},
		"a group has one name in both": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			a.Begin("")
			id := test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			w.settle()
			test.Must(b.RemoveExample(ids[0], id))(t)
			b.Flush()
			test.Must(a.AddExample(ids[1], x(1), nil, ""))(t)
			a.Flush()
			a.End()
		},
		"a removal that is stored first, but late, is first in all tabs' history": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			slow := &stubborn{Memory: w.store, late: true, fails: func(table log.Table) error {
				if table == log.Thumbnails {
					return &metaqda.Error{Code: "quota", Message: "The storage is full."}
				}
				return nil
			}}
			a.Engine.db = slow
			test.Must(a.AddExample(ids[0], x(1), []byte("large"), ""))(t)
			test.Must(a.RemoveExample(ids[1], a.State().Classes[1].Examples[0].ID))(t)
			a.Flush()
			slow.late, slow.fails = false, nil
			a.Flush()
		},
		"nothing overtakes a removal that finds no room": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.RemoveClass(ids[0]))(t)
			test.OK(t, a.RenameClass(ids[1], "cat"))
			n := 0
			w.store.Before = func(log.Table, log.Key, any) error {
				if n++; n <= 2 { // both together, then the removal
					return &metaqda.Error{Code: "quota", Message: "The storage is full."}
				}
				return nil
			}
			a.Flush()
			w.settle()
			if s := b.State(); s.Damaged > 0 || len(s.Classes) != 1 || s.Classes[0].Label != "cat" {
				t.Errorf("%v, %d damaged records; want cat", contents(b), s.Damaged)
			}
		},
		"settings of both stay": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			none, sort := 0.4, "taught"
			test.OK(t, a.Configure(none))
			test.OK(t, b.Order(sort))
			w.settle()
			s := a.State().Settings
			if s.NonePrior != 0.4 || s.Sort != sort {
				t.Errorf("settings are %+v", s)
			}
		},
		"the undo history is that of both": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			want := a.State().Undo
			token := test.Must(a.RemoveExample(ids[0], a.State().Classes[0].Examples[0].ID))(t)
			w.settle()
			test.Must(b.RemoveClass(ids[0]))(t)
			w.settle()
			told := a.changes
			refusal(t, "a picture of a class that is gone", a.Undo(token), "undo")
			test.OK(t, a.Undo("")) // brings the class back
			w.settle()
			if s := b.State(); len(s.Classes) != 2 || s.Redo != "remove cat" || a.changes == told {
				t.Errorf("%d classes, redo %q", len(s.Classes), s.Redo)
			}
			test.OK(t, b.Undo(token))
			w.settle()
			again := newWorld(t, w.store).State()
			for _, s := range []State{a.State(), b.State(), again} {
				if s.Undo != want || len(s.Classes[0].Examples) != 3 {
					t.Errorf("%q is offered, want %q; %d pictures", s.Undo, want, len(s.Classes[0].Examples))
				}
			}
		},
		"a step that goes on after a change of the other stays before it": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			step := ""
			add := func(i int) {
				a.Begin(step)
				test.Must(a.AddExample(ids[0], x(i), nil, ""))(t)
				step = a.End()
			}
			add(1)
			w.settle()
			test.OK(t, b.RenameClass(ids[1], "hound"))
			b.Flush()
			a.addClass(t, "hen")
			add(2)
			for _, want := range []string{"add hen", "rename dog to hound", "add 2 examples to cat"} {
				w.settle()
				for i, tab := range w.all {
					if got := tab.State().Undo; got != want {
						t.Errorf("tab %d offers %q, want %q", i, got, want)
					}
				}
				test.OK(t, a.Undo(""))
			}
		},
		"a step that is redone after a change of the other is refused": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			test.OK(t, a.Undo(""))
			w.settle()
			test.OK(t, b.RenameClass(ids[1], "hound"))
			b.Flush()
			test.OK(t, test.Err(a.Redo()))
			refusal(t, "redoing it", a.Kept(a.LastChange()), "undo")
			if n := len(a.State().Classes[0].Examples); n != 3 {
				t.Errorf("%d pictures, want 3", n)
			}
		},
		"a step that is undone after the other chose a prior stays in both": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			w.settle()
			file, _ := priorFile(t, dim, 3)
			b.importPrior(t, file)
			test.OK(t, a.Undo(""))
			refusal(t, "undoing it", a.Kept(a.LastChange()), "undo")
			w.settle()
			for i, tab := range w.all {
				if n := len(tab.State().Classes[0].Examples); n != 4 {
					t.Errorf("tab %d has %d pictures, want 4", i, n)
				}
			}
			test.OK(t, b.Undo("")) // only this tab can undo its choice
			b.ForgetUndo()
		},
		"what both redo comes back once": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			test.Must(a.AddExample(ids[0], x(1), nil, ""))(t)
			test.OK(t, a.Undo(""))
			w.settle()
			for _, tab := range w.all {
				test.OK(t, test.Err(tab.Redo()))
			}
			for _, tab := range w.all {
				test.OK(t, tab.Kept(tab.LastChange()))
			}
			w.settle()
			if n := len(b.State().Classes[0].Examples); n != 4 {
				t.Errorf("%d pictures, want 4", n)
			}
		},
		"what both removed comes back once": func(t *testing.T, w *tabs, a, b *world, ids []string) {
			first := a.State().Classes[0].Examples[0].ID
			one := test.Must(a.RemoveExample(ids[0], first))(t)
			two := test.Must(b.RemoveExample(ids[0], first))(t)
			w.settle()
			test.OK(t, a.Undo(one))
			w.settle()
			test.OK(t, b.Undo(two))
			n := len(b.State().Classes[0].Examples)
			if n != 3 {
				t.Errorf("%d pictures, want 3", n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTabs(t, 2)
			a, b := w.all[0], w.all[1]
			ids := a.teachAll(t, "cat", "dog")
			w.settle()
			check(t, w, a, b, ids)
			w.settle()
			w.equal(name)
		})
	}
}

// A tab that takes over many pictures of another one enrols them in slices, and answers.
func TestManyPicturesOfAnotherTabAreEnrolled(t *testing.T) {
	s, r := log.NewMemory(), rand.New(rand.NewPCG(3, 9))
	a := newWorld(t, s)
	test.OK(t, first(a.AddExample(a.addClass(t, "k0"), picture(r, 1), nil, "")))
	test.OK(t, first(a.AddExample(a.addClass(t, "k1"), picture(r, 2), nil, "")))
	a.Flush()
	b := newEngine(s, Hooks{Now: time.Now, Yield: func(bool) { time.Sleep(time.Millisecond) }})
	test.OK(t, b.Start())
	test.Must(b.Show(picture(r, 1)))(t)
	labels, vectors := make([]string, 500), make([][]float32, 500)
	for i := range labels {
		labels[i], vectors[i] = fmt.Sprintf("k%d", i%2), picture(r, float64(1+i%2))
	}
	test.Must(a.AddExamples(labels, vectors, nil, ""))(t)
	a.Flush()
	test.OK(t, b.Follow(Note{Session: b.State().SessionID, Step: 99}))
	done := make(chan struct{})
	go func() { b.PrepareAll(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the pictures are never enrolled")
	}
	if got := test.Must(b.Show(picture(r, 1)))(t); got == nil || got.Label != "k0" {
		t.Errorf("the answer is %+v", got)
	}
}
