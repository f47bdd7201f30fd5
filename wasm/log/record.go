package log

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/core/model"
)

// A record holds a step, or the head or a segment of a snapshot. Its bytes are, in this order:
//
//	checksum of all that follows, 4 bytes
//	length of a text, and the text, which is JSON
//	number of examples, and for each of them:
//	  id, class and group, each after its length
//	  order, a float64
//	  length of the embedding
//	  checksum of these fields and the embedding, 4 bytes
//	zeros up to a multiple of 4 bytes
//	embeddings, float32
//
// Lengths and the number of examples are varints; other numbers are little-endian.

const perSegment = 256 // examples

// head is the head of a snapshot.
type head struct {
	N          int // number of the last step that the snapshot covers
	Session    Session
	Classes    []metaqda.Class
	Undo, Redo []*metaqda.Step
}

// coder is the state of reading or writing the text of a record. The text does not contain the
// examples, which stand after it in the order of their entries.
type coder struct {
	examples []*metaqda.Example // when writing, of the entries so far; when reading, of the entries still to come
	writes   bool
	wrong    bool // the entries do not fit the examples
}

func (h *head) code(r *coder, c json.Codec) {
	c.Int("N", &h.N, true)
	c.Inner("Session", h.Session.code)
	c.Text("Actions", &h.Session.Settings.Actions, true)
	c.Text("Prior", &h.Session.Settings.Prior, true)
	list(c, "Classes", &h.Classes, codeClass)
	r.steps(c, "Undo", &h.Undo)
	r.steps(c, "Redo", &h.Redo)
}

// steps codes steps of the undo history. When reading, it keeps the steps before the first one that
// does not fit.
func (r *coder) steps(c json.Codec, name string, all *[]*metaqda.Step) {
	c.List(name, len(*all), func(i int, c json.Codec) {
		s := &metaqda.Step{}
		if r.writes {
			s = (*all)[i]
		}
		c.Text("ID", &s.ID, true)
		c.Text("Name", &s.Name, true)
		c.Bool("Undone", &s.Undone, false)
		list(c, "Entries", &s.Entries, r.entry)
		if !r.writes && !r.wrong {
			*all = append(*all, s)
		}
	})
}

func (r *coder) entry(e *metaqda.Entry, c json.Codec) {
	var own []*metaqda.Example
	switch {
	case e.Class != nil:
		own = e.Class.Examples
	case e.Example != nil:
		own = append(own, e.Example)
	}
	n := len(own)
	c.Text("Do", &e.Do, true)
	c.Text("ID", &e.ID, true)
	optional(c, "Class", &e.Class, func(name string, k *metaqda.Class) {
		c.Inner(name, func(c json.Codec) { codeClass(k, c) })
	})
	c.Int("Examples", &n, false)
	switch {
	case r.writes:
		r.examples = append(r.examples, own...)
		return
	case n < 0 || n > len(r.examples) || (e.Do == "head" || e.Do == "actions") && e.Class == nil:
		r.wrong = true
		return
	case e.Class != nil:
		e.Class.Examples = r.examples[:n]
	case n == 1:
		e.Example = r.examples[0]
	}
	r.examples = r.examples[n:]
}

// code codes a session without its actions and its prior. The head of a snapshot has these two beside
// the session.
func (s *Session) code(c json.Codec) {
	c.Text("ID", &s.ID, true)
	c.Text("Name", &s.Name, true)
	moment(c, "Created", &s.Created, true)
	moment(c, "Updated", &s.Updated, true)
	moment(c, "Saved", &s.Saved, true)
	c.Inner("Settings", func(c json.Codec) {
		c.Text("sort", &s.Settings.Sort, true)
		c.Float("nonePrior", &s.Settings.NonePrior, true)
	})
	c.Inner("Extractor", s.Extractor.Code)
}

func codeClass(k *metaqda.Class, c json.Codec) {
	c.Text("ID", &k.ID, true)
	c.Text("Label", &k.Label, true)
	if label := model.FormerLabel(k.Label); label != k.Label { // of a record that is read
		k.Label = label
	}
	c.Float("Order", &k.Order, true)
	c.Text("Actions", &k.Actions, true)
}

