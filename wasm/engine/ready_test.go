package engine

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/test"
	"metaqda/wasm/store"
)

// slow is a world in which much is done in slices, as in a tab: by its clock a
// millisecond goes by between two looks at it.
func slow(s store.Store) *Engine {
	var looks atomic.Int64
	now := func() time.Time { return time.UnixMilli(looks.Add(1)) }
	return New(s, "", Hooks{Now: now, Breathe: func(bool) { runtime.Gosched() }})
}

// What is enrolled in slices, while pictures and classes come and go, answers as what
// is enrolled at once.
func TestSlicesComeToTheSame(t *testing.T) {
	s := store.NewMemory()
	w := newWorld(t, s)
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 12 {
		id, _, err := w.AddClass("class " + strconv.Itoa(k))
		test.OK(t, err)
		for i := range 60 {
			x := picture(rng, float64(k))
			test.OK(t, first(w.AddExample(id, x, nil)))
			if i%7 == 0 { // the same again: a burst
				test.OK(t, first(w.AddExample(id, x, nil)))
			}
		}
	}
	w.Flush()

	e := slow(s)
	test.OK(t, e.Start())
	test.StopIf(t, e.Ready(), "the test wants more pictures than are enrolled at once")
	classes := e.State().Classes
	test.StopIf(t, len(classes) != 12 || len(classes[0].Examples) != 69, "%d classes, %d pictures are there at once", len(classes), len(classes[0].Examples))
	test.OK(t, first(e.RemoveExample(classes[11].ID, classes[11].Examples[0].ID)))
	token := test.Must(e.RemoveClass(classes[10].ID))(t)
	test.OK(t, first(e.AddExample(classes[9].ID, picture(rng, 3), nil)))
	test.OK(t, first(e.Undo(token)))
	test.Must(e.MoveExample(classes[8].ID, classes[8].Examples[5].ID, classes[7].ID))(t)
	test.OK(t, e.RenameClass(classes[6].ID, "renamed"))
	test.OK(t, first(e.RemoveClass(classes[5].ID)))
	e.Await()
	e.Flush()

	again := newWorld(t, s) // all at once
	for range 5 {
		x := picture(rng, 4)
		got := test.Must(e.Probabilities(x))(t)
		want := test.Must(again.Probabilities(x))(t)
		for i, c := range want.Classes {
			test.FailIf(t, got.Classes[i].Name != c.Name || math.Abs(got.Classes[i].P-c.P) > 1e-9, "%+v, want %+v", got.Classes[i], c)
		}
	}
	for i, c := range again.State().Classes {
		got := e.State().Classes[i]
		test.FailIf(t, !reflect.DeepEqual(got.Bursts, c.Bursts), "bursts of %s are %v, want %v", c.Name, got.Bursts, c.Bursts)
	}
}

// A picture with which nothing can be computed is set aside where it is found late, and
// the others answer.
func TestAPictureFoundOutLateIsSetAside(t *testing.T) {
	s := store.NewMemory()
	w := newWorld(t, s)
	rng := rand.New(rand.NewPCG(3, 4))
	var last string
	for k := range 3 {
		id, _, err := w.AddClass("class " + strconv.Itoa(k))
		test.OK(t, err)
		last = id
		for range 200 {
			test.OK(t, first(w.AddExample(id, picture(rng, float64(k)), nil)))
		}
	}
	huge := make([]float32, dim)
	for i := range huge {
		huge[i] = math.MaxFloat32
	}
	test.OK(t, first(w.AddExample(last, huge, nil))) // the plain prior can do with it
	w.Flush()

	e := slow(s)
	test.OK(t, e.Start())
	e.mu.Lock()
	file := &model.Prior{Precision: "F64", Session: model.Session{Shared: 1, Kappa: 1}, Transform: embed.Transform{Power: 4, Kind: embed.None}, NIW: &niw.Prior{M: make([]float64, dim), Kappa: 1, Nu: dim, Spiked: mustSpiked(t)}}
	b := test.Must(model.EncodePrior(file))(t)
	narrow := test.Must(metaqda.DecodePrior(b))(t)
	test.OK(t, e.taught.ReplacePrior(narrow))
	e.prepare()
	e.mu.Unlock()
	e.Await()
	if s := e.State(); s.Damaged != 1 || len(s.Classes[2].Examples) != 200 {
		t.Errorf("%d damaged, %d pictures", s.Damaged, len(s.Classes[2].Examples))
	}
	p, err := e.Probabilities(picture(rng, 1))
	test.FailIf(t, err != nil || p == nil, "%v, %v", p, err)
}

// mustSpiked is a scale so narrow that what is far away cannot be computed with.
func mustSpiked(t *testing.T) *niw.Spiked {
	scale := make([]float64, dim)
	for i := range scale {
		scale[i] = 1e-9
	}
	return test.Must(niw.NewSpiked(scale, nil, nil))(t)
}
