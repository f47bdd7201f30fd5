package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// both is one session twice: in the engine, with a page that follows its changes, and in a
// program that uses the package.
type both struct {
	t       *testing.T
	page    *world
	own     *metaqda.Classifier
	mirror  *mirror
	renewed bool // no changes lead from the mirror's state
}

// refused checks that both accepted the call, or refused it with the same code.
func (b *both) refused(what string, page, own error) {
	b.t.Helper()
	codes := [2]string{code(page), ""}
	if own != nil {
		codes[1] = metaqda.Code(own)
	}
	if codes[0] != codes[1] {
		b.t.Fatalf("%s: %q (%v) by the page, %q (%v) by the package", what, codes[0], page, codes[1], own)
	}
}

// act does the same random thing to both.
func (b *both) act(r *rand.Rand, i int) string {
	labels := []string{"cup", "Cup ", "CUP", "pen", "Cafe\u0301", "caf\u00e9", " ", "none of These", "ﬁsh", "FISH", "\x01", "key"}
	name, other := labels[r.IntN(len(labels))], labels[r.IntN(len(labels))]
	classes, taught := b.page.State().Classes, b.own.Classes()
	k := r.IntN(22)
	if len(classes) < 3 && k > 3 && i%4 != 0 {
		k = 0
	}
	var at, to, x int
	if len(classes) > 0 {
		at, to = r.IntN(len(classes)), r.IntN(len(classes))
		if n := len(classes[at].Examples); n > 0 {
			x = r.IntN(n)
		}
	}
	switch {
	case k < 2 || len(classes) == 0:
		_, err := b.own.AddClass(name)
		b.refused("add class "+name, second(b.page.AddClass(name)), err)
		return "add class"
	case k < 9:
		v := picture(r, float64(at))
		if i%2 == 0 { // near-copies of three pictures
			v = picture(rand.New(rand.NewPCG(r.Uint64N(3), 2)), 1)
			v[0] += 1e-4 * r.Float32()
		}
		_, err := b.own.AddAll([]string{taught[at].Label}, []metaqda.Example{{Vector: v, Thumbnail: []byte{byte(i)}}})
		b.refused("add example", first(b.page.AddExample(classes[at].ID, v, []byte{byte(i)}, "")), err)
		return "add example"
	case k == 9:
		b.refused("rename "+name, b.page.RenameClass(classes[at].ID, name), b.own.RenameClass(taught[at].Label, name))
		return "rename"
	case k == 10:
		b.refused("remove class", first(b.page.RemoveClass(classes[at].ID)), b.own.RemoveClass(taught[at].Label))
		return "remove class"
	case k == 11:
		b.refused("merge", first(b.page.MergeClasses(classes[at].ID, classes[to].ID)), b.own.MergeClasses(taught[at].Label, taught[to].Label))
		return "merge"
	case k < 14:
		page, err := b.page.Engine.Undo("")
		step, other := b.own.Undo()
		b.refused("undo", err, other)
		if step != nil && step.Name != page {
			b.t.Fatalf("undone: %q by the page, %+v by the package", page, step)
		}
		return "undo"
	case k < 16:
		_, err := b.page.Redo()
		_, other := b.own.Redo()
		b.refused("redo", err, other)
		return "redo"
	case k == 16:
		b.page.Begin("")
		b.own.Begin()
		_, _, err := b.page.AddClass(name)
		_, err2 := b.own.AddClass(name)
		b.refused("add class", err, err2)
		_, _, err = b.page.AddClass(other)
		_, err2 = b.own.AddClass(other)
		b.refused("add class", err, err2)
		b.page.End()
		b.own.End()
		return "two classes as one step"
	case k == 20:
		none := r.Float64() / 2
		b.refused("configure", b.page.Configure(none), b.own.Configure(metaqda.Settings{NonePrior: none}))
		return "configure"
	case k == 21:
		test.OK(b.t, b.page.readAnew())
		b.renewed = true
		return "read anew"
	case len(classes[at].Examples) == 0:
		return "nothing"
	case k == 17:
		b.refused("move", first(b.page.MoveExample(classes[at].ID, classes[at].Examples[x].ID, classes[to].ID)), b.own.Move(taught[at].Examples[x].ID, taught[to].Label))
		return "move"
	}
	b.refused("remove", first(b.page.RemoveExample(classes[at].ID, classes[at].Examples[x].ID)), b.own.Remove(taught[at].Examples[x].ID))
	return "remove"
}

