package store

import (
	"encoding/json"
	"errors"
	"slices"
	"syscall/js"
	"time"
)

// A session of thousands of pictures is read page by page, each of them one request
// for records and one for their keys. Package idb has no getAll for records, so
// this is IndexedDB's own interface.

// pageSize is how many records are read before messages are let in: some milliseconds
// of work, with thumbnails some megabytes.
const pageSize = 250

var (
	jsKeyRange = js.Global().Get("IDBKeyRange")
	jsJSON     = js.Global().Get("JSON")
)

// snapshot is a transaction that only reads.
type snapshot struct{ txn js.Value }

// snapshot begins one. It ends by itself as soon as the program waits for anything but
// its requests.
func (s *IndexedDB) snapshot(tables ...Table) (t snapshot, err error) {
	names := make([]any, len(tables))
	for i, table := range tables {
		names[i] = string(table)
	}
	return t, try(func() { t.txn = s.raw.Call("transaction", names, "readonly") })
}

func (t snapshot) store(table Table) js.Value { return t.txn.Call("objectStore", string(table)) }

// asked is requests that wait for their answers.
type asked struct {
	requests         []js.Value
	done             chan error
	answered, failed js.Func
}

// ask issues requests.
func ask(issue func() []js.Value) (a *asked, err error) {
	a = &asked{}
	if err := try(func() { a.requests = issue() }); err != nil {
		return nil, err
	}
	a.done = make(chan error, len(a.requests))
	a.answered = js.FuncOf(func(js.Value, []js.Value) any { a.done <- nil; return nil })
	a.failed = js.FuncOf(func(this js.Value, _ []js.Value) any { a.done <- js.Error{Value: this.Get("error")}; return nil })
	for _, r := range a.requests {
		r.Set("onsuccess", a.answered)
		r.Set("onerror", a.failed)
	}
	return a, nil
}

// results waits for the answers.
func (a *asked) results() (results []js.Value, err error) {
	timer := time.NewTimer(transactionTimeout)
	defer timer.Stop()
	for range a.requests {
		select {
		case why := <-a.done:
			err = errors.Join(err, why)
		case <-timer.C:
			return nil, errTimeout // and the functions stay, for they may be called yet
		}
	}
	a.answered.Release()
	a.failed.Release()
	if err != nil {
		return nil, err
	}
	for _, r := range a.requests {
		results = append(results, r.Get("result"))
	}
	return results, nil
}

// now asks and waits.
func now(issue func() []js.Value) ([]js.Value, error) {
	a, err := ask(issue)
	if err != nil {
		return nil, err
	}
	return a.results()
}

// pages hands out the records of a session, as far as they have an id, while the next
// ones are on their way.
func (t snapshot) pages(table Table, session string, page func([]stored)) error {
	from := func(after []any) (*asked, error) {
		return ask(func() []js.Value {
			index := t.store(table).Call("index", byPlace)
			rest := jsKeyRange.Call("bound", after, []any{session, []any{}}, true, true) // an array comes after all strings
			return []js.Value{index.Call("getAllKeys", rest, pageSize), index.Call("getAll", rest, pageSize)}
		})
	}
	next, err := from([]any{session})
	for err == nil && next != nil {
		var found []js.Value
		if found, err = next.results(); err != nil {
			return err
		}
		next = nil
		keys, records := found[0], found[1]
		n := keys.Length()
		if n == pageSize {
			next, err = from([]any{session, records.Index(n - 1).Get("id")})
		}
		page(storedIn(table, keys, records))
	}
	return err
}

// storedIn returns records under keys that are strings.
func storedIn(table Table, keys, records js.Value) []stored {
	all := make([]stored, 0, keys.Length())
	texts := textsOf(table, records)
	var names []string
	if json.Unmarshal([]byte(jsJSON.Call("stringify", keys).String()), &names) != nil {
		names = nil // a key of another kind
	}
	for i := range keys.Length() {
		var key string
		if names != nil {
			key = names[i]
		} else if k := keys.Index(i); k.Type() == js.TypeString {
			key = k.String()
		} else {
			continue
		}
		if texts == nil || texts[i] == nil {
			all = append(all, stored{key, plain(table, records.Index(i))})
			continue
		}
		r, v := texts[i], records.Index(i)
		for _, name := range arrays[table] {
			r[name] = plain("", v.Get(name))
		}
		all = append(all, stored{key, r})
	}
	return all
}

// arrays are those fields of records that JSON has no form for.
var arrays = map[Table][]string{Examples: {"embedding", "thumbnail"}}

// textsOf returns the other fields of many records, all in one go, for each takes a
// call or three across the boundary. It returns nil where there is no JSON of them,
// and nil for a record that is no plain object of text and numbers.
func textsOf(table Table, records js.Value) []Record {
	var names []any
	for _, name := range fields[table] {
		if !slices.Contains(arrays[table], name) {
			names = append(names, name)
		}
	}
	var text string
	if try(func() { text = jsJSON.Call("stringify", records, names).String() }) != nil {
		return nil
	}
	var all []any
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	rows := make([]Record, len(all))
	for i, v := range all {
		o, _ := v.(map[string]any)
		for _, x := range o {
			switch x.(type) {
			case string, float64, bool:
			default:
				o = nil
			}
		}
		if len(o) == len(names) {
			rows[i] = o
		}
	}
	return rows
}

// records hands out all records of a session. Those that lack an id come last, one by
// one: the index that makes pages does not have them.
func (t snapshot) records(table Table, session string, page func([]stored)) error {
	got := map[string]bool{}
	if err := t.pages(table, session, func(some []stored) {
		for _, r := range some {
			got[r.key] = true
		}
		page(some)
	}); err != nil {
		return err
	}
	index := func(method string) func() []js.Value {
		return func() []js.Value { return []js.Value{t.store(table).Call("index", bySession).Call(method, session)} }
	}
	count, err := now(index("count"))
	if err != nil || count[0].Int() == len(got) {
		return err
	}
	keys, err := now(index("getAllKeys"))
	if err != nil {
		return err
	}
	for i := range keys[0].Length() {
		key := keys[0].Index(i)
		if key.Type() != js.TypeString || got[key.String()] {
			continue
		}
		found, err := now(func() []js.Value { return []js.Value{t.store(table).Call("get", key)} })
		if err != nil {
			return err
		}
		page([]stored{{key.String(), plain(table, found[0])}})
	}
	return nil
}

// Contents implements [Store].
func (s *IndexedDB) Contents(session string) (*Contents, error) {
	c, err := s.contents(session)
	return c, explain(err)
}

func (s *IndexedDB) contents(session string) (*Contents, error) {
	t, err := s.snapshot(Sessions, Classes, Examples)
	if err != nil {
		return nil, err
	}
	head, err := now(func() []js.Value { return []js.Value{t.store(Sessions).Call("get", session)} })
	if err != nil || head[0].IsUndefined() {
		return nil, err
	}
	var classes []stored
	if err := t.records(Classes, session, func(some []stored) { classes = append(classes, some...) }); err != nil {
		return nil, err
	}
	c := gather(stored{session, plain(Sessions, head[0])}, classes)
	if err := t.records(Examples, session, c.take); err != nil {
		return nil, err
	}
	return c.done(), nil
}
