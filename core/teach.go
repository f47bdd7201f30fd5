package metaqda

import (
	"slices"
	"strconv"

	"metaqda/core/lda"
	"metaqda/core/model"
)

// Add adds a vector to the class label and returns the example's id. If no class has this label
// or one that looks the same ([SameLabel]), it makes one. Vectors of a class that name the same
// group are frames of one burst; an empty group is none. Bytes of a group that are not UTF-8 become
// U+FFFD. The vector is copied.
//
// It returns a *[lda.LabelError] for an impossible label (see [CleanLabel]), and a
// *[niw.DimensionError] or *[niw.ValueError] for a vector of another length or not finite. It
// returns an [Error] with the code "limit" beyond [model.MaxClasses] or [model.MaxExamples]. On
// error nothing changes. It costs as much as [lda.Classifier.Add]; a frame of a burst costs
// replacing the burst's mean.
func (c *Classifier) Add(label, group string, vector []float32) (id string, err error) {
	ids, err := c.AddAll([]string{label}, []Example{{Group: group, Vector: vector}})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// AddAll adds each example to the class of its label, all or none, as one step, and returns
// their ids. Vectors are copied; ID, Class and Order of the examples are ignored. Labels and
// vectors are checked before anything changes. Errors are those of Add; with several vectors an
// [Error] names the index of the vector. It returns an [Error] with the code "argument" unless
// there is one label for each example. Cost linear in the number of examples.
func (c *Classifier) AddAll(labels []string, examples []Example) (ids []string, err error) {
	defer c.writing()()
	if len(examples) > 0 {
		if err := c.fits(len(examples), len(examples[0].Vector)); err != nil {
			return nil, err
		}
	}
	own, pictures := slices.Clone(examples), 0
	for i, x := range own {
		own[i].Vector = slices.Clone(x.Vector)
		pictures += len(x.Thumbnail)
	}
	if err := c.reserve(pictures); err != nil {
		return nil, err
	}
	if len(labels) != len(examples) {
		return nil, labelsFor(len(examples), len(labels))
	}
	into, err := c.receivers().all(labels)
	if err == nil {
		err = c.fit(own)
	}
	if err != nil || len(own) == 0 {
		return nil, err
	}
	ids, entries := c.entriesOf(into, own)
	return ids, c.addFit(entries)
}

// entriesOf returns the entries that add each example to its receiver, and the ids of the examples.
// Entries keep the vectors.
func (c *Classifier) entriesOf(into []*receiver, examples []Example) (ids []string, entries []Entry) {
	ids, entries = make([]string, len(examples)), make([]Entry, 0, len(examples))
	for i, x := range examples { // each on its own, so that one that is removed can be freed
		k := into[i]
		k.top++
		x.ID, x.Class, x.Order = c.newID(), k.id, k.top
		if k.entry.ID != "" { // the class goes before its first example
			entries, k.entry = append(entries, k.entry), Entry{}
		}
		ids[i], entries = x.ID, append(entries, Entry{Do: "example", ID: x.ID, Example: &x})
	}
	return ids, entries
}

// addFit applies entries that add examples, all of which fit.
func (c *Classifier) addFit(entries []Entry) error {
	c.fitted = true
	defer func() { c.fitted = false }()
	return c.do(entries...)
}

// receiver is a class that gets examples.
type receiver struct {
	id    string
	top   float64 // the largest order of its examples
	entry Entry   // makes the class if it is new
}

// receivers are the classes that labels name, including new ones.
type receivers struct {
	of   *Classifier
	into map[string]*receiver // by label
	made map[string]*receiver // by folded label
}

func (c *Classifier) receivers() *receivers {
	return &receivers{c, map[string]*receiver{}, map[string]*receiver{}}
}

// all returns the receiver of each label. Errors are those of newClass.
func (r *receivers) all(labels []string) ([]*receiver, error) {
	all := make([]*receiver, len(labels))
	for i, label := range labels {
		k := r.into[label]
		if k == nil {
			var err error
			if k, err = r.receiver(label); err != nil {
				return nil, err
			}
			r.into[label] = k
		}
		all[i] = k
	}
	return all, nil
}

func (r *receivers) receiver(label string) (*receiver, error) {
	if k := r.of.find(label); k != nil {
		if r.into[k.Label] == nil { // other labels of the class have the same receiver
			r.into[k.Label] = &receiver{id: k.ID, top: k.top}
		}
		return r.into[k.Label], nil
	}
	e, folded, err := r.of.newClass(label, len(r.made))
	if err != nil {
		return nil, err
	}
	if r.made[folded] == nil {
		r.made[folded] = &receiver{id: e.ID, entry: e}
	}
	return r.made[folded], nil
}

// labelsFor returns the error for another number of labels than of examples.
func labelsFor(examples, labels int) error {
	return &Error{Code: "argument", Message: "The numbers of examples and labels differ, " + strconv.Itoa(examples) + " and " + strconv.Itoa(labels) + ": give one label for each example."}
}

// fit settles the length of vectors if it is open, and checks that vectors can be examples. On error
// it leaves the length open.
func (c *Classifier) fit(examples []Example) error {
	if len(examples) == 0 {
		return nil
	}
	p, scratch := c.prior, c.x
	opens := c.open(len(examples[0].Vector))
	if opens {
		var err error
		if p, err = c.initial(len(examples[0].Vector)); err != nil {
			return err
		}
		scratch = make([]float64, p.file.NIW.Dim())
	}
	for i, x := range examples {
		if err := p.transform(scratch, x.Vector); err != nil {
			if len(examples) > 1 {
				err = rowless(&lda.RowError{Row: i, Err: err})
			}
			return err
		}
	}
	if opens {
		return c.begin(p)
	}
	return nil
}

// open reports whether first vectors of length d would settle the dimension. A learned prior
// has settled it.
func (c *Classifier) open(d int) bool {
	return c.prior == nil || c.prior.sum == "" && len(c.examples) == 0 && d != c.dim()
}

// initial returns the prior under which first vectors of length d are taken: [Default] for the scale.
func (c *Classifier) initial(d int) (*Prior, error) {
	p, err := Default(d)
	if err == nil && c.settings.Scale != "" {
		p, err = p.forTables()
	}
	return p, err
}

// begin settles the length of vectors by a prior from initial. It clears the undo history if there
// was a prior, since undo cannot restore examples of another length.
func (c *Classifier) begin(p *Prior) error {
	if c.prior != nil {
		c.forgetUndo()
	}
	return c.replacePrior(p)
}

// settleAt settles the length of vectors at d, if it is open.
func (c *Classifier) settleAt(d int) error {
	if !c.open(d) {
		return nil
	}
	p, err := c.initial(d)
	if err != nil {
		return err
	}
	return c.begin(p)
}

// AddClass adds a class without examples at the end. Its probability is zero until it has an
// example. It returns a *[lda.LabelError] for an impossible or taken label, and an [Error] with
// the code "limit" beyond [model.MaxClasses].
func (c *Classifier) AddClass(label string) (id string, err error) {
	defer c.writing()()
	e, _, err := c.newClass(label, 0)
	if err != nil {
		return "", err
	}
	return e.ID, c.do(e)
}

// newClass returns the entry that adds a class, after others that are still to be added, and its
// folded label.
func (c *Classifier) newClass(label string, others int) (e Entry, folded string, err error) {
	label, folded, err = c.free(label, "")
	if err == nil && len(c.classes)+others >= model.MaxClasses {
		err = tooMany(model.MaxClasses, "classes")
	}
	if err != nil {
		return Entry{}, "", err
	}
	k := &Class{ID: c.newID(), Label: label, Order: c.top + float64(others+1)}
	return Entry{Do: "class", ID: k.ID, Class: k}, folded, nil
}

// RenameClass changes only the label. It returns a *[lda.LabelError] if there is no such class,
// or if AddClass would refuse the new label.
func (c *Classifier) RenameClass(label, to string) error {
	defer c.writing()()
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if to, _, err = c.free(to, k.ID); err != nil || to == k.Label {
		return err
	}
	return c.do(Entry{Do: "head", ID: k.ID, Class: &Class{ID: k.ID, Label: to, Order: k.Order}})
}

// RemoveClass removes a class with its examples. It returns a *[lda.LabelError] if there
// is no such class.
func (c *Classifier) RemoveClass(label string) error {
	defer c.writing()()
	k, err := c.class(label)
	if err != nil {
		return err
	}
	return c.do(Entry{Do: "class", ID: k.ID})
}

// Remove removes the example with an id. Answers are then as if it had never been added, up to
// rounding in larger sessions; see package lda. It returns an [Error] if there is no such example.
func (c *Classifier) Remove(id string) error {
	defer c.writing()()
	if c.examples[id] == nil {
		return noExample(id)
	}
	return c.do(Entry{Do: "example", ID: id})
}

func noExample(id string) error {
	return &Error{Code: "example", Message: "There is no example " + strconv.Quote(id) + ": it was removed, or belongs to another classifier."}
}

// Move moves an example to the end of another class. It keeps its id and leaves its group. It
// returns an [Error] if there is no such example, and one with the code "class" if the class has it
// already. It returns a *[lda.LabelError] if there is no such class.
func (c *Classifier) Move(id, label string) error {
	defer c.writing()()
	x := c.examples[id]
	if x == nil {
		return noExample(id)
	}
	k, err := c.class(label)
	if err != nil {
		return err
	}
	if k.ID == x.Class {
		return &Error{Code: "class", Message: "This example is in “" + k.Label + "” already: name another class."}
	}
	moved := *x
	moved.Class, moved.Order, moved.Group = k.ID, k.top+1, ""
	return c.do(Entry{Do: "example", ID: id, Example: &moved})
}

// MergeClasses moves all examples and groups of a class to the end of another one and removes
// the class, as one step. It returns a *[lda.LabelError] if a class does not exist, or if both
// are the same.
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
		return &lda.LabelError{Label: k.Label, Reason: "is one class: choose another one to merge it with"}
	}
	rename := groupsApart(to.groups(), k)
	var entries []Entry
	for i, x := range k.list() {
		moved := *x
		moved.Class, moved.Order, moved.Group = to.ID, to.top+float64(i+1), rename[x.Group]
		entries = append(entries, Entry{Do: "example", ID: x.ID, Example: &moved})
	}
	return c.do(append(entries, Entry{Do: "class", ID: k.ID})...)
}

