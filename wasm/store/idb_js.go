package store

import (
	"errors"
	"syscall/js"
	"time"
)

const (
	databaseName = "metaqda"
	version      = 3

	bySession = "session" // index of classes and examples
	byClass   = "class"   // index of examples
	byName    = "name"    // index of classes: session and name

	// openTimeout bounds the wait for other tabs to let go of an older version
	// of the database, and for browsers whose IndexedDB never answers.
	openTimeout = 6 * time.Second
	// transactionTimeout bounds the wait for one transaction.
	transactionTimeout = 30 * time.Second
)

// IndexedDB is the Store of a browser. Its readwrite transactions are one after the
// other over all tabs, so what a transaction has read is so until it has written: no
// other lock is needed, and none could be more certain.
type IndexedDB struct {
	db js.Value
}

// Open opens the database and brings it up to date. The error says why nothing
// can be kept and what to do about it. lost is called if the browser closes the
// database of its own accord, which it does when its data are cleared.
func Open(lost func()) (*IndexedDB, error) {
	factory, err := lookUp()
	if err != nil {
		return nil, err
	}
	var failed error
	request, err := call(factory, "open", databaseName, version)
	if err != nil {
		return nil, explain(err)
	}
	upgrading := js.FuncOf(func(_ js.Value, args []js.Value) any {
		failed = upgrade(request, args[0].Get("oldVersion").Int())
		return nil
	})
	defer upgrading.Release()
	request.Set("onupgradeneeded", upgrading)
	db, err := await(request, openTimeout)
	switch {
	case err == errTimeout:
		return nil, &Error{"blocked", "The browser's storage does not answer, so nothing will be kept: close other tabs with this page, then reload it."}
	case err != nil && failed != nil:
		return nil, explain(failed)
	case err != nil:
		return nil, explain(err)
	}
	s := &IndexedDB{db: db}
	// Let a newer version of the page in; what comes after fails and says why.
	db.Set("onversionchange", js.FuncOf(func(js.Value, []js.Value) any { db.Call("close"); return nil }))
	db.Set("onclose", js.FuncOf(func(js.Value, []js.Value) any {
		if lost != nil {
			lost()
		}
		return nil
	}))
	return s, nil
}

// lookUp returns the global indexedDB. Where storage is forbidden altogether
// even looking at it may throw, which Get would not survive.
func lookUp() (v js.Value, err error) {
	defer func() {
		if recover() != nil || err == nil && !v.Truthy() {
			err = &Error{"unavailable", "This browser window allows no storage, so nothing will be kept when it is closed: export the session before, or use a normal window."}
		}
	}()
	return js.Global().Get("Reflect").Call("get", js.Global(), "indexedDB"), nil
}

// steps bring the database from version i to i+1. Once released a step is never
// changed: a new version appends one.
var steps = []func(db, txn js.Value){
	func(db, _ js.Value) {
		for _, t := range []Table{Sessions, Priors, Meta} {
			db.Call("createObjectStore", string(t))
		}
		for _, t := range []Table{Classes, Examples} {
			db.Call("createObjectStore", string(t)).Call("createIndex", bySession, "session")
		}
	},
	func(db, _ js.Value) { db.Call("createObjectStore", string(Checkpoints)) },
	func(_, txn js.Value) {
		txn.Call("objectStore", string(Classes)).Call("createIndex", byName, []any{"session", "name"})
		txn.Call("objectStore", string(Examples)).Call("createIndex", byClass, "class")
	},
}

// upgrade runs in the transaction of an open request, which a failure aborts.
func upgrade(request js.Value, from int) error {
	return try(func() {
		db, txn := request.Get("result"), request.Get("transaction")
		for _, step := range steps[min(from, len(steps)):] {
			step(db, txn)
		}
	}, func() { request.Get("transaction").Call("abort") })
}

// explain turns what a browser reports into a sentence with a remedy.
func explain(err error) error {
	is := func(name string) bool {
		var thrown js.Error
		return errors.As(err, &thrown) && thrown.Type() == js.TypeObject && thrown.Get("name").String() == name
	}
	switch {
	case err == nil:
		return nil
	case err == errTimeout:
		return &Error{"blocked", "The browser's storage does not answer, so the last changes may not be kept: export the session and reload the page."}
	case is("QuotaExceededError"):
		return &Error{"quota", "The browser's storage is full, so the last changes are kept only until this page is closed: export the session, then delete sessions or free space on the device."}
	case is("VersionError"):
		return &Error{"version", "A newer version of this page has already changed the storage, so nothing will be kept by this one: close all its tabs and open it anew."}
	case is("InvalidStateError"):
		return &Error{"closed", "The storage was closed, by another tab with a newer version of this page or because this window keeps nothing: reload the page, or export the session first."}
	case is("SecurityError"), is("NotAllowedError"):
		return &Error{"unavailable", "This browser window allows no storage, so nothing will be kept when it is closed: export the session before, or use a normal window."}
	}
	return &Error{"storage", "The browser's storage failed (" + err.Error() + "), so the last changes may not be kept: export the session and reload the page."}
}

