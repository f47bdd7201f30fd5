package bridge

import (
	"errors"
	"math"
	"strings"
	"syscall/js"
	"testing"
	"time"

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

func TestMethodsAnswerAtOnceOrLater(t *testing.T) {
	v, err := call(t, func(a Args) (any, Later, error) { return a.Value(0).Int() + 1, nil, nil }, 41)
	if err != nil || v.Int() != 42 {
		t.Errorf("at once: %v, %v", v, err)
	}
	v, err = call(t, func(a Args) (any, Later, error) {
		return nil, func() (any, error) { time.Sleep(5 * time.Millisecond); return "late", nil }, nil
	})
	if err != nil || v.String() != "late" {
		t.Errorf("later: %v, %v", v, err)
	}
}

func TestErrorsHaveCodes(t *testing.T) {
	for want, m := range map[string]Method{
		"dimension": func(Args) (any, Later, error) {
			return nil, nil, &niw.DimensionError{Name: "embedding", Got: 1, Want: 2}
		},
		"value": func(Args) (any, Later, error) {
			return nil, func() (any, error) { return nil, &niw.ValueError{Name: "kappa", Value: math.NaN(), Want: "above 0"} }, nil
		},
		"own":    func(Args) (any, Later, error) { return nil, nil, &engine.Error{Code: "own", Message: "…"} },
		"failed": func(Args) (any, Later, error) { return nil, nil, errors.New("other") },
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
		"at once": func(Args) (any, Later, error) { return none[len(none)], nil, nil },
		"later":   func(Args) (any, Later, error) { return nil, func() (any, error) { panic("later") }, nil },
	} {
		_, err := call(t, m)
		if got := codeOf(t, err); got != "internal" {
			t.Errorf("%s: code %q", name, got)
		}
	}
	if v, err := call(t, func(Args) (any, Later, error) { return "alive", nil, nil }); err != nil || v.String() != "alive" {
		t.Errorf("after the panics: %v, %v", v, err)
	}
}

func TestFloats(t *testing.T) {
	array := jsFloat32Array.New(5)
	for i := range 5 {
		array.SetIndex(i, float64(i)+0.5)
	}
	x, err := Args{array}.Floats(0, "embedding", nil)
	if err != nil || len(x) != 5 || x[3] != 3.5 {
		t.Fatalf("floats %v, %v", x, err)
	}
	part, err := Args{array.Call("subarray", 2, 4)}.Floats(0, "embedding", nil)
	if err != nil || len(part) != 2 || part[0] != 2.5 {
		t.Fatalf("part %v, %v", part, err)
	}
	if y, err := (Args{array}).Floats(0, "embedding", x); err != nil || &y[0] != &x[0] {
		t.Errorf("memory that is large enough is not used again: %v", err)
	}
	array.SetIndex(1, math.Inf(1))
	for name, v := range map[string]js.Value{
		"infinite": array, "empty": jsFloat32Array.New(0), "doubles": js.Global().Get("Float64Array").New(5),
		"list": js.ValueOf([]any{1, 2}), "null": js.Null(), "number": js.ValueOf(3),
	} {
		if _, err := (Args{v}).Floats(0, "embedding", nil); err == nil || len(err.Error()) < 20 {
			t.Errorf("%s: error %v, want a sentence", name, err)
		}
	}
	if _, err := (Args{}).Floats(0, "embedding", nil); err == nil {
		t.Error("a missing argument was taken")
	}
}

func TestBytesAndCache(t *testing.T) {
	b, err := Args{Bytes([]byte{1, 2, 3})}.Bytes(0, "file")
	if err != nil || string(b) != "\x01\x02\x03" {
		t.Fatalf("bytes %v, %v", b, err)
	}
	buffer := Bytes([]byte{4, 5}).Get("buffer")
	if b, err := (Args{buffer}).Bytes(0, "file"); err != nil || string(b) != "\x04\x05" {
		t.Fatalf("buffer %v, %v", b, err)
	}
	var c Cache
	one := c.Get("a", []byte{1})
	if !one.Equal(c.Get("a", []byte{1})) {
		t.Error("asked twice, the cache answers two arrays")
	}
	if !c.Get("b", nil).IsNull() {
		t.Error("no bytes do not give null")
	}
	c.Keep(map[string]bool{})
	if one.Equal(c.Get("a", []byte{1})) {
		t.Error("a dropped array is still there")
	}
}

func TestFetchOfNothingIsASentence(t *testing.T) {
	_, err := Fetch("http://127.0.0.1:9/nothing")
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != "fetch" || !strings.Contains(e.Message, "reload") {
		t.Fatalf("error %v", err)
	}
}
