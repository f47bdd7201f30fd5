package engine

import (
	"cmp"
	"slices"
	"strconv"

	metaqda "metaqda/core"
	"metaqda/wasm/store"
)

// AddClass adds a class at the end and returns its id and its name as kept.
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

// Label returns a name as it would be kept, and the id of the class that has it, or one that
// people take for the same, empty for none.
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

// AddExample adds the picture with this embedding to a class, whose examples keep the order
// they were added in. It keeps the thumbnail. Those of a class that name the same group are
// frames of one burst and count as one.
func (e *Engine) AddExample(classID string, embedding []float32, thumbnail []byte, group string) (id string, err error) {
	_, err = e.ofClass(classID, func(k metaqda.Class) error {
		if err := e.addable(); err != nil {
			return err
		}
		ids, err := e.taught.AddAll(k.Label, []metaqda.Example{{Group: group, Vector: embedding, Thumbnail: thumbnail}})
		if err == nil {
			id = ids[0]
		}
		return err
	})
	return id, err
}

// addable returns why the session takes no pictures of the extractor here.
func (e *Engine) addable() error { return cmp.Or(e.foreign(), e.record()) }

// AddExamples adds pictures to the classes of their names, each of which comes into being with
// its first one: all or none, as one step, whatever else is asked meanwhile. They have one
// thumbnail and one group.
func (e *Engine) AddExamples(names []string, embeddings [][]float32, thumbnail []byte, group string) (ids []string, err error) {
	if len(names) != len(embeddings) {
		return nil, fail("argument", "There are "+strconv.Itoa(len(embeddings))+" embeddings and "+strconv.Itoa(len(names))+" names: give one name for each.")
	}
	_, err = e.change(func() error {
		if err := e.addable(); err != nil {
			return err
		}
		e.taught.Begin()
		for i, name := range names {
			added, err := e.taught.AddAll(name, []metaqda.Example{{Group: group, Vector: embeddings[i], Thumbnail: thumbnail}})
			if err != nil {
				_ = e.taught.Cancel()
				return err
			}
			ids = append(ids, added...)
		}
		e.taught.End()
		return nil
	})
	return ids, err
}

// Holding returns the id of the class that has an example, empty for none.
func (e *Engine) Holding(exampleID string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.taught.Example(exampleID); x != nil {
		return x.Class
	}
	return ""
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

// Begin has what changes until [Engine.End] undone as one step.
func (e *Engine) Begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.taught.Begin()
}

// End ends what Begin began.
func (e *Engine) End() {
	_, _ = e.change(func() error { e.taught.End(); return nil })
}

// ofClass is change for what concerns a class.
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

// change does something to what is taught and notes what became of it, to be stored and
// to be shown. It returns a token for [Engine.Undo], empty where no step was made: between
// [Engine.Begin] and [Engine.End] what is changed belongs to a step that is not there yet.
func (e *Engine) change(f func() error) (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = nil
	before := e.lastStep()
	err = f()
	if err != nil && len(e.heard) == 0 {
		return "", err
	}
	if last := e.lastStep(); last != before {
		token = last
	}
	e.noteHeard()
	e.prepare()
	return token, err
}

func (e *Engine) lastStep() (id string) {
	if undo, _ := e.taught.Steps(); len(undo) > 0 {
		id = undo[0].ID
	}
	return id
}

// noteHeard notes what became of what is taught since [Engine.change] began. Records of
// several classes are changes of their own, each with what it takes for granted.
func (e *Engine) noteHeard() {
	edit := store.Edit{}
	ops, last, added := map[string][]store.Op{}, map[store.Ref]string{}, 0
	var classes []string // in the order in which they are stored
	var gone []string
	whole := map[string]bool{}
	put := func(class string, op store.Op) {
		ref := store.Ref{Table: op.Table, Key: op.Key}
		if before, ok := last[ref]; ok { // what is written twice is written as it was the last time
			ops[before] = slices.DeleteFunc(ops[before], func(op store.Op) bool { return op.Table == ref.Table && op.Key == ref.Key })
		}
		if _, ok := ops[class]; !ok {
			classes = append(classes, class)
		}
		ops[class], last[ref] = append(ops[class], op), class
	}
	needs := map[string]store.Needs{}
	for _, h := range e.heard {
		id := h.Class.ID
		n := needs[id]
		switch h.Do {
		case metaqda.PutClass:
			n.Name = h.Class.Label
			if !h.New {
				n.Class = id
			}
			whole[id] = false
			put(id, store.Op{Table: store.Classes, Key: id, Value: store.Class{ID: id, Session: e.session.ID, Name: h.Class.Label, Order: h.Class.Order}})
		case metaqda.DropClass:
			n = store.Needs{Class: id, Whole: true}
			gone = append(gone, id)
			whole[id] = true
			put(id, store.Op{Table: store.Classes, Key: id})
			for _, x := range h.Class.Examples {
				put(id, store.Op{Table: store.Examples, Key: x.ID})
			}
			e.fetchBefore(h.Class.Examples...)
			for _, op := range e.dropDamaged(id) {
				put(id, op)
			}
		case metaqda.PutExample:
			added++
			if n.Name == "" {
				n.Class = id
			}
			put(id, putExample(e.session.ID, h.Example))
			made := e.session.Extractor
			edit.Extractor = &made
		case metaqda.DropExample:
			if e.taught.Example(h.Example.ID) == nil { // or else it has moved
				e.fetchBefore(h.Example)
			}
			put(id, store.Op{Table: store.Examples, Key: h.Example.ID})
		}
		needs[id] = n
	}
	edit.Updated = e.hooks.Now().UnixMilli()
	e.session.Updated = max(e.session.Updated, edit.Updated)
	order := append(slices.DeleteFunc(classes, func(id string) bool { return whole[id] }), slices.DeleteFunc(gone, func(id string) bool { return !whole[id] })...)
	rest := []store.Op{{Table: store.Sessions, Key: e.session.ID, Value: edit}}
	for i, id := range order {
		n := needs[id]
		n.Session = e.session.ID
		if i == len(order)-1 {
			ops[id] = append(ops[id], rest...)
			rest = nil
		}
		e.note(n, ops[id]...)
	}
	if steps := e.storeSteps(); len(steps) > 0 { // by itself: what is removed waits for no room
		e.note(store.Needs{Session: e.session.ID}, steps...)
	}
	if added == 1 && len(order) == 1 {
		e.follow() // pictures are added by the hundred, all else is done one at a time
	} else {
		e.refresh()
	}
	e.announce()
}

// dropDamaged deletes the examples of a class that cannot be used.
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

// touch notes that the session changed, and shows the consequences.
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
	return metaqda.Class{ID: k.ID, Label: k.Name, Order: k.Order}
}
