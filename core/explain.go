package metaqda

import (
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/anomaly"
	"metaqda/core/niw"
)

// Explanation splits the score of one class against another among the cells of a picture.
type Explanation struct {
	Score float64   // u_class - u_against, before the session's log temperature: Σ Cells + Rest
	Cells []float64 // n: the part of Score that each cell adds
	Rest  float64   // the part that depends on no cell
}

// Explain says how much each of n cells of a picture adds to the score of a class. Cells are the
// outputs of a network before it averages over places. cells holds n vectors of length d, one after
// the other; their mean is the embedding. class and against are indices into Classes. One of them may
// be -1, for none of the classes.
//
// The score of a class is linear in the transformed embedding. So it is a sum over the cells,
// except for the power and the scaling to length one. [embed.Transform.SplitTo] says how these are
// split.
//
// It returns the errors of [Classifier.Predict], and a *[anomaly.CellsError] for cells that are not n
// vectors of length d. It returns an [Error] with the code "argument" for a class that is unknown or
// has no examples. It costs as much as two predictions, and n d.
func (c *Classifier) Explain(cells []float32, d, class, against int) (*Explanation, error) {
	defer c.writing()()
	if err := c.settle(); err != nil {
		return nil, err
	}
	if err := anomaly.CheckCells(cells, d); err != nil {
		return nil, err
	}
	if want := c.dim(); d != want {
		return nil, &niw.DimensionError{Name: "cell", Got: d, Want: want}
	}
	if class == against {
		return nil, &Error{Code: "argument", Message: "A class is compared with itself: name another one."}
	}
	of, err := c.taughtID(class)
	if err != nil {
		return nil, err
	}
	to, err := c.taughtID(against)
	if err != nil {
		return nil, err
	}
	all, mean := make([]float64, len(cells)), make([]float64, d)
	for i, v := range cells {
		all[i] = float64(v)
	}
	n := len(cells) / d
	for c := range n {
		floats.AddScaled(mean, 1/float64(n), all[c*d:(c+1)*d])
	}
	transform := &c.prior.file.Transform
	if err := transform.ApplyTo(c.x, mean); err != nil {
		return nil, err
	}
	weights := make([]float64, len(c.x))
	rest, err := c.lda.WeightsTo(weights, c.x, of, to)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Cells: make([]float64, n)}
	fixed, err := transform.SplitTo(e.Cells, all, weights)
	if err != nil {
		return nil, err
	}
	e.Rest = rest + fixed
	e.Score = floats.Sum(e.Cells) + e.Rest
	return e, nil
}

// taughtID returns the id of a class with examples, empty for -1.
func (c *Classifier) taughtID(i int) (string, error) {
	if i == -1 {
		return "", nil
	}
	if i < -1 || i >= len(c.classes) {
		return "", &Error{Code: "argument", Message: "There is no class " + strconv.Itoa(i) + ": give the index of one, from 0 to below " + strconv.Itoa(len(c.classes)) + ", or -1 for none of them."}
	}
	if k := c.classes[i]; k.size > 0 {
		return k.ID, nil
	}
	return "", &Error{Code: "argument", Message: "“" + c.classes[i].Label + "” has no examples: teach it first."}
}
