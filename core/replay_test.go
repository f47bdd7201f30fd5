package metaqda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"metaqda/core/model"
	"metaqda/core/test"
)

// mirror has the classes of a classifier by its changes alone, as the page does.
type mirror []Class

func (m *mirror) follow(x Change) {
	at := slices.IndexFunc(*m, func(k Class) bool { return k.ID == x.Class.ID })
	if x.New {
		at = x.At
		*m = slices.Insert(*m, at, Class{})
	}
	if at < 0 {
		return // actions of none
	}
	switch k := &(*m)[at]; x.Do {
	case PutClass:
		x.Class.Examples, x.Class.Bursts = k.Examples, k.Bursts
		*m = slices.Insert(slices.Delete(*m, at, at+1), x.At, x.Class)
	case DropClass:
		*m = slices.Delete(*m, at, at+1)
	case PutExample:
		k.Examples = slices.Insert(k.Examples, x.At, x.Example)
	case DropExample:
		k.Examples = slices.DeleteFunc(k.Examples, func(o *Example) bool { return o.ID == x.Example.ID })
	case PutBurst:
		k.Bursts = append(k.Bursts[:x.At:x.At], append(slices.Clone(x.Bursts), k.Bursts[min(x.At+1, len(k.Bursts)):]...)...)
	case PutBursts:
		k.Bursts = x.Bursts
	}
}

// twins are a classifier, and a copy that repeats what the first one logs. A mirror follows each.
type twins struct {
	t        *testing.T
	own      *Classifier
	copy     *Classifier
	commands []Command
	mirrors  [2]mirror
}

func newTwins(t *testing.T) *twins {
	w := &twins{t: t, own: new(Classifier), copy: new(Classifier)}
	w.own.Changed, w.copy.Changed = w.mirrors[0].follow, w.mirrors[1].follow
	w.own.Logged = func(x Command) { w.commands = append(w.commands, x) }
	return w
}

// repeat has the copy repeat all that was logged, and compares the two.
func (w *twins) repeat(what string) {
	w.t.Helper()
	for _, x := range w.commands {
		_ = w.copy.Replay(x, 0) // undoing may fail, in both
	}
	w.commands = nil
	if own, copy := shown(w.own), shown(w.copy); own != copy {
		w.t.Fatalf("%s: the copy is %s, want %s", what, copy, own)
	}
	for i, c := range []*Classifier{w.own, w.copy} {
		if got, want := shownOf(w.mirrors[i]), shownOf(c.Classes()); got != want {
			w.t.Fatalf("%s: by changes classifier %d is %s, want %s", what, i, got, want)
		}
	}
}

func shownOf(classes []Class) (all string) {
	for _, k := range classes {
		all += fmt.Sprint("; ", k.ID, k.Label, k.Order, k.Bursts, k.Actions)
		for _, x := range k.Examples {
			all += fmt.Sprint(" ", x.ID, x.Group, x.Vector)
		}
	}
	return all
}

func shown(c *Classifier) string {
	all := c.Actions() + shownOf(c.Classes())
	undo, redo := c.Steps()
	for _, s := range append(undo, redo...) {
		all += fmt.Sprint("; ", s.ID, s.Name, s.Undone)
	}
	return all
}

func TestAnotherCopyRepeatsWhatIsLogged(t *testing.T) {
	for seed := range uint64(10) {
		r, w, begun := rand.New(rand.NewPCG(seed, 3)), newTwins(t), 0
		for i := range 250 {
			c, classes := w.own, w.own.Classes()
			label := func() string { return classes[r.IntN(len(classes))].Label }
			switch k := r.IntN(18); {
			case k == 14:
				c.Begin()
				begun++
				continue
			case k == 15 && begun > 0:
				c.End()
				begun--
			case k == 16 && begun > 0:
				test.OK(t, c.Cancel())
				begun--
			case k == 17 && r.IntN(8) == 0:
				c.ForgetUndo()
			case k < 5 || k > 13 || len(classes) == 0:
				test.Must(c.Add(fmt.Sprint("class ", r.IntN(5)), []string{"", "g"}[r.IntN(2)], []float32{r.Float32(), r.Float32()}))(t)
			case k == 5:
				one, other := fmt.Sprint("class ", r.IntN(5)), fmt.Sprint("CLASS ", r.IntN(5)) // the same class, if the numbers are equal
				test.Must(c.AddAll([]string{one, other, one, other}, []Example{{Vector: []float32{1, 2}}, {Vector: []float32{2, 1}, Group: "g"}, {Vector: []float32{1, 1}}, {Vector: []float32{0, 1}}}))(t)
			case k == 6:
				for _, x := range classes[r.IntN(len(classes))].Examples {
					if r.IntN(2) == 0 {
						test.OK(t, c.Remove(x.ID))
						break
					}
					_ = c.Move(x.ID, label())
				}
			case k == 7:
				_ = c.MergeClasses(label(), label())
			case k == 8:
				test.OK(t, c.RemoveClass(label()))
			case k == 9:
				_ = c.RenameClass(label(), fmt.Sprint("class ", r.IntN(5)))
			case k == 10:
				test.OK(t, c.SetActions([]string{"", label()}[r.IntN(2)], fmt.Sprint("say ", i)))
			case k == 11:
				_, _ = c.Redo()
			case k == 12:
				if undo, _ := c.Steps(); len(undo) > 0 {
					_, _ = c.UndoStep(undo[r.IntN(min(4, len(undo)))].ID)
				}
			default:
				_, _ = c.Undo()
			}
			if begun > 0 { // the open step is not logged yet
				continue
			}
			w.repeat(fmt.Sprint("seed ", seed, ", after ", i))
		}
	}
}

