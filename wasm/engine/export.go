package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

// SaveSession returns the file of the open session, as the session is at the call. It then notes that
// the session was saved at that time. It waits: thousands of pictures are written in slices of a few
// milliseconds, between which the session may change, or another one may be opened.
func (e *Engine) SaveSession() ([]byte, error) {
	now := e.hooks.Now().UnixMilli()
	id, b, err := e.export(true)
	if err == nil { // the file is complete, even if noting the save fails
		e.noteSaved(id, log.Edit{Saved: now})
	}
	return b, err
}

// SharedFile returns the file of the open session for others, with or without pictures. It does
// not note a save. It waits.
func (e *Engine) SharedFile(pictures bool) ([]byte, error) {
	_, b, err := e.export(pictures)
	return b, err
}

// export returns the id and the file of the open session. Embeddings and thumbnails never change, so
// they are not copied before the lock is released.
func (e *Engine) export(pictures bool) (id string, file []byte, err error) {
	e.mu.Lock()
	id = e.session.ID
	apart := map[string]*[]byte{} // places in the file of thumbnails that only the store has, by id
	c := e.taught.File()
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
	e.mu.Unlock()
	if err := e.complete(apart); err != nil {
		return id, nil, err
	}
	file, err = e.write(c)
	return id, file, err
}

// complete fetches the thumbnails that only the store has.
func (e *Engine) complete(apart map[string]*[]byte) error {
	found, err := log.ThumbnailsOf(e.db, slices.Collect(maps.Keys(apart)))
	if err != nil && e.State().Trouble == "" { // on error, a file without them is better than none
		return err
	}
	for id, b := range found {
		*apart[id] = b
	}
	return nil
}

// write writes a file, slice by slice.
func (e *Engine) write(c *model.Classifier) ([]byte, error) {
	w, err := model.NewEncoder(c)
	if err != nil {
		return nil, err
	}
	for {
		begun := e.hooks.Now()
		done, err := w.Write(func() bool { return e.hooks.Yield == nil || e.hooks.Now().Sub(begun) < slice })
		if err != nil {
			return nil, err
		}
		if done {
			return w.Bytes(), nil
		}
		e.hooks.Yield(true)
	}
}

// noteSaved notes that a session was saved to a file. It waits.
func (e *Engine) noteSaved(id string, edit log.Edit) {
	e.mu.Lock()
	open := e.session.ID == id
	if open {
		edit.Apply(&e.session.Session)
		e.note(&pending{Step: log.Step{Edit: &edit}})
	}
	e.mu.Unlock()
	if open {
		e.Flush()
	} else if log.AppendTo(e.db, id, edit) == nil {
		e.hooks.Stored(Note{Session: id})
	}
	e.hooks.Changed()
}

// ImportSession opens a new session with the content of a file. It waits. If the prior that the
// file names is not here, the site's prior is used. A file with embeddings of another extractor is
// refused. notice is empty or a sentence to show.
func (e *Engine) ImportSession(bytes []byte, here model.Extractor) (id, notice string, err error) {
	file, err := model.DecodeClassifier(bytes)
	if err != nil {
		return "", "", err
	}
	if file.Settings.Scale != "" {
		return "", "", fail("format", "This file is for tables with standardised columns, not for pictures: use it with the npm package or the command line.")
	}
	unchecked := ""
	if file.Unchecked {
		unchecked = "The file was made by a former version of this page and has no checksum: if answers surprise you, it may be damaged."
	}
	notice, err = compare(file.Extractor, here, "This classifier was made with", "Open it on a page that uses the former, or teach its classes here from their pictures.")
	if err != nil {
		return "", "", err
	}
	notice = strings.TrimSpace(notice + " " + unchecked)
	e.storing.Lock()
	defer e.storing.Unlock()
	if err := e.leave(); err != nil {
		return "", "", err
	}
	s, classes := contentsOf(file, e.hooks.Now().UnixMilli())
	others, err := log.Summaries(e.db)
	if err != nil {
		return "", "", err
	}
	s.Name = metaqda.Numbered(s.Name, func(name string) bool {
		return !slices.ContainsFunc(others, func(s log.Summary) bool { return metaqda.SameLabel(s.Name, name) })
	})
	e.mu.Lock()
	if s.Examples > 0 {
		s.Extractor = cmp.Or(here, file.Extractor, e.here) // compare has accepted the file's
		s.Saved = s.Created                                // the imported file has all of it
	}
	known := e.site != nil && e.site.Sum() == file.PriorSum
	e.mu.Unlock()
	if !known && file.PriorSum != "" {
		if p, unreadable := e.chosenPrior(file.PriorSum); p != nil {
			s.Settings.Prior = file.PriorSum
		} else {
			why, remedy := "that is not on this device", " To get the same answers, open its file in the settings."
			if unreadable != "" {
				why, remedy = "of a former version of this page", ""
			}
			notice = strings.TrimSpace(notice + " This session was made with background knowledge (sha256 " + short(file.PriorSum) +
				") " + why + ": the built-in one is used instead, and answers may differ." + remedy)
		}
	}
	if err := e.openNew(s, classes); err != nil {
		return "", "", err
	}
	return s.ID, notice, nil
}

// contentsOf gives ids to the content of a file.
func contentsOf(file *model.Classifier, now int64) (s log.Summary, classes []metaqda.Class) {
	name, err := cleanName(file.Name)
	if err != nil {
		name = "Imported classes"
	}
	s = log.Summary{Session: log.Session{ID: newID(), Name: name, Created: now, Updated: now, Settings: defaultSettings()}, Classes: len(file.Classes)}
	s.Settings.NonePrior, s.Settings.Actions = file.Settings.NonePrior, file.Settings.Actions
	if file.Settings.Sort == string(view.AsTaught) {
		s.Settings.Sort = file.Settings.Sort
	}
	classes = metaqda.ClassesOf(file)
	for i := range classes {
		classes[i].ID = newID()
		for _, x := range classes[i].Examples {
			x.ID, x.Class = newID(), classes[i].ID
			s.Examples++
		}
	}
	return s, classes
}
