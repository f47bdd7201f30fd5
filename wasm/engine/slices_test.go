package engine

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/test"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

// slow returns an engine that works in slices, as in a tab: its clock advances two thirds of a
// slice at each look. Each call of next lets it enrol one slice more; done lets it go on.
func slow(s log.DB) (e *Engine, next, done func()) {
	var looks atomic.Int64
	now := func() time.Time { return time.Unix(0, looks.Add(1)*int64(slice)*2/3) }
	gate := make(chan struct{})
	e = newEngine(s, Hooks{Now: now, Yield: func(urgent bool) {
		if runtime.Gosched(); !urgent {
			<-gate
		}
	}})
	return e, func() { gate <- struct{}{} }, func() { close(gate) }
}

// Enrolling in slices, while pictures and classes come and go, gives the same answers as
// enrolling at once.
func TestSlicesComeToTheSame(t *testing.T) {
	s := log.NewMemory()
	w := newWorld(t, s)
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 12 {
		id := w.addClass(t, "class "+strconv.Itoa(k))
		for i := range 60 {
			x := picture(rng, float64(k))
			test.OK(t, first(w.AddExample(id, x, nil, "")))
			if i%7 == 0 { // the same again: a burst
				test.OK(t, first(w.AddExample(id, x, nil, "")))
			}
		}
	}
	w.Flush()

	e, next, done := slow(s)
	test.OK(t, e.Start())
	if e.Ready() {
		t.Fatal("the test wants more pictures than are enrolled at once")
	}
	classes := e.State().Classes
	if len(classes) != 12 || len(classes[0].Examples) != 69 {
		t.Fatalf("%d classes, %d pictures are there at once", len(classes), len(classes[0].Examples))
	}
	test.OK(t, first(e.RemoveExample(classes[11].ID, classes[11].Examples[0].ID)))
	next()
	token := test.Must(e.RemoveClass(classes[10].ID))(t)
	next()
	test.OK(t, first(e.AddExample(classes[9].ID, picture(rng, 3), nil, "")))
	next()
	test.OK(t, first(e.Undo(token)))
	next()
	test.Must(e.MoveExample(classes[8].ID, classes[8].Examples[5].ID, classes[7].ID))(t)
	test.OK(t, e.RenameClass(classes[6].ID, "renamed"))
	test.OK(t, first(e.RemoveClass(classes[5].ID)))
	done()
	e.PrepareAll()
	e.Flush()

	again := newWorld(t, s) // all at once
	for range 5 {
		x := picture(rng, 4)
		got := test.Must(e.Predict(x))(t)
		want := test.Must(again.Predict(x))(t)
		near(t, "in slices", *got, *want)
	}
	for i, c := range again.State().Classes {
		got := e.State().Classes[i]
		if !reflect.DeepEqual(got.Bursts, c.Bursts) {
			t.Errorf("bursts of %s are %v, want %v", c.Label, got.Bursts, c.Bursts)
		}
	}
}

// A picture that breaks the computation is set aside, even if that shows late, and the others
// answer.
func TestAPictureFoundOutLateIsSetAside(t *testing.T) {
	s := log.NewMemory()
	w := newWorld(t, s)
	rng := rand.New(rand.NewPCG(3, 4))
	var last string
	for k := range 3 {
		id := w.addClass(t, "class "+strconv.Itoa(k))
		last = id
		for range 200 {
			test.OK(t, first(w.AddExample(id, picture(rng, float64(k)), nil, "")))
		}
	}
	huge := make([]float32, dim)
	for i := range huge {
		huge[i] = math.MaxFloat32
	}
	test.OK(t, first(w.AddExample(last, huge, nil, ""))) // the plain prior can compute with it
	w.Flush()

	e, _, done := slow(s)
	test.OK(t, e.Start())
	narrow := make([]float64, dim) // so narrow that distant pictures break the computation
	for i := range narrow {
		narrow[i] = 1e-9
	}
	spiked := test.Must(niw.NewSpiked(narrow, nil, nil))(t)
	e.mu.Lock()
	file := &model.Prior{Precision: "F64", Session: model.Session{Shared: 1, Kappa: 1}, Transform: embed.Transform{Power: 4, Kind: embed.None}, NIW: &niw.Prior{M: make([]float64, dim), Kappa: 1, Nu: dim, Spiked: spiked}}
	b := test.Must(model.EncodePrior(file))(t)
	test.OK(t, e.taught.ReplacePrior(test.Must(metaqda.DecodePrior(b))(t)))
	e.prepare()
	e.mu.Unlock()
	done()
	e.PrepareAll()
	if s := e.State(); s.Damaged != 1 || len(s.Classes[2].Examples) != 200 {
		t.Errorf("%d damaged, %d pictures", s.Damaged, len(s.Classes[2].Examples))
	}
	p, err := e.Predict(picture(rng, 1))
	if err != nil || p == nil {
		t.Errorf("%v, %v", p, err)
	}
}