// Changes between Join and Join form one step, also in the copy, and other steps may come between.
func TestJoinedChangesAreOneStep(t *testing.T) {
	w := newTwins(t)
	test.Must(w.own.Add("cat", "", []float32{1, 2}))(t)
	if joined := w.own.Join("all"); joined != "" {
		t.Errorf("joined %q before", joined)
	}
	test.Must(w.own.Add("dog", "", []float32{2, 1}))(t)
	test.Must(w.own.Add("hen", "", []float32{2, 2}))(t)
	w.repeat("joined")
	if joined := w.own.Join(""); joined != "all" {
		t.Errorf("joined %q", joined)
	}
	test.Must(w.own.UndoStep("all"))(t)
	w.repeat("undone")
	if n := w.copy.Len(); n != 1 {
		t.Errorf("%d classes, want 1", n)
	}
	w = newTwins(t)
	w.own.Join("1")
	for range 3 {
		test.Must(w.own.Add("cat", "", []float32{1, 2}))(t)
	}
	w.repeat("joined under the first id")
	if test.Must(w.copy.Add("cat", "", []float32{2, 1}))(t); w.copy.Count() != 4 {
		t.Errorf("%d examples after one of the copy's own, want 4", w.copy.Count())
	}
}

// A step of another tab comes before those that are not logged yet.
func TestAStepIsRepeatedBeforeOwnOnes(t *testing.T) {
	w := newTwins(t)
	test.Must(w.own.Add("cat", "", []float32{1, 2}))(t)
	w.repeat("taught")
	test.Must(w.copy.Add("dog", "", []float32{2, 1}))(t)
	test.OK(t, w.own.RenameClass("cat", "lion"))
	test.OK(t, w.copy.Replay(w.commands[0], 1))
	undo, _ := w.copy.Next()
	if test.Must(w.copy.Undo())(t); undo != "add dog with an example" || w.copy.Labels()[0] != "lion" {
		t.Errorf("%q is undone first, labels %q", undo, w.copy.Labels())
	}
}

// A change of the prior stays out of the log. Plain changes in the log undo the parts that it
// leaves in the undo history.
func TestStepsBeforeAChangeOfThePriorAreOfOneCopyAlone(t *testing.T) {
	w := newTwins(t)
	test.Must(w.own.Add("cat", "", []float32{1, 2}))(t)
	test.Must(w.own.Add("dog", "", []float32{2, 1}))(t)
	test.OK(t, w.own.SetPrior(test.Must(Default(2))(t)))
	undo, redo := w.own.History()
	if len(w.commands) != 3 || w.commands[2].Do != DoForget || len(undo)+len(redo) > 0 {
		t.Errorf("logged %+v, history %v %v", w.commands, undo, redo)
	}
	for range 2 {
		test.Must(w.own.Undo())(t)
	}
	for _, x := range w.commands {
		test.OK(t, w.copy.Replay(x, 0))
	}
	if own, copy := w.own.Labels(), w.copy.Labels(); len(own) != 1 || len(copy) != 1 || own[0] != copy[0] {
		t.Errorf("labels %q and %q", own, copy)
	}
	if undo, _ := w.copy.Steps(); len(undo) != 0 {
		t.Errorf("%d steps of the copy can be undone", len(undo))
	}
	w = newTwins(t) // the copy forgets later steps, too, once the change of the prior is undone
	test.Must(w.own.Add("cat", "", []float32{1, 2}))(t)
	test.OK(t, w.own.SetPrior(test.Must(Default(2))(t)))
	test.Must(w.own.Add("dog", "", []float32{2, 1}))(t)
	undo, _ = w.own.Steps()
	for _, i := range []int{1, 0} {
		test.Must(w.own.UndoStep(undo[i].ID))(t)
	}
	for _, x := range w.commands {
		test.OK(t, w.copy.Replay(x, 0))
	}
	if own, copy := w.own.Labels(), w.copy.Labels(); len(own) != 1 || len(copy) != 1 {
		t.Errorf("labels %q and %q", own, copy)
	}
}

