package main

import (
	"slices"
	"syscall/js"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/core/model"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/exports"
	"metaqda/wasm/log"
	"metaqda/wasm/simd"
	"metaqda/wasm/view"
)

// page is the engine of a window, with its methods for JavaScript.
type page struct {
	*engine.Engine
	database  string
	marks     js.Value   // of web/engine/marks.js
	alone     bool       // the role is page, not storage: it has a view, and asks the browser to keep the data
	first     js.Value   // listener of the event changing: it is called at once
	listeners []js.Value // of the event change
	channel   js.Value   // to the other tabs; undefined where there is none
	promise   persistence
}

// startPage opens the store and the last session and returns the object for
// JavaScript.
func startPage(database string, given js.Value, alone bool) js.Value {
	p := &page{database: database, marks: given.Get("marks"), alone: alone}
	p.Engine = newEngine(p)
	exports.Open = exports.Session{Ask: p.Ask, Change: p.Change}
	p.connectTabs()
	p.promise.call("persisted", p.emit)
	api := bridge.Object(p.methods())
	api.Set("simd", simd.Available())
	api.Set("bounds", map[string]any{"none": metaqda.NoneFrom, "sure": metaqda.SureFrom})
	return api
}

type (
	args = bridge.Args
	call = bridge.Call
)

// methods returns the methods that web/engine/contract.js describes. Some return at once. Others
// return when their change is stored. The rest wait for storage or the network.
func (p *page) methods() map[string]bridge.Method {
	atOnce, stored, waiting, ready := bridge.AtOnce, p.stored, bridge.Waiting, p.ready
	return map[string]bridge.Method{
		"state": atOnce(gives(func() (any, error) { return p.state(), nil })),
		"changes": atOnce(func(a *args) call {
			since := a.Number("revision")
			return func() (any, error) { return p.changes(since), nil }
		}),
		"on": atOnce(func(a *args) call {
			event, listener := a.Text("event"), a.Function("listener")
			return does(func() error { return p.on(event, listener) })
		}),
		"off": atOnce(func(a *args) call {
			event, listener := a.Text("event"), a.Function("listener")
			return does(func() error { return p.off(event, listener) })
		}),

		"thumbnails": waiting(func(a *args) call {
			var ids []string
			a.List("ids of pictures", func(each *args) { ids = append(ids, each.Text("ids of pictures")) })
			return func() (any, error) { return p.Thumbnails(ids) }
		}),

		"kept":       p.kept,
		"forgetUndo": stored(gives(func() (any, error) { p.ForgetUndo(); return nil, nil })),
		"beginStep": atOnce(func(a *args) call {
			id := ""
			if a.Has() {
				id = a.Text("id of the step")
			}
			return does(func() error { p.Begin(id); return nil })
		}),
		"endStep": stored(gives(func() (any, error) { return undone(p.End()) })),
		"order":   stored(func(a *args) call { order := a.Text("order"); return does(func() error { return p.Order(order) }) }),

		"ready": ready(gives(func() (any, error) { return nil, nil })),
		"show": ready(func(a *args) call {
			x := embedding(a)
			return func() (any, error) { answer, err := p.Show(x); return bridge.Parsed(answer.JSON()), err }
		}),
		"frame": ready(func(a *args) call {
			x, perHour := embedding(a), 0.0
			if a.Has() {
				perHour = a.Number("false events an hour")
			}
			return func() (any, error) {
				live, err := p.ShowFrame(x, perHour)
				if err != nil {
					return nil, err
				}
				return bridge.Parsed(live.JSON()), nil
			}
		}),

		"sessions": waiting(gives(p.sessions)),
		"newSession": waiting(func(a *args) call {
			name := a.Text("name of the session")
			return func() (any, error) { id, err := p.NewSession(name); return map[string]any{"id": id}, err }
		}),
		"openSession":   waiting(ofSession(p.OpenSession)),
		"deleteSession": waiting(ofSession(p.DeleteSession)),
		"renameSession": waiting(func(a *args) call {
			id, name := a.Text("id of the session"), a.Text("name of the session")
			return does(func() error { return p.RenameSession(id, name) })
		}),
		"saveSession": p.saved,
		"sharedSession": waiting(func(a *args) call {
			pictures := a.Flag("options", "pictures")
			return func() (any, error) { return slowArray(p.SharedFile(pictures)) }
		}),
		"damaged":       waiting(gives(func() (any, error) { return p.Damaged() })),
		"importSession": waiting(imports("id", p.ImportSession)),

		"usePrior": waiting(func(a *args) call {
			url, sum := a.Texts("prior", "url", "sha256")
			return does(func() error {
				if url == "" || sum == "" {
					return &engine.Error{Code: "argument", Message: "The prior must have a url and a sha256: correct the call."}
				}
				return p.UsePrior(url, sum)
			})
		}),
		"importPrior":     waiting(imports("undo", p.ImportPrior)),
		"exportPrior":     waiting(gives(func() (any, error) { return p.ExportPrior() })),
		"resetPrior":      stored(gives(func() (any, error) { return undone(p.ResetPrior()) })),
		"useExtractor":    atOnce(p.extractor(false)),
		"chooseExtractor": stored(p.extractor(true)),

		"otherSessions": waiting(gives(func() (any, error) { return p.OtherSessions() })),
		"learnedPrior":  waiting(gives(func() (any, error) { return p.LearnedPrior() })),
	}
}

