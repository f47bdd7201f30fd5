package engine

import (
	"slices"
	"strconv"
	"strings"

	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/wasm/store"
	"metaqda/wasm/view"
)

// AddClass adds a class at the end and returns its id and its name as kept.
func (e *Engine) AddClass(name string) (id, kept string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.room(1, 0); err != nil {
		return "", "", err
	}
	if name, err = e.freeName(name, ""); err != nil {
		return "", "", err
	}
	c := &class{Class: store.Class{ID: newID(), Session: e.session.ID, Name: name, Order: e.lastOrder() + 1}}
	if err := e.insertClass(c, nil); err != nil {
		return "", "", err
	}
	e.touch(store.Edit{}, store.Needs{Name: name}, putClass(c))
	return c.ID, name, nil
}

// RenameClass changes the name of a class.
func (e *Engine) RenameClass(id, name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.class(id)
	if err != nil {
		return err
	}
	if name, err = e.freeName(name, id); err != nil {
		return err
	}
	c.Name = name
	e.touch(store.Edit{}, store.Needs{Class: id, Name: name}, putClass(c))
	return nil
}

// RemoveClass removes a class with its examples and returns a token for
// [Engine.Undo].
func (e *Engine) RemoveClass(id string) (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.class(id)
	if err != nil {
		return "", err
	}
	ops := []store.Op{{Table: store.Classes, Key: id}}
	for _, x := range c.examples {
		ops = append(ops, store.Op{Table: store.Examples, Key: x.ID})
	}
	e.fetchBefore(c.examples...)
	ops = append(ops, e.dropDamaged(id)...)
	from := e.classifier
	taken, err := e.takeClass(c)
	if err != nil {
		return "", err
	}
	e.touch(store.Edit{}, store.Needs{Class: id, Whole: true}, ops...)
	return e.remember(func() error { return e.restoreClass(c, from, taken) }), nil
}

// dropDamaged deletes the examples of a class that cannot be used.
func (e *Engine) dropDamaged(class string) (ops []store.Op) {
	e.damaged = slices.DeleteFunc(e.damaged, func(d store.Damage) bool {
		r, _ := d.Raw.(store.Record)
		if d.Table != store.Examples || r["class"] != class {
			return false
		}
		ops = append(ops, store.Op{Table: d.Table, Key: d.Key})
		return true
	})
	return ops
}

// restoreClass is the undo of RemoveClass, which took it from a classifier. Where
// the name has been taken since, the class returns under a numbered one; another
// classifier may serve.
func (e *Engine) restoreClass(c *class, from *qda.Classifier, taken *qda.Detached) error {
	if _, err := e.class(c.ID); err == nil {
		return nil // it came back in another tab
	}
	if err := e.room(1, len(c.examples)); err != nil {
		return err
	}
	c.Name = numbered(c.Name, func(name string) bool { return e.called(name, c.ID) == nil })
	c.Order = e.freeOrder(c.Order)
	if from != e.classifier {
		taken = nil
	}
	if err := e.insertClass(c, taken); err != nil {
		return err
	}
	ops := []store.Op{putClass(c)}
	for _, x := range c.examples {
		ops = append(ops, putExample(x))
	}
	e.touch(store.Edit{}, store.Needs{Name: c.Name}, ops...)
	return nil
}

// AddExample adds the picture with this embedding to a class, whose examples
// keep the order they were added in. It keeps both slices.
func (e *Engine) AddExample(classID string, embedding []float32, thumbnail []byte) (id string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.class(classID)
	if err != nil {
		return "", err
	}
	if err := e.foreign(); err != nil {
		return "", err
	}
	if err := e.room(0, 1); err != nil {
		return "", err
	}
	x, err := e.transformed(embedding)
	if err == nil && e.unrecorded() {
		if err = e.record(); err == nil {
			x, err = e.transformed(embedding) // under the prior that serves now
		}
	}
	if err != nil {
		return "", err
	}
	if err := e.classifier.Add(classID, x); err != nil {
		return "", err
	}
	example := &store.Example{ID: newID(), Session: e.session.ID, Class: classID, Order: c.lastOrder() + 1, Embedding: embedding, Thumbnail: thumbnail}
	c.examples = append(c.examples, example)
	made := e.session.Extractor
	e.touch(store.Edit{Extractor: &made}, store.Needs{Class: classID}, putExample(example))
	return example.ID, nil
}

// RemoveExample removes one example and returns a token for [Engine.Undo].
func (e *Engine) RemoveExample(classID, exampleID string) (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, i, err := e.example(classID, exampleID)
	if err != nil {
		return "", err
	}
	x := c.examples[i]
	if err := e.takeExample(c, i); err != nil {
		return "", err
	}
	e.fetchBefore(x)
	e.touch(store.Edit{}, store.Needs{}, store.Op{Table: store.Examples, Key: exampleID})
	return e.remember(func() error { return e.restoreExample(x) }), nil
}

