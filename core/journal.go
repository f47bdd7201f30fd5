package metaqda

import (
	"cmp"
	"slices"
	"strconv"
)

// Do is the kind of a [Change].
type Do string

const (
	PutClass    Do = "put-class"    // a class, possibly new, has this place, label and actions
	DropClass   Do = "drop-class"   // the class and its examples are gone
	PutExample  Do = "put-example"  // a new example is at this place of the class
	DropExample Do = "drop-example" // an example of the class is gone
	PutBurst    Do = "put-burst"    // the burst at this place of the class, possibly a new last one, has this size
	PutBursts   Do = "put-bursts"   // all bursts of the class have other sizes
	PutActions  Do = "put-actions"  // none of these has these actions
)

// Change is one change of classes or examples, for [Classifier.Changed]. If a group gets another place
// in its class, its frames are dropped and put again.
type Change struct {
	Do      Do
	Class   Class    // with Examples only for DropClass
	At      int      // of PutClass, PutExample and PutBurst
	New     bool     // of PutClass: the class is new
	Example *Example // of PutExample and DropExample
	Bursts  []int    // sizes: one of PutBurst, all of PutBursts
	Err     error    // of DropExample: why the example cannot be used; nil if it was removed
}

// tell reports a change. Only changes of examples affect the scale of the columns.
func (c *Classifier) tell(what Change) {
	c.moved = c.moved || what.Do == PutExample || what.Do == DropExample || what.Do == DropClass
	c.version++
	if c.Changed != nil {
		what.Class.Bursts = nil
		c.Changed(what)
	}
}

// Step is the change of one call, or of all calls between [Classifier.Begin] and
// [Classifier.End].
type Step struct {
	ID      string
	Name    string // in plain words: add 3 examples to Banana
	Undone  bool   // it can be redone
	Entries []Entry

	alone bool // other copies of the session do not have it
}

// Persistent reports whether a step can still be undone after it was stored and read again. Only
// changes of the prior cannot.
func (s *Step) Persistent() bool {
	return !slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Do == "prior" })
}

type journal struct {
	done, undone []*Step // the last one is undone, or redone, next
	open         *Step   // changes since Begin, nil if there are none
	begun        []int   // for each open Begin, the number of entries that open had
	into         string  // id of the step that changes join, see [Classifier.Join]
	forgot       bool    // removed examples were forgotten, see [Classifier.Forgot]
}

// MaxSteps is the largest number of steps in the undo history. Removed examples are kept as long as the
// step that removed them.
const MaxSteps = 100

// do applies entries, all or none, and records them as one step.
func (c *Classifier) do(entries ...Entry) error {
	err := c.exchangeAll(entries)
	if err == nil {
		c.noteAll(entries)
	}
	return err
}

// noteAll records applied entries as one step, or as a part of one.
func (c *Classifier) noteAll(entries []Entry) {
	j := &c.journal
	if j.open == nil {
		j.open = &Step{}
	}
	if j.open.Entries = append(j.open.Entries, entries...); len(j.begun) == 0 {
		c.close()
	}
}

// note adds a step and clears the redo list.
func (c *Classifier) note(s *Step) {
	j := &c.journal
	if s.ID = j.into; s.ID == "" || slices.ContainsFunc(j.undone, func(u *Step) bool { return u.ID == s.ID }) {
		s.ID = c.newID()
	}
	if j.into != "" {
		j.into = s.ID
	}
	entries := slices.Clip(s.Entries)
	s = c.insert(s, 0)
	s.Name = c.nameOf(s.Entries)
	j.part(s)
	c.logStep(DoStep, s, entries)
}

// part is called after s was made, undone or redone. If s changes the prior, other copies of the session
// have forgotten all steps. part then notes that only this copy has them.
func (j *journal) part(s *Step) {
	if !s.Persistent() {
		for _, one := range slices.Concat(j.done, j.undone) {
			one.alone = true
		}
	}
}

// insert adds s to the undo list, in front of the last n steps. If a step there has the same id, that
// step gets the entries and the name instead. It clears the redo list and returns the step.
func (c *Classifier) insert(s *Step, n int) *Step {
	j := &c.journal
	j.lose(j.undone...)
	j.undone = nil
	for _, there := range j.done {
		if there.ID == s.ID {
			there.Entries = append(there.Entries, s.Entries...)
			there.Name = cmp.Or(s.Name, there.Name)
			return there
		}
	}
	j.done = slices.Insert(j.done, max(0, len(j.done)-n), s)
	if len(j.done) > MaxSteps {
		j.lose(j.done[0])
		j.done = slices.Delete(j.done, 0, 1)
	}
	return s
}

