package metaqda

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/test"
)

func TestUndoForgetsTheOldest(t *testing.T) {
	c := fresh(t, Settings{})
	for range MaxSteps + 5 {
		test.Must(c.Add("a", "", []float32{1, 2}))(t)
	}
	n := 0
	for {
		step := test.Must(c.Undo())(t)
		if step == nil {
			break
		}
		n++
	}
	if n != MaxSteps || len(c.Classes()[0].Examples) != 5 {
		t.Errorf("%d steps taken back, %d examples left", n, len(c.Classes()[0].Examples))
	}
}

// Undo between Begin and End divides the step in two, at any depth of nesting.
func TestUndoWithinAStep(t *testing.T) {
	c := fresh(t, Settings{})
	add := func(n int) {
		for range n {
			test.Must(c.Add("a", "", []float32{1, 2}))(t)
		}
	}
	add(1)
	c.Begin()
	c.Begin()
	add(2)
	test.Must(c.Undo())(t)
	add(3)
	c.End()
	add(4)
	c.End()
	undo, redo := c.Steps()
	if c.Count() != 8 || len(undo) != 2 || len(redo) != 0 {
		t.Errorf("%d examples, %d steps to undo, %d to redo", c.Count(), len(undo), len(redo))
	}
	test.Must(c.Undo())(t)
	if c.Count() != 1 {
		t.Errorf("%d examples after the second part was taken back", c.Count())
	}
	_, before := c.Next()
	c.Begin()
	c.Begin()
	add(2)
	test.Must(c.AddClass("b"))(t)
	test.OK(t, c.Cancel())
	test.OK(t, c.Cancel())
	undone, after := c.Next()
	if c.Count() != 1 || c.Len() != 1 || after != before || undone == "" {
		t.Errorf("%d examples, %d classes, %q to undo and %q to redo after Cancel", c.Count(), c.Len(), undone, after)
	}
	test.Must(c.Redo())(t)
	if c.Count() != 8 {
		t.Errorf("%d examples done again after Cancel", c.Count())
	}
	c.Begin()
	add(1)
	c.Begin()
	add(2)
	test.OK(t, c.Cancel())
	c.End()
	if c.Count() != 9 {
		t.Errorf("%d examples after the inner part was taken back", c.Count())
	}
	c.Begin()
	add(1)
	c.ForgetUndo()
	add(2)
	c.End()
	test.Must(c.Undo())(t)
	undone, _ = c.Next()
	if c.Count() != 10 || undone != "" {
		t.Errorf("%d examples, %q to undo: what a step has after what was forgotten is one", c.Count(), undone)
	}
}

