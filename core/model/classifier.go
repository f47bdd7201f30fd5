package model

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
)

// Classifier is the content of a classifier file: the examples of each class, as raw
// embeddings, from which any prior gives the classifier anew. The file holds
// the tensors embeddings (N×d, F32), class (N, I32, an index into the labels)
// and, where there are pictures, thumbnails (all bytes one after the other, U8)
// with thumbnail_end (N, I64, where each ends).
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
// encoded picture, which may be empty.
type Example struct {
	Embedding []float32
	Thumbnail []byte
}

// Settings are the choices that make predictions from examples.
type Settings struct {
	Inference string  `json:"inference"` // "fb" or "map"
	Pooled    bool    `json:"pooled,omitempty"`
	NonePrior float64 `json:"nonePrior"`
	Sort      string  `json:"sort,omitempty"` // of the view
}

// classMetadata is how a class without its examples stands in the metadata.
type classMetadata struct {
	Label  string  `json:"label"`
	Weight float64 `json:"weight"`
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
		return fmt.Errorf("its inference is %q, want fb or map", c.Settings.Inference)
	}
	if !(c.Settings.NonePrior >= 0 && c.Settings.NonePrior < 1) {
		return fmt.Errorf("its prior probability of none of these is %v, want a number from 0 to below 1", c.Settings.NonePrior)
	}
	if len(c.Classes) > MaxClasses {
		return fmt.Errorf("it has %d classes, the most allowed is %d: divide it into several", len(c.Classes), MaxClasses)
	}
	n := 0
	for _, k := range c.Classes {
		n += len(k.Examples)
	}
	if n > MaxExamples {
		return fmt.Errorf("it has %d examples, the most allowed is %d: divide it into several", n, MaxExamples)
	}
	seen := map[string]bool{}
	d := -1
	for _, k := range c.Classes {
		clean, err := CleanLabel(k.Label)
		switch {
		case err != nil:
			return fmt.Errorf("its class label %.20q %w", k.Label, err)
		case clean != k.Label:
			return fmt.Errorf("its class label %.20q is not in the form that this program writes: %q", k.Label, clean)
		case seen[k.Label]:
			return fmt.Errorf("its class label %q stands twice", k.Label)
		}
		seen[k.Label] = true
		if !(k.Weight >= 1e-100 && k.Weight <= 1e100) {
			return fmt.Errorf("the weight of its class %q is %v, want a number from 1e-100 to 1e100", k.Label, k.Weight)
		}
		for i, e := range k.Examples {
			if d < 0 {
				d = len(e.Embedding)
			}
			if err := checkEmbedding(e.Embedding, d); err != nil {
				return fmt.Errorf("example %d of its class %q: %w", i, k.Label, err)
			}
		}
	}
	return nil
}

func checkEmbedding(x []float32, d int) error {
	if len(x) != d || d == 0 || d > maxDimension {
		return fmt.Errorf("%d numbers, want %d", len(x), d)
	}
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("number %d is %v", i, v)
		}
	}
	return nil
}

// EncodeClassifier returns the bytes of a classifier file, or the error of
// [Classifier.Validate]. Equal classifiers give equal bytes.
func EncodeClassifier(c *Classifier) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("classifier cannot be written: %w", err)
	}
	var index, ends []int
	var values []float64
	var thumbs []byte
	classes := make([]classMetadata, 0, len(c.Classes))
	d := 0
	for j, k := range c.Classes {
		classes = append(classes, classMetadata{Label: k.Label, Weight: k.Weight})
		for _, e := range k.Examples {
			d = len(e.Embedding)
			index = append(index, j)
			for _, v := range e.Embedding {
				values = append(values, float64(v))
			}
			thumbs = append(thumbs, e.Thumbnail...)
			ends = append(ends, len(thumbs))
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
		"extractor": mustJSON(c.Extractor), "settings": mustJSON(c.Settings), "classes": mustJSON(classes),
	}
	metadata[checksumKey] = checksum(tensors, metadata)
	return encodeTensors(tensors, metadata), nil
}

// text returns s as JSON will give it back.
func text(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// checksumKey is the key in the metadata of the checksum of a file.
const checksumKey = "sha256"

// checksum returns the sha256, in hexadecimal, of all that a file says: its other
// metadata as a JSON object with the keys in order, and then for each tensor, in the
// order of names, dtype, shape and name in JSON and its bytes.
func checksum(tensors map[string]tensor, metadata map[string]string) string {
	rest := maps.Clone(metadata)
	delete(rest, checksumKey)
	h := sha256.New()
	h.Write([]byte(mustJSON(rest)))
	for _, name := range sortedNames(tensors) {
		t := tensors[name]
		h.Write([]byte(mustJSON([]any{t.dtype, t.shape, name})))
		h.Write(t.data)
	}
	return hex.EncodeToString(h.Sum(nil))
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
			err = errors.New("its content does not have the checksum that it names: it was damaged or changed after it was written; take another copy")
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
	var classes []classMetadata
	for key, dst := range map[string]any{"extractor": &c.Extractor, "settings": &c.Settings, "classes": &classes} {
		if err := fromMetadata(metadata, key, dst); err != nil {
			return nil, err
		}
	}
	if len(classes) > MaxClasses {
		return nil, fmt.Errorf("it has %d classes, the most allowed is %d", len(classes), MaxClasses)
	}
	labels := make([]string, len(classes))
	for i, k := range classes {
		labels[i] = k.Label
	}
	if former {
		labels = RepairLabels(labels)
	}
	for i, k := range classes {
		c.Classes = append(c.Classes, Class{Label: labels[i], Weight: k.Weight})
	}
	examples, err := decodeExamples(tensors)
	if err != nil {
		return nil, err
	}
	index, err := tensors["class"].ints()
	if err != nil || len(index) != len(examples) {
		return nil, fmt.Errorf("it has %d embeddings and %d class indices", len(examples), len(index))
	}
	for i, j := range index {
		if j < 0 || j >= len(c.Classes) {
			return nil, fmt.Errorf("the class index of its example %d is %d, it has %d classes", i, j, len(c.Classes))
		}
		c.Classes[j].Examples = append(c.Classes[j].Examples, examples[i])
	}
	return c, nil
}

// decodeExamples reads embeddings and thumbnails.
func decodeExamples(tensors map[string]tensor) ([]Example, error) {
	t, ok := tensors["embeddings"]
	if !ok || len(t.shape) != 2 || t.dtype != "F32" {
		return nil, fmt.Errorf("the tensor \"embeddings\" is missing, or not F32 of two axes")
	}
	n, d := t.shape[0], t.shape[1]
	if n > MaxExamples || d > maxDimension {
		return nil, fmt.Errorf("it has %d examples of %d numbers, the most allowed are %d of %d", n, d, MaxExamples, maxDimension)
	}
	values, err := t.floats()
	if err != nil {
		return nil, err
	}
	if n > 0 && d == 0 || n > len(values) {
		return nil, fmt.Errorf("its embeddings have no numbers")
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
		return fmt.Errorf("it has thumbnails that belong to no example")
	}
	from := 0
	for i, to := range ends {
		if to < from || to > len(t.data) {
			return fmt.Errorf("thumbnail %d lies at %d..%d of %d bytes", i, from, to, len(t.data))
		}
		examples[i].Thumbnail = append([]byte(nil), t.data[from:to]...)
		from = to
	}
	return nil
}
