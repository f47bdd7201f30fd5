package main

import (
	"encoding/json"
	"maps"
	"slices"
	"syscall/js"
	"time"

	"metaqda/core/model"
	"metaqda/wasm/bridge"
	"metaqda/wasm/direct"
	"metaqda/wasm/engine"
	"metaqda/wasm/simd"
	"metaqda/wasm/store"
	"metaqda/wasm/view"
)

// page is the engine of a window with what JavaScript sees of it. The methods
// of the object handed over are described in web/engine/contract.js.
type page struct {
	engine     *engine.Engine
	listeners  map[string][]js.Value // by event
	thumbnails bridge.Cache
	query      []float32 // buffer for what is asked about
	channel    js.Value  // to the other tabs; undefined where there is none
	reload     chan struct{}
	revision   uint32 // changes with the state
}

// startPage opens the store and the last session and returns the object for
// JavaScript.
func startPage() js.Value {
	p := &page{listeners: map[string][]js.Value{}, reload: make(chan struct{}, 1)}
	p.engine = newEngine(p)
	p.connectTabs()
	direct.Answer(p.shares, func() uint32 { return p.revision })
	methods := map[string]bridge.Method{
		"state": p.state, "on": p.on,
		"addClass": p.addClass, "renameClass": p.renameClass, "removeClass": p.removeClass,
		"addExample": p.addExample, "removeExample": p.removeExample, "undo": p.undo,
		"recognise": p.recognise, "probabilities": p.probabilities, "configure": p.configure,
		"sessions": p.sessions, "newSession": p.newSession, "openSession": p.openSession,
		"renameSession": p.renameSession, "deleteSession": p.deleteSession,
		"exportSession": p.exportSession, "importSession": p.importSession,
		"usePrior": p.usePrior, "importPrior": p.importPrior, "exportPrior": p.exportPrior, "resetPrior": p.resetPrior,
		"useExtractor": p.useExtractor, "trainingInput": p.trainingInput,
	}
	api := js.ValueOf(map[string]any{"simd": simd.Available()})
	for name, m := range methods {
		api.Set(name, bridge.Func(m))
	}
	return api
}

// newEngine starts an engine on IndexedDB, or in memory where that fails.
func newEngine(p *page) *engine.Engine {
	hooks := engine.Hooks{
		Changed: func() {
			p.revision++
			p.emit("change")
		},
		Stored: p.tellTabs,
		Fetch:  bridge.Fetch,
		Now:    time.Now,
	}
	if d := view.NewDOM(); d != nil {
		hooks.Show = d.Show
	}
	var trouble error
	if db, err := store.Open(); err != nil {
		trouble = err
	} else {
		e := engine.New(db, "", hooks)
		if trouble = e.Start(); trouble == nil {
			return e
		}
	}
	e := engine.New(store.NewMemory(), engine.Explain(trouble).Message, hooks)
	if err := e.Start(); err != nil {
		panic("metaqda: a session cannot be opened in memory: " + err.Error())
	}
	return e
}

// emit calls the listeners of an event. What they throw is reported, as for
// events of the DOM, and stops nothing.
func (p *page) emit(event string) {
	for _, f := range p.listeners[event] {
		js.Global().Call("queueMicrotask", f)
	}
}

// channelName is what tabs of this page call each other on.
const channelName = "metaqda"

// connectTabs listens for sessions that other tabs have changed. Words that
// arrive while a reload is under way are answered by one more.
func (p *page) connectTabs() {
	p.channel = js.Undefined()
	constructor := js.Global().Get("BroadcastChannel")
	if !constructor.Truthy() {
		return
	}
	p.channel = constructor.New(channelName)
	if unref := p.channel.Get("unref"); unref.Type() == js.TypeFunction {
		p.channel.Call("unref") // in Node.js it would keep the process alive
	}
	p.channel.Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if v := args[0].Get("data"); v.Type() == js.TypeString && v.String() == p.engine.State().SessionID {
			select {
			case p.reload <- struct{}{}:
			default:
			}
		}
		return nil
	}))
	go func() {
		for range p.reload {
			// An error means that the store is gone: what is here stays, and the
			// next change here will say so.
			_ = p.engine.Reload()
		}
	}()
}

