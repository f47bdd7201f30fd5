package engine

import (
	"slices"

	metaqda "metaqda/core"
	"metaqda/wasm/store"
)

// Note lists the changed records of a session. Tabs send notes to each other, and each reads
// the listed records from the store. So a note may come late or twice.
type Note struct {
	Session  string   `json:"session"`
	Head     bool     `json:"head"` // the session's own record
	Classes  []string `json:"classes"`
	Examples []string `json:"examples"`
	Anew     bool     `json:"-"` // read everything: examples added to a class that was thought removed were not taken over
}

func (n *Note) empty() bool { return !n.Head && len(n.Classes) == 0 && len(n.Examples) == 0 }

// noteOf returns the note of a change.
func noteOf(c store.Change) Note {
	n := Note{Session: c.Needs.Session}
	for _, op := range c.Ops {
		switch op.Table {
		case store.Sessions:
			n.Head, n.Session = true, op.Key
		case store.Classes:
			n.Classes = append(n.Classes, op.Key)
		case store.Examples:
			n.Examples = append(n.Examples, op.Key)
		}
	}
	return n
}

// Joined merges successive notes on the same session.
func Joined(notes []Note) (all []Note) {
	for _, n := range notes {
		if last := len(all) - 1; last >= 0 && all[last].Session == n.Session {
			all[last].Head, all[last].Anew = all[last].Head || n.Head, all[last].Anew || n.Anew
			all[last].Classes = append(all[last].Classes, n.Classes...)
			all[last].Examples = append(all[last].Examples, n.Examples...)
		} else {
			all = append(all, n)
		}
	}
	return all
}

// next is the work left after reading the records of a note.
type next int

const (
	nothingMore next = iota
	readWhole        // parts cannot be taken over one by one: read everything
	openAnother      // the session was deleted
)

// Follow takes over records that another tab has stored. It waits.
func (e *Engine) Follow(n Note) error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	e.Flush()
	e.flushing.Lock() // this tab must store nothing between reading and taking over
	do, err := e.catchUp(n)
	if do == readWhole && err == nil {
		do, err = e.readAll()
	}
	e.flushing.Unlock()
	if do == openAnother && err == nil {
		err = e.openAny("")
	}
	return err
}

// catchUp takes over the stored records of a note, except those with pending changes: these are
// newer. It needs the lock flushing.
func (e *Engine) catchUp(n Note) (next, error) {
	e.mu.Lock()
	concerned := e.session.ID == n.Session && e.gone == nil
	e.mu.Unlock()
	if !concerned {
		if n.Head {
			e.announce() // the list may show the name of that session
		}
		return nothingMore, nil
	}
	p, err := e.store.Parts(n.Session, n.Classes, n.Examples)
	if err != nil {
		return nothingMore, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.session.ID != n.Session:
		return nothingMore, nil
	case p.Session == nil && p.Deleted:
		return openAnother, nil
	case p.Session == nil:
		e.lose()
		e.announce()
		return nothingMore, nil
	}
	if e.adoptHead(*p.Session) || n.Anew {
		return readWhole, nil
	}
	if err := e.adoptParts(n, p); err != nil {
		return readWhole, nil
	}
	e.refresh()
	e.announce()
	return nothingMore, nil
}

// adoptHead takes over the session's record with its pending edits, and reports whether all
// classes must be read anew.
func (e *Engine) adoptHead(s store.Session) (anew bool) {
	for _, c := range e.pending {
		for _, op := range c.Ops {
			if edit, ok := op.Value.(store.Edit); ok && op.Key == s.ID {
				edit.Apply(&s)
			}
		}
	}
	if e.taught.Count() == 0 { // the first picture records the extractor
		s.Extractor = e.session.Extractor
	}
	s = repaired(s)
	if s.Settings.Prior != e.session.Settings.Prior || s.Extractor != e.session.Extractor {
		return true
	}
	if s.Settings != e.session.Settings && e.taught.Configure(metaqda.Settings{NonePrior: s.Settings.NonePrior}) != nil {
		return true
	}
	e.taught.ReplaceActions(s.Settings.Actions)
	e.session = s
	return false
}

