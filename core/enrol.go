package metaqda

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lda"
)

// To enrol an example is to add it to the densities of package lda. Many examples of a file are
// enrolled later, in pieces, and so are others that come at once with [Classifier.Lazy]. So opening a
// file and changes are quick; only an answer has to wait.

const (
	enrolledAtOnce = 400 // examples
	enrolledRows   = 64  // in one piece of work
)

// enrolAnew enrols all examples in densities that have none, or leaves many of them for later.
func (c *Classifier) enrolAnew() error {
	for _, k := range c.classes {
		k.known = 0
		c.behind = c.behind || len(k.units) > 0
	}
	if (c.Lazy || c.later) && len(c.examples) > enrolledAtOnce {
		return nil
	}
	return c.enrolAll()
}

// postpone leaves the examples of n entries for later if they are many, until end is called.
func (c *Classifier) postpone(n int) (end func()) {
	was := c.later
	c.later = was || c.Lazy && n > enrolledAtOnce
	return func() { c.later = was }
}

// enrolSoon enrols a class, now or later.
func (c *Classifier) enrolSoon(k *class) error {
	if c.bulk || c.later || c.loading || c.Lazy && len(k.units) > enrolledAtOnce {
		c.behind = c.behind || k.known < len(k.units)
		return nil
	}
	return c.enrol(k)
}

func (c *Classifier) enrolAll() error {
	if !c.behind {
		return nil
	}
	for _, k := range c.classes {
		if err := c.enrol(k); err != nil {
			return err
		}
	}
	c.behind = false
	for _, k := range c.classes {
		c.tellBursts(k)
	}
	return nil
}

// enrol enrols all units of a class.
func (c *Classifier) enrol(k *class) error {
	for k.known < len(k.units) {
		if err := c.enrolSome(k); err != nil {
			return err
		}
	}
	return nil
}

// enrolOne enrols a unit as the i-th of its class.
func (c *Classifier) enrolOne(k *class, i int, u *unit) error {
	if err := c.mean(u); err != nil {
		return err
	}
	if err := c.lda.Insert(k.ID, i, c.x); err != nil {
		return err
	}
	k.known++
	return nil
}

// enrolSome enrols the next units of a class.
func (c *Classifier) enrolSome(k *class) error {
	some := k.units[k.known:min(k.known+enrolledRows, len(k.units))]
	if !c.Lazy { // one by one, so that the bits equal those of single additions
		for _, u := range some {
			if err := c.enrolOne(k, k.known, u); err != nil {
				return err
			}
		}
		return nil
	}
	rows := mat.NewDense(len(some), len(c.x), nil)
	for i, u := range some {
		if err := c.mean(u); err != nil {
			return err
		}
		rows.SetRow(i, c.x)
	}
	if err := c.lda.AddRows(k.ID, rows); err != nil {
		return err
	}
	k.known += len(some)
	return nil
}

// Ready reports whether the densities have all examples, so that an answer need not wait.
func (c *Classifier) Ready() bool {
	defer c.reading()()
	return c.ready()
}

func (c *Classifier) ready() bool { return !c.behind && (c.lda == nil || !c.unscaled()) }

// Settled reports whether all that answers need is computed, so that [Classifier.Prepare] has nothing
// to do.
func (c *Classifier) Settled() bool {
	defer c.reading()()
	return c.settled()
}

func (c *Classifier) settled() bool {
	return !c.counting() && (c.lda == nil || c.ready() && c.lda.Settled())
}

// counting reports whether the sizes of bursts must be counted before anybody reads them.
func (c *Classifier) counting() bool { return c.untold && !c.behind }

// Prepare does in advance the work of the first answer after changes, and reports whether it is
// complete. It calls more every few examples and stops when more returns false. It removes examples
// that the densities refuse; [Change.Err] says why.
func (c *Classifier) Prepare(more func() bool) bool {
	defer c.writing()()
	return c.prepare(more)
}

