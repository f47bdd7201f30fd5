package log

import (
	"cmp"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/core/model"
)

// Up to version 7 of the database, each session, class, example and step of the undo history was a
// record. Migrate makes logs of them.

// Tables of former versions.
const (
	oldSessions Table = "sessions"
	oldClasses  Table = "classes"
	oldExamples Table = "examples"
	oldSteps    Table = "steps"
)

var oldTables = []Table{oldSessions, oldClasses, oldExamples, oldSteps}

// Record is an object of a former version with its fields: texts, numbers, booleans, bytes, nil, or
// [Unknown].
type Record map[string]any

// Unknown stands for a value of a type that no record has. Its text describes the value.
type Unknown string

// fields lists the names of the fields in each former table.
var fields = map[Table][]string{
	oldSessions: {"id", "name", "created", "updated", "saved", "sort", "nonePrior", "actions", "prior", "extractor", "extractorSum"},
	oldClasses:  {"id", "session", "name", "order", "actions"},
	oldExamples: {"id", "session", "class", "order", "embedding", "thumbnail", "group"},
}

// Migrate turns the sessions of former versions into logs, each in one transaction. It sets aside
// records that cannot be used. It may be interrupted at any moment: the next call continues. waiting
// lists the sessions that stay unchanged because the storage is full.
func Migrate(db DB) (waiting []string, err error) {
	records := 0
	err = db.Do(false, func(t Tx) error {
		for _, table := range oldTables {
			keys, err := t.All(table)
			if err != nil {
				return err
			}
			records += len(keys)
			for _, k := range keys {
				if table == oldSessions && k.N >= 0 { // otherwise its key is not text
					waiting = append(waiting, k.ID)
				}
			}
		}
		return nil
	})
	if err != nil || records == 0 {
		return nil, err
	}
	for more := true; more && len(waiting) > 0; { // a session that becomes a log may free room for another one
		tried := len(waiting)
		if waiting, err = migrateAll(db, waiting); err != nil {
			return nil, err
		}
		more = len(waiting) < tried
	}
	if len(waiting) > 0 { // the remaining records belong to these sessions
		return waiting, nil
	}
	return nil, db.Do(true, func(t Tx) error { // the remaining records belong to no session
		for _, table := range oldTables {
			keys, err := t.All(table)
			err = cmp.Or(err, each(t, table, keys, func(k Key, v any) (err error) {
				reason := "it belongs to no session"
				if k.N < 0 {
					reason = "its key is not text"
				}
				if table != oldSteps {
					err = aside(t, "", Damage{Table: table, Key: k.ID, Reason: reason, Record: v})
				}
				return cmp.Or(err, t.Put(table, k, nil))
			}))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// migrateAll migrates sessions and returns those for which there is no room.
func migrateAll(db DB, ids []string) (waiting []string, err error) {
	for _, id := range ids {
		var full *metaqda.Error
		err := db.Do(true, func(t Tx) error { return migrate(t, id) })
		switch {
		case errors.As(err, &full) && full.Code == "quota":
			waiting = append(waiting, id)
		case err != nil:
			return nil, err
		}
	}
	return waiting, nil
}

// former is a session of a former version.
type former struct {
	t       Tx
	id      string
	classes []metaqda.Class
	known   map[string]int // index in classes, by id
	lengths map[int]int    // number of embeddings, by length
	found   []*metaqda.Example
	raw     map[string]any // records of found, by id
}

func migrate(t Tx, id string) error {
	v, err := t.Get(oldSessions, Key{ID: id})
	if err != nil || v[0] == nil { // another tab has done it
		return err
	}
	f := &former{t: t, id: id, known: map[string]int{}, lengths: map[int]int{}, raw: map[string]any{}}
	s := Summary{Session: oldSession(id, v[0])}
	if err := cmp.Or(f.readClasses(), f.readExamples()); err != nil {
		return err
	}
	undo, redo, err := f.readHistory()
	if err != nil {
		return err
	}
	s.Classes, s.Examples = len(f.classes), len(f.found)
	if err := create(t, s, f.classes, undo, redo); err != nil {
		return err
	}
	return t.Put(oldSessions, Key{ID: id}, nil)
}

// each calls take for every record of the session in a table. If take returns a reason, it sets the
// record aside. It deletes every record.
func (f *former) each(table Table, take func(key string, v any) (reason string)) error {
	keys, err := f.t.Keys(table, f.id)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool { return k.N < 0 }) // their keys are not text
	return each(f.t, table, keys, func(k Key, v any) error {
		if reason := take(k.ID, v); reason != "" {
			if err := f.aside(table, k.ID, reason, v); err != nil {
				return err
			}
		}
		return f.t.Put(table, k, nil)
	})
}

func (f *former) aside(table Table, key, reason string, v any) error {
	return aside(f.t, f.id, Damage{Table: table, Key: key, Reason: reason, Record: v})
}

func (f *former) readClasses() error {
	err := f.each(oldClasses, func(key string, v any) string {
		r, ok := v.(Record)
		if !ok {
			return "it is not an object"
		}
		f.classes = append(f.classes, metaqda.Class{ID: key, Label: cmp.Or(text(r, "name"), "Recovered class"), Order: number(r, "order"), Actions: actions(r)})
		return ""
	})
	sort(f.classes, func(a, b *metaqda.Class) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID)) })
	for _, k := range f.classes[min(len(f.classes), model.MaxClasses):] {
		err = cmp.Or(err, f.aside(oldClasses, k.ID, "a session holds fewer classes", Record{"id": k.ID, "session": f.id, "name": k.Label, "order": k.Order, "actions": k.Actions}))
	}
	f.classes = f.classes[:min(len(f.classes), model.MaxClasses)]
	names := make([]string, len(f.classes))
	for i, k := range f.classes {
		names[i], f.known[k.ID] = k.Label, i
	}
	for i, name := range model.RepairLabels(names) {
		f.classes[i].Label = name
	}
	return err
}

