package engine

import (
	"slices"

	metaqda "metaqda/core"
	"metaqda/wasm/store"
)

// Changes is what a page that has the state of an earlier revision needs to have it
// as it is: what there is of one kind alone, and of classes and examples the steps
// since then. Its size depends on the number of steps, not on that of examples.
type Changes struct {
	State    State // its classes only with Whole
	Revision uint64
	Whole    bool // the page's revision is not one that steps lead from: State has all classes
	Steps    []metaqda.Change
}

// mostSteps is how many steps are kept: a page further behind gets the whole state.
const mostSteps = 256

// changes keeps the last steps. Revision n is the state after n of all the steps
// that there ever were, those before the first state included, which was one.
type changes struct {
	revision uint64
	steps    []metaqda.Change // that led to it
}

// note adds a step.
func (j *changes) note(s metaqda.Change) {
	if len(j.steps) == mostSteps {
		j.steps = slices.Clone(j.steps[mostSteps/2:])
	}
	j.steps = append(j.steps, s)
	j.revision++
}

// renew begins with a state that no steps lead to.
func (j *changes) renew() {
	j.steps = nil
	j.revision++
}

// since returns the steps that lead from a revision to the last one; ok is false if
// none do.
func (j *changes) since(revision uint64) (steps []metaqda.Change, ok bool) {
	behind := j.revision - revision
	if revision > j.revision || behind > uint64(len(j.steps)) {
		return nil, false
	}
	return slices.Clone(j.steps[len(j.steps)-int(behind):]), true
}

// hear takes what became of classes and examples.
func (e *Engine) hear(what metaqda.Change) {
	if what.Err != nil {
		x := what.Example
		e.damaged = append(e.damaged, store.Damage{Table: store.Examples, Key: x.ID, Reason: what.Err.Error(), Raw: store.Plain(putExample(e.session.ID, x).Value.(store.Example))})
	} else {
		e.heard = append(e.heard, what)
	}
	what.Class.Examples = nil
	e.changes.note(what)
}

// Changes returns what changed since a revision, from 0 the whole state.
func (e *Engine) Changes(since uint64) Changes {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := Changes{State: e.overview(), Revision: e.changes.revision}
	var ok bool
	if c.Steps, ok = e.changes.since(since); !ok {
		c.Whole, c.State.Classes = true, e.classInfos()
	}
	return c
}

// Revision returns the number of the state, which is another one whenever classes
// or examples are.
func (e *Engine) Revision() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes.revision
}

// Thumbnails returns those of some examples of a class, nil where there is none. It
// waits.
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
