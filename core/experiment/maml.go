package experiment

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/embed"
	"metaqda/core/episode"
)

// mamlMethod meta-learns its start on the data's own training classes before
// the first task: seconds at d = 256, minutes at d = 1104. It depends on the
// seed alone, so that every shard learns the same.
var mamlMethod = Method{"maml-qda", "QDA whose covariance factor starts from one meta-learned by MAML on the training classes", func(s *Source, p *Plan) (func() Scorer, error) {
	space, err := s.Space(embed.CL2N)
	if err != nil {
		return nil, err
	}
	if s.maml == nil {
		if s.maml, err = trainMAML(s, p); err != nil {
			return nil, err
		}
	}
	m := baseline.Method{Name: "maml-qda", Transform: embed.CL2N, Full: true}
	return func() Scorer {
		return &baselineScorer{space, m, &baseline.MAMLQDA{Start: s.maml, Steps: baseline.MAMLSteps, Rate: baseline.MAMLRate}}
	}, nil
}}

// trainMAML draws its training tasks as the tasks are drawn, 5 ways and 1 to 5
// shots.
func trainMAML(s *Source, p *Plan) (*mat.TriDense, error) {
	pool, err := s.Pool("train")
	if err != nil {
		return nil, err
	}
	config := episode.Config{Way: episode.Exactly(5), Shot: episode.Range{Min: 1, Max: 5}, Query: episode.Exactly(10)}
	sampler, err := episode.NewUniform(pool, config, p.Seed^0x6d616d6c)
	if err != nil {
		return nil, err
	}
	var rows []int
	for _, class := range pool.Rows {
		rows = append(rows, class...)
	}
	space, err := newSpace(s.Set, rows, &embed.Transform{Kind: embed.CL2N, Power: 1, Centre: s.centre}, nil)
	if err != nil {
		return nil, err
	}
	draw := func(i int) baseline.Episode {
		e := sampler.Episode(i)
		var t Task
		t.begin(&e, i)
		support, queries := t.Features(space)
		return baseline.Episode{Task: baseline.Task{Support: support, Labels: t.Labels, Way: e.Way()}, Queries: queries, Answers: e.QueryLabel}
	}
	return baseline.TrainMAML(s.Set.Dim, p.MAMLTasks, draw), nil
}
