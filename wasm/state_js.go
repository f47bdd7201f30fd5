package main

import (
	"encoding/json"
	"strconv"
	"syscall/js"

	metaqda "metaqda/core"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/store"
)

// What the page knows of the engine, as JavaScript reads it. It goes as JSON: a
// thousand classes, made object by object across the boundary, would keep the page
// waiting. web/engine/contract.js describes the fields.

type overview struct {
	SessionID   string  `json:"sessionId"`
	SessionName string  `json:"sessionName"`
	Sort        string  `json:"sort"`
	NonePrior   float64 `json:"nonePrior"`
	Dimension   int     `json:"dimension"`
	Undo        string  `json:"undo"`
	Redo        string  `json:"redo"`
	Prior       struct {
		SHA256  string            `json:"sha256"`
		Name    string            `json:"name"`
		Site    bool              `json:"site"`
		Facts   map[string]string `json:"facts"`
		Message string            `json:"message"`
	} `json:"prior"`
	Extractor struct {
		ID      string `json:"id"`
		SHA256  string `json:"sha256"`
		Message string `json:"message"`
	} `json:"extractor"`
	Storage struct {
		Kept       bool   `json:"kept"`
		Message    string `json:"message"`
		Vanished   string `json:"vanished"`
		Persistent string `json:"persistent"`
	} `json:"storage"`
	Saved   int64 `json:"saved"`
	Damaged int   `json:"damaged"`
}

type state struct {
	overview
	Classes classes `json:"classes"`
}

// classes are objects with id, name, examples and bursts, the sizes of these.
type classes []engine.ClassInfo

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
		b = appendText(append(b, `,"name":`...), c.Name)
		b = append(b, `,"examples":[`...)
		for j, x := range c.Examples {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(appendText(append(b, `{"id":`...), x.ID), '}')
		}
		b = append(b, `],"bursts":[`...)
		for j, size := range c.Bursts {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(size), 10)
		}
		b = append(b, "]}"...)
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
	Revision uint64   `json:"revision"`
	State    overview `json:"state"`
	Classes  classes  `json:"classes"` // null unless all are there
	Steps    []step   `json:"steps"`
}

type step struct {
	Do      metaqda.Do `json:"do"`
	Class   string     `json:"class"`
	Name    string     `json:"name,omitempty"`
	At      int        `json:"at"`
	Example *example   `json:"example,omitempty"`
	Sizes   []int      `json:"sizes,omitempty"`
}

func (p *page) overviewOf(s engine.State) (o overview) {
	o.SessionID, o.SessionName, o.Dimension = s.SessionID, s.SessionName, s.Dimension
	o.Sort, o.NonePrior = s.Settings.Sort, s.Settings.NonePrior
	o.Prior.SHA256, o.Prior.Name, o.Prior.Site, o.Prior.Facts, o.Prior.Message = s.Prior.Sum, s.Prior.Name, s.Prior.Site, s.Prior.Facts, s.Prior.Trouble
	if o.Prior.Facts == nil {
		o.Prior.Facts = map[string]string{}
	}
	o.Extractor.ID, o.Extractor.SHA256, o.Extractor.Message = s.Extractor.ID, s.Extractor.SHA256, s.Foreign
	o.Storage.Kept, o.Storage.Message, o.Storage.Vanished, o.Storage.Persistent = s.Trouble == "", s.Trouble, s.Vanished, p.promise.answer
	o.Saved, o.Damaged, o.Undo, o.Redo = s.Saved, s.Damaged, s.Undo, s.Redo
	return o
}

func (p *page) stateOf(s engine.State) state { return state{p.overviewOf(s), listed(s)} }

// listed returns the classes of a state, an empty list where there are none.
func listed(s engine.State) classes { return append(classes{}, s.Classes...) }

// changes returns what changed since a revision. Thumbnails come with the examples
// that are new to the page, each once, unless there are many, which are asked for by
// thumbnails: the engine keeps the bytes, the page what it shows of them.
func (p *page) changes(since float64) js.Value {
	c := p.Changes(uint64(max(since, 0)))
	to := changes{Revision: c.Revision, State: p.overviewOf(c.State), Steps: make([]step, len(c.Steps))}
	if c.Whole {
		to.Classes = listed(c.State)
	}
	for i, s := range c.Steps {
		to.Steps[i] = step{Do: s.Do, Class: s.Class.ID, Name: s.Class.Label, At: s.At, Sizes: s.Bursts}
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
	if n > store.ManyPictures {
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
