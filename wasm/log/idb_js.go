package log

import (
	"context"
	"errors"
	"syscall/js"
	"time"

	"github.com/hack-pad/go-indexeddb/idb"

	metaqda "metaqda/core"
)

const (
	version = 8

	// openTimeout bounds the wait for other tabs to close an older version of the database, and for
	// browsers whose IndexedDB never answers.
	openTimeout = 6 * time.Second
	// transactionTimeout bounds the wait for one transaction.
	transactionTimeout = 30 * time.Second
)

// IndexedDB is the DB of a browser. Its readwrite transactions run one after the other, in all tabs
// together. So data that a transaction has read stay the same until it has written, and no other
// lock is needed.
type IndexedDB struct {
	db      *idb.Database
	tables  []string
	rewrite func() // see there
}

// OpenDB opens the database of a name and brings it up to date. The error says why nothing can
// be kept and what to do about it. lost is called if the browser closes the database, as it
// does when the site's data are cleared.
func OpenDB(name string, lost func()) (*IndexedDB, error) {
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
	request, err = factory.Open(context.Background(), name, version, func(*idb.Database, uint, uint) error {
		failed = upgrade(request)
		return nil // an error would end the program
	})
	if err != nil {
		return nil, explain(err)
	}
	db, err := within(openTimeout, request)
	switch {
	case err == errTimeout:
		return nil, &metaqda.Error{Code: "blocked", Message: "The browser's storage does not answer, so nothing will be kept: close other tabs with this page, then reload it."}
	case err != nil && failed != nil:
		return nil, explain(failed)
	case err != nil:
		return nil, explain(err)
	}
	// If a newer version of the page opens the database, idb closes this one, and later calls fail
	// with the reason. But idb has no event for a database that the browser closes.
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
	tables, err := db.ObjectStoreNames()
	if err != nil {
		return nil, explain(err)
	}
	d := &IndexedDB{db: db, tables: tables, rewrite: func() { rewrite(factory, name) }}
	for range 2 { // see rewrite
		d.rewrite()
	}
	return d, nil
}

// rewrite makes an empty database and deletes it. Chromium then rewrites the files that hold
// all databases of a site: it begins a new log, and drops what was deleted from most other
// files.
//
// A killed Chromium may leave a record of its log cut short. The next start ignores that record, as
// it should, but writes on behind it. The start after that finds the log damaged and deletes all
// databases of the site (github.com/google/leveldb/issues/1287). So rewrite comes before anything is
// written. Another database must be open, because Chromium rewrites the files a little after it has
// answered, and would close them first. rewrite takes about 50 ms. If it fails, nothing has changed.
// Once in some hundred starts it fails in silence: LevelDB begins a new log by an empty write, which
// is lost if Chromium is writing at that moment. So [OpenDB] does it twice.
func rewrite(factory *idb.Factory, name string) {
	name += "-empty"
	ctx, cancel := limited(transactionTimeout)
	defer cancel()
	request, err := factory.Open(context.Background(), name, 1, func(*idb.Database, uint, uint) error { return nil })
	if err != nil {
		return
	}
	db, err := request.Await(ctx)
	if err != nil || ctx.Err() != nil || db.Close() != nil {
		return
	}
	if deleted, err := factory.DeleteDatabase(name); err == nil {
		_ = deleted.Await(ctx)
	}
}

// Erase implements [DB]. In Chromium the first rewrite turns the log into a table, the second drops
// deleted records from it, and the third deletes the former table. One in some hundred rewrites does
// nothing, so there is a fourth: without it 1 of 40 erasures left the bytes there.
func (d *IndexedDB) Erase() {
	for range 4 {
		d.rewrite()
	}
}

var errNowhere = &metaqda.Error{Code: "unavailable", Message: "This window or program allows no storage (IndexedDB), so nothing will be kept when it is closed. Save the session to a file, or use a normal browser window."}

// lookUp returns the global indexedDB. If storage is forbidden altogether, even reading this global
// may throw, and idb.Global would panic.
func lookUp() (v js.Value, err error) {
	defer func() {
		if recover() != nil || err == nil && !v.Truthy() {
			err = errNowhere
		}
	}()
	return js.Global().Get("Reflect").Call("get", js.Global(), "indexedDB"), nil
}

// checkpoints is a table of former versions: learning could continue from its records after a reload.
const checkpoints = "checkpoints"

// upgrade creates the tables that a database of any version lacks, in the transaction of the open
// request. An error aborts the transaction. Tables of former versions stay; [Migrate] empties them.
func upgrade(request *idb.OpenDBRequest) error {
	db, err := request.Request.Result()
	if err != nil {
		return err
	}
	var txn js.Value
	err = try(func() {
		// Package idb does not expose the transaction, so a store is opened to get it.
		txn = db.Call("createObjectStore", "upgrading").Get("transaction")
		db.Call("deleteObjectStore", "upgrading")
		has := func(name string) bool { return db.Get("objectStoreNames").Call("contains", name).Bool() }
		if has(checkpoints) {
			db.Call("deleteObjectStore", checkpoints)
		}
		for _, table := range Tables {
			if !has(string(table)) {
				db.Call("createObjectStore", string(table))
			}
		}
	})
	if err != nil && txn.Truthy() {
		_ = try(func() { txn.Call("abort") }) // it may have been aborted already
	}
	return err
}

// explain turns an error of the browser into a sentence with a remedy.
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
		return &metaqda.Error{Code: "blocked", Message: "The browser's storage does not answer, so the last changes may not be kept. Save the session to a file and reload the page."}
	case is("QuotaExceededError"):
		return &metaqda.Error{Code: "quota", Message: "The browser's storage is full, so the last changes are kept only until this page is closed. Save the session to a file, then delete sessions or free space."}
	case is("AbortError"):
		return &metaqda.Error{Code: "aborted", Message: "The browser stopped writing, perhaps because its data were cleared: the last change may be in this tab alone. Save the session to a file, then reload the page."}
	case is("VersionError"):
		return &metaqda.Error{Code: "version", Message: "A newer version of this page has changed the storage, so this one keeps nothing. Close all its tabs and open it anew."}
	case is("InvalidStateError"):
		return &metaqda.Error{Code: "closed", Message: "The storage was closed: another tab has a newer version of this page, or this window keeps nothing. Save the session to a file, then reload the page."}
	case is("SecurityError"), is("NotAllowedError"):
		return errNowhere
	}
	why := err.Error()
	if errors.As(err, new(idb.DOMException)) {
		why = "JavaScript error: " + why // as for what was thrown
	}
	return &metaqda.Error{Code: "storage", Message: "The browser's storage failed (" + why + "), so the last changes may not be kept: save the session to a file and reload the page."}
}

// try turns an exception of JavaScript into an error, for calls that idb does not make.
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