// follow lets the mirror take over the changes, and compares it with the state.
func (b *both) follow(what string) {
	b.t.Helper()
	before := b.mirror.revision
	b.mirror.follow(b.page.Engine)
	behind, whole := b.mirror.revision-before, b.mirror.whole
	if whole && !b.renewed && behind <= mostChanges/2 || !whole && (b.renewed || behind > mostChanges) {
		b.t.Fatalf("%s: given everything: %v, %d steps behind", what, whole, behind)
	}
	b.mirror.check(b.t, what, b.page.Engine)
	b.renewed = false
}

// check compares every answer.
func (b *both) check(what string, query []float32) {
	b.t.Helper()
	state, taught := b.page.State(), b.own.Classes()
	var page, own string
	for i, k := range state.Classes {
		page += fmt.Sprintf("%s %d %v;", k.Label, len(k.Examples), k.Bursts)
		if i < len(taught) {
			own += fmt.Sprintf("%s %d %v;", taught[i].Label, len(taught[i].Examples), taught[i].Bursts)
		}
	}
	undo, redo := b.own.Next()
	page, own = page+state.Undo+"/"+state.Redo, own+undo+"/"+redo
	if page != own || len(taught) != len(state.Classes) {
		b.t.Fatalf("%s: %s by the page, %s by the package", what, page, own)
	}
	p, err := b.page.Predict(query)
	test.OK(b.t, err)
	a, err := b.own.Predict(query)
	if p == nil {
		if metaqda.Code(err) != "empty" {
			b.t.Fatalf("%s: nothing by the page, %v %v by the package", what, a, err)
		}
		return
	}
	test.OK(b.t, err)
	for i := range taught {
		if math.Abs(p.Probabilities[i]-a.Probabilities[i]) > 1e-12 {
			b.t.Fatalf("%s: %+v by the page, %+v by the package", what, p, a)
		}
	}
	if a.Decision != p.Decision || a.Label != p.Label {
		b.t.Fatalf("%s: %+v by the page, %+v by the package", what, p, a.Decision)
	}
}

// exchange lets each continue with the file of the other, and adds a burst to a class. The
// prior is the default one or one that knows bursts.
func (b *both) exchange(r *rand.Rand) {
	b.t.Helper()
	file := plainPrior(dim)
	file.Session.Near = 1e-3
	near := test.Must(model.EncodePrior(file))(b.t)
	prior := test.Must(metaqda.DecodePrior(near))(b.t)
	for i := range 6 {
		test.Must(b.own.AddAll([]string{"walk"}, []metaqda.Example{{Group: []string{"g", "h"}[i%2], Vector: picture(r, 2)}}))(b.t)
	}
	test.OK(b.t, third(b.page.ImportSession(test.Must(b.own.Save())(b.t), model.Extractor{})))
	shared := test.Must(b.page.SharedFile(true))(b.t)
	b.own = test.Must(metaqda.Open(shared, prior))(b.t)
	if r.IntN(2) == 0 {
		b.page.importPrior(b.t, near)
	} else {
		prior = test.Must(metaqda.Default(dim))(b.t)
		test.Must(b.page.ResetPrior())(b.t)
	}
	test.OK(b.t, b.own.SetPrior(prior))
	b.page.ForgetUndo() // a change of the prior cannot be undone after a reload
	b.own.ForgetUndo()
	b.renewed = true
	again := test.Must(model.DecodeClassifier(shared))(b.t)
	groups := map[string]bool{}
	for _, k := range again.Classes {
		for _, x := range k.Examples {
			groups[x.Group] = true
		}
	}
	if !groups["g"] || !groups["h"] {
		b.t.Fatal("groups were lost on the way")
	}
}

// A thousand random calls, some of them with files, give the same in the page and in the
// package: labels, refusals, order, bursts, undo, answers and decisions. The changes lead the
// page to the whole state.
func TestThePageAndThePackageAreOne(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 13))
	own := test.Must(metaqda.New(metaqda.Settings{NonePrior: 0.2}, nil))(t)
	b := both{t: t, page: newWorld(t, log.NewMemory()), own: own, mirror: &mirror{}, renewed: true}
	done := map[string]int{}
	for i := range 1000 {
		what := b.act(r, i)
		done[what]++
		b.check(fmt.Sprintf("%d, %s", i, what), picture(r, float64(i%5)))
		if r.IntN(3) > 0 || b.renewed {
			b.follow(fmt.Sprintf("%d, %s", i, what))
		}
		if i%100 == 99 {
			b.exchange(r)
			b.check("after a file", picture(r, 1))
			b.follow("after a file")
		}
		if i%150 == 149 { // the undo history outlasts the page
			b.page.Flush()
			b.page, b.mirror, b.renewed = newWorld(t, b.page.store), &mirror{}, true
			b.check("after a start", picture(r, 1))
			b.follow("after a start")
		}
	}
	if len(done) < 12 {
		t.Errorf("not everything was tried: %v", done)
	}
}
