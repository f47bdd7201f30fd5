package store

import (
	"context"
	"errors"
	"syscall/js"
	"time"

	"github.com/hack-pad/go-indexeddb/idb"
)

const (
	databaseName = "metaqda"
	version      = 2
	bySession    = "session" // index of classes and examples

	// openTimeout bounds the wait for other tabs to let go of an older version
	// of the database, and for browsers whose IndexedDB never answers.
	openTimeout = 6 * time.Second
	// transactionTimeout bounds the wait for one transaction.
	transactionTimeout = 30 * time.Second
)

// IndexedDB is the Store of a browser. Records are independent of each other,
// so two tabs that change the same session at once lose nothing of each other's:
// the last writer of one record wins, and there is no record of the whole.
type IndexedDB struct {
	db *idb.Database
}

// Open opens the database and brings it up to date. The error says why nothing
// can be kept and what to do about it.
func Open() (*IndexedDB, error) {
	value, err := lookUp()
	if err != nil {
		return nil, err
	}
	factory, err := idb.WrapFactory(value)
	if err != nil {
		return nil, explain(err)
	}
	ctx, cancel := limited(openTimeout)
	defer cancel()
	var failed error
	request, err := factory.Open(ctx, databaseName, version, func(db *idb.Database, from, _ uint) error {
		// An error returned here would end the program.
		failed = upgrade(db, int(from))
		return nil
	})
	if err != nil {
		return nil, explain(err)
	}
	db, err := request.Await(ctx)
	switch {
	case err != nil:
		return nil, explain(err)
	case ctx.Err() != nil:
		return nil, &Error{"blocked", "The browser's storage does not answer, so nothing will be kept: close other tabs with this page, then reload it."}
	case failed != nil:
		db.Close()
		return nil, explain(failed)
	}
	return &IndexedDB{db: db}, nil
}

