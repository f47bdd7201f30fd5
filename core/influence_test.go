package metaqda

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"metaqda/core/test"
)

// mislabelled are vectors of three classes, the last one of class 0 taught as class 1.
func mislabelled(rng *rand.Rand, n int) (all [][]float32, labels []int) {
	for j, of := range pictures(rng, 3, n, 24, 0.8) {
		for _, x := range of {
			all, labels = append(all, x), append(labels, j)
		}
	}
	labels[n-1] = 1
	return all, labels
}

func taughtAs(t *testing.T, all [][]float32, labels []int, but ...int) *Classifier {
	c := fresh(t, Settings{NonePrior: 0.1})
	for j := range 3 {
		test.Must(c.AddClass(strconv.Itoa(j)))(t)
	}
	for i, x := range all {
		if !slices.Contains(but, i) {
			test.Must(c.Add(strconv.Itoa(labels[i]), "", x))(t)
		}
	}
	return c
}

// The oracle teaches new classifiers everything but the two examples that are left out.
func TestInfluenceIsThatOfTeachingWithoutTheExample(t *testing.T) {
	all, labels := mislabelled(rand.New(rand.NewPCG(3, 1)), 5)
	c := taughtAs(t, all, labels)
	found := test.Must(c.Influence(nil, nil))(t)
	if len(found) == 0 || found[0].Class != 1 || found[0].Like != 0 || !slices.Equal(found[0].Examples[0].Vector, all[4]) {
		t.Fatalf("the wrong label is not first among %d examples", len(found))
	}
	for _, x := range found {
		i := slices.IndexFunc(all, func(v []float32) bool { return slices.Equal(v, x.Examples[0].Vector) })
		asked, right, logs := 0, 0, 0.0
		for k := range all {
			if k == i {
				continue
			}
			with := test.Must(taughtAs(t, all, labels, k).Predict(all[k]))(t)
			without := test.Must(taughtAs(t, all, labels, k, i).Predict(all[k]))(t)
			asked++
			for sign, a := range map[int]Answer{-1: with, 1: without} {
				if a.Class == labels[k] {
					right += sign
				}
				logs += float64(sign) * math.Log(max(a.Probabilities[labels[k]], leastProb))
			}
		}
		if x.Asked != asked || x.Right != right || !(math.Abs(x.LogProb-logs/float64(asked)) < 1e-6) {
			t.Errorf("without example %d of %d others %d more are right, by %.6f; by teaching anew of %d %d, by %.6f", i, x.Asked, x.Right, x.LogProb, asked, right, logs/float64(asked))
		}
	}
}

// More than 20 examples have the approximation of lda.LeaveOutTo.
func TestAWrongLabelIsFoundAmongMany(t *testing.T) {
	all, labels := mislabelled(rand.New(rand.NewPCG(4, 1)), 12)
	c := taughtAs(t, all, labels)
	found := test.Must(c.Influence(context.Background(), nil))(t)
	if len(found) == 0 || found[0].Like != 0 || found[0].Class != 1 || found[0].LogProb <= 0 {
		t.Fatalf("of %d examples the first is not the wrong label, which spoils others: %+v", len(found), found)
	}
	if !slices.IsSortedFunc(found, func(a, b Influence) int { return int(math.Copysign(1, b.Odds-a.Odds)) }) || found[len(found)-1].Odds <= 0 {
		t.Error("the examples are not in the order of their log odds, which are above 0")
	}
	if err := c.Remove(found[0].Examples[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, x := range test.Must(c.Influence(nil, nil))(t) {
		if x.Examples[0].ID == found[0].Examples[0].ID {
			t.Error("an example that is left out is found again")
		}
	}
}

func TestABurstIsLeftOutAsAWhole(t *testing.T) {
	all, labels := mislabelled(rand.New(rand.NewPCG(5, 1)), 6)
	c := taughtAs(t, all, labels, 5)
	for range 3 {
		test.Must(c.Add("1", "frames", all[5]))(t)
	}
	found := test.Must(c.Influence(nil, nil))(t)
	if len(found) == 0 || len(found[0].Examples) != 3 || found[0].Asked != 17 {
		t.Fatalf("the burst of three frames is not the first: %+v", found)
	}
}

// An example that is like no class at all is no wrong label.
func TestAnExampleOfNothingIsNotSuspect(t *testing.T) {
	left := func(own, other, none float64) LeftOut {
		return LeftOut{Probabilities: []float64{own, other}, None: none}
	}
	for _, x := range []struct {
		left LeftOut
		want int
	}{
		{left(.1, .6, .3), 1}, {left(.02, .1, .88), 1}, {left(.01, .05, .94), 0}, {left(.6, .1, .3), 0},
	} {
		if got := suspects([]LeftOut{x.left}, MostInfluence); len(got) != x.want {
			t.Errorf("own %v and the other, none %v: %d are suspect, not %d", x.left.Probabilities, x.left.None, len(got), x.want)
		}
	}
}

func TestInfluenceOfFewExamples(t *testing.T) {
	c := fresh(t, Settings{})
	for _, label := range []string{"a", "b", "c"} {
		if found := test.Must(c.Influence(nil, nil))(t); len(found) != 0 {
			t.Errorf("%d classes of one example have %d that look like another class", c.Len(), len(found))
		}
		test.Must(c.Add(label, "", []float32{1, float32(c.Len()), 3}))(t)
	}
}

// A program of one thread does other work between the steps. Bytes stand for time.
func TestInfluenceWorksInSmallSteps(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.1})
	for j, of := range pictures(rand.New(rand.NewPCG(7, 1)), 100, 5, 24, 0.3) {
		for _, x := range of {
			test.Must(c.Add(strconv.Itoa(j), "", x))(t)
		}
	}
	test.OK(t, c.Move(c.Classes()[0].Examples[0].ID, "1"))
	b := test.Must(c.BeginInfluence(MostInfluence))(t)
	var was, now runtime.MemStats
	most := uint64(0)
	for more := true; more; most = max(most, now.TotalAlloc-was.TotalAlloc) {
		runtime.ReadMemStats(&was)
		more, _, _, _ = b.Step()
		runtime.ReadMemStats(&now)
	}
	if len(b.Influence) != 1 || most > 1_500_000 {
		t.Errorf("%d examples of 500 are found, with a step of %d bytes: want one, in steps of a clone at most", len(b.Influence), most)
	}
}

func TestInfluenceEndsWithItsContext(t *testing.T) {
	all, labels := mislabelled(rand.New(rand.NewPCG(6, 1)), 6)
	ctx, stop := context.WithCancel(context.Background())
	_, err := taughtAs(t, all, labels).Influence(ctx, func(done, total int) {
		if done == 20 { // among those beside the first example found
			stop()
		}
		if done > 20 && ctx.Err() != nil || done > total {
			t.Errorf("%d of %d are done after the end", done, total)
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped question returns %v", err)
	}
	if err := test.Err(taughtAs(t, all, labels).Needs(ctx, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("what is needed, after the end: %v", err)
	}
}
