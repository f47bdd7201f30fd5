package metrics

import "math"

// Tally sums the contributions of one set of classified queries to every measure. Tallies of
// episodes add up; adding them in the order of the episodes gives the same bits no matter which
// machine made which.
type Tally struct {
	Queries int         `json:"queries"`
	Correct int         `json:"correct"`
	Loss    float64     `json:"loss"`  // sum of negative log probabilities, nats
	Brier   float64     `json:"brier"` // sum of Brier scores
	Bins    Reliability `json:"bins"`
}

// mostLoss is the loss of a probability of 1e-12, and of any below. Otherwise methods that answer
// 0, such as nearest neighbours by votes, would lose everything by one query.
var mostLoss = -math.Log(1e-12)

// NewTally returns an empty tally with n reliability bins.
func NewTally(n int) *Tally { return &Tally{Bins: NewReliability(n)} }

// Add counts one query with the given scores at temperature t. p is scratch of
// the scores' length and returns their probabilities.
func (a *Tally) Add(scores []float64, label int, t float64, p []float64) {
	SoftmaxTo(p, scores, t)
	best := Best(scores)
	a.Queries++
	if best == label {
		a.Correct++
	}
	a.Loss += math.Min(-math.Log(p[label]), mostLoss)
	a.Brier += BrierScore(p, label)
	a.Bins.Add(p[best], best == label)
}

// Merge adds the sums of o.
func (a *Tally) Merge(o *Tally) {
	a.Queries += o.Queries
	a.Correct += o.Correct
	a.Loss += o.Loss
	a.Brier += o.Brier
	a.Bins.Merge(o.Bins)
}

// Accuracy returns the fraction of correct queries.
func (a *Tally) Accuracy() float64 { return float64(a.Correct) / float64(a.Queries) }

// MeanLoss returns the mean negative log probability of the labels in nats.
func (a *Tally) MeanLoss() float64 { return a.Loss / float64(a.Queries) }

// MeanBrier returns the mean Brier score.
func (a *Tally) MeanBrier() float64 { return a.Brier / float64(a.Queries) }