func (p *page) tellTabs(session string) {
	if p.channel.Truthy() {
		p.channel.Call("postMessage", session)
	}
}

// stored returns the result after what changed has been stored.
func (p *page) stored(result any, err error) (any, bridge.Later, error) {
	if err != nil {
		return nil, nil, err
	}
	return nil, func() (any, error) {
		p.engine.Flush()
		return result, nil
	}, nil
}

// later runs what waits.
func later(f bridge.Later) (any, bridge.Later, error) { return nil, f, nil }

func undoable(token string) map[string]any { return map[string]any{"undo": token} }

func (p *page) on(a bridge.Args) (any, bridge.Later, error) {
	event, err := a.Text(0, "event")
	if err != nil {
		return nil, nil, err
	}
	if a.Value(1).Type() != js.TypeFunction {
		return nil, nil, &engine.Error{Code: "argument", Message: "The listener must be a function: this is a mistake of the page that calls."}
	}
	p.listeners[event] = append(p.listeners[event], a.Value(1))
	return nil, nil, nil
}

func (p *page) state(bridge.Args) (any, bridge.Later, error) {
	s := p.engine.State()
	facts := js.Global().Get("Object").New()
	for _, k := range slices.Sorted(maps.Keys(s.Prior.Facts)) {
		facts.Set(k, s.Prior.Facts[k])
	}
	return map[string]any{
		"sessionId": s.SessionID, "sessionName": s.SessionName,
		"inference": s.Settings.Inference, "sort": s.Settings.Sort, "nonePrior": s.Settings.NonePrior, "pooled": s.Settings.Pooled,
		"dimension": s.Dimension, "classes": p.classes(s.Classes),
		"prior":     map[string]any{"sha256": s.Prior.Sum, "name": s.Prior.Name, "site": s.Prior.Site, "facts": facts, "message": s.Prior.Trouble},
		"extractor": map[string]any{"message": s.Foreign},
		"storage":   map[string]any{"kept": s.Trouble == "", "message": s.Trouble},
	}, nil, nil
}

type classState struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Examples []exampleState `json:"examples"`
	Bursts   []int          `json:"bursts"`
}

type exampleState struct {
	ID        string    `json:"id"`
	Thumbnail *struct{} `json:"thumbnail"` // null until it is put in
}

// classes returns the classes for JavaScript. A thousand of them, made object by
// object across the boundary, would keep the page waiting.
func (p *page) classes(all []engine.ClassInfo) js.Value {
	list := make([]classState, len(all))
	for i, c := range all {
		list[i] = classState{ID: c.ID, Name: c.Name, Examples: make([]exampleState, len(c.Examples)), Bursts: append([]int{}, c.Bursts...)}
		for j, x := range c.Examples {
			list[i].Examples[j].ID = x.ID
		}
	}
	v := parsed(list)
	keep := map[string]bool{}
	for i, c := range all {
		examples := js.Undefined()
		for j, x := range c.Examples {
			keep[x.ID] = true
			if len(x.Thumbnail) == 0 {
				continue
			}
			if examples.IsUndefined() {
				examples = v.Index(i).Get("examples")
			}
			examples.Index(j).Set("thumbnail", p.thumbnails.Get(x.ID, x.Thumbnail))
		}
	}
	p.thumbnails.Keep(keep)
	return v
}

// parsed returns what JavaScript reads in the JSON of v, which must have one.
func parsed(v any) js.Value {
	b, err := json.Marshal(v)
	if err != nil {
		panic("metaqda: a result does not encode: " + err.Error())
	}
	return js.Global().Get("JSON").Call("parse", string(b))
}

func (p *page) addClass(a bridge.Args) (any, bridge.Later, error) {
	name, err := a.Text(0, "name of the class")
	if err != nil {
		return nil, nil, err
	}
	id, name, err := p.engine.AddClass(name)
	return p.stored(map[string]any{"id": id, "name": name}, err)
}

func (p *page) renameClass(a bridge.Args) (any, bridge.Later, error) {
	id, err := a.Text(0, "id of the class")
	if err != nil {
		return nil, nil, err
	}
	name, err := a.Text(1, "name of the class")
	if err != nil {
		return nil, nil, err
	}
	return p.stored(nil, p.engine.RenameClass(id, name))
}

