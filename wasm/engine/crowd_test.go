package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// crowd is tabs that do random things, also while another tab waits for the database. Tabs are killed,
// and others opened in their place. The tabs share a clock.
type crowd struct {
	*tabs
	r         *rand.Rand
	users     []*user
	waiting   map[*user]bool // for the database, or dead
	within    bool           // a tab acts while another one waits
	full      bool           // some writes find no room
	slow      bool           // some writes report a timeout, although they are complete
	troubled  bool           // full or slow was set once
	checking  bool           // no tab acts
	clock     int64
	priors    [][]byte // that tabs may choose
	sessions  bool     // sessions are made, opened and deleted
	deeds     []*deed
	there     map[string]bool // whether a session was made (true) or deleted (false), by id
	uncertain map[string]bool // sessions whose deletion reported an error
}

// user is what a tab keeps beside its engine.
type user struct {
	mirror
	tokens []string // ids of steps
	joined string   // id of the step that the next group may continue
}

// deed is a change by a tab.
type deed struct {
	tab            *world
	what, session  string
	before, number uint64            // as for [Engine.Kept]
	added          map[string]string // as of places
	removed, moved []string
	fate           fate
}

type fate int

const (
	undecided fate = iota
	acknowledged
	refused
	unsaved // the page says that changes are not stored
)

func newCrowd(t *testing.T, r *rand.Rand) *crowd {
	c := &crowd{tabs: &tabs{t: t, store: log.NewMemory()}, r: r, waiting: map[*user]bool{}, there: map[string]bool{}, uncertain: map[string]bool{}}
	if r.IntN(3) == 0 {
		a, _ := priorFile(t, dim, 3)
		b, _ := priorFile(t, dim, 4)
		c.priors = [][]byte{a, b}
	}
	c.sessions = r.IntN(2) == 0
	for range 2 + r.IntN(2) {
		c.add()
	}
	return c
}

// add opens one more tab.
func (c *crowd) add() {
	w, u := c.open()
	c.all, c.users, c.inbox, c.read = append(c.all, w), append(c.users, u), append(c.inbox, nil), append(c.read, 0)
	test.OK(c.t, w.Follow(Note{Session: w.State().SessionID})) // of what came before there was a channel
}

// kill kills a tab and opens another one in its place.
func (c *crowd) kill(i int) {
	c.post()
	c.waiting[c.users[i]] = true
	c.all[i], c.users[i] = c.open()
	c.read[i], c.inbox[i] = 0, []Note{{Session: c.all[i].State().SessionID}}
}

func (c *crowd) open() (*world, *user) {
	u := &user{}
	w := newWorld(c.t, &shared{c, u})
	w.hooks.Now = func() time.Time { c.clock++; return time.UnixMilli(c.clock) }
	test.OK(c.t, w.UseExtractor(here, false))
	return w, u
}

// shared is the database as a tab has it.
type shared struct {
	*crowd
	user *user
}

func (s *shared) Erase() {}

func (s *shared) Do(writes bool, f func(log.Tx) error) error {
	c := s.crowd
	if len(c.all) > 0 && !c.within && !c.checking && c.r.IntN(4) == 0 {
		c.waiting[s.user], c.within = true, true
		for range 1 + c.r.IntN(2) {
			if i := c.r.IntN(len(c.all)); !c.waiting[c.users[i]] {
				c.act(i)
				if c.r.IntN(3) > 0 {
					c.all[i].Flush()
				}
			}
		}
		delete(c.waiting, s.user)
		c.within = false
	}
	if c.full && writes && c.r.IntN(3) > 0 {
		n, room := 0, c.r.IntN(4)
		c.store.Before = func(_ log.Table, _ log.Key, v any) error {
			if v != nil {
				n++
			}
			if n > room {
				return &metaqda.Error{Code: "quota", Message: "The storage is full."}
			}
			return nil
		}
		defer func() { c.store.Before = nil }()
	}
	err := c.store.Do(writes, f)
	if c.slow && writes && err == nil && c.r.IntN(15) == 0 {
		return &metaqda.Error{Code: "blocked", Message: "The storage does not answer."}
	}
	return err
}

