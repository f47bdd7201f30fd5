package main

import (
	"syscall/js"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/exports"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

// page is the engine of a window, with its methods for JavaScript.
type page struct {
	*engine.Engine
	database string
	marks    js.Value    // of web/engine/marks.js
	isPage   bool        // the role is page, not storage: it has a view, and asks the browser to keep the data
	changed  js.Value    // function of web/engine/index.js
	channel  js.Value    // to the other tabs; undefined where there is none
	keeps    persistence // of the data, by the browser
}

// startPage opens the store and the last session and returns the object for
// JavaScript.
func startPage(database string, given js.Value, isPage bool) js.Value {
	p := &page{database: database, marks: given.Get("marks"), changed: given.Get("changed"), isPage: isPage}
	p.Engine = newEngine(p)
	exports.Current = exports.Session{Ask: p.Ask, Change: p.Change}
	p.connectTabs()
	p.follow(engine.Note{}) // what came before there was a channel
	if document := js.Global().Get("document"); document.Truthy() {
		document.Call("addEventListener", "visibilitychange", js.FuncOf(func(js.Value, []js.Value) any {
			if !document.Get("hidden").Bool() { // a tab that was frozen may have missed notes
				p.follow(engine.Note{})
			}
			return nil
		}))
	}
	p.keeps.call("persisted", p.emit)
	api := bridge.Object(p.methods())
	api.Set("bounds", map[string]any{"none": metaqda.NoneFrom, "sure": metaqda.SureFrom})
	return api
}

type args = bridge.Args

// methods returns the methods that web/engine/contract.js describes. Those of stored return when their
// change is stored.
func (p *page) methods() map[string]bridge.Method {
	return map[string]bridge.Method{
		"state":   func(*args) (any, error) { return p.state(), nil },
		"changes": func(a *args) (any, error) { return p.changes(a.Number("revision")), nil },
		"thumbnails": func(a *args) (any, error) {
			var ids []string
			a.List("ids of pictures", func(each *args) { ids = append(ids, each.Text("ids of pictures")) })
			return p.Thumbnails(ids)
		},

		"kept":       p.kept,
		"forgetUndo": p.stored(func(*args) (any, error) { p.ForgetUndo(); return nil, nil }),
		"beginStep": func(a *args) (any, error) {
			id := ""
			if a.Has() {
				id = a.Text("id of the step")
			}
			p.Begin(id)
			return nil, nil
		},
		"endStep": p.stored(func(*args) (any, error) { return undoToken(p.End(), nil) }),
		"order":   p.stored(func(a *args) (any, error) { return nil, p.Order(a.Text("order")) }),

		"ready": func(*args) (any, error) { p.PrepareAll(); return nil, nil },
		"show": func(a *args) (any, error) {
			x := embedding(a)
			p.PrepareAll()
			answer, err := p.Show(x)
			return parsed(prediction(answer)), err
		},
		"frame": func(a *args) (any, error) {
			x, perHour := embedding(a), 0.0
			if a.Has() {
				perHour = a.Number("false events an hour")
			}
			p.PrepareAll()
			live, err := p.ShowFrame(x, perHour)
			if err != nil {
				return nil, err
			}
			return parsed(frame(live)), nil
		},

		"sessions": p.sessions,
		"newSession": func(a *args) (any, error) {
			id, err := p.NewSession(a.Text("name of the session"))
			return map[string]any{"id": id}, err
		},
		"openSession":   func(a *args) (any, error) { return nil, p.OpenSession(a.Text("id of the session")) },
		"deleteSession": func(a *args) (any, error) { return nil, p.DeleteSession(a.Text("id of the session")) },
		"renameSession": func(a *args) (any, error) {
			return nil, p.RenameSession(a.Text("id of the session"), a.Text("name of the session"))
		},
		"saveSession":   func(*args) (any, error) { return p.SaveSession() },
		"sharedSession": func(a *args) (any, error) { return p.SharedFile(a.Flag("options", "pictures")) },
		"damaged":       func(*args) (any, error) { return p.Damaged() },
		"importSession": func(a *args) (any, error) {
			id, notice, err := p.ImportSession(a.Bytes("file"), a.Extractor("identity of the extractor"))
			return map[string]any{"id": id, "notice": notice}, err
		},

		"usePrior": func(a *args) (any, error) {
			url, sum := a.Texts("prior", "url", "sha256")
			if url == "" || sum == "" {
				return nil, &metaqda.Error{Code: "argument", Message: "The prior must have a url and a sha256: correct the call."}
			}
			return nil, p.UsePrior(url, sum)
		},
		"importPrior": func(a *args) (any, error) {
			undo, notice, err := p.ImportPrior(a.Bytes("file"), a.Extractor("identity of the extractor"))
			return map[string]any{"undo": undo, "notice": notice}, err
		},
		"exportPrior": func(*args) (any, error) { return p.ExportPrior() },
		"resetPrior":  p.stored(func(*args) (any, error) { return undoToken(p.ResetPrior()) }),
		"useExtractor": func(a *args) (any, error) {
			return nil, p.UseExtractor(a.Extractor("identity of the extractor"), false)
		},
		"chooseExtractor": p.stored(func(a *args) (any, error) { return nil, p.UseExtractor(a.Extractor("identity of the extractor"), true) }),

		"otherSessions": func(*args) (any, error) { return p.OtherSessions() },
		"learnedPrior":  func(*args) (any, error) { return p.LearnedPrior() },
	}
}

// undoToken returns the id of a step for undo.
func undoToken(token string, err error) (any, error) { return map[string]any{"undo": token}, err }

// embedding reads an embedding that may be missing.
func embedding(a *args) (x []float32) {
	if a.Has() {
		x = a.Embedding("embedding")
	}
	return x
}

// kept waits until the latest changes are stored. These are the changes that calls of
// metaqda/wasm/exports made since the last call of kept. It returns the id of the last undo step. It
// fails if the changes were refused because another tab was quicker.
func (p *page) kept(*args) (any, error) {
	last := p.Recent()
	answer := map[string]any{"undo": last.Undo}
	if last.Number == last.Before {
		return answer, nil
	}
	if p.isPage && last.Taught {
		p.keeps.ask(p.emit)
	}
	return answer, p.Kept(last.Before, last.Number)
}

// stored makes a method that changes something. The method returns once the change is stored. It fails
// if the change was refused because another tab was quicker.
func (p *page) stored(m bridge.Method) bridge.Method {
	return func(a *args) (any, error) {
		if err := p.Gone(); err != nil {
			return nil, err
		}
		before := p.LastChange()
		result, err := m(a)
		number := p.LastChange()
		if err != nil || number == before {
			return result, err
		}
		return result, p.Kept(before, number)
	}
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
	if p.isPage {
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

// emit tells JavaScript that the state has changed. The engine may be locked, so JavaScript must not
// call it back at once.
func (p *page) emit() { p.changed.Invoke() }

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

func (p *page) sessions(*args) (any, error) {
	all, err := p.Sessions()
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = map[string]any{"id": s.ID, "name": s.Name, "created": float64(s.Created), "updated": float64(s.Updated), "saved": float64(s.Saved), "classes": s.Classes, "examples": s.Examples, "extractor": s.Extractor.SHA256}
	}
	return list, err
}
