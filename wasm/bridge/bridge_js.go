// Package bridge is the boundary between Go and JavaScript. It makes methods that read their
// arguments ([Args]) and return promises. Errors have a code and a sentence. Typed arrays are copied
// once.
//
// The methods themselves are in the tables of package main.
package bridge

import (
	"runtime/debug"
	"strconv"
	"syscall/js"
	"unsafe"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/wasm/engine"
)

var (
	jsError        = js.Global().Get("Error")
	jsPromise      = js.Global().Get("Promise")
	jsUint8Array   = js.Global().Get("Uint8Array")
	jsFloat32Array = js.Global().Get("Float32Array")
	jsArrayBuffer  = js.Global().Get("ArrayBuffer")
)

// Method implements a method of a JavaScript object. It reads its arguments before it waits for
// anything.
type Method func(a *Args) (result any, err error)

// Func wraps a method as a function that returns a promise. The method runs in a goroutine, so it may
// wait. Until it waits, it runs before the function returns: Go gives control back to JavaScript only
// when all goroutines are idle. A panic that is no [metaqda.Error] is a mistake of this program. It
// rejects the promise with the code "internal", and the program goes on.
func Func(m Method) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var start js.Func
		start = js.FuncOf(func(_ js.Value, settle []js.Value) any {
			resolve, reject := settle[0], settle[1]
			go func() {
				defer start.Release()
				if result, err := guarded(m, &Args{rest: args}); err != nil {
					reject.Invoke(ErrorValue(err))
				} else {
					resolve.Invoke(Encode(result))
				}
			}()
			return nil
		})
		return jsPromise.New(start)
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

// guarded calls a method and turns a panic into an error.
func guarded(m Method, a *Args) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			text := "unknown"
			switch r := r.(type) {
			case *metaqda.Error: // of an argument
				err = r
				return
			case error:
				text = r.Error()
			case string:
				text = r
			}
			// Not through os.Stderr, which may wait for JavaScript.
			print("metaqda: ", text, "\n", string(debug.Stack()))
			err = &metaqda.Error{Code: "internal", Message: "This is a mistake in the program (" + text + "): reload the page. Your examples are kept."}
		}
	}()
	return m(a)
}

// ErrorValue returns err as an Error with a property code.
func ErrorValue(err error) js.Value {
	e := engine.Explain(err)
	v := jsError.New(e.Message)
	v.Set("code", e.Code)
	return v
}

// Await waits for a promise and returns its value. It returns any other value as it is. A rejection
// becomes an error. Do not call Await from a callback.
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

// Yield lets the event loop run: for one turn if urgent, otherwise until it is idle, at most a tenth of
// a second. time.Sleep cannot replace it: during a garbage collection it sleeps too long. If urgent, it
// waits for a message: in a background tab timers and idle time come once a second, or once a minute.
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
		channel := js.Global().Get("MessageChannel").New()
		port := channel.Get("port1")
		port.Set("onmessage", heard)
		defer port.Call("close")
		channel.Get("port2").Call("postMessage", nil)
	}
	<-done
}