// Changes that join a change of the prior are logged, too.
func TestChangesThatJoinAChangeOfThePriorAreLogged(t *testing.T) {
	w := newTwins(t)
	test.Must(w.own.Add("cat", "", []float32{1, 2}))(t)
	w.own.Join("all")
	test.OK(t, w.own.SetPrior(test.Must(Default(2))(t)))
	test.Must(w.own.Add("dog", "", []float32{2, 1}))(t)
	w.own.Join("")
	for _, x := range w.commands {
		test.OK(t, w.copy.Replay(x, 0))
	}
	if own, copy := w.own.Labels(), w.copy.Labels(); len(own) != 2 || len(copy) != 2 || own[1] != copy[1] {
		t.Errorf("labels %q and %q", own, copy)
	}
}

// The classifier tells when the undo history loses removed examples, and only then.
func TestForgottenExamplesAreTold(t *testing.T) {
	c := new(Classifier)
	id := test.Must(c.Add("cat", "", []float32{1, 2}))(t)
	c.ForgetUndo()
	if c.Forgot() {
		t.Error("an example that is there was forgotten")
	}
	test.OK(t, c.Remove(id))
	for range MaxSteps - 1 {
		test.Must(c.Add("dog", "", []float32{2, 1}))(t)
	}
	if c.Forgot() {
		t.Error("it can still be brought back")
	}
	test.Must(c.Add("dog", "", []float32{2, 1}))(t)
	if !c.Forgot() || c.Forgot() {
		t.Error("it was forgotten once")
	}
	c.ForgetUndo()
	c.Forgot()
	test.OK(t, c.RenameClass("dog", "hen"))
	if c.ForgetUndo(); c.Forgot() {
		t.Error("another name forgets no example")
	}
	test.OK(t, c.RemoveClass("hen"))
	if c.ForgetUndo(); !c.Forgot() {
		t.Error("a class was forgotten with its examples")
	}
}

// If a part of a step cannot be repeated, the other parts are.
func TestADamagedStepIsRepeatedAsFarAsPossible(t *testing.T) {
	for sound, code := range map[int]string{1: "class", enrolledAtOnce + 1: "dimension"} { // so many are enrolled later
		c := &Classifier{Lazy: true}
		test.Must(c.Add("cat", "", []float32{1, 2}))(t)
		k := c.Classes()[0]
		entries := []Entry{
			{Do: "example", ID: "a", Example: &Example{ID: "a", Class: "gone", Vector: []float32{1, 1}}},
			{Do: "example", ID: "c", Example: &Example{ID: "c", Class: k.ID, Vector: make([]float32, model.MaxDimension)}},
			{Do: "example", ID: "d", Example: &Example{ID: "d", Class: k.ID, Vector: []float32{1, float32(math.NaN())}}},
		}
		if code != "class" {
			entries = entries[1:]
		}
		for i := range sound {
			id := fmt.Sprint("b", i)
			entries = append(entries, Entry{Do: "example", ID: id, Example: &Example{ID: id, Class: k.ID, Vector: []float32{1, float32(i)}}})
		}
		err := c.Replay(Command{Do: DoStep, Step: "s", Name: "n", Entries: entries}, 0)
		if Code(err) != code || c.Count() != 1+sound || c.Example("b0") == nil {
			t.Errorf("%v, %d examples", err, c.Count())
		}
		test.Must(c.Undo())(t)
		if c.Count() != 1 {
			t.Errorf("%d examples after undo", c.Count())
		}
	}
}

