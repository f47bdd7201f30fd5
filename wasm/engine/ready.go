package engine

import (
	"slices"
	"time"

	"metaqda/core/qda"
	"metaqda/wasm/store"
)

// A session that is opened is there at once, with its classes and pictures. The first
// of them are enrolled with it; where there are more, the classifier comes to know the
// others in slices of a few milliseconds, so that neither the start waits nor anything
// is frozen. A class that is changed is enrolled before; an answer needs all of them.

const (
	enrolledAtOnce = 400 // pictures
	enrolledRows   = 64  // in one piece of work
	slice          = 16 * time.Millisecond
)

// newClassifierOf is [newClassifier], which only begins where there are many pictures
// and slices can be had: late are the classes that it does not know whole yet.
func (e *Engine) newClassifierOf(p *prior, s store.Settings, classes []*class) (q *qda.Classifier, late []*class, err error) {
	n := 0
	for _, c := range classes {
		n += len(c.examples)
	}
	if e.hooks.Breathe == nil || n <= enrolledAtOnce {
		q, err = newClassifier(p, s, classes)
		return q, nil, err
	}
	if q, err = qda.New(p.file.NIW, options(s, p)); err != nil {
		return nil, nil, err
	}
	for _, c := range classes {
		if err := q.AddClass(c.ID); err != nil {
			return nil, nil, err
		}
		if len(c.examples) > 0 {
			late = append(late, c)
		}
	}
	return q, late, nil
}

// serve makes q the classifier, which is still to know some classes. Until then each
// of their pictures is taken for one that is like no other.
func (e *Engine) serve(p *prior, q *qda.Classifier, late []*class) {
	e.prior, e.classifier, e.late = p, q, late
	for _, c := range e.classes {
		c.late, c.enrolled = false, 0
	}
	for _, c := range late {
		c.late = true
	}
	if len(late) > 0 {
		go e.catchUpLater(q)
	}
}

// Ready tells whether the classifier knows all pictures, and so answers at once.
func (e *Engine) Ready() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.late) == 0
}

// Await waits until the classifier knows all pictures.
func (e *Engine) Await() {
	e.wait(1)
	defer e.wait(-1)
	for !e.Ready() {
		e.hooks.Breathe(true)
	}
}

func (e *Engine) wait(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.awaited += n
}

// catchUpLater has the classifier q know all classes, slice by slice, while it serves.
func (e *Engine) catchUpLater(q *qda.Classifier) {
	for e.catchUpSlice(q) {
		e.mu.Lock()
		urgent := e.awaited > 0
		e.mu.Unlock()
		e.hooks.Breathe(urgent)
	}
}

func (e *Engine) catchUpSlice(q *qda.Classifier) (more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.classifier != q || len(e.late) == 0 {
		return false
	}
	begun := e.hooks.Now()
	inTime := func() bool { return e.hooks.Now().Sub(begun) < slice }
	for i := 0; i < len(e.late); i++ {
		c := e.late[i]
		for c.late && inTime() {
			e.enrolSome(c)
		}
		if c.late {
			e.late = slices.Delete(e.late, 0, i)
			return true
		}
	}
	if !q.Prepare(inTime) {
		e.late = e.late[len(e.late)-1:] // one that is whole: what is left is the session's mean and doubt
		return true
	}
	e.late = nil
	e.refresh()
	e.announce()
	return false
}

// enrolSome enrols the next pictures of a class.
func (e *Engine) enrolSome(c *class) {
	some := c.examples[c.enrolled:min(c.enrolled+enrolledRows, len(c.examples))]
	if err := enrolRows(e.classifier, e.prior, c.ID, some); err == nil {
		c.enrolled += len(some)
	} else {
		e.enrolEach(c, slices.Clone(some))
	}
	if c.enrolled == len(c.examples) {
		c.late = false
		e.fold(c.Name) // now rather than for all classes when one is added
		e.noteBursts(c, false)
	}
}

// enrolEach enrols pictures one by one and sets those aside with which nothing can be
// computed.
func (e *Engine) enrolEach(c *class, some []*store.Example) {
	for _, x := range some {
		err := enrolRows(e.classifier, e.prior, c.ID, []*store.Example{x})
		if err == nil {
			c.enrolled++
			continue
		}
		e.damaged = append(e.damaged, store.Damage{Table: store.Examples, Key: x.ID, Reason: err.Error(), Raw: store.Plain(*x)})
		e.journal.note(Step{Do: DropExample, Class: c.ID, Example: x})
		c.examples = slices.Delete(c.examples, c.enrolled, c.enrolled+1)
	}
}

// catchUpWith enrols a class whole.
func (e *Engine) catchUpWith(c *class) {
	for c.late {
		e.enrolSome(c)
	}
}

// catchUpWithAll enrols all classes, for an answer that cannot wait.
func (e *Engine) catchUpWithAll() {
	for _, c := range e.late {
		e.catchUpWith(c)
	}
	e.late = nil
}