// MoveExample moves an example to the end of another class and returns the id that it
// has there and a token for [Engine.Undo].
func (e *Engine) MoveExample(classID, exampleID, toID string) (id, token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	from, i, err := e.example(classID, exampleID)
	if err != nil {
		return "", "", err
	}
	to, err := e.class(toID)
	if err != nil {
		return "", "", err
	}
	if to == from {
		return "", "", fail("class", "This picture is in “"+to.Name+"” already.")
	}
	x := from.examples[i]
	z, err := e.transformed(x.Embedding)
	if err == nil {
		err = e.classifier.Add(toID, z)
	}
	if err == nil {
		err = e.takeExample(from, i)
	}
	if err != nil {
		return "", "", err
	}
	// Under an id of its own: to other tabs the one is gone and the other is new.
	moved := *x
	moved.ID, moved.Class, moved.Order = newID(), toID, to.lastOrder()+1
	to.examples = append(to.examples, &moved)
	e.fetchBefore(x, &moved)
	e.touch(store.Edit{}, store.Needs{Class: toID}, putExample(&moved), store.Op{Table: store.Examples, Key: exampleID})
	return moved.ID, e.remember(func() error { return e.moveBack(&moved, x) }), nil
}

// moveBack is the undo of MoveExample.
func (e *Engine) moveBack(moved, x *store.Example) error {
	if _, err := e.class(x.Class); err != nil {
		return fail("undo", "The class the picture came from is gone: bring that class back first.")
	}
	c, i, err := e.example(moved.Class, moved.ID)
	if err == nil {
		err = e.takeExample(c, i)
	}
	if err == nil {
		err = e.putBack(x)
	}
	if err != nil {
		return err
	}
	e.touch(store.Edit{}, store.Needs{Class: x.Class}, putExample(x), store.Op{Table: store.Examples, Key: moved.ID})
	return nil
}

// example returns the class that has an example, and its place there.
func (e *Engine) example(classID, exampleID string) (c *class, at int, err error) {
	if c, err = e.class(classID); err != nil {
		return nil, 0, err
	}
	if at = slices.IndexFunc(c.examples, func(x *store.Example) bool { return x.ID == exampleID }); at < 0 {
		return nil, 0, fail("example", "This picture is not in the class any more: it was removed, perhaps in another tab.")
	}
	return c, at, nil
}

// restoreExample is the undo of RemoveExample: the example returns to its place
// among the others.
func (e *Engine) restoreExample(x *store.Example) error {
	c, err := e.class(x.Class)
	if err != nil {
		return fail("undo", "The picture's class is gone: bring the class back first.")
	}
	if c.place(x.ID) >= 0 {
		return nil // it came back in another tab
	}
	if err := e.room(0, 1); err != nil {
		return err
	}
	if err := e.putBack(x); err != nil {
		return err
	}
	made := e.session.Extractor
	e.touch(store.Edit{Extractor: &made}, store.Needs{Class: x.Class}, putExample(x))
	return nil
}

// Undo takes back the removal that gave the token. A token serves once, and
// only while its session is open.
func (e *Engine) Undo(token string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	step, ok := e.undo[token]
	if !ok {
		return fail("undo", "This cannot be undone any more: it was undone already, too much has been removed since, or another session was opened.")
	}
	if err := step(); err != nil {
		return err
	}
	delete(e.undo, token)
	return nil
}

// maxUndo is how many removals can be undone: what was removed is kept for it.
const maxUndo = 100

// remember keeps an undo step, forgets the oldest beyond maxUndo and returns the
// step's token.
func (e *Engine) remember(step func() error) string {
	token := newID()
	e.undo[token] = step
	e.tokens = append(e.tokens, token)
	if n := len(e.tokens); n > maxUndo {
		delete(e.undo, e.tokens[0])
		e.tokens = slices.Delete(e.tokens, 0, 1)
	}
	return token
}

// forgetUndo lets nothing be undone that was removed until now.
func (e *Engine) forgetUndo() { e.undo, e.tokens = map[string]func() error{}, nil }

// insertClass puts a class with its examples at its place, here and in the
// classifier, which may know it already.
func (e *Engine) insertClass(c *class, known *qda.Detached) (err error) {
	i := slices.IndexFunc(e.classes, func(k *class) bool { return store.Before(c.Order, k.Order, c.ID, k.ID) })
	if i < 0 {
		i = len(e.classes)
	}
	if e.classifier != nil {
		if known == nil {
			if err := enrol(e.classifier, e.prior, c); err != nil {
				return err
			}
			if known, err = e.classifier.Detach(c.ID); err != nil {
				return err
			}
		}
		if err := e.classifier.Attach(i, known); err != nil {
			return err
		}
	}
	e.classes = slices.Insert(e.classes, i, c)
	return nil
}

// class returns a class, which the classifier knows whole then.
func (e *Engine) class(id string) (*class, error) {
	for _, c := range e.classes {
		if c.ID == id {
			e.catchUpWith(c)
			return c, nil
		}
	}
	return nil, fail("class", "This class does not exist any more: it was removed, perhaps in another tab.")
}

