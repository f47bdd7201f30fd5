package model

import (
	"math"
	"slices"
	"unicode/utf8"

	"metaqda/core/json"
)

// Classifier is the content of a classifier file: the examples of each class, as raw embeddings.
// With any prior, the classifier can be made from them again. The file holds the tensors embeddings
// (N×d, F32) and class (N, I32, an index into the labels). If there are pictures, it holds
// thumbnails (all bytes one after the other, U8) and thumbnail_end (N, I64, where each ends). If
// there are groups, it holds group (N, I32, an index into the list of their names in the metadata,
// -1 for no group).
type Classifier struct {
	Name      string
	Extractor Extractor
	PriorSum  string // sha256 of the prior file in use
	Settings  Settings
	Classes   []Class
	Unchecked bool // it comes from a file of version 1, which has no checksum
}

// Class is one class with its examples.
type Class struct {
	Label    string
	Actions  string // run when it comes or goes, see [Settings]
	Examples []Example
}

// Example is one raw embedding of length d with the bytes of its thumbnail, an
// encoded picture, which may be empty. Examples of a class that name the same group
// are frames of one burst; the empty one is no group.
type Example struct {
	Embedding []float32
	Thumbnail []byte
	Group     string
}

// Settings are the choices that make predictions from examples. Older files also have `inference`
// and `pooled`, which are ignored.
type Settings struct {
	NonePrior float64 `json:"nonePrior"`
	Scale     string  `json:"scale,omitempty"` // [Standardise] or empty
	Sort      string  `json:"sort,omitempty"`  // of the view

	// Actions are run when none of these comes or goes; a class has its own. Only the page reads
	// this text.
	Actions string `json:"actions,omitempty"`
}

// Standardise, as Settings.Scale, subtracts the mean of the examples from each number of a vector and
// divides by their standard deviation, partly guessed if they are few. Numbers that are never negative
// first lose their long tail. It appends a constant.
const Standardise = "standardise"

// MaxClasses and MaxExamples are the most that a classifier holds.
const (
	MaxClasses  = 2000
	MaxExamples = 20000
)

// MaxActions is the length of the longest actions, in bytes: room for two recordings of four
// seconds and more. MaxAllActions bounds all actions of a classifier together: half of what the
// header of a file holds.
const (
	MaxActions    = 512 << 10
	MaxAllActions = 4 << 20
)

