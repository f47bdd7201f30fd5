package metaqda

import (
	"slices"

	"metaqda/core/model"
	"metaqda/core/niw"
)

// put puts an example at its place in its class.
func (c *Classifier) put(x *Example) error {
	k := c.ids[x.Class]
	if k == nil {
		return &Error{Code: "class", Message: "The class of this example is gone: bring the class back first."}
	}
	if len(c.examples) >= model.MaxExamples {
		return tooMany(model.MaxExamples, "examples")
	}
	if err := c.transform(x.Vector); err != nil {
		return err
	}
	err := error(nil)
	if i := k.unit(x.Group); i >= 0 {
		frames := slices.Clone(k.units[i].frames)
		at := slices.IndexFunc(frames, func(o *Example) bool { return before(x.Order, o.Order, x.ID, o.ID) })
		if at < 0 {
			at = len(frames)
		}
		err = c.regroup(k, i, slices.Insert(frames, at, x))
	} else {
		err = c.putUnit(k, &unit{group: x.Group, frames: []*Example{x}})
	}
	if err != nil {
		return err
	}
	c.examples[x.ID], k.top = x, max(k.top, x.Order)
	c.tell(Change{Do: PutExample, Class: k.Class, At: k.place(x), Example: x})
	if !c.bulk {
		c.tellBursts(k)
	}
	return nil
}

// take is the inverse of put.
func (c *Classifier) take(x *Example) error {
	k := c.ids[x.Class]
	i := slices.IndexFunc(k.units, func(u *unit) bool { return slices.Contains(u.frames, x) })
	frames := slices.DeleteFunc(slices.Clone(k.units[i].frames), func(o *Example) bool { return o == x })
	var err error
	if len(frames) > 0 {
		err = c.regroup(k, i, frames)
	} else {
		err = c.takeUnit(k, i)
	}
	if err != nil {
		return err
	}
	delete(c.examples, x.ID)
	c.tell(Change{Do: DropExample, Class: k.Class, Example: x})
	c.tellBursts(k)
	return nil
}

// regroup gives the i-th unit of a class other frames, and its place by the first of them.
func (c *Classifier) regroup(k *class, i int, frames []*Example) error {
	old := k.units[i]
	if err := c.takeUnit(k, i); err != nil {
		return err
	}
	err := c.putUnit(k, &unit{group: old.group, frames: frames})
	if err != nil {
		_ = c.putUnit(k, old) // which it knew
	}
	return err
}

func (c *Classifier) putUnit(k *class, u *unit) error {
	first := u.frames[0]
	i := len(k.units)
	for i > 0 && before(first.Order, k.units[i-1].frames[0].Order, first.ID, k.units[i-1].frames[0].ID) {
		i--
	}
	if i < k.known || k.known == len(k.units) && !c.bulk {
		if err := c.enrolOne(k, i, u); err != nil {
			return err
		}
	}
	k.units = slices.Insert(k.units, i, u)
	c.behind = c.behind || k.known < len(k.units)
	return nil
}

func (c *Classifier) takeUnit(k *class, i int) error {
	if i < k.known {
		if err := c.qda.Remove(k.ID, i); err != nil {
			return err
		}
		k.known--
	}
	k.units = slices.Delete(k.units, i, i+1)
	return nil
}

// unit returns where the unit of a group stands, -1 for none.
func (k *class) unit(group string) int {
	if group == "" {
		return -1
	}
	return slices.IndexFunc(k.units, func(u *unit) bool { return u.group == group })
}

// place returns where an example stands among those of its class, looked for from the
// end: where it was added.
func (k *class) place(x *Example) int {
	n := k.count()
	for _, u := range slices.Backward(k.units) {
		n -= len(u.frames)
		if i := slices.Index(u.frames, x); i >= 0 {
			return n + i
		}
	}
	return -1
}

// transform stores in c.x what package qda knows a vector as.
func (c *Classifier) transform(vector []float32) error {
	if len(vector) != len(c.x) {
		return &niw.DimensionError{Name: "vector", Got: len(vector), Want: len(c.x)}
	}
	return c.prior.transform(c.x, vector)
}

func (p *Prior) transform(dst []float64, vector []float32) error {
	for i, v := range vector {
		dst[i] = float64(v)
	}
	return p.file.Transform.ApplyTo(dst, dst)
}

// mean stores in c.x what package qda knows a unit as: the mean of its frames, transformed.
func (c *Classifier) mean(u *unit) error {
	if len(u.frames) == 1 {
		return c.transform(u.frames[0].Vector)
	}
	sum := make([]float64, len(c.x))
	for _, x := range u.frames {
		if err := c.transform(x.Vector); err != nil {
			return err
		}
		for i, v := range c.x {
			sum[i] += v
		}
	}
	for i, v := range sum {
		c.x[i] = v / float64(len(u.frames))
	}
	return nil
}
