package bridge

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"syscall/js"
	"testing"

	metaqda "metaqda/core"
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

// In a background tab timers come once a second, or once a minute.
func TestUrgentWorkYieldsWithoutATimer(t *testing.T) {
	global := js.Global()
	former := global.Get("setTimeout")
	defer global.Set("setTimeout", former)
	global.Set("setTimeout", global.Get("Function").New()) // no function of Go: its runtime calls it
	done := make(chan bool, 2)
	late := js.FuncOf(func(js.Value, []js.Value) any { done <- false; return nil })
	defer late.Release()
	alarm := former.Invoke(late, 10_000)
	defer global.Call("clearTimeout", alarm)
	go func() {
		Yield(true)
		done <- true
	}()
	if !<-done {
		t.Error("it waits for a timer")
	}
}

func TestErrorsHaveCodesAndThoseThatPanicToo(t *testing.T) {
	var none []int
	for _, c := range []struct {
		want   string
		method Method
	}{
		{"dimension", gives(nil, &niw.DimensionError{Name: "embedding", Got: 1, Want: 2})},
		{"value", gives(nil, &niw.ValueError{Name: "kappa", Value: math.NaN(), Want: "above 0"})},
		{"own", gives(nil, &metaqda.Error{Code: "own", Message: "…"})},
		{"failed", gives(nil, errors.New("other"))},
		{"own", func(*Args) (any, error) { panic(&metaqda.Error{Code: "own", Message: "…"}) }},
		{"internal", func(*Args) (any, error) { return none[len(none)], nil }},
		{"internal", func(*Args) (any, error) { Yield(true); panic("later") }},
	} {
		_, err := call(t, c.method)
		got := codeOf(t, err)
		if got != c.want {
			t.Errorf("code %q, want %q", got, c.want)
		}
	}
	v, err := call(t, gives("alive", nil))
	if err != nil || v.String() != "alive" {
		t.Errorf("after the panics: %v, %v", v, err)
	}
}

// got returns what reading an argument gives.
func got[T any](read func(a *Args, name string) T, v js.Value) (x T, err error) {
	_, err = guarded(func(a *Args) (any, error) {
		x = read(a, "thing")
		return nil, nil
	}, &Args{rest: []js.Value{v}})
	return x, err
}

