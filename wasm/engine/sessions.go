package engine

import (
	"errors"
	"slices"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/wasm/log"
)

// metaCurrent is the key in Meta of the id of the session to open.
const metaCurrent = "current"

// Start opens the session that was open last, or a new one, with the site's prior if it is
// stored. It waits.
func (e *Engine) Start() error {
	e.storing.Lock()
	defer e.storing.Unlock()
	sum, err := log.Value[string](e.db, log.Meta, log.SitePrior)
	if err != nil { // the next request would wait as long again
		return err
	}
	if p, err := e.storedPrior(sum); err == nil {
		e.site = p
	}
	waiting, err := log.Migrate(e.db)
	if err != nil {
		return err
	}
	if err := e.noticeVanished(waiting); err != nil {
		return err
	}
	current, err := log.Value[string](e.db, log.Meta, metaCurrent)
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
	for { // two tabs that start at once make one session
		all, err := log.Summaries(e.db)
		if err != nil {
			return err
		}
		if len(all) > 0 { // another tab may just have deleted it
			if found, err := e.openStored(all[0].ID); found || err != nil {
				return err
			}
		}
		first := e.newSummary("My classes")
		if log.CreateFirst(e.db, first) != nil {
			return e.openNew(first, nil) // it is stored once that is possible
		}
	}
}

// Sessions lists all sessions, the last changed first. It waits.
func (e *Engine) Sessions() ([]log.Summary, error) {
	e.Flush()
	all, err := log.Summaries(e.db)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range append(slices.Clone(e.parked), e.session) {
		i := slices.IndexFunc(all, func(stored log.Summary) bool { return stored.ID == s.ID })
		switch {
		case i < 0: // it could not be stored
			all = slices.Insert(all, 0, s.summary())
		case len(s.pending) > 0:
			all[i] = s.summary()
		}
	}
	return all, nil
}

// NewSession opens a new, empty session. It waits.
func (e *Engine) NewSession(name string) (id string, err error) {
	if name, err = cleanName(name); err != nil {
		return "", err
	}
	e.storing.Lock()
	defer e.storing.Unlock()
	if err := e.leave(); err != nil {
		return "", err
	}
	made := e.newSummary(name)
	if err := e.openNew(made, nil); err != nil {
		return "", err
	}
	return made.ID, nil
}

// leave stores the changes of the open session before another one is opened. If the storage is gone,
// it returns why: the session would be lost.
func (e *Engine) leave() error {
	_ = e.flush()
	return e.Gone()
}

// newSummary returns a new, empty session.
func (e *Engine) newSummary(name string) log.Summary {
	now := e.hooks.Now().UnixMilli()
	e.mu.Lock()
	defer e.mu.Unlock()
	return log.Summary{Session: log.Session{ID: newID(), Name: name, Created: now, Updated: now, Settings: defaultSettings(), Extractor: e.here}}
}

// openNew opens a session that is not stored yet, and stores it.
func (e *Engine) openNew(made log.Summary, classes []metaqda.Class) error {
	chosen, unreadable := e.chosenPrior(made.Settings.Prior)
	s, err := e.build(&log.Stored{Session: made.ID}, &log.Contents{Session: made.Session, Classes: classes}, chosen, unreadable, e.pause())
	if err != nil {
		return err
	}
	s.create = func() (*log.Stored, error) {
		if err := log.Create(e.db, made, classes); err != nil {
			return nil, err
		}
		stored, _, err := log.Open(e.db, made.ID)
		return stored, err
	}
	return e.enter(s)
}

// OpenSession opens another session. It waits.
func (e *Engine) OpenSession(id string) error {
	e.storing.Lock()
	defer e.storing.Unlock()
	if err := e.leave(); err != nil {
		return err
	}
	found, err := e.openStored(id)
	if err == nil && !found {
		err = log.ErrDeleted
	}
	return err
}

