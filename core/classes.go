package metaqda

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// NoneName is the text shown where no class fits. No class may have this name.
const NoneName = "None of these"

// Class is one class with its examples. [Classifier.Classes] returns copies.
type Class struct {
	ID       string  // stays the same when the label changes
	Label    string  // as [CleanLabel] leaves it
	Order    float64 // classes are sorted by order, then by ID
	Examples []*Example
	Bursts   []int  // sizes of the bursts: frames of a group or near-copies, which count as one example; oldest first
	Actions  string // run when it comes or goes, see [Classifier.SetActions]
}

// Example is one vector of a class. It does not change.
type Example struct {
	ID        string
	Class     string    // ID of its class
	Order     float64   // examples are sorted by order, then by ID; frames of a group stand with the first of them
	Group     string    // name of its burst, empty for a single example
	Vector    []float32 // d, as the extractor gives it
	Thumbnail []byte    // encoded picture, or nil
	Apart     bool      // the thumbnail is kept elsewhere
}

// compare is the sort order of classes, and of examples of a class.
func compare(a, b float64, idA, idB string) int {
	return cmp.Or(cmp.Compare(a, b), cmp.Compare(idA, idB))
}

// class is a class as the classifier keeps it. Package lda uses its id as the label, so a new label
// changes nothing there.
type class struct {
	Class  // without examples: those are in units
	folded string
	units  []*unit
	named  map[string]*unit // those of groups, by the group's name
	size   int              // number of examples
	known  int              // number of units, from the first, that are enrolled in lda
	late   bool             // it has changed in bulk
	top    float64          // largest order of an example so far
}

// unit counts as one example for the densities: an example, or the mean of the frames of a
// group.
type unit struct {
	group  string
	frames []*Example // in their order
}

// copied returns the class as callers see it.
func (k *class) copied() Class {
	all := k.Class
	all.Examples, all.Bursts = k.list(), slices.Clone(k.Bursts)
	return all
}

func (k *class) list() []*Example {
	all := make([]*Example, 0, len(k.units))
	for _, u := range k.units {
		all = append(all, u.frames...)
	}
	return all
}

// CleanLabel returns a name in the form of labels: in Unicode's composed form, without space
// around it. It returns a *[lda.LabelError] for a name that is empty, has control characters,
// is longer than [model.MaxLabel] characters or is [NoneName].
func CleanLabel(name string) (string, error) {
	clean, _, err := cleaned(name)
	return clean, err
}

var foldedNone = model.FoldLabel(NoneName)

// cleaned is CleanLabel, and returns the folded label, too.
func cleaned(name string) (clean, folded string, err error) {
	clean, err = model.CleanLabel(name)
	if err != nil {
		return "", "", &lda.LabelError{Label: model.CutLabel(name, model.MaxLabel), Reason: err.Error()}
	}
	if folded = model.FoldLabel(clean); folded == foldedNone {
		return "", "", &lda.LabelError{Label: clean, Reason: "is the answer if no class fits: choose another name"}
	}
	return clean, folded, nil
}

// SameLabel reports whether two labels look the same to people. Case, composition of accents,
// width of letters and space do not count.
func SameLabel(a, b string) bool { return a == b || model.FoldLabel(a) == model.FoldLabel(b) }

// Classes returns the classes in their order. Cost O(N).
func (c *Classifier) Classes() []Class {
	defer c.reading()()
	return c.copies()
}

func (c *Classifier) copies() []Class {
	all := make([]Class, len(c.classes))
	for i, k := range c.classes {
		all[i] = k.copied()
	}
	return all
}

// Labels returns the labels of the classes in their order.
func (c *Classifier) Labels() []string {
	defer c.reading()()
	return c.labels()
}

func (c *Classifier) labels() []string {
	all := make([]string, len(c.classes))
	for i, k := range c.classes {
		all[i] = k.Label
	}
	return all
}

// Bursts returns the number of examples of each class, in the order of Classes, with a
// burst counted once.
func (c *Classifier) Bursts() []int {
	defer c.reading()()
	return c.counts()
}

func (c *Classifier) counts() []int {
	all := make([]int, len(c.classes))
	for i, k := range c.classes {
		all[i] = len(k.Bursts)
	}
	return all
}

