package metaqda

import (
	"errors"
	"maps"

	"metaqda/core/anomaly"
	"metaqda/core/niw"
)

// Anomaly is the comparison of a picture with the examples of the only class.
type Anomaly struct {
	Wrong float64 // probability that something is wrong with the picture
	Good  int     // number of bursts that it was compared with
	// Cells are the squared distances of the n cells to the nearest cells of the examples. The unit is
	// the mean of such distances over the four farthest cells of an example that is left out.
	Cells []float64
}

// keptCells is the largest number of pictures whose cells are kept. With 72 cells of 1280 numbers
// they take 1.2 MB.
const keptCells = 2 * anomaly.Most

// SetCells sets the cells of an example's picture, for [Classifier.Anomaly]. They are n vectors of
// length d, one after the other. Their mean is the vector of the example. It keeps 128 bytes of
// each cell, for 64 pictures. For a further picture it drops the cells of all removed examples, or
// else of the first example with cells, in the order of Classes. Undo restores an example with its
// cells, unless these were dropped: see [Classifier.WithoutCells]. Files do not have them.
//
// It returns an [Error] with the code "example" for an unknown example, and with "argument" for
// cells that are not rows of length d. It returns a *[niw.DimensionError] if d is not the length of
// vectors, and a *[niw.ValueError] for a number that is not finite. Cost n d log d.
func (c *Classifier) SetCells(id string, cells []float32, d int) error {
	defer c.writing()()
	if c.examples[id] == nil {
		return noExample(id)
	}
	p, err := c.describe(cells, d)
	if err != nil {
		return err
	}
	if c.cells == nil {
		c.cells = map[string]*anomaly.Picture{}
	}
	if c.cells[id] == nil && len(c.cells) >= keptCells {
		c.dropCells()
	}
	c.cells[id], c.normal = p, nil
	return nil
}

// dropCells makes room for another picture, as [Classifier.SetCells] says.
func (c *Classifier) dropCells() {
	was := len(c.cells)
	maps.DeleteFunc(c.cells, func(id string, _ *anomaly.Picture) bool { return c.examples[id] == nil })
	for _, k := range c.classes {
		for _, x := range k.list() {
			if len(c.cells) < was {
				return
			}
			delete(c.cells, x.ID)
		}
	}
}

func (c *Classifier) describe(cells []float32, d int) (*anomaly.Picture, error) {
	if want := c.dim(); d != want && want > 0 && d > 0 {
		return nil, &niw.DimensionError{Name: "cell", Got: d, Want: want}
	}
	return anomaly.Describe(cells, d)
}

// WithoutCells returns the ids of the examples whose cells Anomaly needs and lacks. They are among the
// last 32 of the only class with examples. If several classes have examples, it returns none.
func (c *Classifier) WithoutCells() []string {
	defer c.reading()()
	k := c.only()
	if k == nil {
		return nil
	}
	all := k.list()
	var ids []string
	for _, x := range all[max(0, len(all)-anomaly.Most):] {
		if c.cells[x.ID] == nil {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// only returns the only class with examples, nil if none or several have any.
func (c *Classifier) only() (only *class) {
	for _, k := range c.classes {
		if k.size == 0 {
			continue
		}
		if only != nil {
			return nil
		}
		only = k
	}
	return only
}

// Anomaly says whether a picture is like the examples of the only class with examples, which should
// be good ones. cells holds its n cells of length d. [Classifier.SetCells] must have set the cells of
// the examples; Anomaly compares with the last 32 of them. Package metaqda/core/anomaly has the
// model. It assumes that bad pictures are as frequent as good ones.
//
// It returns an [Error] with the code "classes" if several classes have examples: use Predict then. It
// returns a *[anomaly.FewError], with the code "few", for fewer than three examples with cells. Frames
// of a group count as one. Other errors are those of SetCells. It costs as much as
// [anomaly.Model.Ask], and after a change [anomaly.Fit] as well.
func (c *Classifier) Anomaly(cells []float32, d int) (*Anomaly, error) {
	defer c.writing()()
	k := c.only()
	if k == nil && len(c.examples) > 0 {
		return nil, &Error{Code: "classes", Message: "There is more than one class: predict which of them it is."}
	}
	p, err := c.describe(cells, d)
	if err != nil {
		return nil, err
	}
	if err := c.fitNormal(k); err != nil {
		return nil, err
	}
	a, err := c.normal.Ask(p)
	if err != nil {
		return nil, err
	}
	return &Anomaly{Wrong: a.Wrong, Good: c.normal.Good(), Cells: a.Cells}, nil
}

// fitNormal makes the model of the examples of a class, unless nothing has changed.
func (c *Classifier) fitNormal(k *class) (err error) {
	if c.normal != nil && c.normalOf == c.version {
		return nil
	}
	if k != nil {
		if err := c.settle(); err != nil {
			return err
		}
	}
	good, burst := c.goodOnes(k, true)
	c.normal, err = anomaly.Fit(good, burst)
	if few := (*anomaly.FewError)(nil); errors.As(err, &few) {
		c.normal, err = anomaly.Fit(c.goodOnes(k, false))
	}
	c.normalOf = c.version
	return err
}

// goodOnes returns the cells of the examples of a class, and the burst of each. The frames of a group
// are one burst. If linked is set, so are near-copies. If mass-produced things are all near-copies of
// each other, there are too few bursts, and the caller clears linked.
func (c *Classifier) goodOnes(k *class, linked bool) (good []*anomaly.Picture, burst []int) {
	if k == nil {
		return nil, nil
	}
	for i, u := range k.units {
		b := i
		if linked && k.known == len(k.units) {
			b, _ = c.lda.BurstOf(k.ID, i)
		}
		for _, x := range u.frames {
			if p := c.cells[x.ID]; p != nil {
				good, burst = append(good, p), append(burst, b)
			}
		}
	}
	return good, burst
}
