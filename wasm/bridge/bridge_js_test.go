package bridge

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"metaqda/core/niw"
	"metaqda/core/test"
	"metaqda/wasm/engine"
)

// call calls a method as JavaScript does and waits for its promise.
func call(t *testing.T, m Method, args ...any) (js.Value, error) {
	t.Helper()
	f := Func(m)
	defer f.Release()
	promise := f.Invoke(args...)
	test.StopIf(t, !promise.InstanceOf(jsPromise), "the method answers %v, no promise", promise)
	return Await(promise)
}

func codeOf(t *testing.T, err error) string {
	t.Helper()
	var thrown js.Error
	test.StopIf(t, !errors.As(err, &thrown), "rejected with %v, want a JavaScript error", err)
	test.StopIf(t, !thrown.Value.InstanceOf(jsError), "rejected with %v, which is no Error", thrown.Value)
	return thrown.Value.Get("code").String()
}

func TestMethodsAnswerAtOnceOrLater(t *testing.T) {
	v, err := call(t, func(a []js.Value) (any, Later, error) { return a[0].Int() + 1, nil, nil }, 41)
	test.FailIf(t, err != nil || v.Int() != 42, "at once: %v, %v", v, err)
	v, err = call(t, func([]js.Value) (any, Later, error) {
		return nil, func() (any, error) { time.Sleep(5 * time.Millisecond); return "late", nil }, nil
	})
	test.FailIf(t, err != nil || v.String() != "late", "later: %v, %v", v, err)
}

func TestErrorsHaveCodes(t *testing.T) {
	for want, m := range map[string]Method{
		"dimension": func([]js.Value) (any, Later, error) {
			return nil, nil, &niw.DimensionError{Name: "embedding", Got: 1, Want: 2}
		},
		"value": func([]js.Value) (any, Later, error) {
			return nil, func() (any, error) { return nil, &niw.ValueError{Name: "kappa", Value: math.NaN(), Want: "above 0"} }, nil
		},
		"own":    func([]js.Value) (any, Later, error) { return nil, nil, &engine.Error{Code: "own", Message: "…"} },
		"failed": func([]js.Value) (any, Later, error) { return nil, nil, errors.New("other") },
	} {
		_, err := call(t, m)
		if got := codeOf(t, err); got != want {
			t.Errorf("code %q, want %q", got, want)
		}
	}
}

func TestPanicsBecomeErrorsAndTheProgramGoesOn(t *testing.T) {
	var none []int
	for name, m := range map[string]Method{
		"at once": func([]js.Value) (any, Later, error) { return none[len(none)], nil, nil },
		"later":   func([]js.Value) (any, Later, error) { return nil, func() (any, error) { panic("later") }, nil },
	} {
		_, err := call(t, m)
		if got := codeOf(t, err); got != "internal" {
			t.Errorf("%s: code %q", name, got)
		}
	}
	if v, err := call(t, func([]js.Value) (any, Later, error) { return "alive", nil, nil }); err != nil || v.String() != "alive" {
		t.Errorf("after the panics: %v, %v", v, err)
	}
}

func TestEmbeddings(t *testing.T) {
	embedding := Embedding("embedding")
	array := jsFloat32Array.New(5)
	for i := range 5 {
		array.SetIndex(i, float64(i)+0.5)
	}
	x, err := embedding(array)
	test.StopIf(t, err != nil || len(x) != 5 || x[3] != 3.5, "embedding %v, %v", x, err)
	part, err := embedding(array.Call("subarray", 2, 4))
	test.StopIf(t, err != nil || len(part) != 2 || part[0] != 2.5, "part %v, %v", part, err)
	array.SetIndex(1, math.Inf(1))
	for name, c := range map[string]struct {
		v    js.Value
		code string
	}{
		"infinite": {array, "value"}, "empty": {jsFloat32Array.New(0), "dimension"}, "long": {jsFloat32Array.New(engine.MaxDimension + 1), "dimension"},
		"doubles": {js.Global().Get("Float64Array").New(5), "argument"}, "list": {js.ValueOf([]any{1, 2}), "argument"},
		"null": {js.Null(), "argument"}, "number": {js.ValueOf(3), "argument"}, "missing": {js.Undefined(), "argument"},
	} {
		if _, err := embedding(c.v); err == nil || engine.Explain(err).Code != c.code || len(err.Error()) < 20 {
			t.Errorf("%s: error %v, want a sentence under %q", name, err, c.code)
		}
	}
}

