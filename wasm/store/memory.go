package store

import (
	"maps"
	"slices"
	"sync"
)

// Memory is a Store that does not last: what is in it goes with the program. It
// keeps values in their plain form, as IndexedDB does, so that what is said of one
// holds for the other.
type Memory struct {
	shelf
	mu     sync.Mutex
	tables map[Table]map[string]any
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	m := &Memory{tables: map[Table]map[string]any{}}
	for _, t := range Tables {
		m.tables[t] = map[string]any{}
	}
	m.shelf.transact = func(_ bool, _ []Table, f func(transaction) error) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return f(locked{m})
	}
	return m
}

// All returns the records of a table in their plain form. They must not be changed.
func (m *Memory) All(t Table) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tables[t])
}

// locked is a Memory whose lock is held.
type locked struct{ *Memory }

func (m locked) get(table Table, keys []string) (found []stored, err error) {
	for _, key := range keys {
		if v, ok := m.tables[table][key]; ok {
			found = append(found, stored{key, v})
		}
	}
	return found, nil
}

func (m locked) keys(table Table) ([]string, error) {
	return slices.Sorted(maps.Keys(m.tables[table])), nil
}

func (m locked) where(table Table, index string, value any) (keys []string, err error) {
	names := []string{index}
	if index == byName {
		names = []string{"session", "name"}
	}
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	for _, key := range slices.Sorted(maps.Keys(m.tables[table])) {
		r, _ := m.tables[table][key].(Record)
		if r != nil && !slices.ContainsFunc(names, func(name string) bool { return r[name] != values[slices.Index(names, name)] }) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (m locked) count(table Table, session string) (int, error) {
	keys, err := m.where(table, bySession, session)
	return len(keys), err
}

func (m locked) write(puts []put) error {
	for _, p := range puts {
		if p.value == nil {
			delete(m.tables[p.table], p.key)
		} else {
			m.tables[p.table][p.key] = p.value
		}
	}
	return nil
}
