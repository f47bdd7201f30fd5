package log

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"syscall/js"
	"time"

	"github.com/hack-pad/go-indexeddb/idb"

	metaqda "metaqda/core"
)

var errTimeout = errors.New("no answer")

// limited returns a context that ends after the given time. context.WithTimeout would add all
// formats of package time to the program.
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

// within waits for a request, but not longer than limit. Then it returns errTimeout; Await alone
// would not report that.
func within[T any](limit time.Duration, r awaiter[T]) (T, error) {
	ctx, done := limited(limit)
	defer done()
	v, err := r.Await(ctx)
	if ctx.Err() != nil {
		err = errTimeout
	}
	return v, err
}

// objects are the object stores of a transaction under way.
type objects struct {
	of  map[Table]*idb.ObjectStore
	odd map[Key]js.Value // keys that nothing here writes
}

// Do implements [DB]. The writes of a complete transaction survive a crash of the machine. A
// transaction ends by itself as soon as the program waits for anything but its requests.
func (d *IndexedDB) Do(writes bool, f func(Tx) error) error {
	o := idb.TransactionOptions{Mode: idb.TransactionReadOnly}
	if writes {
		o = idb.TransactionOptions{Mode: idb.TransactionReadWrite, Durability: idb.DurabilityStrict}
	}
	txn, err := d.db.TransactionWithOptions(o, d.tables[0], d.tables[1:]...)
	if err != nil {
		return explain(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- txn.Await(ctx) }() // from the start, since the first error is the cause of all others
	t := objects{map[Table]*idb.ObjectStore{}, map[Key]js.Value{}}
	for _, name := range d.tables {
		if t.of[Table(name)], err = txn.ObjectStore(name); err != nil {
			return explain(err)
		}
	}
	failed := f(t)
	if failed != nil {
		_ = txn.Abort() // nothing half done; it may have been aborted already
	}
	timer := time.AfterFunc(transactionTimeout, cancel)
	defer timer.Stop()
	err = <-done
	var own *metaqda.Error
	switch {
	case ctx.Err() != nil, failed == errTimeout:
		return explain(errTimeout)
	case errors.As(failed, &own):
		return own
	}
	return explain(cmp.Or(err, failed)) // the transaction knows better why
}

func (t objects) key(table Table, k Key) js.Value {
	if odd, ok := t.odd[k]; ok {
		return odd
	}
	if numbered(table) {
		return js.ValueOf([]any{k.ID, k.N})
	}
	return js.ValueOf(k.ID)
}

// Get implements [Tx]. It issues some requests and waits for the last of them: they are answered in
// the order they were issued.
func (t objects) Get(table Table, keys ...Key) ([]any, error) {
	found := make([]any, 0, len(keys))
	for some := range slices.Chunk(keys, 64) {
		if t.of[table] == nil {
			found = append(found, make([]any, len(some))...)
			continue
		}
		requests := make([]*idb.Request, len(some))
		for i, k := range some {
			var err error
			if requests[i], err = t.of[table].Get(t.key(table, k)); err != nil {
				return nil, err
			}
		}
		if _, err := within(transactionTimeout, requests[len(some)-1]); err != nil {
			return nil, err
		}
		for _, r := range requests {
			v, err := r.Result()
			if err != nil {
				return nil, err
			}
			one := plain(table, v)
			if one == nil && !v.IsUndefined() {
				one = Unknown("null")
			}
			found = append(found, one)
		}
	}
	return found, nil
}

// All implements [Tx].
func (t objects) All(table Table) ([]Key, error) {
	if t.of[table] == nil {
		return nil, nil
	}
	v, err := array(t.of[table].GetAllKeys())
	return t.keys(table, v, err)
}

// Keys implements [Tx].
func (t objects) Keys(table Table, id string) ([]Key, error) {
	switch {
	case t.of[table] == nil:
		return nil, nil
	case !numbered(table): // of a former version
		index, err := t.of[table].Index("session")
		if err != nil {
			return nil, err
		}
		only, err := idb.NewKeyRangeOnly(js.ValueOf(id))
		if err != nil {
			return nil, err
		}
		v, err := array(index.GetAllKeysRange(only, 0))
		return t.keys(table, v, err)
	}
	v, err := t.under(table, id)
	return t.keys(table, v, err)
}

// under returns the keys under an id.
func (t objects) under(table Table, id string) (v js.Value, err error) {
	all, err := idb.NewKeyRangeBound(js.ValueOf([]any{id}), js.ValueOf([]any{id, []any{}}), true, true) // an array comes after all numbers
	if err != nil {
		return v, err
	}
	return array(t.of[table].GetAllKeysRange(all, 0))
}

// array waits for the array that a request gives, if it could be issued.
func array(r *idb.ArrayRequest, err error) (v js.Value, _ error) {
	if err != nil {
		return v, err
	}
	return within(transactionTimeout, r.Request)
}

func (t objects) keys(table Table, v js.Value, err error) ([]Key, error) {
	if err != nil {
		return nil, err
	}
	keys := make([]Key, v.Length())
	for i := range keys {
		keys[i] = t.keyOf(table, v.Index(i))
	}
	return keys, nil
}

// odd is the number of a key that nothing here writes; its id is JSON.
const odd = -1

func (t objects) keyOf(table Table, v js.Value) Key {
	if !numbered(table) && v.Type() == js.TypeString {
		return Key{ID: v.String()}
	}
	if numbered(table) && v.InstanceOf(jsArray) && v.Length() == 2 && v.Index(0).Type() == js.TypeString && v.Index(1).Type() == js.TypeNumber {
		return Key{v.Index(0).String(), v.Index(1).Int()}
	}
	k := Key{jsJSON.Call("stringify", v).String(), odd}
	t.odd[k] = v
	return k
}

// Last implements [Tx].
func (t objects) Last(table Table, id string) (int, error) {
	v, err := t.under(table, id)
	if err != nil || v.Length() == 0 {
		return 0, err
	}
	return max(0, t.keyOf(table, v.Index(v.Length()-1)).N), nil
}

// Put implements [Tx].
func (t objects) Put(table Table, k Key, v any) error {
	if v == nil {
		if t.of[table] == nil {
			return nil
		}
		_, err := t.of[table].Delete(t.key(table, k))
		return err
	}
	r, err := t.of[table].PutKey(t.key(table, k), valueOf(v))
	if b, ok := v.([]byte); ok && len(b) > 1<<18 && err == nil { // some milliseconds of work: it yields to messages
		_, err = within(transactionTimeout, r)
	}
	return err
}

var (
	jsJSON        = js.Global().Get("JSON")
	jsArray       = js.Global().Get("Array")
	jsUint8Array  = js.Global().Get("Uint8Array")
	jsArrayBuffer = js.Global().Get("ArrayBuffer")
)

// valueOf turns bytes or a text into a value for IndexedDB.
func valueOf(v any) js.Value {
	if b, ok := v.([]byte); ok {
		a := jsUint8Array.New(len(b))
		js.CopyBytesToJS(a, b)
		return a
	}
	return js.ValueOf(v)
}

// typeOf returns the type of a value. Package js panics where it has no name for it, as
// for a BigInt.
func typeOf(v js.Value) (t js.Type, known bool) {
	defer func() { known = recover() == nil }()
	return v.Type(), true
}

// plain turns a value from a table of IndexedDB into one of [Tx].
func plain(table Table, v js.Value) any {
	t, known := typeOf(v)
	if !known {
		return Unknown("value of a kind that is not kept here")
	}
	switch t {
	case js.TypeString:
		return v.String()
	case js.TypeNumber:
		return v.Float()
	case js.TypeBoolean:
		return v.Bool()
	case js.TypeUndefined, js.TypeNull:
		return nil
	case js.TypeObject:
	default:
		return Unknown(t.String())
	}
	switch {
	case v.InstanceOf(jsArrayBuffer):
		return bytesOf(jsUint8Array.New(v))
	case v.InstanceOf(jsUint8Array):
		return bytesOf(v)
	case len(fields[table]) == 0 || v.InstanceOf(jsArray):
		return Unknown("object")
	}
	r := Record{}
	for _, name := range fields[table] {
		if x := v.Get(name); !x.IsUndefined() {
			r[name] = plain("", x)
		}
	}
	return r
}

func bytesOf(v js.Value) []byte {
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}