// Begin groups all changes until End into one step. If calls are nested, the outermost End
// closes the step. An Undo in between takes back the changes so far; later changes form
// another step.
func (c *Classifier) Begin() {
	defer c.writing()()
	n := 0
	if s := c.journal.open; s != nil {
		n = len(s.Entries)
	}
	c.journal.begun = append(c.journal.begun, n)
}

// End ends the last Begin.
func (c *Classifier) End() {
	defer c.writing()()
	c.end()
}

func (c *Classifier) end() {
	j := &c.journal
	if j.begun = j.begun[:max(len(j.begun)-1, 0)]; len(j.begun) == 0 {
		c.close()
	}
}

// Cancel takes back the changes since the last Begin that are not yet a step, and then calls
// [Classifier.End]. The changes leave no trace: the redo list stays.
func (c *Classifier) Cancel() error {
	defer c.writing()()
	var err error
	j := &c.journal
	if n := len(j.begun); n > 0 && j.open != nil {
		from := min(j.begun[n-1], len(j.open.Entries))
		undone := j.open.Entries[from:]
		if j.open.Entries = j.open.Entries[:from]; from == 0 {
			j.open = nil
		}
		slices.Reverse(undone)
		err = c.exchangeAll(undone)
	}
	c.end()
	return err
}

// close turns the changes so far into a step.
func (c *Classifier) close() {
	if s := c.journal.open; s != nil {
		c.journal.open = nil
		clear(c.journal.begun)
		c.note(s)
	}
}

// Undo takes back the last step and returns it, or nil if there is none. It is as exact as Remove.
// The last [MaxSteps] steps can be undone, but not the content of a file or a Merge. If the step
// cannot be undone because another step was undone before, Undo drops it and returns an error.
func (c *Classifier) Undo() (*Step, error) {
	defer c.writing()()
	c.close()
	if n := len(c.journal.done); n > 0 {
		return c.undoStep(c.journal.done[n-1].ID)
	}
	return nil, nil
}

// UndoStep takes back any step, not only the last. It returns an [Error] with the code "undo"
// if there is no such step, or if a later one must be undone first.
func (c *Classifier) UndoStep(id string) (*Step, error) {
	defer c.writing()()
	return c.undoStep(id)
}

func (c *Classifier) undoStep(id string) (*Step, error) {
	c.close()
	j := &c.journal
	i := slices.IndexFunc(j.done, func(s *Step) bool { return s.ID == id })
	if i < 0 {
		return nil, &Error{Code: "undo", Message: "This cannot be undone any more: it was undone already, or too much has been changed since."}
	}
	s := j.done[i]
	slices.Reverse(s.Entries)
	err := c.exchangeAll(s.Entries)
	slices.Reverse(s.Entries)
	if err != nil && (i < len(j.done)-1 || Code(err) == "limit") {
		return nil, undoError(err) // possible again once later steps are undone, or there is room
	}
	j.done = slices.Delete(j.done, i, i+1)
	if err != nil {
		j.lose(s)
		c.logStep(DoUndo, s, nil)
		return nil, undoError(err)
	}
	s.Undone = true
	j.undone = append(j.undone, s)
	j.part(s)
	c.logStep(DoUndo, s, s.Entries)
	return s, nil
}

func undoError(err error) error {
	if Code(err) == "limit" {
		return err
	}
	return &Error{Code: "undo", Message: "This cannot be undone now. " + err.Error()}
}

// Redo repeats the step that was undone last, unless something else was changed since. It returns
// the step, or nil if there is none.
func (c *Classifier) Redo() (*Step, error) {
	defer c.writing()()
	c.close()
	if n := len(c.journal.undone); n > 0 {
		return c.redoStep(c.journal.undone[n-1].ID)
	}
	return nil, nil
}

// redoStep repeats the step with an id, if it is in the redo list.
func (c *Classifier) redoStep(id string) (*Step, error) {
	j := &c.journal
	i := slices.IndexFunc(j.undone, func(s *Step) bool { return s.ID == id })
	if i < 0 {
		return nil, nil
	}
	s := j.undone[i]
	err := c.exchangeAll(s.Entries)
	if Code(err) == "limit" {
		return nil, err // possible again once there is room
	}
	j.undone = slices.Delete(j.undone, i, i+1)
	if err != nil {
		j.lose(s)
		c.logStep(DoRedo, s, nil)
		return nil, undoError(err)
	}
	s.Undone = false
	j.done = append(j.done, s)
	j.part(s)
	c.logStep(DoRedo, s, s.Entries)
	return s, nil
}

