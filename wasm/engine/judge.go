package engine

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// Judge answers about many pictures at once, beside the engine that teaches: it is
// made from the bytes of a session and of its prior, and changes neither. Pictures are
// n×d numbers, row by row.
type Judge struct {
	prior      *prior
	classifier *qda.Classifier
}

// NewJudge reads a session file and the file of its prior, nil for the hand-crafted
// one, for embeddings of length d.
func NewJudge(session, priorFile []byte, d int) (*Judge, error) {
	file, err := model.DecodeClassifier(session)
	if err != nil {
		return nil, err
	}
	p, err := priorOf(priorFile, d)
	if err != nil {
		return nil, err
	}
	if p.dim() != d {
		return nil, &niw.DimensionError{Name: "embedding", Got: d, Want: p.dim()}
	}
	c := contentsOf(file, 0)
	classes, _ := classesOf(c)
	q, err := newClassifier(p, repaired(c.Session).Settings, classes)
	if err != nil {
		return nil, err
	}
	return &Judge{prior: p, classifier: q}, nil
}

// priorOf returns the prior of a file, or the hand-crafted one for nil.
func priorOf(file []byte, d int) (*prior, error) {
	if file == nil {
		return handCrafted(d)
	}
	return decodePrior(file, model.Sum(file))
}

// Classify returns for each picture the probability of none of the classes and then
// those of the classes in the order of the session, row by row: the answers of
// [qda.Classifier.Classify]. They are nil while no class has a picture.
func (j *Judge) Classify(ctx context.Context, x []float32, progress func(done, total int)) ([]float64, error) {
	rows, err := j.rows(x)
	if err != nil || rows == nil || !j.taught() {
		return nil, err
	}
	a, err := j.classifier.Classify(ctx, rows, progress)
	if err != nil {
		return nil, err
	}
	n, way := a.Classes.Dims()
	p := make([]float64, 0, n*(1+way))
	for i := range n {
		p = append(append(p, a.None[i]), a.Classes.RawRowView(i)...)
	}
	return p, nil
}

// taught tells whether any class has a picture.
func (j *Judge) taught() bool {
	for _, label := range j.classifier.Labels() {
		if j.classifier.Count(label) > 0 {
			return true
		}
	}
	return false
}

// Suggest returns which n of the pictures tell most once they are taught, the best
// one first; see [qda.Classifier.Suggest].
func (j *Judge) Suggest(x []float32, n int) ([]int, error) {
	rows, err := j.rows(x)
	if err != nil {
		return nil, err
	}
	return j.classifier.Suggest(context.Background(), rows, n, nil)
}

// Alike returns groups of pictures that resemble each other among those that
// strangers lists; see [qda.Classifier.Alike].
func (j *Judge) Alike(x []float32, strangers []int) ([][]int, error) {
	rows, err := j.rows(x)
	if err != nil {
		return nil, err
	}
	n := len(x) / j.prior.dim()
	for _, i := range strangers {
		if i < 0 || i >= n {
			return nil, fail("argument", fmt.Sprintf("There is no picture %d among %d: this is a mistake of the page that calls.", i, n))
		}
	}
	return j.classifier.Alike(rows, strangers)
}

// rows returns pictures as the classifier knows them, nil where there are none.
func (j *Judge) rows(x []float32) (*mat.Dense, error) {
	d := j.prior.dim()
	if len(x)%d != 0 {
		return nil, &niw.DimensionError{Name: "embeddings", Got: len(x), Want: (len(x)/d + 1) * d}
	}
	if len(x) == 0 {
		return nil, nil
	}
	m := mat.NewDense(len(x)/d, d, nil)
	for i := range len(x) / d {
		if err := CheckEmbedding(x[i*d : (i+1)*d]); err != nil {
			return nil, err
		}
		row := m.RawRowView(i)
		for k, v := range x[i*d : (i+1)*d] {
			row[k] = float64(v)
		}
		if err := j.prior.file.Transform.ApplyTo(row, row); err != nil {
			return nil, err
		}
	}
	return m, nil
}
