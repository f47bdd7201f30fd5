package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	metaqda "metaqda/core"
	"metaqda/wasm/store"
)

// noted is a change to be stored, with its number.
type noted struct {
	number uint64
	store.Change
}

// note notes a change to be stored.
func (e *Engine) note(needs store.Needs, ops ...store.Op) {
	e.number++
	e.pending = append(e.pending, noted{e.number, store.Change{Needs: needs, Ops: ops}})
}

// Noted returns the number of the last change noted, for [Engine.Kept].
func (e *Engine) Noted() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.number
}

// Kept stores the pending changes as Flush does. It returns the reason if a change after the
// number before, up to number, was refused: another tab changed its preconditions first. This
// tab has then taken the change back. If storage was cleared, closed or aborted, it returns
// that error: the changes are in this tab only. It waits.
func (e *Engine) Kept(before, number uint64) error {
	failed := e.flush()
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for n := before + 1; n <= number; n++ {
		if why := e.refused[n]; why != nil && err == nil {
			err = why
		}
		delete(e.refused, n)
	}
	switch {
	case err != nil:
		return err
	case e.gone != nil:
		return e.gone
	case failed != nil && Explain(failed).Code == "aborted":
		return failed
	}
	return nil
}

// Gone returns why changes from now on cannot be stored, nil while they can.
func (e *Engine) Gone() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gone
}

// Flush stores the pending changes and waits for it. Changes that could not be stored stay
// pending and go with the next one; [State].Trouble then says why.
func (e *Engine) Flush() { _ = e.flush() }

func (e *Engine) flush() error {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	e.mu.Lock()
	if e.gone != nil {
		e.pending = nil
	}
	changes := slices.Clone(e.pending)
	fetch := e.fetch
	e.fetch = nil
	e.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	settled, err := map[uint64]error{}, e.fetchThumbnails(fetch, changes)
	if err == nil {
		settled, err = commit(e.store, changes)
	}
	e.mu.Lock()
	trouble := e.trouble
	e.pending = slices.DeleteFunc(e.pending, func(c noted) bool { _, ok := settled[c.number]; return ok })
	var done, undone []Note // of several sessions, if changes of an earlier one wait for free space
	for _, c := range changes {
		n := noteOf(c.Change)
		switch why, ok := settled[c.number]; {
		case !ok:
		case why == nil:
			done = append(done, n)
		default:
			if n.Anew = c.Needs.Whole; c.Needs.Class != "" { // the class is not as expected
				n.Classes = append(n.Classes, c.Needs.Class)
			}
			undone = append(undone, n)
			e.refuse(c.number, why)
		}
	}
	_, transient := e.store.(*store.Memory)
	switch {
	case e.gone != nil: // e.trouble says so already
	case err != nil:
		why := Explain(err)
		e.trouble = why.Message
		if why.Code == "closed" {
			e.gone = why
		}
	case !transient: // Memory keeps nothing in any case
		e.trouble = ""
	}
	changed, sweep := trouble != e.trouble, e.sweep && err == nil
	e.sweep = e.sweep && !sweep
	e.mu.Unlock()
	if sweep {
		_ = e.store.Sweep() // on error the leftovers only take space
	}
	for _, n := range Joined(undone) {
		e.takeBack(n)
	}
	if changed {
		e.announce()
	}
	for _, n := range Joined(done) {
		e.stored(n)
	}
	if len(done) > 0 {
		e.mark()
	}
	return err
}

// fetchBefore marks examples whose thumbnails only the store has, to be fetched before they are
// deleted there.
func (e *Engine) fetchBefore(examples ...*metaqda.Example) {
	for _, x := range examples {
		if x.Apart {
			e.fetch = append(e.fetch, x)
		}
	}
}

// fetchThumbnails fetches the thumbnails of examples, also into pending changes that write them
// anew. After an error the next flush tries again.
func (e *Engine) fetchThumbnails(examples []*metaqda.Example, changes []noted) error {
	if len(examples) == 0 {
		return nil
	}
	ids := make([]string, len(examples))
	for i, x := range examples {
		ids[i] = x.ID
	}
	found, err := e.store.Thumbnails(ids)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.fetch = append(examples, e.fetch...)
		return err
	}
	for _, x := range examples {
		x.Thumbnail, x.Apart = found[x.ID], false
	}
	defer clear(e.encode)
	for _, c := range changes {
		for i, op := range c.Ops {
			if x, ok := op.Value.(store.Example); ok && x.Apart && found[x.ID] != nil {
				x.Thumbnail, x.Apart = found[x.ID], false
				c.Ops[i].Value = x
			}
			if s := e.encode[op.Key]; s != nil && op.Table == store.Steps && op.Value != nil {
				c.Ops[i].Value = encodeStep(s)
			}
		}
	}
	return nil
}

// maxRefused is how many refusals are kept for later calls of Kept.
const maxRefused = 1000

// refuse notes why a change was refused. If the session was cleared from the storage, the
// change is not taken back: it stays in this tab, like the whole session.
func (e *Engine) refuse(number uint64, why error) {
	if errors.Is(why, store.ErrCleared) {
		e.lose()
		return
	}
	if len(e.refused) < maxRefused {
		e.refused[number] = why
	}
}

