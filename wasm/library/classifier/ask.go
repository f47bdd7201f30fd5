package classifier

import "metaqda/core/qda"

// Predict stores the probability of each class in dst, of their number and order, and
// returns that of none of them. It allocates nothing once the classifier has settled.
func (c *Classifier) Predict(dst []float64, vector []float32) (none float64, err error) {
	if c.qda == nil {
		return 0, qda.ErrNoExamples
	}
	if err := c.transform(vector); err != nil {
		return 0, err
	}
	return c.qda.ProbabilitiesTo(dst, c.x)
}

// LeftOut is what an example would be taken for had it never been taught.
type LeftOut struct {
	ID            uint32
	Class         int       // its own
	None          float64   // probability of none of the classes
	Probabilities []float64 // of each class; nil for the only example of all
}

// LeaveOneOut leaves each example out in turn, exactly. Frames of a burst are left out
// together and asked about by their mean, hence have the same answer.
func (c *Classifier) LeaveOneOut() ([]LeftOut, error) {
	var all []LeftOut
	for i, k := range c.classes {
		for b := range c.bursts(k) {
			pictures, err := c.qda.Pictures(k.key, b)
			if err != nil {
				return nil, err
			}
			p := make([]float64, len(c.classes))
			none, err := c.qda.LeaveOutTo(p, k.key, b)
			if err == qda.ErrNoExamples {
				p, err = nil, nil
			}
			if err != nil {
				return nil, err
			}
			for _, at := range pictures {
				for _, x := range k.bursts[at].examples {
					all = append(all, LeftOut{ID: x.id, Class: i, None: none, Probabilities: p})
				}
			}
		}
	}
	return all, nil
}

func (c *Classifier) bursts(k *class) int {
	if c.qda == nil {
		return 0
	}
	return c.qda.Bursts(k.key)
}