// adoptParts takes over classes and examples. After an error read everything.
func (e *Engine) adoptParts(n Note, p *store.Parts) error {
	own := map[store.Ref]bool{}
	for _, c := range e.pending {
		for _, op := range c.Ops {
			own[op.Ref()] = true
		}
	}
	for _, id := range n.Classes {
		if own[store.Ref{Table: store.Classes, Key: id}] {
			continue
		}
		var there *metaqda.Class
		if k, ok := p.Classes[id]; ok {
			k := classOf(k)
			there = &k
		}
		if err := e.taught.ReplaceClass(id, there); err != nil {
			return err
		}
	}
	for _, id := range n.Examples {
		if own[store.Ref{Table: store.Examples, Key: id}] {
			continue
		}
		x, there := p.Examples[id]
		_, known := e.taught.Class(x.Class)
		was := e.taught.Example(id)
		var err error
		switch {
		case !there:
			err = e.taught.Replace(id, nil)
		case known && (was == nil || was.Class != x.Class):
			err = e.taught.Replace(id, exampleOf(&x))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readAll reads the open session anew and applies the pending changes. It needs the locks
// waiting and flushing.
func (e *Engine) readAll() (next, error) {
	id := e.State().SessionID
	c, err := e.store.Contents(id)
	if err != nil || c == nil {
		return openAnother, err
	}
	chosen, unreadable := e.chosenPrior(c)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session.ID != id || e.gone != nil {
		return nothingMore, nil
	}
	var ops []store.Op
	for _, n := range e.pending {
		ops = append(ops, n.Ops...)
	}
	carryOut(c, ops)
	undo, redo := e.taught.Steps()
	if err := e.swap(c, chosen, unreadable); err != nil {
		return nothingMore, err
	}
	e.taught.Remember(undo, redo)
	e.refresh()
	e.announce()
	return nothingMore, nil
}

// carryOut applies operations to contents, as the store will apply them to its records.
func carryOut(c *store.Contents, ops []store.Op) {
	for _, op := range ops {
		switch op.Table {
		case store.Sessions:
			if edit, ok := op.Value.(store.Edit); ok && op.Key == c.Session.ID {
				edit.Apply(&c.Session)
			}
		case store.Classes:
			c.Classes = slices.DeleteFunc(c.Classes, func(k store.Class) bool { return k.ID == op.Key })
			if k, ok := op.Value.(store.Class); ok && k.Session == c.Session.ID {
				c.Classes = append(c.Classes, k)
			}
		case store.Examples:
			c.Examples = slices.DeleteFunc(c.Examples, func(x *store.Example) bool { return x.ID == op.Key })
			if x, ok := op.Value.(store.Example); ok && x.Session == c.Session.ID {
				c.Examples = append(c.Examples, &x)
			}
		}
	}
	c.Sort()
	known := map[string]bool{}
	for _, k := range c.Classes {
		known[k.ID] = true
	}
	c.Examples = slices.DeleteFunc(c.Examples, func(x *store.Example) bool { return !known[x.Class] })
}

// Changes brings a page from an earlier revision to the current state. It has the whole
// overview, and the steps since then for classes and examples. Its size depends on the number
// of steps, not of examples.
type Changes struct {
	State    State // with its classes only if Whole
	Revision uint64
	Whole    bool // no steps lead from the page's revision: State has all classes
	Steps    []metaqda.Change
}

// mostSteps is how many steps are kept. A page further behind gets the whole state.
const mostSteps = 256

// changes keeps the last steps. The revision counts all steps ever, and each renewal as one.
type changes struct {
	revision uint64
	steps    []metaqda.Change // the last steps before revision
}

// note adds a step.
func (j *changes) note(s metaqda.Change) {
	if len(j.steps) == mostSteps {
		j.steps = slices.Clone(j.steps[mostSteps/2:])
	}
	j.steps = append(j.steps, s)
	j.revision++
}

// renew begins with a state to which no steps lead.
func (j *changes) renew() {
	j.steps = nil
	j.revision++
}

// since returns the steps from a revision to the last one; ok is false if they are not kept.
func (j *changes) since(revision uint64) (steps []metaqda.Change, ok bool) {
	behind := j.revision - revision
	if revision > j.revision || behind > uint64(len(j.steps)) {
		return nil, false
	}
	return slices.Clone(j.steps[len(j.steps)-int(behind):]), true
}

// hear receives the changes of classes and examples.
func (e *Engine) hear(what metaqda.Change) {
	if what.Err != nil {
		x := what.Example
		e.damaged = append(e.damaged, store.Damage{Table: store.Examples, Key: x.ID, Reason: what.Err.Error(), Raw: plainOf(e.session.ID, x)})
	} else {
		e.heard = append(e.heard, what)
	}
	if what.Do == metaqda.PutActions { // they are in the overview
		return
	}
	what.Class.Examples = nil
	e.changes.note(what)
}

// Changes returns the changes since a revision; 0 gives the whole state.
func (e *Engine) Changes(since uint64) Changes {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := Changes{State: e.overview(), Revision: e.changes.revision}
	var ok bool
	if c.Steps, ok = e.changes.since(since); !ok {
		c.Whole, c.State.Classes = true, e.taught.Classes()
	}
	return c
}

// Revision returns the number of the state. It changes with every change of classes or
// examples.
func (e *Engine) Revision() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes.revision
}

// Thumbnails returns the thumbnails of examples of a class, nil where there is none. It waits.
func (e *Engine) Thumbnails(classID string, examples []string) ([][]byte, error) {
	all := make([][]byte, len(examples))
	var apart []string
	e.mu.Lock()
	_, err := e.class(classID)
	for i, id := range examples {
		switch x := e.taught.Example(id); {
		case x == nil || x.Class != classID:
		case x.Apart:
			apart = append(apart, id)
		default:
			all[i] = x.Thumbnail
		}
	}
	e.mu.Unlock()
	if err != nil || len(apart) == 0 {
		return all, err
	}
	found, err := e.store.Thumbnails(apart)
	for i, id := range examples {
		if b := found[id]; b != nil {
			all[i] = b
		}
	}
	return all, err
}
