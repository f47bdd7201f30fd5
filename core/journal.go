package metaqda

import (
	"slices"
	"strconv"
)

// Do is what a [Change] does.
type Do string

const (
	PutClass    Do = "put-class"    // the class is at a place and has a label; it may be new
	DropClass   Do = "drop-class"   // the class and its examples are gone
	PutExample  Do = "put-example"  // a new example is at a place of the class
	DropExample Do = "drop-example" // an example of the class is gone
	PutBurst    Do = "put-burst"    // the burst at a place of the class, or a new last one, has a size
	PutBursts   Do = "put-bursts"   // all bursts of the class have other sizes
)

// Change is one change of classes or examples, as [Classifier.Changed] hears of it.
type Change struct {
	Do      Do
	Class   Class    // its Examples only with DropClass
	At      int      // of PutClass, PutExample and PutBurst
	New     bool     // of PutClass: it was not there
	Example *Example // of PutExample and DropExample
	Bursts  []int    // sizes: of PutBurst, one, and PutBursts
	Err     error    // of DropExample: why nothing can be computed with the example, nil where it was removed
}

func (c *Classifier) tell(what Change) {
	c.moved = true
	if c.Changed != nil {
		what.Class.Bursts = nil
		c.Changed(what)
	}
}

// Step is what one call changed, or all those between [Classifier.Begin] and
// [Classifier.End].
type Step struct {
	ID      string
	Name    string // in plain words: add 3 examples to Banana
	Undone  bool   // it can be redone
	Entries []Entry
}

// Persistent reports whether a step can be undone after it was stored and read again: all
// can but those that change the prior.
func (s *Step) Persistent() bool {
	return !slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Do == "prior" })
}

type journal struct {
	done, undone []*Step // the last is the next to be undone, or redone
	open         *Step   // what was changed between Begin and End until now, nil if nothing was
	begun        []int   // for each Begin that is not ended, how many entries open had
	noted        int     // steps in all
}

// MaxSteps is how many changes can be undone: what they removed is kept for it.
const MaxSteps = 100

// do makes changes, all or none, and notes them as one step.
func (c *Classifier) do(entries ...Entry) error {
	if err := c.exchangeAll(entries); err != nil {
		return err
	}
	j := &c.journal
	if j.open == nil {
		j.open = &Step{}
	}
	if j.open.Entries = append(j.open.Entries, entries...); len(j.begun) == 0 {
		c.close()
	}
	return nil
}

// note adds a step: what was undone before it cannot be redone any more.
func (c *Classifier) note(s *Step) {
	j := &c.journal
	s.ID, s.Name = c.newID(), c.nameOf(s.Entries)
	j.noted++
	if len(j.done) == MaxSteps {
		j.done = slices.Delete(j.done, 0, 1)
	}
	j.done, j.undone = append(j.done, s), nil
}

// Begin has what is changed until End undone and redone as one step. Where it is begun
// several times the outermost End closes the step. Undo in between takes back what was changed so far,
// and what is changed after it is another step.
func (c *Classifier) Begin() {
	defer c.writing()()
	n := 0
	if s := c.journal.open; s != nil {
		n = len(s.Entries)
	}
	c.journal.begun = append(c.journal.begun, n)
}

// Begun reports whether something was changed since Begin.
func (c *Classifier) Begun() bool {
	defer c.reading()()
	return c.journal.open != nil
}

// End ends what Begin began.
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

// Cancel is [Classifier.End] that takes back what was changed since the last Begin and is no
// step yet, as if it had never been done: what could be redone before still can.
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

// close notes what was changed until now as a step.
func (c *Classifier) close() {
	if s := c.journal.open; s != nil {
		c.journal.open = nil
		c.note(s)
	}
}

// Undo takes back the last step, as exactly as Remove removes, and returns it, nil if
// there was none to take back. The last [MaxSteps] can be; what a file held, or Merge
// brought together, can not. A step that cannot be taken back any more, because of what
// was taken over from elsewhere, is forgotten with an error.
func (c *Classifier) Undo() (*Step, error) {
	defer c.writing()()
	c.close()
	if n := len(c.journal.done); n > 0 {
		return c.undoStep(c.journal.done[n-1].ID)
	}
	return nil, nil
}

// UndoStep takes back a step that need not be the last. It returns an [Error] with the code
// "undo" if there is no such step.
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
		return nil, undoError(err) // once what came after it is undone, or there is room, it can be
	}
	j.done = slices.Delete(j.done, i, i+1)
	if err != nil {
		return nil, undoError(err)
	}
	s.Undone = true
	j.undone = append(j.undone, s)
	return s, nil
}

