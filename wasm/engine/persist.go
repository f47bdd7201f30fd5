package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/wasm/log"
)

// pending is a step that is not stored yet.
type pending struct {
	log.Step
	number  uint64
	removed map[string][]string // the examples of each class that it removes
}

// note adds a step to those to be stored.
func (e *Engine) note(p *pending) {
	e.keeping.number++
	p.number, p.ID = e.keeping.number, newID()
	e.pending = append(e.pending, p)
}

// LastChange returns the number of the last change, for [Engine.Kept].
func (e *Engine) LastChange() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.keeping.number
}

// Kept stores the pending changes as Flush does. It returns an error if one of the changes from
// before+1 to number was refused, because another tab changed something first. This tab has then
// taken the change back. If storage was cleared, closed or aborted, it returns that error: the changes
// are in this tab only. It waits.
func (e *Engine) Kept(before, number uint64) error {
	e.storing.Lock()
	failed := e.flush()
	e.storing.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for n := before + 1; n <= number; n++ {
		if why := e.keeping.refused[n]; why != nil && err == nil {
			err = why
		}
		delete(e.keeping.refused, n)
	}
	switch {
	case err != nil:
		return err
	case e.keeping.gone != nil:
		return e.keeping.gone
	case failed != nil && Explain(failed).Code == "aborted":
		return failed
	}
	return nil
}

// Gone returns why changes from now on cannot be stored, nil while they can.
func (e *Engine) Gone() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.keeping.gone
}

// Flush stores the pending changes and waits until they are stored. Changes that could not be
// stored stay pending and are stored with the next one. [State].Trouble then says why.
func (e *Engine) Flush() {
	e.storing.Lock()
	defer e.storing.Unlock()
	_ = e.flush()
}

// flush is [Engine.Flush] for callers that hold storing. It returns the error.
func (e *Engine) flush() error {
	e.mu.Lock()
	all := append(slices.Clone(e.parked), e.session)
	e.mu.Unlock()
	var err error
	wrote := false
	for _, s := range all {
		some, failed := e.store(s)
		wrote = wrote || some
		if failed != nil {
			err = failed
		}
	}
	e.mu.Lock()
	e.parked = slices.DeleteFunc(e.parked, func(s *session) bool { return len(s.pending) == 0 && s.create == nil })
	sweep := e.keeping.sweep && err == nil && wrote
	e.keeping.sweep = e.keeping.sweep && !sweep
	e.mu.Unlock()
	if sweep {
		_ = log.Sweep(e.db) // on error the leftovers only take space
	}
	e.noteTrouble(err)
	if wrote && err == nil {
		e.writeMark()
	}
	return err
}

// noteTrouble notes why changes were not stored, nil if they were. It announces a new trouble, and
// the end of one.
func (e *Engine) noteTrouble(err error) {
	e.mu.Lock()
	k := &e.keeping
	was := k.trouble
	_, transient := e.db.(*log.Memory)
	switch {
	case k.gone != nil: // k.trouble says so already
	case err != nil:
		why := Explain(err)
		k.trouble = why.Message
		if why.Code == "closed" {
			k.gone = why
		}
	case !transient: // Memory keeps nothing in any case
		k.trouble = ""
	}
	changed := k.trouble != was
	e.mu.Unlock()
	if changed {
		e.hooks.Changed()
	}
}

// store stores the pending changes of a session. wrote says whether anything was stored. The caller
// holds storing.
func (e *Engine) store(s *session) (wrote bool, err error) {
	for {
		e.mu.Lock()
		if e.keeping.gone != nil {
			s.pending = nil
		}
		some, create, stored := slices.Clone(s.pending), s.create, s.stored
		steps := s.steps(some)
		e.mu.Unlock()
		switch {
		case create != nil && e.Gone() == nil:
			made, err := create()
			if err == nil && made.N > 1 { // it was stored already, and other tabs have changed it
				err = e.reread(s)
			}
			if errors.Is(err, log.ErrDeleted) {
				e.refuseAll(s, err)
				return wrote, nil
			}
			if err != nil {
				return wrote, err
			}
			e.mu.Lock()
			wrote = true
			if s.create != nil { // reread has not set them
				s.stored, s.create = made, nil
			}
			e.mu.Unlock()
			e.hooks.Stored(Note{Session: s.ID, Step: made.N})
			continue
		case len(some) == 0:
			return wrote, e.compact(s)
		}
		others, behind, err := log.Append(e.db, s.ID, stored.N, steps)
		if err == nil && (behind || len(others) > 0) {
			err = e.join(s, others, behind)
			if err == nil {
				continue
			}
		}
		switch {
		case errors.Is(err, log.ErrCleared):
			e.Lose()
			return wrote, nil
		case errors.Is(err, log.ErrDeleted):
			e.refuseAll(s, err)
			return wrote, nil
		case err != nil && Explain(err).Code == "quota":
			some, err := e.storeSome(s, some)
			if wrote = wrote || some; err != nil {
				return wrote, err
			}
			continue
		case err != nil:
			return wrote, err
		}
		e.appended(s, some)
		wrote = true
		for _, p := range some {
			for class := range p.removed {
				if err := e.discard(s, class); err != nil {
					return wrote, err
				}
			}
		}
	}
}