// limited returns a context that ends after the given time. context.WithTimeout
// would do the same and bring all of package time's formats into the program.
func limited(d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(d, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
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
var steps = []func(*idb.Database) error{
	func(db *idb.Database) error {
		return firstError(
			create(db, Sessions), create(db, Priors), create(db, Meta),
			create(db, Classes, bySession), create(db, Examples, bySession))
	},
	func(db *idb.Database) error { return create(db, Checkpoints) },
}

func upgrade(db *idb.Database, from int) error {
	for _, step := range steps[min(from, len(steps)):] {
		if err := step(db); err != nil {
			return err
		}
	}
	return nil
}

// create makes an object store with keys of its own and the named indexes.
func create(db *idb.Database, t Table, indexes ...string) error {
	s, err := db.CreateObjectStore(string(t), idb.ObjectStoreOptions{KeyPath: js.Null()})
	for _, name := range indexes {
		if err == nil {
			_, err = s.CreateIndex(name, js.ValueOf(name), idb.IndexOptions{})
		}
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// explain turns what a browser reports into a sentence with a remedy.
func explain(err error) error {
	is := func(name string) bool {
		var thrown js.Error // idb does not see through all of its wrappings
		return errors.Is(err, idb.NewDOMException(name)) || errors.As(err, &thrown) && text(thrown.Value, "name") == name
	}
	switch {
	case err == nil:
		return nil
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

// transact issues requests in one transaction and waits until it is complete.
// A transaction ends by itself as soon as the program waits for anything else,
// so issue must only issue requests, or wait for those it has issued.
func (s *IndexedDB) transact(mode idb.TransactionMode, tables []Table, issue func(ctx context.Context, stores map[Table]*idb.ObjectStore) error) error {
	ctx, cancel := limited(transactionTimeout)
	defer cancel()
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = string(t)
	}
	txn, err := s.db.Transaction(mode, names[0], names[1:]...)
	if err != nil {
		return explain(err)
	}
	stores := make(map[Table]*idb.ObjectStore, len(tables))
	for _, t := range tables {
		if stores[t], err = txn.ObjectStore(string(t)); err != nil {
			return explain(err)
		}
	}
	if err := issue(ctx, stores); err != nil {
		_ = txn.Abort() // nothing half done
		return explain(err)
	}
	if err := txn.Await(ctx); err != nil {
		if ctx.Err() != nil {
			return &Error{"blocked", "The browser's storage does not answer, so the last changes may not be kept: export the session and reload the page."}
		}
		return explain(err)
	}
	return nil
}

// Apply implements [Store].
func (s *IndexedDB) Apply(ops []Op) error {
	if len(ops) == 0 {
		return nil
	}
	return s.transact(idb.TransactionReadWrite, tablesOf(ops), func(ctx context.Context, stores map[Table]*idb.ObjectStore) error {
		for i, op := range ops {
			done, err := write(stores[op.Table], op)
			if err == nil && i%atOnce == atOnce-1 {
				err = done(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// atOnce is how many records are written before messages are let in: some
// milliseconds of work.
const atOnce = 64

// write issues the request of one operation and returns what waits for it.
func write(s *idb.ObjectStore, op Op) (done func(context.Context) error, err error) {
	if op.Value == nil {
		r, err := s.Delete(js.ValueOf(op.Key))
		return func(ctx context.Context) error { return r.Await(ctx) }, err
	}
	r, err := s.PutKey(js.ValueOf(op.Key), encode(op.Value))
	return func(ctx context.Context) error { _, err := r.Await(ctx); return err }, err
}

func tablesOf(ops []Op) []Table {
	seen := map[Table]bool{}
	var tables []Table
	for _, op := range ops {
		if !seen[op.Table] {
			seen[op.Table] = true
			tables = append(tables, op.Table)
		}
	}
	return tables
}

// Bytes implements [Store].
func (s *IndexedDB) Bytes(table Table, key string) ([]byte, error) {
	v, err := s.get(table, key)
	if err != nil || !v.Truthy() {
		return nil, err
	}
	return bytesOf(v), nil
}

// Text implements [Store].
func (s *IndexedDB) Text(key string) (string, error) {
	v, err := s.get(Meta, key)
	if err != nil || v.Type() != js.TypeString {
		return "", err
	}
	return v.String(), nil
}

func (s *IndexedDB) get(table Table, key string) (v js.Value, err error) {
	var request *idb.Request
	err = s.transact(idb.TransactionReadOnly, []Table{table}, func(_ context.Context, stores map[Table]*idb.ObjectStore) (err error) {
		request, err = stores[table].Get(js.ValueOf(key))
		return err
	})
	if err != nil {
		return js.Undefined(), err
	}
	v, err = request.Result()
	return v, explain(err)
}

// Summaries implements [Store].
func (s *IndexedDB) Summaries() ([]Summary, error) {
	var sessions []*idb.Request
	var counts [][2]*idb.UintRequest
	err := s.transact(idb.TransactionReadOnly, []Table{Sessions, Classes, Examples}, func(ctx context.Context, stores map[Table]*idb.ObjectStore) error {
		keys, err := awaitKeys(ctx)(stores[Sessions].GetAllKeys())
		for _, key := range keys {
			var r *idb.Request
			var c [2]*idb.UintRequest
			if err == nil {
				r, err = stores[Sessions].Get(key)
			}
			for i, t := range []Table{Classes, Examples} {
				if err == nil {
					c[i], err = countOf(stores[t], key)
				}
			}
			sessions, counts = append(sessions, r), append(counts, c)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []Summary
	for i, r := range sessions {
		v, err := r.Result()
		if err != nil {
			return nil, explain(err)
		}
		classes, err := counts[i][0].Result()
		if err != nil {
			return nil, explain(err)
		}
		examples, err := counts[i][1].Result()
		if err != nil {
			return nil, explain(err)
		}
		all = append(all, Summary{decodeSession(v), int(classes), int(examples)})
	}
	newestFirst(all)
	return all, nil
}

// Contents implements [Store].
func (s *IndexedDB) Contents(session string) (*Contents, error) {
	var head *idb.Request
	found := map[Table][]*idb.Request{}
	err := s.transact(idb.TransactionReadOnly, []Table{Sessions, Classes, Examples}, func(ctx context.Context, stores map[Table]*idb.ObjectStore) (err error) {
		if head, err = stores[Sessions].Get(js.ValueOf(session)); err != nil {
			return err
		}
		for _, t := range []Table{Classes, Examples} {
			keys, err := keysOf(ctx, stores[t], session)
			if err != nil {
				return err
			}
			for _, key := range keys {
				r, err := stores[t].Get(key)
				if err != nil {
					return err
				}
				found[t] = append(found[t], r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v, err := head.Result()
	if err != nil || !v.Truthy() {
		return nil, explain(err)
	}
	c := &Contents{Session: decodeSession(v)}
	for _, r := range found[Classes] {
		if v, err := r.Result(); err == nil && v.Truthy() {
			c.Classes = append(c.Classes, decodeClass(v))
		}
	}
	for _, r := range found[Examples] {
		if v, err := r.Result(); err == nil && v.Truthy() {
			c.Examples = append(c.Examples, decodeExample(v))
		}
	}
	tidy(c)
	return c, nil
}

// DeleteSession implements [Store].
func (s *IndexedDB) DeleteSession(id string) error {
	return s.transact(idb.TransactionReadWrite, []Table{Sessions, Classes, Examples}, func(ctx context.Context, stores map[Table]*idb.ObjectStore) error {
		if _, err := stores[Sessions].Delete(js.ValueOf(id)); err != nil {
			return err
		}
		for _, t := range []Table{Classes, Examples} {
			keys, err := keysOf(ctx, stores[t], id)
			if err != nil {
				return err
			}
			for _, key := range keys {
				if _, err := stores[t].Delete(key); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func countOf(s *idb.ObjectStore, session js.Value) (*idb.UintRequest, error) {
	index, err := s.Index(bySession)
	if err != nil {
		return nil, err
	}
	only, err := idb.NewKeyRangeOnly(session)
	if err != nil {
		return nil, err
	}
	return index.CountRange(only)
}

// keysOf waits for the keys of the records that belong to a session.
func keysOf(ctx context.Context, s *idb.ObjectStore, session string) ([]js.Value, error) {
	index, err := s.Index(bySession)
	if err != nil {
		return nil, err
	}
	only, err := idb.NewKeyRangeOnly(js.ValueOf(session))
	if err != nil {
		return nil, err
	}
	return awaitKeys(ctx)(index.GetAllKeysRange(only, 0))
}

// awaitKeys waits for a request for keys that was just issued.
func awaitKeys(ctx context.Context) func(*idb.ArrayRequest, error) ([]js.Value, error) {
	return func(r *idb.ArrayRequest, err error) ([]js.Value, error) {
		if err != nil {
			return nil, err
		}
		keys, err := r.Await(ctx)
		if err == nil {
			err = ctx.Err()
		}
		return keys, err
	}
}
