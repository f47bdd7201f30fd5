// Package baseline holds the competitors of the paper that work on the same fixed features. They
// are fitted to the support of one episode and score its queries. The package is only for
// comparison: its methods cannot add or remove examples, and never answer none of these. None has a
// prior, except the meta-learned start of [MAMLQDA]. Each method names its source and its
// equations.
//
// Unless a method says otherwise, its answer depends on the features only through inner products
// among support and queries. So it may take the coordinates of [Span]: the answer is the same, with
// at most n numbers a row instead of d, for n support rows.
package baseline

import (
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
)

// Task is the input of a classifier: the labelled support.
type Task struct {
	Support *mat.Dense // n x d
	Labels  []int      // n, each in [0, Way)
	Way     int        // classes, each with at least one row
	Seed    uint64     // for methods that draw random numbers
}

// Classifier learns one task at a time. Fit may be called again for the next.
type Classifier interface {
	// Fit learns the task. The rows must stay unchanged until the last call of
	// ScoresTo.
	Fit(t Task) error

	// ScoresTo stores in dst (q x way) the unnormalised log probabilities of the
	// classes for every row of queries (q x d). Those of a transductive method depend on all rows.
	ScoresTo(dst, queries *mat.Dense)
}

// Method is a competitor by name.
type Method struct {
	Name      string
	Summary   string
	Transform embed.Kind // of the features it is given
	Full      bool       // it needs the features themselves, not coordinates of the [Span]
	New       func() Classifier
}

// Methods returns the competitors that need no training beforehand. The last two judge all queries
// of a task together. Their authors tune the numbers of neighbours, alpha and lambda on validation
// classes. Ours were chosen on half of the data sets that the shipped prior is learned from,
// five-way with 75 queries.
func Methods() []Method {
	return []Method{
		{"ncc-un", "nearest centroid on the features as they are", embed.None, false, newCentroid},
		{"ncc-l2n", "nearest centroid, features of length one", embed.L2, false, newCentroid},
		{"ncc-cl2n", "nearest centroid, features centred and of length one (SimpleShot)", embed.CL2N, false, newCentroid},
		{"proto", "prototypical head: softmax of negative squared distances to class means, features as they are", embed.None, false, newCentroid},
		{"cosine", "cosine classifier (Baseline++)", embed.L2, false, func() Classifier { return &Cosine{} }},
		{"linear", "logistic regression with an L2 penalty, features centred and of length one", embed.CL2N, false, func() Classifier { return &Logistic{} }},
		{"lda", "linear discriminant analysis by maximum likelihood, smallest ridge", embed.CL2N, false, func() Classifier { return &Discriminant{Pooled: true} }},
		{"qda", "quadratic discriminant analysis by maximum likelihood, smallest ridge", embed.CL2N, false, func() Classifier { return &Discriminant{} }},
		{"knn", "3 nearest neighbours, fewer where a class has fewer examples", embed.CL2N, false, func() Classifier { return &Neighbours{K: 3, AtMostShot: true} }},
		{"knn-tfjs", "3 nearest neighbours by cosine, votes, first class among equals (TensorFlow.js)", embed.L2, false, func() Classifier { return &Neighbours{K: 3} }},
		{"teachable", "dense 100 ReLU and dense softmax, Adam 1e-3, 50 epochs of batches of 16 (Teachable Machine)", embed.None, true, func() Classifier { return &Dense{} }},
		{"propagation", "label propagation over the graph of 10 nearest neighbours, alpha .8, features centred and of length one", embed.CL2N, true, func() Classifier { return &Propagation{Neighbours: 10, Alpha: 0.8, Gamma: 3} }},
		{"laplacian", "LaplacianShot: nearest rectified prototype, answers of 3 nearest neighbours drawn together, features centred and of length one", embed.CL2N, true, func() Classifier { return &Laplacian{Neighbours: 3, Lambda: 0.5} }},
	}
}

func newCentroid() Classifier { return &Centroid{} }

// check panics unless the task is well formed. Tasks come from samplers, so a bad one is a
// programmer's mistake.
func (t *Task) check() {
	n, _ := t.Support.Dims()
	if n != len(t.Labels) || t.Way < 1 {
		panic("baseline: labels do not match the support")
	}
}

func checkNeighbours(n int) {
	if n < 1 {
		panic("baseline: number of neighbours below 1")
	}
}

// means returns the mean of each class (way x d) and the number of its rows.
func (t *Task) means() (*mat.Dense, []int) {
	t.check()
	n, d := t.Support.Dims()
	m, count := mat.NewDense(t.Way, d, nil), make([]int, t.Way)
	for i := range n {
		row := m.RawRowView(t.Labels[i])
		for j, v := range t.Support.RawRowView(i) {
			row[j] += v
		}
		count[t.Labels[i]]++
	}
	for c, k := range count {
		row := m.RawRowView(c)
		for j := range row {
			row[j] /= float64(max(k, 1))
		}
	}
	return m, count
}
