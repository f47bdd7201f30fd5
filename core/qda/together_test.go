package qda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// Pictures that came together are the same as one by one, in and out of the dense
// form and where blocks begin, bursts or not.
func TestManyPicturesTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 1))
	for _, d := range []int{300, 450} {
		p, s := niw.HandCrafted(d, 1), randomScene(rng, d, 420)
		x := mat.NewDense(420, d, nil)
		for i, r := range s[0] {
			x.SetRow(i, r)
		}
		query := s[0][7]
		for _, near := range []float64{0, 0.01} {
			o := variants["levels"]
			o.Near, o.Centre = near, 1
			one := s.teach(t, p, o)
			many, err := New(p, o)
			must(t, err)
			must(t, many.AddClass("c0"))
			must(t, many.AddRows("c0", x.Slice(0, 40, 0, d).(*mat.Dense)))
			must(t, many.AddRows("c0", x.Slice(40, 420, 0, d).(*mat.Dense)))
			what := fmt.Sprint("d=", d, " near ", near)
			same(t, what, everything(t, many, query), everything(t, one, query), 1e-9)
			if a, b := many.classes[0], one.classes[0]; !slices.Equal(a.of, b.of) || a.lowRank() && a.group.Len() != a.count() {
				t.Errorf("%s: %d examples of %d in other bursts", what, a.group.Len(), a.count())
			}
			for range 130 { // low rank again where it was not
				must(t, one.Remove("c0", 280))
				must(t, many.Remove("c0", 280))
			}
			same(t, what+", less", everything(t, many, query), everything(t, one, query), 1e-9)
			if k := many.classes[0]; k.lowRank() && k.group.Len() != k.count() {
				t.Errorf("%s: %d examples of %d", what, k.group.Len(), k.count())
			}
		}
	}
}