// groups returns the names of a class's groups.
func (k *class) groups() map[string]bool {
	all := map[string]bool{}
	for _, u := range k.units {
		if u.group != "" {
			all[u.group] = true
		}
	}
	return all
}

// groupsApart returns new names for the groups of a class, none of which is taken, and takes them.
func groupsApart(taken map[string]bool, k *class) map[string]string {
	own, names := k.groups(), map[string]string{}
	for _, u := range k.units {
		name := u.group
		if name == "" {
			continue
		}
		for taken[name] || name != u.group && own[name] {
			name += "'"
		}
		taken[name], names[u.group] = true, name
	}
	return names
}

// noteIDs notes that the ids of classes and of their examples are given. It returns an error if two
// are equal.
func (c *Classifier) noteIDs(classes []Class) error {
	ids, examples := map[string]bool{}, map[string]bool{}
	note := func(id string, taken bool, seen map[string]bool) error {
		if id != "" && (taken || seen[id]) {
			return &Error{Code: "argument", Message: "The id “" + id + "” is given twice: give each class and each example another one, or none."}
		}
		seen[id] = true
		c.given(id)
		return nil
	}
	for _, k := range classes {
		if err := note(k.ID, c.ids[k.ID] != nil, ids); err != nil {
			return err
		}
		for _, x := range k.Examples {
			if err := note(x.ID, c.examples[x.ID] != nil, examples); err != nil {
				return err
			}
		}
	}
	return nil
}

