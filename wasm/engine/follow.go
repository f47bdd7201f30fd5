package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/core/model"
	"metaqda/wasm/log"
)

// Note says how many steps a session has. Tabs send notes to each other, and each reads the steps
// that it lacks from the log. So notes may come late, twice, or in another order.
type Note struct {
	Session string // empty for the open one
	Step    int    // number of the last one, 0 if it is not known
}

// Code codes the fields.
func (n *Note) Code(c json.Codec) {
	c.Text("session", &n.Session, true)
	c.Int("step", &n.Step, true)
}

// Follow applies the steps that another tab has stored. It waits.
func (e *Engine) Follow(n Note) error {
	e.storing.Lock()
	defer e.storing.Unlock()
	_ = e.flush()
	e.mu.Lock()
	s := e.session
	concerned := (n.Session == "" || n.Session == s.ID) && e.keeping.gone == nil
	e.mu.Unlock()
	if !concerned {
		e.hooks.Changed() // the list of sessions shows the changed session
		return nil
	}
	err := e.catchUp(s, n.Step)
	switch {
	case errors.Is(err, log.ErrDeleted):
		return e.openAny("")
	case errors.Is(err, log.ErrCleared):
		e.Lose()
		return nil
	}
	return err
}

// catchUp applies the steps of a session that this tab lacks. last is [Note].Step. The caller holds storing.
func (e *Engine) catchUp(s *session, last int) error {
	if s.create != nil || last > 0 && s.stored.N >= last {
		return nil
	}
	others, behind, err := log.Append(e.db, s.ID, s.stored.N, nil)
	if err != nil || len(others) == 0 && !behind {
		return err
	}
	return e.join(s, others, behind)
}

// join applies steps of other tabs that come before the pending ones in the log. If both conflict,
// it reads the session anew, and refuses the pending steps that came too late. The caller holds
// storing.
func (e *Engine) join(s *session, others []log.Step, behind bool) error {
	e.mu.Lock()
	if behind || slices.ContainsFunc(others, func(step log.Step) bool { return !s.accepts(step) }) {
		e.mu.Unlock()
		return e.reread(s)
	}
	defer e.mu.Unlock()
	own := map[string]bool{} // steps that begin later in the log
	for _, p := range s.pending {
		if p.Command != nil && !p.Command.More {
			own[p.Command.Step] = true
		}
	}
	for _, step := range others {
		s.stored.Appended(step)
		before := 0
		undo, _ := s.taught.Steps()
		for before < len(undo) && own[undo[before].ID] {
			before++
		}
		s.replay(step, before)
		s.Updated = max(s.Updated, step.After.Updated)
	}
	for _, p := range s.pending { // later in the log
		p.Edit.Apply(&s.Session)
	}
	err := s.taught.Configure(metaqda.Settings{NonePrior: s.Settings.NonePrior})
	e.followed++
	e.redraw(s)
	return err
}

// redraw shows a session that other tabs have changed, if it is open.
func (e *Engine) redraw(s *session) {
	if s == e.session {
		e.prepare() // they may be many
		e.refresh()
		e.hooks.Changed()
	}
}

// accepts reports whether a step of the log can be applied although the pending steps were made without
// it. It must not be one of them.
func (s *session) accepts(step log.Step) bool {
	if d := step.Edit; d != nil && (d.Prior != nil || d.Extractor != nil && *d.Extractor != s.Extractor) {
		return false
	}
	return !slices.ContainsFunc(s.pending, func(p *pending) bool { return p.ID == step.ID || conflict(step.Command, p.Command) })
}

// conflict reports whether the order of two commands matters, or may matter.
func conflict(a, b *metaqda.Command) bool {
	if a == nil || b == nil {
		return false
	}
	if a.Do != metaqda.DoStep || b.Do != metaqda.DoStep || a.Step == b.Step {
		return true
	}
	others := touched(b)
	for id, changes := range touched(a) {
		if too, there := others[id]; there && (changes || too) {
			return true
		}
	}
	return false
}

// touched returns the ids of classes and examples, and the names, that a command touches. The value is
// true if the command changes it, and false for a class that the command only needs. A command does not
// say which class an example leaves. So "left" makes each move or removal of an example conflict with each
// removal of a class.
func touched(c *metaqda.Command) map[string]bool {
	all := map[string]bool{}
	for _, entry := range c.Entries {
		x := entry.Example
		if x != nil && !all[x.Class] {
			all[x.Class] = false
		}
		removes := entry.Do == "class" && entry.Class == nil
		if removes || entry.Do == "example" && (x == nil || x.Vector == nil) {
			all["left"] = all["left"] || removes
		}
		all[entry.ID] = true
		if entry.Class != nil {
			all["name "+model.FoldLabel(entry.Class.Label)] = true
		}
	}
	return all
}

// replay repeats a step of the log; before is as for [metaqda.Classifier.Replay].
func (s *session) replay(step log.Step, before int) {
	step.Edit.Apply(&s.Session)
	if step.Edit != nil && step.Edit.Prior != nil {
		s.taught.ForgetUndo() // such changes cannot be undone after a reload
	}
	if step.Command == nil {
		return
	}
	err := s.taught.Replay(*step.Command, before)
	if err != nil && (step.Command.Do == metaqda.DoStep || step.Command.Do == metaqda.DoChange) {
		s.damaged = append(s.damaged, s.stored.Damage(step, err))
	}
}

