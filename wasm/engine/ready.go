package engine

import (
	"time"

	metaqda "metaqda/core"
)

// slice is how long one piece of work may take beside everything else: of a session of
// many pictures that is opened the classifier comes to know most in such pieces.
const slice = 16 * time.Millisecond

// Ready tells whether the classifier knows all pictures, and so answers at once.
func (e *Engine) Ready() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taught.Ready()
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

// prepareLater has a classifier know all pictures, slice by slice, while it serves.
func (e *Engine) prepareLater(c *metaqda.Classifier) {
	for e.prepareSlice(c) {
		e.mu.Lock()
		urgent := e.awaited > 0
		e.mu.Unlock()
		e.hooks.Breathe(urgent)
	}
}

func (e *Engine) prepareSlice(c *metaqda.Classifier) (more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taught != c {
		return false
	}
	begun := e.hooks.Now()
	if !c.Prepare(func() bool { return e.hooks.Now().Sub(begun) < slice }) {
		return true
	}
	e.preparing = nil
	e.refresh()
	e.announce()
	return false
}
