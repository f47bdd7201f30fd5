package main

import (
	"syscall/js"

	"metaqda/wasm/bridge"
)

// persistence says whether the browser has promised to keep what is stored here. Otherwise it
// may clear it when the device runs out of room, or after a while without a visit.
type persistence struct {
	answer string // "yes", "no", or empty while nobody has asked
	asked  bool
}

// ask asks for the promise, once, when there is something worth keeping: a browser may
// put the question to the person.
func (p *persistence) ask(told func()) {
	if p.asked || p.answer == "yes" {
		return
	}
	p.asked = true
	p.call("persist", told)
}

// call calls a method of navigator.storage, persisted for what was promised on an earlier
// visit, and takes its answer: that nothing was promised counts only where it was asked for.
func (p *persistence) call(method string, told func()) {
	storage := js.Global().Get("navigator")
	if storage.Truthy() {
		storage = storage.Get("storage")
	}
	if !storage.Truthy() || storage.Get(method).Type() != js.TypeFunction {
		return
	}
	go func() {
		v, err := bridge.Await(storage.Call(method))
		if err != nil || v.Type() != js.TypeBoolean || !v.Bool() && method != "persist" {
			return
		}
		if p.answer = "no"; v.Bool() {
			p.answer = "yes"
		}
		told()
	}()
}