// TestKinds gives every kind what it takes and what it does not.
func TestKinds(t *testing.T) {
	object := func(fields map[string]any) js.Value { return js.ValueOf(fields) }
	takes := func(name string, got any, err error, want any) {
		t.Helper()
		test.FailIf(t, err != nil || !reflect.DeepEqual(got, want), "%s: %v, %v, want %v", name, got, err, want)
	}
	refuses := func(name string, err error) {
		t.Helper()
		test.FailIf(t, err == nil || engine.Explain(err).Code != "argument" || !strings.Contains(err.Error(), "the page that calls"), "%s: error %v", name, err)
	}
	text, err := Text("name")(js.ValueOf("cat"))
	takes("text", text, err, "cat")
	_, err = Text("name")(js.ValueOf(7))
	refuses("a number for a text", err)
	number, err := Number("steps")(js.ValueOf(7))
	takes("number", number, err, 7.0)
	_, err = Number("steps")(js.ValueOf("7"))
	refuses("a text for a number", err)
	_, err = Function("listener")(js.ValueOf("f"))
	refuses("a text for a function", err)
	b, err := Bytes("file")(Array([]byte{1, 2, 3}))
	takes("bytes", b, err, []byte{1, 2, 3})
	b, err = Bytes("file")(Array([]byte{4, 5}).Get("buffer"))
	takes("buffer", b, err, []byte{4, 5})
	_, err = Bytes("file")(js.ValueOf("bytes"))
	refuses("a text for bytes", err)
	list, err := List("labels", Number("labels"))(js.ValueOf([]any{1, 2}))
	takes("list", list, err, []float64{1, 2})
	_, err = List("labels", Number("labels"))(js.ValueOf([]any{1, "2"}))
	refuses("a list of others", err)
	_, err = List("labels", Number("labels"))(js.Null())
	refuses("no list", err)
	type settings struct {
		Sort      *string
		NonePrior float64
	}
	s, err := JSON[settings]("settings")(object(map[string]any{"nonePrior": 0.5}))
	takes("JSON", s, err, settings{NonePrior: 0.5})
	for _, v := range []js.Value{js.Undefined(), js.ValueOf("x"), object(map[string]any{"nonePrior": "half"})} {
		_, err = JSON[settings]("settings")(v)
		refuses("JSON of another form", err)
	}
	for _, v := range []js.Value{js.Undefined(), js.Null()} {
		text, err = Optional(Text("name"))(v)
		takes("nothing", text, err, "")
	}
	_, err = Optional(Text("name"))(js.ValueOf(7))
	refuses("an optional of another kind", err)
	text, err = Or(Text("name"))(js.ValueOf(7))
	takes("of another kind, or nothing", text, err, "")
	text, err = Field(object(map[string]any{"url": "u"}), "url", Text("address"))
	takes("field", text, err, "u")
	for _, v := range []js.Value{js.Null(), js.ValueOf(7), object(nil)} {
		_, err = Field(v, "url", Text("address"))
		refuses("a field that is not there", err)
	}
}

// TestMethodsAreDecoded calls methods of up to three arguments with what they take
// and with less.
func TestMethodsAreDecoded(t *testing.T) {
	join := func(parts ...string) (any, error) { return strings.Join(parts, " "), nil }
	text := Text("word")
	decoders := []Decoder{
		Take0(func() (any, error) { return join() }),
		Take1(text, func(a string) (any, error) { return join(a) }),
		Take2(text, text, func(a, b string) (any, error) { return join(a, b) }),
		Take3(text, text, text, func(a, b, c string) (any, error) { return join(a, b, c) }),
	}
	words := []any{"one", "two", "three", "more"}
	for n, d := range decoders {
		for name, m := range map[string]Method{"at once": AtOnce(d), "waiting": Waiting(d)} {
			v, err := call(t, m, words[:n+1]...)
			if want := strings.TrimSpace(strings.Join([]string{"one", "two", "three"}[:n], " ")); err != nil || v.String() != want {
				t.Errorf("%s, %d arguments: %v, %v", name, n, v, err)
			}
			for less := range n {
				if _, err := call(t, m, words[:less]...); codeOf(t, err) != "argument" {
					t.Errorf("%s, %d arguments of %d: %v", name, less, n, err)
				}
			}
		}
	}
}

func TestFetchOfNothingIsASentence(t *testing.T) {
	_, err := Fetch("http://127.0.0.1:9/nothing")
	var e *engine.Error
	test.StopIf(t, !errors.As(err, &e) || e.Code != "fetch" || !strings.Contains(e.Message, "reload"), "error %v", err)
}
