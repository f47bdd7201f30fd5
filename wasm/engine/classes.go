package engine

import (
	"cmp"

	metaqda "metaqda/core"
	"metaqda/wasm/log"
)

// AddClass adds a class at the end and returns its id and its clean name.
func (e *Engine) AddClass(name string) (id, kept string, err error) {
	_, err = e.change(func() error {
		if id, err = e.taught.AddClass(name); err == nil {
			k, _ := e.taught.Class(id)
			kept = k.Label
		}
		return err
	})
	return id, kept, err
}

// Label returns the clean name, and the id of the class that has it or one that looks the same,
// empty for none.
func (e *Engine) Label(name string) (label, class string, err error) {
	if label, err = metaqda.CleanLabel(name); err != nil {
		return "", "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k, _ := e.taught.Find(label)
	return label, k.ID, nil
}

// RenameClass changes the name of a class.
func (e *Engine) RenameClass(id, name string) error {
	_, err := e.ofClass(id, func(k metaqda.Class) error { return e.taught.RenameClass(k.Label, name) })
	return err
}

// SetActions sets what happens when a class comes and goes, or none of these for an empty id, and
// returns a token for [Engine.Undo].
func (e *Engine) SetActions(id, text string) (token string, err error) {
	if id == "" {
		return e.change(func() error { return e.taught.SetActions("", text) })
	}
	return e.ofClass(id, func(k metaqda.Class) error { return e.taught.SetActions(k.Label, text) })
}

// RemoveClass removes a class with its examples and returns a token for [Engine.Undo].
func (e *Engine) RemoveClass(id string) (token string, err error) {
	return e.ofClass(id, func(k metaqda.Class) error { return e.taught.RemoveClass(k.Label) })
}

// MergeClasses moves all examples of a class to another one, removes it, and returns a
// token for [Engine.Undo].
func (e *Engine) MergeClasses(id, into string) (token string, err error) {
	return e.ofClass(id, func(k metaqda.Class) error {
		to, err := e.class(into)
		if err == nil {
			err = e.taught.MergeClasses(k.Label, to.Label)
		}
		return err
	})
}

// AddExample adds the picture with this embedding to the end of a class, and keeps its
// thumbnail. Pictures of a class that name the same group are frames of one burst and count as
// one.
func (e *Engine) AddExample(classID string, embedding []float32, thumbnail []byte, group string) (id string, err error) {
	_, err = e.ofClass(classID, func(k metaqda.Class) error {
		if err := e.addable(); err != nil {
			return err
		}
		ids, err := e.taught.AddAll([]string{k.Label}, []metaqda.Example{{Group: group, Vector: embedding, Thumbnail: thumbnail}})
		if err == nil {
			id = ids[0]
		}
		return err
	})
	return id, err
}

// addable returns an error if the session cannot take pictures of the page's extractor.
func (e *Engine) addable() error { return cmp.Or(e.foreign(), e.record()) }

// AddExamples adds pictures to the classes of their names, all or none, as one step. It makes
// missing classes. All pictures have the same thumbnail and group.
func (e *Engine) AddExamples(names []string, embeddings [][]float32, thumbnail []byte, group string) (ids []string, err error) {
	examples := make([]metaqda.Example, len(embeddings))
	for i, x := range embeddings {
		examples[i] = metaqda.Example{Group: group, Vector: x, Thumbnail: thumbnail}
	}
	_, err = e.change(func() error {
		err := e.addable()
		if err == nil {
			ids, err = e.taught.AddAll(names, examples)
		}
		return err
	})
	return ids, err
}

// RemoveExample removes one example and returns a token for [Engine.Undo].
func (e *Engine) RemoveExample(classID, exampleID string) (token string, err error) {
	return e.ofExample(classID, exampleID, func(metaqda.Class) error { return e.taught.Remove(exampleID) })
}

// MoveExample moves an example to the end of another class and returns a token for
// [Engine.Undo].
func (e *Engine) MoveExample(classID, exampleID, toID string) (token string, err error) {
	return e.ofExample(classID, exampleID, func(metaqda.Class) error {
		to, err := e.class(toID)
		if err == nil {
			err = e.taught.Move(exampleID, to.Label)
		}
		return err
	})
}

// Begin groups all changes until [Engine.End] into one undo step. If calls are nested, the
// outermost End closes the step.
func (e *Engine) Begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun++; e.begun == 1 {
		e.taught.Join(newID())
	}
}

