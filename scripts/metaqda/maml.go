package main

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/embed"
	"metaqda/core/episode"
)

// mamlMethod meta-learns its start on the data's own training classes before
// the first task: seconds at d = 256, minutes at d = 1104. It depends on the
// seed alone, so that every shard learns the same.
var mamlMethod = method{"maml-qda", "QDA whose covariance factor starts from one meta-learned by MAML on the training classes", func(s *source, o *evalOptions) (func() scorer, error) {
	sp, err := s.space(embed.CL2N)
	if err != nil {
		return nil, err
	}
	if s.maml == nil {
		if s.maml, err = trainMAML(s, o); err != nil {
			return nil, err
		}
	}
	m := baseline.Method{Name: "maml-qda", Transform: embed.CL2N, Full: true}
	return func() scorer {
		return &baselineScorer{sp, m, &baseline.MAMLQDA{Start: s.maml, Steps: baseline.MAMLSteps, Rate: baseline.MAMLRate}}
	}, nil
}}

// trainMAML draws its episodes as the tasks are drawn, 5 ways and 1 to 5 shots.
func trainMAML(s *source, o *evalOptions) (*mat.TriDense, error) {
	pool, err := s.pool("train")
	if err != nil {
		return nil, err
	}
	config := episode.Config{Way: episode.Exactly(5), Shot: episode.Range{Min: 1, Max: 5}, Query: episode.Exactly(10)}
	sampler, err := episode.NewUniform(pool, config, o.seed^0x6d616d6c)
	if err != nil {
		return nil, err
	}
	var rows []int
	for _, class := range pool.Rows {
		rows = append(rows, class...)
	}
	sp, err := newSpace(s.set, rows, &embed.Transform{Kind: embed.CL2N, Power: 1, Center: s.centre}, nil)
	if err != nil {
		return nil, err
	}
	draw := func(i int) baseline.Episode {
		e := sampler.Episode(i)
		var w workspace
		w.begin(&e, i)
		r := w.features(sp)
		return baseline.Episode{Task: baseline.Task{Support: r.support, Labels: w.labels, Way: e.Way()}, Queries: r.queries, Answers: e.QueryLabel}
	}
	return baseline.TrainMAML(s.set.Dim, o.mamlTasks, draw), nil
}
