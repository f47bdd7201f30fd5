// Package metaqda is few-shot classification in one import. It holds named classes with a few
// examples each. It predicts the probability of each class, and of none of them. It also decides,
// undoes and redoes, leaves examples out, predicts batches, reads and writes files, and merges
// classifiers. The npm package and the page call this package from JavaScript.
//
// Vectors are the unchanged output of a feature extractor; the prior says how to transform them.
// Examples of a class with the same group are frames of one burst. They count as one example, their
// mean.
//
// The package does not learn priors: metaqda/core/lab/metatrain/recipe does. It does not compare
// methods: metaqda/core/lab/experiment has the protocols. The examples show both. Packages
// metaqda/core/niw, lda and session hold the densities, classes and probabilities.
package metaqda

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"metaqda/core/anomaly"
	"metaqda/core/lda"
	"metaqda/core/model"
)

// Settings hold the caller's prior knowledge. With the zero value the set is closed: a vector
// always belongs to one of the classes.
type Settings struct {
	NonePrior float64 // prior probability that a vector is of none of the classes, in [0, 1)

	// Scale is empty, or "standardise" for rows of a table. Then each column is centred on the mean of
	// the examples and divided by their standard deviation. If no example has a negative number, large
	// numbers are first drawn together, nearly as by a logarithm. With few examples the deviation is shrunk
	// toward one predicted from the size of the column's numbers. Then columns of larger numbers count
	// somewhat more. A column that does not vary becomes zero. A constant √d is added as a last column. So
	// the distance of a row from the mean still counts after rows are scaled to length one.
	//
	// Mean and deviation are computed anew after every change, so the first answer then costs as much
	// as teaching all examples anew. Rows that are judged together count in them as examples do.
	// Similar rows are never taken for near-copies; the frames of a group still count as one example.
	// Scale works only under [Default]. [Classifier.Configure] cannot change it.
	Scale string
}

// Extractor names the feature extractor that made the vectors.
type Extractor = model.Extractor

// Classifier holds C classes with N examples in all, vectors of one length d. [New], [Open],
// [OpenUnder] or [Merge] make it. Its zero value equals the result of New for zero [Settings] and no
// prior.
//
// Several goroutines may use one classifier at once. Predictions run beside each other and wait
// for changes; the first prediction after a change computes shared state for all. Changed,
// Logged, NewID, Reserve and the function given to Prepare are called under the lock: they must not
// call the classifier. Several goroutines may call Reserve at once, since clones and batches do so,
// too. Set the exported fields before others use it.
type Classifier struct {
	Name      string                // written into files
	Extractor Extractor             // of the vectors, written into files; [Classifier.Identify] checks it
	NewID     func() string         // returns ids new to this classifier; nil counts up
	Changed   func(Change)          // is called after every change of classes and examples, unless nil
	Logged    func(Command)         // is called after every change of the undo history, unless nil
	Reserve   func(bytes int) error // is called before a call takes memory: an error refuses the call; nil grants all
	Lazy      bool                  // if many examples come at once, the densities get them in [Classifier.Prepare], or with the first answer

	mu       sync.RWMutex // guards all that follows
	settings Settings
	prior    *Prior          // nil until the dimension is known
	lda      *lda.Classifier // knows the classes by their ids
	classes  []*class        // in their order
	ids      map[string]*class
	folds    map[string][]*class // by labels as [model.FoldLabel] leaves them
	alike    map[string]bool     // folded labels of which Load brought several
	examples map[string]*Example
	behind   bool      // the densities do not know all examples, see enrol.go
	untold   bool      // the sizes of bursts are to be counted and reported
	bulk     bool      // several changes are being made, see [Classifier.endBulk]
	late     []*class  // classes changed in bulk
	adding   *Bulk     // whose examples are being added
	actions  string    // of none of these
	loading  bool      // labels are taken as they are, and examples are enrolled in Prepare
	later    bool      // examples are enrolled in Enrol or Prepare
	fitted   bool      // vectors that are put were checked
	last     uint64    // last id given
	top      float64   // largest order of a class so far
	version  uint64    // changes with everything that answers depend on
	moved    bool      // examples changed since columns were standardised
	beside   []float32 // rows of a batch, which tell the means and deviations of columns, too
	journal  journal
	scores   *scores                     // of [Classifier.Scores], nil until they are asked for
	need     *needed                     // of [Classifier.Needs], nil until it is asked for
	near     float64                     // correlation length when bursts were last reported
	cells    map[string]*anomaly.Picture // by example, see [Classifier.SetCells]; also of examples that undo brings back
	normal   *anomaly.Model              // of version normalOf, nil if cells were set since
	normalOf uint64
	x        []float64 // scratch of length d
}

