package engine

import (
	"cmp"
	"slices"

	metaqda "metaqda/core"
	"metaqda/wasm/log"
)

// Ask calls f with the classifier of the open session, with the session's name and extractor. If
// vectors is set, f has vectors of the page's extractor: Ask then returns an error if they cannot be
// compared with those of the session.
func (e *Engine) Ask(vectors bool, f func(c *metaqda.Classifier) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if vectors {
		if err := e.foreign(); err != nil {
			return err
		}
	}
	e.taught.Name, e.taught.Extractor = e.session.Name, e.madeWith()
	return explained(f(e.taught))
}

// Change calls f, which may change the classifier of the open session, and notes the changes to be
// stored and shown. If vectors is set, f adds vectors of the page's extractor: Change then returns an
// error if the session does not take them. [Engine.Recent] returns what it noted.
func (e *Engine) Change(vectors bool, f func(c *metaqda.Classifier) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.keeping.gone != nil {
		return e.keeping.gone
	}
	before, number, last := e.keeping.number, e.keeping.number, e.keeping.recent
	if last.Number > 0 { // Recent was not called since the last change: it then returns both together
		before = last.Before
	}
	token, err := e.changing(func() error {
		if vectors {
			if err := e.addable(); err != nil {
				return err
			}
		}
		return f(e.taught)
	})
	taught := slices.ContainsFunc(e.current, func(h metaqda.Change) bool { return h.Do == metaqda.PutExample })
	if e.keeping.number == number { // it changed nothing
		token, taught = last.Undo, last.Taught
	}
	e.keeping.recent = Recent{before, e.keeping.number, token, taught}
	return explained(err)
}

// explained is [Explain], but returns nil for nil.
func explained(err error) error {
	if err == nil {
		return nil
	}
	return Explain(err)
}

// Recent names the changes that calls noted: those with numbers above Before, up to Number.
type Recent struct {
	Before, Number uint64
	Undo           string // id of the last step for [metaqda.Classifier.UndoStep], empty without one
	Taught         bool   // examples were added
}

// Recent returns the changes that [Engine.Change] has noted since the last call of Recent.
func (e *Engine) Recent() Recent {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := e.keeping.recent
	e.keeping.recent = Recent{}
	return last
}

// addable returns an error if the session cannot take pictures of the page's extractor.
func (e *Engine) addable() error { return cmp.Or(e.foreign(), e.adopt(true)) }

// Begin groups all changes until [Engine.End] into one undo step: a new one, or the one of an id that
// End returned. If calls are nested, the outermost ones count.
func (e *Engine) Begin(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun++; e.begun == 1 {
		e.taught.Join(cmp.Or(id, newID()))
	}
}

// End ends the step and returns its id, empty if nothing was changed.
func (e *Engine) End() (token string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun = max(e.begun-1, 0); e.begun == 0 {
		token = e.taught.Join("")
	}
	return token
}

// change runs a function that changes the classifier, and notes the changes to be stored and
// shown. It returns the id of the step, empty without one, so also between [Engine.Begin] and
// [Engine.End].
func (e *Engine) change(f func() error) (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changing(f)
}

// changing is [Engine.change] for callers that hold the lock.
func (e *Engine) changing(f func() error) (token string, err error) {
	e.current, e.commands = nil, nil
	undo, redo := e.next()
	err = f()
	if p := e.taught.Settings().NonePrior; p != e.session.Settings.NonePrior {
		e.touch(log.Edit{NonePrior: &p})
	}
	if len(e.current) == 0 && len(e.commands) == 0 { // an error with commands: a step that can no longer be undone was dropped
		return "", err
	}
	last, undone := e.next()
	if back := undo != "" && undone == undo; err == nil && last != undo && !back && e.begun == 0 {
		token = last
	}
	if choice, ok := e.choices[last]; ok && last == redo { // done again
		e.noteChoice(choice[1])
	} else if choice, ok := e.choices[undone]; ok && undone != redo {
		e.noteChoice(choice[0])
	}
	e.noteChanges()
	return token, err
}

// next returns the ids of the steps that undo and redo would take, empty for none.
func (e *Engine) next() (undo, redo string) {
	done, undone := e.taught.Steps()
	if len(done) > 0 {
		undo = done[0].ID
	}
	if len(undone) > 0 {
		redo = undone[0].ID
	}
	return undo, redo
}

// noteCommands notes changes of the undo history outside of [Engine.change].
func (e *Engine) noteCommands() {
	for _, c := range e.commands {
		e.note(&pending{Step: log.Step{Command: &c}})
	}
	e.commands = nil
}