func (e *Engine) lose() {
	e.gone, e.trouble = store.ErrCleared, store.ErrCleared.Error()
}

// Lose notes that the browser has cleared the storage.
func (e *Engine) Lose() {
	e.mu.Lock()
	e.lose()
	e.mu.Unlock()
	e.announce()
}

// takeBack restores the stored state of the records of refused changes.
func (e *Engine) takeBack(n Note) {
	switch next, err := e.catchUp(n); {
	case err != nil: // the state stays until the next note
	case next != nothingMore && e.hooks.Stale != nil:
		n.Head = true
		e.hooks.Stale(n)
	}
}

// commit stores changes and returns those that are settled: stored, or refused for a reason. If
// space is short, it first stores the changes that free space, and then as many others as fit.
func commit(s store.Store, changes []noted) (settled map[uint64]error, err error) {
	settled = map[uint64]error{}
	store1 := func(some []noted) error {
		plain := make([]store.Change, len(some))
		for i, c := range some {
			plain[i] = c.Change
		}
		refused, err := s.Commit(plain)
		for i := range refused {
			if err == nil {
				settled[some[i].number] = refused[i]
			}
		}
		return err
	}
	if err = store1(changes); err == nil || Explain(err).Code != "quota" || len(changes) == 1 {
		return settled, err
	}
	room, rest := makeRoom(changes)
	if len(room) > 0 {
		if err := store1(room); err != nil {
			return settled, err
		}
	}
	for i := range rest {
		if err := store1(rest[i : i+1]); err != nil {
			return settled, err
		}
	}
	return settled, nil
}

// makeRoom divides changes into two lists. Those in room only delete records that no later
// change writes. Those in rest do not write records that are deleted last.
func makeRoom(changes []noted) (room, rest []noted) {
	last := map[store.Ref]bool{} // whether its last operation writes it, else deletes it
	for _, c := range changes {
		for _, op := range c.Ops {
			last[op.Ref()] = op.Value != nil
		}
	}
	for _, c := range changes {
		frees := slices.ContainsFunc(c.Ops, func(op store.Op) bool { return op.Value == nil }) && !slices.ContainsFunc(c.Ops, func(op store.Op) bool {
			_, edit := op.Value.(store.Edit)
			return !edit && (op.Value != nil || last[op.Ref()])
		})
		if frees {
			room = append(room, c)
			continue
		}
		c.Ops = slices.DeleteFunc(slices.Clone(c.Ops), func(op store.Op) bool {
			return op.Value != nil && !last[op.Ref()]
		})
		if there, known := last[store.Ref{Table: store.Classes, Key: c.Needs.Class}]; known && !there {
			c.Needs.Class, c.Needs.Name = "", "" // its class is deleted, and with it the changed records
		}
		rest = append(rest, c)
	}
	return room, rest
}

// stored tells the other tabs which records were stored.
func (e *Engine) stored(n Note) {
	if e.hooks.Stored != nil && !n.empty() {
		e.hooks.Stored(n)
	}
}

// mark describes a session outside the store. It shows that the browser has lost or deleted a
// database: an empty one looks like a first visit.
type mark struct {
	ID, Name          string
	Classes, Examples int
}

// mark writes the mark of the open session.
func (e *Engine) mark() {
	e.mu.Lock()
	m := mark{e.session.ID, e.session.Name, e.taught.Len(), e.taught.Count()}
	unmark, note := e.unmark, e.hooks.Mark != nil && e.gone == nil && m.Classes > 0
	if note {
		e.unmark = nil
	}
	e.mu.Unlock()
	if !note {
		return
	}
	for _, id := range unmark { // vanished sessions are reported at every start until something new is taught
		e.hooks.Mark(id, "")
	}
	b, _ := json.Marshal(m) // text and numbers
	e.hooks.Mark(m.ID, string(b))
}

// noticeVanished names the sessions that have marks but are no longer stored, though nobody
// deleted them. It waits.
func (e *Engine) noticeVanished() error {
	var marks []mark
	if e.hooks.Marks == nil || json.Unmarshal([]byte(e.hooks.Marks()), &marks) != nil {
		return nil
	}
	var names []string
	for _, m := range marks {
		p, err := e.store.Parts(m.ID, nil, nil)
		if err != nil {
			return err
		}
		if p.Session == nil && !p.Deleted {
			names = append(names, "“"+m.Name+"” ("+counted(m.Classes, "class", "es")+", "+counted(m.Examples, "picture", "s")+")")
		}
		if p.Session == nil {
			e.unmark = append(e.unmark, m.ID)
		}
	}
	if len(names) > 0 {
		e.vanished = "The browser has lost or deleted what was kept here: " + strings.Join(names, ", ") + ". This page cannot bring it back: open the file it was last saved to."
	}
	return nil
}

func counted(n int, what, plural string) string {
	if n == 1 {
		plural = ""
	}
	return strconv.Itoa(n) + " " + what + plural
}
