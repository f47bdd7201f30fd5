package main

import (
	"syscall/js"

	"metaqda/wasm/bridge"
)

// persistence says whether the browser keeps this site's data for good. If not, it may delete them
// when the device runs out of room, or after some time without a visit.
type persistence struct {
	answer string // "yes", "no", or empty while it is not known
	asked  bool
}

// ask asks the browser to keep the data, at most once. Call it when there are data, since some
// browsers show the person a question. told is called once the browser has answered.
func (p *persistence) ask(told func()) {
	if p.asked || p.answer == "yes" {
		return
	}
	p.asked = true
	p.call("persist", told)
}

// call calls a method of navigator.storage and notes the answer. The method "persist" asks.
// "persisted" returns the answer of an earlier visit; if that was not yes, answer stays empty. On an
// error or without the method nothing changes.
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