// gives returns the decoder of a method without arguments.
func gives(f call) bridge.Decoder { return func(*args) call { return f } }

// does returns a call without a result.
func does(f func() error) call { return func() (any, error) { return nil, f() } }

func undone(token string, err error) (any, error) { return map[string]any{"undo": token}, err }

// embedding reads an embedding that may be missing.
func embedding(a *args) (x []float32) {
	if a.Has() {
		x = a.Embedding("embedding")
	}
	return x
}

func ofSession(f func(id string) error) bridge.Decoder {
	return func(a *args) call { id := a.Text("id of the session"); return does(func() error { return f(id) }) }
}

func (p *page) extractor(chosen bool) bridge.Decoder {
	return func(a *args) call {
		x := a.Extractor("identity of the extractor")
		return does(func() error { return p.UseExtractor(x, chosen) })
	}
}

// imports returns the decoder of a method that reads a file. name is the field of the first result of f.
func imports(name string, f func([]byte, model.Extractor) (string, string, error)) bridge.Decoder {
	return func(a *args) call {
		file, here := a.Bytes("file"), a.Extractor("identity of the extractor")
		return func() (any, error) {
			made, notice, err := f(file, here)
			return map[string]any{name: made, "notice": notice}, err
		}
	}
}

// kept is the method that waits until the latest changes are stored. These are the changes that calls
// of metaqda/wasm/exports made since the last call of kept. It returns the id of the last undo step. It
// fails if the changes were refused because another tab was quicker.
func (p *page) kept([]js.Value) (any, bridge.Call, error) {
	last := p.Changed()
	answer := map[string]any{"undo": last.Undo}
	if last.Number == last.Before {
		return answer, nil, nil
	}
	if p.alone && last.Taught {
		p.promise.ask(p.emit)
	}
	return nil, func() (any, error) { return answer, p.Kept(last.Before, last.Number) }, nil
}

// stored makes a method that changes something at once. The method returns once the change is stored.
// It fails if the change was refused because another tab was quicker.
func (p *page) stored(d bridge.Decoder) bridge.Method {
	return d.Then(func(call bridge.Call) (any, bridge.Call, error) {
		if err := p.Gone(); err != nil {
			return nil, nil, err
		}
		before := p.Noted()
		result, err := call()
		number := p.Noted()
		if err != nil || number == before {
			return result, nil, err
		}
		return nil, func() (any, error) { return result, p.Kept(before, number) }, nil
	})
}

// ready makes a method that waits until all pictures are enrolled. If they are, it returns at once.
func (p *page) ready(d bridge.Decoder) bridge.Method {
	return d.Then(func(call bridge.Call) (any, bridge.Call, error) {
		if p.Ready() {
			result, err := call()
			return result, nil, err
		}
		return nil, func() (any, error) {
			p.Await()
			return call()
		}, nil
	})
}