func undoError(err error) error {
	if Code(err) == "limit" {
		return err
	}
	return &Error{Code: "undo", Message: "This cannot be undone as things are now. " + err.Error()}
}

// Redo does again what was undone last, until something else is changed, and returns it,
// nil if there is nothing to do again.
func (c *Classifier) Redo() (*Step, error) {
	defer c.writing()()
	c.close()
	j := &c.journal
	n := len(j.undone)
	if n == 0 {
		return nil, nil
	}
	s := j.undone[n-1]
	err := c.exchangeAll(s.Entries)
	if Code(err) == "limit" {
		return nil, err // once there is room, it can be done
	}
	j.undone = j.undone[:n-1]
	if err != nil {
		return nil, undoError(err)
	}
	s.Undone = false
	j.done = append(j.done, s)
	return s, nil
}

// Steps returns what can be undone, and then what can be redone, each in the order in
// which it would be, without one that is begun, with which nothing can be redone any more. They
// must not be changed.
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

// Next returns the names of the steps that Undo and Redo would be about, empty if there is
// none.
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

// ForgetUndo has nothing undone or redone of what was changed until now. A step that is begun
// goes on.
func (c *Classifier) ForgetUndo() {
	defer c.writing()()
	c.forgetUndo()
}

func (c *Classifier) forgetUndo() {
	c.journal = journal{noted: c.journal.noted, begun: make([]int, len(c.journal.begun))}
}

// Remember takes up steps as [Classifier.Steps] gave them, of a classifier that is taught
// the same. Examples that no step knows, of classes that these have added, become one step more: they came
// by one that was broken off, and undoing their class would take them along unseen.
func (c *Classifier) Remember(undo, redo []*Step) {
	defer c.writing()()
	c.forgetUndo()
	j := &c.journal
	j.done, j.undone = slices.Clone(undo), slices.Clone(redo)
	slices.Reverse(j.done)
	slices.Reverse(j.undone)
	known, made := map[string]bool{}, map[string]bool{}
	for _, s := range undo {
		for _, e := range s.Entries {
			known[e.ID] = true
			made[e.ID] = made[e.ID] || e.Do == "class" && e.Class == nil
		}
	}
	rest := &Step{}
	for _, k := range c.copies() {
		for _, x := range k.Examples {
			if made[k.ID] && !known[x.ID] {
				rest.Entries = append(rest.Entries, Entry{Do: "example", ID: x.ID})
			}
		}
	}
	if len(rest.Entries) > 0 {
		c.note(rest)
	}
}

// nameOf says what entries that were carried out have done.
func (c *Classifier) nameOf(entries []Entry) string {
	var added, removed, moved int
	var classes, gone []string // labels
	into, from := map[string]bool{}, map[string]bool{}
	renamed, prior := "", false
	label := func(id string) string {
		if k := c.ids[id]; k != nil {
			return k.Label
		}
		return ""
	}
	for _, e := range entries {
		now := c.examples[e.ID]
		switch {
		case e.Do == "prior":
			prior = true
		case e.Do == "head":
			renamed = e.Class.Label
			into[label(e.ID)] = true
		case e.Do == "class" && e.Class != nil:
			gone = append(gone, e.Class.Label)
		case e.Do == "class":
			classes = append(classes, label(e.ID))
		case now == nil && e.Example != nil:
			removed++
			from[label(e.Example.Class)] = true
		case now == nil:
		case e.Example == nil:
			added++
			into[label(now.Class)] = true
		default:
			moved++
			into[label(now.Class)] = true
		}
	}
	one := func(labels map[string]bool) string {
		for l := range labels {
			if len(labels) == 1 {
				return l
			}
		}
		return strconv.Itoa(len(labels)) + " classes"
	}
	switch {
	case prior:
		return "change of background knowledge"
	case renamed != "" && added+removed+moved == 0:
		return "rename " + renamed + " to " + one(into)
	case moved > 0 && len(gone) == 1:
		return "merge " + gone[0] + " into " + one(into)
	case moved > 0:
		return "move " + counted(moved) + " to " + one(into)
	case added > 0:
		return "add " + counted(added) + " to " + one(into)
	case removed > 0:
		return "remove " + counted(removed) + " from " + one(from)
	case len(gone) == 1:
		return "remove " + gone[0]
	case len(gone) > 1:
		return "remove " + strconv.Itoa(len(gone)) + " classes"
	case len(classes) == 1:
		return "add " + classes[0]
	}
	return "add " + strconv.Itoa(len(classes)) + " classes"
}

func counted(n int) string {
	if n == 1 {
		return "an example"
	}
	return strconv.Itoa(n) + " examples"
}
