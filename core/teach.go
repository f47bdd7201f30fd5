package metaqda

import (
	"slices"
	"strconv"

	"metaqda/core/model"
	"metaqda/core/qda"
)

// Add adds a vector to the class label, which comes into being if there is none of this
// label or of one that people take for the same ([SameLabel]), and returns the example's
// id. Vectors of a class that name the same group are frames of one burst; an empty group
// is none. The vector is copied.
//
// It returns a *[qda.LabelError] for a label that cannot be one (see [CleanLabel]), a
// *[niw.DimensionError] or *[niw.ValueError] for a vector that is not of length d or not
// finite, and an [Error] with the code "limit" beyond [model.MaxClasses] or
// [model.MaxExamples], and changes nothing then. Cost that of [qda.Classifier.Add], for a
// frame of a burst that of replacing the burst's mean.
func (c *Classifier) Add(label, group string, vector []float32) (id string, err error) {
	ids, err := c.AddAll([]string{label}, []Example{{Group: group, Vector: vector}})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// AddAll adds many examples, each to the class of its label, all or none, as one step, and
// returns their ids. Vectors are copied. ID, Class and Order of the examples are not looked at.
// Labels and vectors are checked before anything changes. Errors are those of Add, of
// several vectors as an [Error] that names the vector by its place, and an [Error] with the
// code "argument" where there is not one label for each example. Cost linear in the number of
// examples.
func (c *Classifier) AddAll(labels []string, examples []Example) (ids []string, err error) {
	defer c.writing()()
	if len(labels) != len(examples) {
		return nil, &Error{Code: "argument", Message: "There are " + strconv.Itoa(len(examples)) + " examples and " + strconv.Itoa(len(labels)) + " labels: give one label for each."}
	}
	if len(examples) == 0 {
		return nil, nil
	}
	if err := c.fits(len(examples), len(examples[0].Vector)); err != nil {
		return nil, err
	}
	into, entries, err := c.receivers(labels)
	if err != nil {
		return nil, err
	}
	if err := c.fit(examples); err != nil {
		return nil, err
	}
	for i, x := range examples {
		k := into[labels[i]]
		k.top++
		x.ID, x.Class, x.Order, x.Vector = c.newID(), k.id, k.top, slices.Clone(x.Vector)
		if k.entry.ID != "" { // a class comes before its first example
			entries, k.entry = append(entries, k.entry), Entry{}
		}
		ids, entries = append(ids, x.ID), append(entries, Entry{Do: "example", ID: x.ID, Example: &x})
	}
	return ids, c.do(entries...)
}

// receiver is a class that examples come into.
type receiver struct {
	id    string
	top   float64 // the largest order of its examples
	entry Entry   // makes a new one
}

// receivers returns the classes of labels, those that are new not yet made, and an empty list
// with room for the entries of as many examples. It returns an error for what newClass refuses.
func (c *Classifier) receivers(labels []string) (into map[string]*receiver, entries []Entry, err error) {
	into = map[string]*receiver{}
	made, n := map[string]*receiver{}, 0 // by what people take for the same
	for _, label := range labels {
		if into[label] != nil {
			continue
		}
		if k := c.find(label); k != nil {
			into[label] = &receiver{id: k.ID, top: k.top}
			continue
		}
		e, err := c.newClass(label, n)
		if err != nil {
			return nil, nil, err
		}
		folded := model.FoldLabel(e.Class.Label)
		if made[folded] == nil {
			made[folded], n = &receiver{id: e.ID, entry: e}, n+1
		}
		into[label] = made[folded]
	}
	return into, make([]Entry, 0, n+len(labels)), nil
}

// fit settles the dimension where it is open, and checks that vectors can be examples.
func (c *Classifier) fit(examples []Example) error {
	was := c.prior
	for i, x := range examples {
		if i == 0 && c.open(len(x.Vector)) {
			if err := c.begin(x.Vector, len(x.Vector)); err != nil {
				return err
			}
		}
		if err := c.transform(x.Vector); err != nil {
			if was != c.prior {
				_ = c.replacePrior(was) // without examples anything can be
			}
			if len(examples) > 1 {
				err = rowless(&qda.RowError{Row: i, Err: err})
			}
			return err
		}
	}
	return nil
}

// open reports whether vectors of length d, as first ones, settle the dimension. That
// of a learned prior is settled.
func (c *Classifier) open(d int) bool {
	return c.prior == nil || c.prior.sum == "" && len(c.examples) == 0 && d != c.dim()
}

// begin settles the dimension, unless first, where it is not nil, cannot be an example.
// Examples of another one do not return.
func (c *Classifier) begin(first []float32, d int) error {
	p, err := Default(d)
	if err != nil {
		return err
	}
	if first != nil {
		if err := p.transform(make([]float64, d), first); err != nil {
			return err
		}
	}
	if c.prior != nil {
		c.forgetUndo()
	}
	return c.replacePrior(p)
}

// AddClass adds a class without examples at the end. Its probability is zero until it has
// one. It returns a *[qda.LabelError] for a label that cannot be one or is taken, and an
// [Error] with the code "limit" beyond [model.MaxClasses].
func (c *Classifier) AddClass(label string) (id string, err error) {
	defer c.writing()()
	e, err := c.newClass(label, 0)
	if err != nil {
		return "", err
	}
	return e.ID, c.do(e)
}

// newClass returns the entry that adds a class after so many others that are to be added.
func (c *Classifier) newClass(label string, others int) (Entry, error) {
	label, err := c.free(label, "")
	if err == nil && len(c.classes)+others >= model.MaxClasses {
		err = tooMany(model.MaxClasses, "classes")
	}
	if err != nil {
		return Entry{}, err
	}
	k := &Class{ID: c.newID(), Label: label, Order: c.top + float64(others+1)}
	return Entry{Do: "class", ID: k.ID, Class: k}, nil
}

// RenameClass changes a label and nothing else. It returns a *[qda.LabelError] if there
// is no such class, or for what AddClass refuses.
func (c *Classifier) RenameClass(label, to string) error {
	defer c.writing()()
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if to, err = c.free(to, k.ID); err != nil || to == k.Label {
		return err
	}
	return c.do(Entry{Do: "head", ID: k.ID, Class: &Class{ID: k.ID, Label: to, Order: k.Order}})
}

// RemoveClass removes a class with its examples. It returns a *[qda.LabelError] if there
// is no such class.
func (c *Classifier) RemoveClass(label string) error {
	defer c.writing()()
	k, err := c.class(label)
	if err != nil {
		return err
	}
	return c.do(Entry{Do: "class", ID: k.ID})
}

// Remove removes the example of an id: what is left answers as if it had never been
// there, to rounding in sessions of more than 64 residuals; see package qda. It returns an
// [Error] if there is no such example.
func (c *Classifier) Remove(id string) error {
	defer c.writing()()
	if c.examples[id] == nil {
		return noExample()
	}
	return c.do(Entry{Do: "example", ID: id})
}

func noExample() error {
	return &Error{Code: "example", Message: "There is no such example: it was removed, or belongs to another classifier."}
}

// Move moves an example to the end of another class, where it is in no group and has the
// same id. It returns an [Error] if there is no such example, or with the code "class" if
// it is in that class already, and a *[qda.LabelError] if there is no such class.
func (c *Classifier) Move(id, label string) error {
	defer c.writing()()
	x := c.examples[id]
	if x == nil {
		return noExample()
	}
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if k.ID == x.Class {
		return &Error{Code: "class", Message: "This example is in “" + k.Label + "” already."}
	}
	moved := *x
	moved.Class, moved.Order, moved.Group = k.ID, k.top+1, ""
	return c.do(Entry{Do: "example", ID: id, Example: &moved})
}

// MergeClasses moves all examples of a class to the end of another one, groups as groups,
// and removes it, as one step. It returns a *[qda.LabelError] if there is no such class, or
// if it is only one.
func (c *Classifier) MergeClasses(label, into string) error {
	defer c.writing()()
	k, err := c.class(label)
	if err != nil {
		return err
	}
	to, err := c.class(into)
	if err != nil {
		return err
	}
	if k == to {
		return &qda.LabelError{Label: k.Label, Reason: "is one class: choose another one to merge it with"}
	}
	rename := groupsApart(to, k)
	var entries []Entry
	for i, x := range k.list() {
		moved := *x
		moved.Class, moved.Order, moved.Group = to.ID, to.top+float64(i+1), rename[x.Group]
		entries = append(entries, Entry{Do: "example", ID: x.ID, Example: &moved})
	}
	return c.do(append(entries, Entry{Do: "class", ID: k.ID})...)
}

// groupsApart returns for each group of b a name that none of a's groups, nor another of
// b's, has.
func groupsApart(a, b *class) map[string]string {
	taken, names := map[string]bool{}, map[string]string{}
	for _, u := range slices.Concat(a.units, b.units) {
		taken[u.group] = true
	}
	for _, u := range b.units {
		name := u.group
		if name == "" {
			continue
		}
		for a.unit(u.group) >= 0 && taken[name] {
			name += "'"
		}
		taken[name] = true
		names[u.group] = name
	}
	return names
}

// Load teaches classes as they were stored, which cannot be undone. IDs that are missing
// are given; labels must differ as [SameLabel] says, and are not cleaned. Errors are those
// of Add, after which the classifier is of no use.
func (c *Classifier) Load(classes []Class) error {
	defer c.writing()()
	if i := slices.IndexFunc(classes, func(k Class) bool { return len(k.Examples) > 0 }); i >= 0 {
		if d := len(classes[i].Examples[0].Vector); c.open(d) {
			if err := c.begin(nil, d); err != nil {
				return err
			}
		}
	}
	n := 0
	for _, k := range classes {
		n += len(k.Examples)
	}
	if err := c.reserve(needs(n, len(classes), c.dim())); err != nil {
		return err
	}
	entries := make([]Entry, 0, len(classes))
	for _, k := range classes {
		if k.ID == "" {
			k.ID = c.newID()
		}
		if k.Order == 0 {
			k.Order = c.top + float64(len(entries)+1)
		}
		k.Examples = slices.Clone(k.Examples)
		for i, x := range k.Examples {
			own := *x
			if own.ID == "" {
				own.ID, own.Order = c.newID(), float64(i+1)
			}
			own.Class = k.ID
			k.Examples[i] = &own
		}
		entries = append(entries, Entry{Do: "class", ID: k.ID, Class: &k})
	}
	c.loading = true
	err := c.exchangeAll(entries)
	c.loading = false
	if err == nil && !(c.Lazy && len(c.examples) > enrolledAtOnce) {
		err = c.enrolAll()
	}
	c.forgetUndo()
	return err
}

// Replace brings the example of an id to what another copy of the session says: it is
// added where it is not here, moved where it is in another class or place, and removed
// where x is nil. It cannot be undone.
func (c *Classifier) Replace(id string, x *Example) error {
	defer c.writing()()
	return c.exchangeExample(&Entry{ID: id, Example: x})
}

// ReplaceClass takes over a class without examples, or its label where it is there, or
// removes the class of an id where k is nil. It cannot be undone.
func (c *Classifier) ReplaceClass(id string, k *Class) error {
	defer c.writing()()
	there := c.ids[id]
	switch {
	case k == nil || there == nil:
		return c.exchangeClass(&Entry{ID: id, Class: k})
	case there.Label != k.Label:
		return c.exchange(&Entry{Do: "head", ID: id, Class: k})
	}
	return nil
}
