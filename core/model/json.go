package model

import (
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The headers of safetensors files and the metadata in them are JSON (RFC 8259).
// They are read and written here, by hand and without reflection, because package
// encoding/json and what it brings make a fifth of a program for the browser. What is
// written has the bytes that encoding/json would write; what is read has its meaning,
// but that names of fields must be exact.

// number is a number as it stands in the text.
type number string

// object is a JSON object. Of a name that stands twice the last counts.
type object map[string]any

// maxNesting bounds arrays and objects in each other, so that no text overflows the
// stack. Ours have four levels.
const maxNesting = 64

// parseJSON returns the value of a text: nil, bool, number, string, []any or object.
// ok is false if it is not JSON or nested too deep.
func parseJSON(text []byte) (v any, ok bool) {
	p := parser{text: text}
	v = p.value(0)
	p.space()
	return v, !p.failed && p.at == len(text)
}

// parser reads values from a place in the text; a failure is final.
type parser struct {
	text   []byte
	at     int
	failed bool
}

func (p *parser) fail() any {
	p.failed, p.at = true, len(p.text)
	return nil
}

// peek returns the byte that comes next, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// take consumes the byte c if it comes next.
func (p *parser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// want consumes the byte c, which must come next.
func (p *parser) want(c byte) {
	if !p.take(c) {
		p.fail()
	}
}

func (p *parser) space() {
	for p.take(' ') || p.take('\t') || p.take('\n') || p.take('\r') {
	}
}

func (p *parser) value(depth int) any {
	p.space()
	if depth > maxNesting {
		return p.fail()
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.string()
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case c == 't':
		return p.word("true", true)
	case c == 'f':
		return p.word("false", false)
	case c == 'n':
		return p.word("null", nil)
	}
	return p.fail()
}

func (p *parser) word(word string, v any) any {
	for i := range len(word) {
		p.want(word[i])
	}
	return v
}

func (p *parser) object(depth int) any {
	o := object{}
	p.want('{')
	if p.space(); p.take('}') {
		return o
	}
	for !p.failed {
		p.space()
		name := p.string()
		p.space()
		p.want(':')
		o[name] = p.value(depth + 1)
		if p.space(); p.take('}') {
			break
		}
		p.want(',')
	}
	return o
}

func (p *parser) array(depth int) any {
	a := []any{}
	p.want('[')
	if p.space(); p.take(']') {
		return a
	}
	for !p.failed {
		a = append(a, p.value(depth+1))
		if p.space(); p.take(']') {
			break
		}
		p.want(',')
	}
	return a
}

// number reads -? (0 | [1-9][0-9]*) (.[0-9]+)? ([eE][+-]?[0-9]+)?
func (p *parser) number() any {
	from := p.at
	p.take('-')
	if !p.take('0') {
		p.digits()
	}
	if p.take('.') {
		p.digits()
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		p.digits()
	}
	return number(p.text[from:p.at])
}

// digits consumes one or more digits.
func (p *parser) digits() {
	from := p.at
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.at++
	}
	if p.at == from {
		p.fail()
	}
}

// string reads a string. What is not UTF-8, and half of a surrogate pair, becomes
// U+FFFD.
func (p *parser) string() string {
	p.want('"')
	var s []byte
	for !p.failed && !p.take('"') {
		switch c := p.peek(); {
		case c < ' ': // or the end
			p.fail()
		case c == '\\':
			p.at++
			s = p.escape(s)
		default:
			r, size := utf8.DecodeRune(p.text[p.at:])
			p.at += size
			s = utf8.AppendRune(s, r)
		}
	}
	return string(s)
}

// escape appends what stands after a backslash.
func (p *parser) escape(s []byte) []byte {
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := p.peek()
	p.at++
	if i := slices.Index([]byte(names), c); i >= 0 {
		return append(s, values[i])
	}
	if c != 'u' {
		p.fail()
		return s
	}
	r := p.hex()
	if utf16.IsSurrogate(r) {
		before := p.at
		if p.take('\\') && p.take('u') {
			if pair := utf16.DecodeRune(r, p.hex()); pair != utf8.RuneError {
				return utf8.AppendRune(s, pair)
			}
		}
		if !p.failed {
			p.at = before
		}
	}
	return utf8.AppendRune(s, r)
}

// hex reads four hexadecimal digits.
func (p *parser) hex() (r rune) {
	for range 4 {
		c := p.peek()
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			p.fail()
			return 0
		}
		r = r<<4 | rune(c)
		p.at++
	}
	return r
}

// fields reads the values of an object into variables. What is missing or null leaves
// its variable alone; one of another type is a failure.
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

// twoField reads an array into two numbers: what is missing becomes zero, what is beyond
// them is left out.
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
