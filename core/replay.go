package metaqda

import "slices"

// Command is a change of a classifier as a log keeps it. [Classifier.Replay] repeats it in
// another copy of the session.
type Command struct {
	Do      string  // DoStep, DoChange, DoUndo, DoRedo or DoForget
	Step    string  // id of the step that is made, undone or redone
	Name    string  // of the step with this change
	Entries []Entry // of DoStep and DoChange: they lead from the former state to the present one
	More    bool    // of DoStep: an earlier command made the step; a log does not keep this
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

// logStep logs a command about a step whose entries were just applied, nil if none were. A step that
// is alone is logged as a plain change, since other copies of the session do not have it.
func (c *Classifier) logStep(do string, s *Step, applied []Entry) {
	switch {
	case c.Logged == nil:
	case s.alone:
		if do == DoUndo {
			applied = slices.Clone(applied)
			slices.Reverse(applied)
		}
		if !(&Step{Entries: applied}).Persistent() {
			c.log(Command{Do: DoForget})
		}
		if own := c.forward(applied); len(own) > 0 {
			c.log(Command{Do: DoChange, Entries: own})
		}
	case do == DoStep:
		c.log(Command{Do: do, Step: s.ID, Name: s.Name, Entries: c.forward(applied), More: len(applied) < len(s.Entries)})
	default:
		c.log(Command{Do: do, Step: s.ID})
	}
}

// forward returns entries that repeat the given applied ones one by one, without changes of the
// prior. It goes back from the present state.
func (c *Classifier) forward(applied []Entry) []Entry {
	all := make([]Entry, 0, len(applied))
	w := &walk{of: c, actions: c.actions, classes: map[string]*Class{}, examples: map[string]*Example{}, into: map[string][]*Example{}}
	for _, e := range slices.Backward(applied) {
		if to, ok := w.back(e); ok {
			all = append(all, to)
		}
	}
	slices.Reverse(all)
	return all
}

// walk is an earlier state of a classifier. It has the differences from the present state.
type walk struct {
	of       *Classifier
	actions  string
	classes  map[string]*Class     // by id, without examples; nil for none
	examples map[string]*Example   // by id; nil for none
	into     map[string][]*Example // by class, those of examples that are in it or were on the way
}

// back goes back over an applied entry. It returns the entry that repeats it, or false if the entry
// changed nothing.
func (w *walk) back(e Entry) (to Entry, ok bool) {
	to = Entry{Do: e.Do, ID: e.ID}
	k, there := w.class(e.ID), w.example(e.ID)
	switch {
	case e.Do == "prior":
		return to, false
	case e.Do == "actions" && e.ID == "":
		to.Class, w.actions = &Class{Actions: w.actions}, e.Class.Actions
	case e.Do == "example" && e.Example == nil:
		if to.Example = there; there == nil {
			return to, false
		}
		w.examples[e.ID] = nil
	case e.Do == "example":
		if there != nil { // a stored step omits the unchanged fields
			to.Example = &Example{ID: there.ID, Class: there.Class, Order: there.Order, Group: there.Group}
		}
		w.put(e.Example)
	case e.Do == "class" && e.Class != nil:
		if k != nil {
			return to, false
		}
		w.classes[e.ID] = e.Class.head()
		for _, x := range e.Class.Examples {
			w.put(x)
		}
	case k == nil:
		return to, false
	case e.Do == "class":
		k.Examples = w.members(e.ID)
		to.Class, w.classes[e.ID] = k, nil
		for _, x := range k.Examples {
			w.examples[x.ID] = nil
		}
	default:
		was := *k
		if to.Class = k; e.Do == "head" {
			was.Label = e.Class.Label
		} else {
			was.Actions = e.Class.Actions
		}
		w.classes[e.ID] = &was
	}
	return to, true
}

// head returns a copy without examples.
func (k *Class) head() *Class {
	return &Class{ID: k.ID, Label: k.Label, Order: k.Order, Actions: k.Actions}
}

// class returns a copy of the class with an id, without its examples.
func (w *walk) class(id string) *Class {
	k, ok := w.classes[id]
	if now := w.of.ids[id]; !ok && now != nil {
		k = &now.Class
	}
	if k == nil {
		return nil
	}
	return k.head()
}

func (w *walk) example(id string) *Example {
	if x, ok := w.examples[id]; ok {
		return x
	}
	return w.of.examples[id]
}

func (w *walk) put(x *Example) {
	w.examples[x.ID] = x
	w.into[x.Class] = append(w.into[x.Class], x)
}

// members returns the examples of a class.
func (w *walk) members(id string) (all []*Example) {
	if k := w.of.ids[id]; k != nil {
		all = k.list()
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(append(all, w.into[id]...), func(x *Example) bool {
		if seen[x.ID] || w.example(x.ID) != x {
			return true
		}
		seen[x.ID] = true
		return false
	})
}

// Replay repeats a command that another copy of the session logged. Both copies have the same undo
// history, except for the last steps here, which come after the command in the log. before is the
// number of these steps. A new step is inserted in front of them. Replay leaves out the parts of a
// step that cannot be repeated now, and returns the error of the first. It does not call Logged.
func (c *Classifier) Replay(x Command, before int) (err error) {
	defer c.writing()()
	c.close() // what was begun here is logged first
	logged := c.Logged
	c.Logged = nil
	defer func() { c.Logged = logged }()
	switch x.Do {
	case DoForget:
		c.forgetUndo()
		return nil
	case DoUndo, DoRedo:
		switch {
		case slices.ContainsFunc(slices.Concat(c.journal.done, c.journal.undone), func(s *Step) bool { return s.alone && s.ID == x.Step }):
			// the other copies have forgotten it
		case x.Do == DoUndo:
			_, err = c.undoStep(x.Step)
		default:
			_, err = c.redoStep(x.Step)
		}
		return err
	}
	c.given(x.Step)
	c.givenIn(x.Entries)
	defer c.postpone(len(x.Entries))()
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
			return c.settleAt(len(first.Vector))
		}
	}
	return nil
}

// possible leaves out entries that would remove a class or an example that is gone already.
func (c *Classifier) possible(entries []Entry) []Entry {
	made := map[string]bool{} // by the entries before
	return slices.DeleteFunc(entries, func(e Entry) bool {
		if e.Class != nil || e.Example != nil {
			made[e.ID] = true
		}
		for _, x := range examplesIn(e) {
			made[x.ID] = true
		}
		return !made[e.ID] && (e.Do == "example" && e.Example == nil && c.examples[e.ID] == nil || e.Do == "class" && e.Class == nil && c.ids[e.ID] == nil)
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
