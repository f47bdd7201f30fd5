// Package bridge is the boundary between Go and JavaScript: methods that return
// promises, errors with a code and a sentence, and arrays copied once.
package bridge

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall/js"
	"unsafe"

	"metaqda/wasm/engine"
)

var (
	jsError        = js.Global().Get("Error")
	jsPromise      = js.Global().Get("Promise")
	jsUint8Array   = js.Global().Get("Uint8Array")
	jsFloat32Array = js.Global().Get("Float32Array")
	jsArrayBuffer  = js.Global().Get("ArrayBuffer")
)

// Method does what a method of an object in JavaScript does and returns its
// result. If later is not nil, it is called in a goroutine, where it may wait,
// and its result counts instead.
type Method func(args Args) (result any, later Later, err error)

// Later is the part of a method that waits.
type Later func() (result any, err error)

// Func wraps a method as a function that returns a promise. Nothing in the
// method itself may wait. A panic, in the method or after it, is a mistake of
// this program: it rejects the promise with code "internal" and leaves the
// program running.
func Func(m Method) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var later Later
		result, err := guarded(func() (result any, err error) {
			result, later, err = m(args)
			return result, err
		})
		if err != nil {
			return jsPromise.Call("reject", ErrorValue(err))
		}
		if later == nil {
			return jsPromise.Call("resolve", result)
		}
		return promise(later)
	})
}

// promise returns a promise of what later returns.
func promise(later Later) js.Value {
	var start js.Func
	start = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolve, reject := args[0], args[1]
		go func() {
			defer start.Release()
			if result, err := guarded(later); err != nil {
				reject.Invoke(ErrorValue(err))
			} else {
				resolve.Invoke(result)
			}
		}()
		return nil
	})
	return jsPromise.New(start)
}

// guarded calls f and turns a panic into an error.
func guarded(f Later) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			// Not through os.Stderr, which may wait for JavaScript.
			print("metaqda: ", fmt.Sprint(r), "\n", string(debug.Stack()))
			err = &engine.Error{Code: "internal", Message: fmt.Sprintf("This is a mistake in the program (%v): reload the page. What was taught is kept.", r)}
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
		return nil, failed(fmt.Sprintf("status %d", response.Get("status").Int()))
	}
	buffer, err := Await(response.Call("arrayBuffer"))
	if err != nil {
		return nil, failed("the connection broke off")
	}
	view := jsUint8Array.New(buffer)
	bytes := make([]byte, view.Length())
	js.CopyBytesToGo(bytes, view)
	return bytes, nil
}

// Bytes copies b into a new Uint8Array.
func Bytes(b []byte) js.Value {
	a := jsUint8Array.New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}

// Args are the arguments of a call. Its methods answer with an error that says
// what was expected.
type Args []js.Value

func (a Args) at(i int) js.Value {
	if i < len(a) {
		return a[i]
	}
	return js.Undefined()
}

// Value returns argument i as it is, undefined if missing.
func (a Args) Value(i int) js.Value { return a.at(i) }

// Text returns argument i, which must be a string.
func (a Args) Text(i int, what string) (string, error) {
	if v := a.at(i); v.Type() == js.TypeString {
		return v.String(), nil
	}
	return "", mistyped(what, "a string")
}

// Bytes copies argument i, which must be a Uint8Array or an ArrayBuffer.
func (a Args) Bytes(i int, what string) ([]byte, error) {
	v := a.at(i)
	if v.Type() == js.TypeObject && v.InstanceOf(jsArrayBuffer) {
		v = jsUint8Array.New(v)
	}
	if v.Type() != js.TypeObject || !v.InstanceOf(jsUint8Array) {
		return nil, mistyped(what, "a Uint8Array")
	}
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b, nil
}

// Floats copies argument i, an embedding: a Float32Array of finite numbers. The
// memory of dst is used again if there is enough.
func (a Args) Floats(i int, what string, dst []float32) ([]float32, error) {
	x, err := a.Numbers(i, what, engine.MaxDimension, dst)
	if err != nil {
		return nil, err
	}
	return x, engine.CheckEmbedding(x)
}

// Numbers copies argument i, which must be a Float32Array of at most most
// numbers, at once through a view of its bytes.
func (a Args) Numbers(i int, what string, most int, dst []float32) ([]float32, error) {
	v := a.at(i)
	if v.Type() != js.TypeObject || !v.InstanceOf(jsFloat32Array) {
		return nil, mistyped(what, "a Float32Array")
	}
	n := v.Length()
	if n > most {
		return nil, &engine.Error{Code: "dimension", Message: "The " + what + " have " + strconv.Itoa(n) + " numbers, the most that fit here are " + strconv.Itoa(most) + "."}
	}
	if n == 0 {
		return nil, nil
	}
	if cap(dst) < n {
		dst = make([]float32, n)
	}
	dst = dst[:n]
	view := jsUint8Array.New(v.Get("buffer"), v.Get("byteOffset"), 4*n)
	js.CopyBytesToGo(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*n), view)
	return dst, nil
}

// Missing reports whether argument i is missing, undefined or null.
func (a Args) Missing(i int) bool { return a.at(i).IsUndefined() || a.at(i).IsNull() }

func mistyped(what, want string) error {
	return &engine.Error{Code: "argument", Message: "The " + what + " must be " + want + ": this is a mistake of the page that calls."}
}

// Cache keeps one Uint8Array for each key, so that what is handed out again and
// again is copied once and keeps its identity.
type Cache struct {
	mu     sync.Mutex
	arrays map[string]js.Value
}

// Get returns the array of a key, made from b the first time. Empty bytes give
// null.
func (c *Cache) Get(key string, b []byte) js.Value {
	if len(b) == 0 {
		return js.Null()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.arrays[key]; ok {
		return v
	}
	if c.arrays == nil {
		c.arrays = map[string]js.Value{}
	}
	v := Bytes(b)
	c.arrays[key] = v
	return v
}

// Keep drops all arrays but those of the given keys.
func (c *Cache) Keep(keys map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.arrays {
		if !keys[key] {
			delete(c.arrays, key)
		}
	}
}