// Validate checks that there are not too many classes and examples, and that settings are in their
// domains. Labels must be distinct and as [CleanLabel] leaves them, groups UTF-8, embeddings finite
// and of one length.
func (c *Classifier) Validate() error {
	d, err := c.validateFrame()
	if err != nil {
		return err
	}
	for _, k := range c.Classes {
		for i := range k.Examples {
			if err := checkExample(&k, i, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// validateFrame is [Classifier.Validate] without checks of groups and of the numbers of embeddings.
// It returns the length of embeddings, 0 if there are none.
func (c *Classifier) validateFrame() (d int, err error) {
	if s := c.Settings.Scale; s != "" && s != Standardise {
		return 0, fail("its scale is ", s, ", want ", Standardise, " or nothing")
	}
	if !(c.Settings.NonePrior >= 0 && c.Settings.NonePrior < 1) {
		return 0, fail("its prior probability of none of these is ", c.Settings.NonePrior, ", want a number from 0 to below 1")
	}
	if len(c.Classes) > MaxClasses {
		return 0, fail("it has ", len(c.Classes), " classes, the most allowed is ", MaxClasses, ": divide it into several")
	}
	n := 0
	for _, k := range c.Classes {
		n += len(k.Examples)
	}
	if n > MaxExamples {
		return 0, fail("it has ", n, " examples, the most allowed is ", MaxExamples, ": divide it into several")
	}
	if err := c.validateActions(); err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, k := range c.Classes {
		clean, err := CleanLabel(k.Label)
		switch {
		case err != nil:
			return 0, fail("its class label ", shortened(k.Label), " ", err)
		case clean != k.Label:
			return 0, fail("its class label ", shortened(k.Label), " is not in the form that this program writes: ", quoted(clean))
		case seen[k.Label]:
			return 0, fail("its class label ", quoted(k.Label), " stands twice")
		}
		seen[k.Label] = true
		if d == 0 && len(k.Examples) > 0 {
			d = len(k.Examples[0].Embedding)
		}
	}
	return d, nil
}

// validateActions checks that actions are text, and not too long.
func (c *Classifier) validateActions() error {
	all := len(c.Settings.Actions)
	err := CheckActions(c.Settings.Actions)
	for i := 0; i < len(c.Classes) && err == nil; i++ {
		all += len(c.Classes[i].Actions)
		err = CheckActions(c.Classes[i].Actions)
	}
	if err == nil && all > MaxAllActions {
		err = fail("are too long: at most ", MaxAllActions, " bytes for all classes together")
	}
	if err != nil {
		return fail("its actions ", err)
	}
	return nil
}

// CheckActions returns an error for actions that are not UTF-8, or too long. It says what is wrong
// with them in the form "are too long".
func CheckActions(text string) error {
	switch {
	case len(text) > MaxActions:
		return fail("are too long: at most ", MaxActions, " bytes for one class")
	case !utf8.ValidString(text):
		return fail("are not UTF-8")
	}
	return nil
}

// checkExample checks an example of a class.
func checkExample(k *Class, i, d int) error {
	err := checkEmbedding(k.Examples[i].Embedding, d)
	if group := k.Examples[i].Group; err == nil && !utf8.ValidString(group) {
		err = fail("the group ", shortened(group), " is not UTF-8")
	}
	if err != nil {
		return fail("example ", i, " of its class ", quoted(k.Label), ": ", err)
	}
	return nil
}

func checkEmbedding(x []float32, d int) error {
	if len(x) != d || d == 0 || d > MaxDimension {
		return fail("length ", len(x), ", want ", d)
	}
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fail("number ", i, " is ", float64(v))
		}
	}
	return nil
}

// shortened quotes the beginning of a label.
func shortened(label string) quoted { return quoted(label[:min(len(label), 20)]) }

// DecodeClassifier reads a classifier file. For any bytes it returns a valid classifier or a
// *[FormatError].
func DecodeClassifier(b []byte) (*Classifier, error) {
	tensors, metadata, err := decodeTensors(b)
	_, summed := metadata[checksumKey]
	former := metadata["version"] == "1" && !summed // with labels of any length
	switch {
	case err != nil:
	case former && metadata["format"] == classifierFormat:
	default:
		err = checkFormat(tensors, metadata, classifierFormat, classifierVersion, "teach it again")
	}
	var c *Classifier
	if err == nil {
		c, err = decodeClassifier(tensors, metadata, former)
	}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return nil, formatError("classifier", err)
	}
	return c, nil
}

func decodeClassifier(tensors map[string]tensor, metadata map[string]string, former bool) (*Classifier, error) {
	c := &Classifier{Name: metadata["name"], PriorSum: metadata["prior"], Unchecked: former}
	err := fromMetadata(metadata, "extractor", c.Extractor.Code)
	if err == nil {
		err = fromMetadata(metadata, "settings", c.Settings.code)
	}
	if err == nil {
		c.Classes, err = readClasses(metadata)
	}
	if err != nil {
		return nil, err
	}
	if len(c.Classes) > MaxClasses {
		return nil, fail("it has ", len(c.Classes), " classes, the most allowed is ", MaxClasses)
	}
	if former {
		labels := make([]string, len(c.Classes))
		for i, k := range c.Classes {
			labels[i] = k.Label
		}
		for i, label := range RepairLabels(labels) {
			c.Classes[i].Label = label
		}
	}
	for name := range tensors {
		if !slices.Contains(classifierTensors, name) {
			return nil, fail("it has a tensor ", quoted(name), ", which is of no classifier")
		}
	}
	examples, err := decodeExamples(tensors)
	if err != nil {
		return nil, err
	}
	if err := decodeGroups(examples, tensors, metadata); err != nil {
		return nil, err
	}
	index, err := tensors["class"].ints()
	if err != nil || len(index) != len(examples) {
		return nil, fail("its numbers of embeddings and class indices differ, ", len(examples), " and ", len(index))
	}
	for i, j := range index {
		if j < 0 || j >= len(c.Classes) {
			return nil, fail("the class index of its example ", i, " is ", j, ", want a number from 0 to below ", len(c.Classes))
		}
		c.Classes[j].Examples = append(c.Classes[j].Examples, examples[i])
	}
	return c, nil
}

var classifierTensors = []string{"embeddings", "class", "thumbnails", "thumbnail_end", "group"}

// decodeExamples reads embeddings and thumbnails.
func decodeExamples(tensors map[string]tensor) ([]Example, error) {
	t, ok := tensors["embeddings"]
	if !ok || len(t.shape) != 2 || t.dtype != "F32" {
		return nil, fail("the tensor \"embeddings\" is missing, or not F32 of two axes")
	}
	n, d := t.shape[0], t.shape[1]
	if n > MaxExamples || d > MaxDimension {
		return nil, fail("it has ", n, " examples of ", d, " numbers, the most allowed are ", MaxExamples, " of ", MaxDimension)
	}
	values, err := t.floats()
	if err != nil {
		return nil, err
	}
	if n > 0 && d == 0 || n > len(values) {
		return nil, fail("its embeddings have no numbers")
	}
	examples := make([]Example, n)
	for i := range examples {
		x := make([]float32, d)
		for j := range x {
			x[j] = float32(values[i*d+j])
		}
		examples[i].Embedding = x
	}
	return examples, decodeThumbnails(examples, tensors)
}

func decodeThumbnails(examples []Example, tensors map[string]tensor) error {
	t, ok := tensors["thumbnails"]
	if !ok {
		return nil
	}
	ends, err := tensors["thumbnail_end"].ints()
	if err != nil || len(ends) != len(examples) || t.dtype != "U8" {
		return fail("it has thumbnails that belong to no example")
	}
	from := 0
	for i, to := range ends {
		if to < from || to > len(t.data) {
			return fail("thumbnail ", i, " lies at ", from, "..", to, " of ", len(t.data), " bytes")
		}
		examples[i].Thumbnail = append([]byte(nil), t.data[from:to]...)
		from = to
	}
	if from < len(t.data) {
		return fail("its thumbnails end at byte ", from, " of ", len(t.data))
	}
	return nil
}

func decodeGroups(examples []Example, tensors map[string]tensor, metadata map[string]string) error {
	t, ok := tensors["group"]
	if !ok {
		return nil
	}
	var names []string
	of := map[string]bool{}
	err := readList(metadata, "groups", func(v any) bool {
		name, ok := json.AsText(v)
		names, of[name] = append(names, name), true
		return ok
	})
	if err != nil {
		return err
	}
	if len(of) < len(names) {
		return fail("two of its groups have one name")
	}
	group, err := t.ints()
	if err != nil || len(group) != len(examples) {
		return fail("it has groups that belong to no example")
	}
	for i, g := range group {
		switch {
		case g >= len(names) || g < -1:
			return fail("the group of its example ", i, " is ", g, ", want a number from -1 to below ", len(names))
		case g >= 0:
			examples[i].Group = names[g]
		}
	}
	return nil
}
