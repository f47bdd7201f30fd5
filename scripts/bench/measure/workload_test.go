package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
)

func TestWorkloadAnswersAndReturnsToItsState(t *testing.T) {
	w := New(Case{Dimension: 32, Classes: 5, Shots: 5})
	before := slices.Clone(w.Predict(w.Query))
	best := slices.Index(before, slices.Max(before))
	if best != 0 {
		t.Errorf("a query of class 0 is taken for class %d: %v", best, before)
	}
	w.Full(true)
	if !floats.EqualApprox(w.Predict(w.Query), before, 1e-9) {
		t.Errorf("a full factor answers %v, a spiked one %v", w.Predict(w.Query), before)
	}
	w.Full(false)
	for _, name := range Operations {
		op, reset := w.Operation(name)
		Time(op, reset)
		w.Done(name)
	}
	after := w.Predict(w.Query)
	if !slices.Equal(before, after) {
		t.Errorf("probabilities before %v, after every operation %v", before, after)
	}
	again := New(w.Case).Predict(w.Query)
	if !slices.Equal(before, again) {
		t.Errorf("a second workload of the same case answers %v, not %v", again, before)
	}
}

func TestRowTakesMedianAndP95(t *testing.T) {
	var times []time.Duration
	for i := range 101 {
		times = append(times, time.Duration(100-i)*time.Millisecond)
	}
	r := Case{64, 5, 5}.Row("predict", "native", times, 7)
	if r.MedianMS != 50 || math.Abs(r.P95MS-95) > 1 || r.BytesPerOp != 7 || r.Dimension != 64 {
		t.Errorf("got %+v", r)
	}
}