func (p *page) removeClass(a bridge.Args) (any, bridge.Later, error) {
	id, err := a.Text(0, "id of the class")
	if err != nil {
		return nil, nil, err
	}
	token, err := p.engine.RemoveClass(id)
	return p.stored(undoable(token), err)
}

func (p *page) addExample(a bridge.Args) (any, bridge.Later, error) {
	class, err := a.Text(0, "id of the class")
	if err != nil {
		return nil, nil, err
	}
	embedding, err := a.Floats(1, "embedding", nil)
	if err != nil {
		return nil, nil, err
	}
	var thumbnail []byte
	if !a.Missing(2) {
		if thumbnail, err = a.Bytes(2, "thumbnail"); err != nil {
			return nil, nil, err
		}
	}
	id, err := p.engine.AddExample(class, embedding, thumbnail)
	return p.stored(map[string]any{"id": id}, err)
}

func (p *page) removeExample(a bridge.Args) (any, bridge.Later, error) {
	class, err := a.Text(0, "id of the class")
	if err != nil {
		return nil, nil, err
	}
	id, err := a.Text(1, "id of the picture")
	if err != nil {
		return nil, nil, err
	}
	token, err := p.engine.RemoveExample(class, id)
	return p.stored(undoable(token), err)
}

func (p *page) undo(a bridge.Args) (any, bridge.Later, error) {
	token, err := a.Text(0, "undo token")
	if err != nil {
		return nil, nil, err
	}
	return p.stored(nil, p.engine.Undo(token))
}

func (p *page) recognise(a bridge.Args) (any, bridge.Later, error) {
	if a.Missing(0) {
		_, err := p.engine.Recognise(nil)
		return nil, nil, err
	}
	return p.answer(a, p.engine.Recognise)
}

func (p *page) probabilities(a bridge.Args) (any, bridge.Later, error) {
	return p.answer(a, p.engine.Probabilities)
}

// shares answers the questions of package direct. Errors are told by
// probabilities, which is asked again.
func (p *page) shares(x []float32) []float64 {
	if engine.CheckEmbedding(x) != nil {
		return nil
	}
	shares, err := p.engine.Shares(x)
	if err != nil {
		return nil
	}
	return shares
}

// answer asks about the embedding in the first argument.
func (p *page) answer(a bridge.Args, ask func([]float32) (*engine.Prediction, error)) (any, bridge.Later, error) {
	x, err := a.Floats(0, "embedding", p.query)
	if err != nil {
		return nil, nil, err
	}
	p.query = x
	q, err := ask(x)
	if err != nil || q == nil {
		return nil, nil, err
	}
	return parsed(q), nil, nil
}

func (p *page) configure(a bridge.Args) (any, bridge.Later, error) {
	// Settings are few and change seldom: JSON checks their types.
	var c struct {
		Inference *string  `json:"inference"`
		Sort      *string  `json:"sort"`
		NonePrior *float64 `json:"nonePrior"`
		Pooled    *bool    `json:"pooled"`
	}
	text := js.Global().Get("JSON").Call("stringify", a.Value(0))
	if text.Type() != js.TypeString || json.Unmarshal([]byte(text.String()), &c) != nil {
		return nil, nil, &engine.Error{Code: "argument", Message: "The settings have the wrong form: this is a mistake of the page that calls."}
	}
	return p.stored(nil, p.engine.Configure(engine.Change(c)))
}

func (p *page) sessions(bridge.Args) (any, bridge.Later, error) {
	return later(func() (any, error) {
		all, err := p.engine.Sessions()
		list := make([]any, len(all))
		for i, s := range all {
			list[i] = map[string]any{"id": s.ID, "name": s.Name, "created": float64(s.Created), "updated": float64(s.Updated), "classes": s.Classes, "examples": s.Examples}
		}
		return list, err
	})
}

func (p *page) newSession(a bridge.Args) (any, bridge.Later, error) {
	name, err := a.Text(0, "name of the session")
	return waiting(err, func() (any, error) {
		id, err := p.engine.NewSession(name)
		return map[string]any{"id": id}, err
	})
}

