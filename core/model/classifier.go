package model

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Classifier is the content of a classifier file: the examples of each class, as raw
// embeddings, from which any prior gives the classifier anew. The file holds
// the tensors embeddings (N×d, F32), class (N, I32, an index into the labels)
// and, where there are pictures, thumbnails (all bytes one after the other, U8)
// with thumbnail_end (N, I64, where each ends), where there are groups, group (N, I32,
// an index into the list of their names in the metadata, -1 for no group).
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
	Weight   float64 // prior probability up to normalisation
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

// Settings are the choices that make predictions from examples.
type Settings struct {
	Inference string  `json:"inference"` // "fb" or "map"
	Pooled    bool    `json:"pooled,omitempty"`
	NonePrior float64 `json:"nonePrior"`
	Sort      string  `json:"sort,omitempty"` // of the view
}

// MaxClasses and MaxExamples are the most that a classifier holds.
const (
	MaxClasses  = 2000
	MaxExamples = 20000
)

// Validate checks that classes and examples are not too many, labels distinct and as
// [CleanLabel] leaves them, settings and weights in their domains, and embeddings
// finite and of one length.
func (c *Classifier) Validate() error {
	if c.Settings.Inference != "fb" && c.Settings.Inference != "map" {
		return fail("its inference is ", quoted(c.Settings.Inference), ", want fb or map")
	}
	if !(c.Settings.NonePrior >= 0 && c.Settings.NonePrior < 1) {
		return fail("its prior probability of none of these is ", c.Settings.NonePrior, ", want a number from 0 to below 1")
	}
	if len(c.Classes) > MaxClasses {
		return fail("it has ", len(c.Classes), " classes, the most allowed is ", MaxClasses, ": divide it into several")
	}
	n := 0
	for _, k := range c.Classes {
		n += len(k.Examples)
	}
	if n > MaxExamples {
		return fail("it has ", n, " examples, the most allowed is ", MaxExamples, ": divide it into several")
	}
	seen := map[string]bool{}
	d := -1
	for _, k := range c.Classes {
		clean, err := CleanLabel(k.Label)
		switch {
		case err != nil:
			return fail("its class label ", shortened(k.Label), " ", err)
		case clean != k.Label:
			return fail("its class label ", shortened(k.Label), " is not in the form that this program writes: ", quoted(clean))
		case seen[k.Label]:
			return fail("its class label ", quoted(k.Label), " stands twice")
		}
		seen[k.Label] = true
		if !(k.Weight >= 1e-100 && k.Weight <= 1e100) {
			return fail("the weight of its class ", quoted(k.Label), " is ", k.Weight, ", want a number from 1e-100 to 1e100")
		}
		for i, e := range k.Examples {
			if d < 0 {
				d = len(e.Embedding)
			}
			if err := checkEmbedding(e.Embedding, d); err != nil {
				return fail("example ", i, " of its class ", quoted(k.Label), ": ", err)
			}
		}
	}
	return nil
}

func checkEmbedding(x []float32, d int) error {
	if len(x) != d || d == 0 || d > MaxDimension {
		return fail(len(x), " numbers, want ", d)
	}
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fail("number ", i, " is ", float64(v))
		}
	}
	return nil
}

// EncodeClassifier returns the bytes of a classifier file, or the error of
// [Classifier.Validate]. Equal classifiers give equal bytes.
func EncodeClassifier(c *Classifier) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, fail("classifier cannot be written: ", err)
	}
	n, d, bytes := 0, 0, 0
	for _, k := range c.Classes {
		for _, e := range k.Examples {
			n, d, bytes = n+1, len(e.Embedding), bytes+len(e.Thumbnail)
		}
	}
	index, ends, group := make([]int, 0, n), make([]int, 0, n), make([]int, 0, n)
	var groups []string
	values, thumbs := make([]float64, 0, n*d), make([]byte, 0, bytes)
	for j, k := range c.Classes {
		for _, e := range k.Examples {
			index = append(index, j)
			for _, v := range e.Embedding {
				values = append(values, float64(v))
			}
			thumbs = append(thumbs, e.Thumbnail...)
			ends = append(ends, len(thumbs))
			groups, group = numbered(groups, group, e.Group)
		}
	}
	tensors := map[string]tensor{
		"embeddings": floatTensor("F32", values, len(index), d),
		"class":      intTensor("I32", index),
	}
	if len(thumbs) > 0 {
		tensors["thumbnails"] = tensor{dtype: "U8", shape: []int{len(thumbs)}, data: thumbs}
		tensors["thumbnail_end"] = intTensor("I64", ends)
	}
	metadata := map[string]string{
		"format": classifierFormat, "version": classifierVersion, "name": text(c.Name), "prior": text(c.PriorSum),
		"extractor": jsonText(c.Extractor.write), "settings": jsonText(c.Settings.write), "classes": writeClasses(c.Classes),
	}
	if len(groups) > 0 {
		tensors["group"] = intTensor("I32", group)
		metadata["groups"] = writeList(groups)
	}
	metadata[checksumKey] = checksum(tensors, metadata)
	return encodeTensors(tensors, metadata), nil
}