// discard deletes the damaged records of a class that was removed.
func (e *Engine) discard(s *session, class string) error {
	of := func(d log.Damage) bool { return d.Class() == class }
	if !slices.ContainsFunc(s.damaged, of) {
		return nil
	}
	e.mu.Lock()
	s.damaged = slices.DeleteFunc(s.damaged, of)
	e.mu.Unlock()
	return log.Discard(e.db, s.ID, class)
}

func (s *session) summary() log.Summary {
	now := log.Summary{Session: s.Session, Classes: s.taught.Len(), Examples: s.taught.Count()}
	now.Settings.Actions = s.taught.Actions()
	return now
}

// steps returns the steps of pending changes, after each of which the session is as it is now.
func (s *session) steps(some []*pending) []log.Step {
	all, now := make([]log.Step, len(some)), s.summary()
	for i, p := range some {
		p.After = now
		all[i] = p.Step
	}
	return all
}

// appended notes that pending changes are stored, and tells the other tabs.
func (e *Engine) appended(s *session, some []*pending) {
	e.mu.Lock()
	n := Note{Session: s.ID}
	done := map[uint64]bool{}
	for _, p := range some {
		p.N = s.stored.N + 1
		s.stored.Appended(p.Step)
		done[p.number] = true
	}
	n.Step = s.stored.N
	s.pending = slices.DeleteFunc(s.pending, func(p *pending) bool { return done[p.number] })
	e.mu.Unlock()
	e.hooks.Stored(n)
}

