package experiment

import "metaqda/core/lab/dataset"

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

// validateTransductive checks the fields for [Transductive] alone.
func (p *Plan) validateTransductive() error {
	equal := p.Imbalance == "" || p.Imbalance == ImbalanceNone
	switch {
	case !equal && p.Imbalance != ImbalanceDirichlet:
		return dataset.BadField("imbalance", "is %q; give none or dirichlet", p.Imbalance)
	case p.OutOfSet != 0 && p.OutOfSet != outOfSetShare:
		return dataset.BadField("out-of-set", "is %v; give 0 or %v", p.OutOfSet, outOfSetShare)
	case !equal && p.Protocol != Transductive:
		return dataset.BadField("imbalance", "is for the protocol transductive; leave it out")
	case p.OutOfSet != 0 && p.Protocol != Transductive:
		return dataset.BadField("out-of-set", "is for the protocol transductive; open-set and sessions have out-of-set queries of their own")
	}
	return nil
}

// pageNonePrior is the page's prior probability of none of these. Tasks that do not ask for none of
// these use it.
const pageNonePrior = 0.2

// asksOutOfSet reports whether tasks have queries of unseen classes.
func (p *Plan) asksOutOfSet() bool {
	return p.Protocol == OpenSet || p.Protocol == Sessions || p.OutOfSet > 0
}
