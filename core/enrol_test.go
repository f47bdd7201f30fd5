package metaqda

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/test"
)

// lazy returns a classifier of n loaded examples in two classes, of which the densities have none
// yet. One has a NaN.
func lazy(t *testing.T, n int) (*Classifier, []float32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(18, 1))
	c := fresh(t, Settings{})
	c.Lazy = true
	classes := []Class{{Label: "a"}, {Label: "b"}}
	for i := range n {
		x := make([]float32, 4)
		for j := range x {
			x[j] = float32(rng.NormFloat64() + float64(i%2))
		}
		classes[i%2].Examples = append(classes[i%2].Examples, &Example{Vector: x})
	}
	bad := classes[0].Examples[n/4].Vector
	test.OK(t, c.SetPrior(test.Must(Default(4))(t)))
	test.OK(t, c.Load(classes, nil))
	return c, bad
}

// A program of one thread opens a large file in pieces, too: all but reading it is left to Prepare.
func TestManyExamplesOfAFileAreEnrolledInPieces(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.2})
	all := pictures(rand.New(rand.NewPCG(18, 2)), 5, 101, 8, 1)
	for j, of := range all {
		for i, x := range of[:100] {
			test.Must(c.Add(strconv.Itoa(j), []string{"", "burst"}[min(1, i/95)], x))(t)
		}
	}
	file := test.Must(c.Save())(t)
	for name, o := range map[string]*Classifier{"opened": test.Must(Open(file))(t), "merged": test.Must(Merge(c, fresh(t, Settings{})))(t)} {
		pieces := 0
		if each := []int{96, 96, 96, 96, 96}; !slices.Equal(o.Bursts(), each) {
			t.Errorf("%s: %d bursts before Prepare, want each example and group", name, o.Bursts())
		}
		if o.Ready() || !o.Prepare(func() bool { pieces++; return true }) || pieces < 10 {
			t.Errorf("%s: ready at once, or in %d pieces", name, pieces)
		}
		if !slices.Equal(o.Bursts(), c.Bursts()) || !bytes.Equal(test.Must(o.Save())(t), file) {
			t.Errorf("%s: %d bursts, want %d, or another file", name, o.Bursts(), c.Bursts())
		}
		want := test.Must(c.Predict(all[1][100]))(t)
		if got := test.Must(o.Predict(all[1][100]))(t); !floats.EqualApprox(got.Probabilities, want.Probabilities, 1e-12) {
			t.Errorf("%s: %v, want %v", name, got.Probabilities, want.Probabilities)
		}
	}
}

// Many examples that undo takes away come back in pieces, with the former answers.
func TestManyExamplesComeBackInPieces(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.2})
	c.Lazy = true
	all := pictures(rand.New(rand.NewPCG(18, 3)), 5, 101, 8, 1)
	c.Begin()
	for j, of := range all {
		for _, x := range of[:100] {
			test.Must(c.Add(strconv.Itoa(j), "", x))(t)
		}
	}
	c.End()
	query := all[1][100]
	want := test.Must(c.Predict(query))(t)
	for range 2 {
		test.Must(c.Undo())(t)
		test.Must(c.Redo())(t)
		pieces := 0
		if c.Ready() || !c.Prepare(func() bool { pieces++; return true }) || pieces < 10 {
			t.Errorf("ready at once, or in %d pieces", pieces)
		}
		if got := test.Must(c.Predict(query))(t); c.Count() != 500 || !floats.EqualApprox(got.Probabilities, want.Probabilities, 1e-12) {
			t.Errorf("%d examples, %v, want %v", c.Count(), got.Probabilities, want.Probabilities)
		}
	}
}

// A damaged example that is found late leaves its class as if it had never been there.
func TestWhatIsFoundDamagedLateIsCountedNoMore(t *testing.T) {
	const n = 500
	c, bad := lazy(t, n)
	bad[2] = float32(math.NaN())
	var refused []Change
	c.Changed = func(x Change) {
		if x.Do == DropExample {
			refused = append(refused, x)
		}
	}
	if !c.Prepare(func() bool { return true }) {
		t.Fatal("Prepare stops by itself")
	}
	if len(refused) != 1 || refused[0].Err == nil {
		t.Fatalf("%d examples are reported, want the one with NaN and why", len(refused))
	}
	k, size := c.At(0)
	if size != n/2-1 || len(c.Classes()[0].Examples) != size || c.Count() != n-1 {
		t.Errorf("class %q has %d examples by At, %d by Classes, %d of %d in all", k.Label, size, len(c.Classes()[0].Examples), c.Count(), n-1)
	}
	var at int
	c.Changed = func(x Change) {
		if x.Do == PutExample {
			at = x.At
		}
	}
	test.Must(c.Add("a", "", []float32{1, 2, 3, 4}))(t)
	if at != n/2-1 {
		t.Errorf("the next example is the %d-th, want the %d-th", at, n/2-1)
	}
}

