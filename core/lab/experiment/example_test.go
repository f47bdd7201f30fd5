package experiment_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/experiment"
)

// cityBlock is a method of one's own: a class is as probable as its mean is near by
// the sum of the absolute differences.
type cityBlock struct{ space *experiment.Space }

func (c cityBlock) ScoresTo(dst *mat.Dense, _ []float64, t *experiment.Task) (hasNone bool, err error) {
	return false, c.ClassScoresTo(dst, t.Support, t.Query, 1)
}

// ClassScoresTo is for the incremental protocol alone.
func (c cityBlock) ClassScoresTo(dst *mat.Dense, support [][]int, queries []int, _ int) error {
	mean := make([]float64, c.space.Dim())
	for j, rows := range support {
		clear(mean)
		for _, i := range rows {
			floats.AddScaled(mean, 1/float64(len(rows)), c.space.Row(i))
		}
		for k, i := range queries {
			dst.Set(k, j, -floats.Distance(c.space.Row(i), mean, 1))
		}
	}
	return nil
}

var ours = experiment.Method{Name: "city-block", Prepare: func(s *experiment.Source, _ *experiment.Plan) (func() experiment.Scorer, error) {
	space, err := s.Space(embed.CL2N)
	return func() experiment.Scorer { return cityBlock{space} }, err
}}

// A method of one's own goes through every protocol beside those that are here. The
// data are Gaussians and the prior is the truth about them; files are read by
// dataset.Load and DecodePrior.
func Example() {
	known := append(experiment.Methods(), ours)
	g := datasettest.Gaussians{Classes: 30, Rows: 12, Dim: 8}
	domains := []experiment.Domain{{Set: g.Set("gaussians"), Prior: truth(8)}, {Set: g.Set("more"), Prior: truth(8)}}
	for _, protocol := range experiment.Protocols() {
		plan, err := experiment.NewPlan(protocol.Name)
		if err != nil {
			log.Fatal(err)
		}
		plan.Methods, err = experiment.Choose(known, "city-block", "ncc-cl2n", "fb")
		if err != nil {
			log.Fatal(err)
		}
		plan.Ways, plan.Queries, plan.Tasks, plan.ValTasks, plan.Repeat = []int{3}, 4, 20, 0, 1
		if protocol.Name != experiment.MultiDomain {
			plan.Shots = []int{2}
		}
		part, err := plan.Run(context.Background(), domains)
		if err != nil {
			log.Fatal(err)
		}
		report := part.Report()
		fmt.Printf("%-21s", protocol.Name)
		for _, m := range report.Methods {
			fmt.Printf(" %s %2.0f %%", m, 100*report.Find(m, "gaussians", 0, 0).Accuracy.Mean)
		}
		fmt.Println()
	}
	// Output:
	// standard              city-block 70 % ncc-cl2n 73 % fb 75 %
	// cross-domain          city-block 70 % ncc-cl2n 73 % fb 75 %
	// multi-domain          city-block 40 % ncc-cl2n 42 % fb 43 %
	// incremental           city-block 63 % ncc-cl2n 63 % fb 70 %
	// calibration           city-block 70 % ncc-cl2n 73 % fb 75 %
	// ablation              city-block 70 % ncc-cl2n 73 % fb 75 %
	// open-set              city-block 63 % ncc-cl2n 67 % fb 67 %
	// sessions              city-block 66 % ncc-cl2n 68 % fb 72 %
	// transductive          city-block 70 % ncc-cl2n 73 % fb 75 %
	// leave-one-domain-out  city-block 71 % ncc-cl2n 74 % fb 75 %
}

// truth is the prior of datasettest.Gaussians: means N(3, I), covariances 2.25 I.
func truth(d int) *experiment.Prior {
	const nu = 500 // sure of the covariance
	p := experiment.HandCrafted(d, 1.5*math.Sqrt(nu-float64(d)-1), embed.Transform{Kind: embed.None})
	p.NIW.Kappa, p.NIW.Nu = 2.25, nu
	for i := range p.NIW.M {
		p.NIW.M[i] = 3
	}
	return p
}