func TestEmbeddings(t *testing.T) {
	array := jsFloat32Array.New(5)
	for i := range 5 {
		array.SetIndex(i, float64(i)+0.5)
	}
	x, err := got((*Args).Embedding, array)
	if err != nil || len(x) != 5 || x[3] != 3.5 {
		t.Fatalf("embedding %v, %v", x, err)
	}
	part, err := got((*Args).Embedding, array.Call("subarray", 2, 4))
	if err != nil || len(part) != 2 || part[0] != 2.5 {
		t.Fatalf("part %v, %v", part, err)
	}
	for _, list := range []js.Value{js.ValueOf([]any{1, 2.5}), js.Global().Get("Float64Array").New(js.ValueOf([]any{1, 2.5}))} {
		if x, err := got((*Args).Embedding, list); err != nil || len(x) != 2 || x[1] != 2.5 {
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
		_, err := got((*Args).Embedding, c.v)
		if err == nil || engine.Explain(err).Code != c.code || len(err.Error()) < 20 {
			t.Errorf("%s: error %v, want a sentence under %q", name, err, c.code)
		}
	}
}

func texts(a *Args, name string) (all []string) {
	a.List(name, func(each *Args) { all = append(all, each.Text(name)) })
	return all
}

func flag(a *Args, name string) bool { return a.Flag(name, "pictures") }

// Every kind of argument is given what it takes and what it does not.
func TestKinds(t *testing.T) {
	object := func(fields map[string]any) js.Value { return js.ValueOf(fields) }
	takes(t, (*Args).Text, js.ValueOf("cat"), "cat")
	takes(t, (*Args).Number, js.ValueOf(7), 7.0)
	takes(t, (*Args).Bytes, Array([]byte{1, 2, 3}), []byte{1, 2, 3})
	takes(t, (*Args).Bytes, Array([]byte{4, 5}).Get("buffer"), []byte{4, 5})
	takes(t, texts, js.ValueOf([]any{"a", "b"}), []string{"a", "b"})
	takes(t, flag, object(map[string]any{"pictures": true}), true)
	takes(t, flag, object(nil), false)
	takes(t, (*Args).Extractor, object(map[string]any{"id": "net"}), model.Extractor{ID: "net"})
	takes(t, (*Args).Extractor, js.Undefined(), model.Extractor{})
	one := js.Global().Get("BigInt").Invoke(1)
	refuses(t, (*Args).Extractor, object(map[string]any{"id": "net", "sha256": 7}), js.ValueOf("net"), one)
	refuses(t, (*Args).Text, js.ValueOf(7), js.Undefined(), js.Null(), one)
	refuses(t, (*Args).Number, js.ValueOf("7"), one)
	refuses(t, (*Args).Bytes, js.ValueOf("bytes"), one)
	refuses(t, (*Args).Embedding, one)
	refuses(t, texts, js.ValueOf([]any{"a", 2}), js.Null(), one, js.Global().Get("Array").Call("of", one))
	refuses(t, flag, js.Undefined(), js.ValueOf("x"), one)
	for v, want := range map[js.Type]bool{js.TypeUndefined: false, js.TypeNull: false, js.TypeNumber: true} {
		a := &Args{rest: []js.Value{map[js.Type]js.Value{js.TypeNull: js.Null(), js.TypeNumber: js.ValueOf(1)}[v], js.ValueOf("next")}}
		if a.Has() != want || !want && a.Text("next") != "next" {
			t.Errorf("%v: there is %v", v, !want)
		}
	}
}

func takes[T any](t *testing.T, read func(*Args, string) T, v js.Value, want T) {
	t.Helper()
	x, err := got(read, v)
	if err != nil || !reflect.DeepEqual(x, want) {
		t.Errorf("%v, %v, want %v", x, err, want)
	}
}

func refuses[T any](t *testing.T, read func(*Args, string) T, all ...js.Value) {
	t.Helper()
	for i, v := range all {
		_, err := got(read, v)
		if err == nil || engine.Explain(err).Code != "argument" || !strings.Contains(err.Error(), "correct the call") {
			t.Errorf("the one at %d: error %v", i, err)
		}
	}
}

// gives returns a method with a result.
func gives(result any, err error) Method { return func(*Args) (any, error) { return result, err } }

// Methods are called with what they take and with less, and answer with their results.
func TestMethodsReadTheirArguments(t *testing.T) {
	m := func(a *Args) (any, error) {
		return map[string]any{"words": a.Text("word") + " " + a.Text("word"), "n": 2}, nil
	}
	v, err := call(t, m, "one", "two", "more")
	if err != nil || v.Get("words").String() != "one two" || v.Get("n").Int() != 2 {
		t.Errorf("%v, %v", v, err)
	}
	_, err = call(t, m, "one")
	if codeOf(t, err) != "argument" {
		t.Errorf("an argument less: %v", err)
	}
	_, err = call(t, gives("x", errors.New("failed")))
	if codeOf(t, err) != "failed" {
		t.Errorf("an error: %v", err)
	}
	for want, x := range map[string]any{"null": nil, `"x"`: "x", `{"n":1}`: Parsed(`{"n":1}`), `[{"0":7},null]`: [][]byte{{7}, nil}, " null": []byte(nil)} {
		v, err := call(t, gives(x, nil))
		got := js.Global().Get("JSON").Call("stringify", v).String()
		if err != nil || got != strings.TrimSpace(want) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// Calls of one turn of the event loop take effect in their order, and before the next line of
// JavaScript runs.
func TestWorkBeginsWithinTheCall(t *testing.T) {
	begun := false
	f := Func(func(*Args) (any, error) {
		begun = true
		Yield(true)
		return nil, nil
	})
	defer f.Release()
	look := js.FuncOf(func(js.Value, []js.Value) any { return begun })
	defer look.Release()
	both := js.Global().Get("Function").New("f", "look", "f(); return look();")
	if !both.Invoke(f, look).Bool() {
		t.Error("the call returned before its work began")
	}
}

func TestFetchOfNothingIsASentence(t *testing.T) {
	_, err := Fetch("http://127.0.0.1:9/nothing")
	var e *metaqda.Error
	if !errors.As(err, &e) || e.Code != "fetch" || !strings.Contains(e.Message, "reload") {
		t.Fatalf("error %v", err)
	}
}
