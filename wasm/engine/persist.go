package engine

import "metaqda/wasm/store"

// Flush stores what has changed, everything or nothing, and waits for it. What
// could not be stored stays noted and goes with the next change; [State].Trouble
// then says why.
func (e *Engine) Flush() {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	e.mu.Lock()
	ops, session := e.pending, e.session.ID
	e.mu.Unlock()
	if len(ops) == 0 {
		return
	}
	err := e.store.Apply(ops)
	e.mu.Lock()
	trouble := e.trouble
	if err == nil {
		e.pending = e.pending[len(ops):]
		if _, transient := e.store.(*store.Memory); !transient { // or else nothing is kept all the same
			e.trouble = ""
		}
	} else {
		e.trouble = Explain(err).Message
	}
	changed := trouble != e.trouble
	e.mu.Unlock()
	if changed {
		e.announce()
	}
	if err == nil {
		e.stored(session)
	}
}

// stored tells the other tabs that a session is stored otherwise than before.
func (e *Engine) stored(session string) {
	if e.hooks.Stored != nil {
		e.hooks.Stored(session)
	}
}