// reread reads a session anew and repeats the pending changes, except those that came too late: it
// refuses these. The caller holds storing.
func (e *Engine) reread(s *session) error {
	stored, c, err := log.Open(e.db, s.ID)
	if err == nil && c == nil {
		err = log.Exists(e.db, s.ID)
	}
	if err != nil {
		return err
	}
	chosen, unreadable := e.chosenPrior(final(c).Settings.Prior)
	arrived := false
	defer func() {
		if arrived {
			e.noteTrouble(nil)
			e.hooks.Stored(Note{s.ID, stored.N})
		}
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(s.pending)
	s.pending = slices.DeleteFunc(s.pending, func(p *pending) bool { // a transaction that took too long may be complete after all
		return slices.ContainsFunc(c.Steps, func(step log.Step) bool { return step.ID == p.ID })
	})
	arrived = len(s.pending) < n
	for _, p := range s.pending {
		if p.Edit != nil && p.Edit.Prior != nil { // it comes later in the log
			if chosen, unreadable = nil, ""; *p.Edit.Prior != "" {
				chosen = s.taught.Prior()
			}
		}
	}
	fresh, err := e.build(stored, c, chosen, unreadable, nil)
	if err != nil {
		return err
	}
	fresh.choices, fresh.begun = s.choices, s.begun
	if s.begun > 0 {
		into := s.taught.Join("")
		fresh.taught.Join(cmp.Or(into, newID()))
	}
	for _, p := range s.pending {
		if why := fresh.refuses(p); why != nil {
			e.refuse(p.number, why)
			continue
		}
		if p.Command != nil {
			undo, _ := fresh.taught.Steps() // the beginning of its step may be refused, or forgotten by another tab
			p.Command.More = slices.ContainsFunc(undo, func(one *metaqda.Step) bool { return one.ID == p.Command.Step })
			if why := fresh.taught.Replay(*p.Command, 0); why != nil {
				e.refuse(p.number, why) // it stays pending: an undo that fails changes the undo history
			}
			maps.DeleteFunc(p.Thumbnails, func(id string, _ []byte) bool { return fresh.taught.Example(id) == nil })
		}
		p.Edit.Apply(&fresh.Session)
		fresh.pending = append(fresh.pending, p)
	}
	_ = fresh.taught.Configure(metaqda.Settings{NonePrior: fresh.Settings.NonePrior})
	*s = *fresh
	s.taught.Changed, s.taught.Logged = e.onChange, e.onCommand
	if s == e.session {
		e.live.watch = nil // it is of the former classifier
		e.changes.renew()
	}
	e.redraw(s)
	return nil
}

// These are the errors of changes that came too late.
var (
	errClass   = fail("class", "This class does not exist any more: it was removed, perhaps in another tab.")
	errLabel   = fail("label", "There is a class of this name already, added in another tab: choose another name.")
	errExample = fail("example", "This picture is not in the class any more: it was removed, perhaps in another tab.")
	errRedo    = fail("undo", "This cannot be redone any more: something else was changed, perhaps in another tab.")
)

// refuses returns why a pending step cannot be repeated after those of other tabs, nil if it can.
func (s *session) refuses(p *pending) error {
	if p.Command == nil {
		return nil
	}
	made, moved := map[string]bool{}, map[string]bool{}
	switch p.Command.Do {
	case metaqda.DoStep, metaqda.DoChange:
	case metaqda.DoUndo, metaqda.DoRedo:
		undo, redo := s.taught.Steps()
		all := append(undo, redo...)
		i := slices.IndexFunc(all, func(one *metaqda.Step) bool { return one.ID == p.Command.Step })
		switch {
		case i < 0 && p.Command.Do == metaqda.DoRedo:
			return errRedo
		case i < 0:
			return nil
		}
		for _, entry := range all[i].Entries {
			moved[entry.ID] = true
		}
		for class := range p.removed {
			if k, there := s.taught.Class(class); there && p.removesUnseen(k, moved) {
				return errChanged(k)
			}
		}
		return nil
	default:
		return nil
	}
	for _, entry := range p.Command.Entries {
		k, there := s.taught.Class(entry.ID)
		if entry.Class != nil && entry.Do != "actions" {
			if other, ok := s.taught.Find(entry.Class.Label); ok && other.ID != entry.ID {
				return errLabel
			}
		}
		switch {
		case entry.Do == "class" && entry.Class != nil:
			made[entry.ID] = true
		case entry.Do == "class" && !there, (entry.Do == "head" || entry.Do == "actions" && entry.ID != "") && !there:
			return errClass
		case entry.Do == "class" && p.removesUnseen(k, moved):
			return errChanged(k)
		case entry.Do == "example" && entry.Example != nil:
			if _, ok := s.taught.Class(entry.Example.Class); !ok && !made[entry.Example.Class] {
				return errClass
			}
			if entry.Example.Vector == nil && !moved[entry.ID] && s.taught.Example(entry.ID) == nil {
				return errExample
			}
			moved[entry.ID] = true
		}
	}
	return nil
}

// removesUnseen reports whether a class that the step removes has examples that this tab had not seen.
// moved has those that the step moves before.
func (p *pending) removesUnseen(k metaqda.Class, moved map[string]bool) bool {
	return slices.ContainsFunc(k.Examples, func(x *metaqda.Example) bool { return !moved[x.ID] && !slices.Contains(p.removed[k.ID], x.ID) })
}

func errChanged(k metaqda.Class) error {
	return fail("changed", "Pictures were added to “"+k.Label+"” in another tab meanwhile, so it was not removed: look at them, then remove it again.")
}