// Many examples, some of which break the computation, are refused as a whole. The open step and
// the redo list stay.
func TestManyThatAreRefusedCostNothing(t *testing.T) {
	prior := under(t, Settings{}, learned(t, 4)).prior
	prior.file.Transform = embed.Transform{Power: 4, Kind: embed.None}
	c := under(t, Settings{}, prior)
	test.Must(c.Add("a", "", []float32{1, 2, 3, 4}))(t)
	test.Must(c.Add("a", "", []float32{2, 2, 3, 4}))(t)
	test.Must(c.Undo())(t)
	_, redo := c.Next()
	c.Begin()
	huge := []float32{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
	few := []Example{{Vector: []float32{1, 2, 3, 5}}, {Vector: huge}}
	_, err := c.AddAll([]string{"a", "a"}, few)
	if err == nil {
		t.Fatal("the test wants an example with which nothing can be computed")
	}
	_, after := c.Next()
	if c.Count() != 1 || after != redo || redo == "" {
		t.Errorf("%d examples, %q to redo, want %q", c.Count(), after, redo)
	}
	test.Must(c.Add("b", "", []float32{4, 3, 2, 1}))(t)
	_, err = c.AddAll([]string{"b", "b"}, few)
	c.End()
	if err == nil || c.Count() != 2 {
		t.Errorf("%v, %d examples", err, c.Count())
	}
}

// A frame stays if nothing can be computed with the rest of its group.
func TestAFrameThatItsGroupNeedsStays(t *testing.T) {
	prior := under(t, Settings{}, learned(t, 4)).prior
	prior.file.Transform = embed.Transform{Power: 4, Kind: embed.None}
	c := under(t, Settings{}, prior)
	test.Must(c.Add("a", "", []float32{1, 2, 3, 4}))(t)
	far, opposite := []float32{math.MaxFloat32, 1, 1, 1}, []float32{-math.MaxFloat32, 1, 1, 1}
	ids := test.Must(c.AddAll([]string{"a", "a"}, []Example{{Group: "g", Vector: far}, {Group: "g", Vector: opposite}}))(t)
	test.Must(c.Add("b", "", []float32{2, 2, 3, 4}))(t)
	before, answer := shown(c), test.Must(c.Predict([]float32{1, 2, 3, 5}))(t)
	for what, err := range map[string]error{"removed": c.Remove(ids[0]), "moved": c.Move(ids[1], "b")} {
		if Code(err) != "value" || shown(c) != before {
			t.Errorf("%s: %v, %s, was %s", what, err, shown(c), before)
		}
	}
	if again := test.Must(c.Predict([]float32{1, 2, 3, 5}))(t); !slices.Equal(again.Probabilities, answer.Probabilities) {
		t.Errorf("answers %v, was %v", again, answer)
	}
}

// Examples added to a clone, or to classes with given ids, get new ids.
func TestACloneGivesIdsOfItsOwn(t *testing.T) {
	c := fresh(t, Settings{})
	for i := range 3 {
		test.Must(c.Add("a", "", []float32{1, float32(i)}))(t)
	}
	clone := test.Must(c.Clone())(t)
	for i := range 5 {
		test.Must(clone.Add("a", "", []float32{2, float32(i)}))(t)
		test.Must(clone.Add("b", "", []float32{3, float32(i)}))(t)
	}
	if clone.Count() != 13 || c.Count() != 3 {
		t.Errorf("%d examples in the clone, %d in the other", clone.Count(), c.Count())
	}
}

// In whatever order steps are undone, each example is in one class, and what comes back can be saved.
func TestUndoInAnyOrder(t *testing.T) {
	x, y, long := []float32{1, 2}, []float32{2, 1}, strings.Repeat("é", model.MaxLabel)
	last := func(c *Classifier, n int) error { // undoes the last step but n
		undo, _ := c.Steps()
		_, err := c.UndoStep(undo[n].ID)
		return err
	}
	for name, do := range map[string]func(c *Classifier) error{
		"a move, then the removal of the class that got it": func(c *Classifier) error {
			id := test.Must(c.Add("a", "", x))(t)
			test.Must(c.AddAll([]string{"a", "b"}, []Example{{Vector: x}, {Vector: y}}))(t)
			test.OK(t, c.Move(id, "b"))
			test.OK(t, c.RemoveClass("b"))
			test.OK(t, last(c, 1))
			return last(c, 0)
		},
		"a removal after its long name was given again": func(c *Classifier) error {
			test.Must(c.Add(long, "", x))(t)
			test.OK(t, c.RemoveClass(long))
			test.Must(c.Add(long, "", y))(t)
			return last(c, 1)
		},
		"actions, when there is no more room for them": func(c *Classifier) error {
			text, label := strings.Repeat("a", model.MaxActions), func(i int) string { return string(rune('a' + i)) }
			n := model.MaxAllActions / model.MaxActions
			for i := range n {
				test.Must(c.Add(label(i), "", x))(t)
				test.OK(t, c.SetActions(label(i), text))
			}
			test.OK(t, c.SetActions("a", ""))
			test.Must(c.Add(label(n), "", x))(t)
			test.OK(t, c.SetActions(label(n), text))
			return last(c, 2)
		},
		"a removal, under a prior of another length": func(c *Classifier) error {
			c.Lazy = true
			labels, examples := slices.Repeat([]string{"a"}, 500), make([]Example, 500)
			for i := range examples {
				examples[i].Vector = []float32{1, 2, float32(i)}
			}
			test.Must(c.AddAll(labels, examples))(t)
			test.OK(t, c.RemoveClass("a"))
			test.OK(t, c.SetPrior(test.Must(Default(5))(t)))
			return last(c, 1)
		},
		"a removal, without a prior": func(c *Classifier) error {
			test.Must(c.AddAll([]string{"a", "b"}, []Example{{Vector: x}, {Vector: y}}))(t)
			c.Begin()
			test.OK(t, c.RemoveClass("a"))
			test.OK(t, c.RemoveClass("b"))
			c.End()
			test.OK(t, c.SetPrior(nil))
			return last(c, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := fresh(t, Settings{})
			err := do(c)
			if err != nil && Code(err) != "undo" && Code(err) != "limit" {
				t.Errorf("refused with code %q: %v", Code(err), err)
			}
			before := c.Count()
			c.Prepare(func() bool { return true })
			seen := map[string]bool{}
			for _, k := range c.Classes() {
				for _, x := range k.Examples {
					seen[x.ID] = true
				}
			}
			file := test.Must(Open(save(t, c)))(t)
			if all := file.Count(); len(seen) != c.Count() || all != len(seen) || before != all || file.Len() != c.Len() {
				t.Errorf("%d examples of %d in classes, %d saved", len(seen), c.Count(), all)
			}
		})
	}
}

// Labels that look the same come from files alone. Undo brings them back as they were.
func TestUndoKeepsLabelsThatLookTheSame(t *testing.T) {
	for name, change := range map[string]func(c *Classifier) error{
		"removed": func(c *Classifier) error { return c.RemoveClass("cup") },
		"renamed": func(c *Classifier) error { return c.RenameClass("cup", "x") },
	} {
		c := fresh(t, Settings{})
		test.OK(t, c.Load([]Class{{Label: "Cup", Examples: []*Example{{Vector: []float32{1, 2}}}}, {Label: "cup", Examples: []*Example{{Vector: []float32{2, 1}}}}}, nil))
		test.OK(t, change(c))
		if k, _ := c.Find("CUP"); k.Label != "Cup" {
			t.Errorf("%s: the other is found as %q", name, k.Label)
		}
		test.Must(c.Undo())(t)
		if got := c.Labels(); !slices.Equal(got, []string{"Cup", "cup"}) {
			t.Errorf("%s and undone: labels %q", name, got)
		}
	}
}

// Cancel takes back all changes since Begin, also after Undo took back some.
func TestCancelAfterUndo(t *testing.T) {
	c, x := fresh(t, Settings{}), []float32{1, 2}
	c.Begin()
	test.Must(c.Add("a", "", x))(t)
	c.Begin()
	test.Must(c.Undo())(t)
	test.Must(c.AddAll([]string{"b", "c"}, []Example{{Vector: x}, {Vector: x}}))(t)
	test.OK(t, c.Cancel())
	c.End()
	if got := c.Labels(); len(got) != 0 {
		t.Errorf("classes %q are left", got)
	}
}

// Examples that are refused leave the undo history, also where they would settle another length.
func TestRefusedExamplesKeepTheUndoHistory(t *testing.T) {
	for _, scale := range []string{"", "standardise"} {
		c := fresh(t, Settings{Scale: scale})
		test.OK(t, c.Remove(test.Must(c.Add("a", "", []float32{1, 2}))(t)))
		_, err := c.AddAll([]string{"a", "a"}, []Example{{Vector: []float32{1, 2, 3}}, {Vector: []float32{1, float32(math.NaN()), 3}}})
		if undo, _ := c.Steps(); Code(err) != "value" || len(undo) != 2 || c.Dim() != 2 {
			t.Errorf("scale %q: %v, %d steps, vectors of %d numbers", scale, err, len(undo), c.Dim())
		}
	}
}

// No id is given twice, whatever ids come from files, logs and the undo history.
func TestIdsAreGivenOnce(t *testing.T) {
	x := func() []*Example { return []*Example{{Vector: []float32{1, 2}}} }
	c := fresh(t, Settings{})
	test.OK(t, c.Load([]Class{{Label: "a", Examples: x()}, {ID: "1", Label: "b", Examples: x()}}, nil))
	if c.Len() != 2 || c.Count() != 2 {
		t.Errorf("%d classes, %d examples", c.Len(), c.Count())
	}
	err := fresh(t, Settings{}).Load([]Class{{ID: "1", Label: "a", Examples: x()}, {ID: "1", Label: "b"}}, nil)
	if Code(err) != "argument" {
		t.Errorf("two classes of one id: %v", err)
	}

	test.OK(t, c.Remove(c.Classes()[0].Examples[0].ID))
	test.Must(c.Add("c", "", []float32{1, 3}))(t)
	test.OK(t, c.RemoveClass("c")) // which has the last ids
	again := fresh(t, Settings{})
	test.OK(t, again.Load(c.Classes(), nil))
	again.Remember(c.History())
	added := map[string]bool{}
	for i := range 4 {
		added[test.Must(again.Add(fmt.Sprint("new ", i), "", []float32{2, 1}))(t)] = true
	}
	undo, _ := again.Steps()
	for _, removal := range []int{4, 6} {
		test.Must(again.UndoStep(undo[removal].ID))(t)
	}
	if again.Count() != 7 || again.Len() != 7 || len(added) != 4 {
		t.Errorf("%d examples in %d classes after the removed ones came back, want 7 in 7", again.Count(), again.Len())
	}
}