// try turns what JavaScript throws into an error, after undo.
func try(f func(), undo ...func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case js.Error:
			err = r
			for _, u := range undo {
				u()
			}
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// call calls a method that may throw.
func call(v js.Value, method string, args ...any) (result js.Value, err error) {
	err = try(func() { result = v.Call(method, args...) })
	return result, err
}

var errTimeout = errors.New("no answer")

// await waits for a request. A transaction stays open as long as the program, woken
// by one of its requests, waits for nothing but others of its requests.
func await(request js.Value, limit time.Duration) (js.Value, error) {
	done := make(chan error, 1)
	settled := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].Get("type").String() == "success" {
			done <- nil
		} else {
			done <- js.Error{Value: request.Get("error")}
		}
		return nil
	})
	request.Set("onsuccess", settled)
	request.Set("onerror", settled)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		settled.Release()
		if err != nil {
			return js.Undefined(), err
		}
		return request.Get("result"), nil
	case <-timer.C: // settled may still be called
		return js.Undefined(), errTimeout
	}
}

// transaction is one under way.
type transaction struct{ value js.Value }

type mode struct{ name, durability string }

// What is only read, what a crash of the machine may lose, and what it may not.
var (
	reading = mode{"readonly", "default"}
	relaxed = mode{"readwrite", "default"}
	strict  = mode{"readwrite", "strict"}
)

// transact issues requests in one transaction and waits until it is complete.
// A transaction ends by itself as soon as the program waits for anything else,
// so issue must only issue requests, or wait for those it has issued. What issue
// throws or returns aborts the transaction.
func (s *IndexedDB) transact(m mode, tables []Table, issue func(t transaction) error) error {
	names := make([]any, len(tables))
	for i, t := range tables {
		names[i] = string(t)
	}
	value, err := call(s.db, "transaction", names, m.name, map[string]any{"durability": m.durability})
	if err != nil {
		return explain(err)
	}
	done := make(chan error, 2)
	settled := js.FuncOf(func(_ js.Value, args []js.Value) any {
		switch cause := value.Get("error"); {
		case args[0].Get("type").String() == "complete":
			done <- nil
		case cause.Truthy():
			done <- js.Error{Value: cause}
		default:
			done <- errAborted
		}
		return nil
	})
	value.Set("oncomplete", settled)
	value.Set("onabort", settled)
	var failed error
	if thrown := try(func() { failed = issue(transaction{value}) }); thrown != nil {
		failed = thrown
	}
	if failed != nil {
		_, _ = call(value, "abort") // nothing half done; it may have been aborted already
	}
	timer := time.NewTimer(transactionTimeout)
	defer timer.Stop()
	select {
	case err = <-done:
		settled.Release()
	case <-timer.C:
		return explain(errTimeout)
	}
	if failed != nil && (err == nil || err == errAborted) { // else the transaction knows better why
		err = failed
	}
	return explain(err)
}

var errAborted = errors.New("a transaction was aborted")

func (t transaction) store(table Table) js.Value { return t.value.Call("objectStore", string(table)) }

func (t transaction) await(request js.Value) (js.Value, error) {
	return await(request, transactionTimeout)
}

// view implementation: the records within a transaction.

func (t transaction) session(id string) (*Session, error) {
	v, err := t.await(t.store(Sessions).Call("get", id))
	if err != nil || v.IsUndefined() {
		return nil, err
	}
	s := decodeSession(id, plain(Sessions, v))
	return &s, nil
}

func (t transaction) deleted(session string) (bool, error) {
	return t.exists(Ref{Meta, tombstone(session)})
}

func (t transaction) class(id string) (*Class, error) {
	v, err := t.await(t.store(Classes).Call("get", id))
	if err != nil || v.IsUndefined() {
		return nil, err
	}
	if c, reason := decodeClass(id, plain(Classes, v)); reason == "" {
		return &c, nil
	}
	return nil, nil
}

func (t transaction) named(session, name string) ([]string, error) {
	return t.keys(t.store(Classes).Call("index", byName), []any{session, name})
}

