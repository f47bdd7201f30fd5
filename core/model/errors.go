package model

import (
	"strconv"
	"strings"
)

// failure says in a sentence what is wrong.
type failure struct {
	text  string
	cause error // nil if there is none
}

func (e *failure) Error() string { return e.text }

func (e *failure) Unwrap() error { return e.cause }

// quoted is a string that a sentence quotes.
type quoted string

// fail returns an error that joins strings, numbers and lists of them, and may end
// with its cause. Package fmt would bring reflection.
func fail(parts ...any) error {
	e := &failure{}
	var b strings.Builder
	for _, p := range parts {
		switch v := p.(type) {
		case string:
			b.WriteString(v)
		case quoted:
			b.WriteString(strconv.Quote(string(v)))
		case int:
			b.WriteString(strconv.Itoa(v))
		case uint64:
			b.WriteString(strconv.FormatUint(v, 10))
		case float64:
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		case []int:
			b.WriteByte('[')
			for i, n := range v {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(strconv.Itoa(n))
			}
			b.WriteByte(']')
		case error:
			b.WriteString(v.Error())
			e.cause = v
		default:
			panic("model: an error that cannot be written")
		}
	}
	e.text = b.String()
	return e
}
