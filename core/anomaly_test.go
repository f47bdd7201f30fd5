package metaqda

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"metaqda/core/niw"
	"metaqda/core/test"
)

const cellLength, cellNumber = 40, 12

// goodOne is a picture whose cells are like one of two things.
func goodOne(rng *rand.Rand, thing int) (cells, mean []float32) {
	mean = make([]float32, cellLength)
	for c := range cellNumber * cellLength {
		v := float32(rng.Float64() / 4)
		if c%cellLength%2 == thing {
			v++
		}
		cells = append(cells, v)
		mean[c%cellLength] += v / cellNumber
	}
	return cells, mean
}

func taughtGood(t *testing.T, rng *rand.Rand, k int) (c *Classifier, ids []string) {
	c = test.Must(New(Settings{}, nil))(t)
	for range k {
		cells, mean := goodOne(rng, 0)
		id := test.Must(c.Add("good", "", mean))(t)
		test.OK(t, c.SetCells(id, cells, cellLength))
		ids = append(ids, id)
	}
	return c, ids
}

func TestAnomalyComesAndGoesWithExamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 1))
	c, ids := taughtGood(t, rng, 5)
	good, _ := goodOne(rng, 0)
	bad, badMean := goodOne(rng, 1)
	was := test.Must(c.Anomaly(good, cellLength))(t)
	if a := test.Must(c.Anomaly(bad, cellLength))(t); !(a.Wrong > 0.9 && was.Wrong < a.Wrong && a.Good == 5 && len(a.Cells) == cellNumber) {
		t.Errorf("a bad one: %+v, a good one %+v", a, was)
	}
	clone := test.Must(c.Clone())(t)
	test.OK(t, c.Remove(ids[0]))
	if a := test.Must(c.Anomaly(good, cellLength))(t); a.Good != 4 || a.Wrong == was.Wrong {
		t.Errorf("without an example: %+v", a)
	}
	if a := test.Must(clone.Anomaly(good, cellLength))(t); a.Wrong != was.Wrong {
		t.Errorf("the clone says %+v, not %+v", a, was)
	}
	test.Must(c.Undo())(t)
	if a := test.Must(c.Anomaly(good, cellLength))(t); a.Wrong != was.Wrong {
		t.Errorf("with the example back: %+v, not %+v", a, was)
	}
	// Bad ones make it ordinary classes.
	id := test.Must(c.Add("bad", "", badMean))(t)
	if _, err := c.Anomaly(good, cellLength); Code(err) != "classes" {
		t.Errorf("with two classes: %v", err)
	}
	if got := c.WithoutCells(); got != nil {
		t.Errorf("with two classes these lack cells: %v", got)
	}
	test.OK(t, c.Remove(id))
	if a := test.Must(c.Anomaly(good, cellLength))(t); a.Wrong != was.Wrong {
		t.Errorf("without the bad one: %+v, not %+v", a, was)
	}
}

func TestAnomalyRefusesWhatItCannot(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 2))
	cells, mean := goodOne(rng, 0)
	c := test.Must(New(Settings{}, nil))(t)
	if _, err := c.Anomaly(cells, cellLength); Code(err) != "few" {
		t.Errorf("nothing taught: %v", err)
	}
	c, ids := taughtGood(t, rng, 2)
	without := test.Must(c.Add("good", "", mean))(t)
	if _, err := c.Anomaly(cells, cellLength); Code(err) != "few" {
		t.Errorf("two with cells: %v", err)
	}
	if got := c.WithoutCells(); len(got) != 1 || got[0] != without {
		t.Errorf("%v lack cells, not %s", got, without)
	}
	if err := c.SetCells("nobody", cells, cellLength); Code(err) != "example" {
		t.Errorf("an unknown example: %v", err)
	}
	test.Refused[*niw.DimensionError](t, c.SetCells(ids[0], cells, cellLength/2), "cells of another length")
	if err := c.SetCells(ids[0], cells[1:], cellLength); Code(err) != "argument" {
		t.Errorf("cells cut short: %v", err)
	}
	cells[3] = float32(math.Inf(1))
	test.Refused[*niw.ValueError](t, c.SetCells(ids[0], cells, cellLength), "a cell that is not finite")
}

// Frames of a group are one example: three of them are not enough.
func TestFramesOfAGroupAreOneGoodExample(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 3))
	c := test.Must(New(Settings{}, nil))(t)
	for i := range 4 {
		cells, mean := goodOne(rng, 0)
		test.OK(t, c.SetCells(test.Must(c.Add("good", []string{"a", "a", "b", "b"}[i], mean))(t), cells, cellLength))
	}
	cells, _ := goodOne(rng, 0)
	if _, err := c.Anomaly(cells, cellLength); Code(err) != "few" || !strings.Contains(err.Error(), "frames of a group counted once, and there are 2:") {
		t.Errorf("two groups: %v", err)
	}
}

func TestCellsAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 4))
	c, ids := taughtGood(t, rng, keptCells+8)
	if len(c.cells) != keptCells {
		t.Errorf("the cells of %d pictures are kept", len(c.cells))
	}
	for _, id := range ids[8:] {
		if c.cells[id] == nil {
			t.Errorf("the cells of a late example are gone")
		}
	}
	if got := c.WithoutCells(); got != nil {
		t.Errorf("%d of those that are compared with lack cells", len(got))
	}
	last := ids[len(ids)-1]
	cells, _ := goodOne(rng, 0)
	test.OK(t, c.Remove(last))
	test.OK(t, c.SetCells(ids[0], cells, cellLength)) // in the place of the removed one's
	test.Must(c.Undo())(t)
	if got := c.WithoutCells(); len(c.cells) != keptCells || !slices.Equal(got, []string{last}) {
		t.Errorf("%v lack cells after undo, want %s", got, last)
	}
	test.OK(t, c.SetCells(last, cells, cellLength))
	if got := c.WithoutCells(); got != nil {
		t.Errorf("%v lack cells once they were set again", got)
	}
	size := 0
	for range keptCells {
		size += 128*72 + 8*1280 // of the page's network
	}
	if size > 2<<20 {
		t.Errorf("%d bytes for the cells of a session", size)
	}
	test.Must(c.Anomaly(make([]float32, cellNumber*cellLength), cellLength))(t)
}
