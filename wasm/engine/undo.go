package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	metaqda "metaqda/core"
	"metaqda/wasm/store"
)

// The undo history is stored with the session, each step in its own record, so that a change
// writes one.
const partSteps = "/" // key of the list of steps; a number after it makes the key of a step

// keptStep is an entry of the list, the next step first.
type keptStep struct {
	ID   string
	Slot int
}

type keptSteps struct{ Undo, Redo []keptStep }

func (e *Engine) stepKey(slot int) string { return e.session.ID + partSteps + strconv.Itoa(slot) }

// storeSteps returns the operations that store the current undo history: the list, and the one
// step that was made, undone or redone. While a step is open there are none after the first
// change, as its changes are not yet a step.
func (e *Engine) storeSteps() (ops []store.Op) {
	undo, redo := e.taught.Steps()
	all := slices.Concat(undo, redo)
	live, taken, fresh := map[string]int{}, map[int]bool{}, map[string]bool{}
	for _, s := range all {
		if slot, ok := e.slots[s.ID]; ok {
			live[s.ID], taken[slot] = slot, true
		}
	}
	for _, s := range all {
		if _, ok := live[s.ID]; !ok {
			slot := 0
			for taken[slot] {
				slot++
			}
			live[s.ID], taken[slot], fresh[s.ID] = slot, true, true
		}
	}
	places := func(steps []*metaqda.Step) (to []keptStep) {
		for _, s := range steps {
			to = append(to, keptStep{s.ID, live[s.ID]})
		}
		return to
	}
	list, _ := json.Marshal(keptSteps{places(undo), places(redo)}) // text and numbers
	if bytes.Equal(list, e.steps) || len(live) == 0 && len(e.slots) == 0 {
		return nil
	}
	for i, s := range all {
		if i > 0 && i != len(undo) && !fresh[s.ID] {
			continue
		}
		key := e.stepKey(live[s.ID])
		ops = append(ops, store.Op{Table: store.Steps, Key: key, Value: encodeStep(s)})
		if len(e.fetch) > 0 {
			e.encode[key] = s
		}
	}
	for _, slot := range e.slots {
		if !taken[slot] {
			ops = append(ops, store.Op{Table: store.Steps, Key: e.stepKey(slot)})
		}
	}
	e.slots, e.steps = live, list
	return append(ops, store.Op{Table: store.Steps, Key: e.session.ID + partSteps, Value: list})
}

// storedSteps reads the undo history of a session as far as it is intact. A list ends before a
// step that another tab has overwritten, or that cannot be kept.
func (e *Engine) storedSteps(session string) (undo, redo []*metaqda.Step, slots map[string]int, b []byte) {
	slots = map[string]int{}
	b, err := e.store.Bytes(store.Steps, session+partSteps)
	var list keptSteps
	if err != nil || json.Unmarshal(b, &list) != nil {
		return nil, nil, slots, nil
	}
	read := func(from []keptStep) (steps []*metaqda.Step) {
		for _, k := range from {
			slots[k.ID] = k.Slot // unusable steps are deleted by their slots
		}
		for _, k := range from {
			b, err := e.store.Bytes(store.Steps, session+partSteps+strconv.Itoa(k.Slot))
			s := decodeStep(b)
			if err != nil || s == nil || s.ID != k.ID || !s.Persistent() {
				break
			}
			steps = append(steps, s)
		}
		return steps
	}
	return read(list.Undo), read(list.Redo), slots, b
}

// Undo takes back the step of a token, or the last step of all for an empty token. It returns
// the name of the step, empty if there is none.
func (e *Engine) Undo(token string) (name string, err error) {
	return e.again(func() (*metaqda.Step, error) {
		if token != "" {
			return e.taught.UndoStep(token)
		}
		return e.taught.Undo()
	})
}

// Redo repeats the step that was undone last and returns its name, empty if there is none.
func (e *Engine) Redo() (name string, err error) {
	return e.again(func() (*metaqda.Step, error) { return e.taught.Redo() })
}

func (e *Engine) again(f func() (*metaqda.Step, error)) (name string, err error) {
	_, err = e.change(func() error {
		s, err := f()
		if s == nil || err != nil {
			return err
		}
		name = s.Name
		if choice, ok := e.choices[s.ID]; ok && s.Undone {
			e.chose(choice[0])
		} else if ok {
			e.chose(choice[1])
		}
		return nil
	})
	return name, err
}

// ForgetUndo clears the undo history, and with it all removed data.
func (e *Engine) ForgetUndo() {
	_, _ = e.change(func() error {
		e.taught.ForgetUndo()
		e.sweep, e.steps = true, nil
		for slot := range 2 * metaqda.MaxSteps { // also deletes steps that other tabs have stored
			e.slots[strconv.Itoa(slot)] = slot
		}
		return nil
	})
}

// stepRecord is a step as stored. Embeddings are bytes in it.
type stepRecord struct {
	ID, Name string
	Undone   bool
	Entries  []entryRecord
}

type entryRecord struct {
	Do, ID  string
	Class   *metaqda.Class
	Example store.Record
	Classes []store.Record // examples of Class
}

func encodeStep(s *metaqda.Step) []byte {
	r := stepRecord{ID: s.ID, Name: s.Name, Undone: s.Undone}
	for _, e := range s.Entries {
		to := entryRecord{Do: e.Do, ID: e.ID}
		if e.Class != nil {
			head := *e.Class
			head.Examples, head.Bursts = nil, nil
			to.Class = &head
			for _, x := range e.Class.Examples {
				to.Classes = append(to.Classes, plainOf("", x))
			}
		}
		if e.Example != nil {
			to.Example = plainOf("", e.Example)
		}
		r.Entries = append(r.Entries, to)
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic("metaqda: a step does not encode: " + err.Error())
	}
	return b
}

func plainOf(session string, x *metaqda.Example) store.Record {
	return store.Plain(putExample(session, x).Value.(store.Example)).(store.Record)
}

// decodeStep returns nil for invalid bytes.
func decodeStep(b []byte) *metaqda.Step {
	var r stepRecord
	if json.Unmarshal(b, &r) != nil {
		return nil
	}
	s := &metaqda.Step{ID: r.ID, Name: r.Name, Undone: r.Undone}
	for _, from := range r.Entries {
		e := metaqda.Entry{Do: from.Do, ID: from.ID, Class: from.Class}
		ok := true
		if from.Example != nil {
			e.Example, ok = exampleFrom(from.Example)
		}
		for _, r := range from.Classes {
			x, sound := exampleFrom(r)
			if ok = ok && sound && e.Class != nil; ok {
				e.Class.Examples = append(e.Class.Examples, x)
			}
		}
		if !ok {
			return nil
		}
		s.Entries = append(s.Entries, e)
	}
	return s
}

func exampleFrom(r store.Record) (*metaqda.Example, bool) {
	for _, name := range []string{"embedding", "thumbnail"} { // JSON has them as text
		if text, ok := r[name].(string); ok {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, false
			}
			r[name] = b
		}
	}
	id, _ := r["id"].(string)
	x, reason := store.DecodeExample(id, r)
	return exampleOf(&x), reason == ""
}
