package metaqda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"metaqda/core/test"
)

// bulk adds vectors of length d in pieces, and calls between after each. It returns the number of
// pieces.
func bulk(t *testing.T, c *Classifier, labels []string, group string, rows [][]float32, between func()) (ids []string, pieces int) {
	t.Helper()
	b := test.Must(c.BeginAdd(len(rows), len(rows[0])))(t)
	for some := range slices.Chunk(rows, 7) {
		test.OK(t, b.Take(slices.Concat(some...)))
		between()
	}
	for some := range slices.Chunk(labels, 130) {
		test.OK(t, b.Label(some, slices.Repeat([]string{group}, len(some))))
		between()
	}
	for done := false; !done; between() {
		var err error
		ids, done, err = b.End(once())
		test.OK(t, err)
		pieces++
	}
	for !c.Enrol(once()) {
		pieces++
		between()
	}
	return ids, pieces
}

// Examples added in pieces equal those added at once, whatever happens in between. They answer, are
// named, undone and redone the same.
func TestExamplesInPiecesAreAsThoseAtOnce(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(61, seed))
		draw := func() []float32 {
			x := make([]float32, 6)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			return x
		}
		settings := Settings{NonePrior: 0.2}
		if seed%4 == 3 {
			settings.Scale = "standardise"
		}
		a, b := fresh(t, settings), fresh(t, settings)
		var labels []string
		var rows [][]float32
		var examples []Example
		group := []string{"", "g"}[seed%2]
		for i := range 300 {
			labels, rows = append(labels, fmt.Sprint(i%9)), append(rows, draw())
			examples = append(examples, Example{Vector: rows[i], Group: group})
		}
		var others [][]float32 // what is added in between, to both before the many
		between := func() {
			if len(others) < 3 && rng.IntN(3) == 0 {
				x := draw()
				others = append(others, x)
				test.Must(a.Add("other", "", x))(t)
			}
			if a.Count() > 0 && rng.IntN(3) == 0 {
				test.Must(a.Predict(draw()))(t)
			}
		}
		if seed%3 > 0 {
			between = func() {}
		}
		ids, pieces := bulk(t, a, labels, group, rows, func() {
			if a.Count() < 300 {
				between()
			}
		})
		for _, x := range others {
			test.Must(b.Add("other", "", x))(t)
		}
		want := test.Must(b.AddAll(labels, examples))(t)
		if len(ids) != len(want) || group == "" && seed%3 > 0 && pieces < 2 {
			t.Errorf("seed %d: %d ids, want %d; %d pieces", seed, len(ids), len(want), pieces)
		}
		same := func(what string) {
			t.Helper()
			if !reflect.DeepEqual(a.Bursts(), b.Bursts()) && len(others) == 0 {
				t.Errorf("seed %d, %s: bursts %v, want %v", seed, what, a.Bursts(), b.Bursts())
			}
			x := draw()
			got, want := test.Must(a.Predict(x))(t), test.Must(b.Predict(x))(t)
			for j, label := range a.Labels() {
				if p := want.Probabilities[slices.Index(b.Labels(), label)]; math.Abs(got.Probabilities[j]-p) > 1e-9 {
					t.Errorf("seed %d, %s: %s has %v, want %v", seed, what, label, got.Probabilities[j], p)
				}
			}
		}
		same("added")
		undo, _ := a.Next()
		if name, _ := b.Next(); name != undo {
			t.Errorf("seed %d: the step is to %s, want to %s", seed, undo, name)
		}
		test.Must(a.Undo())(t)
		if a.Count() != len(others) {
			t.Errorf("seed %d: %d examples are left, want %d", seed, a.Count(), len(others))
		}
		test.Must(a.Redo())(t)
		same("done again")
	}
}

// A vector that cannot be added is refused with its place, before anything changes.
func TestExamplesInPiecesAreCheckedFirst(t *testing.T) {
	c := fresh(t, Settings{})
	test.Must(c.Add("a", "", []float32{1, 2, 3}))(t)
	c.Changed = func(what Change) { t.Fatalf("%s was done", what.Do) }
	refused := func(code, message string, err error) {
		t.Helper()
		if Code(err) != code || message != "" && err.Error()[:len(message)] != message {
			t.Errorf("%v, want the code %s", err, code)
		}
	}
	_, err := c.BeginAdd(20_000, 3)
	refused("limit", "", err)
	_, err = c.BeginAdd(2, 4)
	refused("dimension", "", err)
	b := test.Must(c.BeginAdd(3, 3))(t)
	test.OK(t, b.Take([]float32{1, 2, 3, 4, 5, 6}))
	refused("value", "Vector 2 of the batch", b.Take([]float32{1, 2, float32(math.NaN())}))
	test.OK(t, b.Take([]float32{7, 8, 9}))
	refused("argument", "", b.Label([]string{"a", "b", "a", "b"}, []string{"", "", "", ""}))
	refused("argument", "The numbers of examples and groups differ, 3 and 1:", b.Label([]string{"a", "b", "b"}, []string{"g"}))
	refused("label", "", b.Label([]string{"a", "b", "\n"}, []string{"", "", ""}))
	test.OK(t, b.Label([]string{"a", "b", "b"}, []string{"", "", ""}))
	// The dimension changes before the end.
	c.Changed = nil
	test.OK(t, c.RemoveClass("a"))
	test.Must(c.Add("a", "", []float32{1, 2}))(t)
	c.Changed = func(what Change) { t.Fatalf("%s was done", what.Do) }
	_, _, err = b.End(func() bool { return true })
	refused("dimension", "", err)
	if c.Count() != 1 || c.Len() != 1 {
		t.Errorf("%d examples of %d classes", c.Count(), c.Len())
	}
}

// Many examples are added in pieces of the end, too, and a call in between finds all of them.
func TestTheEndOfManyExamplesComesInPieces(t *testing.T) {
	labels, rows := make([]string, 1500), make([]float32, 2*1500)
	for i := range labels {
		labels[i], rows[2*i] = fmt.Sprint(i%700), float32(i)
	}
	for _, asked := range []int{-1, 0, 1, 2} { // after so many pieces
		c := fresh(t, Settings{})
		b := test.Must(c.BeginAdd(len(labels), 2))(t)
		test.OK(t, b.Take(rows))
		test.OK(t, b.Label(labels, make([]string, len(labels))))
		pieces := 0
		for done := false; !done; pieces++ {
			if pieces == asked && c.Count() != []int{0, 1500, 1500}[pieces] {
				t.Errorf("after %d pieces there are %d examples", pieces, c.Count())
			}
			ids, ended, err := b.End(once())
			test.OK(t, err)
			if done = ended; done != (len(ids) == len(labels)) {
				t.Errorf("%d ids, done: %v", len(ids), done)
			}
		}
		if want := []int{5, 5, 2, 3}[asked+1]; pieces != want {
			t.Errorf("asked after %d pieces: %d pieces, want %d", asked, pieces, want)
		}
		if c.Count() != 1500 || c.Len() != 700 {
			t.Errorf("%d examples of %d classes", c.Count(), c.Len())
		}
		test.Must(c.Undo())(t)
		if name, _ := c.Next(); c.Count() != 0 || c.Len() != 0 || name != "" {
			t.Errorf("%d examples of %d classes are left, and the step to %s", c.Count(), c.Len(), name)
		}
	}
}

// once is for work that shall do one piece.
func once() func() bool {
	n := 0
	return func() bool { n++; return n == 1 }
}
