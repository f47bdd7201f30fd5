package store

import (
	"context"
	"errors"
	"slices"
	"syscall/js"
	"time"

	"github.com/hack-pad/go-indexeddb/idb"
)

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

// objects are the object stores of a transaction under way.
type objects map[Table]*idb.ObjectStore

// transact issues requests in one transaction and waits until it is complete; what it
// writes then is safe from a crash of the machine. A transaction ends by itself as soon as
// the program waits for anything else, so issue must only issue requests, or wait for those
// it has issued. An error of issue aborts the transaction.
func (s *IndexedDB) transact(writes bool, tables []Table, issue func(t transaction) error) error {
	o := idb.TransactionOptions{Mode: idb.TransactionReadOnly}
	if writes {
		o = idb.TransactionOptions{Mode: idb.TransactionReadWrite, Durability: idb.DurabilityStrict}
	}
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
	t := objects{}
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

// get issues some requests and waits for the last of them: they are answered in the order
// they were issued.
func (t objects) get(table Table, keys []string) (found []stored, err error) {
	found = make([]stored, 0, len(keys))
	for some := range slices.Chunk(keys, atOnce) {
		requests := make([]*idb.Request, len(some))
		for i, key := range some {
			if requests[i], err = t[table].Get(js.ValueOf(key)); err != nil {
				return nil, err
			}
		}
		if _, err := await(requests[len(some)-1], nil); err != nil {
			return nil, err
		}
		for i, r := range requests {
			v, err := r.Result()
			if err != nil {
				return nil, err
			}
			if !v.IsUndefined() {
				found = append(found, stored{some[i], plain(table, v)})
			}
		}
	}
	return found, nil
}

func (t objects) keys(table Table) ([]string, error) { return texts(await(t[table].GetAllKeys())) }

func (t objects) where(table Table, index string, v any) ([]string, error) {
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

func (t objects) count(table Table, session string) (int, error) {
	index, err := t[table].Index(bySession)
	if err != nil {
		return 0, err
	}
	n, err := await(index.CountKey(js.ValueOf(session)))
	return int(n), err
}

// atOnce is how many records are read or written before messages are let in: some
// milliseconds of work.
const atOnce = 64

func (t objects) write(puts []put) error {
	for i, p := range puts {
		r, err := t.issue(p)
		if i%atOnce == atOnce-1 {
			_, err = await(r, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t objects) issue(p put) (*idb.Request, error) {
	if p.value != nil {
		return t[p.table].PutKey(js.ValueOf(p.key), value(p.value))
	}
	r, err := t[p.table].Delete(js.ValueOf(p.key))
	if err != nil {
		return nil, err
	}
	return r.Request, nil
}

// Unreachable implements [Store], and finds what is under keys that are no text.
func (s *IndexedDB) Unreachable() (all []Damage, err error) {
	err = s.transact(false, Tables, func(t transaction) error {
		for _, table := range Tables {
			keys, err := await(t.(objects)[table].GetAllKeys())
			if err != nil {
				return err
			}
			for _, key := range keys {
				if key.Type() == js.TypeString {
					continue
				}
				v, err := await(t.(objects)[table].Get(key))
				if err != nil {
					return err
				}
				all = append(all, Damage{Table: table, Key: jsJSON.Call("stringify", key).String(), Reason: "its key is not text", Raw: plain(table, v)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	others, err := s.shelf.Unreachable()
	return append(all, others...), err
}
