package episode

import (
	"math"
	"slices"
	"testing"

	"metaqda/core/test"
)

// querySizes counts the queries of each class of an episode, and of none.
func querySizes(e Episode) (sizes []int, unknown int) {
	sizes = make([]int, e.Way())
	for _, y := range e.QueryLabel {
		if y == Unknown {
			unknown++
		} else {
			sizes[y]++
		}
	}
	return sizes, unknown
}

// Class sizes have the total of equal ones, and mean and variance of their shares
// those of the Dirichlet distribution: 1/C and (C-1)/(C² (C a + 1)).
func TestSizesAreDirichlet(t *testing.T) {
	const way, query, n = 4, 25, 3000
	for _, a := range []int{1, 2, 10} {
		c := Fixed(way, 2, query)
		c.Concentration, c.UnknownClasses = a, 2
		p := pool(equalSizes(8, way*query+2)...)
		s := test.Must(NewUniform(p, c, 3))(t)
		var sum, squares float64
		for i := range n {
			e := s.Episode(i)
			checkEpisode(t, &p, e)
			sizes, unknown := querySizes(e)
			total := 0
			for _, k := range sizes {
				total += k
			}
			if total != way*query || unknown != 2*query {
				t.Fatalf("episode %d: %v queries and %d unknown", i, sizes, unknown)
			}
			share := float64(sizes[1]) / (way * query)
			sum, squares = sum+share, squares+share*share
		}
		mean := sum / n
		variance, want := squares/n-mean*mean, float64(way-1)/(way*way*float64(way*a+1))
		if math.Abs(mean-1./way) > 0.015 || math.Abs(variance/want-1) > 0.12 {
			t.Errorf("Dirichlet(%d): mean %.4f, variance %.5f, want %.4f and %.5f", a, mean, variance, 1./way, want)
		}
	}
}

// A class with too few rows for its share leaves the rest to the others, also if groups take rows
// away.
func TestSizesKeepTheirTotal(t *testing.T) {
	grouped := pool(12, 40, 15, 11, 90)
	grouped.Groups = make([]int32, 5000)
	for _, rows := range grouped.Rows {
		for _, row := range rows {
			grouped.Groups[row] = int32(row / 3)
		}
	}
	for name, p := range map[string]Pool{"rows": pool(12, 40, 15, 10, 90), "groups": grouped} {
		c := Fixed(4, 3, 5)
		c.Concentration = 1
		s, err := NewUniform(p, c, 9)
		if err != nil {
			t.Fatalf("%v %v", name, err)
		}
		different := false
		for i := range 500 {
			e := s.Episode(i)
			checkEpisode(t, &p, e)
			sizes, _ := querySizes(e)
			for j := range sizes {
				if len(e.Support[j]) != 3 {
					t.Fatalf("%s, episode %d: %d support rows", name, i, len(e.Support[j]))
				}
			}
			if len(e.Query) != 20 {
				t.Fatalf("%s, episode %d: sizes %v", name, i, sizes)
			}
			different = different || slices.Max(sizes) > 9
		}
		if !different {
			t.Errorf("%s: no class is much larger than another", name)
		}
	}
}

func TestShareOut(t *testing.T) {
	for _, c := range []struct {
		n      int
		shares []float64
		most   []int
		want   []int
	}{
		{10, []float64{.5, .3, .2}, []int{99, 99, 99}, []int{5, 3, 2}},
		{10, []float64{.46, .33, .21}, []int{99, 99, 99}, []int{5, 3, 2}},
		{10, []float64{.9, .06, .04}, []int{4, 99, 99}, []int{4, 3, 3}},
		{3, []float64{0, 1}, []int{2, 1}, []int{2, 1}},
		{0, []float64{1}, []int{5}, []int{0}},
	} {
		got := shareOut(c.n, c.shares, c.most)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d by %v: %v, want %v", c.n, c.shares, got, c.want)
		}
	}
}
