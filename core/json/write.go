package json

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Codec writes the fields of an object ([Writer]), or reads them ([Fields]). So one function lists the
// fields for both. If always is false, a writer leaves out an empty text, zero and false.
type Codec interface {
	Text(name string, v *string, always bool)
	Float(name string, v *float64, always bool)
	Int(name string, v *int, always bool)
	Bool(name string, v *bool, always bool)
	Two(name string, v *[2]float64)
	Ints(name string, v *[]int)
	// Inner codes an object with these fields.
	Inner(name string, fields func(Codec))
	// List codes a list of objects, each by one(i, c). A writer writes n objects. A reader ignores n and
	// reads all objects of the list.
	List(name string, n int, one func(i int, c Codec))
	// Has reports whether a field has a value. A writer returns told. A reader looks for a value other
	// than null.
	Has(name string, told bool) bool
	Refuse() // makes reading fail; does nothing when writing
}

// Text returns an object with these fields as JSON.
func Text(fields func(Codec)) string {
	var w Writer
	w.Object(fields)
	return string(w.B)
}

// Writer writes JSON to B. It adds the commas.
type Writer struct{ B []byte }

// Open begins an array or an object.
func (w *Writer) Open(c byte) { w.comma(); w.B = append(w.B, c) }

// Close ends an array or an object.
func (w *Writer) Close(c byte) { w.B = append(w.B, c) }

// comma writes a comma if the next value follows another one.
func (w *Writer) comma() {
	n := len(w.B)
	if n == 0 {
		return
	}
	switch w.B[n-1] {
	case '{', '[', ':', ',':
	default:
		w.B = append(w.B, ',')
	}
}

// Name writes the name of a field.
func (w *Writer) Name(s string) {
	w.String(s)
	w.B = append(w.B, ':')
}

// String writes a string. Characters with a meaning in HTML are escaped.
func (w *Writer) String(s string) {
	const hex = "0123456789abcdef"
	w.comma()
	w.B = append(w.B, '"')
	plain := 0 // most strings are ids, in which nothing is escaped
	for plain < len(s) && s[plain] >= ' ' && s[plain] <= '~' && s[plain] != '"' && s[plain] != '\\' && s[plain] != '<' && s[plain] != '>' && s[plain] != '&' {
		plain++
	}
	w.B = append(w.B, s[:plain]...)
	for _, r := range s[plain:] {
		switch {
		case r == '"' || r == '\\':
			w.B = append(w.B, '\\', byte(r))
		case r >= '\b' && r <= '\r' && r != '\v':
			w.B = append(w.B, '\\', "btn_fr"[r-'\b'])
		case r < ' ' || r == '<' || r == '>' || r == '&':
			w.B = append(w.B, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case r == '\u2028' || r == '\u2029':
			w.B = append(w.B, '\\', 'u', '2', '0', '2', hex[r&15])
		case r == utf8.RuneError:
			w.B = append(w.B, `\ufffd`...)
		default:
			w.B = utf8.AppendRune(w.B, r)
		}
	}
	w.B = append(w.B, '"')
}

// Number writes a finite number as JavaScript does.
func (w *Writer) Number(x float64) {
	w.comma()
	format := byte('f')
	if a := max(x, -x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	w.B = strconv.AppendFloat(w.B, x, format, -1, 64)
	if n := len(w.B); format == 'e' && n >= 4 && w.B[n-4] == 'e' && w.B[n-3] == '-' && w.B[n-2] == '0' {
		w.B[n-2] = w.B[n-1] // e-09 is e-9
		w.B = w.B[:n-1]
	}
}

// IntList writes a list of numbers.
func (w *Writer) IntList(v []int) {
	w.Open('[')
	for _, i := range v {
		w.comma()
		w.B = strconv.AppendInt(w.B, int64(i), 10)
	}
	w.Close(']')
}

func (w *Writer) Text(name string, s *string, always bool) {
	if *s != "" || always {
		w.Name(name)
		w.String(*s)
	}
}

func (w *Writer) Float(name string, x *float64, always bool) {
	if *x != 0 || always {
		w.Name(name)
		w.Number(*x)
	}
}

func (w *Writer) Two(name string, x *[2]float64) {
	w.Name(name)
	w.Open('[')
	w.Number(x[0])
	w.Number(x[1])
	w.Close(']')
}

func (w *Writer) Ints(name string, v *[]int) {
	w.Name(name)
	w.IntList(*v)
}

func (w *Writer) Int(name string, i *int, always bool) {
	if *i != 0 || always {
		w.Name(name)
		w.B = strconv.AppendInt(w.B, int64(*i), 10)
	}
}

func (w *Writer) Bool(name string, is *bool, always bool) {
	if *is || always {
		w.Name(name)
		w.B = strconv.AppendBool(w.B, *is)
	}
}

func (w *Writer) Inner(name string, fields func(Codec)) {
	w.Name(name)
	w.Object(fields)
}

func (w *Writer) List(name string, n int, one func(i int, c Codec)) {
	w.Name(name)
	w.Open('[')
	for i := range n {
		w.Object(func(c Codec) { one(i, c) })
	}
	w.Close(']')
}

func (w *Writer) Has(_ string, told bool) bool { return told }

func (w *Writer) Refuse() {}

// Any writes a value that [Parse] returned, or an int, or a finite float64.
func (w *Writer) Any(v any) {
	w.comma()
	switch v := v.(type) {
	case nil:
		w.B = append(w.B, "null"...)
	case bool:
		w.B = strconv.AppendBool(w.B, v)
	case int:
		w.B = strconv.AppendInt(w.B, int64(v), 10)
	case float64:
		w.Number(v)
	case Number:
		w.B = append(w.B, v...)
	case string:
		w.String(v)
	case []any:
		w.Open('[')
		for _, x := range v {
			w.Any(x)
		}
		w.Close(']')
	case Object:
		w.Open('{')
		for _, name := range Names(v) {
			w.Name(name)
			w.Any(v[name])
		}
		w.Close('}')
	}
}

// Object writes an object with these fields.
func (w *Writer) Object(fields func(Codec)) {
	w.Open('{')
	fields(w)
	w.Close('}')
}

// Strings writes strings as fields, sorted by name. It leaves out the field named except.
func (w *Writer) Strings(m map[string]string, except string) {
	for _, name := range Names(m) {
		if name != except {
			w.Name(name)
			w.String(m[name])
		}
	}
}

// Names returns the sorted names of the fields of an object. [slices.Sorted] would make programs for
// the browser 13 KB larger.
func Names[V any](m map[string]V) []string {
	return slices.SortedStableFunc(maps.Keys(m), strings.Compare)
}