// many returns a world whose open session has so many pictures that their thumbnails stay in
// the store. Each thumbnail is the id of the class with the number of the picture.
func many(t *testing.T) (w *world, ids []string) {
	t.Helper()
	s := log.NewMemory()
	w = newWorld(t, s)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 31 {
		id := w.addClass(t, fmt.Sprint("class ", k))
		ids = append(ids, id)
		for i := range 20 {
			test.OK(t, first(w.AddExample(id, picture(r, float64(k)), fmt.Append(nil, id, "/", i), "")))
		}
	}
	w.Flush()
	w = newWorld(t, s)
	c := w.State().Classes[3].Examples[4]
	if c.Thumbnail != nil || !c.Apart {
		t.Fatalf("the thumbnail of %+v was read", c)
	}
	return w, ids
}

// thumbnailsOf returns the thumbnails of a class from the engine.
func (w *world) thumbnailsOf(t *testing.T, class string) (all []string) {
	t.Helper()
	for _, c := range w.State().Classes {
		if c.ID != class {
			continue
		}
		var ids []string
		for _, x := range c.Examples {
			ids = append(ids, x.ID)
		}
		found := test.Must(w.Thumbnails(ids))(t)
		for _, b := range found {
			all = append(all, string(b))
		}
	}
	return all
}

// Thumbnails that only the store has can be read, and come back with undo, before and after
// they were stored.
func TestThumbnailsApart(t *testing.T) {
	for _, flush := range []func(w *world){func(*world) {}, func(w *world) { w.Flush() }} {
		w, ids := many(t)
		whole := fmt.Sprint(w.thumbnailsOf(t, ids[3]))
		check := func(what, class, want string) {
			t.Helper()
			for _, moment := range []string{"at once", "when stored", "after a start"} {
				got := fmt.Sprint(w.thumbnailsOf(t, class))
				if got != want {
					t.Fatalf("%s, %s: thumbnails %s, want %s", what, moment, got, want)
				}
				w.Flush()
				if moment == "when stored" {
					w = newWorld(t, w.store)
				}
			}
		}
		if len(whole) < 100 {
			t.Fatalf("thumbnails %s", whole)
		}
		check("as taught", ids[3], whole)
		x := w.State().Classes[3].Examples[4]

		token := test.Must(w.RemoveExample(ids[3], x.ID))(t)
		flush(w)
		test.OK(t, w.Undo(token))
		check("picture removed and back", ids[3], whole)

		token = test.Must(w.MoveExample(ids[3], x.ID, ids[5]))(t)
		flush(w)
		found := test.Must(w.Thumbnails([]string{x.ID}))(t)
		if string(found[0]) != ids[3]+"/4" {
			t.Fatalf("moved with thumbnail %q", found[0])
		}
		flush(w)
		test.OK(t, w.Undo(token))
		check("picture moved and back", ids[3], whole)

		test.Must(w.MoveExample(ids[3], x.ID, ids[7]))(t)
		seventh := fmt.Sprint(w.thumbnailsOf(t, ids[7]))
		check("picture moved", ids[7], seventh)

		third := fmt.Sprint(w.thumbnailsOf(t, ids[3]))
		token = test.Must(w.RemoveClass(ids[3]))(t)
		flush(w)
		test.OK(t, w.Undo(token))
		check("class removed and back", ids[3], third)

		file := test.Must(w.SaveSession())(t)
		c := test.Must(model.DecodeClassifier(file))(t)
		n := len(c.Classes[30].Examples)
		if n != 20 || string(c.Classes[30].Examples[19].Thumbnail) != ids[30]+"/19" {
			t.Fatalf("%d pictures in the file, the last one %q", n, c.Classes[30].Examples[n-1].Thumbnail)
		}

		test.Must(w.NewSession("other"))(t) // while they are saved
		found = test.Must(w.Thumbnails([]string{x.ID}))(t)
		if string(found[0]) != ids[3]+"/4" {
			t.Fatalf("of a session that is not open any more: thumbnail %q", found[0])
		}
	}
}

// A file written in slices holds the session as it was at the request, whatever changes between
// slices. The save is noted only once the file is complete.
func TestAFileIsOfTheMomentItWasAskedFor(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	cat, dog := ids[0], ids[1]
	want := test.Must(w.SharedFile(true))(t)

	pauses, whole := 0, false
	now := time.Unix(1e9, 0)
	w.Engine.hooks.Now = func() time.Time { now = now.Add(slice / 2); return now }
	w.Engine.hooks.Yield = func(bool) {
		if pauses++; pauses == 1 {
			test.OK(t, first(w.RemoveClass(dog)))
			test.OK(t, w.RenameClass(cat, "tiger"))
		}
		if !whole && w.session.Saved != 0 {
			t.Error("it is called saved before it is")
		}
	}
	got, err := w.SaveSession()
	whole = true
	test.OK(t, err)
	if pauses < 2 {
		t.Fatalf("it was written in %d slices", 1+pauses)
	}
	if !bytes.Equal(got, want) {
		t.Error("the file holds what happened after it was asked for")
	}
	file := test.Must(model.DecodeClassifier(got))(t)
	all := test.Must(w.Sessions())(t)
	if len(file.Classes) != 2 || all[0].Saved == 0 {
		t.Errorf("%d classes, saved %d", len(file.Classes), all[0].Saved)
	}
	now2 := test.Must(w.SharedFile(true))(t)
	file, err = model.DecodeClassifier(now2)
	if err != nil || len(file.Classes) != 1 || file.Classes[0].Label != "tiger" {
		t.Errorf("the session itself is not as it was changed %v", err)
	}
}

