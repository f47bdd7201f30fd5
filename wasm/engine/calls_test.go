package engine

import (
	metaqda "metaqda/core"
)

// What the page does through metaqda/wasm/exports, in words of ids.

func (e *Engine) do(vectors bool, f func(c *metaqda.Classifier) error) (undo string, err error) {
	err = e.Change(vectors, f)
	return e.Recent().Undo, err
}

// ofClass does something to a class, and to another one if its id is not empty.
func (e *Engine) ofClass(id, other string, f func(c *metaqda.Classifier, label, other string) error) (undo string, err error) {
	return e.do(false, func(c *metaqda.Classifier) error {
		k, ok := c.Class(id)
		o, too := c.Class(other)
		if !ok || other != "" && !too {
			return errClass
		}
		return f(c, k.Label, o.Label)
	})
}

func (e *Engine) AddClass(name string) (id, label string, err error) {
	_, err = e.do(false, func(c *metaqda.Classifier) error {
		if id, err = c.AddClass(name); err == nil {
			k, _ := c.Class(id)
			label = k.Label
		}
		return err
	})
	return id, label, err
}

func (e *Engine) RenameClass(id, name string) error {
	_, err := e.ofClass(id, "", func(c *metaqda.Classifier, label, _ string) error { return c.RenameClass(label, name) })
	return err
}

func (e *Engine) SetActions(id, text string) (undo string, err error) {
	if id == "" {
		return e.do(false, func(c *metaqda.Classifier) error { return c.SetActions("", text) })
	}
	return e.ofClass(id, "", func(c *metaqda.Classifier, label, _ string) error { return c.SetActions(label, text) })
}

func (e *Engine) RemoveClass(id string) (undo string, err error) {
	return e.ofClass(id, "", func(c *metaqda.Classifier, label, _ string) error { return c.RemoveClass(label) })
}

func (e *Engine) MergeClasses(id, into string) (undo string, err error) {
	return e.ofClass(id, into, (*metaqda.Classifier).MergeClasses)
}

func (e *Engine) AddExample(class string, x []float32, thumbnail []byte, group string) (id string, err error) {
	_, err = e.do(true, func(c *metaqda.Classifier) error {
		k, ok := c.Class(class)
		if !ok {
			return errClass
		}
		ids, err := c.AddAll([]string{k.Label}, []metaqda.Example{{Group: group, Vector: x, Thumbnail: thumbnail}})
		if err == nil {
			id = ids[0]
		}
		return err
	})
	return id, err
}

func (e *Engine) AddExamples(labels []string, vectors [][]float32, thumbnail []byte, group string) (ids []string, err error) {
	examples := make([]metaqda.Example, len(vectors))
	for i, x := range vectors {
		examples[i] = metaqda.Example{Group: group, Vector: x, Thumbnail: thumbnail}
	}
	_, err = e.do(true, func(c *metaqda.Classifier) error {
		ids, err = c.AddAll(labels, examples)
		return err
	})
	return ids, err
}

func (e *Engine) RemoveExample(class, id string) (undo string, err error) {
	return e.ofExample(class, id, "", func(c *metaqda.Classifier, _ string) error { return c.Remove(id) })
}

func (e *Engine) MoveExample(class, id, to string) (undo string, err error) {
	return e.ofExample(class, id, to, func(c *metaqda.Classifier, label string) error { return c.Move(id, label) })
}

func (e *Engine) ofExample(class, id, other string, f func(c *metaqda.Classifier, other string) error) (undo string, err error) {
	return e.ofClass(class, other, func(c *metaqda.Classifier, _, label string) error {
		if x := c.Example(id); x == nil || x.Class != class {
			return errExample
		}
		return f(c, label)
	})
}

func (e *Engine) Undo(step string) (name string, err error) {
	return e.stepping(func(c *metaqda.Classifier) (*metaqda.Step, error) {
		if step == "" {
			return c.Undo()
		}
		return c.UndoStep(step)
	})
}

func (e *Engine) Redo() (name string, err error) { return e.stepping((*metaqda.Classifier).Redo) }

func (e *Engine) stepping(f func(c *metaqda.Classifier) (*metaqda.Step, error)) (name string, err error) {
	_, err = e.do(false, func(c *metaqda.Classifier) error {
		s, err := f(c)
		if s != nil {
			name = s.Name
		}
		return err
	})
	return name, err
}

func (e *Engine) Configure(nonePrior float64) error {
	_, err := e.do(false, func(c *metaqda.Classifier) error { return c.Configure(metaqda.Settings{NonePrior: nonePrior}) })
	return err
}

// Predict answers as Show does, and shows nothing.
func (e *Engine) Predict(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, err := e.answer(x)
	return e.named(a), err
}

// Ready reports whether answers come at once.
func (e *Engine) Ready() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ready()
}

// byLabel returns the probabilities of the classes.
func (p *Prediction) byLabel() map[string]float64 {
	all := map[string]float64{}
	for i, label := range p.Labels {
		all[label] = p.Probabilities[i]
	}
	return all
}
