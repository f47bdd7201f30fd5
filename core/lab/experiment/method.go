package experiment

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/lab/baseline"
	"metaqda/core/lab/episode"
	"metaqda/core/niw"
)

// Method is a classifier that a plan compares.
type Method struct {
	Name    string // in the report; unique within a plan
	Summary string // for help texts

	// Prepare prepares the method for a data set, and returns a function that makes a scorer for
	// each worker. It is called once for each data set before the first episode. Long work for all
	// episodes belongs here. It may depend on the plan's seed, not on its shard.
	Prepare func(s *Source, p *Plan) (func() Scorer, error)
}

// Scorer scores the episodes of one data set. Each worker has one of its own, so it may keep its
// memory between calls.
type Scorer interface {
	// ScoresTo stores in dst (queries x way) the log probabilities of the task's classes given each
	// query, up to a constant for each query. A method with a probability of none of the classes
	// stores its log odds in none (queries) and returns true. They are ln p/(1-p) at a prior
	// probability of one half. dst and none hold old values and are read before the next call. An
	// error ends the run. It is called once for each task and validation task of a cell, 800 times
	// in usual plans. It is nearly the whole cost of an experiment.
	ScoresTo(dst *mat.Dense, none []float64, t *Task) (hasNone bool, err error)
}

// ClassScorer is a Scorer whose score of a class depends on no other class. Only these can take
// part in [Incremental]: there classes come session by session, and the scores of old ones are not
// computed again.
type ClassScorer interface {
	Scorer

	// ClassScoresTo stores in dst (queries x classes) the log scores of classes. Support and
	// queries are given by their rows. One goroutine calls it, with base classes of hundreds of
	// rows and thousands of queries. It may use several goroutines of its own. Each class is scored
	// once in a run.
	ClassScoresTo(dst *mat.Dense, support [][]int, queries []int, workers int) error
}

// Methods returns the methods of the command metaqda: MetaQDA and MetaLDA with learned and with
// hand-crafted priors, and the competitors of core/lab/baseline.
func Methods() []Method {
	all := []Method{
		sessionMethod("metaqda", "the method of the page and the packages, with the prior of --prior", false),
		sessionMethod("metaqda-transductive", "the same, but all queries of a task are judged together", true),
		niwMethod("fb", "MetaQDA, fully Bayesian, with the prior of --prior", niw.FB, false, false),
		niwMethod("map", "MetaQDA, maximum a posteriori, with the prior of --prior", niw.MAP, false, false),
		niwMethod("fb-lda", "MetaLDA: fully Bayesian, one scale matrix for all classes", niw.FB, true, false),
		niwMethod("map-lda", "MetaLDA: maximum a posteriori", niw.MAP, true, false),
		niwMethod("fb-handcrafted", "QDA with the hand-crafted prior, fully Bayesian", niw.FB, false, true),
		niwMethod("map-handcrafted", "QDA with the hand-crafted prior, maximum a posteriori", niw.MAP, false, true),
		niwMethod("fb-lda-handcrafted", "LDA with the hand-crafted prior, fully Bayesian", niw.FB, true, true),
		niwMethod("map-lda-handcrafted", "LDA with the hand-crafted prior, maximum a posteriori", niw.MAP, true, true),
	}
	for _, m := range baseline.Methods() {
		all = append(all, Baseline(m))
	}
	return append(all, mamlMethod)
}

