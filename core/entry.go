package metaqda

import (
	"slices"

	"metaqda/core/lda"
	"metaqda/core/model"
)

// Entry adds, replaces or removes a class or an example, or replaces a label, actions or the prior.
// Once applied it holds the previous state, so applying it again undoes it.
type Entry struct {
	Do      string   // "class", "head" (the label of a class), "actions", "example" or "prior"
	ID      string   // of the class or example; empty for the "actions" of none of these
	Class   *Class   `json:",omitempty"` // the new class with its examples; nil for none
	Example *Example `json:",omitempty"` // the new example; nil for none

	prior *Prior
	whole *class        // the class that Class copies
	taken *lda.Detached // its state in by, the densities at that time
	by    *lda.Classifier
}

// exchangeAll applies entries in their order, all or none. With several, the densities are updated
// once, at the end.
func (c *Classifier) exchangeAll(entries []Entry) error {
	c.bulk = len(entries) > 1
	defer c.postpone(len(entries))()
	done, err := 0, error(nil)
	for done < len(entries) && err == nil {
		if err = c.exchange(&entries[done]); err == nil {
			done++
		}
	}
	return c.exchanged(entries, done, err)
}

// exchanged ends exchangeAll after the first done entries were applied. If err is not nil, it takes
// them back.
func (c *Classifier) exchanged(entries []Entry, done int, err error) error {
	if !c.bulk {
		return err
	}
	if err == nil {
		err = c.endBulk()
	}
	if err != nil {
		c.bulk = true
		for done--; done >= 0; done-- {
			_ = c.exchange(&entries[done]) // restore the previous state
		}
		_ = c.endBulk()
	}
	return err
}

func (c *Classifier) exchange(e *Entry) error {
	switch e.Do {
	case "class":
		return c.exchangeClass(e)
	case "head":
		k := c.ids[e.ID]
		if k == nil || e.Class == nil {
			return errGone
		}
		if !c.isFree(e.Class.Label, model.FoldLabel(e.Class.Label), k) {
			return labelTaken(e.Class.Label)
		}
		was := Class{ID: k.ID, Label: k.Label, Order: k.Order}
		c.unfold(k)
		k.Label = e.Class.Label
		c.fold(k, model.FoldLabel(k.Label))
		e.Class = &was
		c.tellHead(k)
	case "actions":
		return c.exchangeActions(e)
	case "example":
		return c.exchangeExample(e)
	case "prior":
		was := c.prior
		if err := c.replacePrior(e.prior); err != nil {
			return err
		}
		e.prior = was
	}
	return nil
}

var errGone = &Error{Code: "class", Message: "This class is gone: bring it back first."}

// tellHead reports to Changed that the label or the actions of a class changed.
func (c *Classifier) tellHead(k *class) {
	c.tell(Change{Do: PutClass, Class: k.Class, At: slices.Index(c.classes, k)})
}

func (c *Classifier) exchangeClass(e *Entry) error {
	there := c.ids[e.ID]
	if (there == nil) == (e.Class == nil && e.whole == nil) {
		return nil // already done by another change
	}
	if there != nil {
		taken, err := c.takeClass(there)
		if err != nil {
			return err
		}
		was := there.copied()
		*e = Entry{Do: e.Do, ID: e.ID, Class: &was, whole: there, taken: taken, by: c.lda}
		return nil
	}
	if e.whole == nil {
		e.whole = e.Class.whole()
	}
	taken := e.taken
	if e.by != c.lda {
		taken = nil
	}
	if err := c.putClass(e.whole, taken); err != nil {
		return err
	}
	*e = Entry{Do: e.Do, ID: e.ID}
	return nil
}

// whole returns a class as the classifier keeps it.
func (k *Class) whole() *class {
	all := &class{Class: *k, size: len(k.Examples)}
	if all.Examples, all.Bursts = nil, nil; all.size == 0 {
		return all
	}
	sorted := slices.Clone(k.Examples)
	slices.SortStableFunc(sorted, func(a, b *Example) int { return compare(a.Order, b.Order, a.ID, b.ID) })
	for _, x := range sorted {
		u := all.named[x.Group]
		if u == nil {
			u = &unit{group: x.Group}
			all.units = append(all.units, u)
			all.name(u)
		}
		u.frames = append(u.frames, x)
	}
	return all
}

func (c *Classifier) exchangeExample(e *Entry) error {
	there, other := c.examples[e.ID], e.Example
	if there == nil && other == nil {
		return nil // already gone by another change
	}
	if there != nil {
		if other != nil && other.Vector == nil { // a stored step omits the unchanged fields
			whole := *there
			whole.Class, whole.Order, whole.Group = other.Class, other.Order, other.Group
			other = &whole
		}
		if err := c.take(there); err != nil {
			return err
		}
	}
	if other != nil {
		if err := c.put(other); err != nil {
			if there != nil {
				_ = c.put(there) // back to its place
			}
			return err
		}
	}
	e.Example = there
	return nil
}
