package log

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Memory is a DB that ends with the program.
type Memory struct {
	// Before is called before each write, unless nil. An error ends the transaction, which writes
	// nothing.
	Before func(t Table, k Key, v any) error

	mu     sync.Mutex
	tables map[Table]map[Key]any
}

// NewMemory returns an empty database.
func NewMemory() *Memory { return &Memory{tables: map[Table]map[Key]any{}} }

// Do implements [DB].
func (m *Memory) Do(writes bool, f func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &attempt{m, map[Table]map[Key]any{}}
	if err := f(t); err != nil {
		return err
	}
	for table, records := range t.tables {
		m.tables[table] = records
	}
	return nil
}

// Erase implements [DB].
func (m *Memory) Erase() {}

// Records returns the records of a table. They must not be changed.
func (m *Memory) Records(t Table) map[Key]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tables[t])
}

// attempt is a transaction: copies of the tables that it has changed.
type attempt struct {
	*Memory
	tables map[Table]map[Key]any
}

func (a *attempt) table(t Table) map[Key]any {
	if changed, ok := a.tables[t]; ok {
		return changed
	}
	return a.Memory.tables[t]
}

func (a *attempt) Get(t Table, keys ...Key) ([]any, error) {
	all := make([]any, len(keys))
	for i, k := range keys {
		all[i] = a.table(t)[k]
	}
	return all, nil
}

func (a *attempt) All(t Table) ([]Key, error) {
	var all []Key
	for k := range a.table(t) {
		all = append(all, k)
	}
	sort(all, func(a, b *Key) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.N, b.N)) })
	return all, nil
}

func (a *attempt) Keys(t Table, id string) ([]Key, error) {
	all, err := a.All(t)
	return slices.DeleteFunc(all, func(k Key) bool {
		if t != oldClasses && t != oldExamples {
			return k.ID != id
		}
		r, _ := a.table(t)[k].(Record)
		return r["session"] != id
	}), err
}

func (a *attempt) Last(t Table, id string) (int, error) {
	keys, err := a.Keys(t, id)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return keys[len(keys)-1].N, nil
}

func (a *attempt) Put(t Table, k Key, v any) error {
	if a.Before != nil {
		if err := a.Before(t, k, v); err != nil {
			return err
		}
	}
	if _, ok := a.tables[t]; !ok {
		if a.tables[t] = maps.Clone(a.Memory.tables[t]); a.tables[t] == nil {
			a.tables[t] = map[Key]any{}
		}
	}
	if v == nil {
		delete(a.tables[t], k)
	} else {
		a.tables[t][k] = v
	}
	return nil
}