// A save is noted with the moment of the file, also if another session was opened while it was written.
func TestASaveIsNotedInASessionThatWasLeft(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	w.teachAll(t, "cat", "dog")
	id, asked := w.State().SessionID, w.clock
	var changed int64
	w.Engine.hooks.Now = func() time.Time { w.clock += int64(slice / 2 / time.Millisecond); return time.UnixMilli(w.clock) }
	w.Engine.hooks.Yield = func(bool) {
		if changed == 0 {
			w.addClass(t, "hen")
			changed = w.clock
			test.Must(w.NewSession("Garden"))(t)
		}
	}
	test.Must(w.SaveSession())(t)
	test.OK(t, w.OpenSession(id))
	if saved := w.State().Saved; changed == 0 || saved <= asked || saved > changed {
		t.Errorf("saved at %d, asked after %d, a class came by %d", saved, asked, changed)
	}
}

// A session with many pictures answers its query anew after a change, not within the call that
// changes it.
func TestALargeSessionAnswersAnewInSlices(t *testing.T) {
	s, rng := log.NewMemory(), rand.New(rand.NewPCG(5, 6))
	w := newWorld(t, s)
	for k := range 11 {
		id := w.addClass(t, "class "+strconv.Itoa(k))
		for range 60 {
			test.OK(t, first(w.AddExample(id, picture(rng, float64(k)), nil, "")))
		}
	}
	w.Flush()
	var within atomic.Int32
	shown := make(chan view.Frame, 1000)
	var looks atomic.Int64
	e := newEngine(s, Hooks{
		Show: func(f view.Frame) {
			if strings.Contains(string(debug.Stack()), "(*Engine).Change(") {
				within.Add(1)
			}
			shown <- f
		},
		Now:   func() time.Time { return time.Unix(0, looks.Add(1)*int64(slice)*2/3) },
		Yield: func(bool) { runtime.Gosched() },
	})
	test.OK(t, e.Start())
	e.PrepareAll()
	x := picture(rng, 3)
	test.Must(e.Show(x))(t)
	for range 3 {
		test.OK(t, first(e.AddExample(e.State().Classes[3].ID, picture(rng, 3.1), nil, "")))
	}
	if n := within.Load(); n > 0 {
		t.Errorf("%d answers within the calls", n)
	}
	want := test.Must(e.Predict(x))(t)
	for f := range shown { // one with the answer to all of them comes
		if slices.ContainsFunc(f.Rows, func(r view.Row) bool {
			return r.Name == "class 3" && math.Abs(r.P-want.byLabel()["class 3"]) < 1e-9
		}) {
			return
		}
	}
}

// The first answer of a session with many pictures comes in slices too, also after a change while
// nothing was asked.
func TestALargeSessionGetsReadyInSlices(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var looks atomic.Int64
	slices := 0
	e := newEngine(log.NewMemory(), Hooks{
		Now:   func() time.Time { return time.Unix(0, looks.Add(1)*int64(slice)*2/3) },
		Yield: func(bool) { slices++ },
	})
	test.OK(t, e.Start())
	for k := range 11 {
		id, _, err := e.AddClass("class " + strconv.Itoa(k))
		test.OK(t, err)
		for range 60 {
			test.OK(t, first(e.AddExample(id, picture(rng, float64(k)), nil, "")))
		}
	}
	for i := range 3 {
		if e.Ready() {
			t.Fatalf("change %d: an answer would have to compute what is not there yet", i)
		}
		slices = 0
		if e.PrepareAll(); slices < 10 || !e.Ready() {
			t.Errorf("change %d: %d slices, ready: %v", i, slices, e.Ready())
		}
		test.OK(t, first(e.AddExample(e.State().Classes[3].ID, picture(rng, 3.1), nil, "")))
	}
}

// Other sessions are read in pieces, and the page may answer between these.
func TestOtherSessionsAreReadInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	w := newWorld(t, log.NewMemory())
	for k := range 3 {
		id := w.addClass(t, "class "+strconv.Itoa(k))
		for range 500 {
			test.OK(t, first(w.AddExample(id, picture(rng, float64(k)), nil, "")))
		}
	}
	test.Must(w.NewSession("Garden"))(t)
	pieces := 0
	w.Engine.hooks.Yield = func(bool) {
		pieces++
		w.State() // would wait for ever under the lock
	}
	files := test.Must(w.OtherSessions())(t)
	if pieces == 0 || len(files) != 1 {
		t.Fatalf("%d pieces, %d sessions", pieces, len(files))
	}
	if file := test.Must(model.DecodeClassifier(files[0]))(t); len(file.Classes) != 3 || len(file.Classes[0].Examples) != 500 {
		t.Errorf("%d classes, %d examples in the first", len(file.Classes), len(file.Classes[0].Examples))
	}
}