// Choose returns the methods of the given names among some, in the order of the
// names.
func Choose(among []Method, names ...string) ([]Method, error) {
	var chosen []Method
	for _, name := range names {
		i := slices.IndexFunc(among, func(m Method) bool { return m.Name == name })
		if i < 0 {
			var known []string
			for _, m := range among {
				known = append(known, m.Name)
			}
			return nil, fmt.Errorf("there is no method %q; choose from %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, among[i])
	}
	return chosen, nil
}

// niwMethod describes one of the MetaQDA family.
func niwMethod(name, summary string, inf niw.Inference, pooled, hand bool) Method {
	return Method{name, summary, func(s *Source, plan *Plan) (func() Scorer, error) {
		p, key := s.Prior, "learned"
		if inf == niw.MAP && s.MAPPrior != nil {
			p, key = s.MAPPrior, "learned for map"
		}
		if hand {
			key = "hand-crafted"
			var err error
			if p, err = handCrafted(s, plan.HandScale); err != nil {
				return nil, err
			}
		}
		if p == nil {
			return nil, fmt.Errorf("method %q needs a prior; give one with --prior FILE, or use %s-handcrafted", name, name)
		}
		space, err := s.whitened(key, p)
		if err != nil {
			return nil, err
		}
		scorer := paperScorer{space: space, niw: p.NIW, inference: inf, pooled: pooled, near: p.Session.Near}
		if p.Session.Shared == 0 { // else it is of the density that the prior is for
			scorer.centre = p.Session.Centre
		}
		return func() Scorer {
			own := scorer
			if pooled {
				return &own
			}
			return &paperClassScorer{own}
		}, nil
	}}
}

// sessionMethod describes the classifier that a prior is for. It judges the queries of a task one
// by one or together. Together it does not learn from queries that seem out of set. So the prior
// probability of none then affects the scores of the classes too.
func sessionMethod(name, summary string, together bool) Method {
	return Method{name, summary, func(s *Source, plan *Plan) (func() Scorer, error) {
		if s.Prior == nil {
			return nil, fmt.Errorf("method %q needs a prior; give one with --prior FILE", name)
		}
		if err := s.Prior.Serves(); err != nil {
			return nil, fmt.Errorf("method %q: %w", name, err)
		}
		scorer := niwScorer{options: s.Prior.Session.Options(), together: together, hasNone: !together || plan.asksOutOfSet()}
		scorer.options.NonePrior = 0.5
		if !scorer.hasNone {
			scorer.options.NonePrior = pageNonePrior
		}
		var err error
		scorer.space, scorer.prior, err = s.forSessions(scorer.options.Parts)
		return func() Scorer { return &scorer }, err
	}}
}

// Baseline returns the method of a competitor that is fitted to each episode.
func Baseline(m baseline.Method) Method {
	return Method{m.Name, m.Summary, func(s *Source, p *Plan) (func() Scorer, error) {
		space, err := s.Space(m.Transform)
		if err != nil {
			return nil, err
		}
		return func() Scorer {
			scorer := baselineScorer{space, m, m.New(), p.Seed}
			if _, ok := scorer.classifier.(*baseline.Centroid); ok {
				return &centroidScorer{scorer}
			}
			return &scorer
		}, nil
	}}
}

// baselineScorer fits a competitor to every episode.
type baselineScorer struct {
	space      *Space
	method     baseline.Method
	classifier baseline.Classifier
	seed       uint64 // of the plan
}

// ScoresTo implements [Scorer].
func (b *baselineScorer) ScoresTo(dst *mat.Dense, _ []float64, t *Task) (bool, error) {
	features := t.Features
	if !b.method.Full {
		features = t.Coordinates
	}
	support, queries := features(b.space)
	task := baseline.Task{Support: support, Labels: t.Labels, Way: t.Way(), Seed: b.seed ^ uint64(t.Number)}
	if err := b.classifier.Fit(task); err != nil {
		return false, fmt.Errorf("method %s: %w", b.method.Name, err)
	}
	b.classifier.ScoresTo(dst, queries)
	return false, nil
}

// centroidScorer is nearest centroid, which alone among the competitors fits each
// class by itself.
type centroidScorer struct{ baselineScorer }

// ClassScoresTo implements [ClassScorer].
func (b *centroidScorer) ClassScoresTo(dst *mat.Dense, support [][]int, queries []int, workers int) error {
	x := b.space.Rows(queries)
	return eachClass(len(support), workers, func(c int) error {
		var m baseline.Centroid
		if err := m.Fit(baseline.Task{Support: b.space.Rows(support[c]), Labels: make([]int, len(support[c])), Way: 1}); err != nil {
			return err
		}
		column := mat.NewDense(len(queries), 1, nil)
		m.ScoresTo(column, x)
		for i := range queries {
			dst.Set(i, c, column.At(i, 0))
		}
		return nil
	})
}

// handCrafted is the prior of the paper's ablation on CL2N features, without calibration: m = 0, S
// = s^2 I, kappa = 1, nu = d.
func handCrafted(s *Source, scale float64) (*Prior, error) {
	if s.centre == nil {
		return nil, s.noCentre()
	}
	return HandCrafted(s.Set.Dim, scale, embed.Transform{Kind: embed.CL2N, Centre: s.centre}), nil
}

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
		return &baselineScorer{space, m, &baseline.MAMLQDA{Start: s.maml, Steps: baseline.MAMLSteps, Rate: baseline.MAMLRate}, p.Seed}
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
	space, err := newSpace(s.Set, slices.Concat(pool.Rows...), &embed.Transform{Kind: embed.CL2N, Power: 1, Centre: s.centre}, nil)
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
