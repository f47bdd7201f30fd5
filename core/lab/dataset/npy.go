package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/x448/float16"
)

// maxHeader bounds the text header of a .npy file. Real ones take 128 bytes.
const maxHeader = 1 << 16

// array is a decoded .npy header and the bytes that follow it.
type array struct {
	head    int // bytes of the header
	shape   []int
	count   int  // elements, the product of the shape
	fortran bool // first index runs fastest
	kind    elementKind
	data    io.Reader // the elements
}

// openArray reads the header of a .npy stream. The header is parsed by npyio;
// the elements are decoded here, a block at a time. matrix, integers and texts reserve as much as the
// header says. So the caller first compares the length of the data with the header.
func openArray(r io.Reader) (*array, error) {
	head, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(head)
	if err != nil {
		return nil, err
	}
	a := &array{head: len(head), shape: h.Descr.Shape, fortran: h.Descr.Fortran, data: r}
	if a.kind, err = parseElement(h.Descr.Type); err != nil {
		return nil, err
	}
	a.count, err = elements(a.shape)
	return a, err
}

// readHeader returns magic, version, length and header text of a .npy stream.
func readHeader(r io.Reader) ([]byte, error) {
	head := make([]byte, 8, 128)
	if _, err := io.ReadFull(r, head); err != nil || !bytes.Equal(head[:6], npy.Magic[:]) {
		return nil, errors.New("is no .npy array")
	}
	width := 2
	if head[6] >= 2 {
		width = 4
	}
	head = append(head, make([]byte, width)...)
	if _, err := io.ReadFull(r, head[8:]); err != nil {
		return nil, errors.New("ends within its header")
	}
	n := int(binary.LittleEndian.Uint16(head[8:]))
	if width == 4 {
		n = int(binary.LittleEndian.Uint32(head[8:]))
	}
	if n > maxHeader {
		return nil, fmt.Errorf("has a header of %d bytes", n)
	}
	head = append(head, make([]byte, n)...)
	if _, err := io.ReadFull(r, head[8+width:]); err != nil {
		return nil, errors.New("ends within its header")
	}
	return head, nil
}

// parseHeader parses the text with npyio, which indexes into it unchecked and may panic if it is
// not a header.
func parseHeader(head []byte) (h npy.Header, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("has a header that cannot be understood")
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(head))
	if err != nil {
		return h, err
	}
	return r.Header, nil
}

// elements returns the product of a shape.
func elements(shape []int) (int, error) {
	n := 1
	for _, k := range shape {
		if k < 0 || (k > 0 && n > math.MaxInt32*64/k) {
			return 0, fmt.Errorf("has the impossible shape %v", shape)
		}
		n *= k
	}
	return n, nil
}

// length returns the bytes of header and elements.
func (a *array) length() int { return a.head + a.count*a.kind.size }

// blocks calls f with the bytes of successive elements, a block at a time.
func (a *array) blocks(f func(b []byte)) error {
	n, size := a.count, a.kind.size
	block := make([]byte, max(1, 1<<16/size)*size)
	for done := 0; done < n; {
		b := block[:min(len(block), (n-done)*size)]
		if _, err := io.ReadFull(a.data, b); err != nil {
			return fmt.Errorf("ends before all of its numbers (%d) are complete", n)
		}
		done += len(b) / size
		f(b)
	}
	return nil
}

// elementKind is a numpy element type.
type elementKind struct {
	size   int // bytes
	name   string
	order  binary.ByteOrder
	whole  bool
	decode func(b []byte, o binary.ByteOrder) float64
	text   func(b []byte, o binary.ByteOrder) string // in place of decode
}

var elementKinds = map[string]elementKind{
	"f2": {size: 2, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(float16.Frombits(o.Uint16(b)).Float32()) }},
	"f4": {size: 4, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(math.Float32frombits(o.Uint32(b))) }},
	"f8": {size: 8, decode: func(b []byte, o binary.ByteOrder) float64 { return math.Float64frombits(o.Uint64(b)) }},
	"i1": {size: 1, whole: true, decode: func(b []byte, _ binary.ByteOrder) float64 { return float64(int8(b[0])) }},
	"u1": {size: 1, whole: true, decode: func(b []byte, _ binary.ByteOrder) float64 { return float64(b[0]) }},
	"i2": {size: 2, whole: true, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(int16(o.Uint16(b))) }},
	"u2": {size: 2, whole: true, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(o.Uint16(b)) }},
	"i4": {size: 4, whole: true, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(int32(o.Uint32(b))) }},
	"u4": {size: 4, whole: true, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(o.Uint32(b)) }},
	"i8": {size: 8, whole: true, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(int64(o.Uint64(b))) }},
	"u8": {size: 8, whole: true, decode: func(b []byte, o binary.ByteOrder) float64 { return float64(o.Uint64(b)) }},
}

