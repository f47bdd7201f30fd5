package engine

import (
	"cmp"
	"errors"
	"slices"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/wasm/store"
)

// Start opens the session that was open last, or a new one, with the site's prior if it is
// stored. It waits.
func (e *Engine) Start() error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	if sum, err := e.store.Text(store.SitePrior); err == nil && sum != "" {
		if p, err := e.storedPrior(sum); err == nil && p != nil {
			e.site = p
		}
	}
	if err := e.noticeVanished(); err != nil {
		return err
	}
	current, err := e.store.Text(metaCurrent)
	if err != nil {
		return err
	}
	return e.openAny(current)
}

// openAny opens the given session if it exists, else the last changed one, else a new one.
func (e *Engine) openAny(id string) error {
	if id != "" {
		if found, err := e.openStored(id); found || err != nil {
			return err
		}
	}
	all, err := e.store.Summaries()
	if err != nil {
		return err
	}
	if len(all) > 0 { // another tab may just have deleted it
		if found, err := e.openStored(all[0].ID); found || err != nil {
			return err
		}
	}
	return e.create("My classes")
}

// Sessions lists all sessions, the last changed first. It waits.
func (e *Engine) Sessions() ([]store.Summary, error) {
	e.Flush()
	all, err := e.store.Summaries()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.ContainsFunc(all, func(s store.Summary) bool { return s.ID == e.session.ID }) { // it could not be stored
		all = slices.Insert(all, 0, store.Summary{Session: e.session, Classes: e.taught.Len(), Examples: e.taught.Count()})
	}
	return all, nil
}

// NewSession opens a new, empty session. It waits.
func (e *Engine) NewSession(name string) (id string, err error) {
	if name, err = cleanName("session", name); err != nil {
		return "", err
	}
	e.waiting.Lock()
	defer e.waiting.Unlock()
	e.Flush()
	if err := e.create(name); err != nil {
		return "", err
	}
	return e.State().SessionID, nil
}

// create opens a new session and stores it.
func (e *Engine) create(name string) error {
	now := e.hooks.Now().UnixMilli()
	c := &store.Contents{Session: store.Session{ID: newID(), Name: name, Created: now, Updated: now, Settings: defaultSettings()}}
	return e.openNew(c)
}

// openNew stores contents that are not stored yet and opens them.
func (e *Engine) openNew(c *store.Contents) error {
	ops := []store.Op{{Table: store.Sessions, Key: c.Session.ID, Value: c.Session}}
	for _, k := range c.Classes {
		ops = append(ops, store.Op{Table: store.Classes, Key: k.ID, Value: k})
	}
	for _, x := range c.Examples {
		ops = append(ops, store.Op{Table: store.Examples, Key: x.ID, Value: *x})
	}
	return e.open(c, ops...)
}

// OpenSession opens another session. It waits.
func (e *Engine) OpenSession(id string) error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	e.Flush()
	found, err := e.openStored(id)
	if err == nil && !found {
		err = fail("session", "This session does not exist any more: it was deleted, perhaps in another tab.")
	}
	return err
}

// openStored opens the session with an id, if it exists.
func (e *Engine) openStored(id string) (found bool, err error) {
	c, err := e.store.Contents(id)
	if err != nil || c == nil {
		return false, err
	}
	return true, e.open(c)
}

