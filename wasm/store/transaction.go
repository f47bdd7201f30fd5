package store

import (
	"cmp"
	"slices"
	"strings"
)

// transaction is what a kind of storage can do with records in their plain form, as one
// whole. It sees what it has written.
type transaction interface {
	get(table Table, keys []string) ([]stored, error) // those that are there, in order
	keys(table Table) ([]string, error)
	where(table Table, index string, value any) ([]string, error) // keys of the records that have it
	count(table Table, session string) (int, error)
	write(puts []put) error
}

// put writes one record in its plain form, or deletes it for nil.
type put struct {
	table Table
	key   string
	value any
}

// What an index is of, by its name: a field, or the fields session and name.
const (
	bySession = "session" // of classes and examples
	byClass   = "class"   // of examples
	byName    = "name"    // of classes
)

// shelf is a [Store] over transactions.
type shelf struct {
	// transact calls f, and keeps what it writes if it returns no error.
	transact func(writes bool, tables []Table, f func(transaction) error) error
}

func (s shelf) read(tables []Table, f func(view) error) error {
	return s.transact(false, tables, func(t transaction) error { return f(view{t}) })
}

// write writes what operations come to: thumbnails have records beside those of examples.
func write(t transaction, ops []Op) error {
	var puts []put
	for _, op := range ops {
		x, ok := op.Value.(Example)
		switch {
		case op.Table == Examples && op.Value == nil:
			puts = append(puts, put{Thumbnails, op.Key, nil})
		case ok && len(x.Thumbnail) > 0:
			puts = append(puts, put{Thumbnails, op.Key, x.Thumbnail})
		}
		puts = append(puts, put{op.Table, op.Key, encode(op.Value)})
	}
	return t.write(puts)
}

// Commit implements [Store].
func (s shelf) Commit(changes []Change) (refused []error, err error) {
	if len(changes) == 0 {
		return nil, nil
	}
	err = s.transact(true, Tables, func(t transaction) error {
		c := commit{view: view{t}, sessions: map[string]*Session{}, classes: map[string]*Class{}}
		refused = make([]error, len(changes))
		for i, change := range changes {
			why, err := c.check(change.Needs, change.Ops)
			if err != nil {
				return err
			}
			if why != nil {
				refused[i] = why
			} else if err := c.take(change.Ops); err != nil {
				return err
			}
		}
		return c.write()
	})
	return refused, err
}

// view is a transaction with the records as what they are.
type view struct{ transaction }

func (v view) one(table Table, key string) (value any, ok bool, err error) {
	found, err := v.get(table, []string{key})
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	return found[0].value, true, nil
}

// session returns nil if there is none.
func (v view) session(id string) (*Session, error) {
	r, ok, err := v.one(Sessions, id)
	if !ok {
		return nil, err
	}
	s := decodeSession(id, r)
	return &s, nil
}

func (v view) deleted(session string) (bool, error) {
	_, ok, err := v.one(Meta, tombstone(session))
	return ok, err
}

// class returns nil if there is none that can be read.
func (v view) class(id string) (*Class, error) {
	r, ok, err := v.one(Classes, id)
	if !ok {
		return nil, err
	}
	if c, reason := decodeClass(id, r); reason == "" {
		return &c, nil
	}
	return nil, nil
}

