package store

import (
	"syscall/js"
	"time"
)

// A session of thousands of pictures is read by web/engine/reading.js, in this thread
// or, where there are many, in one of its own. Package idb has no getAll for records, and
// each record by itself would cost a call or three across the boundary.

// Contents implements [Store].
func (s *IndexedDB) Contents(session string) (*Contents, error) {
	c := gather()
	err := s.readAll(session, func(table Table, some []stored) {
		if some == nil { // once more from the beginning
			c = gather()
		}
		c.take(table, some)
	})
	if err != nil || c.Contents == nil {
		return nil, explain(err)
	}
	thumbnails, err := s.Thumbnails(c.wanted())
	if err != nil {
		return nil, err
	}
	// Messages are let in before and after: to take the last pack, put all in order and open
	// it in one go would be a tenth of a second in which nothing else moves.
	time.Sleep(time.Microsecond)
	contents := c.done(thumbnails)
	time.Sleep(time.Microsecond)
	return contents, nil
}

// readAll hands out the records of a session, first itself, then its classes, then its
// examples; nil where all comes again, and nothing where there is no such session.
func (s *IndexedDB) readAll(session string, page func(Table, []stored)) error {
	come := make(chan func() error, 1024) // packs as they come, then nil, or why there are no more
	var give, ended, failed js.Func
	give = js.FuncOf(func(_ js.Value, args []js.Value) any {
		found := args[0]
		come <- func() error {
			if found.IsNull() {
				page("", nil)
				return nil
			}
			table, keys, records := Table(found.Get("table").String()), found.Get("keys"), found.Get("records")
			some, err := unpack(session, bytesOf(found.Get("pack")))
			for i := range keys.Length() {
				some = append(some, stored{keys.Index(i).String(), plain(table, records.Index(i))})
			}
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
		s.reader.Invoke(s.raw, session, give).Call("then", ended, failed)
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