// Steps returns the undo and the redo list, each with the next step first. The changes since Begin are
// not in them; while there are any, nothing can be redone. The steps must not be changed.
func (c *Classifier) Steps() (undo, redo []*Step) {
	defer c.reading()()
	undo = slices.Clone(c.journal.done)
	if c.journal.open == nil {
		redo = slices.Clone(c.journal.undone)
	}
	slices.Reverse(undo)
	slices.Reverse(redo)
	return undo, redo
}

// Next returns the names of the steps that Undo and Redo would take, empty if there is none.
func (c *Classifier) Next() (undo, redo string) {
	defer c.reading()()
	j := &c.journal
	if j.open != nil {
		return c.nameOf(j.open.Entries), ""
	}
	if n := len(j.done); n > 0 {
		undo = j.done[n-1].Name
	}
	if n := len(j.undone); n > 0 {
		redo = j.undone[n-1].Name
	}
	return undo, redo
}

// ForgetUndo clears the undo history. Calls of Begin stay open.
func (c *Classifier) ForgetUndo() {
	defer c.writing()()
	c.forgetUndo()
}

func (c *Classifier) forgetUndo() {
	c.close()
	j := &c.journal
	if len(j.done)+len(j.undone) > 0 {
		c.log(Command{Do: DoForget})
	}
	j.lose(j.done...)
	j.lose(j.undone...)
	c.journal = journal{begun: make([]int, len(j.begun)), into: j.into, forgot: j.forgot}
}

// Remember restores the lists of [Classifier.Steps], for a classifier with the same examples.
func (c *Classifier) Remember(undo, redo []*Step) {
	defer c.writing()()
	c.forgetUndo()
	j := &c.journal
	j.done, j.undone = slices.Clone(undo), slices.Clone(redo)
	slices.Reverse(j.done)
	slices.Reverse(j.undone)
	for _, s := range slices.Concat(undo, redo) {
		c.given(s.ID)
		c.givenIn(s.Entries)
	}
}

// nameOf names a step by its applied entries.
func (c *Classifier) nameOf(entries []Entry) string {
	const into, from, acting = 1, 2, 4
	var added, removed, moved int
	var classes, gone []string // labels
	part := map[string]int{}   // into, from and acting, as bits, by label
	renamed, prior := "", false
	last, label := "", "" // id and label of the previous entry's class, which is mostly the next one's
	for _, e := range entries {
		now := c.examples[e.ID]
		id, as, fresh := e.ID, into, false
		switch {
		case e.Do == "prior":
			prior = true
			continue
		case e.Do == "actions":
			as = acting
		case e.Do == "head":
			renamed = e.Class.Label
		case e.Do == "class" && e.Class != nil:
			gone = append(gone, e.Class.Label)
			continue
		case e.Do == "class":
			fresh = true
		case now == nil && e.Example != nil:
			removed++
			id, as = e.Example.Class, from
		case now == nil:
			continue
		case e.Example == nil:
			added++
			id = now.Class
		default:
			moved++
			id = now.Class
		}
		if k := c.ids[id]; id == "" {
			last, label = "", NoneName
		} else if id != last {
			if last, label = id, ""; k != nil {
				label = k.Label
			}
		}
		if fresh {
			classes = append(classes, label)
		} else {
			part[label] |= as
		}
	}
	one := func(as int) string {
		n, only := 0, ""
		for l, p := range part {
			if p&as != 0 {
				n, only = n+1, l
			}
		}
		if n == 1 {
			return only
		}
		return strconv.Itoa(n) + " classes"
	}
	to, of := one(into), one(from)
	switch {
	case prior:
		return "change of background knowledge"
	case renamed != "" && added+removed+moved == 0:
		return "rename " + renamed + " to " + to
	case moved > 0 && len(gone) == 1:
		return "merge " + gone[0] + " into " + to
	case moved > 0:
		return "move " + counted(moved) + " to " + to
	case added > 0 && len(classes) == 1 && to == classes[0]:
		return "add " + classes[0] + " with " + counted(added)
	case added > 0:
		return "add " + counted(added) + " to " + to
	case removed > 0:
		return "remove " + counted(removed) + " from " + of
	case len(gone) == 1:
		return "remove " + gone[0]
	case len(gone) > 1:
		return "remove " + strconv.Itoa(len(gone)) + " classes"
	case len(classes) == 1:
		return "add " + classes[0]
	case len(part) > 0 && len(classes) == 0:
		return "change of what happens when it sees " + one(acting)
	}
	return "add " + strconv.Itoa(len(classes)) + " classes"
}

func counted(n int) string {
	if n == 1 {
		return "an example"
	}
	return strconv.Itoa(n) + " examples"
}