// openStored opens the session with an id, if it exists.
func (e *Engine) openStored(id string) (found bool, err error) {
	e.mu.Lock()
	i := slices.IndexFunc(e.parked, func(s *session) bool { return s.ID == id })
	if i >= 0 {
		s := e.parked[i]
		e.parked = slices.Delete(e.parked, i, i+1)
		e.mu.Unlock()
		return true, e.enter(s)
	}
	e.mu.Unlock()
	stored, c, err := log.Open(e.db, id)
	if err != nil || c == nil {
		return false, err
	}
	chosen, unreadable := e.chosenPrior(final(c).Settings.Prior)
	s, err := e.build(stored, c, chosen, unreadable, e.pause())
	if err != nil {
		return true, err
	}
	return true, e.enter(s)
}

// enter makes a session the open one, and stores its id as the one to open.
func (e *Engine) enter(s *session) error {
	e.mu.Lock()
	if was := e.session; was != nil && was != s {
		was.taught.Changed, was.taught.Logged = nil, nil
		for ; was.begun > 0; was.begun-- {
			was.taught.Join("")
		}
		if len(was.pending) > 0 || was.create != nil {
			e.parked = append(e.parked, was)
		}
	}
	e.session = s
	s.taught.Changed, s.taught.Logged = e.onChange, e.onCommand
	e.live.watch, s.preparing = nil, false // they were of the former classifier
	e.changes.renew()
	err := e.adopt(false)
	e.noteCommands()
	e.prepare()
	e.refresh()
	e.hooks.Changed()
	e.mu.Unlock()
	if err != nil {
		return err
	}
	_ = e.flush()
	if e.Gone() == nil {
		err := log.Put(e.db, metaCurrent, s.ID, nil)
		if err != nil && Explain(err).Code != "quota" { // without room only another session is opened next time
			e.noteTrouble(err)
		}
	}
	return nil
}

// chosenPrior returns the prior chosen for a session, or nil if there is none or it is not stored.
// unreadable says why a stored one cannot be used.
func (e *Engine) chosenPrior(sum string) (p *metaqda.Prior, unreadable string) {
	if sum == "" {
		return nil, ""
	}
	p, err := e.storedPrior(sum)
	var format *model.FormatError
	if errors.As(err, &format) && format.Older {
		return nil, "The background knowledge chosen for this session (sha256 " + short(sum) +
			") was made by a former version of this page, and its numbers mean other things now: the built-in one is used instead. " + useBuiltIn
	}
	return p, ""
}

// final returns a session after its steps.
func final(c *log.Contents) log.Session {
	s := c.Session
	for _, step := range c.Steps {
		step.Edit.Apply(&s)
		s.Updated = max(s.Updated, step.After.Updated)
	}
	return s
}

// pause returns a function that yields to the event loop, nil if there is none.
func (e *Engine) pause() func() {
	if e.hooks.Yield == nil {
		return nil
	}
	return func() { e.hooks.Yield(true) }
}

// build makes a session of contents, under the chosen prior or else one that fits; unreadable is
// from [Engine.chosenPrior]. It calls pause between pieces of work, unless that is nil. The caller holds
// storing or mu, so that the site's prior stays.
func (e *Engine) build(stored *log.Stored, c *log.Contents, chosen *metaqda.Prior, unreadable string, pause func()) (*session, error) {
	last := repaired(final(c))
	d := length(c)
	p, err := e.priorFor(d, chosen, last.Extractor)
	if err != nil {
		return nil, err
	}
	taught, err := metaqda.New(metaqda.Settings{NonePrior: last.Settings.NonePrior}, p)
	if err != nil {
		return nil, err
	}
	s := &session{Session: c.Session, taught: taught, stored: stored, unreadable: unreadable, damaged: c.Damaged, choices: map[string][2]string{}}
	taught.ReplaceActions(c.Session.Settings.Actions)
	taught.NewID, taught.Lazy, taught.Reserve = newID, e.hooks.Yield != nil, e.memory.Reserve
	classes := slices.Clone(c.Classes)
	for i := range classes { // vectors of another length are of a former extractor, and later steps remove them
		classes[i].Examples = slices.DeleteFunc(classes[i].Examples, func(x *metaqda.Example) bool { return len(x.Vector) != d })
	}
	if err := taught.Load(classes, pause); err != nil {
		return nil, err
	}
	if pause != nil && taught.Count() > log.ManyPictures {
		pause()
	}
	taught.Remember(c.Undo, c.Redo)
	for _, step := range c.Steps {
		s.replay(step, 0)
	}
	s.Session = last
	undo, redo := taught.History()
	stored.Check(taught.Classes(), undo, redo)
	return s, nil
}

