package main

import (
	"syscall/js"

	"metaqda/wasm/bridge"
)

// persistence says whether the browser has promised to keep this site's data. Without the promise it
// may delete the data when the device runs out of room, or after some time without a visit.
type persistence struct {
	answer string // "yes", "no", or empty while it is not known
	asked  bool
}

// ask asks the browser for the promise, at most once. Call it when there is data to keep, since
// some browsers show the person a question. told is called once the browser has answered.
func (p *persistence) ask(told func()) {
	if p.asked || p.answer == "yes" {
		return
	}
	p.asked = true
	p.call("persist", told)
}

// call calls a method of navigator.storage and notes the answer. The method "persist" asks for the
// promise. "persisted" returns the promise of an earlier visit; if there was none, answer stays
// empty. On an error or without the method nothing changes.
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