// New returns a classifier without classes. prior may be nil: then the first vector settles d,
// and [Default] serves. It returns a *[niw.ValueError] for a NonePrior outside its domain, and
// an [Error] with the code "value" for an unknown Scale.
func New(s Settings, prior *Prior) (*Classifier, error) {
	c := &Classifier{settings: s}
	if err := checkScale(s, prior); err != nil {
		return nil, err
	}
	o := lda.Options{Shared: 1, Kappa: 1, NonePrior: s.NonePrior}
	if err := o.Validate(); err != nil || prior == nil {
		return c, err
	}
	c.Extractor = prior.file.Extractor
	return c, c.ReplacePrior(prior)
}

// Configure changes the settings. It returns a *[niw.ValueError] for a NonePrior outside its
// domain, and an [Error] with the code "value" for another Scale than [New] got. On error nothing
// changes. It cannot be undone. Cost O(1).
func (c *Classifier) Configure(s Settings) error {
	defer c.writing()()
	o := lda.Options{Shared: 1, Kappa: 1, NonePrior: s.NonePrior}
	err := o.Validate()
	if s.Scale != c.settings.Scale {
		err = &Error{Code: "value", Message: "The scale of a classifier cannot change: make another classifier."}
	}
	if c.lda != nil && err == nil {
		err = c.lda.SetOptions(c.prior.options(s))
	}
	if err == nil {
		c.settings = s
		c.version++
	}
	return err
}

// Settings returns the current settings.
func (c *Classifier) Settings() Settings {
	defer c.reading()()
	return c.settings
}

// Dim returns d, the length of vectors, or 0 before the first one settles it.
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

// Identify sets the feature extractor of the vectors. It returns an [Error] if the
// examples or the prior come from another one, or from other files of the same name. A prior
// serves variants of its extractor, see [model.Extractor.Serves].
func (c *Classifier) Identify(x Extractor) error {
	defer c.writing()()
	serves := len(c.examples) == 0 && c.Extractor.ID != x.ID && c.Extractor.Serves(x) // the prior serves it, and nothing is taught
	if err := sameExtractor(c.Extractor, x); err != nil && !serves {
		return err
	}
	if x.SHA256 == "" && !serves {
		x.SHA256 = c.Extractor.SHA256 // keep the known hash
	}
	c.Extractor = x
	return nil
}

// sameExtractor returns an error if two extractors are known to differ, else nil.
func sameExtractor(a, b Extractor) error {
	const other = ": their numbers mean different things, so use one for all vectors."
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

// Clone returns a classifier with the same classes and the same answers, to the bit, for another
// goroutine or for long work. Changes of one do not reach the other, and the clone has no undo
// history. Both share large parts until one of them changes these. Cost O(N+C), and one copy of the
// densities with the first change of either.
func (c *Classifier) Clone() (*Classifier, error) {
	defer c.writing()()
	return c.clone()
}

// clone is Clone for a caller that holds the lock.
func (c *Classifier) clone() (*Classifier, error) {
	if err := c.reserve(c.cloning()); err != nil {
		return nil, err
	}
	other := &Classifier{
		Name: c.Name, Extractor: c.Extractor, Reserve: c.Reserve, Lazy: c.Lazy,
		settings: c.settings, actions: c.actions, prior: c.prior, ids: make(map[string]*class, len(c.classes)), folds: make(map[string][]*class, len(c.classes)), alike: maps.Clone(c.alike), examples: make(map[string]*Example, len(c.examples)),
		behind: c.behind, untold: c.untold, last: c.last, top: c.top, version: c.version, moved: c.moved, near: c.near, cells: maps.Clone(c.cells), normal: c.normal, normalOf: c.normalOf, x: make([]float64, len(c.x)),
	}
	maps.Copy(other.examples, c.examples)
	if c.lda != nil {
		other.lda = c.lda.Clone()
	}
	classes := make([]class, len(c.classes))
	units, frames := make([]unit, 0, len(c.examples)), make([]*Example, 0, len(c.examples))
	for j, k := range c.classes {
		own := &classes[j]
		*own = *k
		own.Bursts, own.units, own.named = slices.Clone(k.Bursts), make([]*unit, len(k.units)), nil
		for i, u := range k.units {
			first := len(frames)
			frames = append(frames, u.frames...)
			units = append(units, unit{u.group, frames[first:len(frames):len(frames)]})
			own.units[i] = &units[len(units)-1]
			own.name(own.units[i])
		}
		other.classes, other.ids[k.ID] = append(other.classes, own), own
		other.folds[k.folded] = append(other.folds[k.folded], own)
	}
	return other, nil
}
