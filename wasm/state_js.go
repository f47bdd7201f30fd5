package main

import (
	"encoding/json"
	"syscall/js"

	metaqda "metaqda/core"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/log"
)

// The page gets the engine's state as JSON: making a thousand classes object by object across the
// boundary would block the page. web/engine/contract.js describes the fields.

type state struct {
	engine.State
	Classes classes `json:"classes"`
}

// classes are objects with id, name, examples and bursts, the sizes of these.
type classes []metaqda.Class

// MarshalJSON writes them: package json alone would look up the fields of twenty
// thousand examples one by one, which takes a tenth of a second.
func (all classes) MarshalJSON() ([]byte, error) {
	if all == nil {
		return []byte("null"), nil
	}
	b := []byte{'['}
	for i, c := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"id":`...), c.ID)
		b = appendText(append(b, `,"name":`...), c.Label)
		b = append(b, `,"examples":[`...)
		for j, x := range c.Examples {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(appendText(append(b, `{"id":`...), x.ID), '}')
		}
		bursts, _ := json.Marshal(append([]int{}, c.Bursts...)) // numbers always have one
		b = append(append(b, `],"bursts":`...), bursts...)
		if c.Actions != "" {
			b = appendText(append(b, `,"actions":`...), c.Actions)
		}
		b = append(b, '}')
	}
	return append(b, ']'), nil
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always has one
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

type example struct {
	ID string `json:"id"`
}

type changes struct {
	Revision uint64       `json:"revision"`
	State    engine.State `json:"state"`
	Classes  classes      `json:"classes"` // null unless all are there
	Steps    []step       `json:"steps"`
}

type step struct {
	Do      metaqda.Do `json:"do"`
	Class   string     `json:"class"`
	Name    string     `json:"name,omitempty"`
	Actions string     `json:"actions,omitempty"`
	At      int        `json:"at"`
	Example *example   `json:"example,omitempty"`
	Sizes   []int      `json:"sizes,omitempty"`
}

// told adds the browser's promise to a state.
func (p *page) told(s engine.State) engine.State {
	s.Persistent = p.promise.answer
	return s
}

func (p *page) state() state {
	s := p.told(p.State())
	return state{s, listed(s)}
}

// listed returns the classes of a state, an empty list where there are none.
func listed(s engine.State) classes { return append(classes{}, s.Classes...) }

// changes returns the changes since a revision. Examples that are new to the page come with their
// thumbnails, once. If there are many, the page gets them by the method thumbnails. The engine
// keeps the bytes, and the page keeps the pictures that it shows.
func (p *page) changes(since float64) js.Value {
	c := p.Changes(uint64(max(since, 0)))
	to := changes{Revision: c.Revision, State: p.told(c.State), Steps: make([]step, len(c.Steps))}
	if c.Whole {
		to.Classes = listed(c.State)
	}
	for i, s := range c.Steps {
		to.Steps[i] = step{Do: s.Do, Class: s.Class.ID, Name: s.Class.Label, Actions: s.Class.Actions, At: s.At, Sizes: s.Bursts}
		if s.Example != nil {
			to.Steps[i].Example = &example{s.Example.ID}
		}
	}
	v := bridge.Parsed(to)
	for i, s := range c.Steps {
		if s.Do == metaqda.PutExample {
			setThumbnail(v.Get("steps").Index(i).Get("example"), s.Example)
		}
	}
	n := 0
	for _, k := range c.State.Classes {
		n += len(k.Examples)
	}
	if n > log.ManyPictures {
		return v
	}
	for i, k := range c.State.Classes {
		examples := js.Undefined()
		for j, x := range k.Examples {
			if examples.IsUndefined() {
				examples = v.Get("classes").Index(i).Get("examples")
			}
			setThumbnail(examples.Index(j), x)
		}
	}
	return v
}

func setThumbnail(v js.Value, x *metaqda.Example) {
	if len(x.Thumbnail) > 0 {
		v.Set("thumbnail", bridge.Array(x.Thumbnail))
	}
}
