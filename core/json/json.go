// Package json reads and writes JSON (RFC 8259) without reflection: package encoding/json and its
// imports make a fifth of a program for the browser. The bytes written are those of encoding/json.
// Reading agrees with it too, except that names of fields must be exact.
package json

import (
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Number is a number in the form that the text has.
type Number string

// Object is a JSON object. If a name stands twice, the last one counts.
type Object map[string]any

// maxNesting bounds arrays and objects in each other, so that no text overflows the
// stack. Ours have four levels.
const maxNesting = 64

// Parse returns the value of a text: nil, bool, number, string, []any or Object.
// ok is false if it is not JSON or nested too deep. Bytes that are not UTF-8 in a string, and half
// of a surrogate pair, become U+FFFD.
func Parse(text []byte) (v any, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, ok = parseValue(d)
	_, err := d.ReadToken()
	return v, ok && err == io.EOF
}

func parseValue(d *jsontext.Decoder) (v any, ok bool) {
	t, err := d.ReadToken()
	if err != nil || d.StackDepth() > maxNesting {
		return nil, false
	}
	switch t.Kind() {
	case 't', 'f':
		return t.Bool(), true
	case '0':
		return Number(t.String()), true
	case '"':
		return t.String(), true
	case '[':
		a := []any{}
		for d.PeekKind() != ']' {
			if v, ok = parseValue(d); !ok {
				return nil, false
			}
			a = append(a, v)
		}
		_, err = d.ReadToken()
		return a, err == nil
	case '{':
		o := Object{}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, false
			}
			key := name.String()
			if o[key], ok = parseValue(d); !ok {
				return nil, false
			}
		}
		_, err = d.ReadToken()
		return o, err == nil
	}
	return nil, true // null
}

// Fields reads the values of an object into variables. A missing value or null leaves its variable
// alone; one of another type is a failure.
type Fields struct {
	Object
	Failed bool
}

// FieldsOf begins with a value that must be an object, or null.
func FieldsOf(v any) *Fields {
	o, ok := v.(Object)
	return &Fields{o, !ok && v != nil}
}

// field reads one value by a function that says whether it could.
func field[T any](f *Fields, name string, dst *T, read func(any) (T, bool)) {
	v := f.Object[name]
	if v == nil {
		return
	}
	if x, ok := read(v); ok {
		*dst = x
	} else {
		f.Failed = true
	}
}

func (f *Fields) Text(name string, dst *string, _ bool)   { field(f, name, dst, AsText) }
func (f *Fields) Float(name string, dst *float64, _ bool) { field(f, name, dst, asFloat) }
func (f *Fields) Ints(name string, dst *[]int)            { field(f, name, dst, asInts) }
func (f *Fields) Int(name string, dst *int, _ bool)       { field(f, name, dst, asInt) }
func (f *Fields) Bool(name string, dst *bool, _ bool)     { field(f, name, dst, asBool) }
func (f *Fields) Has(name string, _ bool) bool            { return f.Object[name] != nil }
func (f *Fields) Refuse()                                 { f.Failed = true }

// Two reads an array into two numbers. Missing ones become zero, further ones are left out.
func (f *Fields) Two(name string, dst *[2]float64) {
	all, ok := f.Object[name].([]any)
	if !ok {
		f.Failed = f.Failed || f.Object[name] != nil
		return
	}
	*dst = [2]float64{}
	for i, v := range all[:min(2, len(all))] {
		if v != nil {
			if dst[i], ok = asFloat(v); !ok {
				f.Failed = true
			}
		}
	}
}

// inner reads an object by a function.
func (f *Fields) Inner(name string, read func(Codec)) {
	if v := f.Object[name]; v != nil {
		g := FieldsOf(v)
		read(g)
		f.Failed = f.Failed || g.Failed
	}
}

func (f *Fields) List(name string, _ int, read func(int, Codec)) {
	all, ok := f.Object[name].([]any)
	f.Failed = f.Failed || !ok && f.Object[name] != nil
	for i, v := range all {
		g := FieldsOf(v)
		read(i, g)
		f.Failed = f.Failed || g.Failed
	}
}

// Read reads the object that a text is, and reports whether it could.
func Read(text []byte, of func(Codec)) bool {
	v, ok := Parse(text)
	f := FieldsOf(v)
	if ok {
		of(f)
	}
	return ok && !f.Failed
}

// AsText returns a value if it is text.
func AsText(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok
}

func asFloat(v any) (float64, bool) {
	n, ok := v.(Number)
	x, err := strconv.ParseFloat(string(n), 64)
	return x, ok && err == nil
}

func asInt(v any) (int, bool) {
	n, ok := v.(Number)
	i, err := strconv.Atoi(string(n))
	return i, ok && err == nil
}

func asBool(v any) (bool, bool) {
	is, ok := v.(bool)
	return is, ok
}

func asInts(v any) ([]int, bool) {
	all, ok := v.([]any)
	ints := make([]int, len(all))
	for k, v := range all {
		i, whole := asInt(v)
		ints[k], ok = i, ok && (whole || v == nil)
	}
	return ints, ok
}
