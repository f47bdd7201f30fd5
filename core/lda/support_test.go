package lda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// The scores that are kept from change to change are those of a classifier that
// is asked for the first time.
func TestSupportFollowsEveryChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for _, o := range []Options{with(Options{}), with(Options{Centre: 1.5}), with(Options{Near: 0.5, Centre: 2})} {
		p := niwtest.Prior(rng, 20)
		c := test.Must(New(p, o))(t)
		var labels []string
		taught := map[string][][]float64{}
		for step := range 150 {
			switch label := fmt.Sprint(rng.IntN(6)); {
			case !slices.Contains(labels, label):
				test.OK(t, c.AddClass(label))
				labels, taught[label] = append(labels, label), nil
			case rng.IntN(12) == 0:
				test.OK(t, c.RemoveClass(label))
				labels = slices.DeleteFunc(labels, func(l string) bool { return l == label })
				delete(taught, label)
			case rng.IntN(4) == 0 && len(taught[label]) > 0:
				i := rng.IntN(len(taught[label]))
				test.OK(t, c.Remove(label, i))
				taught[label] = slices.Delete(taught[label], i, i+1)
			default:
				x := niwtest.Vector(rng, 20, 0.2)
				test.OK(t, c.Add(label, x))
				taught[label] = append(taught[label], x)
			}
			if step%3 == 0 {
				continue // several changes between two questions
			}
			fresh := test.Must(New(p, o))(t)
			for _, label := range labels {
				test.OK(t, fresh.AddClass(label))
				for _, x := range taught[label] {
					test.OK(t, fresh.Add(label, x))
				}
			}
			got, want := c.Support(), fresh.Support()
			same(t, fmt.Sprint("step ", step), append(got.Scores, got.Unknown...), append(want.Scores, want.Unknown...), 1e-9)
			same(t, "shots", got.Shots, want.Shots, 0)
			same(t, "bursts", got.Bursts, want.Bursts, 0)
		}
	}
}

// A session of many classes asks a bounded number of its examples.
func TestSupportOfALargeSession(t *testing.T) {
	shots := make([]int, 200)
	for i := range shots {
		shots[i] = 2
	}
	c, _ := teach(t, niw.HandCrafted(30, 1), Options{NonePrior: 0.1, Population: somePopulation()}, shots)
	s := c.Support()
	asked := map[int]bool{}
	for _, j := range s.Class {
		asked[j] = true
	}
	if len(s.Class) != supportExamples || s.Way() != 200 || len(asked) != supportClasses {
		t.Errorf("%d examples of %d among %d classes", len(s.Class), len(asked), s.Way())
	}
}

// Each example is asked of a classifier that was taught all others anew.
func TestLeaveOutIsTeachingAllOthers(t *testing.T) {
	for name, o := range variants {
		rng := rand.New(rand.NewPCG(60, 1))
		for _, d := range []int{3, 24} { // 3: in and out of the form of size d
			p := niwtest.Prior(rng, d)
			s := scene{drift(rng, 7, d), drift(rng, 4, d), drift(rng, 1, d)}
			c, query := s.teach(t, p, o), niwtest.Vector(rng, d, 0.3)
			before := ask(t, c, query)
			for j, label := range c.Labels() {
				for b := range c.classes[j].count() {
					pictures := test.Must(c.Pictures(label, b))(t)
					mean, others := slices.Clone(c.classes[j].row(b)), slices.Clone(s)
					p.UnwhitenTo(mean)
					floats.Add(mean, p.M)
					others[j] = nil
					for i, x := range s[j] {
						if !slices.Contains(pictures, i) {
							others[j] = append(others[j], x)
						}
					}
					got := make([]float64, 3, 4)
					none := test.Must(c.LeaveOutTo(got, label, b))(t)
					what := fmt.Sprint(name, " d=", d, " ", label, " ", b)
					without := others.teach(t, p, o)
					without.near, without.measured, without.grouped = c.near, true, false // that of the whole session
					same(t, what, append(got, none), ask(t, without, mean), 1e-9)
					same(t, what+", afterwards", ask(t, c, query), before, 0)
				}
			}
		}
	}
}