// parseElement understands numpy's type strings such as "<f4".
func parseElement(descr string) (elementKind, error) {
	name := descr
	var order binary.ByteOrder = binary.LittleEndian
	if len(name) > 2 && strings.ContainsRune("<>|=", rune(name[0])) {
		if name[0] == '>' {
			order = binary.BigEndian
		}
		name = name[1:]
	}
	kind, ok := elementKinds[name]
	if !ok && (strings.HasPrefix(name, "U") || strings.HasPrefix(name, "S")) {
		kind, ok = textKind(name)
	}
	if !ok {
		return kind, kindError(fmt.Sprintf("holds elements of type %q, not real numbers", descr))
	}
	kind.name, kind.order = name, order
	return kind, nil
}

// maxText bounds the characters of a name that an array may have room for.
const maxText = 1 << 12

// textKind understands "U7", seven characters of four bytes, and "S7", seven bytes.
func textKind(name string) (kind elementKind, ok bool) {
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 1 || n > maxText {
		return kind, false
	}
	if name[0] == 'S' {
		return elementKind{size: n, text: func(b []byte, _ binary.ByteOrder) string { return strings.TrimRight(string(b), "\x00") }}, true
	}
	return elementKind{size: 4 * n, text: func(b []byte, o binary.ByteOrder) string {
		var s strings.Builder
		for ; len(b) > 0; b = b[4:] {
			s.WriteRune(rune(o.Uint32(b))) // invalid characters become U+FFFD
		}
		return strings.TrimRight(s.String(), "\x00")
	}}, true
}

// texts decodes an array of names.
func (a *array) texts() ([]string, error) {
	if len(a.shape) != 1 {
		return nil, fmt.Errorf("has shape %v, not one name for each row", a.shape)
	}
	v := make([]string, 0, a.count)
	err := a.blocks(func(b []byte) {
		for ; len(b) > 0; b = b[a.kind.size:] {
			v = append(v, a.kind.text(b[:a.kind.size], a.kind.order))
		}
	})
	return v, err
}

// matrix decodes an N x d array into float32, row after row.
func (a *array) matrix() (x []float32, dim int, err error) {
	if a.kind.decode == nil {
		return nil, 0, kindError("holds text, not real numbers")
	}
	if len(a.shape) != 2 {
		return nil, 0, fmt.Errorf("has shape %v, not rows x numbers", a.shape)
	}
	x = make([]float32, 0, a.count)
	if err := a.blocks(func(b []byte) { x = a.appendFloats(x, b) }); err != nil {
		return nil, 0, err
	}
	if a.fortran && a.count > 0 {
		x = transposed(x, a.shape[1], a.shape[0])
	}
	return x, a.shape[1], nil
}

// appendFloats decodes the elements in b. The common type has a loop of its
// own: a call for each of millions of numbers would take as long as inflating
// them.
func (a *array) appendFloats(x []float32, b []byte) []float32 {
	if a.kind.name == "f4" && a.kind.order == binary.LittleEndian {
		for ; len(b) >= 4; b = b[4:] {
			x = append(x, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
		return x
	}
	for ; len(b) > 0; b = b[a.kind.size:] {
		x = append(x, float32(a.kind.decode(b, a.kind.order)))
	}
	return x
}

// transposed returns the transpose of the r x c matrix x.
func transposed(x []float32, r, c int) []float32 {
	t := make([]float32, 0, len(x))
	for j := range c {
		for i := range r {
			t = append(t, x[i*c+j])
		}
	}
	return t
}

// integers decodes an array of whole numbers.
func (a *array) integers() ([]int, error) {
	if !a.kind.whole {
		return nil, kindError("does not hold whole numbers")
	}
	if len(a.shape) == 0 || a.shape[0] != a.count {
		return nil, fmt.Errorf("has shape %v, not one number for each row", a.shape)
	}
	v := make([]int, 0, a.count)
	err := a.blocks(func(b []byte) {
		for ; len(b) > 0; b = b[a.kind.size:] {
			v = append(v, int(a.kind.decode(b, a.kind.order)))
		}
	})
	return v, err
}

// groups decodes an array of whole numbers of 32 bits. Without an error it is not nil.
func (a *array) groups() ([]int32, error) {
	v, err := a.integers()
	if err != nil {
		return nil, err
	}
	g := make([]int32, len(v))
	for i, k := range v {
		if g[i] = int32(k); int(g[i]) != k {
			return nil, fmt.Errorf("holds %d in row %d, no whole number of 32 bits", k, i)
		}
	}
	return g, nil
}
