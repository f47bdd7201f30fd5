package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"syscall/js"
	"time"

	"github.com/hack-pad/go-indexeddb/idb"
)

const (
	version = 7

	bySession = "session" // index of classes and examples
	byClass   = "class"   // index of examples
	byName    = "name"    // index of classes: session and name
	byPlace   = "place"   // index of classes and examples: session and id

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
	db  *idb.Database
	raw js.Value // the same, for what package idb lacks

	reader js.Value // reads sessions
}

// Open opens the database of a name and brings it up to date. The error says why nothing
// can be kept and what to do about it. lost is called if the browser closes the
// database of its own accord, which it does when its data are cleared. reader is what
// web/engine/reading.js makes for this database; [IndexedDB.Contents] needs it.
func Open(name string, reader js.Value, lost func()) (*IndexedDB, error) {
	global, err := lookUp()
	if err != nil {
		return nil, err
	}
	factory, err := idb.WrapFactory(global)
	if err != nil {
		return nil, explain(err)
	}
	var request *idb.OpenDBRequest
	var failed error
	// The upgrade has no limit: one that begins after this has given up still makes
	// a database with everything in it.
	request, err = factory.Open(context.Background(), name, version, func(db *idb.Database, from, _ uint) error {
		failed = upgrade(request, db, int(from))
		return nil // an error would end the program
	})
	if err != nil {
		return nil, explain(err)
	}
	db, err := within(openTimeout, request)
	switch {
	case err == errTimeout:
		return nil, &Error{"blocked", "The browser's storage does not answer, so nothing will be kept: close other tabs with this page, then reload it."}
	case err != nil && failed != nil:
		return nil, explain(failed)
	case err != nil:
		return nil, explain(err)
	}
	// idb lets a newer version of the page in; what comes after fails and says why.
	// It has no event for a database that the browser closes.
	raw, err := request.Request.Result()
	if err != nil {
		return nil, explain(err)
	}
	raw.Set("onclose", js.FuncOf(func(js.Value, []js.Value) any {
		if lost != nil {
			lost()
		}
		return nil
	}))
	return &IndexedDB{db: db, raw: raw, reader: reader}, nil
}

// lookUp returns the global indexedDB. Where storage is forbidden altogether
// even looking at it may throw, which idb.Global would not survive.
func lookUp() (v js.Value, err error) {
	defer func() {
		if recover() != nil || err == nil && !v.Truthy() {
			err = &Error{"unavailable", "This browser window allows no storage, so nothing will be kept when it is closed: export the session before, or use a normal window."}
		}
	}()
	return js.Global().Get("Reflect").Call("get", js.Global(), "indexedDB"), nil
}

// checkpoints held what learning could go on from after a reload, until version 6.
const checkpoints = "checkpoints"

// steps bring the database from version i to i+1. Once released a step is never
// changed: a new version appends one.
var steps = []func(db *idb.Database, txn js.Value) error{
	func(db *idb.Database, _ js.Value) error {
		for _, t := range []Table{Sessions, Priors, Meta} {
			if err := create(db, t); err != nil {
				return err
			}
		}
		for _, t := range []Table{Classes, Examples} {
			if err := create(db, t, bySession); err != nil {
				return err
			}
		}
		return nil
	},
	func(db *idb.Database, _ js.Value) error { return create(db, checkpoints) },
	func(_ *idb.Database, txn js.Value) error {
		return try(func() {
			txn.Call("objectStore", string(Classes)).Call("createIndex", byName, []any{"session", "name"})
			txn.Call("objectStore", string(Examples)).Call("createIndex", byClass, "class")
		})
	},
	func(_ *idb.Database, txn js.Value) error {
		return try(func() {
			for _, t := range []Table{Classes, Examples} {
				txn.Call("objectStore", string(t)).Call("createIndex", byPlace, []any{"session", "id"})
			}
		})
	},
	// Thumbnails of before stay in the records of their examples, and are read there.
	func(db *idb.Database, _ js.Value) error { return create(db, Thumbnails) },
	// Learning takes a second now, and leaves nothing to go on with.
	func(db *idb.Database, _ js.Value) error {
		_ = db.DeleteObjectStore(checkpoints) // if it is there
		return nil
	},
	func(db *idb.Database, _ js.Value) error { return create(db, Steps) },
}

// create makes an object store whose records are under keys of their own, with
// indexes named after the fields.
func create(db *idb.Database, t Table, fields ...string) error {
	s, err := db.CreateObjectStore(string(t), idb.ObjectStoreOptions{KeyPath: js.Null()})
	for _, field := range fields {
		if err == nil {
			_, err = s.CreateIndex(field, js.ValueOf(field), idb.IndexOptions{})
		}
	}
	return err
}