// A class taken out and brought back, with all that may happen meanwhile.
func TestDetachThenAttach(t *testing.T) {
	rng := rand.New(rand.NewPCG(48, 1))
	for name, o := range variants {
		for i, d := range []int{2, 24, 2, 24} {
			c, _ := teach(t, niwtest.Prior(rng, d), o, []int{1, 2, 3, 4})
			tol := 0.0
			if i > 1 { // as in large sessions
				c.shared.cov.anew, tol = 0, 1e-9
			}
			query, labels := niwtest.Vector(rng, d, 0.3), c.Labels()
			want := ask(t, c, query)
			for at, label := range labels {
				for meanwhile, f := range map[string]func(){
					"nothing": func() {},
					"a query": func() { ask(t, c, query) },
					"another class": func() {
						test.OK(t, c.AddClass("x"))
						test.OK(t, c.Add("x", query))
						ask(t, c, query)
						test.OK(t, c.RemoveClass("x"))
					},
					"another near": func() {
						near := o
						near.Near = 1e9
						test.OK(t, c.SetOptions(near))
						ask(t, c, query)
						test.OK(t, c.SetOptions(o))
					},
				} {
					k := test.Must(c.Detach(label))(t)
					if slices.Contains(c.Labels(), label) {
						t.Fatalf("%s is still there", label)
					}
					f()
					test.OK(t, c.Attach(at, k))
					same(t, fmt.Sprint(name, " d=", d, " ", label, " after ", meanwhile), ask(t, c, query), want, tol)
					if !slices.Equal(c.Labels(), labels) {
						t.Fatalf("labels %v", c.Labels())
					}
				}
			}
		}
	}
}

// Where one part alone tells classes apart the session finds out, from two examples of each
// on, and answers as one without parts whose vectors were reweighted by hand.
func TestSessionFindsThePartThatCounts(t *testing.T) {
	const d, first = 24, 12
	o := variants["session"]
	for _, part := range []string{"first", "second"} {
		rng := rand.New(rand.NewPCG(70, uint64(len(part))))
		prior := niwtest.Spiked(t, rng, d, 3)
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
				if p.Share != 0.5 {
					t.Errorf("with one example of each the %s part is thought to count: %v", part, p.Share)
				}
				continue
			}
			if p.Share == 0.5 || (p.Share > 0.5) != (part == "second") {
				t.Fatalf("%s part: the share of the second is %v after %d", part, p.Share, shot+1)
			}
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

// A part that is rounding alone has no direction.
func TestAPartOfRoundingAloneBecomesZero(t *testing.T) {
	p := Parts{First: 2}
	for s, x := range map[float64][]float64{1: {3, 4, 1e-16, -2e-16}, 0: {0, 3e-16, 3, 4}} {
		if p.Apply(x, s); !slices.Equal(x, make([]float64, 4)) {
			t.Errorf("share %v: %v", s, x)
		}
	}
}

// A piece of what the first answer waits for takes in at most 64 classes.
func TestPiecesOfManyClasses(t *testing.T) {
	c, _ := teach(t, niwtest.Prior(rand.New(rand.NewPCG(49, 1)), 6), variants["session"], slices.Repeat([]int{2}, 300))
	had := 0
	c.Prepare(func() bool {
		now := len(c.shared.cov.members)
		if now > had+pieceRows {
			t.Errorf("%d classes, then %d", had, now)
		}
		had = now
		return true
	})
	if had != 300 {
		t.Errorf("%d classes", had)
	}
}

// The oracle sorts all rows. Numbers are few, so many rows are equal.
func TestFirstByLotAreTheFirstOfASort(t *testing.T) {
	rng := rand.New(rand.NewPCG(99, 1))
	for n := range 50 {
		rows, want := make([][]float64, n), make([]int, n)
		for i := range rows {
			rows[i], want[i] = []float64{0.1 * float64(rng.IntN(3)), 0.1 * float64(rng.IntN(3))}, i
		}
		slices.SortStableFunc(want, func(a, b int) int { return byLot(rows[a], rows[b]) })
		for most := 1; most < n; most++ {
			if got := firstByLot(rows, most); !slices.Equal(got, want[:most]) {
				t.Fatalf("%d of %d: %v, want %v", most, n, got, want[:most])
			}
		}
	}
}