// newEngine starts an engine on IndexedDB, or in memory if IndexedDB fails.
func newEngine(p *page) *engine.Engine {
	hooks := engine.Hooks{
		Changed: p.emit,
		Stored:  p.tellTabs,
		Stale:   p.follow,
		Fetch:   bridge.Fetch,
		Now:     time.Now,
		Later:   func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		Yield:   bridge.Yield,
		Marks:   p.allMarks,
		Mark:    func(id, mark string) { p.marks.Call("set", id, mark) },
	}
	if p.alone {
		if d := view.NewDOM(); d != nil {
			hooks.Show = d.Show
		}
	}
	var e *engine.Engine
	db, trouble := log.OpenDB(p.database, func() { e.Lose() })
	if trouble == nil {
		e = engine.New(db, "", hooks)
		if trouble = e.Start(); trouble == nil {
			return e
		}
	}
	hooks.Marks, hooks.Mark = nil, nil // by their marks, sessions that cannot be read now would be reported as lost
	e = engine.New(log.NewMemory(), engine.Explain(trouble).Message, hooks)
	if err := e.Start(); err != nil {
		panic("metaqda: a session cannot be opened in memory: " + err.Error())
	}
	return e
}

// allMarks waits for the marks of all sessions. It returns an empty text if they cannot be read.
func (p *page) allMarks() string {
	v, err := bridge.Await(p.marks.Call("all"))
	if err != nil {
		return ""
	}
	return v.String()
}

func (p *page) on(event string, listener js.Value) error {
	switch event {
	case "change":
		p.listeners = append(p.listeners, listener)
	case "changing":
		p.first = listener
	default:
		return noEvent(event)
	}
	return nil
}

// off forgets a listener of the event change.
func (p *page) off(event string, listener js.Value) error {
	if event != "change" {
		return noEvent(event)
	}
	p.listeners = slices.DeleteFunc(p.listeners, listener.Equal)
	return nil
}

func noEvent(event string) error {
	return &engine.Error{Code: "argument", Message: "There is no event “" + event + "”: listen for change."}
}

// emit calls the listener of the event changing at once, and each listener of change in a microtask.
// There, an error of one listener is reported and does not stop the others. The listener of changing
// must only record that the state has changed.
func (p *page) emit() {
	if p.first.Truthy() {
		p.first.Invoke()
	}
	for _, f := range p.listeners {
		js.Global().Call("queueMicrotask", f)
	}
}

// connectTabs listens for notes about steps that other tabs have stored. Tabs send notes on a
// channel with the name of the database.
func (p *page) connectTabs() {
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
		if v := args[0].Get("data"); v.Type() == js.TypeString && json.Read([]byte(v.String()), n.Code) {
			p.follow(n)
		}
		return nil
	}))
}

// follow applies the steps that a note is about. An error means that the store is gone. The session
// stays in this tab, and the next change reports the error.
func (p *page) follow(n engine.Note) { go func() { _ = p.Follow(n) }() }

// tellTabs sends a note as one JSON text. The other tab can check such a text as a whole.
func (p *page) tellTabs(n engine.Note) {
	if !p.channel.Truthy() {
		return
	}
	p.channel.Call("postMessage", json.Text(n.Code))
}

func (p *page) sessions() (any, error) {
	all, err := p.Sessions()
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = map[string]any{"id": s.ID, "name": s.Name, "created": float64(s.Created), "updated": float64(s.Updated), "saved": float64(s.Saved), "classes": s.Classes, "examples": s.Examples, "extractor": s.Extractor.SHA256}
	}
	return list, err
}

// saved is the method that returns the file of the open session, as the session is at the call.
func (p *page) saved([]js.Value) (any, bridge.Call, error) {
	write := p.SaveSession()
	return nil, func() (any, error) { return slowArray(write()) }, nil
}

func slowArray(b []byte, err error) (any, error) { return bridge.SlowArray(b), err }
