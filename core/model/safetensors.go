package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"sort"
)

// A safetensors file is an eight byte little-endian length, a JSON object of
// that length and then the bytes of the tensors, without holes
// (github.com/huggingface/safetensors). The object maps the name of each tensor
// to its dtype, shape and place; "__metadata__" maps strings to strings.

// maxHeader bounds the JSON object. Ours have a few hundred bytes, or with many
// class labels some thousand.
const maxHeader = 8 << 20

const metadataKey = "__metadata__"

// FormatError reports bytes that are not a file of the expected format.
type FormatError struct {
	Format string // "prior" or "classifier"
	Reason string // with the remedy
	Older  bool   // the file is sound, but of a version that this program does not read
}

func (e *FormatError) Error() string { return "not a usable " + e.Format + " file: " + e.Reason }

// formatError says of a file of a format what err says of its content.
func formatError(format string, err error) *FormatError {
	if of, ok := err.(*FormatError); ok {
		return &FormatError{Format: format, Reason: of.Reason, Older: of.Older}
	}
	return &FormatError{Format: format, Reason: err.Error()}
}

type tensor struct {
	dtype string
	shape []int
	data  []byte
}

type tensorEntry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"`
}

var dtypeSize = map[string]int{"F64": 8, "F32": 4, "F16": 2, "I32": 4, "I64": 8, "U8": 1}

// encodeTensors writes the tensors in the order of their names, so that equal
// contents give equal bytes. The header is padded with spaces so that the data
// begin on an eight byte boundary.
func encodeTensors(tensors map[string]tensor, metadata map[string]string) []byte {
	header := map[string]any{metadataKey: metadata}
	at := 0
	names := sortedNames(tensors)
	for _, name := range names {
		t := tensors[name]
		header[name] = tensorEntry{Dtype: t.dtype, Shape: t.shape, Offsets: []int{at, at + len(t.data)}}
		at += len(t.data)
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic("model: header of strings and numbers not encodable")
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(text)+at), uint64(len(text)))
	b = append(b, text...)
	for _, name := range names {
		b = append(b, tensors[name].data...)
	}
	return b
}

func sortedNames(tensors map[string]tensor) []string {
	names := make([]string, 0, len(tensors))
	for name := range tensors {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// decodeTensors is the inverse of encodeTensors for any well-formed file. The
// tensors share the memory of b. Errors carry no format name yet.
func decodeTensors(b []byte) (map[string]tensor, map[string]string, error) {
	text, data, err := splitHeader(b)
	if err != nil {
		return nil, nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, nil, fmt.Errorf("its header is not JSON")
	}
	metadata := map[string]string{}
	if m, ok := raw[metadataKey]; ok {
		if err := json.Unmarshal(m, &metadata); err != nil {
			return nil, nil, fmt.Errorf("its metadata are not strings")
		}
		delete(raw, metadataKey)
	}
	tensors := make(map[string]tensor, len(raw))
	type span struct{ from, to int }
	var used []span
	for name, entry := range raw {
		t, at, err := decodeEntry(name, entry, data)
		if err != nil {
			return nil, nil, err
		}
		tensors[name] = t
		used = append(used, span{at, at + len(t.data)})
	}
	sort.Slice(used, func(i, j int) bool {
		return used[i].from < used[j].from || used[i].from == used[j].from && used[i].to < used[j].to
	})
	end := 0
	for _, s := range used {
		if s.from != end {
			return nil, nil, fmt.Errorf("a tensor begins at byte %d where the one before ends at %d: it has a hole or tensors that overlap", s.from, end)
		}
		end = s.to
	}
	if end != len(data) {
		return nil, nil, fmt.Errorf("its tensors cover %d bytes of %d: it is truncated or has bytes left over", end, len(data))
	}
	return tensors, metadata, nil
}

func splitHeader(b []byte) (header, data []byte, err error) {
	if len(b) < 8 {
		return nil, nil, fmt.Errorf("it has %d bytes, too few for a header", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader {
		return nil, nil, fmt.Errorf("its header claims %d bytes, the most allowed is %d", n, maxHeader)
	}
	if n > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("its header claims %d bytes of %d: it is truncated", n, len(b)-8)
	}
	return b[8 : 8+n], b[8+n:], nil
}

// decodeEntry returns a tensor and where its bytes begin.
func decodeEntry(name string, entry json.RawMessage, data []byte) (t tensor, at int, err error) {
	var e tensorEntry
	if err := json.Unmarshal(entry, &e); err != nil || len(e.Offsets) != 2 {
		return t, 0, fmt.Errorf("its entry for tensor %q is malformed", name)
	}
	size, ok := byteSize(e)
	if !ok {
		return t, 0, fmt.Errorf("tensor %q has dtype %q and shape %v, which cannot be read", name, e.Dtype, e.Shape)
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > len(data) || to-from != size {
		return t, 0, fmt.Errorf("tensor %q lies at %d..%d of %d bytes and needs %d: it is truncated or damaged", name, from, to, len(data), size)
	}
	return tensor{dtype: e.Dtype, shape: e.Shape, data: data[from:to]}, from, nil
}

// byteSize returns the bytes that dtype and shape call for, ok=false when that
// overflows or the dtype is unknown.
func byteSize(e tensorEntry) (int, bool) {
	n, ok := dtypeSize[e.Dtype]
	if !ok || e.Shape == nil {
		return 0, false
	}
	for _, s := range e.Shape {
		if s < 0 {
			return 0, false
		}
		hi, lo := bits.Mul64(uint64(n), uint64(s))
		if hi != 0 || lo > 1<<40 {
			return 0, false
		}
		n = int(lo)
	}
	return n, true
}
