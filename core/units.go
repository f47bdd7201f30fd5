package metaqda

import (
	"slices"
	"strings"

	"metaqda/core/model"
)

// put puts an example at its place in its class. It replaces bytes of its group that are not UTF-8,
// since files and commands cannot hold these.
func (c *Classifier) put(x *Example) error {
	k := c.ids[x.Class]
	if k == nil {
		return &Error{Code: "class", Message: "The class of this example is gone: bring the class back first."}
	}
	if len(c.examples) >= model.MaxExamples {
		return tooMany(model.MaxExamples, "examples")
	}
	if !c.fitted {
		if err := c.transform(x.Vector); err != nil {
			return err
		}
	}
	x.Group = strings.ToValidUTF8(x.Group, "\ufffd")
	moved, err := false, error(nil)
	if i := k.unit(x.Group); i >= 0 {
		frames := k.units[i].frames
		at := len(frames)
		for at > 0 && compare(x.Order, frames[at-1].Order, x.ID, frames[at-1].ID) < 0 {
			at--
		}
		moved, err = c.regroup(k, i, slices.Insert(c.own(frames), at, x))
	} else {
		err = c.putUnit(k, &unit{group: x.Group, frames: []*Example{x}})
	}
	if err != nil {
		return err
	}
	k.size++
	c.examples[x.ID], k.top = x, max(k.top, x.Order)
	switch {
	case c.Changed == nil:
		c.tell(Change{Do: PutExample})
	case moved:
		c.tellUnit(k, x)
	default:
		c.tell(Change{Do: PutExample, Class: k.Class, At: k.place(x), Example: x})
	}
	c.burstsChanged(k)
	return nil
}

// tellUnit reports the new places of the frames of x's unit. The unit has moved since x came or went.
func (c *Classifier) tellUnit(k *class, x *Example) {
	frames := k.named[x.Group].frames
	for _, f := range frames {
		if f != x {
			c.tell(Change{Do: DropExample, Class: k.Class, Example: f})
		}
	}
	at := k.place(frames[0])
	for i, f := range frames {
		c.tell(Change{Do: PutExample, Class: k.Class, At: at + i, Example: f})
	}
}

// own returns frames that the caller may change. In bulk no change fails, so these are the given
// frames themselves. Otherwise they are a copy, so that regroup can restore the old frames.
func (c *Classifier) own(frames []*Example) []*Example {
	if c.bulk {
		return frames
	}
	return slices.Clone(frames)
}

// take is the inverse of put.
func (c *Classifier) take(x *Example) error {
	k := c.ids[x.Class]
	i, at := k.find(x)
	frames := slices.Delete(c.own(k.units[i].frames), at, at+1)
	moved, err := false, error(nil)
	if len(frames) > 0 {
		moved, err = c.regroup(k, i, frames)
	} else {
		err = c.takeUnit(k, i)
	}
	if err != nil {
		return err
	}
	k.size--
	delete(c.examples, x.ID)
	c.tell(Change{Do: DropExample, Class: k.Class, Example: x})
	if moved && c.Changed != nil {
		c.tellUnit(k, x)
	}
	c.burstsChanged(k)
	return nil
}

// burstsChanged reports the bursts of a class to Changed after a change. In bulk endBulk does so, once
// all changes are made. Without Changed the bursts are counted when somebody reads them.
func (c *Classifier) burstsChanged(k *class) {
	switch {
	case !c.bulk && c.Changed == nil:
		c.untold = true
	case !c.bulk:
		c.tellBursts(k)
	case !k.late:
		k.late, c.late = true, append(c.late, k)
	}
}

// endBulk ends several changes. It enrols the changed units in the densities.
func (c *Classifier) endBulk() (err error) {
	c.bulk = false
	late := slices.DeleteFunc(c.late, func(k *class) bool {
		k.late = false
		return c.ids[k.ID] != k
	})
	for _, k := range late {
		if err == nil {
			err = c.forget(k)
		}
		if err == nil {
			err = c.enrolSoon(k)
		}
	}
	c.late = nil
	if c.behind = slices.ContainsFunc(c.classes, func(k *class) bool { return k.known < len(k.units) }); c.behind && c.later {
		c.untold = true
		return err
	}
	for _, k := range late {
		c.tellBursts(k)
	}
	return err
}

// regroup replaces the frames of the i-th unit of a class. The order of the first frame decides the
// unit's new place; moved reports whether it differs from the old one. On error it puts the old unit back.
func (c *Classifier) regroup(k *class, i int, frames []*Example) (moved bool, err error) {
	old := k.units[i]
	if err := c.takeUnit(k, i); err != nil {
		return false, err
	}
	moved = k.from(frames[0]) != i
	if err = c.putUnit(k, &unit{group: old.group, frames: frames}); err != nil {
		_ = c.putUnit(k, old) // it was accepted before
	}
	return moved, err
}

func (c *Classifier) putUnit(k *class, u *unit) error {
	i := k.from(u.frames[0])
	if c.bulk {
		k.known = min(k.known, i) // endBulk updates the densities
	} else if i < k.known || k.known == len(k.units) {
		if err := c.enrolOne(k, i, u); err != nil {
			return err
		}
	}
	k.units = slices.Insert(k.units, i, u)
	k.name(u)
	c.behind = c.behind || k.known < len(k.units)
	return nil
}

// forget removes from the densities the units of a class from the first one that changed in bulk
// on. [Classifier.enrol] adds them again.
func (c *Classifier) forget(k *class) error {
	if c.lda == nil {
		return nil
	}
	return c.lda.Truncate(k.ID, k.known)
}

func (c *Classifier) takeUnit(k *class, i int) error {
	if c.bulk {
		k.known = min(k.known, i)
	} else if i < k.known {
		if err := c.lda.Remove(k.ID, i); err != nil {
			return err
		}
		k.known--
	}
	k.drop(i)
	return nil
}

// drop deletes the i-th unit.
func (k *class) drop(i int) {
	delete(k.named, k.units[i].group)
	k.units = slices.Delete(k.units, i, i+1)
}

// name keeps a unit by its group, if it has one.
func (k *class) name(u *unit) {
	if u.group == "" {
		return
	}
	if k.named == nil {
		k.named = map[string]*unit{}
	}
	k.named[u.group] = u
}

// from returns the place of a unit whose first frame is x, or the place where it would be inserted.
func (k *class) from(x *Example) int {
	i, _ := slices.BinarySearchFunc(k.units, x, func(u *unit, x *Example) int {
		return compare(u.frames[0].Order, x.Order, u.frames[0].ID, x.ID)
	})
	return i
}

// unit returns where the unit of a group stands, -1 for none.
func (k *class) unit(group string) int {
	u := k.named[group]
	if u == nil {
		return -1
	}
	i := k.from(u.frames[0])
	return i + slices.Index(k.units[i:], u)
}

// find returns the unit of an example and its place there. It looks from the end of the unit, where
// frames are added.
func (k *class) find(x *Example) (unit, at int) {
	first := x
	if u := k.named[x.Group]; u != nil {
		first = u.frames[0]
	}
	for unit = k.from(first); ; unit++ {
		frames := k.units[unit].frames
		for at = len(frames) - 1; at >= 0; at-- {
			if frames[at] == x {
				return unit, at
			}
		}
	}
}

// place returns where an example stands among those of its class.
func (k *class) place(x *Example) int {
	unit, at := k.find(x)
	n := k.size + at
	for _, u := range k.units[unit:] {
		n -= len(u.frames)
	}
	return n
}

// mean stores in c.x the vector of a unit for package lda: the mean of its frames, transformed.
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
