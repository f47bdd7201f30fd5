package model_test

import (
	"fmt"
	"slices"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// A prior file says how vectors are transformed, what is known of classes in general
// and how densities become probabilities. One is learned by `metaqda train`; here one
// is made by hand.
func Example() {
	file, err := model.EncodePrior(&model.Prior{NIW: niw.HandCrafted(2, 1), Transform: embed.Transform{Kind: embed.None},
		Session: model.Session{Shared: 1, Kappa: 1}})
	if err != nil {
		panic(err)
	}

	prior, err := model.DecodePrior(file)
	if err != nil {
		panic(err)
	}
	o := prior.Session.Options()
	o.NonePrior = 0.1 // probability of none of these beforehand
	c, err := qda.New(prior.NIW, o)
	if err != nil {
		panic(err)
	}
	for label, examples := range map[string][][]float64{"cup": {{2, 2}, {2.2, 1.9}}, "pen": {{-2, 1.8}, {-1.9, 2}}} {
		if err := c.AddClass(label); err != nil {
			panic(err)
		}
		for _, x := range examples {
			if err := prior.Transform.ApplyTo(x, x); err != nil {
				panic(err)
			}
			if err := c.Add(label, x); err != nil {
				panic(err)
			}
		}
	}

	p := make([]float64, 2)
	query := []float64{2.1, 2.1}
	if err := prior.Transform.ApplyTo(query, query); err != nil {
		panic(err)
	}
	none, err := c.ProbabilitiesTo(p, query) // p and none sum to one
	if err != nil {
		panic(err)
	}
	cup := slices.Index(c.Labels(), "cup")
	fmt.Println("cup is likeliest:", p[cup] > max(p[1-cup], none))
	// Output: cup is likeliest: true
}
