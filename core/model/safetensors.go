package model

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"metaqda/core/json"
)

// A safetensors file is an eight byte little-endian length, a JSON object of
// that length and then the bytes of the tensors, without holes
// (github.com/huggingface/safetensors). The object maps the name of each tensor
// to its dtype, shape and place; "__metadata__" maps strings to strings.

// maxHeader bounds the JSON object. Actions may take half of it. Otherwise ours have some thousand
// bytes at most.
const maxHeader = 8 << 20

const metadataKey = "__metadata__"

// FormatError reports bytes that are not a file of the expected format.
type FormatError struct {
	Format string // "prior" or "classifier"
	Reason string // with the remedy
	Older  bool   // the file is sound, but of a version that this program does not read
}

// Error returns one sentence.
func (e *FormatError) Error() string { return "not a usable " + e.Format + " file: " + e.Reason }

// formatError wraps err, an error about the content, with the format of the file.
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

// tensorEntry is a tensor in the header.
type tensorEntry struct {
	Dtype   string
	Shape   []int
	Offsets []int
}

func (e *tensorEntry) code(c json.Codec) {
	c.Text("dtype", &e.Dtype, true)
	c.Ints("shape", &e.Shape)
	c.Ints("data_offsets", &e.Offsets)
}

var dtypeSize = map[string]int{"F64": 8, "F32": 4, "F16": 2, "I32": 4, "I64": 8, "U8": 1}

// encodeTensors writes the tensors in the order of their names, so that equal
// contents give equal bytes.
func encodeTensors(tensors map[string]tensor, metadata map[string]string) []byte {
	head, size := tensorHeader(tensors, metadata)
	b := append(make([]byte, 0, len(head)+size), head...)
	for _, name := range json.Names(tensors) {
		b = append(b, tensors[name].data...)
	}
	return b
}

// tensorHeader returns the part of a file before the bytes of its tensors, and the number of these
// bytes. The header is padded with spaces so that they begin on an eight byte boundary. It needs
// only dtype and shape of the tensors.
func tensorHeader(tensors map[string]tensor, metadata map[string]string) (head []byte, size int) {
	names := append(json.Names(tensors), metadataKey)
	slices.SortStableFunc(names, strings.Compare)
	var w json.Writer
	w.Object(func(json.Codec) {
		for _, key := range names {
			w.Name(key)
			t, ok := tensors[key]
			if !ok {
				w.Object(func(json.Codec) { w.Strings(metadata, "") })
				continue
			}
			e := tensorEntry{Dtype: t.dtype, Shape: t.shape, Offsets: []int{size, size + t.size()}}
			w.Object(e.code)
			size += t.size()
		}
	})
	text := w.B
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return append(binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(text)), uint64(len(text))), text...), size
}

// size returns how many bytes dtype and shape call for.
func (t tensor) size() int {
	n := dtypeSize[t.dtype]
	for _, s := range t.shape {
		n *= s
	}
	return n
}

// decodeTensors is the inverse of encodeTensors for any well-formed file. The
// tensors share the memory of b. Errors carry no format name yet.
func decodeTensors(b []byte) (map[string]tensor, map[string]string, error) {
	text, data, err := splitHeader(b)
	if err != nil {
		return nil, nil, err
	}
	v, ok := json.Parse(text)
	header, isObject := v.(json.Object)
	if !ok || !isObject {
		return nil, nil, fail("its header is not a JSON object")
	}
	metadata := map[string]string{}
	facts := json.FieldsOf(header[metadataKey])
	for name := range facts.Object {
		var s string
		facts.Text(name, &s, true)
		metadata[name] = s
	}
	if facts.Failed {
		return nil, nil, fail("its metadata are not strings")
	}
	delete(header, metadataKey)
	tensors := make(map[string]tensor, len(header))
	type span struct{ from, to int }
	var used []span
	var order []int // indices of the spans; sorting these needs less code in a program than sorting spans
	for name, entry := range header {
		t, at, err := decodeEntry(name, entry, data)
		if err != nil {
			return nil, nil, err
		}
		tensors[name] = t
		order, used = append(order, len(used)), append(used, span{at, at + len(t.data)})
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(used[a].from, used[b].from), cmp.Compare(used[a].to, used[b].to))
	})
	end := 0
	for _, i := range order {
		s := used[i]
		if s.from != end {
			return nil, nil, fail("a tensor begins at byte ", s.from, " where the one before ends at ", end, ": it has a hole or tensors that overlap")
		}
		end = s.to
	}
	if end != len(data) {
		return nil, nil, fail("its tensors cover ", end, " bytes of ", len(data), ": it is truncated or has bytes left over")
	}
	return tensors, metadata, nil
}

func splitHeader(b []byte) (header, data []byte, err error) {
	if len(b) < 8 {
		return nil, nil, fail("it has ", len(b), " bytes, too few for any")
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || len(b) > 8 && b[8] != '{' {
		return nil, nil, fail("it does not begin as one does, so it is a file of another kind")
	}
	if n > uint64(len(b)-8) {
		return nil, nil, fail("its header claims ", n, " bytes of ", len(b)-8, ": it is truncated")
	}
	return b[8 : 8+n], b[8+n:], nil
}

// decodeEntry returns a tensor and where its bytes begin.
func decodeEntry(name string, entry any, data []byte) (t tensor, at int, err error) {
	var e tensorEntry
	f := json.FieldsOf(entry)
	if e.code(f); f.Failed || len(e.Offsets) != 2 {
		return t, 0, fail("its entry for tensor ", quoted(name), " is malformed")
	}
	size, ok := byteSize(e)
	if !ok {
		return t, 0, fail("tensor ", quoted(name), " has dtype ", quoted(e.Dtype), " and shape ", e.Shape, ", which cannot be read")
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > len(data) || to-from != size {
		return t, 0, fail("tensor ", quoted(name), " lies at ", from, "..", to, " of ", len(data), " bytes and needs ", size, ": it is truncated or damaged")
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

// checkFormat compares format, version and checksum, which priors may lack. remedy helps with a file that is older.
func checkFormat(tensors map[string]tensor, metadata map[string]string, format, version, remedy string) error {
	if got := metadata["format"]; got != format {
		return fail("its format is ", quoted(got), ", want ", quoted(format))
	}
	if got := metadata["version"]; got != version {
		older := len(got) == len(version) && got < version
		if !older {
			remedy = "use a program as new as the file"
		}
		return &FormatError{Reason: fail("its version is ", quoted(got), " and this program reads ", quoted(version), ": ", remedy).Error(), Older: older}
	}
	if sum := metadata[checksumKey]; (sum != "" || format != priorFormat) && sum != checksum(tensors, metadata) {
		return fail("its content does not have the checksum that it names: it was damaged or changed after it was written; take another copy")
	}
	return nil
}
