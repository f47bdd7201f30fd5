package learn

import "metaqda/core/model"

// Dataset is embeddings that come as one array: n×d numbers, row-major, and for
// each row which of the names it has.
type Dataset struct {
	Embeddings []float32
	Dimension  int
	Labels     []int
	Names      []string
}

// File returns the data set as a classifier file, the form that [Task] takes. It
// returns an *[Error] with code "format" or the error of [model.Classifier.Validate].
func (s *Dataset) File() ([]byte, error) {
	x, d := s.Embeddings, s.Dimension
	if d < 1 || len(x)%d != 0 || len(x)/d != len(s.Labels) {
		return nil, unusable("embeddings and labels differ in number")
	}
	c := &model.Classifier{}
	for _, name := range s.Names {
		c.Classes = append(c.Classes, model.Class{Label: name, Weight: 1})
	}
	for i, k := range s.Labels {
		if k < 0 || k >= len(c.Classes) {
			return nil, unusable("a label names no class")
		}
		c.Classes[k].Examples = append(c.Classes[k].Examples, model.Example{Embedding: x[i*d : (i+1)*d]})
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return model.EncodeClassifier(c)
}

func unusable(reason string) error {
	return &Error{"format", "The data set cannot be used: " + reason + "."}
}
