package main

import (
	"encoding/json"
	"errors"
	"sync"
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

// page is the engine of a window with what JavaScript sees of it.
type page struct {
	*engine.Engine
	database  string
	reader    js.Value              // see [store.Open]
	marks     js.Value              // of web/engine/marks.js
	alone     bool                  // whether this is the page: it has a view, and asks the browser to keep the data
	listeners map[string][]js.Value // by event
	channel   js.Value              // to the other tabs; undefined where there is none
	notes     chan struct{}         // there are some to follow
	mu        sync.Mutex            // what follows
	inbox     []engine.Note
	promise   persistence
}

// startPage opens the store and the last session and returns the object for
// JavaScript.
func startPage(database string, given js.Value, alone bool) js.Value {
	p := &page{database: database, reader: given.Get("reader"), marks: given.Get("marks"), alone: alone, listeners: map[string][]js.Value{}, notes: make(chan struct{}, 1)}
	p.Engine = newEngine(p)
	p.connectTabs()
	p.promise.look(func() { p.emit("change") })
	direct.Answer(checked{p.Engine})
	api := js.ValueOf(map[string]any{"simd": simd.Available()})
	for name, m := range p.methods() {
		api.Set(name, bridge.Func(m))
	}
	return api
}

// Kinds of arguments that several methods take.
var (
	className   = bridge.Text("name of the class")
	classID     = bridge.Text("id of the class")
	sessionName = bridge.Text("name of the session")
	sessionID   = bridge.Text("id of the session")
	exampleID   = bridge.Text("id of the picture")
	embedding   = bridge.Embedding("embedding")
	file        = bridge.Bytes("file")
)

// methods are those that web/engine/contract.js describes. They answer at once, or once what
// they changed is stored, or after waiting for storage or network.
func (p *page) methods() map[string]bridge.Method {
	atOnce, stored, waiting, ready := bridge.AtOnce, p.stored, bridge.Waiting, p.ready
	return map[string]bridge.Method{
		"state":   atOnce(bridge.Take0(func() (any, error) { return parsed(p.stateOf(p.State())), nil })),
		"changes": atOnce(bridge.Take1(bridge.Number("revision"), p.changes)),
		"on":      atOnce(bridge.Take2(bridge.Text("event"), bridge.Function("listener"), p.on)),

		"thumbnails": waiting(bridge.Take2(classID, bridge.List("ids of pictures", exampleID), p.thumbnails)),

		"addClass":      stored(bridge.Take1(className, p.addClass)),
		"renameClass":   stored(bridge.Take2(classID, className, nothing2(p.RenameClass))),
		"removeClass":   stored(bridge.Take1(classID, undoable1(p.RemoveClass))),
		"mergeClasses":  stored(bridge.Take2(classID, bridge.Text("id of the other class"), undoable2(p.MergeClasses))),
		"addExample":    stored(bridge.Take4(classID, embedding, bridge.Optional(bridge.Bytes("thumbnail")), bridge.Optional(bridge.Text("group")), p.addExample)),
		"holding":       atOnce(bridge.Take1(exampleID, func(id string) (any, error) { return map[string]any{"class": p.Holding(id)}, nil })),
		"removeExample": stored(bridge.Take2(classID, exampleID, undoable2(p.RemoveExample))),
		"moveExample":   stored(bridge.Take3(classID, exampleID, bridge.Text("id of the other class"), p.moveExample)),
		"undo":          stored(bridge.Take1(bridge.Optional(bridge.Text("undo token")), func(token string) (any, error) { return nameOf(p.Undo(token)) })),
		"redo":          stored(bridge.Take0(func() (any, error) { return nameOf(p.Redo()) })),
		"forgetUndo":    stored(bridge.Take0(func() (any, error) { p.ForgetUndo(); return nil, nil })),
		"beginStep":     atOnce(bridge.Take0(func() (any, error) { p.Begin(); return nil, nil })),
		"endStep":       stored(bridge.Take0(func() (any, error) { p.End(); return nil, nil })),
		"label":         atOnce(bridge.Take1(className, p.label)),
		"configure":     stored(bridge.Take1(bridge.JSON[engine.Change]("settings"), nothing1(p.Configure))),

		"recognise":     ready(bridge.Take1(bridge.Optional(embedding), named(p.Recognise))),
		"probabilities": ready(bridge.Take1(embedding, named(p.Probabilities))),
		"nearest":       ready(bridge.Take2(embedding, bridge.Number("number of pictures"), p.nearest)),
		"leaveOut":      ready(bridge.Take1(bridge.Number("number of the example"), p.leaveOut)),

		"sessions":      waiting(bridge.Take0(p.sessions)),
		"newSession":    waiting(bridge.Take1(sessionName, p.newSession)),
		"openSession":   waiting(bridge.Take1(sessionID, nothing1(p.OpenSession))),
		"renameSession": waiting(bridge.Take2(sessionID, sessionName, nothing2(p.RenameSession))),
		"deleteSession": waiting(bridge.Take1(sessionID, nothing1(p.DeleteSession))),
		"exportSession": p.exported,
		"sharedSession": waiting(bridge.Take1(bridge.JSON[struct{ Pictures bool }]("options"), p.sharedSession)),
		"plainSession":  atOnce(bridge.Take0(array(p.PlainFile))),
		"damaged":       waiting(bridge.Take0(array(p.Damaged))),
		"importSession": waiting(bridge.Take2(file, identity, p.importSession)),

		"usePrior":     waiting(bridge.Take1(source, p.usePrior)),
		"importPrior":  waiting(bridge.Take2(file, identity, p.importPrior)),
		"exportPrior":  waiting(bridge.Take0(array(p.ExportPrior))),
		"resetPrior":   stored(bridge.Take0(func() (any, error) { return undoable(p.ResetPrior()) })),
		"useExtractor": atOnce(bridge.Take1(identity, nothing1(p.UseExtractor))),

		"learningInput": waiting(bridge.Take0(p.learningInput)),
		"judgingInput":  waiting(bridge.Take0(p.judgingInput)),
	}
}

// stored is a method that changes something at once and answers once that is
// stored, or refused because another tab was quicker.
func (p *page) stored(d bridge.Decoder) bridge.Method {
	atOnce := bridge.AtOnce(d)
	return func(args []js.Value) (any, bridge.Later, error) {
		if err := p.Gone(); err != nil {
			return nil, nil, err
		}
		before := p.Noted()
		result, _, err := atOnce(args)
		if err != nil {
			return nil, nil, err
		}
		number := p.Noted()
		return nil, func() (any, error) {
			if number == before {
				return result, nil
			}
			return result, p.Kept(before, number)
		}, nil
	}
}

// ready is a method that answers at once, or once the classifier knows all pictures.
func (p *page) ready(d bridge.Decoder) bridge.Method {
	return func(args []js.Value) (any, bridge.Later, error) {
		call, err := d(args)
		if err != nil {
			return nil, nil, err
		}
		if p.Ready() {
			result, err := call()
			return result, nil, err
		}
		return nil, func() (any, error) {
			p.Await()
			return call()
		}, nil
	}
}

// The following make of methods of the engine what bridge.Take0 to Take3 want.

func nothing1[A any](f func(A) error) func(A) (any, error) {
	return func(a A) (any, error) { return nil, f(a) }
}

func nothing2[A, B any](f func(A, B) error) func(A, B) (any, error) {
	return func(a A, b B) (any, error) { return nil, f(a, b) }
}

func undoable(token string, err error) (any, error) { return map[string]any{"undo": token}, err }

func undoable1[A any](f func(A) (string, error)) func(A) (any, error) {
	return func(a A) (any, error) { return undoable(f(a)) }
}

func undoable2[A, B any](f func(A, B) (string, error)) func(A, B) (any, error) {
	return func(a A, b B) (any, error) { return undoable(f(a, b)) }
}

func (p *page) moveExample(class, example, to string) (any, error) {
	return undoable(p.MoveExample(class, example, to))
}

func nameOf(name string, err error) (any, error) { return map[string]any{"name": name}, err }

func (p *page) label(name string) (any, error) {
	label, class, err := p.Label(name)
	return map[string]any{"name": label, "class": class}, err
}

func array(f func() ([]byte, error)) func() (any, error) {
	return func() (any, error) {
		b, err := f()
		if err != nil {
			return nil, err
		}
		return bridge.Array(b), nil
	}
}

func named(ask func([]float32) (*engine.Prediction, error)) func([]float32) (any, error) {
	return func(x []float32) (any, error) {
		p, err := ask(x)
		if p == nil {
			return nil, err
		}
		return parsed(p), nil
	}
}

// identity is that of an extractor, {id, sha256}; what is missing stays empty.
func identity(v js.Value) (x model.Extractor, err error) {
	text := bridge.Or(bridge.Text("identity of the extractor"))
	x.ID, _ = bridge.Field(v, "id", text)
	x.SHA256, _ = bridge.Field(v, "sha256", text)
	return x, nil
}

// source is where a prior comes from and what it must be: {url, sha256}.
func source(v js.Value) (s struct{ url, sum string }, err error) {
	if s.url, err = bridge.Field(v, "url", bridge.Text("address of the prior")); err == nil {
		s.sum, err = bridge.Field(v, "sha256", bridge.Text("sha256 of the prior"))
	}
	return s, err
}

// checked is the engine for package direct, whose numbers nobody has looked at.
type checked struct{ *engine.Engine }

// errNotReady sends a question the ordinary way, which waits.
var errNotReady = errors.New("metaqda: not ready")

func (c checked) Ask(x []float32, show bool) ([]float64, error) {
	if err := engine.CheckEmbedding(x); err != nil {
		return nil, err
	}
	if !c.Ready() {
		return nil, errNotReady
	}
	return c.Engine.Ask(x, show)
}

// newEngine starts an engine on IndexedDB, or in memory where that fails.
func newEngine(p *page) *engine.Engine {
	hooks := engine.Hooks{
		Changed: func() { p.emit("change") },
		Stored:  p.tellTabs,
		Stale:   p.follow,
		Fetch:   bridge.Fetch,
		Now:     time.Now,
		Later:   func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		Breathe: bridge.Breathe,
		Marks:   p.allMarks,
		Mark:    func(id, mark string) { p.marks.Call("set", id, mark) },
	}
	if p.alone {
		if d := view.NewDOM(); d != nil {
			hooks.Show = d.Show
		}
	}
	var trouble error
	var e *engine.Engine
	if db, err := store.Open(p.database, p.reader, func() { e.Lose() }); err != nil {
		trouble = err
	} else {
		e = engine.New(db, "", hooks)
		if trouble = e.Start(); trouble == nil {
			return e
		}
	}
	e = engine.New(store.NewMemory(), engine.Explain(trouble).Message, hooks)
	if err := e.Start(); err != nil {
		panic("metaqda: a session cannot be opened in memory: " + err.Error())
	}
	return e
}

// allMarks waits for what is noted, which is nothing where there is no place for it.
func (p *page) allMarks() string {
	v, err := bridge.Await(p.marks.Call("all"))
	if err != nil {
		return ""
	}
	return v.String()
}

func (p *page) on(event string, listener js.Value) (any, error) {
	p.listeners[event] = append(p.listeners[event], listener)
	return nil, nil
}

// emit calls the listeners of an event. What they throw is reported, as for
// events of the DOM, and stops nothing.
func (p *page) emit(event string) {
	for _, f := range p.listeners[event] {
		js.Global().Call("queueMicrotask", f)
	}
}

// connectTabs listens for what other tabs have stored: they call each other on a channel
// of the database's name.
func (p *page) connectTabs() {
	go p.catchUp()
	p.channel = js.Undefined()
	constructor := js.Global().Get("BroadcastChannel")
	if !constructor.Truthy() {
		return
	}
	p.channel = constructor.New(p.database)
	if unref := p.channel.Get("unref"); unref.Type() == js.TypeFunction {
		p.channel.Call("unref") // in Node.js it would keep the process alive
	}
	p.channel.Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var n engine.Note
		if v := args[0].Get("data"); v.Type() == js.TypeString && json.Unmarshal([]byte(v.String()), &n) == nil {
			p.follow(n)
		}
		return nil
	}))
}

