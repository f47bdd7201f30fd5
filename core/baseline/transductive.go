package baseline

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
)

// Transductive is a competitor that judges all queries of a task together: the
// scores of one depend on the others. Its rows are features, not coordinates of the
// support's span, outside of which the queries differ too.
type Transductive interface {
	// Fit learns the support. The rows must stay unchanged until the last call of
	// ScoreTogether.
	Fit(t Task) error

	// ScoreTogether stores in dst (q x way) the log probabilities of the classes for
	// all rows of queries (q x d).
	ScoreTogether(dst, queries *mat.Dense)
}

// TransductiveMethod is a [Transductive] by name.
type TransductiveMethod struct {
	Name      string
	Summary   string
	Transform embed.Kind // of the features it is given
	New       func() Transductive
}

// TransductiveMethods returns the competitors that judge together. The numbers of neighbours, alpha and lambda, which
// their authors tune on validation classes, were chosen on half of the data sets that
// the shipped prior is learned from, five-way with 75 queries.
func TransductiveMethods() []TransductiveMethod {
	return []TransductiveMethod{
		{"propagation", "label propagation over the graph of 10 nearest neighbours, alpha .8, features centred and of length one", embed.CL2N, func() Transductive { return &Propagation{Neighbours: 10, Alpha: 0.8, Gamma: 3} }},
		{"laplacian", "LaplacianShot: nearest rectified prototype, 3 nearest neighbours alike, features centred and of length one", embed.CL2N, func() Transductive { return &Laplacian{Neighbours: 3, Lambda: 0.5} }},
	}
}
