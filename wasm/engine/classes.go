package engine

import (
	"cmp"
	"slices"

	metaqda "metaqda/core"
	"metaqda/wasm/store"
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

// Begin groups all changes until [Engine.End] into one undo step.
func (e *Engine) Begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.taught.Begin()
}

// End ends the step and returns a token for [Engine.Undo], empty if nothing was changed.
func (e *Engine) End() (token string, err error) {
	return e.change(func() error { e.taught.End(); return nil })
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
			return fail("example", "This picture is not in the class any more: it was removed, perhaps in another tab.")
		}
		return f(k)
	})
}

func (e *Engine) class(id string) (metaqda.Class, error) {
	if k, ok := e.taught.Class(id); ok {
		return k, nil
	}
	return metaqda.Class{}, fail("class", "This class does not exist any more: it was removed, perhaps in another tab.")
}

// change runs a function that changes the classifier, and notes the changes to be stored and
// shown. It returns a token for [Engine.Undo]. The token is empty without a step, so also
// between [Engine.Begin] and [Engine.End].
func (e *Engine) change(f func() error) (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = nil
	undo, redo := e.nextSteps()
	err = f()
	last, first := e.nextSteps()
	if err != nil && len(e.heard) == 0 && last == undo && first == redo { // otherwise a step that can no longer be undone was forgotten
		return "", err
	}
	if err == nil && last != undo {
		token = last
	}
	e.noteHeard()
	e.prepare()
	return token, err
}

// nextSteps returns the ids of the next undo and redo step, empty for none.
func (e *Engine) nextSteps() (undo, redo string) {
	done, undone := e.taught.Steps()
	if len(done) > 0 {
		undo = done[0].ID
	}
	if len(undone) > 0 {
		redo = undone[0].ID
	}
	return undo, redo
}

// part is the change of one class to be stored.
type part struct {
	needs store.Needs
	fresh bool // the class was not there before the change
	ops   []store.Op
}

// noteHeard notes the changes since [Engine.change] began. Each class forms a change of its
// own, with its own preconditions.
func (e *Engine) noteHeard() {
	var parts []*part // in the order in which they are stored
	of, last := map[string]*part{}, map[store.Ref]*part{}
	edit, added := store.Edit{}, 0
	for _, h := range e.heard {
		if h.Do == metaqda.PutActions {
			text := h.Class.Actions
			edit.Actions, e.session.Settings.Actions = &text, text
			continue
		}
		if h.Do == metaqda.PutBurst || h.Do == metaqda.PutBursts { // follows from the rest
			continue
		}
		id := h.Class.ID
		p := of[id]
		if p == nil {
			p = &part{needs: store.Needs{Session: e.session.ID}, fresh: h.New}
			parts, of[id] = append(parts, p), p
		}
		put := func(op store.Op) {
			if before := last[op.Ref()]; before != nil { // of two writes the last one counts
				before.ops = slices.DeleteFunc(before.ops, func(o store.Op) bool { return o.Ref() == op.Ref() })
			}
			p.ops, last[op.Ref()] = append(p.ops, op), p
		}
		if !p.fresh && h.Do != metaqda.DropExample {
			p.needs.Class = id
		}
		switch h.Do {
		case metaqda.PutClass:
			p.needs.Name, p.needs.Whole = h.Class.Label, false
			put(store.Op{Table: store.Classes, Key: id, Value: store.Class{ID: id, Session: e.session.ID, Name: h.Class.Label, Order: h.Class.Order, Actions: h.Class.Actions}})
		case metaqda.DropClass:
			p.needs.Name, p.needs.Whole = "", !p.fresh
			put(store.Op{Table: store.Classes, Key: id})
			for _, x := range h.Class.Examples {
				put(store.Op{Table: store.Examples, Key: x.ID})
			}
			e.fetchBefore(h.Class.Examples...)
			for _, op := range e.dropDamaged(id) {
				put(op)
			}
		case metaqda.PutExample:
			added++
			put(putExample(e.session.ID, h.Example))
			made := e.session.Extractor
			edit.Extractor = &made
		case metaqda.DropExample:
			if e.taught.Example(h.Example.ID) == nil { // otherwise it has moved
				e.fetchBefore(h.Example)
			}
			put(store.Op{Table: store.Examples, Key: h.Example.ID})
		}
	}
	edit.Updated = e.hooks.Now().UnixMilli()
	e.session.Updated = max(e.session.Updated, edit.Updated)
	gone := slices.DeleteFunc(slices.Clone(parts), func(p *part) bool { return !p.needs.Whole })
	parts = append(slices.DeleteFunc(parts, func(p *part) bool { return p.needs.Whole }), gone...) // last, as their examples may have moved to other classes
	for i, p := range parts {
		if i == len(parts)-1 {
			p.ops = append(p.ops, store.Op{Table: store.Sessions, Key: e.session.ID, Value: edit})
		}
		e.note(p.needs, p.ops...)
	}
	if len(parts) == 0 && edit.Actions != nil {
		e.note(store.Needs{Session: e.session.ID}, store.Op{Table: store.Sessions, Key: e.session.ID, Value: edit})
	}
	if steps := e.storeSteps(); len(steps) > 0 { // on its own, so that removals need no free space
		e.note(store.Needs{Session: e.session.ID}, steps...)
	}
	if added == 1 && len(parts) == 1 {
		e.follow() // hundreds of pictures are added at once, other changes come one at a time
	} else {
		e.refresh()
	}
	e.announce()
}

// dropDamaged deletes the unusable examples of a class.
func (e *Engine) dropDamaged(class string) (ops []store.Op) {
	var others []store.Damage
	for _, d := range e.damaged {
		if r, _ := d.Raw.(store.Record); d.Table == store.Examples && r["class"] == class {
			ops = append(ops, store.Op{Table: d.Table, Key: d.Key})
		} else {
			others = append(others, d)
		}
	}
	e.damaged = others
	return ops
}

// touch notes a change of the session's record, and updates the view.
func (e *Engine) touch(edit store.Edit, ops ...store.Op) {
	e.session.Updated = e.hooks.Now().UnixMilli()
	edit.Updated = e.session.Updated
	e.note(store.Needs{Session: e.session.ID}, append(ops, store.Op{Table: store.Sessions, Key: e.session.ID, Value: edit})...)
	e.refresh()
	e.announce()
}

func putExample(session string, x *metaqda.Example) store.Op {
	return store.Op{Table: store.Examples, Key: x.ID, Value: store.Example{ID: x.ID, Session: session, Class: x.Class, Order: x.Order,
		Group: x.Group, Embedding: x.Vector, Thumbnail: x.Thumbnail, Apart: x.Apart}}
}

func exampleOf(x *store.Example) *metaqda.Example {
	return &metaqda.Example{ID: x.ID, Class: x.Class, Order: x.Order, Group: x.Group, Vector: x.Embedding, Thumbnail: x.Thumbnail, Apart: x.Apart}
}

func classOf(k store.Class) metaqda.Class {
	return metaqda.Class{ID: k.ID, Label: k.Name, Order: k.Order, Actions: k.Actions}
}
