package engine

import (
	"maps"
	"slices"

	"metaqda/core/model"
	"metaqda/wasm/store"
)

// ExportSession returns the file of the open session and notes when. It waits.
func (e *Engine) ExportSession() ([]byte, error) {
	id, write := e.Export(true)
	b, err := write()
	if err == nil { // the file is whole, whether or not that it was saved can be noted
		e.NoteSaved(id)
		e.Flush()
	}
	return b, err
}

// SharedFile returns the file of the open session to be handed on, with pictures only
// if they are wanted; that it was saved is not noted. It waits.
func (e *Engine) SharedFile(pictures bool) ([]byte, error) {
	_, write := e.Export(pictures)
	return write()
}

// Export takes the open session as it is at this moment and returns its id and what
// writes its file. That waits: thousands of pictures are written in slices of a few
// milliseconds, between which the session may change.
func (e *Engine) Export(pictures bool) (id string, write func() ([]byte, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, apart := e.content(pictures)
	return e.session.ID, func() ([]byte, error) {
		if err := e.complete(apart); err != nil {
			return nil, err
		}
		return e.write(c)
	}
}

// complete fetches the thumbnails that only the store has.
func (e *Engine) complete(apart map[string]*[]byte) error {
	if len(apart) == 0 {
		return nil
	}
	found, err := e.store.Thumbnails(slices.Collect(maps.Keys(apart)))
	if err != nil && e.State().Trouble == "" { // or else what is here is better than nothing
		return err
	}
	for id, b := range found {
		*apart[id] = b
	}
	return nil
}

// content returns the open session as it goes into a file, and by their ids in the store
// where thumbnails go that only it has. Neither embeddings nor thumbnails ever change, so
// that it stays as it is.
func (e *Engine) content(pictures bool) (c *model.Classifier, apart map[string]*[]byte) {
	apart = map[string]*[]byte{}
	c = e.taught.File()
	c.Name, c.Settings.Sort, c.Extractor = e.session.Name, e.session.Settings.Sort, e.madeWith()
	for i, k := range e.taught.Classes() {
		for j, x := range k.Examples {
			switch to := &c.Classes[i].Examples[j].Thumbnail; {
			case !pictures:
				*to = nil
			case x.Apart:
				apart[x.ID] = to
			}
		}
	}
	return c, apart
}

// write writes a file, slice by slice.
func (e *Engine) write(c *model.Classifier) ([]byte, error) {
	w, err := model.NewEncoder(c)
	if err != nil {
		return nil, err
	}
	for {
		begun := e.hooks.Now()
		done, err := w.Write(func() bool { return e.hooks.Breathe == nil || e.hooks.Now().Sub(begun) < slice })
		if err != nil {
			return nil, err
		}
		if done {
			return w.Bytes(), nil
		}
		e.hooks.Breathe(true)
	}
}

// NoteSaved notes that the session of this id was saved to a file, if it is still the
// open one.
func (e *Engine) NoteSaved(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session.ID == id {
		e.session.Saved = e.hooks.Now().UnixMilli()
		e.note(store.Needs{Session: id}, store.Op{Table: store.Sessions, Key: id, Value: store.Edit{Saved: e.session.Saved}})
		e.announce()
	}
}