// shortened quotes the beginning of a label.
func shortened(label string) quoted { return quoted(label[:min(len(label), 20)]) }

// text returns s as JSON will give it back.
func text(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// numbered appends the number of a group, -1 for none, and its name if it is new. A
// group's examples mostly follow each other.
func numbered(names []string, numbers []int, group string) ([]string, []int) {
	if group == "" {
		return names, append(numbers, -1)
	}
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == group {
			return names, append(numbers, i)
		}
	}
	return append(names, group), append(numbers, len(names))
}

// checksumKey is the key in the metadata of the checksum of a file.
const checksumKey = "sha256"

// checksum returns the sha256, in hexadecimal, of what a file says as JSON: the other
// metadata as an object with the keys in order, and then for each tensor, in the order
// of names, a list of its name, its dtype, its shape and the sha256 of its bytes; with
// commas between them.
func checksum(tensors map[string]tensor, metadata map[string]string) string {
	var w writer
	w.object(func(w *writer) {
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			if key != checksumKey {
				w.textField(key, metadata[key], true)
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		w.open('[')
		w.text(name)
		w.text(t.dtype)
		w.ints(t.shape)
		w.text(Sum(t.data))
		w.close(']')
	}
	return Sum(w.b)
}

// DecodeClassifier reads a classifier file. Whatever the bytes, it returns a
// valid classifier or a *[FormatError].
func DecodeClassifier(b []byte) (*Classifier, error) {
	tensors, metadata, err := decodeTensors(b)
	_, summed := metadata[checksumKey]
	former := metadata["version"] == "1" && !summed // with labels of any length
	switch {
	case err != nil:
	case former && metadata["format"] == classifierFormat:
	default:
		err = checkFormat(metadata, classifierFormat, classifierVersion, "teach it again")
		if err == nil && metadata[checksumKey] != checksum(tensors, metadata) {
			err = fail("its content does not have the checksum that it names: it was damaged or changed after it was written; take another copy")
		}
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
	err := fromMetadata(metadata, "extractor", c.Extractor.read)
	if err == nil {
		err = fromMetadata(metadata, "settings", c.Settings.read)
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
	examples, err := decodeExamples(tensors)
	if err != nil {
		return nil, err
	}
	if err := decodeGroups(examples, tensors, metadata); err != nil {
		return nil, err
	}
	index, err := tensors["class"].ints()
	if err != nil || len(index) != len(examples) {
		return nil, fail("it has ", len(examples), " embeddings and ", len(index), " class indices")
	}
	for i, j := range index {
		if j < 0 || j >= len(c.Classes) {
			return nil, fail("the class index of its example ", i, " is ", j, ", it has ", len(c.Classes), " classes")
		}
		c.Classes[j].Examples = append(c.Classes[j].Examples, examples[i])
	}
	return c, nil
}

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
	return nil
}

func decodeGroups(examples []Example, tensors map[string]tensor, metadata map[string]string) error {
	t, ok := tensors["group"]
	if !ok {
		return nil
	}
	names, err := readList(metadata, "groups")
	if err != nil {
		return err
	}
	group, err := t.ints()
	if err != nil || len(group) != len(examples) {
		return fail("it has groups that belong to no example")
	}
	for i, g := range group {
		switch {
		case g >= len(names) || g < -1:
			return fail("the group of its example ", i, " is ", g, ", it has ", len(names), " groups")
		case g >= 0:
			examples[i].Group = names[g]
		}
	}
	return nil
}