// follow has a note followed, in the order they come.
func (p *page) follow(n engine.Note) {
	p.mu.Lock()
	p.inbox = append(p.inbox, n)
	p.mu.Unlock()
	select {
	case p.notes <- struct{}{}:
	default:
	}
}

func (p *page) catchUp() {
	for range p.notes {
		p.mu.Lock()
		notes := p.inbox
		p.inbox = nil
		p.mu.Unlock()
		for _, n := range joined(notes) {
			// An error means that the store is gone: what is here stays, and the
			// next change here will say so.
			_ = p.Follow(n)
		}
	}
}

// joined makes one of successive notes on a session.
func joined(notes []engine.Note) (all []engine.Note) {
	for _, n := range notes {
		if last := len(all) - 1; last >= 0 && all[last].Session == n.Session {
			all[last].Head, all[last].Anew = all[last].Head || n.Head, all[last].Anew || n.Anew
			all[last].Classes = append(all[last].Classes, n.Classes...)
			all[last].Examples = append(all[last].Examples, n.Examples...)
		} else {
			all = append(all, n)
		}
	}
	return all
}

// tellTabs sends a note as JSON: so that what arrives can be checked as a whole.
func (p *page) tellTabs(n engine.Note) {
	if !p.channel.Truthy() {
		return
	}
	if b, err := json.Marshal(n); err == nil {
		p.channel.Call("postMessage", string(b))
	}
}