// places returns the class of each example, and of each class itself.
func places(all []metaqda.Class) map[string]string {
	m := map[string]string{}
	for _, k := range all {
		m[k.ID] = k.ID
		for _, x := range k.Examples {
			m[x.ID] = k.ID
		}
	}
	return m
}

// act lets a tab do one thing.
func (c *crowd) act(i int) {
	w, u, s := c.all[i], c.users[i], c.all[i].State()
	d := &deed{tab: w, session: s.SessionID, before: w.LastChange(), added: map[string]string{}}
	d.what = c.change(w, u, s)
	if d.number = w.LastChange(); d.number > d.before && w.State().SessionID == s.SessionID {
		was, now := places(s.Classes), places(w.State().Classes)
		for id, class := range now {
			if at, ok := was[id]; !ok {
				d.added[id] = class
			} else if at != class {
				d.moved = append(d.moved, id)
			}
		}
		for id := range was {
			if _, ok := now[id]; !ok {
				d.removed = append(d.removed, id)
			}
		}
		c.deeds = append(c.deeds, d)
	}
	if c.r.IntN(3) > 0 {
		u.follow(w.Engine)
	}
}

// change makes a random change, and returns what it was. Errors are ignored: another tab may have been
// quicker.
func (c *crowd) change(w *world, u *user, s State) string {
	r := c.r
	name := func() string { return fmt.Sprint("class ", r.IntN(8)) } // often the same name in several tabs
	thumbnail := []byte(fmt.Sprint(len(c.deeds)))
	var k, to metaqda.Class
	x := ""
	if len(s.Classes) > 0 {
		k, to = s.Classes[r.IntN(len(s.Classes))], s.Classes[r.IntN(len(s.Classes))]
	}
	if len(k.Examples) > 0 {
		x = k.Examples[r.IntN(len(k.Examples))].ID
	}
	group := []string{"", "", "", "one", "two"}[r.IntN(5)]
	note := func(token string, _ error) { u.tokens = append(u.tokens, token) }
	switch n := r.IntN(100); {
	case n < 6 || len(s.Classes) == 0:
		_, _, _ = w.AddClass(name())
		return "add class"
	case n < 30:
		_, _ = w.AddExample(k.ID, picture(r, float64(n%5)), thumbnail, group)
		return "add"
	case n < 34:
		labels, vectors := make([]string, 1+r.IntN(20)), [][]float32{}
		for j := range labels {
			vectors = append(vectors, picture(r, float64(j%5)))
			if labels[j] = k.Label; r.IntN(5) == 0 {
				labels[j] = name()
			}
		}
		_, _ = w.AddExamples(labels, vectors, thumbnail, group)
		return "add many"
	case n < 40:
		if r.IntN(2) == 0 {
			u.joined = ""
		}
		w.Begin(u.joined)
		_, _ = w.AddExample(k.ID, picture(r, 2), thumbnail, "")
		if r.IntN(2) == 0 {
			_, _ = w.AddExample(to.ID, picture(r, 2), thumbnail, "")
		}
		if id := w.End(); id != "" {
			u.joined = id
		}
		return "add in a group"
	case n < 48 && x != "":
		note(w.RemoveExample(k.ID, x))
	case n < 54 && x != "":
		note(w.MoveExample(k.ID, x, to.ID))
	case n < 58:
		_ = w.RenameClass(k.ID, name())
	case n < 60:
		_, _ = w.MergeClasses(k.ID, to.ID)
	case n < 63:
		note(w.RemoveClass(k.ID))
	case n < 70:
		_ = w.Undo("")
		return "undo"
	case n < 72 && len(u.tokens) > 0:
		_ = w.Undo(u.tokens[r.IntN(len(u.tokens))])
		return "undo"
	case n < 77:
		_, _ = w.Redo()
		return "redo"
	case n < 78:
		_ = w.Configure(float64(r.IntN(9)) / 10)
	case n < 80:
		_, _ = w.SetActions([]string{k.ID, k.ID, ""}[r.IntN(3)], []string{"", "a", "b"}[r.IntN(3)])
	case n < 81:
		_ = w.Order([]string{"probability", "taught"}[r.IntN(2)])
	case n < 82:
		w.ForgetUndo()
	case c.within: // what follows waits for the database
	case n < 84:
		if all, err := w.Sessions(); err == nil {
			_ = w.RenameSession(all[r.IntN(len(all))].ID, fmt.Sprint("session ", len(c.deeds)))
		}
	case n < 86 && c.priors != nil:
		if j := r.IntN(3); j == 0 {
			_, _ = w.ResetPrior()
		} else {
			_, _, _ = w.ImportPrior(c.priors[j-1], here)
		}
	case n < 87:
		_, _ = w.SaveSession()
	case n < 92 && c.sessions:
		c.another(w)
	default:
		w.Flush()
	}
	return "another"
}