// At returns the i-th class without its examples, and their number.
func (c *Classifier) At(i int) (k Class, examples int) {
	defer c.reading()()
	return c.classes[i].Class, c.classes[i].size
}

// Find returns the class with a label, or one that looks the same (see [SameLabel]).
func (c *Classifier) Find(label string) (k Class, ok bool) {
	defer c.reading()()
	if k := c.find(label); k != nil {
		return k.copied(), true
	}
	return Class{}, false
}

// Class returns the class with an id.
func (c *Classifier) Class(id string) (k Class, ok bool) {
	defer c.reading()()
	if k := c.ids[id]; k != nil {
		return k.copied(), true
	}
	return Class{}, false
}

// Example returns the example with an id, or nil.
func (c *Classifier) Example(id string) *Example {
	defer c.reading()()
	return c.examples[id]
}

func (c *Classifier) find(label string) *class {
	folded := model.FoldLabel(label)
	for _, k := range c.folds[folded] {
		if k.Label == label {
			return k
		}
	}
	if clean, err := model.CleanLabel(label); err == nil {
		if clean != label {
			folded = model.FoldLabel(clean)
		}
		if same := c.folds[folded]; len(same) > 0 {
			return slices.MinFunc(same, func(a, b *class) int { return slices.Index(c.classes, a) - slices.Index(c.classes, b) })
		}
	}
	return nil
}

// fold enters a class into folds, so that labels are found without a search.
func (c *Classifier) fold(k *class, folded string) {
	if c.folds == nil {
		c.folds = map[string][]*class{}
	}
	k.folded, c.folds[folded] = folded, append(c.folds[folded], k)
	if c.loading && len(c.folds[folded]) > 1 {
		if c.alike == nil {
			c.alike = map[string]bool{}
		}
		c.alike[folded] = true
	}
}

// unfold is the inverse of fold.
func (c *Classifier) unfold(k *class) {
	left := slices.DeleteFunc(c.folds[k.folded], func(o *class) bool { return o == k })
	if c.folds[k.folded] = left; len(left) == 0 {
		delete(c.folds, k.folded)
	}
}

func (c *Classifier) class(label string) (*class, error) {
	if k := c.find(label); k != nil {
		return k, nil
	}
	return nil, &lda.LabelError{Label: model.CutLabel(label, model.MaxLabel), Reason: "does not exist: choose a class that does"}
}

// free returns the label, cleaned, or an error if a class other than except has it.
func (c *Classifier) free(label, except string) (clean, folded string, err error) {
	clean, folded, err = cleaned(label)
	for _, k := range c.folds[folded] {
		if err == nil && k.ID != except {
			err = labelTaken(k.Label)
		}
	}
	return clean, folded, err
}

func labelTaken(label string) error {
	return &lda.LabelError{Label: label, Reason: "exists already: choose another name"}
}

// isFree reports whether a class other than except may have a label. Labels that look the same
// count as one, except labels from [Classifier.Load].
func (c *Classifier) isFree(label, folded string, except *class) bool {
	alike := c.loading || c.alike[folded]
	return !slices.ContainsFunc(c.folds[folded], func(o *class) bool { return o != except && (!alike || o.Label == label) })
}

// Numbered names copies: it returns the name if it is free, else the first free one of
// "name (2)", "name (3)" and so on, cut to [model.MaxLabel] characters.
func Numbered(name string, free func(name string) bool) string {
	numbered := name
	for n := 2; !free(numbered); n++ {
		suffix := " (" + strconv.Itoa(n) + ")"
		numbered = model.CutLabel(name, model.MaxLabel-len(suffix)) + suffix
	}
	return numbered
}

func (c *Classifier) newID() string {
	if c.NewID != nil {
		return c.NewID()
	}
	c.last++
	return strconv.FormatUint(c.last, 36)
}

// given notes that an id is taken, so that newID does not return it.
func (c *Classifier) given(id string) {
	if n, err := strconv.ParseUint(id, 36, 64); err == nil && n < math.MaxUint64/2 {
		c.last = max(c.last, n)
	}
}

// givenIn calls given for all ids in entries.
func (c *Classifier) givenIn(entries []Entry) {
	for _, e := range entries {
		c.given(e.ID)
		for _, x := range examplesIn(e) {
			c.given(x.ID)
		}
	}
}

