package store

import (
	"errors"
	"slices"
	"syscall/js"
	"time"
)

// A session of thousands of pictures is read by web/engine/reading.js, in this thread
// or, where there are many, in one of its own. Package idb has no getAll for records, and
// each record by itself would cost a call or three across the boundary.

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

// Contents implements [Store].
func (s *IndexedDB) Contents(session string) (*Contents, error) {
	c, err := s.contents(session)
	return c, explain(err)
}

func (s *IndexedDB) contents(session string) (*Contents, error) {
	var head *stored
	var classes []stored
	var c *gathering
	err := s.read(session, func(table Table, some []stored) {
		switch {
		case some == nil: // once more from the beginning
			head, classes, c = nil, nil, nil
		case table == Sessions:
			head = &some[0]
		case table == Classes:
			classes = append(classes, some...)
		case head != nil:
			if c == nil {
				c = gather(*head, classes)
			}
			c.take(some)
		}
	})
	if err != nil || head == nil {
		return nil, err
	}
	if c == nil {
		c = gather(*head, classes)
	}
	t, err := s.snapshot(Thumbnails)
	if err != nil {
		return nil, err
	}
	thumbnails, err := t.thumbnails(c.wanted())
	if err != nil {
		return nil, err
	}
	letIn()
	defer letIn()
	return c.done(thumbnails), nil
}

// letIn lets messages in: what was read, put in order and opened in one go would be
// a tenth of a second in which nothing else moves.
func letIn() { time.Sleep(time.Microsecond) }

// read hands out the records of a session, first itself, then its classes, then its
// examples; nil where all comes again, and nothing where there is no such session.
func (s *IndexedDB) read(session string, page func(Table, []stored)) error {
	wanted := map[string]any{}
	for table, names := range fields {
		all := make([]any, len(names))
		for i, name := range names {
			all[i] = name
		}
		wanted[string(table)] = all
	}
	come := make(chan func() error, 1024) // packs as they come, then nil, or why there are no more
	var give, ended, failed js.Func
	give = js.FuncOf(func(_ js.Value, args []js.Value) any {
		found := args[0]
		come <- func() error {
			if found.IsNull() {
				page("", nil)
				return nil
			}
			table, odd := Table(found.Get("table").String()), found.Get("odd")
			next := -1
			some, err := unpack(table, bytesOf(found.Get("pack")), func() any { next++; return plain(table, odd.Index(next)) })
			if err == nil {
				page(table, some)
			}
			return err
		}
		return nil
	})
	ended = js.FuncOf(func(js.Value, []js.Value) any { come <- nil; return nil })
	failed = js.FuncOf(func(_ js.Value, args []js.Value) any {
		come <- func() error { return js.Error{Value: args[0]} }
		return nil
	})
	if err := try(func() {
		s.reader.Invoke(s.raw, map[string]any{"session": session, "fields": wanted}, give).Call("then", ended, failed)
	}); err != nil {
		return err
	}
	timer := time.NewTimer(transactionTimeout)
	defer timer.Stop()
	var err error
	for err == nil {
		select {
		case one := <-come:
			if one == nil {
				give.Release()
				ended.Release()
				failed.Release()
				return nil
			}
			err = one()
			timer.Reset(transactionTimeout)
		case <-timer.C:
			err = errTimeout
		}
	}
	return err // and the functions stay, for they may be called yet
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