func (f *former) readExamples() error {
	err := f.each(oldExamples, func(key string, v any) string {
		x, reason := oldExample(key, v)
		if _, ok := f.known[x.Class]; reason == "" && !ok {
			reason = "its class is missing"
		}
		if reason == "" {
			f.found, f.raw[key] = append(f.found, x), v
			f.lengths[len(x.Vector)]++
		}
		return reason
	})
	inOrder(f.found)
	d, n := usual(f.lengths), 0
	f.found = slices.DeleteFunc(f.found, func(x *metaqda.Example) bool {
		reason := ""
		if len(x.Vector) != d {
			reason = "its embedding has another length than most"
		} else if n++; n > model.MaxExamples {
			reason = "a session holds fewer pictures"
		}
		if reason != "" {
			err = cmp.Or(err, f.aside(oldExamples, x.ID, reason, f.raw[x.ID]))
		}
		return reason != ""
	})
	for _, x := range f.found {
		k := &f.classes[f.known[x.Class]]
		k.Examples = append(k.Examples, x)
	}
	return err
}

// usual returns the most frequent length. Ties go to the longest.
func usual(lengths map[int]int) (d int) {
	for n, count := range lengths {
		if count > lengths[d] || count == lengths[d] && n > d {
			d = n
		}
	}
	return d
}

// readHistory reads the undo history up to the first damaged step. Each step is a record of its own.
func (f *former) readHistory() (undo, redo []*metaqda.Step, err error) {
	keys, err := f.t.All(oldSteps)
	keys = slices.DeleteFunc(keys, func(k Key) bool { return !strings.HasPrefix(k.ID, f.id+"/") })
	values := map[string][]byte{}
	if err = cmp.Or(err, each(f.t, oldSteps, keys, func(k Key, v any) error {
		values[k.ID], _ = v.([]byte)
		return f.t.Put(oldSteps, k, nil)
	})); err != nil {
		return nil, nil, err
	}
	read := func(name string) (steps []*metaqda.Step) {
		json.Read(values[f.id+"/"], func(c json.Codec) {
			c.List(name, 0, func(i int, c json.Codec) {
				id, slot := "", 0
				c.Text("ID", &id, true)
				c.Int("Slot", &slot, true)
				s := oldStep(values[f.id+"/"+strconv.Itoa(slot)])
				if i == len(steps) && s != nil && s.ID == id && s.Persistent() {
					steps = append(steps, s)
				}
			})
		})
		return steps
	}
	undo, redo = read("Undo"), read("Redo")
	return undo, redo, putThumbnails(f.t, held(undo, redo)) // the step had those of removed examples
}

