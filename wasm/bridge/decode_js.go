package bridge

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"syscall/js"
	"unsafe"

	"metaqda/core/model"
	"metaqda/wasm/engine"
)

// Decoder decodes the arguments of a method. Missing arguments are undefined, and surplus arguments
// are ignored.
type Decoder func(args []js.Value) (Call, error)

// Bind makes a method of a Go function. Each argument is decoded by its type: a string, a number,
// an array of numbers, a Uint8Array or ArrayBuffer, a function (js.Value), an array of these, or an
// object (a struct, by its JSON). The numbers of an embedding are checked. names are the names of
// the arguments in messages, separated by commas. A question mark follows an argument that may be
// missing, undefined or null. fields name the results, without the error, in the object that the
// method returns. Without fields the method returns the only result. See [Encode].
func Bind(f any, names string, fields ...string) Decoder {
	fn := reflect.ValueOf(f)
	t := fn.Type()
	var called []string
	if names != "" {
		called = strings.Split(names, ", ")
	}
	if len(called) != t.NumIn() {
		panic("bridge: a method whose arguments have other names than there are: " + names)
	}
	return func(args []js.Value) (Call, error) {
		in := make([]reflect.Value, len(called))
		for i, name := range called {
			v := js.Undefined()
			if i < len(args) {
				v = args[i]
			}
			what, optional := strings.CutSuffix(name, "?")
			if in[i] = reflect.Zero(t.In(i)); optional && (v.IsUndefined() || v.IsNull()) {
				continue
			}
			x, err := decode(t.In(i), what, v)
			if err != nil {
				return nil, err
			}
			in[i] = reflect.ValueOf(x)
		}
		return func() (any, error) {
			var out []any
			for _, v := range fn.Call(in) {
				if v.Type() != reflect.TypeFor[error]() {
					out = append(out, v.Interface())
				} else if err, _ := v.Interface().(error); err != nil {
					return nil, err
				}
			}
			if len(fields) == 0 {
				return Encode(append(out, nil)[0]), nil
			}
			object := map[string]any{}
			for i, name := range fields {
				object[name] = Encode(out[i])
			}
			return object, nil
		}, nil
	}
}

// decode returns an argument as a value of type t, or an *[engine.Error] that says what was
// expected.
func decode(t reflect.Type, what string, v js.Value) (any, error) {
	switch t {
	case reflect.TypeFor[string]():
		if typeOf(v) == js.TypeString {
			return v.String(), nil
		}
		return nil, mistyped(what, "a string")
	case reflect.TypeFor[float64]():
		if typeOf(v) == js.TypeNumber {
			return v.Float(), nil
		}
		return nil, mistyped(what, "a number")
	case reflect.TypeFor[js.Value]():
		if typeOf(v) == js.TypeFunction {
			return v, nil
		}
		return nil, mistyped(what, "a function")
	case reflect.TypeFor[[]byte]():
		return bytesOf(what, v)
	case reflect.TypeFor[[]float32]():
		x, err := numbersOf(what, v)
		if err == nil {
			err = engine.CheckEmbedding(x)
		}
		return x, err
	case reflect.TypeFor[model.Extractor](): // a missing argument stays empty
		var x model.Extractor
		if v.IsUndefined() || v.IsNull() {
			return x, nil
		}
		if typeOf(v) != js.TypeObject {
			return nil, mistyped(what, "an object with id and sha256")
		}
		for name, to := range map[string]*string{"id": &x.ID, "sha256": &x.SHA256} {
			switch of := v.Get(name); {
			case typeOf(of) == js.TypeString:
				*to = of.String()
			case !of.IsUndefined() && !of.IsNull():
				return nil, mistyped(name+" of the "+what, "a string")
			}
		}
		return x, nil
	}
	if t.Kind() == reflect.Slice {
		if typeOf(v) != js.TypeObject || typeOf(v.Get("length")) != js.TypeNumber {
			return nil, mistyped(what, "an array")
		}
		all := reflect.MakeSlice(t, v.Length(), v.Length())
		for i := range v.Length() {
			x, err := decode(t.Elem(), what, v.Index(i))
			if err != nil {
				return nil, err
			}
			all.Index(i).Set(reflect.ValueOf(x))
		}
		return all.Interface(), nil
	}
	x := reflect.New(t)
	if json.Unmarshal([]byte(stringified(v)), x.Interface()) != nil {
		return nil, &engine.Error{Code: "argument", Message: "The form of the " + what + " is wrong: correct the call."}
	}
	return x.Elem().Interface(), nil
}

// typeOf returns the type of v. A BigInt counts as undefined: syscall/js has no type for it, and panics.
func typeOf(v js.Value) (t js.Type) {
	defer func() { _ = recover() }()
	return v.Type()
}

// stringified returns v as JSON. It is empty for a value that has none, such as an object that contains itself.
func stringified(v js.Value) (text string) {
	defer func() { _ = recover() }()
	if json := js.Global().Get("JSON").Call("stringify", v); json.Type() == js.TypeString {
		text = json.String()
	}
	return text
}

// Encode returns a result as a JavaScript value: bytes as a Uint8Array, null for no bytes, a value
// that syscall/js can convert as it is, and anything else by its JSON.
func Encode(v any) any {
	switch v := v.(type) {
	case nil, js.Value, bool, int, float64, string, []any, map[string]any:
		return v
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
	return Parsed(v)
}

// Parsed returns the JavaScript value that the JSON of v describes. v must have one.
func Parsed(v any) js.Value {
	b, err := json.Marshal(v)
	if err != nil {
		panic("bridge: a result does not encode: " + err.Error())
	}
	return js.Global().Get("JSON").Call("parse", string(b))
}

// Then makes a method that decodes its arguments first. f does the rest, see [Method].
func (d Decoder) Then(f func(call Call) (result any, later Call, err error)) Method {
	return func(args []js.Value) (any, Call, error) {
		call, err := d(args)
		if err != nil {
			return nil, nil, err
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
