package store

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Memory is a Store that does not last: what is in it goes with the program. It
// keeps values in their plain form, as IndexedDB does, so that what is said of one
// holds for the other.
type Memory struct {
	mu     sync.Mutex
	tables map[Table]map[string]any
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	m := &Memory{tables: map[Table]map[string]any{}}
	for _, t := range Tables {
		m.tables[t] = map[string]any{}
	}
	return m
}

// Commit implements [Store].
func (m *Memory) Commit(changes []Change) ([]error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ops, refused, err := resolve(changes, locked{m})
	if err != nil {
		return nil, err
	}
	for _, op := range ops {
		m.write(op)
	}
	return refused, nil
}

// Apply implements [Store].
func (m *Memory) Apply(ops []Op) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range ops {
		m.write(op)
	}
	return nil
}

func (m *Memory) write(op Op) {
	if op.Value == nil {
		delete(m.tables[op.Table], op.Key)
		if op.Table == Examples {
			delete(m.tables[Thumbnails], op.Key)
		}
		return
	}
	m.tables[op.Table][op.Key] = encode(op.Value)
	if x, ok := op.Value.(Example); ok && len(x.Thumbnail) > 0 {
		m.tables[Thumbnails][op.Key] = x.Thumbnail
	}
}

// locked is the view of a Memory whose lock is held.
type locked struct{ *Memory }

func (m locked) session(id string) (*Session, error) {
	v, ok := m.tables[Sessions][id]
	if !ok {
		return nil, nil
	}
	s := decodeSession(id, v)
	return &s, nil
}

func (m locked) deleted(session string) (bool, error) {
	return m.exists(Ref{Meta, tombstone(session)})
}

func (m locked) class(id string) (*Class, error) {
	v, ok := m.tables[Classes][id]
	if !ok {
		return nil, nil
	}
	if c, reason := decodeClass(id, v); reason == "" {
		return &c, nil
	}
	return nil, nil
}

func (m locked) named(session, name string) (ids []string, err error) {
	for _, r := range m.of(Classes, session) {
		if c, reason := decodeClass(r.key, r.value); reason == "" && c.Name == name {
			ids = append(ids, r.key)
		}
	}
	return ids, nil
}

func (m locked) examples(class string) (ids []string, err error) {
	for key, v := range m.tables[Examples] {
		if r, ok := v.(Record); ok && r["class"] == class {
			ids = append(ids, key)
		}
	}
	return ids, nil
}

func (m locked) exists(r Ref) (bool, error) {
	_, ok := m.tables[r.Table][r.Key]
	return ok, nil
}

// of returns the records of a session, as the index of IndexedDB does.
func (m *Memory) of(t Table, session string) (all []stored) {
	for _, key := range slices.Sorted(maps.Keys(m.tables[t])) {
		if r, ok := m.tables[t][key].(Record); ok && r["session"] == session {
			all = append(all, stored{key, r})
		}
	}
	return all
}

// Summaries implements [Store].
func (m *Memory) Summaries() ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Summary
	for id, v := range m.tables[Sessions] {
		all = append(all, Summary{Session: decodeSession(id, v), Classes: len(m.of(Classes, id)), Examples: len(m.of(Examples, id))})
	}
	newestFirst(all)
	return all, nil
}

// Unreachable implements [Store].
func (m *Memory) Unreachable() (all []Damage, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for t, reason := range unreachable {
		for _, key := range slices.Sorted(maps.Keys(m.tables[t])) {
			r, _ := m.tables[t][key].(Record)
			_, ok := m.tables[Sessions][text(r, "session")]
			if t == Thumbnails {
				_, ok = m.tables[Examples][key]
			}
			if !ok {
				all = append(all, Damage{Table: t, Key: key, Reason: reason, Raw: m.tables[t][key]})
			}
		}
	}
	return all, nil
}

// unreachable has the reasons of records that nothing leads to.
var unreachable = map[Table]string{Classes: "it belongs to no session", Examples: "it belongs to no session", Thumbnails: "its picture is not there"}

// Contents implements [Store].
func (m *Memory) Contents(session string) (*Contents, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.tables[Sessions][session]
	if !ok {
		return nil, nil
	}
	c := gather(stored{session, v}, m.of(Classes, session))
	c.take(m.of(Examples, session))
	return c.done(m.thumbnails(c.wanted())), nil
}

// Thumbnails implements [Store].
func (m *Memory) Thumbnails(examples []string) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.thumbnails(examples), nil
}

func (m *Memory) thumbnails(examples []string) map[string][]byte {
	found := map[string][]byte{}
	for _, id := range examples {
		if b, ok := m.tables[Thumbnails][id].([]byte); ok {
			found[id] = b
		}
	}
	return found
}

// Parts implements [Store].
func (m *Memory) Parts(session string, classes, examples []string) (*Parts, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := newParts()
	p.Session, _ = locked{m}.session(session)
	_, p.Deleted = m.tables[Meta][tombstone(session)]
	for _, id := range classes {
		p.class(session, id, m.tables[Classes][id])
	}
	for _, id := range examples {
		p.example(session, id, m.tables[Examples][id])
	}
	p.hang(m.thumbnails(examples))
	return p, nil
}

func newParts() *Parts {
	return &Parts{Classes: map[string]Class{}, Examples: map[string]Example{}}
}

func (p *Parts) class(session, id string, v any) {
	if c, reason := decodeClass(id, v); reason == "" && c.Session == session {
		p.Classes[id] = c
	}
}

func (p *Parts) example(session, id string, v any) {
	if x, reason := decodeExample(id, v); reason == "" && x.Session == session {
		p.Examples[id] = x
	}
}

// hang gives the examples their thumbnails.
func (p *Parts) hang(thumbnails map[string][]byte) {
	for id, b := range thumbnails {
		if x, ok := p.Examples[id]; ok {
			x.Thumbnail = b
			p.Examples[id] = x
		}
	}
}

// DeleteSession implements [Store].
func (m *Memory) DeleteSession(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tables[Sessions], id)
	for _, t := range []Table{Classes, Examples} {
		for _, r := range m.of(t, id) {
			m.write(Op{t, r.key, nil})
		}
	}
	maps.DeleteFunc(m.tables[Steps], func(key string, _ any) bool { return strings.HasPrefix(key, id+"/") })
	m.tables[Meta][tombstone(id)] = ""
	return nil
}

// Sweep implements [Store].
func (m *Memory) Sweep() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := map[string]bool{}
	if site, ok := m.tables[Meta][SitePrior].(string); ok {
		used[site] = true
	}
	for id, v := range m.tables[Sessions] {
		if _, ok := v.(Record); !ok {
			return nil // nobody knows what it chose
		}
		used[decodeSession(id, v).Settings.Prior] = true
	}
	maps.DeleteFunc(m.tables[Priors], func(key string, _ any) bool { return !used[key] })
	return nil
}

// Bytes implements [Store].
func (m *Memory) Bytes(table Table, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, _ := m.tables[table][key].([]byte)
	return b, nil
}

// Text implements [Store].
func (m *Memory) Text(key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.tables[Meta][key].(string)
	return s, nil
}

// All returns the records of a table in their plain form. They must not be changed.
func (m *Memory) All(t Table) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tables[t])
}
