package engine

import (
	"maps"
	"slices"

	"metaqda/wasm/store"
)

// Changes is what a page that has the state of an earlier revision needs to have it
// as it is: what there is of one kind alone, and of classes and examples the steps
// since then. Its size depends on the number of steps, not on that of examples.
type Changes struct {
	State    State // its classes only with Whole
	Revision uint64
	Whole    bool // the page's revision is not one that steps lead from: State has all classes
	Steps    []Step
}

// Deed is what a [Step] does.
type Deed string

const (
	PutClass    Deed = "put-class"    // the class is at a place and has a name; it may be new
	DropClass   Deed = "drop-class"   // the class and its examples are gone
	PutExample  Deed = "put-example"  // a new example is at a place of the class
	DropExample Deed = "drop-example" // an example of the class is gone
	PutBurst    Deed = "put-burst"    // the burst at a place of the class, or a new last one, has a size
	PutBursts   Deed = "put-bursts"   // all bursts of the class have other sizes
)

// Step is one change of classes or examples. Steps are to be taken in their order.
type Step struct {
	Do      Deed
	Class   string         // id
	Name    string         // of PutClass
	At      int            // of PutClass, PutExample and PutBurst
	Example *store.Example // of PutExample and DropExample; it must not be changed
	Sizes   []int          // of PutBurst, one, and PutBursts
}

// mostSteps is how many steps are kept: a page further behind gets the whole state.
const mostSteps = 256

// journal keeps the last steps. Revision n is the state after n of all the steps
// that there ever were, those before the first state included, which was one.
type journal struct {
	revision uint64
	steps    []Step // that led to it
}

// note adds a step.
func (j *journal) note(s Step) {
	if len(j.steps) == mostSteps {
		j.steps = slices.Clone(j.steps[mostSteps/2:])
	}
	j.steps = append(j.steps, s)
	j.revision++
}

// renew begins with a state that no steps lead to.
func (j *journal) renew() {
	j.steps = nil
	j.revision++
}

// since returns the steps that lead from a revision to the last one; ok is false if
// none do.
func (j *journal) since(revision uint64) (steps []Step, ok bool) {
	behind := j.revision - revision
	if revision > j.revision || behind > uint64(len(j.steps)) {
		return nil, false
	}
	return slices.Clone(j.steps[len(j.steps)-int(behind):]), true
}

// Changes returns what changed since a revision, from 0 the whole state.
func (e *Engine) Changes(since uint64) Changes {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := Changes{State: e.overview(), Revision: e.journal.revision}
	var ok bool
	if c.Steps, ok = e.journal.since(since); !ok {
		c.Whole, c.State.Classes = true, e.classInfos()
	}
	return c
}

// Thumbnails returns those of some examples of a class, nil where there is none. It
// waits.
func (e *Engine) Thumbnails(classID string, examples []string) ([][]byte, error) {
	all, apart, err := e.thumbnails(classID, examples)
	if err != nil || len(apart) == 0 {
		return all, err
	}
	found, err := e.store.Thumbnails(slices.Collect(maps.Values(apart)))
	for i, id := range apart {
		all[i] = found[id]
	}
	return all, err
}

// thumbnails returns those that are here, and by their places under which ids the store
// has the others.
func (e *Engine) thumbnails(classID string, examples []string) (all [][]byte, apart map[int]string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.classes, func(c *class) bool { return c.ID == classID })
	if i < 0 {
		return nil, nil, fail("class", "This class does not exist any more: it was removed, perhaps in another tab.")
	}
	known := make(map[string]*store.Example, len(e.classes[i].examples))
	for _, x := range e.classes[i].examples {
		known[x.ID] = x
	}
	all, apart = make([][]byte, len(examples)), map[int]string{}
	for i, id := range examples {
		switch x := known[id]; {
		case x == nil:
		case x.Apart != "":
			apart[i] = x.Apart
		default:
			all[i] = x.Thumbnail
		}
	}
	return all, apart, nil
}

// Revision returns the number of the state, which is another one whenever classes
// or examples are.
func (e *Engine) Revision() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.journal.revision
}

// notePuts notes what a change stores: a class, examples of one class, or both.
func (e *Engine) notePuts(ops []store.Op) {
	var c *class
	appended := false
	for _, op := range ops {
		switch v := op.Value.(type) {
		case store.Class:
			at := slices.IndexFunc(e.classes, func(c *class) bool { return c.ID == v.ID })
			e.journal.note(Step{Do: PutClass, Class: v.ID, Name: v.Name, At: at})
		case store.Example:
			if c == nil {
				c, _ = e.class(v.Class)
			}
			at := c.place(v.ID)
			appended = at == len(c.examples)-1
			e.journal.note(Step{Do: PutExample, Class: v.Class, At: at, Example: c.examples[at]})
		}
	}
	if c != nil {
		e.noteBursts(c, appended)
	}
}

// place returns the index of an example, looked for from the end: where it was
// added.
func (c *class) place(example string) int {
	for i, x := range slices.Backward(c.examples) {
		if x.ID == example {
			return i
		}
	}
	return -1
}

// noteBursts brings the sizes of a class's bursts up to date and notes where they
// differ. An example appended to those counted concerns one burst alone.
func (e *Engine) noteBursts(c *class, appended bool) {
	n := len(c.examples)
	if !appended || c.counted != n-1 || c.late {
		if before := c.bursts; !slices.Equal(e.countBursts(c), before) {
			e.journal.note(Step{Do: PutBursts, Class: c.ID, Sizes: slices.Clone(c.bursts)})
		}
		return
	}
	b, size := e.classifier.BurstOf(c.ID, n-1)
	if b == len(c.bursts) {
		c.bursts = append(c.bursts, size)
	}
	c.bursts[b], c.counted = size, n
	e.journal.note(Step{Do: PutBurst, Class: c.ID, At: b, Sizes: []int{size}})
}

// noteAllBursts does so for all classes, after the classifier has become another.
func (e *Engine) noteAllBursts() {
	for _, c := range e.classes {
		e.noteBursts(c, false)
	}
}

// countBursts sets and returns the sizes of a class's bursts, in the order they
// were begun.
func (e *Engine) countBursts(c *class) []int {
	c.bursts, c.counted = nil, len(c.examples)
	if c.late {
		c.bursts = slices.Repeat([]int{1}, len(c.examples))
		return c.bursts
	}
	for i := range c.examples {
		if b, size := e.classifier.BurstOf(c.ID, i); b == len(c.bursts) {
			c.bursts = append(c.bursts, size)
		}
	}
	return c.bursts
}