// length returns the length of the latest embeddings. If the classes have none, it is the length of
// removed ones in the undo history. It is 0 if there are none at all.
func length(c *log.Contents) (d int) {
	entries := func(all []metaqda.Entry) {
		for _, entry := range all {
			if entry.Example != nil && entry.Example.Vector != nil {
				d = len(entry.Example.Vector)
			}
			if entry.Class != nil && len(entry.Class.Examples) > 0 {
				d = len(entry.Class.Examples[0].Vector)
			}
		}
	}
	for _, step := range slices.Concat(c.Undo, c.Redo) {
		entries(step.Entries)
	}
	for _, k := range c.Classes {
		if len(k.Examples) > 0 {
			d = len(k.Examples[0].Vector)
			break
		}
	}
	for _, step := range c.Steps {
		if step.Command != nil {
			entries(step.Command.Entries)
		}
	}
	return d
}

// repaired returns the session, with default settings if its own are invalid.
func repaired(s log.Session) log.Session {
	if checkSettings(s.Settings) != nil {
		prior := s.Settings.Prior
		s.Settings = defaultSettings()
		s.Settings.Prior = prior
	}
	return s
}

// RenameSession changes the name of any session. It waits.
func (e *Engine) RenameSession(id, name string) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if id == e.session.ID {
		e.touch(log.Edit{Name: &name})
		number := e.keeping.number
		e.mu.Unlock()
		return e.Kept(number-1, number)
	}
	e.mu.Unlock()
	switch err := log.AppendTo(e.db, id, log.Edit{Name: &name}); err {
	case nil:
	case log.ErrCleared:
		return errNoSession
	default:
		return err
	}
	e.hooks.Stored(Note{Session: id})
	e.hooks.Changed()
	return nil
}

var errNoSession = fail("session", "There is no such session: choose one that sessions lists.")

// DeleteSession deletes a session for good. If it is open, it then opens the last changed of
// the others, or a new one. It waits.
func (e *Engine) DeleteSession(id string) error {
	e.storing.Lock()
	defer e.storing.Unlock()
	if err := e.leave(); err != nil {
		return err
	}
	err := log.Exists(e.db, id)
	switch {
	case err == log.ErrCleared && e.drop(id):
		err = nil
	case err == log.ErrCleared:
		err = errNoSession
	case err == nil || err == log.ErrDeleted:
		err = e.erase(id)
	}
	if err != nil {
		return err
	}
	if e.State().SessionID == id {
		err = e.openAny("")
	} else {
		e.hooks.Changed()
	}
	e.hooks.Stored(Note{Session: id}) // not before there is a session to open: otherwise both tabs would make one
	return err
}

// erase deletes a stored session.
func (e *Engine) erase(id string) error {
	if err := log.Delete(e.db, id); err != nil {
		return err
	}
	if e.hooks.Mark != nil {
		e.hooks.Mark(id, "")
	}
	return log.Sweep(e.db)
}

// drop gives up a session that could not be stored. It reports whether there is one with this id.
func (e *Engine) drop(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range append(slices.Clone(e.parked), e.session) {
		if s.ID == id && s.create != nil {
			s.create, s.pending = nil, nil
			return true
		}
	}
	return false
}

// Damaged returns a file of unusable records: those of the open session and those without a
// session. It waits.
func (e *Engine) Damaged() ([]byte, error) {
	others, err := log.Unreachable(e.db)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	all := slices.Concat(e.damaged, others)
	e.mu.Unlock()
	return log.EncodeDamaged(all), nil
}
