package main

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/embed"
	"metaqda/core/niw"
)

// scorer scores the episodes of one data set by one method. It is made once
// per worker.
type scorer interface {
	// score stores calibrated log scores in dst (queries x way). Where the
	// method knows none-of-these, it stores the log odds of it, at a prior
	// probability of one half, in none and returns true.
	score(w *workspace, dst *mat.Dense, none []float64) (hasNone bool, err error)
}

// method is a competitor as --methods names it.
type method struct {
	name    string
	summary string
	prepare func(s *source, o *evalOptions) (func() scorer, error)
}

// niwMethod describes one of the MetaQDA family.
func niwMethod(name, summary string, inf niw.Inference, pooled, hand bool) method {
	return method{name, summary, func(s *source, o *evalOptions) (func() scorer, error) {
		p, key := s.prior, "learned"
		if inf == niw.MAP && s.mapPrior != nil {
			p, key = s.mapPrior, "learned for map"
		}
		if hand {
			key = "hand-crafted"
			var err error
			if p, err = handCrafted(s, o.handScale); err != nil {
				return nil, err
			}
		}
		if p == nil {
			return nil, fmt.Errorf("method %q needs a prior; give one with --prior FILE, or use %s-handcrafted", name, name)
		}
		sp, err := s.whitened(key, p)
		if err != nil {
			return nil, err
		}
		base := niw.Posterior{Dim: p.niw.Dim(), Kappa: p.niw.Kappa, Nu: p.niw.Nu, LogDetS: p.niw.LogDetS()}
		options := p.session.Options(inf)
		options.Pooled, options.NonePrior = pooled, 0.5
		return func() scorer { return &niwScorer{sp, p.niw, base, options} }, nil
	}}
}

// handCrafted is the prior of the paper's ablation, m = 0, S = s^2 I,
// kappa = 1, nu = d, without calibration, on CL2N features.
func handCrafted(s *source, scale float64) (*learnedPrior, error) {
	if s.centre == nil {
		_, err := s.space(embed.CL2N)
		return nil, err
	}
	return &learnedPrior{
		niw:       niw.HandCrafted(s.set.Dim, scale),
		transform: embed.Transform{Kind: embed.CL2N, Center: s.centre},
	}, nil
}

func baselineMethod(m baseline.Method) method {
	return method{m.Name, m.Summary, func(s *source, _ *evalOptions) (func() scorer, error) {
		sp, err := s.space(m.Transform)
		if err != nil {
			return nil, err
		}
		return func() scorer { return &baselineScorer{sp, m, m.New()} }, nil
	}}
}

// allMethods lists what --methods knows.
func allMethods() []method {
	all := []method{
		niwMethod("fb", "MetaQDA, fully Bayesian, with the prior of --prior", niw.FB, false, false),
		niwMethod("map", "MetaQDA, maximum a posteriori, with the prior of --prior", niw.MAP, false, false),
		niwMethod("fb-lda", "MetaLDA: fully Bayesian, one scale matrix for all classes", niw.FB, true, false),
		niwMethod("map-lda", "MetaLDA: maximum a posteriori", niw.MAP, true, false),
		niwMethod("fb-handcrafted", "QDA with the hand-crafted prior, fully Bayesian", niw.FB, false, true),
		niwMethod("map-handcrafted", "QDA with the hand-crafted prior, maximum a posteriori", niw.MAP, false, true),
		niwMethod("fb-lda-handcrafted", "LDA with the hand-crafted prior, fully Bayesian", niw.FB, true, true),
		niwMethod("map-lda-handcrafted", "LDA with the hand-crafted prior, maximum a posteriori", niw.MAP, true, true),
	}
	for _, m := range baseline.Methods {
		all = append(all, baselineMethod(m))
	}
	return append(all, mamlMethod)
}

// parseMethods resolves a comma-separated list.
func parseMethods(list string) ([]method, error) {
	var chosen []method
	all := allMethods()
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		found := false
		for _, m := range all {
			if m.name == name {
				chosen, found = append(chosen, m), true
			}
		}
		if !found {
			var names []string
			for _, m := range all {
				names = append(names, m.name)
			}
			return nil, fmt.Errorf("there is no method %q; choose from %s", name, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

// baselineScorer fits a competitor to every episode.
type baselineScorer struct {
	space  *space
	method baseline.Method
	c      baseline.Classifier
}

func (b *baselineScorer) score(w *workspace, dst *mat.Dense, _ []float64) (bool, error) {
	f := w.features
	if !b.method.Full {
		f = w.coordinates
	}
	r := f(b.space)
	task := baseline.Task{Support: r.support, Labels: w.labels, Way: w.e.Way(), Seed: uint64(w.number)}
	if err := b.c.Fit(task); err != nil {
		return false, fmt.Errorf("method %s: %w", b.method.Name, err)
	}
	b.c.ScoresTo(dst, r.queries)
	return false, nil
}