func (t transaction) examples(class string) ([]string, error) {
	return t.keys(t.store(Examples).Call("index", byClass), class)
}

func (t transaction) exists(r Ref) (bool, error) {
	n, err := t.await(t.store(r.Table).Call("count", r.Key))
	return err == nil && n.Int() > 0, err
}

// keys waits for the keys of a store or index, those that are strings. Others, which
// nothing here writes, come to nothing.
func (t transaction) keys(s js.Value, query any) ([]string, error) {
	v, err := t.await(s.Call("getAllKeys", query))
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, v.Length())
	for i := range v.Length() {
		if k := v.Index(i); k.Type() == js.TypeString {
			keys = append(keys, k.String())
		}
	}
	return keys, nil
}

// Commit implements [Store].
func (s *IndexedDB) Commit(changes []Change) (refused []error, err error) {
	if len(changes) == 0 {
		return nil, nil
	}
	err = s.transact(strict, tablesOf(changes), func(t transaction) error {
		ops, why, err := resolve(changes, t)
		if err != nil {
			return err
		}
		refused = why
		return t.write(ops)
	})
	return refused, err
}

// Apply implements [Store].
func (s *IndexedDB) Apply(ops []Op) error {
	if len(ops) == 0 {
		return nil
	}
	m := relaxed
	for _, op := range ops {
		if op.Value == nil {
			m = strict
		}
	}
	return s.transact(m, tablesOf([]Change{{Ops: ops}}), func(t transaction) error { return t.write(ops) })
}

// atOnce is how many records are written before messages are let in: some
// milliseconds of work.
const atOnce = 64

