package store

import "syscall/js"

var (
	jsObject      = js.Global().Get("Object")
	jsJSON        = js.Global().Get("JSON")
	jsArray       = js.Global().Get("Array")
	jsUint8Array  = js.Global().Get("Uint8Array")
	jsArrayBuffer = js.Global().Get("ArrayBuffer")
)

// value returns what IndexedDB keeps of a plain form.
func value(v any) js.Value {
	switch v := v.(type) {
	case Record:
		o := jsObject.New()
		for k, x := range v {
			o.Set(k, value(x))
		}
		return o
	case []byte:
		a := jsUint8Array.New(len(v))
		js.CopyBytesToJS(a, v)
		return a
	}
	return js.ValueOf(v)
}

// typeOf returns the type of a value. Package js panics where it has no name for it, as
// for a BigInt.
func typeOf(v js.Value) (t js.Type, known bool) {
	defer func() { known = recover() == nil }()
	return v.Type(), true
}

// plain returns the plain form of what IndexedDB keeps in a table.
func plain(table Table, v js.Value) any {
	t, known := typeOf(v)
	if !known {
		return Unknown("value of a kind that is not kept here")
	}
	switch t {
	case js.TypeString:
		return v.String()
	case js.TypeNumber:
		return v.Float()
	case js.TypeBoolean:
		return v.Bool()
	case js.TypeUndefined, js.TypeNull:
		return nil
	case js.TypeObject:
	default:
		return Unknown(t.String())
	}
	switch {
	case v.InstanceOf(jsArrayBuffer):
		return bytesOf(jsUint8Array.New(v))
	case v.InstanceOf(jsUint8Array):
		return bytesOf(v)
	case len(fields[table]) == 0 || v.InstanceOf(jsArray):
		return Unknown("object")
	}
	r := Record{}
	for _, name := range fields[table] {
		if x := v.Get(name); !x.IsUndefined() {
			r[name] = plain("", x)
		}
	}
	return r
}

func bytesOf(v js.Value) []byte {
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}
