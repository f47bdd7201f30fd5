package experiment

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// How the queries of [Transductive] are shared out among the classes of a task.
const (
	ImbalanceNone      = "none"      // equally
	ImbalanceDirichlet = "dirichlet" // by a draw of the Dirichlet distribution of parameter 2
)

// concentration is the parameter of class sizes of Veilleux et al., Realistic
// Evaluation of Transductive Few-Shot Learning, 2021.
const concentration = 2

// outOfSetShare is the one share of out-of-set queries that tasks are made of.
const outOfSetShare = 0.5

// validateTransductive checks what only [Transductive] asks for.
func (p *Plan) validateTransductive() error {
	equal := p.Imbalance == "" || p.Imbalance == ImbalanceNone
	switch {
	case !equal && p.Imbalance != ImbalanceDirichlet:
		return &FieldError{"imbalance", fmt.Sprintf("is %q; give none or dirichlet", p.Imbalance)}
	case p.OutOfSet != 0 && p.OutOfSet != outOfSetShare:
		return &FieldError{"out-of-set", fmt.Sprintf("is %v; give 0 or %v", p.OutOfSet, outOfSetShare)}
	case !equal && p.Protocol != Transductive:
		return &FieldError{"imbalance", "is for the protocol transductive; leave it out"}
	case p.OutOfSet != 0 && p.Protocol != Transductive:
		return &FieldError{"out-of-set", "is for the protocol transductive; open-set and sessions have out-of-set queries of their own"}
	}
	return nil
}

// pageNonePrior is the probability of none of these beforehand where tasks do not ask for
// it: that of the page.
const pageNonePrior = 0.2

// asksOutOfSet reports whether tasks have queries of unseen classes.
func (p *Plan) asksOutOfSet() bool {
	return p.Protocol == OpenSet || p.Protocol == Sessions || p.OutOfSet > 0
}

// transductiveMethod is the classifier that a prior is for, judging the queries of a task
// together.
func transductiveMethod() Method {
	const name = "metaqda-transductive"
	alone := sessionMethod(name, "")
	return Method{name, "the same, which judges all queries of a task together", func(s *Source, p *Plan) (func() Scorer, error) {
		make, err := alone.Prepare(s, p)
		if err != nil {
			return nil, err
		}
		return func() Scorer {
			scorer := &transductiveScorer{niwScorer: *make().(*niwScorer), hasNone: p.asksOutOfSet()}
			if !scorer.hasNone {
				scorer.options.NonePrior = pageNonePrior
			}
			return scorer
		}, nil
	}}
}

// transductiveScorer is a niwScorer that judges the queries of a task together. What is
// thought out of set is not learned from: hence the probability of none beforehand
// decides the scores of the classes too.
type transductiveScorer struct {
	niwScorer
	hasNone bool // none is asked for: at even odds
}

// ScoresTo implements [Scorer].
func (s *transductiveScorer) ScoresTo(dst *mat.Dense, none []float64, t *Task) (bool, error) {
	c, err := s.taught(t)
	if err != nil {
		return false, err
	}
	a, err := c.Classify(context.Background(), s.space.Rows(t.Query), nil)
	if err != nil {
		return false, err
	}
	dst.Copy(a.Classes)
	for i := range t.Query {
		none[i] = takeLogs(dst.RawRowView(i), a.None[i])
	}
	return s.hasNone, nil
}
