package qda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// Where one part alone tells classes apart the session finds out, from two examples of each
// on, and answers as one without parts whose vectors were reweighted by hand.
func TestSessionFindsThePartThatCounts(t *testing.T) {
	const d, first = 24, 12
	o := variants["session"]
	for _, part := range []string{"first", "second"} {
		rng := rand.New(rand.NewPCG(70, uint64(len(part))))
		prior := spikedPrior(t, rng, d, 3)
		draw := func(j int) []float64 {
			x := niwtest.Vector(rng, d, 0)
			from := 0
			if part == "second" {
				from = first
			}
			for i := from; i < from+first; i++ {
				x[i] *= 0.05 // little noise where the classes are
			}
			x[from+j] += 3
			return x
		}
		by := o
		by.Parts = &Parts{First: first}
		c, taught := test.Must(New(prior, by))(t), make([][][]float64, 3)
		for shot := range 4 {
			for j, label := range []string{"c0", "c1", "c2"} {
				if shot == 0 {
					test.OK(t, c.AddClass(label))
				}
				x := draw(j)
				taught[j] = append(taught[j], x)
				test.OK(t, c.Add(label, x))
			}
			p := test.Must(c.Predictor())(t)
			if shot == 0 {
				test.FailIf(t, p.Share != 0.5, "with one example of each the %s part is thought to count: %v", part, p.Share)
				continue
			}
			test.StopIf(t, p.Share == 0.5 || (p.Share > 0.5) != (part == "second"), "%s part: the share of the second is %v after %d", part, p.Share, shot+1)
			hand := func(x []float64) []float64 {
				x = slices.Clone(x)
				by.Parts.Apply(x, p.Share)
				return x
			}
			byHand := make(scene, 3)
			for j, all := range taught {
				for _, x := range all {
					byHand[j] = append(byHand[j], hand(x))
				}
			}
			x := draw(shot % 3)
			same(t, part, ask(t, c, x), ask(t, byHand.teach(t, prior, o), hand(x)), 1e-9)
		}
	}
}

func TestPartsRefuse(t *testing.T) {
	for name, p := range map[string]Parts{"no first part": {}, "odds": {First: 1, Odds: 2e3}} {
		o := variants["session"]
		o.Parts = &p
		test.FailIf(t, o.Validate() == nil, "%s: accepted", name)
	}
}
