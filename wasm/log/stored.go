package log

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	metaqda "metaqda/core"
	"metaqda/core/json"
)

// Stored says where the parts of a session are stored. [Open] returns it.
type Stored struct {
	Session string
	N       int  // number of the last step
	Spare   bool // some stored examples were removed, and undo cannot restore them

	base     int                      // number of the last step that the snapshot covers
	examples map[string]storedExample // by id, with the removed ones that undo can restore
	loose    int                      // number of examples in steps
	segments map[int]int              // how many examples each has
	damaged  []Damage
}

// storedExample is an example with its place.
type storedExample struct {
	*metaqda.Example
	segment int // 0 for a step or the undo history
}

// Damage is a record that cannot be used.
type Damage struct {
	Table  Table
	Key    string
	Reason string // "its checksum does not match"
	Record any

	at Key
}

// Class returns the id of the class that the record belonged to, empty if that is not known.
func (d Damage) Class() string {
	r, _ := d.Record.(json.Object)
	class, _ := r["class"].(string)
	return class
}

// asideOf returns what was set aside.
func asideOf(b []byte) (d Damage) {
	v, ok := json.Parse(b)
	f := json.FieldsOf(v)
	if d.code(f); !ok || f.Failed {
		return Damage{Table: Aside, Reason: "it cannot be read", Record: b}
	}
	d.Record = f.Object["record"]
	return d
}

// code codes all fields except Record.
func (d *Damage) code(c json.Codec) {
	c.Text("table", (*string)(&d.Table), true)
	c.Text("key", &d.Key, true)
	c.Text("reason", &d.Reason, true)
}

func (d *Damage) write(w *json.Writer) {
	w.Object(func(json.Codec) {
		d.code(w)
		w.Name("record")
		w.Any(printable(d.Record))
	})
}

// each calls f for each record under some keys. It reads a few at a time; while it waits for them,
// the program handles messages.
func each(t Tx, table Table, keys []Key, f func(k Key, v any) error) error {
	most := 64
	if table == Snapshots { // they have a megabyte each
		most = 4
	}
	for len(keys) > 0 {
		some := keys[:min(most, len(keys))]
		values, err := t.Get(table, some...)
		if err != nil {
			return err
		}
		for i, k := range some {
			if err := f(k, values[i]); err != nil {
				return err
			}
		}
		keys = keys[len(some):]
	}
	return nil
}

// Open reads a session. It returns nil if there is none of that id.
func Open(db DB, session string) (s *Stored, c *Contents, err error) {
	s = &Stored{Session: session}
	err = db.Do(false, func(t Tx) error {
		if c, err = s.read(t); err != nil || c == nil {
			return err
		}
		return s.readThumbnails(t, c)
	})
	return s, c, err
}