// A prior that refuses an example leaves everything as it was, also if the former prior has not
// taken it in yet and would refuse it too.
func TestAPriorThatIsRefusedChangesNothing(t *testing.T) {
	for name, prepared := range map[string]bool{"before Prepare": false, "after Prepare": true} {
		t.Run(name, func(t *testing.T) {
			c, bad := lazy(t, 402)
			if prepared {
				c.Prepare(func() bool { return true })
			}
			bad[0] = float32(math.Inf(1))
			c.Lazy = false // the new prior takes all in at once
			before, q, count := c.Prior(), c.lda, c.Count()
			if err := c.SetPrior(test.Must(Default(4))(t)); err == nil {
				t.Fatal("an infinite example is accepted")
			}
			if c.Prior() != before || c.lda != q || c.Count() != count || c.Ready() != prepared {
				t.Errorf("prior, densities or examples have changed: %d examples, want %d; ready: %v", c.Count(), count, c.Ready())
			}
			bad[0] = 0
			test.Must(c.Predict([]float32{1, 2, 3, 4}))(t)
		})
	}
}

// Load pauses after each piece, and refuses an id that an earlier piece has.
func TestLoadInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var classes []Class
	for k := range 12 {
		own := Class{ID: fmt.Sprint("c", k), Label: fmt.Sprint("class ", k)}
		for i := range 300 {
			own.Examples = append(own.Examples, &Example{ID: fmt.Sprint(k, " ", i), Order: float64(i), Vector: []float32{rng.Float32(), rng.Float32(), 1}})
		}
		classes = append(classes, own)
	}
	pauses := 0
	c := test.Must(New(Settings{}, nil))(t)
	test.OK(t, c.Load(classes, func() { pauses++ }))
	for i, k := range c.Classes() {
		if k.Label != classes[i].Label || len(k.Examples) != 300 {
			t.Fatalf("class %d is %s with %d examples", i, k.Label, len(k.Examples))
		}
	}
	if pauses != 2 {
		t.Errorf("%d pauses", pauses)
	}
	twice := append(slices.Clone(classes), classes[0])
	err := test.Must(New(Settings{}, nil))(t).Load(twice, nil)
	if Code(err) != "argument" {
		t.Errorf("an id given twice: %v", err)
	}
}

// The sizes of bursts are counted when they are read, by whatever reads them first.
func TestBurstsAreCountedWhenRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := pictures(rng, 2, 4, 12, 0.3)
	c := fresh(t, Settings{NonePrior: 0.2})
	told := fresh(t, Settings{NonePrior: 0.2})
	told.Changed = func(Change) {}
	both := func(f func(c *Classifier)) {
		for _, of := range []*Classifier{c, told} {
			f(of)
		}
	}
	reads := []func(c *Classifier) any{
		func(c *Classifier) any { return c.Bursts() },
		func(c *Classifier) any { return c.Classes()[0].Bursts },
		func(c *Classifier) any { k, _ := c.At(0); return k.Bursts },
		func(c *Classifier) any { return c.Decide([]float64{0.6, 0.3}, 0.1) },
		func(c *Classifier) any { out := test.Must(c.LeaveOut(0))(t); return fmt.Sprint(out.Of, out.Alone) },
		func(c *Classifier) any { return test.Must(c.Clone())(t).Bursts() },
	}
	for i, read := range reads {
		both(func(c *Classifier) {
			for k := range all {
				test.Must(c.Add(strconv.Itoa(k), "", all[k][i%4]))(t)
			}
		})
		if got, want := fmt.Sprint(read(c)), fmt.Sprint(read(told)); got != want {
			t.Errorf("read %d: %s, want %s", i, got, want)
		}
	}
	both(func(c *Classifier) {
		for _, k := range c.Classes() {
			for _, x := range k.Examples {
				test.OK(t, c.Remove(x.ID))
			}
		}
	})
	if got := c.Bursts(); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("without examples: %v", got)
	}
}
