package metaqda

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"metaqda/core/anomaly"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// Save returns the bytes of a classifier file: vectors, classes, groups, thumbnails and
// settings. The file has the sha256 of the prior, not the prior. Equal classifiers give equal
// bytes. It returns [model.ErrLong] for texts that take more than a file holds.
func (c *Classifier) Save() ([]byte, error) { return model.EncodeClassifier(c.File()) }

// File returns the content that Save writes. Vectors and thumbnails must not be changed.
func (c *Classifier) File() *model.Classifier {
	defer c.reading()()
	f := &model.Classifier{
		Name: c.Name, Extractor: c.Extractor,
		Settings: model.Settings{NonePrior: c.settings.NonePrior, Scale: c.settings.Scale, Actions: c.actions},
	}
	if c.prior != nil {
		f.PriorSum = c.prior.sum
	}
	for _, k := range c.classes {
		fk := model.Class{Label: k.Label, Actions: k.Actions}
		for _, x := range k.list() {
			fk.Examples = append(fk.Examples, model.Example{Embedding: x.Vector, Thumbnail: x.Thumbnail, Group: x.Group})
		}
		f.Classes = append(f.Classes, fk)
	}
	return f
}

// ClassesOf returns the classes of a file, without ids, for [Classifier.Load].
func ClassesOf(f *model.Classifier) []Class {
	all := make([]Class, len(f.Classes))
	for i, k := range f.Classes {
		all[i] = Class{Label: k.Label, Order: float64(i + 1), Actions: k.Actions}
		for j, x := range k.Examples {
			all[i].Examples = append(all[i].Examples, &Example{Order: float64(j + 1), Group: x.Group, Vector: x.Embedding, Thumbnail: x.Thumbnail})
		}
	}
	return all
}

// Export returns a file that gives other programs the answers of the classifier as it is now; see
// [model.EncodePlain]. Classes without examples are left out. Without any example it returns
// [lda.ErrNoExamples].
func (c *Classifier) Export() ([]byte, error) {
	defer c.writing()()
	if err := c.settle(); err != nil {
		return nil, err
	}
	f, err := c.lda.Predictor()
	if err != nil {
		return nil, err
	}
	for i, id := range f.Labels {
		f.Labels[i] = c.ids[id].Label
	}
	return model.EncodePlain(f, c.prior.file.Transform, c.Name, c.Extractor), nil
}

// Open returns the classifier of a file. The given priors must include the one that the file
// names; a file without one is opened with [Default]. It returns a *[model.FormatError] for
// other bytes. If the prior is missing, it returns an [Error] with the code "prior", which names
// the sha256. The first answer takes longer, as after [Classifier.Load].
func Open(file []byte, priors ...*Prior) (*Classifier, error) {
	f, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, err
	}
	for _, p := range priors {
		if p != nil && p.sum == f.PriorSum {
			return opened(f, p)
		}
	}
	if f.PriorSum != "" {
		return nil, &Error{Code: "prior", Message: "This classifier was taught under the prior with sha256 " + f.PriorSum + ": hand its file over as the option prior."}
	}
	return opened(f, nil)
}

// OpenUnder returns the classifier of a file under a prior of the caller's choice, nil for
// [Default]. Its errors are those of Open and of Add. It returns an [Error] with the code "extractor" if
// the prior was learned from vectors of another feature extractor than the file's.
func OpenUnder(file []byte, prior *Prior) (*Classifier, error) {
	f, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, err
	}
	if prior != nil {
		made, of := prior.file.Extractor, f.Extractor
		if made.ID != "" && of.ID != "" && !made.Serves(of) {
			return nil, &Error{Code: "extractor", Message: "The prior was learned from vectors of the feature extractor " + strconv.Quote(made.ID) +
				", and the file has vectors of " + strconv.Quote(of.ID) + ": give the prior that the file was saved under, or another one for its extractor."}
		}
	}
	return opened(f, prior)
}