func (p *page) openSession(a bridge.Args) (any, bridge.Later, error) {
	id, err := a.Text(0, "id of the session")
	return waiting(err, func() (any, error) { return nil, p.engine.OpenSession(id) })
}

func (p *page) renameSession(a bridge.Args) (any, bridge.Later, error) {
	id, err := a.Text(0, "id of the session")
	if err != nil {
		return nil, nil, err
	}
	name, err := a.Text(1, "name of the session")
	return waiting(err, func() (any, error) { return nil, p.engine.RenameSession(id, name) })
}

func (p *page) deleteSession(a bridge.Args) (any, bridge.Later, error) {
	id, err := a.Text(0, "id of the session")
	return waiting(err, func() (any, error) { return nil, p.engine.DeleteSession(id) })
}

func (p *page) exportSession(bridge.Args) (any, bridge.Later, error) {
	b, err := p.engine.ExportSession()
	if err != nil {
		return nil, nil, err
	}
	return bridge.Bytes(b), nil, nil
}

func (p *page) importSession(a bridge.Args) (any, bridge.Later, error) {
	b, err := a.Bytes(0, "file")
	here := extractor(a.Value(1))
	return waiting(err, func() (any, error) {
		id, notice, err := p.engine.ImportSession(b, here)
		return map[string]any{"id": id, "notice": notice}, err
	})
}

func (p *page) usePrior(a bridge.Args) (any, bridge.Later, error) {
	source := a.Value(0)
	if source.Type() != js.TypeObject {
		source = js.Global().Get("Object").New()
	}
	fields := bridge.Args{source.Get("url"), source.Get("sha256")}
	url, err := fields.Text(0, "address of the prior")
	if err != nil {
		return nil, nil, err
	}
	sum, err := fields.Text(1, "sha256 of the prior")
	return waiting(err, func() (any, error) { return nil, p.engine.UsePrior(url, sum) })
}

func (p *page) importPrior(a bridge.Args) (any, bridge.Later, error) {
	b, err := a.Bytes(0, "file")
	here := extractor(a.Value(1))
	return waiting(err, func() (any, error) {
		token, notice, err := p.engine.ImportPrior(b, here)
		return map[string]any{"undo": token, "notice": notice}, err
	})
}

// extractor returns the identity in an object {id, sha256}; what is missing stays
// empty.
func extractor(v js.Value) model.Extractor {
	if v.Type() != js.TypeObject {
		return model.Extractor{}
	}
	text := func(name string) string {
		if f := v.Get(name); f.Type() == js.TypeString {
			return f.String()
		}
		return ""
	}
	return model.Extractor{ID: text("id"), SHA256: text("sha256")}
}

func (p *page) exportPrior(bridge.Args) (any, bridge.Later, error) {
	return later(func() (any, error) {
		b, err := p.engine.ExportPrior()
		if err != nil {
			return nil, err
		}
		return bridge.Bytes(b), nil
	})
}

func (p *page) useExtractor(a bridge.Args) (any, bridge.Later, error) {
	return nil, nil, p.engine.UseExtractor(extractor(a.Value(0)))
}

// trainingInput returns what a trainer needs to learn on the open session.
func (p *page) trainingInput(bridge.Args) (any, bridge.Later, error) {
	if err := p.engine.CheckExtractor(); err != nil {
		return nil, nil, err
	}
	classifier, err := p.engine.ExportSession()
	return waiting(err, func() (any, error) {
		prior, err := p.engine.LearnedPrior()
		if err != nil {
			return nil, err
		}
		input := map[string]any{"session": p.engine.State().SessionID, "classifier": bridge.Bytes(classifier), "prior": nil}
		if prior != nil {
			input["prior"] = bridge.Bytes(prior)
		}
		return input, nil
	})
}

func (p *page) resetPrior(bridge.Args) (any, bridge.Later, error) {
	token, err := p.engine.ResetPrior()
	return p.stored(undoable(token), err)
}

// waiting runs f in its own time unless the arguments were wrong.
func waiting(err error, f bridge.Later) (any, bridge.Later, error) {
	if err != nil {
		return nil, nil, err
	}
	return nil, f, nil
}