// Fetch waits for the bytes behind a URL.
func Fetch(url string) ([]byte, error) {
	failed := func(reason string) error {
		return &metaqda.Error{Code: "fetch", Message: url + " could not be fetched (" + reason + "): check the connection and reload the page."}
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

// pieceOfArray is the number of bytes that Array copies at a time.
const pieceOfArray = 4 << 20

// Array copies b into a new Uint8Array. Between pieces it yields to messages: it waits.
func Array(b []byte) js.Value {
	a := jsUint8Array.New(len(b))
	for at := 0; at < len(b); at += pieceOfArray {
		if at > 0 {
			Yield(true)
		}
		js.CopyBytesToJS(a.Call("subarray", at), b[at:min(at+pieceOfArray, len(b))])
	}
	return a
}

// Args are the arguments of a call. Each method of Args reads the next argument. For an argument of
// another type it panics with a *[metaqda.Error]. The error names the argument, by the parameter name, and
// the type that it must have. Missing arguments are undefined, and surplus arguments are ignored.
type Args struct{ rest []js.Value }

func (a *Args) next() js.Value {
	if len(a.rest) == 0 {
		return js.Undefined()
	}
	v := a.rest[0]
	a.rest = a.rest[1:]
	return v
}

// Has reports whether the next argument is there, and not null. Otherwise it skips the argument.
func (a *Args) Has() bool {
	if len(a.rest) > 0 && !a.rest[0].IsUndefined() && !a.rest[0].IsNull() {
		return true
	}
	a.next()
	return false
}

// typed returns the next argument, which must have the type want. called names this type in the error.
func (a *Args) typed(name string, want js.Type, called string) js.Value {
	v := a.next()
	if typeOf(v) != want {
		panic(mistyped(name, called))
	}
	return v
}

// must returns x, or panics with an error of an argument.
func must[T any](x T, err error) T {
	if err != nil {
		panic(engine.Explain(err))
	}
	return x
}

// Text reads a string.
func (a *Args) Text(name string) string { return a.typed(name, js.TypeString, "a string").String() }

// Number reads a number.
func (a *Args) Number(name string) float64 { return a.typed(name, js.TypeNumber, "a number").Float() }

// Flag reads an object, and returns whether its field is truthy.
func (a *Args) Flag(name, field string) bool {
	return a.typed(name, js.TypeObject, "an object").Get(field).Truthy()
}

// Bytes reads a Uint8Array or an ArrayBuffer.
func (a *Args) Bytes(name string) []byte { return must(bytesOf(name, a.next())) }

// Embedding reads an array of numbers, and checks their count and that they are finite.
func (a *Args) Embedding(name string) []float32 {
	x := must(numbersOf(name, a.next()))
	return must(x, engine.CheckEmbedding(x))
}

// Extractor reads an identity; a missing one stays empty.
func (a *Args) Extractor(name string) (x model.Extractor) {
	if a.Has() {
		x.ID, x.SHA256 = a.Texts(name, "id", "sha256")
	}
	return x
}

// Texts reads two strings of an object. Either may be missing.
func (a *Args) Texts(name, first, second string) (x, y string) {
	v := a.typed(name, js.TypeObject, "an object with "+first+" and "+second)
	text := func(field string) string {
		value := v.Get(field)
		switch {
		case typeOf(value) == js.TypeString:
			return value.String()
		case !value.IsUndefined() && !value.IsNull():
			panic(mistyped(field+" of the "+name, "a string"))
		}
		return ""
	}
	return text(first), text(second)
}

// List reads an array. It calls read for each value.
func (a *Args) List(name string, read func(each *Args)) {
	v := a.next()
	if typeOf(v) != js.TypeObject || typeOf(v.Get("length")) != js.TypeNumber {
		panic(mistyped(name, "an array"))
	}
	for i := range v.Length() {
		read(&Args{rest: []js.Value{v.Index(i)}})
	}
}

// typeOf returns the type of v. A BigInt counts as undefined: syscall/js has no type for it, and panics.
func typeOf(v js.Value) (t js.Type) {
	defer func() { _ = recover() }()
	return v.Type()
}

// Encode returns a result in a form that syscall/js can convert. Bytes become a Uint8Array, or null if
// there are none. A list of bytes becomes an array of these. Other values stay as they are. It waits if
// there are many bytes.
func Encode(v any) any {
	switch v := v.(type) {
	case []byte:
		if len(v) == 0 {
			return nil
		}
		return Array(v)
	case [][]byte:
		all := make([]any, len(v))
		for i, b := range v {
			all[i] = Encode(b)
		}
		return all
	}
	return v
}

// Parsed returns the JavaScript value that a JSON text describes.
func Parsed(text string) js.Value { return js.Global().Get("JSON").Call("parse", text) }

// bytesOf copies a Uint8Array or an ArrayBuffer.
func bytesOf(what string, v js.Value) ([]byte, error) {
	if typeOf(v) == js.TypeObject && v.InstanceOf(jsArrayBuffer) {
		v = jsUint8Array.New(v)
	}
	if typeOf(v) != js.TypeObject || !v.InstanceOf(jsUint8Array) {
		return nil, mistyped(what, "a Uint8Array")
	}
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b, nil
}

// numbersOf copies a Float32Array in one piece, through a view of its bytes. It first converts any other
// array to a Float32Array.
func numbersOf(what string, v js.Value) ([]float32, error) {
	if typeOf(v) != js.TypeObject || typeOf(v.Get("length")) != js.TypeNumber {
		return nil, mistyped(what, "an array of numbers")
	}
	if !v.InstanceOf(jsFloat32Array) {
		v = jsFloat32Array.Call("from", v)
	}
	n := v.Length()
	if n > model.MaxDimension {
		return nil, &metaqda.Error{Code: "dimension", Message: "The " + what + " has " + strconv.Itoa(n) + " numbers, but at most " + strconv.Itoa(model.MaxDimension) + " are possible: use an extractor with shorter embeddings."}
	}
	if n == 0 {
		return nil, nil
	}
	x := make([]float32, n)
	view := jsUint8Array.New(v.Get("buffer"), v.Get("byteOffset"), 4*n)
	js.CopyBytesToGo(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*n), view)
	return x, nil
}

func mistyped(what, want string) error {
	return &metaqda.Error{Code: "argument", Message: "The " + what + " must be " + want + ": correct the call."}
}
