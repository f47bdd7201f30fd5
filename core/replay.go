package metaqda

import "slices"

// Command is a change of a classifier as a log keeps it. [Classifier.Replay] repeats it in
// another copy of the session.
type Command struct {
	Do      string  // DoStep, DoChange, DoUndo, DoRedo or DoForget
	Step    string  // id of the step that is made, undone or redone
	Name    string  // of a new step
	Entries []Entry // of DoStep and DoChange: they lead from the former state to the present one
}

// Kinds of commands.
const (
	DoStep   = "step"   // a new step, or more of the last one with this id
	DoChange = "change" // a change that other copies cannot undo
	DoUndo   = "undo"
	DoRedo   = "redo"
	DoForget = "forget" // the undo history is cleared
)

// log hands a command to Logged.
func (c *Classifier) log(x Command) {
	if c.Logged != nil {
		c.Logged(x)
	}
}

// logStep logs a command about a step whose entries were just applied. Other copies of the session do
// not have a step that is alone: it is logged as a plain change.
func (c *Classifier) logStep(do string, s *Step, entries []Entry) {
	switch {
	case c.Logged == nil:
	case s.alone:
		own := c.forward(entries)
		if len(own) < len(entries) { // the prior is among them
			c.log(Command{Do: DoForget})
		}
		if len(own) > 0 {
			c.log(Command{Do: DoChange, Entries: own})
		}
	case do == DoStep:
		c.log(Command{Do: do, Step: s.ID, Name: s.Name, Entries: c.forward(entries)})
	default:
		c.log(Command{Do: do, Step: s.ID})
	}
}

// forward returns entries that lead from the state before the given applied ones to the present
// state.
func (c *Classifier) forward(applied []Entry) []Entry {
	all, own := make([]Entry, 0, len(applied)), make(map[string]bool, len(applied))
	for _, e := range applied {
		own[e.ID] = own[e.ID] || e.Do == "example"
	}
	for _, e := range applied {
		to, k, x := Entry{Do: e.Do, ID: e.ID}, c.ids[e.ID], c.examples[e.ID]
		switch {
		case e.Do == "prior":
			continue
		case e.Do == "actions" && e.ID == "":
			to.Class = &Class{Actions: c.actions}
		case e.Do == "class" && k != nil:
			whole := k.copied()
			whole.Bursts, whole.Examples = nil, slices.DeleteFunc(whole.Examples, func(x *Example) bool { return own[x.ID] })
			to.Class = &whole
		case e.Do == "class" || e.Do == "example" && x == nil:
		case e.Do == "example" && e.Example != nil: // a stored step omits the unchanged fields
			to.Example = &Example{ID: x.ID, Class: x.Class, Order: x.Order, Group: x.Group}
		case e.Do == "example":
			to.Example = x
		case k != nil:
			to.Class = &Class{ID: k.ID, Label: k.Label, Order: k.Order, Actions: k.Actions}
		}
		all = append(all, to)
	}
	return all
}

// Replay repeats a command that another copy of the session logged. Both copies have the same undo
// history, except that the last steps here, as many as before says, come after the command in the
// log. A new step is put before these. Replay leaves out the parts of a step that cannot be repeated
// now, and returns the error of the first. It does not call Logged.
func (c *Classifier) Replay(x Command, before int) (err error) {
	defer c.writing()()
	logged := c.Logged
	c.Logged = nil
	defer func() { c.Logged = logged }()
	switch x.Do {
	case DoForget:
		c.forgetUndo()
		return nil
	case DoUndo:
		_, err = c.undoStep(x.Step)
		return err
	case DoRedo:
		_, err = c.redoStep(x.Step)
		return err
	}
	c.later = c.Lazy && len(x.Entries) > enrolledAtOnce
	defer func() { c.later = false }()
	entries := slices.Clone(x.Entries)
	if err = c.settleBy(entries); err == nil {
		entries = c.possible(entries)
		if err = c.exchangeAll(entries); err != nil {
			entries, err = c.exchangeEach(slices.Clone(x.Entries))
		}
	}
	if x.Do == DoStep {
		c.insert(&Step{ID: x.Step, Name: x.Name, Entries: entries}, before)
	}
	return err
}

// settleBy settles the length of vectors by the first example in entries, if it is not settled yet.
func (c *Classifier) settleBy(entries []Entry) error {
	for _, e := range entries {
		var first *Example
		if e.Example != nil && e.Example.Vector != nil {
			first = e.Example
		} else if e.Class != nil && len(e.Class.Examples) > 0 {
			first = e.Class.Examples[0]
		}
		if first != nil {
			if d := len(first.Vector); c.open(d) {
				return c.begin(nil, d)
			}
			return nil
		}
	}
	return nil
}

// possible leaves out entries that would remove a class or an example that is gone already.
func (c *Classifier) possible(entries []Entry) []Entry {
	return slices.DeleteFunc(entries, func(e Entry) bool {
		return e.Do == "example" && e.Example == nil && c.examples[e.ID] == nil || e.Do == "class" && e.Class == nil && c.ids[e.ID] == nil
	})
}

// exchangeEach applies entries one by one and returns those that were possible, and the error of
// the first that was not.
func (c *Classifier) exchangeEach(entries []Entry) (done []Entry, first error) {
	for _, e := range entries {
		if len(c.possible([]Entry{e})) == 0 {
			continue
		}
		if err := c.exchange(&e); err == nil {
			done = append(done, e)
		} else if first == nil {
			first = err
		}
	}
	return done, first
}

// Join makes all changes from now on join the step with this id. The first change begins that step.
// An empty id ends it. Join returns the id of the step that was joined until now, or an empty one.
func (c *Classifier) Join(id string) (joined string) {
	defer c.writing()()
	j := &c.journal
	if slices.ContainsFunc(j.done, func(s *Step) bool { return s.ID == j.into }) {
		joined = j.into
	}
	j.into = id
	return joined
}

// History returns copies of the lists of [Classifier.Steps] for a log: without steps that other
// copies do not have.
func (c *Classifier) History() (undo, redo []*Step) {
	defer c.reading()()
	copies := func(from []*Step) (to []*Step) {
		for _, s := range slices.Backward(from) {
			if !s.alone {
				to = append(to, &Step{ID: s.ID, Name: s.Name, Undone: s.Undone, Entries: whole(s.Entries)})
			}
		}
		return to
	}
	return copies(c.journal.done), copies(c.journal.undone)
}

// whole returns a copy of entries for a log. An entry that removes a class gets the whole class, with
// its examples.
func whole(entries []Entry) []Entry {
	all := make([]Entry, len(entries))
	for i, e := range entries {
		if all[i] = (Entry{Do: e.Do, ID: e.ID, Class: e.Class, Example: e.Example}); e.Do == "class" && e.Class == nil && e.whole != nil {
			k := e.whole.copied()
			all[i].Class = &k
		}
	}
	return all
}

// Forgot reports whether removed examples left the undo history since the last call of Forgot.
func (c *Classifier) Forgot() bool {
	defer c.writing()()
	was := c.journal.forgot
	c.journal.forgot = false
	return was
}

// lose notes for [Classifier.Forgot] that steps leave the undo history.
func (j *journal) lose(steps ...*Step) {
	for _, s := range steps {
		j.forgot = j.forgot || slices.ContainsFunc(s.Entries, func(e Entry) bool {
			return e.Example != nil || e.Do == "class" && (e.Class != nil || e.whole != nil)
		})
	}
}