// End ends the step and returns a token for [Engine.Undo], empty if nothing was changed.
func (e *Engine) End() (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun = max(e.begun-1, 0); e.begun == 0 {
		token = e.taught.Join("")
	}
	return token, nil
}

// Do changes the classifier by a function.
func (e *Engine) Do(f func(*metaqda.Classifier) error) error {
	_, err := e.change(func() error { return f(e.taught) })
	return err
}

// ofClass is change for a function that needs the class.
func (e *Engine) ofClass(id string, f func(metaqda.Class) error) (token string, err error) {
	return e.change(func() error {
		k, err := e.class(id)
		if err == nil {
			err = f(k)
		}
		return err
	})
}

func (e *Engine) ofExample(class, id string, f func(metaqda.Class) error) (token string, err error) {
	return e.ofClass(class, func(k metaqda.Class) error {
		if x := e.taught.Example(id); x == nil || x.Class != class {
			return errExample
		}
		return f(k)
	})
}

func (e *Engine) class(id string) (metaqda.Class, error) {
	if k, ok := e.taught.Class(id); ok {
		return k, nil
	}
	return metaqda.Class{}, errClass
}

// change runs a function that changes the classifier, and notes the changes to be stored and
// shown. It returns a token for [Engine.Undo]. The token is empty without a step, so also
// between [Engine.Begin] and [Engine.End].
func (e *Engine) change(f func() error) (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard, e.commands = nil, nil
	undo := e.nextUndo()
	err = f()
	if err != nil && len(e.heard) == 0 && len(e.commands) == 0 { // otherwise a step that can no longer be undone was forgotten
		return "", err
	}
	if last := e.nextUndo(); err == nil && last != undo && e.begun == 0 {
		token = last
	}
	e.noteHeard()
	e.prepare()
	return token, err
}

// nextUndo returns the id of the step that Undo would take back, empty for none.
func (e *Engine) nextUndo() string {
	if undo, _ := e.taught.Steps(); len(undo) > 0 {
		return undo[0].ID
	}
	return ""
}

// noteCommands notes changes of the undo history outside of [Engine.change].
func (e *Engine) noteCommands() {
	for _, c := range e.commands {
		e.note(&pending{Step: log.Step{Command: &c}})
	}
	e.commands = nil
}

// noteHeard notes the changes since [Engine.change] began.
func (e *Engine) noteHeard() {
	var edit log.Edit
	added, classes := 0, map[string]bool{}
	removed := map[string][]string{}
	thumbnails := map[string][]byte{}
	for _, h := range e.heard {
		switch h.Do {
		case metaqda.PutExample:
			added++
			made := e.session.Extractor
			edit.Extractor = &made
			if len(h.Example.Thumbnail) > 0 && !h.Example.Apart {
				thumbnails[h.Example.ID] = h.Example.Thumbnail
			}
		case metaqda.DropClass:
			ids := []string{}
			for _, x := range h.Class.Examples {
				ids = append(ids, x.ID)
			}
			removed[h.Class.ID] = ids
		}
		classes[h.Class.ID] = true
	}
	e.session.Updated = max(e.session.Updated, e.hooks.Now().UnixMilli())
	for i, c := range e.commands {
		p := &pending{Step: log.Step{Command: &c}, removed: removed}
		if i == len(e.commands)-1 {
			p.Thumbnails = thumbnails
			if edit != (log.Edit{}) {
				p.Edit = &edit
			}
		}
		e.note(p)
	}
	e.commands = nil
	if added == 1 && len(classes) == 1 {
		e.follow() // hundreds of pictures are added at once, other changes come one at a time
	} else {
		e.refresh()
	}
	e.announce()
}

// touch makes and notes a change of the session's head, and updates the view.
func (e *Engine) touch(edit log.Edit) {
	edit.Apply(&e.session.Session)
	e.session.Updated = e.hooks.Now().UnixMilli()
	e.note(&pending{Step: log.Step{Edit: &edit}})
	e.refresh()
	e.announce()
}
