package qda

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

func TestAlikeFindsClumpsAmongStrangers(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 1))
	for trial := range 20 {
		x, of := clumps(rng, 120)
		c, err := New(niw.HandCrafted(120, 1), with(Options{NonePrior: 0.2}))
		must(t, err)
		all := make([]int, len(of))
		for i := range all {
			all[i] = i
		}
		groups, err := c.Alike(x, all)
		must(t, err)
		var sizes []int
		for _, g := range groups {
			sizes = append(sizes, len(g))
			for _, i := range g {
				if of[i] != of[g[0]] {
					t.Errorf("trial %d: clumps %d and %d in one group", trial, of[i], of[g[0]])
				}
			}
		}
		if !slices.Equal(sizes, []int{12, 6, 3}) { // the fourth clump is one picture
			t.Fatalf("trial %d: groups of %v", trial, sizes)
		}
		few := slices.DeleteFunc(all, func(i int) bool { return of[i] == 0 })
		if groups, err = c.Alike(x, few); err != nil || len(groups) != 2 || of[groups[0][0]] != 1 || of[groups[1][0]] != 2 {
			t.Fatalf("trial %d, the first clump known: %v, %v", trial, groups, err)
		}
	}
}

// No member is far from the centre, nothing that could be grouped is left over, and
// the pictures may come in any order.
func TestAlikeIsAStarCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	const d, m = 5, 60
	p := randomPrior(rng, d)
	c, err := New(p, with(Options{NonePrior: 0.2}))
	must(t, err)
	x, mean := mat.NewDense(m, d, nil), make([]float64, d)
	for i := range m {
		x.SetRow(i, randomVector(rng, d, 1))
		for j, v := range x.RawRowView(i) {
			mean[j] += v / m
		}
	}
	p.WhitenTo(mean, mean)
	w := make([][]float64, m)
	for i := range w {
		w[i] = make([]float64, d)
		p.WhitenTo(w[i], x.RawRowView(i))
		direct(w[i], mean)
	}
	cosine := func(i, j int) (s float64) {
		for k, v := range w[i] {
			s += v * w[j][k]
		}
		return s
	}
	left, turned := make([]int, m), mat.NewDense(m, d, nil)
	for i := range m {
		left[i] = i
		turned.SetRow(m-1-i, x.RawRowView(i))
	}
	groups, err := c.Alike(x, left)
	must(t, err)
	backwards, err := c.Alike(turned, left)
	must(t, err)
	if len(groups) < 3 {
		t.Fatalf("only %d groups", len(groups))
	}
	for g, group := range groups {
		neighbours := func(i int) (n int) {
			for _, j := range left {
				if cosine(i, j) >= alikeBound {
					n++
				}
			}
			return n
		}
		for _, i := range left {
			if neighbours(i) > len(group) {
				t.Errorf("group %d has %d, around %d there are %d", g, len(group), i, neighbours(i))
			}
		}
		for k, i := range group {
			if cosine(i, group[0]) < alikeBound || k > 1 && cosine(i, group[0]) > cosine(group[k-1], group[0])+1e-12 {
				t.Errorf("group %d: member %d at %g", g, k, cosine(i, group[0]))
			}
		}
		if len(group) != len(backwards[g]) {
			t.Errorf("group %d has %d, backwards %d", g, len(group), len(backwards[g]))
		}
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(group, i) })
	}
}

func TestAlikeRefusesWhatIsNoEmbedding(t *testing.T) {
	c, err := New(niw.HandCrafted(3, 1), with(Options{NonePrior: 0.2}))
	must(t, err)
	if groups, err := c.Alike(new(mat.Dense), nil); err != nil || groups != nil {
		t.Errorf("none: %v, %v", groups, err)
	}
	var dimension *niw.DimensionError
	if _, err := c.Alike(mat.NewDense(4, 2, nil), []int{0}); !errors.As(err, &dimension) {
		t.Errorf("wrong length: %v", err)
	}
	if groups, err := c.Alike(mat.NewDense(4, 3, nil), []int{0, 1, 2, 3}); err != nil || len(groups) != 0 {
		t.Errorf("all the same, without a direction: %v, %v", groups, err)
	}
}