func (s *Stored) read(t Tx) (c *Contents, err error) {
	*s = Stored{Session: s.Session, examples: map[string]storedExample{}, segments: map[int]int{}}
	if s.N, err = t.Last(Steps, s.Session); err != nil || s.N == 0 {
		return nil, err
	}
	c = &Contents{}
	byID, whole := map[string]*metaqda.Class{}, false
	keys, err := t.Keys(Snapshots, s.Session)
	if err != nil {
		return nil, err
	}
	err = each(t, Snapshots, keys, func(k Key, v any) error {
		if k.N != 0 {
			s.readSegment(k, v, byID, whole)
			return nil
		}
		whole = s.readHead(c, v)
		for i := range c.Classes {
			byID[c.Classes[i].ID] = &c.Classes[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !whole { // a snapshot without a head: each class that has examples is there
		c.Session = Session{Name: "Recovered session"}
		for _, k := range byID {
			c.Classes = append(c.Classes, *k)
		}
		sort(c.Classes, func(a, b *metaqda.Class) int { return cmp.Compare(a.ID, b.ID) })
		for i := range c.Classes {
			k := &c.Classes[i]
			k.Label, k.Order = "Recovered class "+strconv.Itoa(i+1), float64(i+1)
		}
	}
	c.Session.ID = s.Session
	for i := range c.Classes {
		inOrder(c.Classes[i].Examples)
	}
	if err := s.readSteps(t, c); err != nil {
		return nil, err
	}
	c.Damaged, err = setAside(t, s.Session)
	c.Damaged = append(c.Damaged, s.damaged...)
	return c, err
}

// inOrder sorts examples as a class has them.
func inOrder(all []*metaqda.Example) {
	slices.SortStableFunc(all, func(a, b *metaqda.Example) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
}

// readHead reads the head of the snapshot, and reports whether it can be used.
func (s *Stored) readHead(c *Contents, v any) bool {
	h, reason := decodeHead(v)
	if reason != "" {
		s.damage(Snapshots, Key{s.Session, 0}, reason, v)
		return false
	}
	s.base, c.Session, c.Classes, c.Undo, c.Redo = h.N, h.Session, h.Classes, h.Undo, h.Redo
	s.addHistory(h.Undo, h.Redo)
	return true
}

// addHistory adds the examples that the undo history has.
func (s *Stored) addHistory(histories ...[]*metaqda.Step) {
	for _, x := range held(histories...) {
		if _, ok := s.examples[x.ID]; !ok {
			s.examples[x.ID] = storedExample{Example: x}
		}
	}
}

// held returns the examples that an undo history has.
func held(histories ...[]*metaqda.Step) (all []*metaqda.Example) {
	for _, steps := range histories {
		for _, one := range steps {
			all = append(all, examplesOf(one.Entries)...)
		}
	}
	return all
}

func examplesOf(entries []metaqda.Entry) (all []*metaqda.Example) {
	for _, e := range entries {
		if e.Class != nil {
			all = append(all, e.Class.Examples...)
		}
		if e.Example != nil {
			all = append(all, e.Example)
		}
	}
	return all
}

func (s *Stored) readSegment(at Key, v any, byID map[string]*metaqda.Class, whole bool) {
	_, examples, reason := decode(v)
	if reason != "" { // the next compaction stores the intact ones anew
		s.damage(Snapshots, at, reason, v)
		examples, at.N = sound(v), 0
	} else {
		s.segments[at.N] = len(examples)
	}
	for _, x := range examples {
		s.examples[x.ID] = storedExample{x, at.N}
		k := byID[x.Class]
		if k == nil && !whole {
			k = &metaqda.Class{ID: x.Class}
			byID[x.Class] = k
		}
		if k != nil && len(x.Vector) > 0 {
			k.Examples = append(k.Examples, x)
		} else {
			s.damage(Snapshots, at, "one of its examples has no class or no embedding", x.ID)
		}
	}
}

func (s *Stored) readSteps(t Tx, c *Contents) error {
	keys, err := t.Keys(Steps, s.Session)
	keys = slices.DeleteFunc(keys, func(k Key) bool { return k.N <= s.base })
	if err != nil {
		return err
	}
	return each(t, Steps, keys, func(k Key, v any) error {
		step, reason := decodeStep(v)
		if reason != "" {
			s.damage(Steps, k, reason, v)
			return nil
		}
		step.N = k.N
		c.Steps = append(c.Steps, step)
		s.Appended(step)
		return nil
	})
}

// Appended adds a step that is stored.
func (s *Stored) Appended(step Step) {
	s.N = max(s.N, step.N)
	if step.Command == nil {
		return
	}
	for _, x := range examplesOf(step.Command.Entries) {
		if was, ok := s.examples[x.ID]; ok && was.segment > 0 || x.Vector == nil {
			continue
		}
		s.examples[x.ID] = storedExample{Example: x}
		s.loose++
	}
}

// Check records whether there are stored examples that are neither in the classes nor in the undo
// history.
func (s *Stored) Check(classes []metaqda.Class, undo, redo []*metaqda.Step) {
	n, seen := 0, map[string]bool{}
	count := func(all []*metaqda.Example) {
		for _, x := range all {
			if _, ok := s.examples[x.ID]; ok && !seen[x.ID] {
				seen[x.ID] = true
				n++
			}
		}
	}
	for _, k := range classes {
		count(k.Examples)
	}
	count(held(undo, redo))
	s.Spare = n < len(s.examples)
}

// Long reports whether so many steps or examples came after the snapshot that a new snapshot is
// due.
func (s *Stored) Long() bool { return s.N-s.base > 256 || s.loose > 2*perSegment }

func (s *Stored) damage(t Table, at Key, reason string, record any) {
	s.damaged = append(s.damaged, Damage{Table: t, Key: name(t, at), Reason: reason, Record: record, at: at})
}

// Damage records a step that cannot be replayed.
func (s *Stored) Damage(step Step, why error) Damage {
	s.damage(Steps, Key{s.Session, step.N}, why.Error(), encodeStep(step))
	return s.damaged[len(s.damaged)-1]
}

// readThumbnails reads the thumbnails of a session with at most ManyPictures examples. Those of a
// larger session stay in the store, and the examples are marked as Apart.
func (s *Stored) readThumbnails(t Tx, c *Contents) error {
	all := append(held(c.Undo, c.Redo), added(c.Steps)...)
	for _, k := range c.Classes {
		all = append(all, k.Examples...)
	}
	if len(s.examples) <= ManyPictures {
		return giveThumbnails(t, all)
	}
	for _, x := range all {
		x.Apart = true
	}
	return nil
}

// Compact writes a snapshot of the session and deletes the steps that it covers but the last one. It
// deletes the thumbnails of examples that are neither in the session nor in the undo history. If
// another tab has appended a step or compacted meanwhile, it does nothing and returns false.
func (s *Stored) Compact(db DB, now Summary, classes []metaqda.Class, undo, redo []*metaqda.Step) (done bool, err error) {
	next, full := s.next(classes, undo, redo)
	behind := false
	err = db.Do(true, func(t Tx) error {
		v, err := t.Get(Snapshots, Key{s.Session, 0})
		if err != nil {
			return err
		}
		n, err := t.Last(Steps, s.Session)
		if h, _ := decodeHead(v[0]); err != nil || n != s.N || h.N != s.base {
			behind = true
			return err
		}
		if err := s.moveAside(t, now); err != nil {
			return err
		}
		for n, examples := range full {
			v := any(nil)
			if len(examples) > 0 {
				v = encode("null", examples...)
			}
			if err := t.Put(Snapshots, Key{s.Session, n}, v); err != nil {
				return err
			}
		}
		if err := t.Put(Snapshots, Key{s.Session, 0}, encodeHead(head{s.N, now.Session, classes, undo, redo})); err != nil {
			return err
		}
		keys, err := t.Keys(Steps, s.Session)
		for _, k := range keys {
			if k.N < s.N && err == nil {
				err = t.Put(Steps, k, nil)
			}
		}
		for id := range s.examples {
			if _, ok := next.examples[id]; !ok && err == nil {
				err = t.Put(Thumbnails, Key{ID: id}, nil)
			}
		}
		return err
	})
	if err != nil || behind {
		return false, err
	}
	*s = *next
	return true, nil
}

// next returns what is stored after a compaction, and the examples of each segment that it writes; a
// segment without examples is deleted. A segment stays as it is unless an example of it was changed,
// moved or removed. Examples of steps fill the last segment and then new ones.
func (s *Stored) next(classes []metaqda.Class, undo, redo []*metaqda.Step) (next *Stored, full map[int][]*metaqda.Example) {
	next = &Stored{Session: s.Session, N: s.N, base: s.N, examples: map[string]storedExample{}, segments: maps.Clone(s.segments)}
	full = map[int][]*metaqda.Example{}
	var loose []*metaqda.Example
	for _, k := range classes {
		for _, x := range k.Examples {
			was := s.examples[x.ID]
			if was.segment == 0 {
				loose = append(loose, x)
				continue
			}
			if was.Class != x.Class || was.Order != x.Order || was.Group != x.Group { // it has moved
				full[was.segment] = nil
			}
			next.examples[x.ID] = storedExample{x, was.segment}
		}
	}
	for id, was := range s.examples {
		if _, ok := next.examples[id]; !ok && was.segment > 0 {
			full[was.segment] = nil
		}
	}
	last := 0
	for n := range next.segments {
		last = max(last, n)
	}
	for _, x := range loose {
		if last == 0 || next.segments[last] >= perSegment {
			last++
		}
		next.segments[last]++
		full[last] = nil
		next.examples[x.ID] = storedExample{x, last}
	}
	for _, k := range classes {
		for _, x := range k.Examples {
			n := next.examples[x.ID].segment
			if some, ok := full[n]; ok {
				full[n] = append(some, x)
			}
		}
	}
	for n, examples := range full {
		if next.segments[n] = len(examples); len(examples) == 0 {
			delete(next.segments, n)
		}
	}
	next.addHistory(undo, redo)
	return next, full
}

// moveAside moves the damaged records, which the new snapshot replaces, to the table Aside.
func (s *Stored) moveAside(t Tx, now Summary) error {
	for _, d := range s.damaged {
		if err := aside(t, s.Session, d); err != nil {
			return err
		}
		v := any(nil)
		if d.Table == Steps && d.at.N == s.N { // the last step stays
			v = encodeStep(Step{After: now, anew: true})
		}
		if err := t.Put(d.Table, d.at, v); err != nil {
			return err
		}
	}
	return nil
}

// aside adds a damaged record to the table Aside.
func aside(t Tx, session string, d Damage) error {
	n, err := t.Last(Aside, session)
	if err != nil {
		return err
	}
	var w json.Writer
	d.write(&w)
	return t.Put(Aside, Key{session, n + 1}, w.B)
}

// setAside returns the records of a session that were set aside.
func setAside(t Tx, session string) (all []Damage, err error) {
	keys, err := t.Keys(Aside, session)
	if err != nil {
		return nil, err
	}
	err = each(t, Aside, keys, func(k Key, v any) error {
		b, _ := v.([]byte)
		d := asideOf(b)
		d.Key = cmp.Or(d.Key, name(Aside, k))
		all = append(all, d)
		return nil
	})
	return all, err
}

// Unreachable returns the records that belong to no session.
func Unreachable(db DB) (all []Damage, err error) {
	err = db.Do(false, func(t Tx) error {
		ids, err := sessions(t)
		if err != nil {
			return err
		}
		known, there := map[string]bool{}, map[string]bool{"": true}
		for _, id := range ids {
			s := &Stored{Session: id}
			if _, err := s.read(t); err != nil {
				return err
			}
			there[id] = true
			for id := range s.examples {
				known[id] = true
			}
		}
		for _, id := range append(ids, "") {
			some, err := setAside(t, id)
			if err != nil {
				return err
			}
			for _, d := range some { // its thumbnail may be there
				known[d.Key] = true
			}
			if id == "" {
				all = some
			}
		}
		reasons := map[Table]string{Snapshots: "it belongs to no session", Aside: "it belongs to no session", Thumbnails: "its picture is missing"}
		for _, table := range Tables {
			keys, err := t.All(table)
			if err != nil {
				return err
			}
			for _, k := range keys {
				reason := reasons[table]
				switch {
				case k.N < 0:
					reason = "its key is unknown"
				case reason == "" || table == Thumbnails && known[k.ID] || table != Thumbnails && there[k.ID]:
					continue
				}
				v, err := t.Get(table, k)
				if err != nil {
					return err
				}
				all = append(all, Damage{Table: table, Key: name(table, k), Reason: reason, Record: v[0]})
			}
		}
		return nil
	})
	return all, err
}

// numbered reports whether the keys of a table have a number.
func numbered(t Table) bool { return t == Steps || t == Snapshots || t == Aside }

func name(t Table, k Key) string {
	if numbered(t) && k.N >= 0 {
		return k.ID + "/" + strconv.Itoa(k.N)
	}
	return k.ID
}

// EncodeDamaged returns a file of records that cannot be used. The file is JSON, with bytes in base64.
func EncodeDamaged(all []Damage) []byte {
	var w json.Writer
	w.Object(func(json.Codec) {
		w.Name("format")
		w.String("metaqda.damaged")
		w.Name("records")
		w.Open('[')
		for i := range all {
			all[i].write(&w)
		}
		w.Close(']')
	})
	return w.B
}
