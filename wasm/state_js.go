package main

import (
	"syscall/js"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/log"
)

// The page gets the engine's state as JSON: making a thousand classes object by object across the
// boundary would block the page. web/engine/contract.js describes the fields.

// overview writes all fields of a state except the classes.
func (p *page) overview(w *json.Writer, s engine.State) {
	facts := json.Object{}
	for name, fact := range s.Prior.Facts {
		facts[name] = fact
	}
	for name, v := range map[string]any{
		"sessionId": s.SessionID, "sessionName": s.SessionName, "dimension": s.Dimension, "undo": s.Undo, "undoId": s.UndoID, "redo": s.Redo,
		"saved": float64(s.Saved), "updated": float64(s.Updated), "damaged": s.Damaged, "followed": s.Followed, "sort": s.Sort, "nonePrior": s.NonePrior, "actions": s.Actions,
		"prior":     json.Object{"sha256": s.Prior.Sum, "name": s.Prior.Name, "site": s.Prior.Site, "facts": facts, "message": s.Prior.Trouble},
		"extractor": json.Object{"id": s.Extractor.ID, "sha256": s.Extractor.SHA256, "message": s.Extractor.Foreign, "chosen": s.Extractor.Chosen},
		"storage":   json.Object{"kept": s.Trouble == "", "message": s.Trouble, "vanished": s.Vanished, "persistent": p.keeps.answer},
	} {
		w.Name(name)
		w.Any(v)
	}
}

// list writes each class with its id, name, examples, sizes of bursts and actions. firsts may be nil.
func list(w *json.Writer, classes []metaqda.Class, firsts [][]int) {
	w.Open('[')
	for i := range classes {
		k := &classes[i]
		w.Object(func(c json.Codec) {
			c.Text("id", &k.ID, true)
			c.Text("name", &k.Label, true)
			c.List("examples", len(k.Examples), func(j int, c json.Codec) { c.Text("id", &k.Examples[j].ID, true) })
			c.Ints("bursts", &k.Bursts)
			if firsts != nil {
				c.Ints("firsts", &firsts[i])
			}
			c.Text("actions", &k.Actions, false)
		})
	}
	w.Close(']')
}

// change returns one change of a class or an example.
func change(s metaqda.Change) json.Object {
	o := json.Object{"do": string(s.Do), "class": s.Class.ID, "at": s.At}
	if s.Class.Label != "" {
		o["name"] = s.Class.Label
	}
	if s.Class.Actions != "" {
		o["actions"] = s.Class.Actions
	}
	if s.Example != nil {
		o["example"] = json.Object{"id": s.Example.ID}
	}
	if len(s.Bursts) > 0 {
		sizes := make([]any, len(s.Bursts))
		for i, n := range s.Bursts {
			sizes[i] = n
		}
		o["sizes"] = sizes
	}
	return o
}

func (p *page) state() js.Value {
	var w json.Writer
	s := p.State()
	w.Object(func(json.Codec) {
		p.overview(&w, s)
		w.Name("classes")
		list(&w, s.Classes, s.Firsts)
	})
	return bridge.Parsed(string(w.B))
}

// changes returns the changes since a revision. A new example comes with its thumbnail, once. A list of
// all classes has thumbnails only up to log.ManyPictures examples: for more, the page calls the method
// thumbnails. The engine keeps the bytes, and the page keeps the pictures that it shows.
func (p *page) changes(since float64) js.Value {
	c := p.Changes(uint64(max(since, 0)))
	var w json.Writer
	w.Object(func(json.Codec) {
		w.Name("revision")
		w.Number(float64(c.Revision))
		w.Name("state")
		w.Object(func(json.Codec) { p.overview(&w, c.State) })
		if w.Name("classes"); c.Whole {
			list(&w, c.State.Classes, nil)
		} else {
			w.Any(nil)
		}
		w.Name("steps")
		w.Open('[')
		for _, s := range c.List {
			w.Any(change(s))
		}
		w.Close(']')
	})
	v := bridge.Parsed(string(w.B))
	for i, s := range c.List {
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

// prediction returns an answer as the page gets it, null for none.
func prediction(p *engine.Prediction) any {
	if p == nil {
		return nil
	}
	probabilities := json.Object{}
	for i, label := range p.Labels {
		probabilities[label] = p.Probabilities[i]
	}
	name := func(class int) any {
		if class < 0 {
			return nil
		}
		return p.Labels[class]
	}
	return json.Object{"label": p.Label, "probabilities": probabilities, "none": p.None, "decision": name(p.Class), "doubtful": p.Doubtful, "headline": p.Headline, "first": name(p.First)}
}

// frame returns the answer about a frame of a live view.
func frame(l *engine.Live) any {
	events := make([]any, len(l.Events))
	for i, e := range l.Events {
		events[i] = json.Object{"label": e.Label, "here": e.Here, "since": e.Since, "probability": e.Probability}
	}
	return json.Object{"answer": prediction(l.Answer), "events": events, "here": l.Here}
}

func parsed(v any) js.Value {
	var w json.Writer
	w.Any(v)
	return bridge.Parsed(string(w.B))
}