func (p *page) addClass(name string) (any, error) {
	id, name, err := p.AddClass(name)
	return map[string]any{"id": id, "name": name}, err
}

func (p *page) addExample(class string, x []float32, thumbnail []byte, group string) (any, error) {
	id, err := p.AddExampleOf(class, group, x, thumbnail)
	if err == nil && p.alone {
		p.promise.ask(func() { p.emit("change") })
	}
	return map[string]any{"id": id}, err
}

func (p *page) sessions() (any, error) {
	all, err := p.Sessions()
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = map[string]any{"id": s.ID, "name": s.Name, "created": float64(s.Created), "updated": float64(s.Updated), "saved": float64(s.Saved), "classes": s.Classes, "examples": s.Examples}
	}
	return list, err
}

func (p *page) nearest(x []float32, n float64) (any, error) {
	all, err := p.Nearest(x, int(n))
	if err != nil {
		return nil, err
	}
	return parsed(all), nil
}

func (p *page) leaveOut(i float64) (any, error) {
	t, err := p.LeaveOut(int(i))
	if t == nil || err != nil {
		return nil, err
	}
	return parsed(t), nil
}

func (p *page) newSession(name string) (any, error) {
	id, err := p.NewSession(name)
	return map[string]any{"id": id}, err
}

func (p *page) importSession(b []byte, here model.Extractor) (any, error) {
	id, notice, err := p.ImportSession(b, here)
	return map[string]any{"id": id, "notice": notice}, err
}

