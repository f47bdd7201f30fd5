package json

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"metaqda/core/test"
)

// This parser and encoding/json agree about which texts are JSON, and about the content of strings.
func TestJSONIsThatOfTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		``, ` `, `null`, `nul`, `truefalse`, `[1,2.5e-3,-0,1E+9]`, `[01]`, `[1.]`, `[-]`, `[1e]`, `[1,]`, `[,1]`, `{"a":1,"a":{"b":[]}}`, `{"a"}`, `{a:1}`, `{"a":1,}`, "[1]\n\t\r ", "[1]x", "[", "{",
		`"\u00e9\ud83d\ude00\ud83d\n"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ud800\ud800\udc00"`, `"\u12g4"`, `"\x"`, "\"\x01\"", "\"a\xffb\"", "\"\\", `"a`, "\"\x7f\u2028\"",
	} {
		got, ok := Parse([]byte(text))
		if ok != json.Valid([]byte(text)) {
			t.Errorf("%q: accepted %v", text, ok)
		}
		var want string
		if json.Unmarshal([]byte(text), &want) == nil && want != "" {
			if got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	_, ok := Parse(deep(maxNesting))
	if !ok {
		t.Error("a text within maxNesting was refused")
	}
	_, ok = Parse(deep(1 << 20))
	if ok {
		t.Error("a text beyond maxNesting was accepted")
	}
}

func FuzzWriteJSON(f *testing.F) {
	f.Add("", 0.0)
	f.Add("a\"\\/\b\f\n\r\t\v\x00\x1f\x7f<>&\u2028\u2029\xff☕", 1e-7)
	for _, x := range []float64{1e-6, 9.99e-7, 1e20, 1e21, -1e-300, 1. / 3, 5e-324, math.MaxFloat64, math.Copysign(0, -1), 1e-10} {
		f.Add("x", x)
	}
	f.Fuzz(func(t *testing.T, s string, x float64) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		var w Writer
		w.Open('[')
		w.String(s)
		w.Number(x)
		w.IntList([]int{1, -2})
		w.IntList(nil)
		w.Close(']')
		want := test.Must(json.Marshal([]any{s, x, []int{1, -2}, []int{}}))(t)
		if !bytes.Equal(w.B, want) {
			t.Fatalf("%s, want %s", w.B, want)
		}
	})
}
