package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// mirror is the state of a page that follows the changes.
type mirror struct {
	revision   uint64
	classes    []mirrored
	thumbnails map[string][]byte // by example
	whole      bool              // the last change gave the whole state
}

type mirrored struct {
	ID, Name string
	Examples []string
	Bursts   []int
}

// follow takes over the changes.
func (m *mirror) follow(e *Engine) {
	c := e.Changes(m.revision)
	m.revision, m.whole = c.Revision, c.Whole
	if c.Whole {
		m.classes, m.thumbnails = nil, map[string][]byte{}
		for _, k := range c.State.Classes {
			in := mirrored{ID: k.ID, Name: k.Label, Bursts: k.Bursts}
			for _, x := range k.Examples {
				in.Examples = append(in.Examples, x.ID)
				m.thumbnails[x.ID] = x.Thumbnail
			}
			m.classes = append(m.classes, in)
		}
	}
	for _, s := range c.List {
		m.take(s)
	}
}

func (m *mirror) take(s metaqda.Change) {
	i := slices.IndexFunc(m.classes, func(c mirrored) bool { return c.ID == s.Class.ID })
	if i < 0 && s.Do == metaqda.PutClass {
		m.classes = slices.Insert(m.classes, s.At, mirrored{ID: s.Class.ID, Name: s.Class.Label})
		return
	}
	c := &m.classes[i]
	switch s.Do {
	case metaqda.PutClass:
		c.Name = s.Class.Label
	case metaqda.DropClass:
		for _, id := range c.Examples {
			delete(m.thumbnails, id)
		}
		m.classes = slices.Delete(m.classes, i, i+1)
	case metaqda.PutExample:
		c.Examples = slices.Insert(c.Examples, s.At, s.Example.ID)
		m.thumbnails[s.Example.ID] = s.Example.Thumbnail
	case metaqda.DropExample:
		c.Examples = slices.DeleteFunc(c.Examples, func(id string) bool { return id == s.Example.ID })
		delete(m.thumbnails, s.Example.ID)
	case metaqda.PutBurst:
		c.Bursts = append(c.Bursts[:s.At], append(slices.Clone(s.Bursts), c.Bursts[min(s.At+1, len(c.Bursts)):]...)...)
	case metaqda.PutBursts:
		c.Bursts = s.Bursts
	}
}

// check compares the mirror with the whole state, and that with the classifier.
func (m *mirror) check(t *testing.T, what string, e *Engine) {
	t.Helper()
	got := fmt.Sprint(m.classes)
	fresh := &mirror{}
	fresh.follow(e)
	want := fmt.Sprint(fresh.classes)
	if !fresh.whole || got != want {
		t.Fatalf("%s: the page has\n%s, want\n%s", what, got, want)
	}
	if fmt.Sprint(m.thumbnails) != fmt.Sprint(fresh.thumbnails) {
		t.Fatalf("%s: thumbnails %v, want %v", what, m.thumbnails, fresh.thumbnails)
	}
	var priors []*metaqda.Prior
	if p := e.taught.Prior(); p != nil {
		priors = append(priors, p)
	}
	taught := test.Must(metaqda.Open(test.Must(e.taught.Save())(t), priors...))(t) // all anew
	if !taught.Prepare(func() bool { return true }) {
		t.Fatalf("%s: examples are missing", what)
	}
	for i, k := range taught.Classes() {
		if got := m.classes[i].Bursts; !slices.Equal(got, k.Bursts) {
			t.Fatalf("%s: bursts %v, want %v", what, got, k.Bursts)
		}
	}
}

func TestAPageFarBehindIsGivenEverything(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	m := &mirror{}
	m.follow(w.Engine)
	for i := range mostChanges + 1 {
		w.addClass(t, fmt.Sprint("class ", i))
	}
	m.follow(w.Engine)
	m.check(t, "far behind", w.Engine)
	if !m.whole {
		t.Error("more steps than are kept")
	}
	ahead := w.Changes(m.revision + 1)
	if !ahead.Whole {
		t.Error("a revision that there was not leads to this one")
	}
}

// TestTheSizeOfAChangeDoesNotDependOnHowMuchThereIs adds a picture, takes it away
// and brings it back among 10 and among 1,000.
func TestTheSizeOfAChangeDoesNotDependOnHowMuchThereIs(t *testing.T) {
	size := func(n int) (added int, allocated float64) {
		w, r := newWorld(t, log.NewMemory()), rand.New(rand.NewPCG(1, 1))
		class, before := w.addClass(t, "cat"), uint64(0)
		for range n + 1 {
			before = w.Changes(before).Revision
			test.Must(w.AddExample(class, picture(r, 1), make([]byte, 3000), ""))(t)
		}
		b := test.Must(json.Marshal(w.Changes(before)))(t)
		return len(b), testing.AllocsPerRun(20, func() { w.Changes(before) })
	}
	few, fewAllocs := size(10)
	many, manyAllocs := size(1000)
	t.Logf("one more picture: %d bytes among 10, %d among 1,000; %v and %v allocations", few, many, fewAllocs, manyAllocs)
	if many > few+50 { // digits of a revision and a place
		t.Errorf("%d bytes among 1,000 pictures, %d among 10", many, few)
	}
	if manyAllocs > fewAllocs {
		t.Errorf("%v allocations among 1,000 pictures, %v among 10", manyAllocs, fewAllocs)
	}
}
