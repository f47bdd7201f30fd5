package store

import "sync"

// Memory is a Store that does not last: what is in it goes with the program.
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

// Apply implements [Store].
func (m *Memory) Apply(ops []Op) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range ops {
		if op.Value == nil {
			delete(m.tables[op.Table], op.Key)
		} else {
			m.tables[op.Table][op.Key] = op.Value
		}
	}
	return nil
}

// Summaries implements [Store].
func (m *Memory) Summaries() ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Summary
	for id, v := range m.tables[Sessions] {
		c := m.contents(id)
		all = append(all, Summary{Session: v.(Session), Classes: len(c.Classes), Examples: len(c.Examples)})
	}
	newestFirst(all)
	return all, nil
}

// Contents implements [Store].
func (m *Memory) Contents(session string) (*Contents, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.contents(session), nil
}

func (m *Memory) contents(session string) *Contents {
	s, ok := m.tables[Sessions][session].(Session)
	if !ok {
		return nil
	}
	c := &Contents{Session: s}
	for _, v := range m.tables[Classes] {
		if k := v.(Class); k.Session == session {
			c.Classes = append(c.Classes, k)
		}
	}
	for _, v := range m.tables[Examples] {
		if e := v.(Example); e.Session == session {
			c.Examples = append(c.Examples, e)
		}
	}
	tidy(c)
	return c
}

// DeleteSession implements [Store].
func (m *Memory) DeleteSession(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tables[Sessions], id)
	for key, v := range m.tables[Classes] {
		if v.(Class).Session == id {
			delete(m.tables[Classes], key)
		}
	}
	for key, v := range m.tables[Examples] {
		if v.(Example).Session == id {
			delete(m.tables[Examples], key)
		}
	}
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