// Summaries implements [Store].
func (s shelf) Summaries() (all []Summary, err error) {
	err = s.read([]Table{Sessions, Classes, Examples}, func(v view) error {
		sessions, err := v.sessions()
		for _, r := range sessions {
			one := Summary{Session: decodeSession(r.key, r.value)}
			if one.Classes, err = v.count(Classes, r.key); err != nil {
				return err
			}
			if one.Examples, err = v.count(Examples, r.key); err != nil {
				return err
			}
			all = append(all, one)
		}
		return err
	})
	slices.SortFunc(all, func(a, b Summary) int { return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

func (v view) sessions() ([]stored, error) {
	keys, err := v.keys(Sessions)
	if err != nil {
		return nil, err
	}
	return v.get(Sessions, keys)
}

// unreachable has the reasons of records that nothing leads to.
var unreachable = map[Table]string{Classes: "it belongs to no session", Examples: "it belongs to no session", Thumbnails: "its picture is not there"}

// Unreachable implements [Store].
func (s shelf) Unreachable() (all []Damage, err error) {
	err = s.read([]Table{Sessions, Classes, Examples, Thumbnails}, func(v view) error {
		sessions, err := v.keys(Sessions)
		for table, reason := range unreachable {
			reached := map[string]bool{}
			lead := func(keys []string, failed error) {
				for _, key := range keys {
					reached[key] = true
				}
				err = cmp.Or(err, failed)
			}
			if table == Thumbnails {
				lead(v.keys(Examples))
			} else {
				for _, session := range sessions {
					lead(v.where(table, bySession, session))
				}
			}
			keys, failed := v.keys(table)
			if err = cmp.Or(err, failed); err != nil {
				return err
			}
			found, failed := v.get(table, slices.DeleteFunc(keys, func(key string) bool { return reached[key] }))
			for _, r := range found {
				all = append(all, Damage{Table: table, Key: r.key, Reason: reason, Raw: r.value})
			}
			err = failed
		}
		return err
	})
	return all, err
}

// Contents implements [Store].
func (s shelf) Contents(session string) (c *Contents, err error) {
	err = s.read([]Table{Sessions, Classes, Examples, Thumbnails}, func(v view) error {
		head, err := v.get(Sessions, []string{session})
		if err != nil || len(head) == 0 {
			return err
		}
		all := gather()
		all.take(Sessions, head)
		for _, table := range []Table{Classes, Examples} {
			keys, err := v.where(table, bySession, session)
			if err != nil {
				return err
			}
			records, err := v.get(table, keys)
			if err != nil {
				return err
			}
			all.take(table, records)
		}
		thumbnails, err := v.thumbnails(all.wanted())
		if err == nil {
			c = all.done(thumbnails)
		}
		return err
	})
	return c, err
}

// Thumbnails implements [Store].
func (s shelf) Thumbnails(examples []string) (found map[string][]byte, err error) {
	err = s.read([]Table{Thumbnails}, func(v view) error {
		found, err = v.thumbnails(examples)
		return err
	})
	return found, err
}

func (v view) thumbnails(examples []string) (map[string][]byte, error) {
	records, err := v.get(Thumbnails, examples)
	found := make(map[string][]byte, len(records))
	for _, r := range records {
		if b, ok := r.value.([]byte); ok {
			found[r.key] = b
		}
	}
	return found, err
}

// Parts implements [Store].
func (s shelf) Parts(session string, classes, examples []string) (*Parts, error) {
	p := &Parts{Classes: map[string]Class{}, Examples: map[string]Example{}}
	return p, s.read([]Table{Sessions, Classes, Examples, Thumbnails, Meta}, func(v view) (err error) {
		if p.Session, err = v.session(session); err != nil {
			return err
		}
		if p.Deleted, err = v.deleted(session); err != nil {
			return err
		}
		found, err := v.get(Classes, classes)
		for _, r := range found {
			if c, reason := decodeClass(r.key, r.value); reason == "" && c.Session == session {
				p.Classes[r.key] = c
			}
		}
		if err != nil {
			return err
		}
		thumbnails, err := v.thumbnails(examples)
		if err != nil {
			return err
		}
		found, err = v.get(Examples, examples)
		for _, r := range found {
			if x, reason := DecodeExample(r.key, r.value); reason == "" && x.Session == session {
				if b, ok := thumbnails[r.key]; ok {
					x.Thumbnail = b
				}
				p.Examples[r.key] = x
			}
		}
		return err
	})
}

// DeleteSession implements [Store].
func (s shelf) DeleteSession(id string) error {
	return s.transact(true, []Table{Sessions, Classes, Examples, Thumbnails, Steps, Meta}, func(t transaction) error {
		ops := []Op{{Sessions, id, nil}, {Meta, tombstone(id), ""}}
		classes, err := t.where(Classes, bySession, id)
		examples, err2 := t.where(Examples, bySession, id)
		steps, err3 := t.keys(Steps)
		if err := cmp.Or(err, err2, err3); err != nil {
			return err
		}
		steps = slices.DeleteFunc(steps, func(key string) bool { return !strings.HasPrefix(key, id+"/") })
		for table, keys := range map[Table][]string{Classes: classes, Examples: examples, Steps: steps} {
			for _, key := range keys {
				ops = append(ops, Op{table, key, nil})
			}
		}
		return write(t, ops)
	})
}

// Sweep implements [Store].
func (s shelf) Sweep() error {
	return s.transact(true, []Table{Sessions, Priors, Meta}, func(t transaction) error {
		site, _, err := view{t}.one(Meta, SitePrior)
		if err != nil {
			return err
		}
		sessions, err := view{t}.sessions()
		if err != nil {
			return err
		}
		used := map[any]bool{site: true}
		for _, r := range sessions {
			if _, ok := r.value.(Record); !ok {
				return nil // nobody knows what it chose
			}
			used[decodeSession(r.key, r.value).Settings.Prior] = true
		}
		priors, err := t.keys(Priors)
		var ops []Op
		for _, sum := range priors {
			if !used[sum] {
				ops = append(ops, Op{Priors, sum, nil})
			}
		}
		if err != nil {
			return err
		}
		return write(t, ops)
	})
}

// Bytes implements [Store].
func (s shelf) Bytes(table Table, key string) (b []byte, err error) {
	v, err := s.value(table, key)
	b, _ = v.([]byte)
	return b, err
}

// Text implements [Store].
func (s shelf) Text(key string) (text string, err error) {
	v, err := s.value(Meta, key)
	text, _ = v.(string)
	return text, err
}

func (s shelf) value(table Table, key string) (value any, err error) {
	err = s.read([]Table{table}, func(v view) error {
		value, _, err = v.one(table, key)
		return err
	})
	return value, err
}
