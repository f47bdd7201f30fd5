// Package bridge is the boundary between Go and JavaScript. It makes methods that read their
// arguments ([Args]) and return promises. Errors have a code and a sentence.
// Arrays are copied once.
//
// The methods themselves are in the tables of package main.
package bridge

import (
	"runtime/debug"
	"strconv"
	"syscall/js"

	"metaqda/wasm/engine"
)

var (
	jsError        = js.Global().Get("Error")
	jsPromise      = js.Global().Get("Promise")
	jsUint8Array   = js.Global().Get("Uint8Array")
	jsFloat32Array = js.Global().Get("Float32Array")
	jsArrayBuffer  = js.Global().Get("ArrayBuffer")
)

// Method implements a method of a JavaScript object and returns its result. If later is not nil, a
// goroutine calls later, which may wait, and the result of later counts instead.
type Method func(args []js.Value) (result any, later Call, err error)

// Call is a part of a method, for example all work after its arguments are decoded.
type Call func() (result any, err error)

// Func wraps a method as a function that returns a promise. Nothing in the
// method itself may wait. A panic, in the method or after it, is a mistake of
// this program: it rejects the promise with code "internal" and leaves the
// program running.
func Func(m Method) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var later Call
		result, err := guarded(func() (result any, err error) {
			result, later, err = m(args)
			return result, err
		})
		if err != nil {
			return jsPromise.Call("reject", ErrorValue(err))
		}
		if later == nil {
			return jsPromise.Call("resolve", Encode(result))
		}
		return promise(later)
	})
}

// Object returns an object with methods by their names.
func Object(methods map[string]Method) js.Value {
	object := js.ValueOf(map[string]any{})
	for name, m := range methods {
		object.Set(name, Func(m))
	}
	return object
}

// promise returns a promise of what later returns.
func promise(later Call) js.Value {
	var start js.Func
	start = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolve, reject := args[0], args[1]
		go func() {
			defer start.Release()
			if result, err := guarded(later); err != nil {
				reject.Invoke(ErrorValue(err))
			} else {
				resolve.Invoke(Encode(result))
			}
		}()
		return nil
	})
	return jsPromise.New(start)
}

// guarded calls f and turns a panic into an error.
func guarded(f Call) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			text := "unknown"
			switch r := r.(type) {
			case error:
				text = r.Error()
			case string:
				text = r
			}
			// Not through os.Stderr, which may wait for JavaScript.
			print("metaqda: ", text, "\n", string(debug.Stack()))
			err = &engine.Error{Code: "internal", Message: "This is a mistake in the program (" + text + "): reload the page. Your examples are kept."}
		}
	}()
	return f()
}

// ErrorValue returns err as an Error with a property code.
func ErrorValue(err error) js.Value {
	e := engine.Explain(err)
	v := jsError.New(e.Message)
	v.Set("code", e.Code)
	return v
}

// Await waits for a promise, or returns a value that is none. A rejection is
// an error. It must not be called from a callback.
func Await(v js.Value) (js.Value, error) {
	type outcome struct {
		value js.Value
		ok    bool
	}
	done := make(chan outcome, 1)
	settle := func(ok bool) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			value := js.Undefined()
			if len(args) > 0 {
				value = args[0]
			}
			done <- outcome{value, ok}
			return nil
		})
	}
	resolved, rejected := settle(true), settle(false)
	defer resolved.Release()
	defer rejected.Release()
	jsPromise.Call("resolve", v).Call("then", resolved, rejected)
	if o := <-done; !o.ok {
		return js.Undefined(), js.Error{Value: o.value}
	} else {
		return o.value, nil
	}
}

// Yield yields to the event loop: one turn if urgent, else until it is idle, a tenth of a
// second at most. Sleeping does not work: during a garbage collection the program sleeps too long.
func Yield(urgent bool) {
	done := make(chan struct{})
	heard := js.FuncOf(func(js.Value, []js.Value) any {
		close(done)
		return nil
	})
	defer heard.Release()
	if !urgent && js.Global().Get("requestIdleCallback").Truthy() {
		js.Global().Call("requestIdleCallback", heard, map[string]any{"timeout": 100})
	} else {
		js.Global().Call("setTimeout", heard)
	}
	<-done
}

// Fetch waits for the bytes behind a URL.
func Fetch(url string) ([]byte, error) {
	failed := func(reason string) error {
		return &engine.Error{Code: "fetch", Message: url + " could not be fetched (" + reason + "): check the connection and reload the page."}
	}
	response, err := Await(js.Global().Call("fetch", url))
	if err != nil {
		return nil, failed("no answer")
	}
	if !response.Get("ok").Bool() {
		return nil, failed("status " + strconv.Itoa(response.Get("status").Int()))
	}
	buffer, err := Await(response.Call("arrayBuffer"))
	if err != nil {
		return nil, failed("the connection broke off")
	}
	return bytesOf(url, buffer)
}

// pieceOfArray is the number of bytes that [SlowArray] copies at a time.
const pieceOfArray = 4 << 20

// SlowArray is [Array] for many megabytes: between pieces it yields to messages. It waits.
func SlowArray(b []byte) js.Value {
	a := jsUint8Array.New(len(b))
	for at := 0; at < len(b); at += pieceOfArray {
		if at > 0 {
			Yield(true)
		}
		js.CopyBytesToJS(a.Call("subarray", at), b[at:min(at+pieceOfArray, len(b))])
	}
	return a
}

// Array copies b into a new Uint8Array.
func Array(b []byte) js.Value {
	a := jsUint8Array.New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}
