package metaqda

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"metaqda/core/model"
	"metaqda/core/model/modeltest"
	"metaqda/core/test"
)

// After any additions, moves, removals and undos, the classifier answers as one that is taught all
// anew: near-copies are found again as they were. A clone answers the same to the bit, and still
// does when its original has changed.
func TestAClassifierAnswersAsItsClone(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(51, seed))
		file := modeltest.Prior(8)
		file.Session.Near = 0.5
		prior := test.Must(DecodePrior(test.Must(model.EncodePrior(file))(t)))(t)
		c := test.Must(New(Settings{NonePrior: 0.2}, prior))(t)
		var last []float32
		draw := func() []float32 {
			x := make([]float32, 8)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
				if last != nil && rng.IntN(2) == 0 {
					x[i] = last[i] + x[i]/10
				}
			}
			last = x
			return x
		}
		var ids []string
		var clones []*Classifier
		var queries [][]float32
		var answers []Answer
		for step := range 60 {
			label := strconv.Itoa(rng.IntN(3))
			switch n := rng.IntN(10); {
			case n < 5 || len(ids) == 0:
				ids = append(ids, test.Must(c.Add(label, "", draw()))(t))
			case n < 6:
				_ = c.Remove(ids[rng.IntN(len(ids))]) // or it has gone
			case n < 7: // several in one step, which are undone together
				c.Begin()
				for range 3 {
					_ = c.Move(ids[rng.IntN(len(ids))], label)
					_ = c.Remove(ids[rng.IntN(len(ids))])
				}
				c.End()
			case n < 8:
				_ = c.Move(ids[rng.IntN(len(ids))], label)
			case n < 9:
				test.Must(c.Undo())(t)
			default:
				test.Must(c.Redo())(t)
			}
			if c.Count() == 0 || rng.IntN(3) == 0 {
				continue
			}
			x := draw()
			clone, anew := test.Must(c.Clone())(t), test.Must(Open(test.Must(c.Save())(t), prior))(t)
			got, want := test.Must(c.Predict(x))(t), test.Must(anew.Predict(x))(t)
			for i, p := range got.Probabilities {
				if math.Abs(p-want.Probabilities[i]) > 1e-9 {
					t.Fatalf("seed %d, step %d: %v, taught anew %v; bursts %v", seed, step, got.Probabilities, want.Probabilities, c.Classes())
				}
			}
			clones, queries, answers = append(clones, clone), append(queries, x), append(answers, got)
			if rng.IntN(2) == 0 {
				continue
			}
			other := test.Must(clone.Clone())(t) // changes of it reach neither
			test.Must(other.Add(label, "", draw()))(t)
			_ = other.Remove(ids[rng.IntN(len(ids))]) // or it has gone
		}
		for i, clone := range clones {
			if got := test.Must(clone.Predict(queries[i]))(t); !reflect.DeepEqual(got, answers[i]) {
				t.Errorf("seed %d: clone %d answers %v, its original answered %v", seed, i, got, answers[i])
			}
		}
	}
}

// The clone of an empty classifier takes examples, one by one and many at once.
func TestACloneOfNothingCanBeTaught(t *testing.T) {
	for _, add := range []func(c *Classifier){
		func(c *Classifier) { test.Must(c.Add("a", "", []float32{1, 2}))(t) },
		func(c *Classifier) { bulk(t, c, []string{"a", "a"}, "", [][]float32{{1, 2}, {2, 1}}, func() {}) },
	} {
		c := test.Must(fresh(t, Settings{}).Clone())(t)
		id := test.Must(c.AddClass("b"))(t)
		add(c)
		if _, ok := c.Class(id); !ok || c.Len() != 2 {
			t.Errorf("%d classes, the first one is there: %v", c.Len(), ok)
		}
	}
	test.Must(test.Must(fresh(t, Settings{}).Clone())(t).Add("a", "", []float32{1, 2}))(t)
}