// another makes, opens or deletes a session.
func (c *crowd) another(w *world) {
	all, err := w.Sessions()
	if err != nil {
		return
	}
	id := all[c.r.IntN(len(all))].ID
	switch n := c.r.IntN(8); {
	case n < 4:
		_ = w.OpenSession(id)
	case n < 6 && len(all) > 4: // enough of them
	case n == 4:
		if id, err := w.NewSession("new"); err == nil && !c.full && !c.slow {
			c.there[id] = true
		}
	case n == 5:
		if f, err := w.SharedFile(true); err == nil {
			if id, _, err := w.ImportSession(f, here); err == nil && !c.full && !c.slow {
				c.there[id] = true
			}
		}
	default:
		err := w.DeleteSession(id)
		c.there[id], c.uncertain[id] = false, err != nil
	}
}

// hear hands a tab a note, not always the one that came first.
func (c *crowd) hear(i int) {
	c.post()
	if len(c.inbox[i]) == 0 {
		return
	}
	at := c.r.IntN(len(c.inbox[i]))
	n := c.inbox[i][at]
	c.inbox[i] = slices.Delete(c.inbox[i], at, at+1)
	if err := c.all[i].Follow(n); err != nil {
		if !c.full && !c.slow {
			c.t.Fatal(err)
		}
		c.inbox[i] = append(c.inbox[i], n)
	}
	c.users[i].follow(c.all[i].Engine)
	c.post()
}

// kept asks what became of a tab's deeds.
func (c *crowd) kept(w *world) {
	for _, d := range c.deeds {
		switch {
		case d.tab != w || d.fate != undecided:
		case w.Engine.Kept(d.before, d.number) != nil:
			d.fate = refused
		case w.State().Trouble != "":
			d.fate = unsaved
		default:
			d.fate = acknowledged
		}
	}
}

// settle ends all trouble, stores everything, delivers all notes, and checks all promises.
func (c *crowd) settle() {
	full, slow := c.full, c.slow
	c.full, c.slow, c.checking = false, false, true
	c.tabs.settle()
	for _, w := range c.all {
		c.kept(w)
	}
	c.check()
	c.full, c.slow, c.checking = full, slow, false
}

// check compares the tabs with the database, and both with what was promised.
func (c *crowd) check() {
	c.t.Helper()
	stored := newWorld(c.t, c.store)
	test.OK(c.t, stored.UseExtractor(here, false))
	for i, w := range c.all {
		id := w.State().SessionID
		if err := stored.OpenSession(id); err != nil {
			if !c.uncertain[id] {
				c.t.Fatalf("tab %d has a session open that does not exist: %v", i, err)
			}
			continue
		}
		if c.troubled && w.State().Prior.Sum != stored.State().Prior.Sum {
			continue // the prior's file found no room
		}
		w.agrees(c.t, fmt.Sprint("tab ", i), stored, c.priors == nil)
		c.users[i].follow(w.Engine)
		c.users[i].check(c.t, fmt.Sprint("tab ", i), w.Engine)
	}
	taught := map[string]string{} // as of places, of all sessions
	thumbnails := c.store.Records(log.Thumbnails)
	all := test.Must(log.Summaries(c.store))(c.t)
	for _, s := range all {
		if made, known := c.there[s.ID]; known && !made && !c.uncertain[s.ID] {
			c.t.Fatalf("session %s was deleted and is there", s.ID)
		}
		test.OK(c.t, stored.OpenSession(s.ID))
		now := stored.State()
		for id, class := range places(now.Classes) {
			if taught[id] != "" {
				c.t.Fatalf("%s is there twice", id)
			}
			taught[id] = class
			if id != class && thumbnails[log.Key{ID: id}] == nil && !c.troubled {
				c.t.Fatalf("%s has no thumbnail", id)
			}
		}
		if n := len(places(now.Classes)) - len(now.Classes); n != s.Examples || len(now.Classes) != s.Classes || now.SessionName != s.Name {
			c.t.Fatalf("the list has %+v, the session %d classes, %d examples and the name %q", s, len(now.Classes), n, now.SessionName)
		}
	}
	for id, made := range c.there {
		if made && !slices.ContainsFunc(all, func(s log.Summary) bool { return s.ID == id }) {
			c.t.Fatalf("session %s was made and is gone", id)
		}
	}
	if left := test.Must(log.Unreachable(c.store))(c.t); len(left) > 0 {
		c.t.Fatalf("records belong to no session: %+v", left)
	}
	if !c.troubled {
		c.promises(taught)
	}
}