func opened(f *model.Classifier, prior *Prior) (*Classifier, error) {
	c, err := New(Settings{NonePrior: f.Settings.NonePrior, Scale: f.Settings.Scale}, prior)
	if err != nil {
		return nil, err
	}
	c.Name, c.actions = f.Name, f.Settings.Actions
	if f.Extractor.ID != "" {
		c.Extractor = f.Extractor // or else the prior's
	}
	return c, c.Load(ClassesOf(f), nil)
}

// Merge returns a new classifier with the examples of both, under the prior and the settings of
// the first. Classes with the same label become one. Groups of the two classifiers stay apart,
// even if their names are equal. It returns an [Error] if the feature extractors differ, and a
// *[niw.DimensionError] if the lengths of vectors do. It returns an [Error] with the code
// "argument" if one of the two is nil. The first answer takes longer, as after [Classifier.Load].
func Merge(a, b *Classifier) (*Classifier, error) {
	if a == nil || b == nil {
		return nil, &Error{Code: "argument", Message: "Two classifiers can be merged, and one of these is nil: open or make it first."}
	}
	a, err := a.Clone() // from now on no other goroutine changes them
	if err == nil {
		b, err = b.Clone()
	}
	if err == nil {
		err = sameExtractor(a.Extractor, b.Extractor)
	}
	if err != nil {
		return nil, err
	}
	c, err := New(a.settings, nil)
	if a.prior != nil && a.prior.sum != "" {
		c, err = New(a.settings, a.prior)
	}
	if err != nil {
		return nil, err
	}
	c.Name, c.Extractor, c.Reserve, c.actions = a.Name, a.Extractor, a.Reserve, cmp.Or(a.actions, b.actions)
	if c.Extractor.ID == "" {
		c.Extractor = b.Extractor
	}
	all := ClassesOf(a.File())
	groups := map[*class]map[string]bool{} // of the classes that get examples of b
	for i, k := range ClassesOf(b.File()) {
		into := a.find(k.Label)
		if into == nil {
			all = append(all, k)
			continue
		}
		to := &all[slices.Index(a.classes, into)]
		to.Actions = cmp.Or(to.Actions, k.Actions)
		if groups[into] == nil {
			groups[into] = into.groups()
		}
		for group := groupsApart(groups[into], b.classes[i]); len(k.Examples) > 0; k.Examples = k.Examples[1:] {
			x := k.Examples[0]
			x.Group, x.Order = group[x.Group], float64(len(to.Examples)+1)
			to.Examples = append(to.Examples, x)
		}
	}
	for i := range all {
		all[i].Order = float64(i + 1)
	}
	return c, c.Load(all, nil)
}

// Error has a short code for programs; [Code] lists them.
type Error struct {
	Code    string
	Message string // a sentence with the remedy
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Code returns the code of an error of this package or its subpackages, or of the first such
// error that err wraps:
//
//	dimension   a vector of another length
//	value       a number that is not finite or outside its domain
//	label       an unknown class, or a name that cannot be a label
//	class       a class that is gone, or that already has the example
//	example     an unknown example, or one that is in another class already
//	undo        a step that cannot be undone
//	argument    an index out of range, or another impossible argument
//	classes     several classes, where [Classifier.Anomaly] takes one
//	few         too few examples for [Classifier.Anomaly]
//	limit       more classes, examples or text than a classifier or its file holds
//	memory      more memory than [Classifier.Reserve] grants
//	empty       no class has an example
//	extractor   vectors of another feature extractor
//	prior       the prior that a file names, or that vectors need, is not given
//	format      bytes that are no such file
//	older       a file of a version that is no longer read
//	disposed    a [Batch] that was given up
//	failed      anything else, and nil
func Code(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		switch e := err.(type) {
		case *Error:
			return e.Code
		case *anomaly.FewError:
			return "few"
		case *anomaly.CellsError:
			return "argument"
		case *niw.DimensionError:
			return "dimension"
		case *niw.ValueError:
			return "value"
		case *lda.LabelError:
			return "label"
		case *lda.ExampleError:
			return "example"
		case *model.FormatError:
			if e.Older {
				return "older"
			}
			return "format"
		}
		if err == lda.ErrNoExamples {
			return "empty"
		}
		if err == model.ErrLong {
			return "limit"
		}
	}
	return "failed"
}