// upgrade runs in the transaction of an open request, which a failure aborts.
func upgrade(request *idb.OpenDBRequest, db *idb.Database, from int) error {
	txn, err := upgrading(request)
	if err != nil {
		return err
	}
	for _, step := range steps[min(from, len(steps)):] {
		if err := step(db, txn); err != nil {
			_ = try(func() { txn.Call("abort") }) // it may have been aborted already
			return err
		}
	}
	return nil
}

// upgrading returns the transaction of an upgrade, which idb gives to nobody: it is
// that of a store made to ask it, and there is no other way to stores of older
// versions or to abort.
func upgrading(request *idb.OpenDBRequest) (txn js.Value, err error) {
	db, err := request.Request.Result()
	if err != nil {
		return txn, err
	}
	err = try(func() {
		txn = db.Call("createObjectStore", "upgrading").Get("transaction")
		db.Call("deleteObjectStore", "upgrading")
	})
	return txn, err
}

// explain turns what a browser reports into a sentence with a remedy.
func explain(err error) error {
	var thrown js.Error // idb has another type for what was not thrown
	is := func(name string) bool {
		return errors.Is(err, idb.NewDOMException(name)) ||
			errors.As(err, &thrown) && thrown.Type() == js.TypeObject && thrown.Get("name").String() == name
	}
	switch {
	case err == nil:
		return nil
	case err == errTimeout:
		return &Error{"blocked", "The browser's storage does not answer, so the last changes may not be kept: export the session and reload the page."}
	case is("QuotaExceededError"):
		return &Error{"quota", "The browser's storage is full, so the last changes are kept only until this page is closed: export the session, then delete sessions or free space on the device."}
	case is("AbortError"):
		return &Error{"aborted", "The browser broke off writing, as it does when its data are cleared, so the last change may be in this tab alone: save the session to a file, then reload the page."}
	case is("VersionError"):
		return &Error{"version", "A newer version of this page has already changed the storage, so nothing will be kept by this one: close all its tabs and open it anew."}
	case is("InvalidStateError"):
		return &Error{"closed", "The storage was closed, by another tab with a newer version of this page or because this window keeps nothing: reload the page, or export the session first."}
	case is("SecurityError"), is("NotAllowedError"):
		return &Error{"unavailable", "This browser window allows no storage, so nothing will be kept when it is closed: export the session before, or use a normal window."}
	}
	why := err.Error()
	if errors.As(err, new(idb.DOMException)) {
		why = "JavaScript error: " + why // as for what was thrown
	}
	return &Error{"storage", "The browser's storage failed (" + why + "), so the last changes may not be kept: export the session and reload the page."}
}

// try turns what JavaScript throws into an error, for calls that idb does not make.
func try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case js.Error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

var errTimeout = errors.New("no answer")

