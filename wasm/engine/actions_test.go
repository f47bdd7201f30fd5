package engine

import (
	"math/rand/v2"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/niw"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// actions returns those of none of these, and then of each class.
func (w *world) actions() []string {
	s := w.State()
	all := []string{s.Actions}
	for _, k := range s.Classes {
		all = append(all, k.Actions)
	}
	return all
}

func (w *world) acts(t *testing.T, when string, want ...string) {
	t.Helper()
	got := w.actions()
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("%s the actions are %q, want %q", when, got, want)
		}
	}
}

func TestActionsAreStoredAndUndoneAfterAReload(t *testing.T) {
	s := log.NewMemory()
	w := newWorld(t, s)
	ids := w.teachAll(t, "cat", "dog")
	test.Must(w.SetActions(ids[1], "say dog"))(t)
	token := test.Must(w.SetActions("", "say nothing"))(t)
	if token == "" || w.State().Undo != "change of what happens when it sees None of these" {
		t.Errorf("the step has the token %q and the name %q", token, w.State().Undo)
	}
	w.Flush()
	w = newWorld(t, s)
	w.acts(t, "after a reload", "say nothing", "", "say dog")
	test.OK(t, w.Undo(""))
	w.acts(t, "once undone", "", "", "say dog")
	w.Flush()
	w = newWorld(t, s)
	w.acts(t, "after another reload", "", "", "say dog")
	test.Must(w.Redo())(t)
	test.Must(w.RemoveClass(w.State().Classes[1].ID))(t)
	w.Flush()
	w = newWorld(t, s)
	w.acts(t, "without the class", "say nothing", "")
	test.OK(t, w.Undo(""))
	w.acts(t, "with the class again", "say nothing", "", "say dog")

	file := test.Must(w.SaveSession())(t)
	w.importSession(t, file)
	w.acts(t, "in a session from a file", "say nothing", "", "say dog")
	test.OK(t, test.Err(w.NewSession("another")))
	w.acts(t, "in a new session", "")
}

func TestActionsReachOtherTabs(t *testing.T) {
	w := newTabs(t, 2)
	w.all[0].teachAll(t, "cat", "dog")
	w.settle()
	a, b := w.all[0], w.all[1]
	test.Must(a.SetActions(a.State().Classes[0].ID, "say cat"))(t)
	test.Must(b.SetActions("", "say nothing"))(t)
	w.settle()
	w.equal("after both tabs set some")
	b.acts(t, "in the other tab", "say nothing", "say cat", "")
	test.OK(t, b.Undo(""))
	w.settle()
	w.equal("after one tab undid its own")
	a.acts(t, "in the first tab", "", "say cat", "")
}

// A live view says what came and went; a change of classes goes on with it, and the next single
// answer ends it.
func TestALiveViewSaysWhatComesAndGoes(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	r := rand.New(rand.NewPCG(5, 6))
	w.clock = 1e12 // milliseconds: in 2001
	look := func(x []float32, frames int) (events []metaqda.Event, here string) {
		t.Helper()
		for range frames {
			live := test.Must(w.ShowFrame(x, 0))(t)
			if (live.Answer == nil) != (x == nil) {
				t.Fatalf("the answer for %d numbers is %+v", len(x), live.Answer)
			}
			events, here = append(events, live.Events...), live.Here
			w.clock += 250
		}
		return events, here
	}
	events, here := look(nil, 8)
	if w.frame.Verdict != "There is nothing to recognise at the moment." {
		t.Errorf("before silence it says %q", w.frame.Verdict)
	}
	if len(events) > 0 || here != "" {
		t.Errorf("of nothing: %+v, here is %q", events, here)
	}
	cat := picture(r, 1)
	events, here = look(cat, 8)
	if len(events) != 1 || events[0].Label != "cat" || !events[0].Here || here != "cat" || events[0].Probability < 0.9 {
		t.Fatalf("of a cat: %+v, here is %q", events, here)
	}
	if since := events[0].Since; since < 1e9+2 || since > 1e9+4 {
		t.Errorf("it has been here since %v, want seconds since 1970", since)
	}
	test.OK(t, w.RenameClass(ids[0], "tom"))
	events, here = look(picture(r, 2), 8)
	if len(events) != 2 || events[0].Label != "tom" || events[0].Here || events[1].Label != "dog" || here != "dog" {
		t.Fatalf("of a dog: %+v, here is %q", events, here)
	}
	test.Must(w.Show(cat))(t)
	events, here = look(nil, 1)
	if len(events) > 0 || here != "" {
		t.Errorf("a new live view begins with %+v, here is %q", events, here)
	}
}

// The more false events a live view allows, the sooner it says that a class is here; the rate may
// change while it lasts.
func TestALiveViewAllowsFalseEvents(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	w.teachAll(t, "cat", "dog")
	w.clock = 1e12
	cat := picture(rand.New(rand.NewPCG(5, 6)), 1)
	here := func(perHour float64) string {
		t.Helper()
		for range 8 {
			live := test.Must(w.ShowFrame(cat, perHour))(t)
			w.clock += 250
			if live.Here != "" {
				return live.Here
			}
		}
		return ""
	}
	if got := here(1e-9); got != "" {
		t.Errorf("with hardly a false event allowed %q is here", got)
	}
	if got := here(10); got != "cat" {
		t.Errorf("with ten an hour %q is here", got)
	}
	test.Refused[*niw.ValueError](t, test.Err(w.ShowFrame(cat, -1)), "a negative number")
}
