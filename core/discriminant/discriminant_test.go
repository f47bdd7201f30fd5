package discriminant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// taught returns a classifier of classes with the given numbers of examples, and these.
func taught(rng *rand.Rand, p *niw.Prior, inf niw.Inference, pooled bool, shots ...int) (c *Classifier, examples []*mat.Dense) {
	white := make([]*mat.Dense, len(shots))
	for j, k := range shots {
		if examples = append(examples, nil); k > 0 {
			examples[j], white[j] = mat.NewDense(k, p.Dim(), niwtest.Vector(rng, k*p.Dim(), float64(j)/2)), mat.NewDense(k, p.Dim(), nil)
			p.WhitenRowsTo(white[j], examples[j])
		}
	}
	return New(p, inf, pooled, white), examples
}

// densities returns the log densities of x, that of a class never seen last.
func densities(c *Classifier, p *niw.Prior, x []float64, way int) []float64 {
	z, l := make([]float64, len(x)), make([]float64, way)
	p.WhitenTo(z, x)
	none := c.LogDensitiesTo(l, z)
	return append(l, none)
}

// Of d, 1 and 4 are for the dense form where all classes share it, 20 and 30 for low rank;
// of a class by itself 4 has one of each.
func TestDensitiesAreThoseOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 4, 20, 30} {
		for _, pooled := range []bool{false, true} {
			for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
				p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0.5)
				c, examples := taught(rng, p, inf, pooled, 3, 1, 7, 0)
				got := densities(c, p, query, 4)
				for j, g := range got {
					classes, own := examples, min(j, 3) // one never seen is like one without examples
					if !pooled {
						classes, own = examples[own:own+1], 0
					}
					want := niwtest.LogProb(t, p, inf, query, own, classes...)
					test.FailIf(t, !(math.Abs(g-want) <= 1e-10*math.Max(1, math.Abs(want))), "d=%d, %v, pooled %v, class %d: %.12g, want %.12g", d, inf, pooled, j, g, want)
				}
			}
		}
	}
}