// limited returns a context that ends after the given time. context.WithTimeout
// would bring all of package time's formats into the program.
func limited(d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(d, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// awaiter is a request of idb with a result.
type awaiter[T any] interface {
	Await(ctx context.Context) (T, error)
}

// within waits for a request, at most so long, which Await alone would not report.
func within[T any](limit time.Duration, r awaiter[T]) (T, error) {
	ctx, done := limited(limit)
	defer done()
	v, err := r.Await(ctx)
	if ctx.Err() != nil {
		err = errTimeout
	}
	return v, err
}

// await waits for a request if it could be issued. A transaction stays open as long
// as the program, woken by one of its requests, waits for nothing but others of its
// requests.
func await[T any](r awaiter[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return within(transactionTimeout, r)
}

// transaction is one under way: its object stores.
type transaction map[Table]*idb.ObjectStore

// What is only read, what a crash of the machine may lose, and what it may not.
var (
	reading = idb.TransactionOptions{Mode: idb.TransactionReadOnly}
	relaxed = idb.TransactionOptions{Mode: idb.TransactionReadWrite}
	strict  = idb.TransactionOptions{Mode: idb.TransactionReadWrite, Durability: idb.DurabilityStrict}
)

// transact issues requests in one transaction and waits until it is complete.
// A transaction ends by itself as soon as the program waits for anything else,
// so issue must only issue requests, or wait for those it has issued. An error
// of issue aborts the transaction.
func (s *IndexedDB) transact(o idb.TransactionOptions, tables []Table, issue func(t transaction) error) error {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = string(t)
	}
	txn, err := s.db.TransactionWithOptions(o, names[0], names[1:]...)
	if err != nil {
		return explain(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- txn.Await(ctx) }() // from the start, for the first error is the cause of all others
	t := transaction{}
	for i, table := range tables {
		if t[table], err = txn.ObjectStore(names[i]); err != nil {
			return explain(err)
		}
	}
	failed := issue(t)
	if failed != nil {
		_ = txn.Abort() // nothing half done; it may have been aborted already
	}
	timer := time.AfterFunc(transactionTimeout, cancel)
	defer timer.Stop()
	err = <-done
	if ctx.Err() != nil {
		return explain(errTimeout)
	}
	if err == nil { // else the transaction knows better why
		err = failed
	}
	return explain(err)
}

// view implementation: the records within a transaction.

func (t transaction) session(id string) (*Session, error) {
	v, err := await(t[Sessions].Get(js.ValueOf(id)))
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
	v, err := await(t[Classes].Get(js.ValueOf(id)))
	if err != nil || v.IsUndefined() {
		return nil, err
	}
	if c, reason := decodeClass(id, plain(Classes, v)); reason == "" {
		return &c, nil
	}
	return nil, nil
}

func (t transaction) named(session, name string) ([]string, error) {
	return t.where(Classes, byName, []any{session, name})
}

func (t transaction) examples(class string) ([]string, error) {
	return t.where(Examples, byClass, class)
}

func (t transaction) exists(r Ref) (bool, error) {
	n, err := await(t[r.Table].CountKey(js.ValueOf(r.Key)))
	return err == nil && n > 0, err
}

// keys waits for the keys of a table.
func (t transaction) keys(table Table) ([]string, error) {
	return texts(await(t[table].GetAllKeys()))
}

// where waits for the keys of the records that an index has under a value.
func (t transaction) where(table Table, index string, v any) ([]string, error) {
	i, err := t[table].Index(index)
	if err != nil {
		return nil, err
	}
	only, err := idb.NewKeyRangeOnly(js.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return texts(await(i.GetAllKeysRange(only, 0)))
}

// texts returns the keys that are strings. Others, which nothing here writes, come to
// nothing.
func texts(all []js.Value, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(all))
	for _, k := range all {
		if k.Type() == js.TypeString {
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
		r, err := t.issue(op)
		if i%atOnce == atOnce-1 {
			_, err = await(r, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// issue issues the requests of an operation and returns the last one.
func (t transaction) issue(op Op) (*idb.Request, error) {
	if op.Value == nil {
		if op.Table == Examples {
			if _, err := t[Thumbnails].Delete(js.ValueOf(op.Key)); err != nil {
				return nil, err
			}
		}
		r, err := t[op.Table].Delete(js.ValueOf(op.Key))
		if err != nil {
			return nil, err
		}
		return r.Request, nil
	}
	if x, ok := op.Value.(Example); ok && len(x.Thumbnail) > 0 {
		if _, err := t[Thumbnails].PutKey(js.ValueOf(op.Key), value(x.Thumbnail)); err != nil {
			return nil, err
		}
	}
	return t[op.Table].PutKey(js.ValueOf(op.Key), value(encode(op.Value)))
}

// tablesOf returns the tables that changes read or write.
func tablesOf(changes []Change) []Table {
	seen := map[Table]bool{}
	for _, c := range changes {
		if c.Needs != (Needs{}) {
			seen[Sessions], seen[Classes], seen[Examples], seen[Meta] = true, true, true, true
		}
		for _, op := range c.Ops {
			seen[op.Table] = true
			if _, ok := op.Value.(Edit); ok {
				seen[Sessions] = true
			}
		}
	}
	seen[Thumbnails] = seen[Thumbnails] || seen[Examples] // they are written together
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
		v, err = await(t[table].Get(js.ValueOf(key)))
		return err
	})
	return v, err
}

// all issues a request for each key and waits for the last: they are answered in the
// order they were issued.
func (t transaction) all(table Table, keys []string) ([]stored, error) {
	requests := make([]*idb.Request, len(keys))
	for i, key := range keys {
		r, err := t[table].Get(js.ValueOf(key))
		if err != nil {
			return nil, err
		}
		requests[i] = r
	}
	if len(keys) > 0 {
		if _, err := await(requests[len(keys)-1], nil); err != nil {
			return nil, err
		}
	}
	found := make([]stored, 0, len(keys))
	for i, r := range requests {
		v, err := r.Result()
		if err != nil {
			return nil, err
		}
		if !v.IsUndefined() {
			found = append(found, stored{keys[i], plain(table, v)})
		}
	}
	return found, nil
}

// Summaries implements [Store].
func (s *IndexedDB) Summaries() (all []Summary, err error) {
	err = s.transact(reading, []Table{Sessions, Classes, Examples}, func(t transaction) error {
		keys, err := t.keys(Sessions)
		if err != nil {
			return err
		}
		sessions, err := t.all(Sessions, keys)
		for _, r := range sessions {
			one := Summary{Session: decodeSession(r.key, r.value)}
			for table, n := range map[Table]*int{Classes: &one.Classes, Examples: &one.Examples} {
				index, err := t[table].Index(bySession)
				if err != nil {
					return err
				}
				count, err := await(index.CountKey(js.ValueOf(r.key)))
				if err != nil {
					return err
				}
				*n = int(count)
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
	err = s.transact(reading, Tables, func(t transaction) error {
		keys := map[Table][]string{}
		reached := map[Table]map[string]bool{Classes: {}, Examples: {}}
		for _, table := range Tables {
			raw, err := await(t[table].GetAllKeys())
			if err != nil {
				return err
			}
			for _, key := range raw {
				if key.Type() == js.TypeString {
					keys[table] = append(keys[table], key.String())
					continue
				}
				v, err := await(t[table].Get(key))
				if err != nil {
					return err
				}
				all = append(all, Damage{Table: table, Key: jsJSON.Call("stringify", key).String(), Reason: "its key is not text", Raw: plain(table, v)})
			}
		}
		for table, found := range reached {
			for _, session := range keys[Sessions] {
				of, err := t.where(table, bySession, session)
				if err != nil {
					return err
				}
				for _, key := range of {
					found[key] = true
				}
			}
		}
		reached[Thumbnails] = map[string]bool{}
		for _, key := range keys[Examples] {
			reached[Thumbnails][key] = true
		}
		for table, reason := range unreachable {
			keys := slices.DeleteFunc(keys[table], func(key string) bool { return reached[table][key] })
			found, err := t.all(table, keys)
			if err != nil {
				return err
			}
			for _, r := range found {
				all = append(all, Damage{Table: table, Key: r.key, Reason: reason, Raw: r.value})
			}
		}
		return nil
	})
	return all, err
}

// Parts implements [Store].
func (s *IndexedDB) Parts(session string, classes, examples []string) (*Parts, error) {
	p := newParts()
	err := s.transact(reading, []Table{Sessions, Classes, Examples, Thumbnails, Meta}, func(t transaction) (err error) {
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
		if err != nil {
			return err
		}
		found, err = t.all(Thumbnails, examples)
		p.hang(bytesIn(found))
		return err
	})
	return p, err
}

// Thumbnails implements [Store].
func (s *IndexedDB) Thumbnails(examples []string) (found map[string][]byte, err error) {
	err = s.transact(reading, []Table{Thumbnails}, func(t transaction) error {
		found = make(map[string][]byte, len(examples))
		for some := range slices.Chunk(examples, atOnce) {
			records, err := t.all(Thumbnails, some)
			if err != nil {
				return err
			}
			maps.Copy(found, bytesIn(records))
		}
		return nil
	})
	return found, err
}

// bytesIn returns the records that are bytes, by their keys.
func bytesIn(records []stored) map[string][]byte {
	found := make(map[string][]byte, len(records))
	for _, r := range records {
		if b, ok := r.value.([]byte); ok {
			found[r.key] = b
		}
	}
	return found
}

// DeleteSession implements [Store].
func (s *IndexedDB) DeleteSession(id string) error {
	return s.transact(strict, []Table{Sessions, Classes, Examples, Thumbnails, Steps, Meta}, func(t transaction) error {
		// '0' is the character after '/'. The range goes as a value, for Delete takes none
		// of idb's.
		if _, err := t[Steps].Delete(js.Global().Get("IDBKeyRange").Call("bound", id+"/", id+"0", false, true)); err != nil {
			return err
		}
		ops := []Op{{Sessions, id, nil}, {Meta, tombstone(id), ""}}
		for _, table := range []Table{Classes, Examples} {
			keys, err := t.where(table, bySession, id)
			if err != nil {
				return err
			}
			for _, key := range keys {
				ops = append(ops, Op{table, key, nil})
			}
		}
		return t.write(ops)
	})
}

// Sweep implements [Store].
func (s *IndexedDB) Sweep() error {
	return s.transact(strict, []Table{Sessions, Priors, Meta}, func(t transaction) error {
		keys, err := t.keys(Sessions)
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
		priors, err := t.keys(Priors)
		if err != nil {
			return err
		}
		var ops []Op
		for _, sum := range priors {
			if !used[sum] {
				ops = append(ops, Op{Priors, sum, nil})
			}
		}
		return t.write(ops)
	})
}