// open makes contents the open session, and notes the operations.
func (e *Engine) open(c *store.Contents, ops ...store.Op) error {
	chosen, unreadable := e.chosenPrior(c)
	undo, redo, slots, steps := e.storedSteps(c.Session.ID)
	if e.hooks.Yield != nil && len(c.Examples) > store.ManyPictures {
		e.hooks.Yield(true)
	}
	defer e.Flush() // once the lock is free
	e.mu.Lock()
	begun := e.taught != nil && e.taught.Begun()
	e.mu.Unlock()
	if begun {
		_, _ = e.End() // end the step of the former session
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.swap(c, chosen, unreadable); err != nil {
		return err
	}
	if e.slots, e.steps = slots, steps; e.session.Extractor == c.Session.Extractor { // steps of another extractor are of no use
		e.taught.Remember(undo, redo)
	}
	if e.gone == store.ErrCleared { // a closed store stays closed for all sessions
		e.gone, e.trouble = nil, ""
	}
	e.note(store.Needs{}, append(ops, store.Op{Table: store.Meta, Key: metaCurrent, Value: c.Session.ID})...)
	e.refresh()
	e.announce()
	return nil
}

// chosenPrior returns the session's chosen prior, or nil if there is none or it is not stored.
// unreadable says why a stored one cannot serve.
func (e *Engine) chosenPrior(c *store.Contents) (p *metaqda.Prior, unreadable string) {
	sum := c.Session.Settings.Prior
	if sum == "" {
		return nil, ""
	}
	p, err := e.storedPrior(sum)
	var format *model.FormatError
	if errors.As(err, &format) && format.Older {
		return nil, "The background knowledge chosen for this session (sha256 " + short(sum) +
			") was made by a former version of this page, and its numbers mean other things now: what is built in serves instead. " + anew
	}
	return p, ""
}

// swap replaces session, classes and classifier by contents, under the chosen prior or else one
// that fits; unreadable is from [Engine.chosenPrior]. On error nothing changes.
func (e *Engine) swap(c *store.Contents, chosen *metaqda.Prior, unreadable string) error {
	d := 0
	if len(c.Examples) > 0 {
		d = len(c.Examples[0].Embedding)
	}
	p, err := e.priorFor(d, chosen, c.Session.Extractor)
	if err != nil {
		return err
	}
	session := repaired(c.Session)
	taught, err := metaqda.New(metaqda.Settings{NonePrior: session.Settings.NonePrior}, p)
	if err != nil {
		return err
	}
	taught.ReplaceActions(session.Settings.Actions)
	taught.NewID, taught.Lazy, taught.Reserve = newID, e.hooks.Yield != nil, e.memory.Reserve
	if err := taught.Load(classesOf(c)); err != nil {
		return err
	}
	taught.Changed = e.hear
	e.watch = nil // it is of the former classifier
	e.session, e.taught, e.unreadable, e.damaged = session, taught, unreadable, c.Damaged
	e.prepare()
	e.changes.renew()
	return e.record()
}

// prepare starts to enrol all pictures in slices, unless they are enrolled.
func (e *Engine) prepare() {
	if !e.taught.Ready() && e.preparing != e.taught {
		e.preparing = e.taught
		go e.prepareLater(e.taught)
	}
}

// classesOf joins classes and examples. It repairs impossible and duplicate names.
func classesOf(c *store.Contents) []metaqda.Class {
	names := make([]string, len(c.Classes))
	for i, k := range c.Classes {
		names[i] = k.Name
	}
	classes, byID := make([]metaqda.Class, len(names)), map[string]int{}
	for i, name := range model.RepairLabels(names) {
		classes[i] = classOf(c.Classes[i])
		classes[i].Label, byID[classes[i].ID] = name, i
	}
	for _, x := range c.Examples {
		k := &classes[byID[x.Class]]
		k.Examples = append(k.Examples, exampleOf(x))
	}
	return classes
}

// repaired returns the session, with default settings if its own are invalid.
func repaired(s store.Session) store.Session {
	if checkSettings(s.Settings) != nil {
		prior, actions := s.Settings.Prior, s.Settings.Actions
		s.Settings = defaultSettings()
		s.Settings.Prior, s.Settings.Actions = prior, actions
	}
	return s
}

// RenameSession changes the name of any session. It waits.
func (e *Engine) RenameSession(id, name string) error {
	name, err := cleanName("session", name)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if id == e.session.ID {
		e.session.Name = name
		e.touch(store.Edit{Name: &name})
		number := e.number
		e.mu.Unlock()
		return e.Kept(number-1, number)
	}
	e.mu.Unlock()
	renamed := store.Change{Needs: store.Needs{Session: id}, Ops: []store.Op{{Table: store.Sessions, Key: id, Value: store.Edit{Name: &name}}}}
	refused, err := e.store.Commit([]store.Change{renamed})
	if err == nil {
		err = refused[0]
	}
	if err != nil {
		return err
	}
	e.stored(noteOf(renamed))
	e.announce()
	return nil
}

// DeleteSession deletes a session for good. If it is open, it then opens the last changed of
// the others, or a new one. It waits.
func (e *Engine) DeleteSession(id string) error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	e.Flush()
	if p, err := e.store.Parts(id, nil, nil); err != nil || p.Session == nil && !p.Deleted {
		return cmp.Or(err, fail("session", "There is no such session: look at sessions for those that there are."))
	}
	if err := e.store.DeleteSession(id); err != nil {
		return err
	}
	if e.hooks.Mark != nil {
		e.hooks.Mark(id, "")
	}
	if err := e.store.Sweep(); err != nil {
		return err
	}
	var err error
	if e.State().SessionID == id {
		err = e.openAny("")
	} else {
		e.announce()
	}
	e.stored(Note{Session: id, Head: true}) // only now there is a session to open: otherwise both tabs would make one
	return err
}

// Damaged returns a file of the unusable records of the open session, and of those that belong
// to no session. It waits.
func (e *Engine) Damaged() ([]byte, error) {
	others, err := e.store.Unreachable()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	all := slices.Concat(e.damaged, others)
	e.mu.Unlock()
	return store.EncodeDamaged(all)
}
