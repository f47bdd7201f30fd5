package bridge

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"syscall/js"
	"testing"

	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/engine"
)

// call calls a method as JavaScript does and waits for its promise.
func call(t *testing.T, m Method, args ...any) (js.Value, error) {
	t.Helper()
	f := Func(m)
	defer f.Release()
	promise := f.Invoke(args...)
	if !promise.InstanceOf(jsPromise) {
		t.Fatalf("the method answers %v, no promise", promise)
	}
	return Await(promise)
}

func codeOf(t *testing.T, err error) string {
	t.Helper()
	var thrown js.Error
	if !errors.As(err, &thrown) {
		t.Fatalf("rejected with %v, want a JavaScript error", err)
	}
	if !thrown.Value.InstanceOf(jsError) {
		t.Fatalf("rejected with %v, which is no Error", thrown.Value)
	}
	return thrown.Value.Get("code").String()
}

func TestErrorsHaveCodesAndThoseThatPanicToo(t *testing.T) {
	var none []int
	for _, c := range []struct {
		want   string
		method Method
	}{
		{"dimension", func([]js.Value) (any, Call, error) {
			return nil, nil, &niw.DimensionError{Name: "embedding", Got: 1, Want: 2}
		}},
		{"value", func([]js.Value) (any, Call, error) {
			return nil, func() (any, error) { return nil, &niw.ValueError{Name: "kappa", Value: math.NaN(), Want: "above 0"} }, nil
		}},
		{"own", func([]js.Value) (any, Call, error) { return nil, nil, &engine.Error{Code: "own", Message: "…"} }},
		{"failed", func([]js.Value) (any, Call, error) { return nil, nil, errors.New("other") }},
		{"internal", func([]js.Value) (any, Call, error) { return none[len(none)], nil, nil }},
		{"internal", func([]js.Value) (any, Call, error) { return nil, func() (any, error) { panic("later") }, nil }},
	} {
		_, err := call(t, c.method)
		got := codeOf(t, err)
		if got != c.want {
			t.Errorf("code %q, want %q", got, c.want)
		}
	}
	v, err := call(t, func([]js.Value) (any, Call, error) { return "alive", nil, nil })
	if err != nil || v.String() != "alive" {
		t.Errorf("after the panics: %v, %v", v, err)
	}
}

// bound returns what a method takes an argument for.
func bound[T any](v js.Value, names string) (got T, err error) {
	call, err := Bind(func(x T) { got = x }, names)([]js.Value{v})
	if err == nil {
		_, err = call()
	}
	return got, err
}

func TestEmbeddings(t *testing.T) {
	array := jsFloat32Array.New(5)
	for i := range 5 {
		array.SetIndex(i, float64(i)+0.5)
	}
	x, err := bound[[]float32](array, "embedding")
	if err != nil || len(x) != 5 || x[3] != 3.5 {
		t.Fatalf("embedding %v, %v", x, err)
	}
	part, err := bound[[]float32](array.Call("subarray", 2, 4), "embedding")
	if err != nil || len(part) != 2 || part[0] != 2.5 {
		t.Fatalf("part %v, %v", part, err)
	}
	for _, list := range []js.Value{js.ValueOf([]any{1, 2.5}), js.Global().Get("Float64Array").New(js.ValueOf([]any{1, 2.5}))} {
		if x, err := bound[[]float32](list, "embedding"); err != nil || len(x) != 2 || x[1] != 2.5 {
			t.Errorf("another array: %v, %v", x, err)
		}
	}
	array.SetIndex(1, math.Inf(1))
	for name, c := range map[string]struct {
		v    js.Value
		code string
	}{
		"infinite": {array, "value"}, "empty": {jsFloat32Array.New(0), "dimension"}, "long": {jsFloat32Array.New(model.MaxDimension + 1), "dimension"},
		"list of texts": {js.ValueOf([]any{1, "two"}), "value"}, "object": {js.ValueOf(map[string]any{}), "argument"},
		"null": {js.Null(), "argument"}, "number": {js.ValueOf(3), "argument"}, "missing": {js.Undefined(), "argument"},
	} {
		_, err := bound[[]float32](c.v, "embedding")
		if err == nil || engine.Explain(err).Code != c.code || len(err.Error()) < 20 {
			t.Errorf("%s: error %v, want a sentence under %q", name, err, c.code)
		}
	}
}

type settings struct {
	Sort      *string
	NonePrior float64
}

