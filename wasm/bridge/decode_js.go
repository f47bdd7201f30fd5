package bridge

import (
	"encoding/json"
	"strconv"
	"syscall/js"
	"unsafe"

	"metaqda/wasm/engine"
)

// Kind decodes an argument of one kind. Its error, an *[engine.Error], says what
// was expected.
type Kind[T any] func(v js.Value) (T, error)

// Call is what is left of a method once its arguments are decoded.
type Call func() (result any, err error)

// Decoder decodes the arguments of a method. Arguments that are missing are
// undefined, and those that are too many are not looked at.
type Decoder func(args []js.Value) (Call, error)

// Take0 is a method without arguments.
func Take0(f func() (any, error)) Decoder {
	return func([]js.Value) (Call, error) { return f, nil }
}

// Take1 is a method with one argument.
func Take1[A any](a Kind[A], f func(A) (any, error)) Decoder {
	return func(args []js.Value) (Call, error) {
		x, err := a(at(args, 0))
		return func() (any, error) { return f(x) }, err
	}
}

// Take2 is a method with two arguments.
func Take2[A, B any](a Kind[A], b Kind[B], f func(A, B) (any, error)) Decoder {
	return func(args []js.Value) (Call, error) {
		x, err := a(at(args, 0))
		if err != nil {
			return nil, err
		}
		y, err := b(at(args, 1))
		return func() (any, error) { return f(x, y) }, err
	}
}

// Take3 is a method with three arguments.
func Take3[A, B, C any](a Kind[A], b Kind[B], c Kind[C], f func(A, B, C) (any, error)) Decoder {
	return func(args []js.Value) (Call, error) {
		x, err := a(at(args, 0))
		if err != nil {
			return nil, err
		}
		y, err := b(at(args, 1))
		if err != nil {
			return nil, err
		}
		z, err := c(at(args, 2))
		return func() (any, error) { return f(x, y, z) }, err
	}
}

// Take4 is a method with four arguments.
func Take4[A, B, C, D any](a Kind[A], b Kind[B], c Kind[C], d Kind[D], f func(A, B, C, D) (any, error)) Decoder {
	return func(args []js.Value) (Call, error) {
		last, err := d(at(args, 3))
		if err != nil {
			return nil, err
		}
		return Take3(a, b, c, func(a A, b B, c C) (any, error) { return f(a, b, c, last) })(args)
	}
}

func at(args []js.Value, i int) js.Value {
	if i < len(args) {
		return args[i]
	}
	return js.Undefined()
}

// AtOnce is a method that answers at once.
func AtOnce(d Decoder) Method {
	return func(args []js.Value) (any, Later, error) {
		call, err := d(args)
		if err != nil {
			return nil, nil, err
		}
		result, err := call()
		return result, nil, err
	}
}

// Waiting is a method that may wait. Its arguments are decoded before.
func Waiting(d Decoder) Method {
	return func(args []js.Value) (any, Later, error) {
		call, err := d(args)
		if err != nil {
			return nil, nil, err
		}
		return nil, Later(call), nil
	}
}

// Text is a string.
func Text(what string) Kind[string] {
	return func(v js.Value) (string, error) {
		if v.Type() == js.TypeString {
			return v.String(), nil
		}
		return "", mistyped(what, "a string")
	}
}

// Number is a number.
func Number(what string) Kind[float64] {
	return func(v js.Value) (float64, error) {
		if v.Type() == js.TypeNumber {
			return v.Float(), nil
		}
		return 0, mistyped(what, "a number")
	}
}

// Function is a function.
func Function(what string) Kind[js.Value] {
	return func(v js.Value) (js.Value, error) {
		if v.Type() == js.TypeFunction {
			return v, nil
		}
		return v, mistyped(what, "a function")
	}
}

// Bytes is a Uint8Array or an ArrayBuffer, which is copied.
func Bytes(what string) Kind[[]byte] {
	return func(v js.Value) ([]byte, error) {
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
}

// Embedding is a Float32Array of finite numbers, which is copied.
func Embedding(what string) Kind[[]float32] {
	numbers := Numbers(what, engine.MaxDimension)
	return func(v js.Value) ([]float32, error) {
		x, err := numbers(v)
		if err != nil {
			return nil, err
		}
		return x, engine.CheckEmbedding(x)
	}
}

// Numbers is a Float32Array of at most most numbers, copied at once through a view
// of its bytes.
func Numbers(what string, most int) Kind[[]float32] {
	return func(v js.Value) ([]float32, error) {
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
		x := make([]float32, n)
		view := jsUint8Array.New(v.Get("buffer"), v.Get("byteOffset"), 4*n)
		js.CopyBytesToGo(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*n), view)
		return x, nil
	}
}

// List is an array, typed or not, of things of one kind.
func List[T any](what string, each Kind[T]) Kind[[]T] {
	return func(v js.Value) ([]T, error) {
		if v.Type() != js.TypeObject || v.Get("length").Type() != js.TypeNumber {
			return nil, mistyped(what, "an array")
		}
		all := make([]T, v.Length())
		for i := range all {
			var err error
			if all[i], err = each(v.Index(i)); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// JSON is an object of few and small fields, whose types JSON checks.
func JSON[T any](what string) Kind[T] {
	return func(v js.Value) (x T, err error) {
		text := js.Global().Get("JSON").Call("stringify", v)
		if text.Type() != js.TypeString || json.Unmarshal([]byte(text.String()), &x) != nil {
			return x, &engine.Error{Code: "argument", Message: "The " + what + " have the wrong form: this is a mistake of the page that calls."}
		}
		return x, nil
	}
}

// Optional is the zero value where the argument is missing, undefined or null.
func Optional[T any](kind Kind[T]) Kind[T] {
	return func(v js.Value) (T, error) {
		if v.IsUndefined() || v.IsNull() {
			var zero T
			return zero, nil
		}
		return kind(v)
	}
}

// Or is the zero value also where the argument is of another kind.
func Or[T any](kind Kind[T]) Kind[T] {
	return func(v js.Value) (T, error) {
		x, err := kind(v)
		if err != nil {
			var zero T
			return zero, nil
		}
		return x, nil
	}
}

// Field decodes a field of an object; what is no object has none.
func Field[T any](v js.Value, name string, kind Kind[T]) (T, error) {
	if v.Type() != js.TypeObject {
		return kind(js.Undefined())
	}
	return kind(v.Get(name))
}

func mistyped(what, want string) error {
	return &engine.Error{Code: "argument", Message: "The " + what + " must be " + want + ": this is a mistake of the page that calls."}
}
