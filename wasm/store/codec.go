package store

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"unsafe"

	"metaqda/core/model"
)

// A stored value in its plain form is a [Record], a string, a float64, a bool, bytes,
// nil, or [Unknown]. What is IndexedDB's is translated from and to it (idb_js.go); all
// that is checked is checked here.

// Record is an object with its fields.
type Record map[string]any

// fields are those of the records of each table.
var fields = map[Table][]string{
	Sessions: {"id", "name", "created", "updated", "saved", "sort", "nonePrior", "actions", "prior", "extractor", "extractorSum"},
	Classes:  {"id", "session", "name", "order", "actions"},
	Examples: {"id", "session", "class", "order", "embedding", "thumbnail", "group"},
}

// Unknown is a value that no record here has; it says what it looks like.
type Unknown string

// Damage is a record that cannot be used and is left where it is.
type Damage struct {
	Table  Table
	Key    string
	Reason string // "its embedding has no numbers"
	Raw    any    // in its plain form
}

// encode returns the plain form of a value.
func encode(v any) any {
	switch v := v.(type) {
	case Session:
		s := v.Settings
		return Record{"id": v.ID, "name": v.Name, "created": float64(v.Created), "updated": float64(v.Updated), "saved": float64(v.Saved),
			"sort": s.Sort, "nonePrior": s.NonePrior, "actions": s.Actions, "prior": s.Prior,
			"extractor": v.Extractor.ID, "extractorSum": v.Extractor.SHA256}
	case Class:
		return Record{"id": v.ID, "session": v.Session, "name": v.Name, "order": v.Order, "actions": v.Actions}
	case Example:
		r := Record{"id": v.ID, "session": v.Session, "class": v.Class, "order": v.Order, "embedding": floatBytes(v.Embedding)}
		if v.Group != "" {
			r["group"] = v.Group
		}
		return r
	case nil, Record, string, []byte, float64, bool, Unknown:
		return v
	}
	panic("store: value of unknown type")
}

// Plain returns the plain form of an example with its thumbnail, where that was read.
func Plain(x Example) any {
	r := encode(x).(Record)
	if len(x.Thumbnail) > 0 {
		r["thumbnail"] = x.Thumbnail
	}
	return r
}

// The decoders take the key for the id: it is what a record is found by. Of a session
// and a class every field has something to stand in for it, since others belong to
// them; an example without its numbers is nothing.

func decodeSession(key string, v any) Session {
	r, ok := v.(Record)
	if !ok {
		r = Record{}
	}
	s := Session{ID: key, Name: text(r, "name"), Created: int64(number(r, "created")), Updated: int64(number(r, "updated")), Saved: int64(number(r, "saved")),
		Settings:  Settings{Sort: text(r, "sort"), NonePrior: number(r, "nonePrior"), Actions: actions(r), Prior: text(r, "prior")},
		Extractor: model.Extractor{ID: text(r, "extractor"), SHA256: text(r, "extractorSum")}}
	if s.Name == "" {
		s.Name = "Recovered session"
	}
	return s
}

func decodeClass(key string, v any) (c Class, reason string) {
	r, ok := v.(Record)
	if !ok {
		return c, "it is no object"
	}
	c = Class{ID: key, Session: text(r, "session"), Name: text(r, "name"), Order: number(r, "order"), Actions: actions(r)}
	if c.Name == "" {
		c.Name = "Recovered class"
	}
	return c, ""
}

// example is the record of an example that lacks nothing, as many are read.
type example struct {
	session, class, group string
	order                 float64
	embedding             []byte
}

func (x example) record(key string) Record {
	r := Record{"id": key, "session": x.session, "class": x.class, "order": x.order, "embedding": x.embedding}
	if x.group != "" {
		r["group"] = x.group
	}
	return r
}

// DecodeExample returns the example of a record in its plain form, or why it is none.
func DecodeExample(key string, v any) (x Example, reason string) {
	var b []byte
	switch v := v.(type) {
	case example:
		x, b = Example{ID: key, Session: v.session, Class: v.class, Order: v.order, Group: v.group}, v.embedding
	case Record:
		x = Example{ID: key, Session: text(v, "session"), Class: text(v, "class"), Order: number(v, "order"), Group: text(v, "group")}
		x.Thumbnail, _ = v["thumbnail"].([]byte) // before version 5 it was in the same record
		b, _ = v["embedding"].([]byte)
	default:
		return x, "it is no object"
	}
	var ok bool
	switch {
	case len(b) == 0:
		return x, "its embedding has no numbers"
	case len(b)%4 != 0:
		return x, "its embedding is cut short"
	case len(b) > 4*model.MaxDimension:
		return x, "its embedding is too long"
	case x.Class == "":
		return x, "it belongs to no class"
	}
	if x.Embedding, ok = finite(b); !ok {
		return x, "its embedding has a number that is not finite"
	}
	return x, ""
}

// finite returns the numbers of a Float32Array from its bytes, and whether all are
// finite. It shares their memory where it can, for a session may have twenty million.
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

