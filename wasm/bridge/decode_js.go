package bridge

import (
	"cmp"
	"strconv"
	"syscall/js"
	"unsafe"

	"metaqda/core/model"
	"metaqda/wasm/engine"
)

// Decoder reads the arguments of a method, and returns the work to do.
type Decoder func(a *Args) Call

// Args are the arguments of a call. Each method reads the next one. The name of an argument is for
// the error, an *[engine.Error] that says what was expected. Missing arguments are undefined, and
// surplus arguments are ignored.
type Args struct {
	rest []js.Value
	err  error // the first one
}

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

// typed returns the next argument, which must be of a type.
func (a *Args) typed(name string, want js.Type, called string) js.Value {
	v := a.next()
	if typeOf(v) != want {
		a.fail(mistyped(name, called))
		return js.Undefined()
	}
	return v
}

func (a *Args) fail(err error) { a.err = cmp.Or(a.err, err) }

// Text reads a string.
func (a *Args) Text(name string) string {
	if v := a.typed(name, js.TypeString, "a string"); a.err == nil {
		return v.String()
	}
	return ""
}

// Number reads a number.
func (a *Args) Number(name string) float64 {
	if v := a.typed(name, js.TypeNumber, "a number"); a.err == nil {
		return v.Float()
	}
	return 0
}

// Function reads a function.
func (a *Args) Function(name string) js.Value { return a.typed(name, js.TypeFunction, "a function") }

// Flag reads an object, and returns whether its field is truthy.
func (a *Args) Flag(name, field string) bool {
	v := a.typed(name, js.TypeObject, "an object")
	return a.err == nil && v.Get(field).Truthy()
}

// Bytes reads a Uint8Array or an ArrayBuffer.
func (a *Args) Bytes(name string) []byte {
	b, err := bytesOf(name, a.next())
	a.fail(err)
	return b
}

// Embedding reads an array of numbers, which must be an embedding.
func (a *Args) Embedding(name string) []float32 {
	x, err := numbersOf(name, a.next())
	if err == nil {
		err = engine.CheckEmbedding(x)
	}
	a.fail(err)
	return x
}

// Extractor reads an identity; a missing one stays empty.
func (a *Args) Extractor(name string) (x model.Extractor) {
	if a.Has() {
		x.ID, x.SHA256 = a.Texts(name, "id", "sha256")
	}
	return x
}

// Texts reads an object of two texts, each of which may be missing.
func (a *Args) Texts(name, first, second string) (x, y string) {
	v := a.typed(name, js.TypeObject, "an object with "+first+" and "+second)
	if a.err != nil {
		return "", ""
	}
	for field, to := range map[string]*string{first: &x, second: &y} {
		switch of := v.Get(field); {
		case typeOf(of) == js.TypeString:
			*to = of.String()
		case !of.IsUndefined() && !of.IsNull():
			a.fail(mistyped(field+" of the "+name, "a string"))
		}
	}
	return x, y
}

// List reads an array: read reads each of its values.
func (a *Args) List(name string, read func(each *Args)) {
	v := a.next()
	if typeOf(v) != js.TypeObject || typeOf(v.Get("length")) != js.TypeNumber {
		a.fail(mistyped(name, "an array"))
		return
	}
	each := &Args{}
	for i := range v.Length() {
		each.rest = []js.Value{v.Index(i)}
		read(each)
	}
	a.fail(each.err)
}

// typeOf returns the type of v. A BigInt counts as undefined: syscall/js has no type for it, and panics.
func typeOf(v js.Value) (t js.Type) {
	defer func() { _ = recover() }()
	return v.Type()
}

// Encode returns a result as a JavaScript value: bytes as a Uint8Array, null for no bytes, and a value
// that syscall/js can convert as it is.
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

// Then makes a method that decodes its arguments first. f does the rest, see [Method].
func (d Decoder) Then(f func(call Call) (result any, later Call, err error)) Method {
	return func(args []js.Value) (any, Call, error) {
		a := &Args{rest: args}
		call := d(a)
		if a.err != nil {
			return nil, nil, a.err
		}
		return f(call)
	}
}

// AtOnce is a method that returns at once.
func AtOnce(d Decoder) Method {
	return d.Then(func(call Call) (any, Call, error) {
		result, err := call()
		return result, nil, err
	})
}

// Waiting is a method that may wait.
func Waiting(d Decoder) Method {
	return d.Then(func(call Call) (any, Call, error) { return nil, call, nil })
}

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

// numbersOf copies a Float32Array at once, through a view of its bytes. Another array becomes one first.
func numbersOf(what string, v js.Value) ([]float32, error) {
	if typeOf(v) != js.TypeObject || typeOf(v.Get("length")) != js.TypeNumber {
		return nil, mistyped(what, "an array of numbers")
	}
	if !v.InstanceOf(jsFloat32Array) {
		v = jsFloat32Array.Call("from", v)
	}
	n := v.Length()
	if n > model.MaxDimension {
		return nil, &engine.Error{Code: "dimension", Message: "The " + what + " has " + strconv.Itoa(n) + " numbers, the most that fit here are " + strconv.Itoa(model.MaxDimension) + "."}
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
	return &engine.Error{Code: "argument", Message: "The " + what + " must be " + want + ": correct the call."}
}
