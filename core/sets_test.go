package metaqda

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"metaqda/core/niw"
	"metaqda/core/test"
)

// The oracle counts the scores one by one, of classifiers taught without each example. None of the
// classes goes by the probabilities alone, and brings in each class that is more probable.
func TestASetIsThatOfTheQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	asked := pictures(rng, 9, 4, 24, 1.5)
	all := asked[:3] // the others are of none of the classes
	teach := func(class, but int) *Classifier {
		c := fresh(t, Settings{NonePrior: 0.2})
		for j, rows := range all {
			for i, x := range rows[:3] {
				if j != class || i != but {
					test.Must(c.Add(strconv.Itoa(j), "", x))(t)
				}
			}
		}
		return c
	}
	logRatio := func(a Answer, y int) float64 {
		p := append(slices.Clone(a.Probabilities), a.None)
		return math.Log(slices.Max(p)) - math.Log(max(p[y], leastProb))
	}
	var scores []float64
	for j, rows := range all {
		for i, x := range rows[:3] {
			scores = append(scores, logRatio(test.Must(teach(j, i).Predict(x))(t), j))
		}
	}
	c := teach(-1, -1)
	var queries [][]float32
	for _, rows := range asked {
		queries = append(queries, rows[3])
		for _, share := range []float32{0.3, 0.5, 0.7} { // between two classes
			x := make([]float32, len(rows[3]))
			for i := range x {
				x[i] = share*rows[3][i] + (1-share)*asked[0][3][i]
			}
			queries = append(queries, x)
		}
	}
	sizes, besides := map[int]int{}, 0 // besides: labels that are in since they are more probable than none
	for _, coverage := range []float64{0.05, 0.5, 0.8, 0.9, 0.95, 0.999} {
		for _, x := range queries {
			s := test.Must(c.PredictSet(x, coverage))(t)
			p := append(slices.Clone(s.Probabilities), s.None)
			in := func(y int) bool {
				less := 0.0
				for _, v := range scores {
					if v < logRatio(s.Answer, y)-1e-9 {
						less++
					}
				}
				for k := range p {
					if p[k] > p[y] {
						less += 2 * p[k]
					}
				}
				bound := coverage*float64(len(scores)+2) + 0.2
				if y == len(all) {
					less, bound = 0, coverage*(1+0.5*(1-coverage))
					for k := range p {
						if p[k] > p[y] {
							less += p[k]
						}
					}
				}
				return less < bound
			}
			least := 1.0 // the probability of the least probable label that is in by itself
			for y := range p {
				if in(y) {
					least = min(least, p[y])
				}
			}
			var want []int
			for y := range p {
				if p[y] >= least {
					want = append(want, y)
					if !in(y) {
						besides++
					}
				}
			}
			slices.SortFunc(want, func(a, b int) int { return int(math.Copysign(1, p[b]-p[a])) })
			for i, y := range want {
				if y == len(all) {
					want[i] = -1
				}
			}
			if !slices.Equal(s.Labels, want) {
				t.Errorf("coverage %v: %v, by hand %v", coverage, s.Labels, want)
			}
			if borrowed := coverage > 0.9; s.Examples != 9 || s.Borrowed != borrowed {
				t.Errorf("coverage %v: it rests on %d examples, borrowed %v", coverage, s.Examples, s.Borrowed)
			}
			sizes[len(want)]++
		}
	}
	if len(sizes) < 3 {
		t.Errorf("the sets do not differ in size: %v", sizes)
	}
	if besides == 0 {
		t.Error("no set has a class only because it is more probable than none")
	}
}

// With one example of each class nothing but the probabilities is there. Then a set may be wrong a
// quarter as often as asked for, since these are too sure of some kinds of things.
func TestASetOfSingleExamplesHasTheMostProbableLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	c := fresh(t, Settings{})
	all := pictures(rng, 5, 2, 24, 1.5)
	for j, rows := range all {
		test.Must(c.Add(strconv.Itoa(j), "", rows[0]))(t)
	}
	test.Must(c.AddClass("empty"))(t)
	larger := 0 // sets that have more labels than the probabilities alone would ask for
	for _, rows := range all {
		for _, share := range []float32{1, 0.6, 0.5, 0.4, 0.3} {
			x := make([]float32, len(rows[1]))
			for i := range x {
				x[i] = share*rows[1][i] + (1-share)*all[0][0][i]
			}
			s := test.Must(c.PredictSet(x, 0.9))(t)
			p := func(y int) float64 {
				if y < 0 {
					return s.None
				}
				return s.Probabilities[y]
			}
			sum := 0.0
			for i, y := range s.Labels {
				if sum >= 0.975 || y == 5 || i > 0 && p(y) > p(s.Labels[i-1]) {
					t.Errorf("%v of %v", s.Labels, s.Probabilities)
				}
				if i == len(s.Labels)-1 && sum >= 0.9 {
					larger++
				}
				sum += p(y)
			}
			if sum < 0.975-1e-9 || !s.Borrowed || s.Examples != 0 {
				t.Errorf("%v of %v, %+v", s.Labels, s.Probabilities, s)
			}
		}
	}
	if larger == 0 {
		t.Error("no set is larger than the probabilities alone would ask for")
	}
}

func TestSetsFollowChanges(t *testing.T) {
	all, labels := mislabelled(rand.New(rand.NewPCG(11, 1)), 6)
	c := taughtAs(t, all, labels)
	n := test.Must(c.PredictSet(all[0], 0.9))(t).Examples
	test.OK(t, c.Remove(c.Classes()[0].Examples[0].ID))
	if got := test.Must(c.PredictSet(all[0], 0.9))(t).Examples; got != n-1 {
		t.Errorf("it rests on %d examples, and on %d after one was removed", n, got)
	}
	for more := 1; ; more++ { // in pieces
		scores, done := c.Scores(func() bool { return false })
		if done {
			if len(scores) != n-1 {
				t.Errorf("%d scores", len(scores))
			}
			break
		}
		if more > n {
			t.Fatal("the scores do not end")
		}
	}
	var wg sync.WaitGroup
	test.OK(t, c.Remove(c.Classes()[0].Examples[0].ID))
	for range 4 {
		wg.Go(func() {
			if s, err := c.PredictSet(all[0], 0.9); err != nil || s.Examples != n-2 {
				t.Errorf("%+v %v", s, err)
			}
		})
	}
	wg.Wait()
}

func TestSetsOfNoCoverageAreRefused(t *testing.T) {
	c := fresh(t, Settings{})
	if _, err := c.PredictSet([]float32{1, 2}, 0.9); Code(err) != "empty" {
		t.Errorf("without examples: %v", err)
	}
	test.Must(c.Add("a", "", []float32{1, 2}))(t)
	for _, coverage := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		err := test.Err(c.PredictSet([]float32{1, 2}, coverage))
		if test.Refused[*niw.ValueError](t, err, "coverage %v", coverage); !strings.Contains(err.Error(), "coverage is "+strconv.FormatFloat(coverage, 'g', -1, 64)) {
			t.Errorf("coverage %v: %v", coverage, err)
		}
	}
	// The only example of all, with nothing beside it.
	if s := test.Must(c.PredictSet([]float32{1, 2}, 0.9))(t); !slices.Equal(s.Labels, []int{0}) {
		t.Errorf("%+v", s)
	}
}