// freeName cleans a class name and checks that no class but the given one has it.
func (e *Engine) freeName(name, except string) (string, error) {
	name, err := cleanName("class", name)
	if err != nil {
		return "", err
	}
	if e.fold(name) == e.fold(view.NoneName) {
		return "", fail("label", "“"+name+"” is what the page answers where no class fits: choose another name.")
	}
	if c := e.called(name, except); c != nil {
		return "", fail("label", "There is a class “"+c.Name+"” already: choose another name.")
	}
	return name, nil
}

// called returns the class whose name people take for this one, except a given
// class, or nil.
func (e *Engine) called(name, except string) *class {
	name = e.fold(name)
	for _, c := range e.classes {
		if c.ID != except && e.fold(c.Name) == name {
			return c
		}
	}
	return nil
}

// fold returns what names that people take for the same have in common. The browser
// is asked once for each name.
func (e *Engine) fold(name string) string {
	folded, ok := e.folded[name]
	if !ok {
		folded = strings.Join(strings.Fields(name), " ")
		if e.hooks.Fold != nil {
			folded = e.hooks.Fold(folded)
		} else {
			folded = strings.ToLower(folded)
		}
		if len(e.folded) > 2*model.MaxClasses {
			clear(e.folded)
		}
		e.folded[name] = folded
	}
	return folded
}

// numbered returns a name if it is free, or else the first free one of "name (2)",
// "name (3)" and so on.
func numbered(name string, free func(name string) bool) string {
	for n := 2; ; n++ {
		if free(name) {
			return name
		}
		base := name
		if n > 2 {
			base = strings.TrimSuffix(name, " ("+strconv.Itoa(n-1)+")")
		}
		name = base + " (" + strconv.Itoa(n) + ")"
	}
}

// freeOrder returns an order that no class has, the given one or one that comes next
// after it: a class added after the last was removed has that one's.
func (e *Engine) freeOrder(order float64) float64 {
	i := slices.IndexFunc(e.classes, func(k *class) bool { return k.Order >= order })
	switch {
	case i < 0 || e.classes[i].Order > order:
		return order
	case i+1 < len(e.classes):
		return (order + e.classes[i+1].Order) / 2
	}
	return order + 1
}

func (e *Engine) lastOrder() float64 {
	if n := len(e.classes); n > 0 {
		return e.classes[n-1].Order
	}
	return 0
}

func (c *class) lastOrder() float64 {
	if n := len(c.examples); n > 0 {
		return c.examples[n-1].Order
	}
	return 0
}

// room refuses so many more classes and examples where a session holds no more.
func (e *Engine) room(classes, examples int) error {
	if len(e.classes)+classes > model.MaxClasses {
		return fail("limit", "A session holds at most "+strconv.Itoa(model.MaxClasses)+" classes: begin another session, or remove some here.")
	}
	if e.exampleCount()+examples > model.MaxExamples {
		return fail("limit", "A session holds at most "+strconv.Itoa(model.MaxExamples)+" pictures: begin another session, or remove some here.")
	}
	return nil
}

func (e *Engine) exampleCount() int {
	n := 0
	for _, c := range e.classes {
		n += len(c.examples)
	}
	return n
}

// transformed returns what the classifier knows the embedding as, in scratch
// space that the next call overwrites. It brings a classifier into being where
// only the dimension was missing.
func (e *Engine) transformed(x []float32) ([]float64, error) {
	if err := e.ensureClassifier(len(x)); err != nil {
		return nil, err
	}
	d := e.prior.dim()
	if len(x) != d {
		return nil, &niw.DimensionError{Name: "embedding", Got: len(x), Want: d}
	}
	if len(e.scratch) != d {
		e.scratch = make([]float64, d)
	}
	for i, v := range x {
		e.scratch[i] = float64(v)
	}
	return e.scratch, e.prior.file.Transform.ApplyTo(e.scratch, e.scratch)
}

// newClassifier returns a classifier with all classes enrolled under a prior.
func newClassifier(p *prior, s store.Settings, classes []*class) (*qda.Classifier, error) {
	q, err := qda.New(p.file.NIW, options(s, p))
	if err != nil {
		return nil, err
	}
	for _, c := range classes {
		if err := enrol(q, p, c); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// enrol adds a class with its examples.
func enrol(q *qda.Classifier, p *prior, c *class) error {
	if err := q.AddClass(c.ID); err != nil || len(c.examples) == 0 {
		return err
	}
	err := enrolRows(q, p, c.ID, c.examples)
	if err != nil {
		q.RemoveClass(c.ID)
	}
	return err
}

// enrolRows adds examples to a class that is there.
func enrolRows(q *qda.Classifier, p *prior, class string, examples []*store.Example) error {
	rows, err := p.rows(examples)
	if err != nil {
		return err
	}
	return q.AddRows(class, rows)
}

// options returns the classifier's options under settings and a prior.
func options(s store.Settings, p *prior) qda.Options {
	o := p.file.Session.Options()
	o.NonePrior = s.NonePrior
	return o
}

func putClass(c *class) store.Op {
	return store.Op{Table: store.Classes, Key: c.ID, Value: c.Class}
}

func putExample(x *store.Example) store.Op {
	return store.Op{Table: store.Examples, Key: x.ID, Value: *x}
}
