package metaqda

import (
	"math"
	"strconv"

	"metaqda/core/embed"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// Prior is the knowledge of classes before any example: a prior file, or [Default]. It does not
// change, and several classifiers may share it, in several goroutines too.
type Prior struct {
	file  *model.Prior
	sum   string // sha256 of the file, empty for [Default]
	bytes []byte // of the file
}

// DecodePrior reads a prior file, which must not change afterwards. It returns a
// *[model.FormatError] for other bytes.
func DecodePrior(file []byte) (*Prior, error) {
	p, err := model.DecodePrior(file)
	if err == nil {
		err = p.Serves()
	}
	if err != nil {
		return nil, err
	}
	return &Prior{file: p, sum: model.Sum(file), bytes: file}, nil
}

// Sum returns the sha256 of the prior's file in hexadecimal. Classifier files name the prior by
// it. It is empty for [Default].
func (p *Prior) Sum() string { return p.sum }

// Dim returns d, the length of its vectors.
func (p *Prior) Dim() int {
	d := p.file.NIW.Dim()
	if p.file.Transform.Constant != 0 {
		d--
	}
	return d
}

// Extractor returns the feature extractor of the training data, if it is known.
func (p *Prior) Extractor() Extractor { return p.file.Extractor }

// Calibrated reports whether the prior has a session model. Without one, do not rely on
// probabilities, least of all on none of these.
func (p *Prior) Calibrated() bool { return p.file.Session.Population != nil }

// Facts returns the descriptive texts in the file. They must not be changed.
func (p *Prior) Facts() map[string]string { return p.file.Facts }

// File returns the bytes of its file, made anew for [Default]. They must not be changed.
func (p *Prior) File() ([]byte, error) {
	if p.bytes != nil {
		return p.bytes, nil
	}
	return model.EncodePrior(p.file)
}

// transform stores in c.x the vector that package lda gets.
func (c *Classifier) transform(vector []float32) error { return c.transformTo(c.x, vector) }

// transformTo stores the vector as package lda gets it in dst, which is as long as c.x.
func (c *Classifier) transformTo(dst []float64, vector []float32) error {
	return c.prior.transform(dst, vector)
}

func (p *Prior) transform(dst []float64, vector []float32) error {
	d := 0
	if p != nil {
		d = p.Dim()
	}
	if d == 0 || len(vector) != d { // a damaged log may have neither prior nor vector
		return &niw.DimensionError{Name: "vector", Got: len(vector), Want: d}
	}
	for i, v := range vector {
		dst[i] = float64(v)
	}
	return p.file.Transform.ApplyTo(dst, dst[:len(vector)])
}

// options returns the options of a classifier under the prior. Standardised rows of a table are
// alike because they have few columns, not because they are frames of a burst; see Vectors of any
// kind in session/EXPERIMENTS.md.
func (p *Prior) options(s Settings) lda.Options {
	o := p.file.Session.Options()
	o.NonePrior = s.NonePrior
	if s.Scale != "" {
		o.Near, o.ByClasses = 0, tableByClasses
	}
	if t := p.file.Transform; t.Scale != nil {
		o.Filled = 1 // the constant
		for _, v := range t.Scale {
			if v != 0 {
				o.Filled++
			}
		}
	}
	return o
}

// Prior returns the prior in use, nil until the length of vectors is settled.
func (c *Classifier) Prior() *Prior {
	defer c.reading()()
	return c.prior
}

// SetPrior replaces the prior. It keeps all examples and can be undone. Without examples p may
// be nil, as for [New]. It returns a *[niw.DimensionError] if the prior is for vectors of
// another length than the examples. It costs as much as teaching all examples anew.
func (c *Classifier) SetPrior(p *Prior) error {
	defer c.writing()()
	return c.do(Entry{Do: "prior", prior: p})
}

// ReplacePrior is SetPrior that cannot be undone. On error nothing changes.
func (c *Classifier) ReplacePrior(p *Prior) error {
	defer c.writing()()
	return c.replacePrior(p)
}

func (c *Classifier) replacePrior(p *Prior) error {
	before, q, x := c.prior, c.lda, c.x
	c.version++
	if p == nil {
		if len(c.examples) > 0 {
			return &Error{Code: "prior", Message: "A classifier with examples needs a prior: give one, or remove the examples first."}
		}
		c.prior, c.lda, c.behind, c.untold = nil, nil, false, false
		return nil
	}
	if d := before; d != nil && len(c.examples) > 0 && d.Dim() != p.Dim() {
		return &niw.DimensionError{Name: "prior mean m", Got: p.Dim(), Want: d.Dim(), Remedy: "give a prior for vectors as long as the examples"}
	}
	if err := checkScale(c.settings, p); err != nil {
		return err
	}
	var err error
	if c.settings.Scale != "" && p.file.Transform.Constant == 0 {
		if p, err = p.forTables(); err != nil {
			return err
		}
	}
	fresh, err := lda.New(p.file.NIW, p.options(c.settings))
	if err != nil {
		return err
	}
	for _, k := range c.classes {
		if err := fresh.AddClass(k.ID); err != nil {
			return err
		}
	}
	known, behind := make([]int, len(c.classes)), c.behind
	for i, k := range c.classes {
		known[i] = k.known
	}
	c.prior, c.lda, c.x, c.moved = p, fresh, make([]float64, p.file.NIW.Dim()), true
	if err := c.enrolAnew(); err != nil {
		c.prior, c.lda, c.x, c.behind = before, q, x, behind
		for i, k := range c.classes {
			k.known = known[i]
		}
		return err
	}
	return nil
}

// Default is the prior for vectors without a learned prior. It scales vectors to length one, so
// that only directions count. A single number (d = 1) keeps only its sign: append a constant that
// is about as large. The prior says little about unit vectors,
//
//	m = 0, S = 0.4 I, w = 1, kappa = 3   (core/session/MODEL.md, section 1)
//
// The session's examples determine the rest: its mean, its scatter and the distances of its
// classes. Classes of two examples or more also determine w and kappa. The session model was fitted
// on pictures, texts and tables of numbers, in sessions of one example a class and of more. The
// pictures are 1,280 numbers of the built-in extractor, and 128 drawn from these. `make any-prior`
// fits the model and prints the figures.
//
// On data sets that it was not fitted on, with one, two and five examples of each of up to five
// classes:
//
//	            accuracy in %    ECE in %
//	pictures    65   74   82     11.7   5.8   2.9
//	texts       38   44   53      5.7   5.3   4.4
//	tables      74   80   85      9.1   6.6   6.5
//
// The texts are hard, and the columns of the tables are standardised. With one example a class and
// NonePrior = .2, some known queries are taken for none of the classes: 7 % of pictures, 13 % of texts
// and 7 % of tables.
//
// A classifier without a given prior uses this one, and files do not name it. It returns an
// [Error] unless d is from 1 to [model.MaxDimension]. Cost O(d).
func Default(d int) (*Prior, error) {
	file, err := DefaultFile(d)
	return &Prior{file: file}, err
}

// DefaultFile returns the content of a file of [Default], for programs that write one.
func DefaultFile(d int) (*model.Prior, error) {
	if d < 1 || d > model.MaxDimension {
		return nil, &Error{Code: "dimension", Message: "A vector of " + strconv.Itoa(d) + " numbers cannot be classified: give from 1 to " + strconv.Itoa(model.MaxDimension) + "."}
	}
	return handCrafted(d)
}

// forTables returns [Default] for standardised columns of p's length. A constant √d, which is about
// as large as the columns together, follows them. So scaling to length one does not lose how far a
// row is from the mean. [Classifier.standardise] leaves columns that do not vary out of d. Tables
// differ more in difficulty than pictures and texts, so their temperatures are their own.
func (p *Prior) forTables() (*Prior, error) {
	d := p.Dim()
	file, err := handCrafted(d + 1)
	if err == nil {
		file.Transform.Constant = math.Sqrt(float64(d))
		file.Session.Population.LogT, file.Session.Population.LogTemperature = tableLogT, tableLogTemperature
	}
	return &Prior{file: file}, err
}

// The coefficients of tables: see "The temperature of tables" in session/EXPERIMENTS.md. In a table of
// few classes the spread of their means says little about its difficulty.
const (
	tableLogT      = -1.66
	tableByClasses = 0.5
)

var tableLogTemperature = session.LogTemperature{SD: 1.2, Weight: 0.3}

func handCrafted(d int) (*model.Prior, error) {
	scale := make([]float64, d)
	for i := range scale {
		scale[i] = math.Sqrt(0.4)
	}
	s, err := niw.NewSpiked(scale, nil, nil)
	if err != nil {
		return nil, err
	}
	population := defaultPopulation
	return &model.Prior{
		NIW:       &niw.Prior{M: make([]float64, d), Kappa: 1, Spiked: s, Nu: 2 * float64(d)},
		Transform: embed.Transform{Kind: embed.L2},
		Facts:     map[string]string{"name": "Hand-crafted", "made": "by hand: m = 0, S = 0.4 I, kappa = 3, nu = 2 d, of embeddings of length one"},
		Session:   model.Session{Near: 0.15, Centre: 1.67, Spread: 1, Shared: 1, Kappa: 3, Population: &population},
	}, nil
}

// From a former fit of `make any-prior`. Later fits call more known queries none of the classes.
var defaultPopulation = session.Population{
	LogT:            -2.36,
	LeftOut:         0.458,
	LogTemperature:  session.LogTemperature{SD: 0.767, Weight: 0.174},
	CohortMean:      session.CohortMean{Mean: [2]float64{-1.39, 0.848}, SD: 0.24, Count: 3.13},
	CohortDeviation: session.CohortDeviation{SD: 0.73, Count: 5.77},
	Known:           session.Known{Threshold: session.Normal{Mean: 0.443, SD: 0.791}, Slope: session.Normal{Mean: -0.804, SD: 0.504}, Weight: 0.355, UnknownWeight: 0.355},
}
