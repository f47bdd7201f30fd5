// Package metaqda is few-shot classification in one import: named classes with a few
// examples each, how probable each of them is, and how probable it is that it is none
// of them; undo, leaving out, batches, files and merging. The npm package is this one
// behind JavaScript.
//
// Vectors come in as a feature extractor gives them; the prior says how they are
// transformed. Examples of a class that name the same group are frames of one burst
// and count as one, their mean.
//
// It is not for learning priors, which metaqda/core/metatrain/recipe does, nor for
// comparing methods, for which metaqda/core/experiment has the protocols: the examples
// show both. Densities, classes and probabilities by themselves are those of
// metaqda/core/niw, qda and session.
package metaqda

import (
	"slices"
	"strconv"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// Settings are what the caller knows beforehand. With the zero value the set is closed: a
// vector is always of one of the classes.
type Settings struct {
	NonePrior float64 // prior probability that a vector is of none of the classes, in [0, 1)
}

// Extractor names the feature extractor that vectors are of.
type Extractor = model.Extractor

// Classifier holds what was taught: C classes with N examples in all, vectors of one
// length d. It is made by [New], [Open], [OpenUnder] or [Merge]; its zero value is that
// of New with zero [Settings] and no prior. It is not safe for use by several goroutines
// at once.
type Classifier struct {
	Name string // written into files

	extractor Extractor
	settings  Settings
	prior     *model.Prior // nil until the dimension is known
	sum       string       // sha256 of the prior's file, empty for [Default]
	qda       *qda.Classifier
	classes   []*class
	last      uint32 // id given last
	steps     []func() error
	x         []float64 // scratch of length d
}

// class is a taught class. Its number, as text, is its label for package qda, so that
// a new name is no change there.
type class struct {
	key, label string
	bursts     []*burst // a picture each for package qda
}

// burst is one example, or several frames of a group.
type burst struct {
	group    string // empty for an example by itself
	examples []*example
}

type example struct {
	id     uint32
	vector []float32
}

// New returns a classifier without classes. prior may be nil: then the first vector
// settles d, and [Default] serves. It returns a *[niw.ValueError] for settings out of
// their domain.
func New(s Settings, prior *Prior) (*Classifier, error) {
	c := &Classifier{settings: s}
	if prior == nil {
		o := qda.Options{Shared: 1, Kappa: 1, NonePrior: s.NonePrior}
		return c, o.Validate()
	}
	c.sum, c.extractor = prior.sum, prior.file.Extractor
	return c, c.use(prior.file)
}

// Prior is what is known of classes before any example: what a prior file says, or
// [Default]. It does not change and may serve any number of classifiers, of other
// goroutines too.
type Prior struct {
	file *model.Prior
	sum  string // sha256 of the file, empty for [Default]
}

// DecodePrior reads a prior file. It returns a *[model.FormatError] for bytes that are
// none.
func DecodePrior(file []byte) (*Prior, error) {
	p, err := model.DecodePrior(file)
	if err == nil {
		err = p.Serves()
	}
	if err != nil {
		return nil, err
	}
	return &Prior{file: p, sum: model.Sum(file)}, nil
}

// Sum returns the sha256 of the prior's file in hexadecimal, by which files of
// classifiers name it. That of [Default] is empty.
func (p *Prior) Sum() string { return p.sum }

// Content returns what the file says, for the packages below this one. It must not be
// changed.
func (p *Prior) Content() *model.Prior { return p.file }

// use makes p the prior, of a classifier without examples.
func (c *Classifier) use(p *model.Prior) error {
	q, err := qda.New(p.NIW, options(p, c.settings))
	if err != nil {
		return err
	}
	for _, k := range c.classes {
		if err := q.AddClass(k.key); err != nil {
			return err
		}
	}
	c.prior, c.qda, c.x = p, q, make([]float64, p.NIW.Dim())
	return nil
}

func options(p *model.Prior, s Settings) qda.Options {
	o := p.Session.Options()
	o.NonePrior = s.NonePrior
	return o
}

// Configure changes the settings, or none of them on error, which is a
// *[niw.ValueError]. It can not be undone. Cost O(1).
func (c *Classifier) Configure(s Settings) error {
	o := qda.Options{Shared: 1, Kappa: 1, NonePrior: s.NonePrior}
	err := o.Validate()
	if c.qda != nil {
		err = c.qda.SetOptions(options(c.prior, s))
	}
	if err == nil {
		c.settings = s
	}
	return err
}

// Settings returns those in force.
func (c *Classifier) Settings() Settings { return c.settings }

// Dim returns d, the length of vectors, 0 while the first one has not settled it.
func (c *Classifier) Dim() int {
	if c.prior == nil {
		return 0
	}
	return c.prior.NIW.Dim()
}

// Len returns C, the number of classes.
func (c *Classifier) Len() int { return len(c.classes) }

// Identify tells which feature extractor gives the vectors. It returns an [Error] if
// what is taught, or the prior, is of another one, or of other files of the same name.
func (c *Classifier) Identify(x Extractor) error {
	if c.extractor.ID != "" && c.extractor.ID != x.ID {
		return &Error{Code: "extractor", Message: "The prior or the examples are of the feature extractor " + strconv.Quote(c.extractor.ID) +
			", not of " + strconv.Quote(x.ID) + ", whose numbers mean other things."}
	}
	if otherFiles(c.extractor, x) {
		return &Error{Code: "extractor", Message: "The prior or the examples are of other files of the feature extractor " + strconv.Quote(x.ID) +
			" (sha256 " + c.extractor.SHA256 + ") than this one (" + x.SHA256 + "), whose numbers mean other things."}
	}
	if x.SHA256 == "" {
		x.SHA256 = c.extractor.SHA256 // what is known of it stays known
	}
	c.extractor = x
	return nil
}

// Class tells of one class of [Classifier.Classes].
type Class struct {
	Label    string
	Examples []uint32 // their ids in the order they were added, frames of a group together
	Bursts   int      // how many examples they count as: frames of a group are one
}

// Classes returns the classes in the order they were added.
func (c *Classifier) Classes() []Class {
	all := make([]Class, len(c.classes))
	for i, k := range c.classes {
		all[i] = Class{Label: k.label, Bursts: len(k.bursts)}
		if c.qda != nil {
			all[i].Bursts = c.qda.Bursts(k.key)
		}
		for _, b := range k.bursts {
			for _, x := range b.examples {
				all[i].Examples = append(all[i].Examples, x.id)
			}
		}
	}
	return all
}

// Add adds a vector to the class label, which comes into being if there is none, and
// returns its id, which Remove takes. Vectors of a class that name the same group are
// frames of one burst; an empty group is none. The vector is kept, not copied, and must
// not be changed.
//
// It returns a *[qda.LabelError] for a label that files cannot have (see [model.CleanLabel]),
// a *[niw.DimensionError] or *[niw.ValueError] for a vector that is not of length d or not
// finite, and an [Error] with the code "limit" beyond [model.MaxClasses] or
// [model.MaxExamples], and changes nothing then. Cost that of [qda.Classifier.Add], for a frame of a
// burst that of replacing the burst's mean.
func (c *Classifier) Add(label, group string, vector []float32) (id uint32, err error) {
	k := c.find(label)
	added := k == nil
	if added {
		if err := c.checkClass(label); err != nil {
			return 0, err
		}
	}
	// Every example has an id, so that there are no more of them than ids.
	if c.last >= model.MaxExamples && c.count() >= model.MaxExamples {
		return 0, tooMany(model.MaxExamples, "examples")
	}
	if c.open(len(vector)) {
		if err := c.begin(vector, len(vector)); err != nil {
			return 0, err
		}
	}
	if err = c.transform(vector); err == nil && added {
		k, err = c.addClass(label)
	}
	if err != nil {
		return 0, err
	}
	x := &example{id: c.last + 1, vector: vector}
	b, i := k.at(group)
	if b == nil {
		b = &burst{group: group, examples: []*example{x}}
		err = c.qda.Add(k.key, c.x)
		if err == nil {
			k.bursts = append(k.bursts, b)
		}
	} else {
		b.examples = append(b.examples, x)
		if err = c.replace(k, i); err != nil {
			b.examples = b.examples[:len(b.examples)-1]
		}
	}
	if err != nil {
		if added {
			c.dropClass(k)
		}
		return 0, err
	}
	c.last++
	c.remember(func() error {
		err := c.take(k, x)
		if added {
			c.dropClass(k)
		}
		return err
	})
	return x.id, nil
}

// open reports whether vectors of length d, as first ones, settle the dimension. That
// of a learned prior is settled.
func (c *Classifier) open(d int) bool {
	taught := slices.ContainsFunc(c.classes, func(k *class) bool { return len(k.bursts) > 0 })
	return c.prior == nil || c.sum == "" && !taught && d != c.Dim()
}

// begin settles the dimension, unless first, where it is not nil, cannot be an example.
// Examples of another one do not return.
func (c *Classifier) begin(first []float32, d int) error {
	p, err := Default(d)
	if err != nil {
		return err
	}
	if first != nil {
		if err := transform(make([]float64, d), &p.file.Transform, first); err != nil {
			return err
		}
	}
	c.steps = nil
	return c.use(p.file)
}

// transform stores in c.x what package qda knows a vector as.
func (c *Classifier) transform(vector []float32) error {
	if len(vector) != len(c.x) {
		return &niw.DimensionError{Name: "vector", Got: len(vector), Want: len(c.x)}
	}
	return transform(c.x, &c.prior.Transform, vector)
}

func transform(dst []float64, t *embed.Transform, vector []float32) error {
	for i, v := range vector {
		dst[i] = float64(v)
	}
	return t.ApplyTo(dst, dst)
}

// mean stores in c.x that of a burst, transformed.
func (c *Classifier) mean(b *burst) error {
	sum := make([]float64, len(c.x))
	for _, x := range b.examples {
		if err := c.transform(x.vector); err != nil {
			return err
		}
		for i, v := range c.x {
			sum[i] += v
		}
	}
	for i, v := range sum {
		c.x[i] = v / float64(len(b.examples))
	}
	return nil
}

// replace tells package qda what the i-th burst of a class has become.
func (c *Classifier) replace(k *class, i int) error {
	if err := c.mean(k.bursts[i]); err != nil {
		return err
	}
	if err := c.qda.Remove(k.key, i); err != nil {
		return err
	}
	return c.qda.Insert(k.key, i, c.x)
}

// at returns the burst of a group and where it stands.
func (k *class) at(group string) (*burst, int) {
	if group == "" {
		return nil, len(k.bursts)
	}
	i := slices.IndexFunc(k.bursts, func(b *burst) bool { return b.group == group })
	if i < 0 {
		return nil, len(k.bursts)
	}
	return k.bursts[i], i
}

// Remove removes the example of an id: what is left answers as if it had never been
// there, to rounding in sessions of more than 64 residuals; see package qda. It returns an
// [Error] if there is no such example.
func (c *Classifier) Remove(id uint32) error {
	for _, k := range c.classes {
		for i, b := range k.bursts {
			for j, x := range b.examples {
				if x.id != id {
					continue
				}
				if err := c.take(k, x); err != nil {
					return err
				}
				c.remember(func() error { return c.put(k, b, i, j, x) })
				return nil
			}
		}
	}
	return &Error{Code: "example", Message: "There is no such example: it was removed, or belongs to another classifier."}
}

// take removes an example that a class has.
func (c *Classifier) take(k *class, x *example) error {
	for i, b := range k.bursts {
		j := slices.Index(b.examples, x)
		if j < 0 {
			continue
		}
		if len(b.examples) == 1 {
			if err := c.qda.Remove(k.key, i); err != nil {
				return err
			}
			k.bursts = slices.Delete(k.bursts, i, i+1)
			return nil
		}
		b.examples = slices.Delete(b.examples, j, j+1)
		return c.replace(k, i)
	}
	return nil
}

// put is the inverse of take, of the j-th frame of what was the i-th burst. A burst
// that lost its last frame still holds it.
func (c *Classifier) put(k *class, b *burst, i, j int, x *example) error {
	if slices.Contains(k.bursts, b) {
		b.examples = slices.Insert(b.examples, j, x)
		return c.replace(k, i)
	}
	if err := c.mean(b); err != nil {
		return err
	}
	if err := c.qda.Insert(k.key, i, c.x); err != nil {
		return err
	}
	k.bursts = slices.Insert(k.bursts, i, b)
	return nil
}

// AddClass adds a class without examples. Its probability is zero until it has one. It
// returns a *[qda.LabelError] for a label that is taken or that files cannot have, and an
// [Error] with the code "limit" beyond [model.MaxClasses].
func (c *Classifier) AddClass(label string) error {
	k, err := c.addClass(label)
	if err == nil {
		c.remember(func() error { c.dropClass(k); return nil })
	}
	return err
}

func (c *Classifier) addClass(label string) (*class, error) {
	if err := c.checkClass(label); err != nil {
		return nil, err
	}
	c.last++
	k := &class{key: key(c.last), label: label}
	if c.qda != nil {
		if err := c.qda.AddClass(k.key); err != nil {
			return nil, err
		}
	}
	c.classes = append(c.classes, k)
	return k, nil
}

// dropClass removes the class added last.
func (c *Classifier) dropClass(k *class) {
	if c.qda != nil {
		_ = c.qda.RemoveClass(k.key) // not there where the dimension was still open
	}
	c.classes = slices.DeleteFunc(c.classes, func(x *class) bool { return x == k })
}

func (c *Classifier) count() (n int) {
	for _, k := range c.classes {
		for _, b := range k.bursts {
			n += len(b.examples)
		}
	}
	return n
}

// tooMany refuses what [Classifier.Save] could not write.
func tooMany(most int, what string) error {
	return &Error{Code: "limit", Message: "A classifier holds at most " + strconv.Itoa(most) + " " + what + ": divide them among several."}
}

// checkClass reports why there can be no class more, or none of this label.
func (c *Classifier) checkClass(label string) error {
	if len(c.classes) >= model.MaxClasses {
		return tooMany(model.MaxClasses, "classes")
	}
	return c.checkLabel(label)
}

func (c *Classifier) checkLabel(label string) error {
	switch clean, err := model.CleanLabel(label); {
	case err != nil:
		return &qda.LabelError{Label: label[:min(len(label), model.MaxLabel)], Reason: err.Error()}
	case clean != label:
		return &qda.LabelError{Label: label, Reason: "has characters that do not show: call it " + strconv.Quote(clean)}
	}
	if c.find(label) != nil {
		return &qda.LabelError{Label: label, Reason: "exists already: choose another name"}
	}
	return nil
}

// RenameClass changes a label and nothing else. It returns a *[qda.LabelError] if there
// is no such class, or for what AddClass refuses.
func (c *Classifier) RenameClass(label, to string) error {
	k, err := c.class(label)
	if err != nil || label == to {
		return err
	}
	if err := c.checkLabel(to); err != nil {
		return err
	}
	k.label = to
	c.remember(func() error { k.label = label; return nil })
	return nil
}

// RemoveClass removes a class with its examples. It returns a *[qda.LabelError] if there
// is no such class.
func (c *Classifier) RemoveClass(label string) error {
	k, err := c.class(label)
	if err != nil {
		return err
	}
	var taken *qda.Detached
	if c.qda != nil {
		if taken, err = c.qda.Detach(k.key); err != nil {
			return err
		}
	}
	i := slices.Index(c.classes, k)
	c.classes = slices.Delete(c.classes, i, i+1)
	c.remember(func() error {
		if taken != nil {
			if err := c.qda.Attach(i, taken); err != nil {
				return err
			}
		}
		c.classes = slices.Insert(c.classes, i, k)
		return nil
	})
	return nil
}

// maxSteps is how many changes can be undone: what they removed is kept for it.
const maxSteps = 100

func (c *Classifier) remember(step func() error) {
	if len(c.steps) == maxSteps {
		c.steps = slices.Delete(c.steps, 0, 1)
	}
	c.steps = append(c.steps, step)
}

// Undo takes back the last change of classes or examples, as exactly as Remove removes, and
// reports whether there was one to take back. The last 100 can be; what a file held, or
// Merge brought together, can not.
func (c *Classifier) Undo() (undone bool, err error) {
	n := len(c.steps)
	if n == 0 {
		return false, nil
	}
	step := c.steps[n-1]
	c.steps = c.steps[:n-1]
	return true, step()
}

func (c *Classifier) find(label string) *class {
	for _, k := range c.classes {
		if k.label == label {
			return k
		}
	}
	return nil
}

func (c *Classifier) class(label string) (*class, error) {
	if k := c.find(label); k != nil {
		return k, nil
	}
	return nil, &qda.LabelError{Label: label, Reason: "does not exist: add it first"}
}

// otherFiles reports whether two extractors are known to be of different files.
func otherFiles(a, b model.Extractor) bool {
	return a.SHA256 != "" && b.SHA256 != "" && a.SHA256 != b.SHA256
}
