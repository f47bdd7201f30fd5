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

// pageBytes is how many bytes of embeddings come in one answer, as far as the record
// before tells. Answers of some hundred kilobytes take Chromium two to four times as
// long for each record, those of a tenth of this a little longer.
const pageBytes = 96 << 10

// Pages have so many records: the first, and the most.
const (
	firstPage = 16
	mostInOne = 250
)

var (
	jsKeyRange = js.Global().Get("IDBKeyRange")
	jsJSON     = js.Global().Get("JSON")
)

// snapshot is a transaction that only reads.
type snapshot struct {
	*IndexedDB
	txn js.Value
}

// snapshot begins one. It ends by itself as soon as the program waits for anything but
// its requests.
func (s *IndexedDB) snapshot(tables ...Table) (t snapshot, err error) {
	names := make([]any, len(tables))
	for i, table := range tables {
		names[i] = string(table)
	}
	t.IndexedDB = s
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

// pages hands out the records of a session, as far as they have an id and a key that is
// a string, while the next ones are on their way.
func (t snapshot) pages(table Table, session string, page func([]stored)) error {
	place := func() js.Value { return t.store(table).Call("index", byPlace) }
	rest := func(after []any) js.Value {
		return jsKeyRange.Call("bound", after, []any{session, []any{}}, true, true) // an array comes after all strings
	}
	found, err := now(func() []js.Value { return []js.Value{place().Call("getAllKeys", rest([]any{session}))} })
	if err != nil {
		return err
	}
	keys, at, size := found[0], 0, firstPage
	from := func(after []any) (*asked, error) {
		return ask(func() []js.Value { return []js.Value{place().Call("getAll", rest(after), size)} })
	}
	var next *asked
	if keys.Length() > 0 {
		next, err = from([]any{session})
	}
	for err == nil && next != nil {
		var found []js.Value
		if found, err = next.results(); err != nil {
			return err
		}
		next = nil
		records := found[0]
		n := records.Length()
		if n == size {
			last := records.Index(n - 1)
			size = pageAfter(table, last)
			next, err = from([]any{session, last.Get("id")})
		}
		some := t.storedIn(table, namesIn(keys.Call("slice", at, at+n)), records)
		page(slices.DeleteFunc(some, func(r stored) bool { return r.key == noKey }))
		at += n
	}
	return err
}

// noKey stands for a key that is no string, which nothing here writes.
const noKey = ""

// namesIn returns keys, all in one go.
func namesIn(keys js.Value) []string {
	all := listOf[any](jsJSON.Call("stringify", keys).String())
	names := make([]string, len(all))
	for i, key := range all {
		names[i], _ = key.(string)
	}
	return names
}

// pageAfter returns how many records to ask for after one like this.
func pageAfter(table Table, last js.Value) int {
	if table != Examples {
		return mostInOne
	}
	bytes := 1
	for _, name := range []string{"embedding", "thumbnail"} {
		if a := last.Get(name); a.InstanceOf(jsUint8Array) {
			bytes += a.Length()
		}
	}
	return max(1, min(mostInOne, pageBytes/bytes))
}

// storedIn returns records with their keys.
func (s *IndexedDB) storedIn(table Table, keys []string, records js.Value) []stored {
	all := make([]stored, len(keys))
	rows, bytes := s.gathered(table, records)
	for i, key := range keys {
		if rows == nil || rows[i] == nil {
			all[i] = stored{key, plain(table, records.Index(i))}
			continue
		}
		r := make(Record, len(rows[i]))
		for j, name := range fields[table] {
			switch v := rows[i][j].(type) {
			case []any: // how many of the bytes
				n := int(v[0].(float64))
				r[name], bytes = bytes[:n:n], bytes[n:]
			case nil: // a field that it has not
			default:
				r[name] = v
			}
		}
		all[i] = stored{key, r}
	}
	return all
}

// gathered returns the fields of many records in one go, for each takes a call or three
// across the boundary: see gather in web/engine/program.js. rows is nil where that fails,
// and a row where a record has something else in a field.
func (s *IndexedDB) gathered(table Table, records js.Value) (rows [][]any, bytes []byte) {
	names := make([]any, len(fields[table]))
	for i, name := range fields[table] {
		names[i] = name
	}
	err := try(func() {
		found := s.gather.Invoke(records, names)
		bytes = bytesOf(found.Get("bytes"))
		rows = listOf[[]any](found.Get("rows").String())
	})
	if err != nil || len(rows) != records.Length() {
		return nil, nil
	}
	return rows, bytes
}

// listOf returns a list from its JSON, nil where it is another.
func listOf[T any](text string) (all []T) {
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	return all
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
	t, err := s.snapshot(Sessions, Classes, Examples, Thumbnails)
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
	thumbnails, err := t.thumbnails(c.wanted())
	if err != nil {
		return nil, err
	}
	return c.done(thumbnails), nil
}

// thumbnails returns those of examples, as far as they have one.
func (t snapshot) thumbnails(examples []string) (map[string][]byte, error) {
	found := make(map[string][]byte, len(examples))
	for some := range slices.Chunk(examples, atOnce) {
		records, err := now(func() []js.Value {
			requests := make([]js.Value, len(some))
			for i, id := range some {
				requests[i] = t.store(Thumbnails).Call("get", id)
			}
			return requests
		})
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			if b, ok := plain(Thumbnails, r).([]byte); ok {
				found[some[i]] = b
			}
		}
	}
	return found, nil
}
