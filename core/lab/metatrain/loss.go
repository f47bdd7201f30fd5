package metatrain

import (
	"fmt"

	"metaqda/core/lab/metrics"
)

// Loss is what a step minimises, a mean over the queries of a task.
type Loss int

const (
	// CrossEntropy is -ln p(y | x) among the classes of the task. Queries of
	// none of the classes do not count.
	CrossEntropy Loss = iota
	// NLL is -l_y, the negative log density under the query's own class
	// (eq:map-likelihood and eq:full-likelihood of the paper). The head does not
	// enter.
	NLL
	// OpenSet is -ln p(y | x) with none of these as one more hypothesis.
	OpenSet
)

var lossNames = [...]string{CrossEntropy: "cross_entropy", NLL: "nll", OpenSet: "open_set"}

// String returns the name used by flags and files.
func (l Loss) String() string { return lossNames[l] }

// ParseLoss is the inverse of [Loss.String].
func ParseLoss(s string) (Loss, error) {
	for l, name := range lossNames {
		if s == name {
			return Loss(l), nil
		}
	}
	return 0, fmt.Errorf("loss %q: want cross_entropy, nll or open_set", s)
}

// score holds the measures of a task. They are sums over its queries, so scores of tasks add up.
type score struct {
	loss    float64 // sum of the losses
	correct float64 // queries whose most probable hypothesis is the right one
	queries float64 // queries that count
}

// add adds s.
func (a *score) add(s score) {
	a.loss += s.loss
	a.correct += s.correct
	a.queries += s.queries
}

// query computes loss and gradient of one query. It overwrites logits, of length C or C+1, with the
// gradient with respect to the logits; for NLL with the gradient with respect to the log densities l.
func (loss Loss) query(logits, l []float64, label int) (s score) {
	best := metrics.Best(logits)
	y := label
	if label == Unknown {
		y = len(l)
	}
	if y >= len(logits) {
		clear(logits)
		return score{}
	}
	s.queries = 1
	if best == y {
		s.correct = 1
	}
	if loss == NLL {
		clear(logits)
		logits[y], s.loss = -1, -l[y]
		return s
	}
	own := logits[y]
	s.loss = metrics.SoftmaxTo(logits, logits, 1) - own
	logits[y]--
	return s
}
