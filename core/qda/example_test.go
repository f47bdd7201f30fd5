package qda_test

import (
	"fmt"

	"metaqda/core/niw"
	"metaqda/core/qda"
)

func ExampleClassifier() {
	c, err := qda.New(niw.HandCrafted(2, 1), qda.Options{Shared: 1, Kappa: 1, NonePrior: 0.1})
	if err != nil {
		panic(err)
	}
	for _, label := range []string{"left", "right"} {
		if err := c.AddClass(label); err != nil {
			panic(err)
		}
	}
	for label, x := range map[string][]float64{"left": {-2, 0}, "right": {2, 0}} {
		if err := c.Add(label, x); err != nil {
			panic(err)
		}
	}
	p := make([]float64, 2)
	none, err := c.ProbabilitiesTo(p, []float64{0, 0})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f %.2f, none %.2f\n", p[0], p[1], none)
	// Output: 0.42 0.42, none 0.15
}
