package model

import (
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The headers of safetensors files and the metadata in them are JSON (RFC 8259). They are read
// token by token and written here, without reflection: package encoding/json and its imports make a
// fifth of a program for the browser. The bytes written are those of encoding/json. Reading agrees
// with it too, except that names of fields must be exact.

// number is a number in the form that the text has.
type number string

// object is a JSON object. If a name stands twice, the last one counts.
type object map[string]any

// maxNesting bounds arrays and objects in each other, so that no text overflows the
// stack. Ours have four levels.
const maxNesting = 64

// parseJSON returns the value of a text: nil, bool, number, string, []any or object.
// ok is false if it is not JSON or nested too deep. Bytes that are not UTF-8 in a string, and half
// of a surrogate pair, become U+FFFD.
func parseJSON(text []byte) (v any, ok bool) {
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
		return number(t.String()), true
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
		o := object{}
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

// fields reads the values of an object into variables. A missing value or null leaves its variable
// alone; one of another type is a failure.
type fields struct {
	object
	failed bool
}

// fieldsOf begins with a value that must be an object, or null.
func fieldsOf(v any) *fields {
	o, ok := v.(object)
	return &fields{o, !ok && v != nil}
}

// field reads one value by a function that says whether it could.
func field[T any](f *fields, name string, dst *T, read func(any) (T, bool)) {
	v := f.object[name]
	if v == nil {
		return
	}
	if x, ok := read(v); ok {
		*dst = x
	} else {
		f.failed = true
	}
}

func (f *fields) textField(name string, dst *string, _ bool)   { field(f, name, dst, asText) }
func (f *fields) floatField(name string, dst *float64, _ bool) { field(f, name, dst, asFloat) }
func (f *fields) intsField(name string, dst *[]int)            { field(f, name, dst, asInts) }
func (f *fields) refuse()                                      { f.failed = true }

// twoField reads an array into two numbers. Missing ones become zero, further ones are left out.
func (f *fields) twoField(name string, dst *[2]float64) {
	all, ok := f.object[name].([]any)
	if !ok {
		f.failed = f.failed || f.object[name] != nil
		return
	}
	*dst = [2]float64{}
	for i, v := range all[:min(2, len(all))] {
		if v != nil {
			if dst[i], ok = asFloat(v); !ok {
				f.failed = true
			}
		}
	}
}

// inner reads an object by a function.
func (f *fields) inner(name string, read func(codec)) {
	if v := f.object[name]; v != nil {
		g := fieldsOf(v)
		read(g)
		f.failed = f.failed || g.failed
	}
}

func asText(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok
}

func asFloat(v any) (float64, bool) {
	n, ok := v.(number)
	x, err := strconv.ParseFloat(string(n), 64)
	return x, ok && err == nil
}

func asInt(v any) (int, bool) {
	n, ok := v.(number)
	i, err := strconv.Atoi(string(n))
	return i, ok && err == nil
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
