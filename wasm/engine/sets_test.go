package engine

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"metaqda/core/test"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

// vague is a picture of a class that is hard to tell from others.
func vague(r *rand.Rand, centre float64) []float32 {
	x := picture(r, centre)
	for i := range x {
		x[i] += float32(2 * r.NormFloat64())
	}
	return x
}

// An answer that is not sure names the set of labels: at once, or once examples were left out in
// slices. A live view does not.
func TestAnAnswerThatIsNotSureNamesASet(t *testing.T) {
	s, r := log.NewMemory(), rand.New(rand.NewPCG(2, 1))
	w := newWorld(t, s)
	for k := range 3 {
		id := w.addClass(t, []string{"cat", "dog", "hen"}[k])
		for range 6 {
			test.Must(w.AddExample(id, vague(r, float64(k)), nil, ""))(t)
		}
	}
	x := vague(r, 0)
	test.Must(w.Show(x))(t)
	for tries := 0; !strings.HasPrefix(w.frame.Verdict, "Not sure") || w.frame.Hint == ""; tries++ {
		if tries == 100 {
			t.Fatalf("%q, %q", w.frame.Verdict, w.frame.Hint)
		}
		x = vague(r, 0)
		test.Must(w.Show(x))(t)
	}
	want := w.frame.Hint
	if !strings.HasPrefix(want, "Nine times in ten it is ") {
		t.Errorf("%q has the hint %q", w.frame.Verdict, want)
	}
	test.Must(w.ShowFrame(x, 0))(t)
	if w.frame.Hint != "" {
		t.Errorf("a live view has the hint %q", w.frame.Hint)
	}
	w.Flush()

	var e *Engine
	shown, clock := make(chan view.Frame, 100), int64(0)
	e = newEngine(s, Hooks{
		Show:  func(f view.Frame) { shown <- f },
		Now:   func() time.Time { clock++; return time.Unix(0, clock*int64(slice)/4) },
		Yield: func(bool) {},
	})
	test.OK(t, e.Start())
	e.PrepareAll()
	test.Must(e.Show(x))(t)
	frames := 0
	for f := range shown { // the one with the set comes last
		if frames++; f.Hint == want {
			break
		}
	}
	if frames < 2 {
		t.Errorf("the set was there with frame %d: examples were not left out in slices", frames)
	}
}