// Load adds stored classes, which cannot be undone. It gives an ID to classes and examples without
// one. It does not clean labels, and accepts labels that only look the same. If a label is equal to
// another, it adds a number, see [Numbered]. Errors are those of Add, and an [Error] with the code
// "argument" for two equal ids. After an error the classifier must not be used.
//
// The densities get more than 400 examples in Prepare, or with the first answer. Until then every example
// or group is a burst. Load calls pause, unless it is nil, after each thousand examples. Nobody else may
// use the classifier meanwhile, since pause is called under the lock.
func (c *Classifier) Load(classes []Class, pause func()) error {
	defer c.writing()()
	if i := slices.IndexFunc(classes, func(k Class) bool { return len(k.Examples) > 0 }); i >= 0 {
		if err := c.settleAt(len(classes[i].Examples[0].Vector)); err != nil {
			return err
		}
	}
	n := 0
	for _, k := range classes {
		n += len(k.Examples)
	}
	if err := c.reserve(needs(n, len(classes), c.dim())); err != nil {
		return err
	}
	c.loading = true
	defer func() { c.loading = false }()
	for len(classes) > 0 {
		n, some := 0, 0
		for ; some < len(classes) && n < pieceOfLoad; some++ {
			n += len(classes[some].Examples)
		}
		if err := c.load(classes[:some]); err != nil {
			return err
		}
		if classes = classes[some:]; pause != nil && len(classes) > 0 {
			pause()
		}
	}
	c.forgetUndo()
	if len(c.examples) > enrolledAtOnce {
		return nil
	}
	c.loading = false
	return c.enrolAll()
}

const pieceOfLoad = 1000 // examples

func (c *Classifier) load(classes []Class) error {
	if err := c.noteIDs(classes); err != nil {
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
	return c.exchangeAll(entries)
}