func (s *Step) code(r *coder, c json.Codec) {
	c.Text("ID", &s.ID, false)
	optional(c, "Do", &s.Command, func(name string, m *metaqda.Command) {
		c.Text(name, &m.Do, true)
		c.Text("Step", &m.Step, false)
		c.Text("Name", &m.Name, false)
		list(c, "Entries", &m.Entries, r.entry)
	})
	optional(c, "Edit", &s.Edit, func(name string, d *Edit) { c.Inner(name, d.code) })
	c.Inner("After", func(c json.Codec) {
		s.After.Session.code(c)
		c.Int("Classes", &s.After.Classes, true)
		c.Int("Examples", &s.After.Examples, true)
	})
	c.Text("Prior", &s.After.Settings.Prior, false)
	c.Bool("Anew", &s.anew, false)
}

func (d *Edit) code(c json.Codec) {
	text := func(name string, s *string) { c.Text(name, s, true) }
	optional(c, "Name", &d.Name, text)
	optional(c, "Sort", &d.Sort, text)
	optional(c, "Prior", &d.Prior, text)
	optional(c, "NonePrior", &d.NonePrior, func(name string, p *float64) { c.Float(name, p, true) })
	optional(c, "Extractor", &d.Extractor, func(name string, x *model.Extractor) { c.Inner(name, x.Code) })
	moment(c, "Saved", &d.Saved, false)
}

// optional codes *v, or nothing if it is nil.
func optional[T any](c json.Codec, name string, v **T, code func(name string, v *T)) {
	if c.Has(name, *v != nil) {
		if *v == nil {
			*v = new(T)
		}
		code(name, *v)
	}
}

// list codes a list unless it is empty.
func list[T any](c json.Codec, name string, all *[]T, code func(*T, json.Codec)) {
	if !c.Has(name, len(*all) > 0) {
		return
	}
	c.List(name, len(*all), func(i int, c json.Codec) {
		if i == len(*all) {
			*all = append(*all, *new(T))
		}
		code(&(*all)[i], c)
	})
}

func moment(c json.Codec, name string, ms *int64, always bool) {
	n := int(*ms)
	c.Int(name, &n, always)
	*ms = int64(n)
}

func encodeStep(s Step) []byte {
	r := &coder{writes: true}
	text := json.Text(func(c json.Codec) { s.code(r, c) })
	return encode(text, r.examples...)
}

// decodeStep returns the step of a record, or the reason why it is not one.
func decodeStep(v any) (s Step, reason string) {
	r, reason := decodeText(v, s.code)
	if reason == "" && r.wrong {
		reason = "its parts do not fit together"
	}
	if reason != "" {
		return Step{}, reason
	}
	return s, ""
}

func encodeHead(h head) []byte {
	persistent := func(all []*metaqda.Step) []*metaqda.Step {
		if i := slices.IndexFunc(all, func(s *metaqda.Step) bool { return !s.Persistent() }); i >= 0 {
			return all[:i]
		}
		return all
	}
	h.Undo, h.Redo = persistent(h.Undo), persistent(h.Redo)
	r := &coder{writes: true}
	text := json.Text(func(c json.Codec) { h.code(r, c) })
	return encode(text, r.examples...)
}

func decodeHead(v any) (h head, reason string) {
	if _, reason := decodeText(v, h.code); reason != "" {
		return head{}, reason
	}
	return h, ""
}

// decodeText decodes a record, and reads its text by code.
func decodeText(v any, code func(*coder, json.Codec)) (r *coder, reason string) {
	text, examples, reason := decode(v)
	r = &coder{examples: examples}
	if reason == "" && !json.Read(text, func(c json.Codec) { code(r, c) }) {
		reason = "its text cannot be read"
	}
	return r, reason
}

// encode returns the bytes of a record.
func encode(text string, examples ...*metaqda.Example) []byte {
	size := 64 + len(text)
	for _, x := range examples {
		size += len(x.ID) + len(x.Class) + len(x.Group) + 36 + 4*len(x.Vector)
	}
	b := binary.AppendUvarint(make([]byte, 4, size), uint64(len(text)))
	b = append(b, text...)
	b = binary.AppendUvarint(b, uint64(len(examples)))
	heads := make([][2]int, len(examples)) // where they begin and end
	for i, x := range examples {
		from := len(b)
		for _, s := range []string{x.ID, x.Class, x.Group} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x.Order))
		b = binary.AppendUvarint(b, uint64(len(x.Vector)))
		heads[i] = [2]int{from, len(b)}
		b = append(b, 0, 0, 0, 0)
	}
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	for i, x := range examples {
		from := len(b)
		for _, v := range x.Vector {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		head := heads[i]
		binary.LittleEndian.PutUint32(b[head[1]:], checksumOf(b[head[0]:head[1]], b[from:]))
	}
	return sealed(b)
}