// oldStep returns the step of a former record, or nil if it is damaged.
func oldStep(b []byte) *metaqda.Step {
	s, ok := &metaqda.Step{}, true
	take := func(r Record) *metaqda.Example {
		for _, name := range []string{"embedding", "thumbnail"} { // JSON has these bytes in base64
			if b, err := base64.StdEncoding.DecodeString(text(r, name)); err == nil && len(b) > 0 {
				r[name] = b
			}
		}
		x, reason := oldExample(text(r, "id"), r)
		ok = ok && reason == ""
		return x
	}
	read := json.Read(b, func(c json.Codec) {
		c.Text("ID", &s.ID, true)
		c.Text("Name", &s.Name, true)
		c.Bool("Undone", &s.Undone, true)
		r := &coder{}
		c.List("Entries", 0, func(_ int, c json.Codec) {
			var e metaqda.Entry
			r.entry(&e, c)
			fields := c.(*json.Fields).Object
			if x, is := fields["Example"].(json.Object); is {
				e.Example = take(recordOf(x))
			}
			examples, _ := fields["Classes"].([]any) // those of e.Class
			if ok = ok && !r.wrong && (e.Class != nil || len(examples) == 0); !ok {
				return
			}
			for _, v := range examples {
				x, _ := v.(json.Object)
				e.Class.Examples = append(e.Class.Examples, take(recordOf(x)))
			}
			s.Entries = append(s.Entries, e)
		})
	})
	if !read || !ok {
		return nil
	}
	return s
}

// recordOf returns the record that JSON describes.
func recordOf(o json.Object) Record {
	r := Record{}
	for name, v := range o {
		if n, ok := v.(json.Number); ok {
			v, _ = strconv.ParseFloat(string(n), 64)
		}
		r[name] = v
	}
	return r
}

// The decoders take the key as the id, since records are found by it. Every damaged field of a
// session or a class has a default, since other records belong to them. An example without its
// numbers is set aside.

func oldSession(key string, v any) Session {
	r, _ := v.(Record) // nil has no field
	return Session{ID: key, Name: cmp.Or(text(r, "name"), "Recovered session"), Created: int64(number(r, "created")), Updated: int64(number(r, "updated")), Saved: int64(number(r, "saved")),
		Settings:  Settings{Sort: text(r, "sort"), NonePrior: number(r, "nonePrior"), Actions: actions(r), Prior: text(r, "prior")},
		Extractor: model.Extractor{ID: text(r, "extractor"), SHA256: text(r, "extractorSum")}}
}

// oldExample returns the example of a record, or the reason why it cannot be used.
func oldExample(key string, v any) (x *metaqda.Example, reason string) {
	x = &metaqda.Example{ID: key}
	r, ok := v.(Record)
	if !ok {
		return x, "it is not an object"
	}
	x.Class, x.Order, x.Group = text(r, "class"), number(r, "order"), text(r, "group")
	x.Thumbnail, _ = r["thumbnail"].([]byte) // from version 5 on it has a record of its own
	b, _ := r["embedding"].([]byte)
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
	if x.Vector, ok = finite(b); !ok {
		return x, "its embedding has a number that is not finite"
	}
	return x, ""
}

func text(r Record, key string) string {
	s, _ := r[key].(string)
	return s
}

// actions returns the actions of a record, or an empty text if a file cannot hold them.
func actions(r Record) string {
	s := text(r, "actions")
	if model.CheckActions(s) != nil {
		return ""
	}
	return s
}

// number returns a field of a record, or 0 if it is not a finite number.
func number(r Record, key string) float64 {
	if v, ok := r[key].(float64); ok && !math.IsInf(v, 0) && !math.IsNaN(v) {
		return v
	}
	return 0
}

// printable returns v in a form that [json.Writer.Any] can write. JSON has no form for NaN and infinity:
// a text stands for these.
func printable(v any) any {
	switch v := v.(type) {
	case Record:
		o := json.Object{}
		for k, x := range v {
			o[k] = printable(x)
		}
		return o
	case Unknown:
		return string(v)
	case *metaqda.Example:
		numbers := make([]any, len(v.Vector))
		for i, x := range v.Vector {
			if numbers[i] = printable(float64(x)); x-x == 0 {
				numbers[i] = json.Number(strconv.FormatFloat(float64(x), 'g', -1, 32)) // as short as 32 bits allow
			}
		}
		return json.Object{"ID": v.ID, "Class": v.Class, "Order": printable(v.Order), "Group": v.Group, "Vector": numbers, "Thumbnail": printable(v.Thumbnail), "Apart": v.Apart}
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case float64:
		if v-v != 0 {
			return "number that is not finite"
		}
	}
	return v
}