// examplesIn returns the examples of an entry's class.
func examplesIn(e Entry) []*Example {
	if e.Class == nil {
		return nil
	}
	return e.Class.Examples
}

// tooMany returns the error for more classes or examples than [Classifier.Save] can write.
func tooMany(most int, what string) error {
	return &Error{Code: "limit", Message: "A classifier holds at most " + strconv.Itoa(most) + " " + what + ": divide them among several."}
}

// putClass adds a class at its place, with its examples. taken, unless nil, is what takeClass
// returned.
func (c *Classifier) putClass(k *class, taken *lda.Detached) error {
	switch {
	case len(c.classes) >= model.MaxClasses:
		return tooMany(model.MaxClasses, "classes")
	case len(c.examples)+k.size > model.MaxExamples:
		return tooMany(model.MaxExamples, "examples")
	}
	if err := cmp.Or(c.checkActions("", k.Actions), c.checkExamples(k)); err != nil {
		return err
	}
	at := len(c.classes)
	for at > 0 && compare(k.Order, c.classes[at-1].Order, k.ID, c.classes[at-1].ID) < 0 {
		at--
	}
	folded := ""
	k.Label = Numbered(k.Label, func(name string) bool {
		folded = model.FoldLabel(name)
		return c.isFree(name, folded, nil)
	})
	k.top = k.highest()
	if c.lda != nil {
		if err := c.attach(k, at, taken); err != nil {
			return err
		}
		c.behind = c.behind || k.known < len(k.units)
	}
	if c.ids == nil {
		c.ids, c.examples = map[string]*class{}, map[string]*Example{}
	}
	c.fold(k, folded)
	c.classes = slices.Insert(c.classes, at, k)
	c.ids[k.ID], c.top = k, max(c.top, k.Order)
	k.Bursts = nil
	c.tell(Change{Do: PutClass, Class: k.Class, At: at, New: true})
	for i, x := range k.list() {
		c.examples[x.ID] = x
		c.tell(Change{Do: PutExample, Class: k.Class, At: i, Example: x})
	}
	c.burstsChanged(k)
	return nil
}

// checkExamples returns an error if examples of k are in another class or do not fit the prior.
func (c *Classifier) checkExamples(k *class) error {
	if k.size > 0 && c.lda == nil {
		return &Error{Code: "prior", Message: "There is no prior for the vectors of “" + k.Label + "”: give one of their length first."}
	}
	for _, u := range k.units {
		for _, x := range u.frames {
			if other := c.examples[x.ID]; other != nil {
				return &Error{Code: "example", Message: "An example of “" + k.Label + "” is in “" + c.ids[other.Class].Label + "” now: take it out of that class first."}
			}
			if d := c.dim(); len(x.Vector) != d {
				return &niw.DimensionError{Name: "vector", Got: len(x.Vector), Want: d}
			}
		}
	}
	return nil
}

// attach adds a class to the densities at the index at.
func (c *Classifier) attach(k *class, at int, taken *lda.Detached) (err error) {
	if taken == nil {
		k.known = 0
		if err := c.lda.AddClass(k.ID); err != nil {
			return err
		}
		if err := c.enrolSoon(k); err != nil {
			_ = c.lda.RemoveClass(k.ID)
			return err
		}
		if at == len(c.classes) {
			return nil
		}
		if taken, err = c.lda.Detach(k.ID); err != nil {
			return err
		}
	}
	return c.lda.Attach(at, taken)
}

// takeClass is the inverse of putClass.
func (c *Classifier) takeClass(k *class) (taken *lda.Detached, err error) {
	if c.lda != nil {
		if err = c.forget(k); err == nil {
			taken, err = c.lda.Detach(k.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	c.classes = slices.DeleteFunc(c.classes, func(o *class) bool { return o == k })
	c.unfold(k)
	delete(c.ids, k.ID)
	gone := k.copied()
	for _, x := range gone.Examples {
		delete(c.examples, x.ID)
	}
	c.tell(Change{Do: DropClass, Class: gone})
	if c.lda != nil && len(c.classes) > 0 {
		c.burstsChanged(c.classes[0])
	}
	return taken, nil
}

func (k *class) highest() (top float64) {
	for _, u := range k.units {
		top = max(top, u.frames[len(u.frames)-1].Order)
	}
	return max(top, k.top)
}
