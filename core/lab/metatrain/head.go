package metatrain

import "math"

// Head turns the log densities of a task into logits. l_j is the log density of class j, and l_0
// that of the prior predictive (an example of no class seen). With C classes and the prior
// probability π of none of these,
//
//	logit_j    = ln((1-π)/C) + (l_j - l_0)/T
//	logit_none = ln π + None
//
// The zero Head is T = 1 without an offset. Among the classes l_0 cancels. A head is only for training;
// package session has a prior's session model.
type Head struct{ LogT, None float64 }

// headTerms are the parts of the head that depend on the task but on no query.
type headTerms struct {
	invT      float64 // 1/T
	class     float64 // ln((1-π)/C)
	none      float64 // logit of none of these
	openWorld bool    // π > 0
}

// prepare evaluates the head for so many classes.
func (h *Head) prepare(t *headTerms, way int, pi float64) {
	*t = headTerms{invT: math.Exp(-h.LogT), class: math.Log((1 - pi) / float64(way)), none: math.Log(pi) + h.None, openWorld: pi > 0}
}

// logits stores the logits of one query in dst, of length C or, with none of
// these among the hypotheses, C+1. l are the log densities, l0 the prior's.
func (t *headTerms) logits(dst, l []float64, l0 float64) {
	for j, v := range l {
		dst[j] = (v-l0)*t.invT + t.class
	}
	if t.openWorld {
		dst[len(l)] = t.none
	}
}

// reverse carries g, the gradient with respect to the logits of one query, back. It stores the
// gradient with respect to the log densities in dl, which may be g. It returns that of l_0 and adds
// that of the head to grad.
func (t *headTerms) reverse(dl, g, l []float64, l0 float64, grad *Head) (dl0 float64) {
	if t.openWorld {
		grad.None += g[len(l)]
	}
	for j, v := range l {
		dl[j] = g[j] * t.invT
		dl0 -= dl[j]
		grad.LogT -= dl[j] * (v - l0)
	}
	return dl0
}
