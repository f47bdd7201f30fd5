package metaqda_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/experiment"
)

// cosine scores a class by the cosine to the sum of its examples.
type cosine struct{ space *experiment.Space }

func (c cosine) ScoresTo(dst *mat.Dense, _ []float64, t *experiment.Task) (hasNone bool, err error) {
	for j, rows := range t.Support {
		sum := make([]float64, c.space.Dim())
		for _, i := range rows {
			floats.Add(sum, c.space.Row(i))
		}
		floats.Scale(1/floats.Norm(sum, 2), sum)
		for k, i := range t.Query {
			dst.Set(k, j, floats.Dot(c.space.Row(i), sum))
		}
	}
	return false, nil
}

// Your own method goes through the protocols beside the built-in ones; metaqda/core/lab/experiment
// runs one through all of them. The data are Gaussians here; dataset.Load reads files.
func Example_method() {
	ours := experiment.Method{Name: "cosine", Prepare: func(s *experiment.Source, _ *experiment.Plan) (func() experiment.Scorer, error) {
		space, err := s.Space(embed.L2)
		return func() experiment.Scorer { return cosine{space} }, err
	}}
	plan, err := experiment.NewPlan(experiment.Standard)
	if err != nil {
		log.Fatal(err)
	}
	plan.Ways, plan.Shots, plan.Queries, plan.Tasks, plan.ValTasks = []int{3}, []int{2}, 4, 50, 0
	if plan.Methods, err = experiment.Choose(append(experiment.Methods(), ours), "cosine", "ncc-cl2n"); err != nil {
		log.Fatal(err)
	}
	data := datasettest.Gaussians{Classes: 30, Rows: 12, Dim: 8}.Set("gaussians")
	part, err := plan.Run(context.Background(), []experiment.Domain{{Set: data}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range part.Report().On("gaussians") {
		fmt.Println(r.Method, "above chance:", r.Accuracy.Mean-r.Accuracy.CI95 > 1.0/3)
	}
	// Output:
	// cosine above chance: true
	// ncc-cl2n above chance: true
}