// A step may add, change and remove the same thing. It is repeated change by change.
func TestAStepThatTakesBackItsOwnIsRepeated(t *testing.T) {
	for name, change := range map[string]func(c *Classifier){
		"a class is renamed and removed": func(c *Classifier) {
			test.OK(t, c.RenameClass("a", "x"))
			test.OK(t, c.RemoveClass("x"))
		},
		"a class gets actions and is removed": func(c *Classifier) {
			test.OK(t, c.SetActions("a", "say"))
			test.OK(t, c.RemoveClass("a"))
		},
		"an example is added and moved to a new class": func(c *Classifier) {
			id := test.Must(c.Add("a", "", []float32{3, 1}))(t)
			test.Must(c.AddClass("new"))(t)
			test.OK(t, c.Move(id, "new"))
		},
		"two names are exchanged": func(c *Classifier) {
			test.OK(t, c.RenameClass("a", "t"))
			test.OK(t, c.RenameClass("b", "a"))
			test.OK(t, c.RenameClass("t", "b"))
		},
		"the undo history is cleared": func(c *Classifier) {
			test.Must(c.Add("a", "", []float32{1, 1}))(t)
			c.ForgetUndo()
			test.Must(c.Add("c", "", []float32{1, 3}))(t)
		},
		"vectors become longer": func(c *Classifier) {
			test.OK(t, c.RemoveClass("a"))
			test.OK(t, c.RemoveClass("b"))
			test.Must(c.Add("a", "", []float32{1, 2, 3}))(t)
		},
		"another copy undoes a step": func(c *Classifier) {
			test.Must(c.Add("c", "", []float32{2, 2}))(t)
			undo, _ := c.Steps()
			test.OK(t, c.Replay(Command{Do: DoUndo, Step: undo[0].ID}, 0))
			c.Logged(Command{Do: DoUndo, Step: undo[0].ID}) // as that copy has
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTwins(t)
			test.Must(w.own.Add("a", "", []float32{1, 2}))(t)
			test.Must(w.own.Add("b", "", []float32{2, 1}))(t)
			w.own.Begin()
			change(w.own)
			w.own.End()
			w.repeat(name)
		})
	}
	w := newTwins(t) // after a change of the prior, undo and redo log each change
	test.Must(w.own.Add("a", "", []float32{1, 2}))(t)
	w.own.Join("all")
	test.OK(t, w.own.RenameClass("a", "x"))
	test.OK(t, w.own.RemoveClass("x"))
	w.own.Join("")
	test.OK(t, w.own.SetPrior(test.Must(Default(2))(t)))
	for range 2 {
		test.Must(w.own.Undo())(t)
	}
	test.Must(w.own.Redo())(t)
	for _, x := range w.commands {
		test.OK(t, w.copy.Replay(x, 0))
	}
	if own, copy := w.own.Labels(), w.copy.Labels(); len(own) != 0 || len(copy) != 0 {
		t.Errorf("labels %q and %q", own, copy)
	}
	w = newTwins(t)
	test.Must(w.own.AddAll([]string{"a", "a"}, []Example{{Vector: []float32{1, 2}}, {Vector: []float32{2, 2}}}))(t)
	test.OK(t, w.own.RemoveClass("a"))
	test.OK(t, w.own.SetPrior(test.Must(Default(2))(t)))
	test.Must(w.own.Undo())(t)
	w.own.Begin()
	test.Must(w.own.Undo())(t) // the class is back, with its examples
	for _, x := range w.commands {
		test.OK(t, w.copy.Replay(x, 0))
	}
	test.Must(w.copy.Add("a", "", []float32{3, 1}))(t) // under an id of its own
	if own, copy := w.own.Count(), w.copy.Count(); own != 2 || copy != 3 {
		t.Errorf("%d examples are back, and %d with one more in the copy", own, copy)
	}
}

// A damaged log may have neither the vector of an example nor a prior.
func TestAnExampleWithoutVectorAndPriorIsRefused(t *testing.T) {
	c := test.Must(New(Settings{}, nil))(t)
	id := test.Must(c.AddClass("k"))(t)
	err := c.Replay(Command{Do: DoStep, Step: "s", Entries: []Entry{{Do: "example", ID: "x", Example: &Example{ID: "x", Class: id, Order: 1}}}}, 0)
	if err == nil || c.Count() != 0 {
		t.Errorf("error %v, %d examples", err, c.Count())
	}
}

func TestANegativeNumberOfExamplesIsRefused(t *testing.T) {
	if _, err := test.Must(New(Settings{}, nil))(t).BeginAdd(-1, 3); Code(err) != "argument" {
		t.Errorf("error %v", err)
	}
}

func TestTooManyExamplesAreRefusedHoweverMany(t *testing.T) {
	c := test.Must(New(Settings{}, nil))(t)
	test.Must(c.Add("a", "", []float32{1, 2, 3}))(t)
	for _, n := range []int{model.MaxExamples, math.MaxInt} {
		if _, err := c.BeginAdd(n, 3); Code(err) != "limit" {
			t.Errorf("%d examples: error %v", n, err)
		}
	}
}
