package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/store"
)

// many is a world whose open session has so many pictures that their thumbnails stay in
// the store. Each is the id of the class with the number of the picture.
func many(t *testing.T) (w *world, ids []string) {
	t.Helper()
	s := store.NewMemory()
	w = newWorld(t, s)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 31 {
		id, _, err := w.AddClass(fmt.Sprint("class ", k))
		test.OK(t, err)
		ids = append(ids, id)
		for i := range 20 {
			test.OK(t, first(w.AddExample(id, picture(r, float64(k)), fmt.Append(nil, id, "/", i))))
		}
	}
	w.Flush()
	w = newWorld(t, s)
	c := w.State().Classes[3].Examples[4]
	test.StopIf(t, c.Thumbnail != nil || !c.Apart, "the thumbnail of %+v was read", c)
	return w, ids
}

// thumbnailsOf returns those of a class, from the engine.
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
		found := test.Must(w.Thumbnails(class, ids))(t)
		for _, b := range found {
			all = append(all, string(b))
		}
	}
	return all
}

// Thumbnails that only the store has are there for whoever asks, and come back with
// what is undone, before and after it was stored.
func TestThumbnailsApart(t *testing.T) {
	for _, flush := range []func(w *world){func(*world) {}, (*world).flush} {
		w, ids := many(t)
		whole := fmt.Sprint(w.thumbnailsOf(t, ids[3]))
		check := func(what, class, want string) {
			t.Helper()
			for _, moment := range []string{"at once", "when stored", "after a start"} {
				got := fmt.Sprint(w.thumbnailsOf(t, class))
				test.StopIf(t, got != want, "%s, %s: thumbnails %s, want %s", what, moment, got, want)
				w.Flush()
				if moment == "when stored" {
					w = newWorld(t, w.store)
				}
			}
		}
		test.StopIf(t, len(whole) < 100, "thumbnails %s", whole)
		check("as taught", ids[3], whole)
		x := w.State().Classes[3].Examples[4]

		token := test.Must(w.RemoveExample(ids[3], x.ID))(t)
		flush(w)
		test.OK(t, w.Undo(token))
		check("picture removed and back", ids[3], whole)

		token = test.Must(w.MoveExample(ids[3], x.ID, ids[5]))(t)
		flush(w)
		found := test.Must(w.Thumbnails(ids[5], []string{x.ID}))(t)
		test.StopIf(t, string(found[0]) != ids[3]+"/4", "moved with thumbnail %q", found[0])
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

		file := test.Must(w.ExportSession())(t)
		c := test.Must(model.DecodeClassifier(file))(t)
		n := len(c.Classes[30].Examples)
		test.StopIf(t, n != 20 || string(c.Classes[30].Examples[19].Thumbnail) != ids[30]+"/19", "%d pictures in the file, the last one %q", n, c.Classes[30].Examples[n-1].Thumbnail)
	}
}

func (w *world) flush() { w.Flush() }
