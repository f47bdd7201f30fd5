package metaqda

import (
	"errors"
	"strconv"

	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// Save returns the bytes of a classifier file: vectors, classes, groups and settings.
// The prior is named by its sha256, not held. Equal classifiers give equal bytes. It
// returns the error of [model.Classifier.Validate], for what is more or longer than a
// file may hold.
func (c *Classifier) Save() ([]byte, error) {
	f := &model.Classifier{
		Name: c.Name, Extractor: c.extractor, PriorSum: c.sum,
		Settings: model.Settings{NonePrior: c.settings.NonePrior},
	}
	for _, k := range c.classes {
		fk := model.Class{Label: k.label, Weight: 1}
		for _, b := range k.bursts {
			for _, x := range b.examples {
				fk.Examples = append(fk.Examples, model.Example{Embedding: x.vector, Group: b.group})
			}
		}
		f.Classes = append(f.Classes, fk)
	}
	return model.EncodeClassifier(f)
}

// Export returns the bytes of a file by which other programs answer as the classifier
// does now; see [model.EncodePlain]. Classes without examples are left out; it returns
// [qda.ErrNoExamples] if that is all of them.
func (c *Classifier) Export() ([]byte, error) {
	if c.qda == nil {
		return nil, qda.ErrNoExamples
	}
	f, err := c.qda.Predictor()
	if err != nil {
		return nil, err
	}
	for i, key := range f.Labels {
		f.Labels[i] = c.classes[c.qda.Index(key)].label
	}
	return model.EncodePlain(f, c.prior.Transform, c.Name, c.extractor), nil
}

// Open returns the classifier of a file. The prior that the file names must be among the
// given ones; one that names none is opened with [Default]. It returns a
// *[model.FormatError] for bytes that are no such file, and an [Error] with the code
// "prior" where the prior is missing, which names its sha256.
func Open(file []byte, priors ...*Prior) (*Classifier, error) {
	f, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, err
	}
	for _, p := range priors {
		if p.sum == f.PriorSum {
			return opened(f, p)
		}
	}
	if f.PriorSum != "" {
		return nil, &Error{Code: "prior", Message: "This classifier was taught under the prior with sha256 " + f.PriorSum + ": hand its file over as the option prior."}
	}
	return opened(f, nil)
}

// OpenUnder returns the classifier of a file under another prior than it names, nil for
// [Default]. Its errors are those of Open and of Add.
func OpenUnder(file []byte, prior *Prior) (*Classifier, error) {
	f, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, err
	}
	return opened(f, prior)
}

func opened(f *model.Classifier, prior *Prior) (*Classifier, error) {
	c, err := New(Settings{NonePrior: f.Settings.NonePrior}, prior)
	if err != nil {
		return nil, err
	}
	c.Name, c.extractor = f.Name, f.Extractor
	for i := range f.Classes {
		if err := c.teach(&f.Classes[i]); err != nil {
			return nil, err
		}
	}
	c.steps = nil
	return c, nil
}

// teach adds what a file holds of a class, to a class of its label where there is one.
func (c *Classifier) teach(k *model.Class) error {
	if c.find(k.Label) == nil {
		if _, err := c.addClass(k.Label); err != nil {
			return err
		}
	}
	for _, x := range k.Examples {
		if _, err := c.Add(k.Label, x.Group, x.Embedding); err != nil {
			return err
		}
	}
	return nil
}

// Merge returns a new classifier with what both were taught, under the prior and the
// settings of the first. Classes of one label become one. Groups of different
// classifiers stay apart whatever their names. It returns an [Error] where the feature
// extractors differ, a *[niw.DimensionError] where the lengths of vectors do.
func Merge(a, b *Classifier) (*Classifier, error) {
	if a.extractor.ID != "" && a.extractor.ID == b.extractor.ID && otherFiles(a.extractor, b.extractor) {
		return nil, &Error{Code: "extractor", Message: "The two classifiers were taught with different files of the feature extractor " + strconv.Quote(a.extractor.ID) +
			" (sha256 " + a.extractor.SHA256 + " and " + b.extractor.SHA256 + "): their numbers mean different things."}
	}
	if a.extractor.ID != "" && b.extractor.ID != "" && a.extractor.ID != b.extractor.ID {
		return nil, &Error{Code: "extractor", Message: "One classifier was taught with the feature extractor " + strconv.Quote(a.extractor.ID) +
			", the other with " + strconv.Quote(b.extractor.ID) + ": their numbers mean different things."}
	}
	var prior *Prior
	if a.sum != "" {
		prior = &Prior{file: a.prior, sum: a.sum}
	}
	c, err := New(a.settings, prior)
	if err != nil {
		return nil, err
	}
	c.Name, c.extractor = a.Name, a.extractor
	if c.extractor.ID == "" {
		c.extractor = b.extractor
	}
	for n, from := range []*Classifier{a, b} {
		for _, k := range from.classes {
			fk := model.Class{Label: k.label, Weight: 1}
			for _, x := range k.bursts {
				group := x.group
				for n == 1 && group != "" && a.hasGroup(k.label, group) {
					group += "'"
				}
				for _, e := range x.examples {
					fk.Examples = append(fk.Examples, model.Example{Embedding: e.vector, Group: group})
				}
			}
			if err := c.teach(&fk); err != nil {
				return nil, err
			}
		}
	}
	c.steps = nil
	return c, nil
}

func (c *Classifier) hasGroup(label, group string) bool {
	k := c.find(label)
	if k == nil {
		return false
	}
	b, _ := k.at(group)
	return b != nil
}

func key(n uint32) string { return strconv.FormatUint(uint64(n), 36) }

// Error is a refusal with a short code for programs; [Code] lists them.
type Error struct {
	Code    string
	Message string // a sentence with the remedy
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Code returns a short word for an error of this package or of those below it, or for
// the first such that it wraps:
//
//	dimension   a vector of another length
//	value       a number that is not finite or out of its domain
//	label       a class that there is not, or a name that cannot be one
//	example     an example that there is not
//	limit       more classes or examples than a classifier holds
//	empty       no class has an example
//	extractor   vectors of another feature extractor
//	prior       the prior that a file names is not given
//	format      bytes that are no such file
//	older       a file of a version that is not read any more
//	disposed    a [Batch] that was given up
//	failed      anything else
func Code(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		switch e := err.(type) {
		case *Error:
			return e.Code
		case *niw.DimensionError:
			return "dimension"
		case *niw.ValueError:
			return "value"
		case *qda.LabelError:
			return "label"
		case *qda.ExampleError:
			return "example"
		case *model.FormatError:
			if e.Older {
				return "older"
			}
			return "format"
		}
		if err == qda.ErrNoExamples {
			return "empty"
		}
	}
	return "failed"
}