// promises compares the classes and examples that are there with what became of each deed. Undo and redo
// may take back or repeat what another deed did.
func (c *crowd) promises(taught map[string]string) {
	removed, again, moved := map[string]*deed{}, map[string]bool{}, map[string]bool{}
	for _, d := range c.deeds {
		back := strings.HasSuffix(d.what, "do")
		for id := range d.added {
			again[id] = again[id] || back
		}
		for _, id := range d.moved {
			again[id], moved[id] = again[id] || back, true
		}
		for _, id := range d.removed {
			if d.fate != refused && (removed[id] == nil || d.fate == acknowledged) {
				removed[id] = d
			}
		}
	}
	for _, d := range c.deeds {
		made, known := c.there[d.session]
		for id, class := range d.added {
			switch {
			case d.what == "add in a group" || known && !made || c.uncertain[d.session]:
			case d.fate == acknowledged && removed[id] == nil && taught[id] == "":
				c.t.Fatalf("%s was acknowledged (%s) and is gone", id, d.what)
			case d.fate == acknowledged && removed[id] == nil && !moved[id] && taught[id] != class:
				c.t.Fatalf("%s was acknowledged (%s) and is in another class", id, d.what)
			case d.fate == refused && !again[id] && taught[id] != "":
				c.t.Fatalf("%s was refused (%s) and is there", id, d.what)
			case removed[id] != nil && removed[id].fate == acknowledged && !again[id] && !moved[id] && taught[id] != "":
				c.t.Fatalf("%s was removed (%s) and is there", id, removed[id].what)
			}
		}
	}
}

// Whatever tabs do at once, and however late their notes come, they converge to the stored state, and no
// acknowledged change is missing. This also holds if tabs are killed, the storage is full for some time,
// or transactions that time out are complete after all.
func TestTabsConverge(t *testing.T) {
	seeds := uint64(8)
	if runtime.GOARCH == "wasm" {
		seeds = 2
	}
	for name, set := range map[string]func(c *crowd){
		"killed":        func(*crowd) {},
		"full":          func(c *crowd) { c.full = true },
		"slow":          func(c *crowd) { c.slow = true },
		"full and slow": func(c *crowd) { c.full, c.slow = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			count := map[fate]int{}
			for seed := range seeds {
				c := newCrowd(t, rand.New(rand.NewPCG(seed, 77)))
				set(c)
				full := c.full
				c.troubled = c.full || c.slow
				for step := range 1200 {
					i := c.r.IntN(len(c.all))
					if full && c.r.IntN(30) == 0 {
						c.full = !c.full
					}
					switch n := c.r.IntN(40); {
					case n < 22:
						c.act(i)
					case n < 26:
						c.all[i].Flush()
					case n < 29:
						c.kept(c.all[i])
					case n == 29 && !c.troubled && c.r.IntN(4) == 0:
						c.kill(i)
					case n > 29:
						c.hear(i)
					}
					if step%300 == 299 {
						c.settle()
					}
				}
				for _, d := range c.deeds {
					count[d.fate]++
				}
			}
			t.Logf("%d changes acknowledged, %d refused, %d told not to be stored, %d of killed tabs", count[acknowledged], count[refused], count[unsaved], count[undecided])
			if count[refused] == 0 {
				t.Error("nothing came too late: the tabs do not meet")
			}
		})
	}
}