// checksum mixes eight bytes at a time. Each mixing step is invertible, so a change within eight
// bytes always changes h. It goes unnoticed only if the lower 32 bits stay the same. checksum is
// several times as fast as CRC-32 in WebAssembly, and a session may have a hundred megabytes.
func checksum(b []byte) uint32 {
	h := uint64(len(b))
	mix := func(v uint64) {
		h = (h ^ v) * 0x9E3779B97F4A7C15
		h ^= h >> 32
	}
	for ; len(b) >= 8; b = b[8:] {
		mix(binary.LittleEndian.Uint64(b))
	}
	for _, v := range b {
		mix(uint64(v))
	}
	return uint32(h)
}

// checksumOf returns the checksum of one example.
func checksumOf(head, vector []byte) uint32 { return 3*checksum(head) + checksum(vector) }

// sealed puts the checksum of a record into its first four bytes.
func sealed(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, checksum(b[4:]))
	return b
}

// scanner reads numbers and texts from bytes. After an error wrong is set, and no bytes are left.
type scanner struct {
	b     []byte
	wrong bool
}

func (s *scanner) take(n uint64) (b []byte) {
	if n > uint64(len(s.b)) {
		s.wrong, s.b = true, nil
		return nil
	}
	b, s.b = s.b[:n:n], s.b[n:]
	return b
}

func (s *scanner) number() uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 {
		s.wrong, s.b = true, nil
		return 0
	}
	s.b = s.b[n:]
	return v
}

// decode returns the text and the examples of a record. If the record is aligned, the embeddings are
// not copied, since a session may have twenty million numbers. reason says why the record cannot be
// used; it is empty if it can.
func decode(v any) (text []byte, examples []*metaqda.Example, reason string) {
	b, ok := v.([]byte)
	switch {
	case !ok:
		return nil, nil, "it is not a byte array"
	case len(b) < 4 || checksum(b[4:]) != binary.LittleEndian.Uint32(b):
		return nil, nil, "its checksum does not match"
	}
	return parse(b[4:], false)
}

// sound returns the examples of a damaged record whose own checksum is right.
func sound(v any) []*metaqda.Example {
	b, ok := v.([]byte)
	if !ok || len(b) < 4 {
		return nil
	}
	_, examples, _ := parse(b[4:], true)
	return examples
}

// parse reads the bytes after the checksum of a record. From a damaged record it returns only the
// examples whose own checksum is right.
func parse(b []byte, damaged bool) (text []byte, examples []*metaqda.Example, reason string) {
	s := &scanner{b: b}
	text = s.take(s.number())
	n := s.number()
	if n > uint64(len(s.b))/16 { // each takes at least 16 bytes
		return nil, nil, "it is cut short"
	}
	own := make([]metaqda.Example, n) // one allocation for all
	lengths, heads, sums := make([]uint64, n), make([][]byte, n), make([]uint32, n)
	for i := range own {
		x, head := &own[i], s.b
		x.ID, x.Class, x.Group = string(s.take(s.number())), string(s.take(s.number())), string(s.take(s.number()))
		if order := s.take(8); order != nil {
			x.Order = math.Float64frombits(binary.LittleEndian.Uint64(order))
		}
		lengths[i] = s.number()
		heads[i] = head[:len(head)-len(s.b)]
		if sum := s.take(4); sum != nil {
			sums[i] = binary.LittleEndian.Uint32(sum)
		}
		if s.wrong || lengths[i] > model.MaxDimension || x.Order-x.Order != 0 {
			return nil, nil, "its examples cannot be read"
		}
	}
	s.take(uint64(len(s.b)) % 4)
	for i := range own {
		vector, ok := s.take(4*lengths[i]), true
		if len(vector) > 0 {
			own[i].Vector, ok = finite(vector)
		}
		switch {
		case damaged && (!ok || s.wrong || checksumOf(heads[i], vector) != sums[i]):
			continue
		case !ok:
			return nil, nil, "an embedding has a number that is not finite"
		}
		examples = append(examples, &own[i])
	}
	if !damaged && (s.wrong || len(s.b) > 0) {
		return nil, nil, "its embeddings cannot be read"
	}
	return text, examples, ""
}

// finite returns the numbers of an embedding from its bytes, and whether all are finite.
func finite(b []byte) (x []float32, ok bool) {
	if first := unsafe.Pointer(&b[0]); uintptr(first)%4 == 0 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		x = unsafe.Slice((*float32)(first), len(b)/4)
	} else {
		x = make([]float32, len(b)/4)
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	for _, v := range x {
		if v-v != 0 {
			return nil, false
		}
	}
	return x, true
}