func (t transaction) write(ops []Op) error {
	for i, op := range ops {
		var r js.Value
		if op.Value == nil {
			r = t.store(op.Table).Call("delete", op.Key)
		} else {
			r = t.store(op.Table).Call("put", value(encode(op.Value)), op.Key)
		}
		if i%atOnce == atOnce-1 {
			if _, err := t.await(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// tablesOf returns the tables that changes read or write.
func tablesOf(changes []Change) []Table {
	seen := map[Table]bool{}
	for _, c := range changes {
		if c.Needs != (Needs{}) {
			seen[Sessions], seen[Classes], seen[Examples], seen[Meta] = true, true, true, true
			if c.Needs.Record.Table != "" {
				seen[c.Needs.Record.Table] = true
			}
		}
		for _, op := range c.Ops {
			seen[op.Table] = true
			if _, ok := op.Value.(Edit); ok {
				seen[Sessions] = true
			}
		}
	}
	var tables []Table
	for _, t := range Tables {
		if seen[t] {
			tables = append(tables, t)
		}
	}
	return tables
}

// Bytes implements [Store].
func (s *IndexedDB) Bytes(table Table, key string) ([]byte, error) {
	v, err := s.get(table, key)
	b, _ := plain(table, v).([]byte)
	return b, err
}

// Text implements [Store].
func (s *IndexedDB) Text(key string) (string, error) {
	v, err := s.get(Meta, key)
	text, _ := plain(Meta, v).(string)
	return text, err
}

func (s *IndexedDB) get(table Table, key string) (v js.Value, err error) {
	err = s.transact(reading, []Table{table}, func(t transaction) (err error) {
		v, err = t.await(t.store(table).Call("get", key))
		return err
	})
	return v, err
}

// all issues a request for each key and waits for the last: they are answered in the
// order they were issued.
func (t transaction) all(table Table, keys []string) ([]stored, error) {
	s := t.store(table)
	requests := make([]js.Value, len(keys))
	for i, key := range keys {
		requests[i] = s.Call("get", key)
	}
	if len(keys) > 0 {
		if _, err := t.await(requests[len(keys)-1]); err != nil {
			return nil, err
		}
	}
	found := make([]stored, 0, len(keys))
	for i, r := range requests {
		if v := r.Get("result"); !v.IsUndefined() {
			found = append(found, stored{keys[i], plain(table, v)})
		}
	}
	return found, nil
}

// Summaries implements [Store].
func (s *IndexedDB) Summaries() (all []Summary, err error) {
	err = s.transact(reading, []Table{Sessions, Classes, Examples}, func(t transaction) error {
		keys, err := t.keys(t.store(Sessions), js.Undefined())
		if err != nil {
			return err
		}
		sessions, err := t.all(Sessions, keys)
		for _, r := range sessions {
			one := Summary{Session: decodeSession(r.key, r.value)}
			for table, n := range map[Table]*int{Classes: &one.Classes, Examples: &one.Examples} {
				count, err := t.await(t.store(table).Call("index", bySession).Call("count", r.key))
				if err != nil {
					return err
				}
				*n = count.Int()
			}
			all = append(all, one)
		}
		return err
	})
	newestFirst(all)
	return all, err
}

// Unreachable implements [Store].
func (s *IndexedDB) Unreachable() (all []Damage, err error) {
	err = s.transact(reading, []Table{Sessions, Classes, Examples}, func(t transaction) error {
		sessions, err := t.keys(t.store(Sessions), js.Undefined())
		if err != nil {
			return err
		}
		for _, table := range []Table{Classes, Examples} {
			reached := map[string]bool{}
			for _, session := range sessions {
				keys, err := t.keys(t.store(table).Call("index", bySession), session)
				if err != nil {
					return err
				}
				for _, key := range keys {
					reached[key] = true
				}
			}
			keys, err := t.keys(t.store(table), js.Undefined())
			if err != nil {
				return err
			}
			var others []string
			for _, key := range keys {
				if !reached[key] {
					others = append(others, key)
				}
			}
			found, err := t.all(table, others)
			if err != nil {
				return err
			}
			for _, r := range found {
				all = append(all, Damage{Table: table, Key: r.key, Reason: noSession, Raw: r.value})
			}
		}
		return nil
	})
	return all, err
}

// Contents implements [Store].
func (s *IndexedDB) Contents(session string) (c *Contents, err error) {
	err = s.transact(reading, []Table{Sessions, Classes, Examples}, func(t transaction) error {
		head, err := t.all(Sessions, []string{session})
		if err != nil || len(head) == 0 {
			return err
		}
		found := map[Table][]stored{}
		for _, table := range []Table{Classes, Examples} {
			keys, err := t.keys(t.store(table).Call("index", bySession), session)
			if err != nil {
				return err
			}
			if found[table], err = t.all(table, keys); err != nil {
				return err
			}
		}
		c = contentsOf(head[0], found[Classes], found[Examples])
		return nil
	})
	return c, err
}

// Parts implements [Store].
func (s *IndexedDB) Parts(session string, classes, examples []string) (*Parts, error) {
	p := newParts()
	err := s.transact(reading, []Table{Sessions, Classes, Examples, Meta}, func(t transaction) (err error) {
		if p.Session, err = t.session(session); err == nil && p.Session == nil {
			p.Deleted, err = t.deleted(session)
		}
		if err != nil {
			return err
		}
		found, err := t.all(Classes, classes)
		for _, r := range found {
			p.class(session, r.key, r.value)
		}
		if err != nil {
			return err
		}
		found, err = t.all(Examples, examples)
		for _, r := range found {
			p.example(session, r.key, r.value)
		}
		return err
	})
	return p, err
}

// DeleteSession implements [Store].
func (s *IndexedDB) DeleteSession(id string) error {
	return s.transact(strict, []Table{Sessions, Classes, Examples, Checkpoints, Meta}, func(t transaction) error {
		t.store(Sessions).Call("delete", id)
		t.store(Meta).Call("put", "", tombstone(id))
		// '0' is the character after '/'.
		t.store(Checkpoints).Call("delete", js.Global().Get("IDBKeyRange").Call("bound", id+"/", id+"0", false, true))
		for _, table := range []Table{Classes, Examples} {
			keys, err := t.keys(t.store(table).Call("index", bySession), id)
			if err != nil {
				return err
			}
			for _, key := range keys {
				t.store(table).Call("delete", key)
			}
		}
		return nil
	})
}

// Sweep implements [Store].
func (s *IndexedDB) Sweep() error {
	return s.transact(strict, []Table{Sessions, Priors, Meta}, func(t transaction) error {
		keys, err := t.keys(t.store(Sessions), js.Undefined())
		if err != nil {
			return err
		}
		sessions, err := t.all(Sessions, keys)
		if err != nil {
			return err
		}
		site, err := t.all(Meta, []string{SitePrior})
		if err != nil {
			return err
		}
		used := map[string]bool{}
		for _, r := range site {
			sum, _ := r.value.(string)
			used[sum] = true
		}
		for _, r := range sessions {
			if _, ok := r.value.(Record); !ok {
				return nil // nobody knows what it chose
			}
			used[decodeSession(r.key, r.value).Settings.Prior] = true
		}
		priors, err := t.keys(t.store(Priors), js.Undefined())
		for _, sum := range priors {
			if !used[sum] {
				t.store(Priors).Call("delete", sum)
			}
		}
		return err
	})
}