func (c *Classifier) prepare(more func() bool) bool {
	if c.lda == nil {
		c.tellLate()
		return true
	}
	c.standardise()
	if !c.enrolLate(more) || !c.lda.Prepare(more) {
		return false
	}
	c.tellLate()
	c.behind = false
	return true
}

// enrolLate enrols the examples that were left for later, until more returns false.
func (c *Classifier) enrolLate(more func() bool) bool {
	for _, k := range c.classes {
		for k.known < len(k.units) {
			if !more() {
				return false
			}
			if c.enrolSome(k) != nil {
				c.enrolEach(k)
			}
			c.untold = true
		}
	}
	return true
}

// tellLate reports the bursts of all classes if some were not reported.
func (c *Classifier) tellLate() {
	if c.untold {
		for _, k := range c.classes {
			c.tellBursts(k)
		}
	}
	c.untold = false
}

// enrolEach is like enrolSome, but enrols one unit at a time. It removes units that the densities
// refuse, and reports them to Changed.
func (c *Classifier) enrolEach(k *class) {
	for range min(enrolledRows, len(k.units)-k.known) {
		u := k.units[k.known]
		err := c.enrolOne(k, k.known, u)
		if err == nil {
			continue
		}
		k.drop(k.known)
		k.size -= len(u.frames)
		for _, x := range u.frames {
			delete(c.examples, x.ID)
			c.tell(Change{Do: DropExample, Class: k.Class, Example: x, Err: err})
		}
	}
}

// settle enrols all examples at once, for an answer.
func (c *Classifier) settle() error {
	if c.lda == nil {
		return lda.ErrNoExamples
	}
	if c.behind || c.unscaled() || c.untold {
		c.prepare(always)
	}
	return nil
}

// Firsts returns, for each burst of a class, the index of its first example in the class. Near-copies
// without a group may stand apart. Until the classifier is Ready, every example or group is a burst.
func (c *Classifier) Firsts(class string) []int {
	defer c.writing()() // bursts may look for near-copies
	k := c.ids[class]
	if k == nil {
		return nil
	}
	_, firsts := c.burstsOf(k, !c.behind)
	return firsts
}

// burstsOf returns the sizes of a class's bursts, and the index of the first example of each. Unless
// known, which means that the densities have the whole class, every unit is a burst.
func (c *Classifier) burstsOf(k *class, known bool) (sizes, firsts []int) {
	sizes, firsts = make([]int, 0, len(k.units)), make([]int, 0, len(k.units))
	at := 0
	for i, u := range k.units {
		b := len(sizes)
		if known {
			b, _ = c.lda.BurstOf(k.ID, i)
		}
		if b == len(sizes) {
			sizes, firsts = append(sizes, 0), append(firsts, at)
		}
		sizes[b] += len(u.frames)
		at += len(u.frames)
	}
	return sizes, firsts
}

// tellBursts updates the sizes of a class's bursts and reports changes of them to Changed. If the
// correlation length has changed, it does so for all classes.
func (c *Classifier) tellBursts(k *class) {
	c.tellOf(k)
	if c.lda == nil {
		return
	}
	if near := c.lda.Near(); near != c.near {
		c.near = near
		for _, k := range c.classes {
			c.tellOf(k)
		}
	}
}

func (c *Classifier) tellOf(k *class) {
	was := k.Bursts
	is, _ := c.burstsOf(k, k.known == len(k.units))
	if slices.Equal(was, is) {
		return
	}
	k.Bursts = is
	at := 0
	for at < min(len(was), len(is)) && was[at] == is[at] {
		at++
	}
	if len(is) == len(was)+1 && at == len(was) || len(is) == len(was) && slices.Equal(was[at+1:], is[at+1:]) {
		c.tell(Change{Do: PutBurst, Class: k.Class, At: at, Bursts: is[at : at+1]})
		return
	}
	c.tell(Change{Do: PutBursts, Class: k.Class, Bursts: slices.Clone(is)})
}