// floatBytes returns the bytes of a Float32Array.
func floatBytes(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func text(r Record, key string) string {
	s, _ := r[key].(string)
	return s
}

// actions returns text that a file can hold, nothing for anything else.
func actions(r Record) string {
	s := text(r, "actions")
	if model.CheckActions(s) != nil {
		return ""
	}
	return s
}

// number returns a finite number, 0 for anything else.
func number(r Record, key string) float64 {
	if v, ok := r[key].(float64); ok && v-v == 0 {
		return v
	}
	return 0
}

// stored is a record as it was read.
type stored struct {
	key   string
	value any
}

// gathering is contents that come in pages: the session, then its classes, then examples.
type gathering struct {
	*Contents                 // nil while there is no session
	known     map[string]bool // classes
	lengths   map[int]int     // how many embeddings have each
}

func gather() *gathering { return &gathering{known: map[string]bool{}, lengths: map[int]int{}} }

// take adds records of a table.
func (c *gathering) take(table Table, records []stored) {
	for _, r := range records {
		reason := ""
		switch table {
		case Sessions:
			c.Contents = &Contents{Session: decodeSession(r.key, r.value)}
		case Classes:
			var k Class
			if k, reason = decodeClass(r.key, r.value); reason == "" {
				c.Classes, c.known[k.ID] = append(c.Classes, k), true
			}
		case Examples:
			var x Example
			if x, reason = DecodeExample(r.key, r.value); reason == "" && !c.known[x.Class] {
				reason = "its class is not there"
			}
			if reason == "" {
				c.Examples = append(c.Examples, &x)
				c.lengths[len(x.Embedding)]++
			}
		}
		if reason != "" {
			c.damaged(table, r, reason)
		}
	}
}

// wanted returns the ids of the examples whose thumbnails are to be read at once, and
// says of the others where they are.
func (c *gathering) wanted() (ids []string) {
	for _, x := range c.Examples {
		switch {
		case x.Thumbnail != nil:
		case len(c.Examples) > ManyPictures:
			x.Apart = true
		default:
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// done returns the contents once all examples are taken, with these thumbnails.
func (c *gathering) done(thumbnails map[string][]byte) *Contents {
	for _, x := range c.Examples {
		if b, ok := thumbnails[x.ID]; ok {
			x.Thumbnail = b
		}
	}
	if len(c.lengths) > 1 {
		c.evenOut(usual(c.lengths))
	}
	c.Sort()
	c.trim()
	return c.Contents
}

// trim sets aside what is more than a session holds: it could not be saved to a file.
func (c *Contents) trim() {
	over := map[string]bool{}
	for _, k := range c.Classes[min(len(c.Classes), model.MaxClasses):] {
		over[k.ID] = true
		c.damaged(Classes, stored{k.ID, encode(k)}, "a session holds fewer classes")
	}
	c.Classes = c.Classes[:len(c.Classes)-len(over)]
	n := 0
	c.Examples = slices.DeleteFunc(c.Examples, func(x *Example) bool {
		switch n++; {
		case over[x.Class]:
			c.damaged(Examples, stored{x.ID, Plain(*x)}, "its class is one more than a session holds")
			n--
		case n > model.MaxExamples:
			c.damaged(Examples, stored{x.ID, Plain(*x)}, "a session holds fewer pictures")
		default:
			return false
		}
		return true
	})
}

func (c *Contents) damaged(t Table, r stored, reason string) {
	if x, ok := r.value.(example); ok {
		r.value = x.record(r.key)
	}
	c.Damaged = append(c.Damaged, Damage{Table: t, Key: r.key, Reason: reason, Raw: r.value})
}

// usual returns the length that most have, of several the longest.
func usual(lengths map[int]int) (d int) {
	for n, count := range lengths {
		if count > lengths[d] || count == lengths[d] && n > d {
			d = n
		}
	}
	return d
}

// evenOut sets examples aside whose embeddings have another length than d.
func (c *Contents) evenOut(d int) {
	c.Examples = slices.DeleteFunc(c.Examples, func(x *Example) bool {
		other := len(x.Embedding) != d
		if other {
			c.damaged(Examples, stored{x.ID, Plain(*x)}, "its embedding has another length than most")
		}
		return other
	})
}

// Sort puts classes and examples in order.
func (c *Contents) Sort() {
	slices.SortFunc(c.Classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(c.Examples, func(a, b *Example) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
}

// EncodeDamaged returns a file of records that cannot be used: JSON, with bytes as
// JSON has them, in base64.
func EncodeDamaged(all []Damage) ([]byte, error) {
	type entry struct {
		Table  Table  `json:"table"`
		Key    string `json:"key"`
		Reason string `json:"reason"`
		Record any    `json:"record"`
	}
	entries := make([]entry, len(all))
	for i, d := range all {
		entries[i] = entry{d.Table, d.Key, d.Reason, printable(d.Raw)}
	}
	return json.MarshalIndent(map[string]any{"format": "metaqda.damaged", "records": entries}, "", " ")
}

// printable returns v without the numbers that JSON has no words for.
func printable(v any) any {
	switch v := v.(type) {
	case Record:
		r := make(Record, len(v))
		for k, x := range v {
			r[k] = printable(x)
		}
		return r
	case float64:
		if v-v != 0 {
			return Unknown("number that is not finite")
		}
	}
	return v
}
