package lda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// A clone answers to the bit what its original answered when it was made, whatever is added,
// removed, detached or asked without an example in either afterwards. A clone that is changed
// as its original is answers as it does. Both hold where the factor is made anew after each
// change and where it is changed by rotations, in its dual and in its primal form.
func TestACloneStaysAsItsOriginalWas(t *testing.T) {
	type kept struct {
		of      *Classifier
		answers []float64
	}
	for name, o := range variants {
		for seed := range uint64(24) {
			rng := rand.New(rand.NewPCG(81, seed))
			o.Near = 0.3 * float64(seed%2)
			d := []int{4, 60}[seed/2%2]
			p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0)
			c := test.Must(New(p, o))(t)
			if seed/4%2 == 0 {
				c.shared.cov.anew = 0
			}
			var all []kept
			for step := range 50 {
				c, twin := c, c.Clone() // which changes as c does
				if step%5 != 0 {
					twin = nil
				}
				label, x, at, what := fmt.Sprint(rng.IntN(4)), niwtest.Vector(rng, d, 0), rng.Float64(), rng.IntN(8)
				if rng.IntN(3) == 0 && len(all) > 0 {
					c, twin = all[rng.IntN(len(all))].of.Clone(), nil // the clone of a clone changes
				}
				change := func(c *Classifier) {
					n := c.Count(label)
					_ = c.AddClass(label) // or it is there
					switch {
					case what < 5 || n == 0:
						test.OK(t, c.Insert(label, int(at*float64(n+1)), x))
					case what < 6:
						test.OK(t, c.Remove(label, int(at*float64(n))))
					case what < 7:
						test.OK(t, c.Truncate(label, int(at*float64(n))))
					default:
						test.OK(t, c.Attach(0, test.Must(c.Detach(label))(t)))
					}
				}
				change(c)
				if twin != nil {
					change(twin)
				}
				if len(c.taught) == 0 {
					continue
				}
				switch rng.IntN(3) { // else the clone is of one that has not settled
				case 0:
					everything(t, c, query)
				case 1:
					pieces := rng.IntN(4)
					c.Prepare(func() bool { pieces--; return pieces >= 0 })
				}
				if twin != nil && !slices.Equal(everything(t, c, query), everything(t, twin, query)) {
					t.Errorf("%s, seed %d, step %d: a clone that changes alike answers otherwise", name, seed, step)
				}
				clone := c.Clone()
				all = append(all, kept{clone, everything(t, clone, query)})
				if got := everything(t, c, query); !slices.Equal(got, all[len(all)-1].answers) {
					t.Errorf("%s, seed %d, step %d: the clone answers %v, its original %v", name, seed, step, all[len(all)-1].answers, got)
				}
				k := c.taught[rng.IntN(len(c.taught))]
				if _, err := c.LeaveOutTo(make([]float64, len(c.classes)), k.label, 0); err != ErrNoExamples {
					test.OK(t, err)
				}
			}
			for i, k := range all {
				if got := everything(t, k.of, query); !slices.Equal(got, k.answers) {
					t.Errorf("%s, seed %d: clone %d answers %v, before %v", name, seed, i, got, k.answers)
				}
			}
		}
	}
}

// A clone shares what is large with its original.
func TestACloneSharesVectorsAndFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))
	c, _ := teach(t, niwtest.Prior(rng, 30), variants["session"], []int{5, 5, 5})
	query := niwtest.Vector(rng, 30, 0)
	everything(t, c, query)
	clone := c.Clone()
	if &c.shared.cov.rows[0] != &clone.shared.cov.rows[0] || &c.classes[1].w.Data[0] != &clone.classes[1].w.Data[0] || !clone.Settled() {
		t.Error("the clone computes anew what the original has")
	}
	test.OK(t, clone.Add("c0", query))
	everything(t, clone, query)
	if &c.classes[0].w.Data[0] == &clone.classes[0].w.Data[0] || &c.classes[1].w.Data[0] != &clone.classes[1].w.Data[0] {
		t.Error("not the class that has changed alone is copied")
	}
}

// What a session's examples say of it stays what it was when a clone asks its own anew, whether
// the original had settled or not when it was cloned, and the other way round.
func TestACloneHasASupportOfItsOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 1))
	for _, settled := range []bool{true, false} {
		for _, swapped := range []bool{true, false} {
			c, _ := teach(t, niwtest.Prior(rng, 20), variants["session"], []int{4, 4, 4})
			query := niwtest.Vector(rng, 20, 0)
			everything(t, c, query)
			if !settled {
				test.OK(t, c.Remove("c0", 3)) // the numbers have room where those before were
			}
			stays, changes := c, c.Clone()
			if swapped {
				stays, changes = changes, stays
			}
			want := slices.Clone(stays.Support().Scores)
			test.OK(t, changes.Remove("c1", 2))
			test.OK(t, changes.Add("c0", niwtest.Vector(rng, 20, 1)))
			everything(t, changes, query)
			if got := stays.Support().Scores; !slices.Equal(got, want) {
				t.Errorf("settled %v, swapped %v: the support is %v, and was %v", settled, swapped, got, want)
			}
		}
	}
}
