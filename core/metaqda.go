// Package metaqda is few-shot classification in one import: named classes with a few
// examples each, how probable each of them is, and how probable it is that it is none
// of them; what that is taken for, undo and redo, leaving out, batches, files and
// merging. The npm package and the page are this one behind JavaScript.
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
	"strconv"
	"sync"

	"metaqda/core/model"
	"metaqda/core/qda"
)

// Settings are what the caller knows beforehand. With the zero value the set is closed: a
// vector is always of one of the classes.
type Settings struct {
	NonePrior float64 // prior probability that a vector is of none of the classes, in [0, 1)

	// Scale is empty, or "standardise" for columns of a table: each number is taken less
	// the mean of the examples' and over their standard deviation, as it is after every
	// change, so that the first answer after one costs that of teaching all examples
	// anew. A number that does not vary among the examples says nothing. Only under
	// [Default]; set once, by New.
	Scale string
}

// Extractor names the feature extractor that vectors are of.
type Extractor = model.Extractor

// Classifier holds what was taught: C classes with N examples in all, vectors of one
// length d. It is made by [New], [Open], [OpenUnder] or [Merge]; its zero value is that
// of New with zero [Settings] and no prior.
//
// Several goroutines may use one classifier at once. Predictions run beside each other and wait
// for what teaches; the first one after a change computes what all need. Changed, NewID, Reserve and the
// function given to Prepare are called while others wait: they must not call the classifier. The
// exported fields are to be set before others use it.
type Classifier struct {
	Name      string                // written into files
	Extractor Extractor             // of the vectors, written into files; [Classifier.Identify] checks it
	NewID     func() string         // gives ids that are new to this classifier; nil counts
	Changed   func(Change)          // hears of every change of classes and examples; nil: nobody
	Reserve   func(bytes int) error // is asked before a call takes memory: an error refuses the call; nil grants all
	Lazy      bool                  // many examples that come at once are enrolled in [Classifier.Prepare], or with the first answer

	mu       sync.RWMutex // of all that follows
	settings Settings
	prior    *Prior          // nil until the dimension is known
	qda      *qda.Classifier // knows the classes by their ids
	classes  []*class        // in their order
	ids      map[string]*class
	examples map[string]*Example
	behind   bool     // the densities do not know all examples, see enrol.go
	bulk     bool     // several changes are being made, see [Classifier.followAll]
	late     []*class // that have changed in bulk
	loading  bool     // labels are taken as they are
	last     uint64   // id given last
	top      float64  // the largest order that a class has had
	moved    bool     // examples have changed since columns were standardised
	journal  journal
	x        []float64 // scratch of length d
}

// New returns a classifier without classes. prior may be nil: then the first vector
// settles d, and [Default] serves. It returns a *[niw.ValueError] for a NonePrior out of
// its domain, and an [Error] with the code "value" for a Scale that there is not.
func New(s Settings, prior *Prior) (*Classifier, error) {
	c := &Classifier{settings: s}
	if err := checkScale(s, prior); err != nil {
		return nil, err
	}
	o := qda.Options{Shared: 1, Kappa: 1, NonePrior: s.NonePrior}
	if err := o.Validate(); err != nil || prior == nil {
		return c, err
	}
	c.Extractor = prior.file.Extractor
	return c, c.ReplacePrior(prior)
}

// Configure changes the settings, or none of them on error: a *[niw.ValueError] for a
// NonePrior out of its domain, an [Error] with the code "value" for another Scale than that
// of [New]. It can not be undone. Cost O(1).
func (c *Classifier) Configure(s Settings) error {
	defer c.writing()()
	o := qda.Options{Shared: 1, Kappa: 1, NonePrior: s.NonePrior}
	err := o.Validate()
	if s.Scale != c.settings.Scale {
		err = &Error{Code: "value", Message: "The scale of a classifier is settled when it is made: make another one."}
	}
	if c.qda != nil && err == nil {
		err = c.qda.SetOptions(c.prior.options(s))
	}
	if err == nil {
		c.settings = s
	}
	return err
}

// Settings returns those in force.
func (c *Classifier) Settings() Settings {
	defer c.reading()()
	return c.settings
}

// Dim returns d, the length of vectors, 0 while the first one has not settled it.
func (c *Classifier) Dim() int {
	defer c.reading()()
	return c.dim()
}

func (c *Classifier) dim() int {
	if c.prior == nil {
		return 0
	}
	return c.prior.Dim()
}

// Len returns C, the number of classes.
func (c *Classifier) Len() int {
	defer c.reading()()
	return len(c.classes)
}

// Count returns N, the number of examples.
func (c *Classifier) Count() int {
	defer c.reading()()
	return len(c.examples)
}

// Identify tells which feature extractor gives the vectors. It returns an [Error] if
// what is taught, or the prior, is of another one, or of other files of the same name. A
// prior serves variants of its extractor, see [model.Extractor.Serves].
func (c *Classifier) Identify(x Extractor) error {
	defer c.writing()()
	serves := len(c.examples) == 0 && c.Extractor.ID != x.ID && c.Extractor.Serves(x) // the prior does, and nothing is taught
	if err := sameExtractor(c.Extractor, x); err != nil && !serves {
		return err
	}
	if x.SHA256 == "" && !serves {
		x.SHA256 = c.Extractor.SHA256 // what is known of it stays known
	}
	c.Extractor = x
	return nil
}

// sameExtractor returns why vectors of two extractors mean other things, nil where they do
// not as far as is known.
func sameExtractor(a, b Extractor) error {
	const other = ": their numbers mean different things."
	switch {
	case a.ID == "" || b.ID == "":
	case a.ID != b.ID:
		return &Error{Code: "extractor", Message: "The prior or the examples are of the feature extractor " + strconv.Quote(a.ID) + ", not of " + strconv.Quote(b.ID) + other}
	case a.SHA256 != "" && b.SHA256 != "" && a.SHA256 != b.SHA256:
		return &Error{Code: "extractor", Message: "There are different files of the feature extractor " + strconv.Quote(a.ID) +
			" (sha256 " + a.SHA256 + " and " + b.SHA256 + ")" + other}
	}
	return nil
}

// Clone returns another classifier that was taught the same and answers the same, for
// another goroutine or for a question that takes long: neither hears of changes of the
// other, and no change of before can be undone in the clone. Cost O(N); its first answer
// costs that of teaching all of it.
func (c *Classifier) Clone() (*Classifier, error) {
	defer c.reading()()
	other := &Classifier{Name: c.Name, Lazy: true, Reserve: c.Reserve, Extractor: c.Extractor, settings: c.settings}
	err := other.ReplacePrior(c.prior)
	if err == nil {
		err = other.Load(c.copies())
	}
	other.Lazy = c.Lazy
	return other, err
}
