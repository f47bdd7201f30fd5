package model

import (
	"encoding/binary"
	"math"
	"strings"

	"metaqda/core/json"
)

// EncodeClassifier returns the bytes of a classifier file, or the error of
// [Classifier.Validate], or [ErrLong]. Equal classifiers give equal bytes.
func EncodeClassifier(c *Classifier) ([]byte, error) {
	e, err := NewEncoder(c)
	if err == nil {
		_, err = e.Write(func() bool { return true })
	}
	if err != nil {
		return nil, err
	}
	return e.Bytes(), nil
}

// Encoder writes a classifier file piece by piece, for callers that must not block for long. A file
// of thousands of pictures has a hundred megabytes, and most of the work is their checksum. The
// classifier must not change meanwhile.
type Encoder struct {
	classifier *Classifier
	dimension  int
	class, at  int // of the next example: its class, and its place there
	row        int // its number
	end        int // of the thumbnail before
	tensors    map[string]tensor
	sums       map[string]*digest
	metadata   map[string]string
	groups     map[string]int
	file       []byte
}

// ErrLong reports texts that take more than the header of a file holds.
var ErrLong error = &failure{text: "Groups, actions and names are longer than a file holds: shorten them."}

// NewEncoder returns an encoder, or the error of [Classifier.Validate], or [ErrLong]. Only
// [Encoder.Write] reports what is wrong with an example.
func NewEncoder(c *Classifier) (*Encoder, error) {
	d, err := c.validateFrame()
	if err != nil {
		return nil, unwritable(err)
	}
	e := &Encoder{classifier: c, dimension: d, groups: map[string]int{}, tensors: map[string]tensor{}, sums: map[string]*digest{}}
	n, bytes := 0, 0
	var groups []string
	for _, k := range c.Classes {
		for _, x := range k.Examples {
			n, bytes = n+1, bytes+len(x.Thumbnail)
			if _, known := e.groups[x.Group]; x.Group != "" && !known {
				e.groups[x.Group] = len(groups)
				groups = append(groups, x.Group)
			}
		}
	}
	e.metadata = map[string]string{
		"format": classifierFormat, "version": classifierVersion, "name": text(c.Name), "prior": text(c.PriorSum),
		"extractor": json.Text(c.Extractor.Code), "settings": json.Text(c.Settings.code), "classes": writeClasses(c.Classes),
		checksumKey: strings.Repeat("0", 64), // until it is known
	}
	e.tensors["embeddings"] = tensor{dtype: "F32", shape: []int{n, d}}
	e.tensors["class"] = tensor{dtype: "I32", shape: []int{n}}
	if bytes > 0 {
		e.tensors["thumbnails"] = tensor{dtype: "U8", shape: []int{bytes}}
		e.tensors["thumbnail_end"] = tensor{dtype: "I64", shape: []int{n}}
	}
	if len(groups) > 0 {
		e.tensors["group"] = tensor{dtype: "I32", shape: []int{n}}
		e.metadata["groups"] = writeList(groups)
	}
	if e.lay(); binary.LittleEndian.Uint64(e.file) > maxHeader {
		return nil, ErrLong
	}
	return e, nil
}

// unwritable returns the error that says why a classifier cannot be written.
func unwritable(err error) error { return fail("classifier cannot be written: ", err) }

// lay assigns each tensor its place in the file.
func (e *Encoder) lay() {
	head, size := tensorHeader(e.tensors, e.metadata)
	e.file = make([]byte, len(head)+size)
	copy(e.file, head)
	at := len(head)
	for _, name := range json.Names(e.tensors) {
		t := e.tensors[name]
		size := t.size()
		t.data = e.file[at : at+size : at+size]
		e.tensors[name], e.sums[name] = t, newDigest()
		at += size
	}
}

// Write writes further examples. It calls inTime before each example and stops when inTime returns
// false. It reports whether the file is complete.
func (e *Encoder) Write(inTime func() bool) (done bool, err error) {
	for e.class < len(e.classifier.Classes) {
		k := &e.classifier.Classes[e.class]
		if e.at == len(k.Examples) {
			e.class, e.at = e.class+1, 0
			continue
		}
		if !inTime() {
			return false, nil
		}
		if err := checkExample(k, e.at, e.dimension); err != nil {
			return false, unwritable(err)
		}
		e.example(&k.Examples[e.at])
		e.at, e.row = e.at+1, e.row+1
	}
	e.metadata[checksumKey] = checksumOf(e.tensors, e.metadata, func(name string) string { return e.sums[name].sum() })
	head, _ := tensorHeader(e.tensors, e.metadata)
	copy(e.file, head)
	return true, nil
}

// example writes the next example.
func (e *Encoder) example(x *Example) {
	i, d := e.row, e.dimension
	vector := e.tensors["embeddings"].data[4*i*d : 4*(i+1)*d]
	for j, v := range x.Embedding {
		binary.LittleEndian.PutUint32(vector[4*j:], math.Float32bits(v))
	}
	e.sums["embeddings"].write(vector)
	e.number32("class", e.class)
	if t, ok := e.tensors["thumbnails"]; ok {
		thumbnail := t.data[e.end : e.end+len(x.Thumbnail)]
		copy(thumbnail, x.Thumbnail)
		e.sums["thumbnails"].write(thumbnail)
		e.end += len(thumbnail)
		end := e.tensors["thumbnail_end"].data[8*i : 8*i+8]
		binary.LittleEndian.PutUint64(end, uint64(e.end))
		e.sums["thumbnail_end"].write(end)
	}
	if _, ok := e.tensors["group"]; ok {
		group := -1
		if x.Group != "" {
			group = e.groups[x.Group]
		}
		e.number32("group", group)
	}
}

// number32 writes the next number of a tensor of I32.
func (e *Encoder) number32(name string, v int) {
	b := e.tensors[name].data[4*e.row : 4*e.row+4]
	binary.LittleEndian.PutUint32(b, uint32(int32(v)))
	e.sums[name].write(b)
}

// Bytes returns the file. It is complete once Write has reported so.
func (e *Encoder) Bytes() []byte { return e.file }

// text returns s as JSON will give it back.
func text(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// checksumKey is the key in the metadata of the checksum of a file.
const checksumKey = "sha256"

// checksum returns the sha256, in hexadecimal, of a JSON text about the file. First stand the other
// metadata, as an object with the keys in order. Then comes a list for each tensor, in the order of
// names: its name, dtype, shape and the sha256 of its bytes. Commas stand between them.
func checksum(tensors map[string]tensor, metadata map[string]string) string {
	return checksumOf(tensors, metadata, func(name string) string { return Sum(tensors[name].data) })
}

// checksumOf is [checksum] with the sha256 of each tensor's bytes.
func checksumOf(tensors map[string]tensor, metadata map[string]string, sum func(name string) string) string {
	var w json.Writer
	w.Object(func(json.Codec) { w.Strings(metadata, checksumKey) })
	for _, name := range json.Names(tensors) {
		t := tensors[name]
		w.Open('[')
		w.String(name)
		w.String(t.dtype)
		w.IntList(t.shape)
		w.String(sum(name))
		w.Close(']')
	}
	return Sum(w.B)
}