// storeSome stores the changes for which there is room: first those that only remove, then the others
// in their order. If there is no room at all, it returns the reason. The caller holds storing.
func (e *Engine) storeSome(s *session, some []*pending) (wrote bool, err error) {
	gone := map[string]bool{}
	for _, p := range slices.Backward(some) {
		maps.DeleteFunc(p.Thumbnails, func(id string, _ []byte) bool { return gone[id] }) // data that is removed again needs no room
		if p.Command == nil {
			continue
		}
		for _, entry := range p.Command.Entries {
			gone[entry.ID] = entry.Do == "example" && entry.Example == nil
		}
	}
	var first, rest []*pending
	for _, p := range some {
		if removes(p) && !slices.ContainsFunc(rest, func(r *pending) bool { return conflict(p.Command, r.Command) }) {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	for _, p := range slices.Concat(first, rest) {
		others, behind, failed := log.Append(e.db, s.ID, s.stored.N, []log.Step{p.Step})
		if err = failed; err != nil || behind || len(others) > 0 { // the caller goes on with those
			break
		}
		e.appended(s, []*pending{p})
		wrote = true
	}
	if wrote && len(first) > 0 && len(rest) > 0 { // the log has another order
		err = cmp.Or(err, e.reread(s))
	}
	return wrote, err
}

// removes reports whether a step only removes examples.
func removes(p *pending) bool {
	return p.Command != nil && p.Command.Do == metaqda.DoStep && !slices.ContainsFunc(p.Command.Entries, func(entry metaqda.Entry) bool {
		return entry.Example != nil || entry.Class != nil
	})
}

// compact writes a snapshot if removed examples must go, or if many steps have come since the last
// one. The caller holds storing.
func (e *Engine) compact(s *session) error {
	for {
		e.mu.Lock()
		if e.keeping.gone != nil || s.stored.N == 0 || len(s.pending) > 0 {
			e.mu.Unlock()
			return nil
		}
		s.stored.Spare = s.taught.Forgot() || s.stored.Spare
		if !s.stored.Spare && !s.stored.Long() {
			e.mu.Unlock()
			return nil
		}
		now, classes := s.summary(), s.taught.Classes()
		undo, redo := s.taught.History()
		for _, x := range s.broken {
			if i := slices.IndexFunc(classes, func(k metaqda.Class) bool { return k.ID == x.Class }); i >= 0 {
				classes[i].Examples = append(classes[i].Examples, x)
			}
		}
		e.mu.Unlock()
		done, err := s.stored.Compact(e.db, now, classes, undo, redo)
		switch {
		case err != nil && !s.stored.Spare: // all is stored without it
			return nil
		case done || err != nil:
			return err
		}
		if e.reread(s) != nil {
			return nil // the session was deleted, or the next flush reports the error
		}
	}
}

// maxRefused is how many refusals are kept for later calls of Kept.
const maxRefused = 1000

// refuse records why a change was refused.
func (e *Engine) refuse(number uint64, why error) {
	if len(e.keeping.refused) < maxRefused {
		e.keeping.refused[number] = why
	}
}

// refuseAll refuses all changes of a session that was deleted.
func (e *Engine) refuseAll(s *session, why error) {
	e.mu.Lock()
	for _, p := range s.pending {
		e.refuse(p.number, why)
	}
	s.pending, s.create = nil, nil
	open := e.session == s
	e.mu.Unlock()
	if open {
		e.hooks.Stale(Note{Session: s.ID})
	}
}

// Lose notes that the browser has cleared the storage. Changes are not taken back: they stay in this
// tab, like the whole session.
func (e *Engine) Lose() {
	e.mu.Lock()
	e.keeping.gone, e.keeping.trouble = log.ErrCleared, log.ErrCleared.Error()
	e.mu.Unlock()
	e.hooks.Changed()
}

// mark describes a session outside the store. Without marks, a database that the browser has lost
// or deleted would look like a first visit.
type mark struct {
	ID, Name          string
	Classes, Examples int
}

func (m *mark) code(c json.Codec) {
	c.Text("ID", &m.ID, true)
	c.Text("Name", &m.Name, true)
	c.Int("Classes", &m.Classes, true)
	c.Int("Examples", &m.Examples, true)
}

// writeMark writes the mark of the open session. A session without classes has none: nothing can be lost.
func (e *Engine) writeMark() {
	e.mu.Lock()
	m := mark{e.session.ID, e.session.Name, e.taught.Len(), e.taught.Count()}
	text, unmark := "", []string(nil)
	writes := e.hooks.Mark != nil && e.keeping.gone == nil
	if writes && m.Classes > 0 { // vanished sessions are reported at every start until something new is taught
		text, unmark, e.keeping.unmark = json.Text(m.code), e.keeping.unmark, nil
	}
	e.mu.Unlock()
	if !writes {
		return
	}
	for _, id := range unmark {
		e.hooks.Mark(id, "")
	}
	e.hooks.Mark(m.ID, text)
}

// noticeVanished reports the sessions that have marks but are not stored, although nobody deleted
// them. It also reports how many sessions of an older version wait for free space. It waits.
func (e *Engine) noticeVanished(waiting []string) error {
	if n := len(waiting); n > 0 {
		e.keeping.vanished = "The storage is full, so " + counted(n, "session", "s") + " of a former version of this page cannot be opened yet. Nothing is lost: delete another session or free space on the device, then reload."
	}
	if e.hooks.Marks == nil {
		return nil
	}
	var names []string
	v, _ := json.Parse([]byte(e.hooks.Marks()))
	marks, _ := v.([]any)
	for _, v := range marks {
		var m mark
		if m.code(json.FieldsOf(v)); m.ID == "" || slices.Contains(waiting, m.ID) {
			continue
		}
		err := log.Exists(e.db, m.ID)
		if err != nil && err != log.ErrCleared && err != log.ErrDeleted {
			return err
		}
		if err == log.ErrCleared {
			names = append(names, "“"+m.Name+"” ("+counted(m.Classes, "class", "es")+", "+counted(m.Examples, "picture", "s")+")")
		}
		if err != nil {
			e.keeping.unmark = append(e.keeping.unmark, m.ID)
		}
	}
	if len(names) > 0 {
		lost := "The browser has lost or deleted what was kept here: " + strings.Join(names, ", ") + ". This page cannot bring it back: open the file it was last saved to."
		e.keeping.vanished = strings.TrimSpace(e.keeping.vanished + " " + lost)
	}
	return nil
}

func counted(n int, what, plural string) string {
	if n == 1 {
		plural = ""
	}
	return strconv.Itoa(n) + " " + what + plural
}
