package store

import (
	"syscall/js"
	"unsafe"

	"metaqda/core/model"
)

var (
	jsObject      = js.Global().Get("Object")
	jsUint8Array  = js.Global().Get("Uint8Array")
	jsArrayBuffer = js.Global().Get("ArrayBuffer")
)

// encode returns the record of a value as IndexedDB keeps it: an object, a
// string, or bytes. Embeddings are the bytes of a Float32Array.
func encode(v any) js.Value {
	switch v := v.(type) {
	case Session:
		s := v.Settings
		return object("id", v.ID, "name", v.Name, "created", float64(v.Created), "updated", float64(v.Updated), "saved", float64(v.Saved),
			"inference", s.Inference, "sort", s.Sort, "nonePrior", s.NonePrior, "pooled", s.Pooled, "prior", s.Prior,
			"extractor", v.Extractor.ID, "extractorSum", v.Extractor.SHA256)
	case Class:
		return object("id", v.ID, "session", v.Session, "name", v.Name, "order", v.Order)
	case Example:
		return object("id", v.ID, "session", v.Session, "class", v.Class, "order", v.Order,
			"embedding", toBytes(floatBytes(v.Embedding)), "thumbnail", thumbnail(v.Thumbnail))
	case []byte:
		return toBytes(v)
	case string:
		return js.ValueOf(v)
	}
	panic("store: value of unknown type")
}

func object(pairs ...any) js.Value {
	o := jsObject.New()
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func thumbnail(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return toBytes(b)
}

// toBytes copies b into a new Uint8Array.
func toBytes(b []byte) js.Value {
	a := jsUint8Array.New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}

// bytesOf copies out of a Uint8Array or ArrayBuffer; anything else gives nil.
func bytesOf(v js.Value) []byte {
	if v.Type() != js.TypeObject {
		return nil
	}
	if v.InstanceOf(jsArrayBuffer) {
		v = jsUint8Array.New(v)
	}
	if !v.InstanceOf(jsUint8Array) {
		return nil
	}
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}

// floatBytes is the memory of x. WebAssembly is little-endian, as is every
// machine that typed arrays are used on.
func floatBytes(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

// The decoders take what they find: a field that is missing or of another type
// becomes its zero value, and what that makes of the record is checked where
// it is used.

func decodeSession(v js.Value) Session {
	return Session{ID: text(v, "id"), Name: text(v, "name"), Created: int64(number(v, "created")), Updated: int64(number(v, "updated")), Saved: int64(number(v, "saved")),
		Settings: Settings{Inference: text(v, "inference"), Sort: text(v, "sort"), NonePrior: number(v, "nonePrior"),
			Pooled: v.Get("pooled").Truthy(), Prior: text(v, "prior")},
		Extractor: model.Extractor{ID: text(v, "extractor"), SHA256: text(v, "extractorSum")}}
}

func decodeClass(v js.Value) Class {
	return Class{ID: text(v, "id"), Session: text(v, "session"), Name: text(v, "name"), Order: number(v, "order")}
}

func decodeExample(v js.Value) Example {
	x := Example{ID: text(v, "id"), Session: text(v, "session"), Class: text(v, "class"), Order: number(v, "order"),
		Thumbnail: bytesOf(v.Get("thumbnail"))}
	if b := bytesOf(v.Get("embedding")); len(b) > 0 && len(b)%4 == 0 {
		x.Embedding = make([]float32, len(b)/4)
		copy(floatBytes(x.Embedding), b)
	}
	return x
}

func text(v js.Value, key string) string {
	if s := v.Get(key); s.Type() == js.TypeString {
		return s.String()
	}
	return ""
}

func number(v js.Value, key string) float64 {
	if n := v.Get(key); n.Type() == js.TypeNumber {
		return n.Float()
	}
	return 0
}