// exported is the method that returns the file of the session that is open when it is
// called, and notes once it is written that it was saved.
func (p *page) exported([]js.Value) (any, bridge.Later, error) {
	id, write := p.Export(true)
	return nil, func() (any, error) {
		b, err := write()
		if err != nil {
			return nil, err
		}
		p.NoteSaved(id)
		p.Flush()
		return bridge.SlowArray(b), nil
	}, nil
}

func (p *page) sharedSession(o struct{ Pictures bool }) (any, error) {
	b, err := p.SharedFile(o.Pictures)
	if err != nil {
		return nil, err
	}
	return bridge.SlowArray(b), nil
}

func (p *page) usePrior(s struct{ url, sum string }) (any, error) {
	return nil, p.UsePrior(s.url, s.sum)
}

func (p *page) importPrior(b []byte, here model.Extractor) (any, error) {
	token, notice, err := p.ImportPrior(b, here)
	return map[string]any{"undo": token, "notice": notice}, err
}

// learningInput returns what it takes to learn from the other sessions for the open one.
func (p *page) learningInput() (any, error) {
	if err := p.CheckExtractor(); err != nil {
		return nil, err
	}
	files, err := p.OtherSessions()
	if err != nil {
		return nil, err
	}
	prior, err := p.LearnedPrior()
	if err != nil {
		return nil, err
	}
	sessions := make([]any, len(files))
	for i, b := range files {
		sessions[i] = bridge.Array(b)
	}
	input := map[string]any{"sessions": sessions, "prior": nil}
	if prior != nil {
		input["prior"] = bridge.Array(prior)
	}
	return input, nil
}

// judgingInput returns what a judge needs to answer by the open session. Nothing of that
// outlasts the judge, so nothing is noted.
func (p *page) judgingInput() (any, error) {
	if err := p.CheckExtractor(); err != nil {
		return nil, err
	}
	return p.input()
}

// input returns the open session, without its pictures, and its prior as files, null for
// one made by hand.
func (p *page) input() (map[string]any, error) {
	classifier, err := p.SharedFile(false)
	if err != nil {
		return nil, err
	}
	prior, err := p.LearnedPrior()
	if err != nil {
		return nil, err
	}
	input := map[string]any{"classifier": bridge.SlowArray(classifier), "prior": nil}
	if prior != nil {
		input["prior"] = bridge.Array(prior)
	}
	return input, nil
}