// noteChanges notes the changes since [Engine.change] began.
func (e *Engine) noteChanges() {
	var edit log.Edit
	added, classes := 0, map[string]bool{}
	there := map[string]bool{} // examples that get another place, whose thumbnails are noted already
	removed := map[string][]string{}
	thumbnails := map[string][]byte{}
	for _, h := range e.current {
		switch h.Do {
		case metaqda.PutExample:
			added++
			made := e.session.Extractor
			edit.Extractor = &made
			if len(h.Example.Thumbnail) > 0 && !h.Example.Apart && !there[h.Example.ID] {
				thumbnails[h.Example.ID] = h.Example.Thumbnail
			}
		case metaqda.DropExample:
			there[h.Example.ID] = true
		case metaqda.DropClass:
			ids := []string{}
			for _, x := range h.Class.Examples {
				ids = append(ids, x.ID)
			}
			removed[h.Class.ID] = ids
		}
		classes[h.Class.ID] = true
	}
	if len(e.current) > 0 { // not if only the undo history changed
		e.session.Updated = max(e.session.Updated, e.hooks.Now().UnixMilli())
	}
	for i, c := range e.commands {
		p := &pending{Step: log.Step{Command: &c}, removed: removed}
		if i == len(e.commands)-1 {
			p.Thumbnails = thumbnails
			if edit != (log.Edit{}) {
				p.Edit = &edit
			}
		}
		e.note(p)
	}
	e.commands = nil
	switch {
	case e.prepare():
	case added == 1 && len(classes) == 1:
		e.refreshSoon() // it may be one of hundreds of pictures; other changes come singly
	default:
		e.refresh()
	}
	e.hooks.Changed()
}

// touch makes and notes a change of the session's head, and updates the view.
func (e *Engine) touch(edit log.Edit) {
	edit.Apply(&e.session.Session)
	e.session.Updated = e.hooks.Now().UnixMilli()
	e.note(&pending{Step: log.Step{Edit: &edit}})
	e.refresh()
	e.hooks.Changed()
}

// ForgetUndo clears the undo history, and with it all removed data.
func (e *Engine) ForgetUndo() {
	_, _ = e.change(func() error {
		e.taught.ForgetUndo()
		e.keeping.sweep = true
		if len(e.commands) == 0 { // data that other tabs have removed goes, too
			e.commands = append(e.commands, metaqda.Command{Do: metaqda.DoForget})
		}
		return nil
	})
}

// onCommand receives the commands of the classifier.
func (e *Engine) onCommand(c metaqda.Command) { e.commands = append(e.commands, c) }

// Changes leads a page from an earlier revision to the current state. It has the whole overview,
// and the changes of classes and examples since that revision. Its size depends on their number,
// not on the number of examples.
type Changes struct {
	State    State // with its classes only if Whole
	Revision uint64
	Whole    bool // no list leads from the page's revision: State has all classes
	List     []metaqda.Change
}

// mostChanges is the largest number of changes that are kept. Above it, the older half is dropped. A
// page that is further behind gets the whole state.
const mostChanges = 256

// changes keeps the last changes. The revision counts all changes ever, and each renewal as one.
type changes struct {
	revision uint64
	last     []metaqda.Change // before revision
}

func (j *changes) add(x metaqda.Change) {
	if len(j.last) == mostChanges {
		j.last = slices.Clone(j.last[mostChanges/2:])
	}
	j.last = append(j.last, x)
	j.revision++
}

// renew starts a new list, after a change that the list cannot describe.
func (j *changes) renew() {
	j.last = nil
	j.revision++
}

// since returns the changes from a revision to the last one; ok is false if they are not kept.
func (j *changes) since(revision uint64) (list []metaqda.Change, ok bool) {
	behind := j.revision - revision
	if revision > j.revision || behind > uint64(len(j.last)) {
		return nil, false
	}
	return slices.Clone(j.last[len(j.last)-int(behind):]), true
}

// onChange receives the changes of classes and examples.
func (e *Engine) onChange(what metaqda.Change) {
	if what.Err != nil {
		e.damaged = append(e.damaged, log.Damage{Table: log.Snapshots, Key: what.Example.ID, Reason: what.Err.Error(), Record: what.Example})
		e.broken = append(e.broken, what.Example)
	} else {
		e.current = append(e.current, what)
	}
	if what.Do == metaqda.PutActions { // they are in the overview
		return
	}
	what.Class.Examples = nil
	e.changes.add(what)
}

// Changes returns the changes since a revision; 0 gives the whole state.
func (e *Engine) Changes(since uint64) Changes {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := Changes{State: e.overview(), Revision: e.changes.revision}
	var ok bool
	if c.List, ok = e.changes.since(since); !ok {
		c.Whole, c.State.Classes = true, e.taught.Classes()
	}
	return c
}

// Thumbnails returns the thumbnails of examples, nil where there is none. It waits.
func (e *Engine) Thumbnails(examples []string) ([][]byte, error) {
	all := make([][]byte, len(examples))
	var apart []string
	e.mu.Lock()
	for i, id := range examples {
		switch x := e.taught.Example(id); {
		case x == nil || x.Apart: // another session may be open by now
			apart = append(apart, id)
		default:
			all[i] = x.Thumbnail
		}
	}
	e.mu.Unlock()
	found, err := log.ThumbnailsOf(e.db, apart)
	for i, id := range examples {
		if b := found[id]; b != nil {
			all[i] = b
		}
	}
	return all, err
}
