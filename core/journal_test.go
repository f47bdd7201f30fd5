package metaqda

import (
	"math"
	"testing"

	"metaqda/core/embed"
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