// Every kind of argument is given what it takes and what it does not.
func TestKinds(t *testing.T) {
	object := func(fields map[string]any) js.Value { return js.ValueOf(fields) }
	takes(t, "text", js.ValueOf("cat"), "cat")
	takes(t, "number", js.ValueOf(7), 7.0)
	takes(t, "whole number", js.ValueOf(7), 7)
	takes(t, "bytes", Array([]byte{1, 2, 3}), []byte{1, 2, 3})
	takes(t, "buffer", Array([]byte{4, 5}).Get("buffer"), []byte{4, 5})
	takes(t, "list", js.ValueOf([]any{1, 2}), []float64{1, 2})
	takes(t, "settings", object(map[string]any{"nonePrior": 0.5}), settings{NonePrior: 0.5})
	takes(t, "identity", object(map[string]any{"id": "net"}), model.Extractor{ID: "net"})
	takes(t, "identity", js.Undefined(), model.Extractor{})
	takes(t, "nothing?", js.Undefined(), "")
	takes(t, "nothing?", js.Null(), "")
	refuses[model.Extractor](t, "a number in an identity", object(map[string]any{"id": "net", "sha256": 7}))
	refuses[model.Extractor](t, "a text for an identity", js.ValueOf("net"))
	refuses[string](t, "a number for a text", js.ValueOf(7))
	refuses[string](t, "a text that may be missing?", js.ValueOf(7))
	refuses[float64](t, "a text for a number", js.ValueOf("7"))
	refuses[js.Value](t, "a text for a function", js.ValueOf("f"))
	refuses[[]byte](t, "a text for bytes", js.ValueOf("bytes"))
	refuses[[]float64](t, "a list of others", js.ValueOf([]any{1, "2"}))
	refuses[[]float64](t, "no list", js.Null())
	circular := object(nil)
	circular.Set("itself", circular)
	for _, v := range []js.Value{js.Undefined(), js.ValueOf("x"), object(map[string]any{"nonePrior": "half"}), circular} {
		refuses[settings](t, "settings of another form", v)
	}
	one := js.Global().Get("BigInt").Invoke(1)
	refuses[string](t, "a BigInt for a text", one)
	refuses[float64](t, "a BigInt for a number", one)
	refuses[js.Value](t, "a BigInt for a function", one)
	refuses[[]byte](t, "a BigInt for bytes", one)
	refuses[[]float32](t, "a BigInt for an embedding", one)
	refuses[[]float64](t, "a BigInt for a list", one)
	refuses[[]float64](t, "a list of a BigInt", js.Global().Get("Array").Call("of", one))
	refuses[model.Extractor](t, "a BigInt for an identity", one)
	refuses[settings](t, "a BigInt for settings", one)
}

func takes[T any](t *testing.T, name string, v js.Value, want T) {
	t.Helper()
	got, err := bound[T](v, name)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, %v, want %v", name, got, err, want)
	}
}

func refuses[T any](t *testing.T, name string, v js.Value) {
	t.Helper()
	_, err := bound[T](v, name)
	if err == nil || engine.Explain(err).Code != "argument" || !strings.Contains(err.Error(), "correct the call") {
		t.Errorf("%s: error %v", name, err)
	}
}

// Methods are called with what they take and with less, and answer with their results.
func TestMethodsAreBound(t *testing.T) {
	d := Bind(func(a, b string) (string, int, error) { return a + " " + b, 2, nil }, "word, word", "words", "n")
	for name, m := range map[string]Method{"at once": AtOnce(d), "waiting": Waiting(d)} {
		v, err := call(t, m, "one", "two", "more")
		if err != nil || v.Get("words").String() != "one two" || v.Get("n").Int() != 2 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		_, err = call(t, m, "one")
		if codeOf(t, err) != "argument" {
			t.Errorf("%s, an argument less: %v", name, err)
		}
	}
	failed := errors.New("failed")
	_, err := call(t, AtOnce(Bind(func() (string, error) { return "x", failed }, "")))
	if codeOf(t, err) != "failed" {
		t.Errorf("an error: %v", err)
	}
	for want, f := range map[string]any{
		"null": func() {}, `"x"`: func() string { return "x" }, `{"Sort":null,"NonePrior":1}`: func() *settings { return &settings{NonePrior: 1} },
		`[{"0":7},null]`: func() [][]byte { return [][]byte{{7}, nil} }, "[1,2]": func() []int { return []int{1, 2} }, " null": func() *settings { return nil },
	} {
		v, err := call(t, AtOnce(Bind(f, "")))
		got := js.Global().Get("JSON").Call("stringify", v).String()
		if err != nil || got != strings.TrimSpace(want) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

func TestFetchOfNothingIsASentence(t *testing.T) {
	_, err := Fetch("http://127.0.0.1:9/nothing")
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != "fetch" || !strings.Contains(e.Message, "reload") {
		t.Fatalf("error %v", err)
	}
}
