// Package log keeps sessions in the browser's IndexedDB. A stored session is the log of its steps,
// with a snapshot in segments. To open it, a tab reads the snapshot and repeats the steps after it.
// Without IndexedDB, [Memory] takes its place. Package metaqda/core/model has the formats of files.
//
// Each change of a session is one [Step]. A tab appends a step only if no other tab has appended one
// under that number; otherwise it gets the steps that it lacks. Compaction writes a new snapshot and
// deletes the steps that the snapshot covers, except the last one, in one transaction. It also deletes
// removed examples that undo can no longer restore.
package log

import (
	"cmp"
	"slices"

	metaqda "metaqda/core"
	"metaqda/core/model"
)

// Table names an object store of the database.
type Table string

const (
	Steps      Table = "log"        // under the session's id and the step's number
	Snapshots  Table = "snapshots"  // under the session's id and 0 for its head, from 1 on for its segments
	Thumbnails Table = "thumbnails" // under the example's id
	Priors     Table = "priors"     // under the sha256
	Meta       Table = "meta"       // texts
	Aside      Table = "damaged"    // records set aside, as JSON
)

// Tables lists all tables.
var Tables = []Table{Steps, Snapshots, Thumbnails, Priors, Meta, Aside}

// Key is the key of a record: an id, in the tables of steps and snapshots with a number.
type Key struct {
	ID string
	N  int // none outside of these tables
}

// Tx is a transaction. It reads its own writes, and keeps all of them or none.
type Tx interface {
	Get(t Table, keys ...Key) ([]any, error)  // bytes or text or, of a former version, a [Record]; nil where there is none
	Keys(t Table, id string) ([]Key, error)   // those with the id, in order
	All(t Table) ([]Key, error)               // all keys, in order
	Put(t Table, k Key, v any) error          // deletes for nil
	Last(t Table, id string) (n int, e error) // the largest number under the id, 0 for none
}

// DB is a database.
type DB interface {
	// Do calls f with a transaction, and aborts it if f returns an error. f must wait only for the
	// transaction. If Do returns nil, the writes survive a loss of power, unless the device reports
	// data as written too early.
	Do(writes bool, f func(Tx) error) error
	// Erase makes the browser drop the bytes of deleted records from its files, as far as possible.
	Erase()
}

// Settings are the choices that turn examples into predictions.
type Settings struct {
	Sort      string // order of the meters
	NonePrior float64
	Actions   string // what happens when none of these comes and goes
	Prior     string // sha256 of the prior chosen for this session, empty for the site's
}

// Session is the head of a stored session: everything but its classes and examples. It is not
// [model.Session], the part of a prior about how sessions differ in difficulty.
type Session struct {
	ID, Name         string
	Created, Updated int64 // milliseconds since 1970 UTC
	Saved            int64 // when it was last saved to a file, 0 for never
	Settings         Settings
	// Extractor read the pictures. It is empty before the first picture, if it is not known, and in
	// sessions that are older than this field.
	Extractor model.Extractor
}

// Summary is a session with the number of its classes and examples.
type Summary struct {
	Session
	Classes, Examples int
}

// Edit changes fields of a session. A nil field stays as it is, so two tabs can change
// different fields at once.
type Edit struct {
	Name, Sort, Prior *string
	NonePrior         *float64
	Extractor         *model.Extractor
	Saved             int64 // the later one counts
}

// Apply makes the changes.
func (d *Edit) Apply(s *Session) {
	if d == nil {
		return
	}
	set(&s.Name, d.Name)
	set(&s.Settings.Sort, d.Sort)
	set(&s.Settings.Prior, d.Prior)
	set(&s.Settings.NonePrior, d.NonePrior)
	set(&s.Extractor, d.Extractor)
	s.Saved = max(s.Saved, d.Saved)
}

func set[T any](dst, v *T) {
	if v != nil {
		*dst = *v
	}
}

// Step is a change of a session.
type Step struct {
	N       int    // its number in the session, from 1 on
	ID      string // tells it from all other steps; empty in records of former versions
	Command *metaqda.Command
	Edit    *Edit
	After   Summary // of the session, without actions

	Thumbnails map[string][]byte // of the examples it adds; they are kept apart
	Files      map[string][]byte // of the priors it chooses

	anew bool // its record was damaged and lost: read the session anew
}

// Contents is a session as stored: the snapshot, and the steps after it.
type Contents struct {
	Session Session
	Classes []metaqda.Class // by their order, with their examples
	Undo    []*metaqda.Step // the undo history of the snapshot, the next step first
	Redo    []*metaqda.Step
	Steps   []Step
	Damaged []Damage // what cannot be used
}

// ManyPictures is the largest number of pictures in a session that is read with all its thumbnails.
// In a larger session they are read when they are shown, since they are most of the stored bytes.
const ManyPictures = 600

// SitePrior is the key in Meta of the sha256 of the site's prior.
const SitePrior = "site-prior"

// ErrCleared is the reason why a change is refused after the site's data were cleared while the page
// was open.
var ErrCleared error = &metaqda.Error{Code: "cleared", Message: "The browser's storage was cleared, so this session is only in this tab: save it to a file, then reload the page."}

// ErrDeleted is the reason why a change of a deleted session is refused.
var ErrDeleted error = &metaqda.Error{Code: "session", Message: "This session does not exist any more: it was deleted, perhaps in another tab."}

// tombstone is the key in Meta that a deleted session leaves. It tells a tab that still has the
// session open that the storage was not cleared.
func tombstone(session string) Key { return Key{ID: "deleted/" + session} }

// exists returns ErrDeleted or ErrCleared if there is no such session.
func exists(t Tx, session string) error {
	n, err := t.Last(Steps, session)
	if n > 0 || err != nil {
		return err
	}
	gone, err := t.Get(Meta, tombstone(session))
	switch {
	case err != nil:
		return err
	case gone[0] == nil:
		return ErrCleared
	}
	return ErrDeleted
}

// Exists returns nil if a session is stored, else [ErrDeleted] or [ErrCleared], or the error of the
// database.
func Exists(db DB, session string) error {
	return db.Do(false, func(t Tx) error { return exists(t, session) })
}

// Create stores a new session with classes and examples. A transaction that took too long may have
// stored it already: then Create changes nothing. It returns ErrDeleted if it was deleted since.
func Create(db DB, s Summary, classes []metaqda.Class) error {
	return db.Do(true, func(t Tx) error {
		if err := exists(t, s.ID); err != ErrCleared {
			return err
		}
		return create(t, s, classes, nil, nil)
	})
}

// CreateFirst stores a new, empty session if there is none.
func CreateFirst(db DB, s Summary) error {
	return db.Do(true, func(t Tx) error {
		ids, err := sessions(t)
		if err != nil || len(ids) > 0 {
			return err
		}
		return create(t, s, nil, nil, nil)
	})
}

func create(t Tx, s Summary, classes []metaqda.Class, undo, redo []*metaqda.Step) error {
	var all []*metaqda.Example
	for _, k := range classes {
		all = append(all, k.Examples...)
	}
	if err := putThumbnails(t, all); err != nil {
		return err
	}
	n := 0
	for some := range slices.Chunk(all, perSegment) {
		n++
		if err := t.Put(Snapshots, Key{s.ID, n}, encode("null", some...)); err != nil {
			return err
		}
	}
	first := encodeStep(Step{After: s}) // the last step stays: each session has one
	return cmp.Or(t.Put(Snapshots, Key{s.ID, 0}, encodeHead(head{Session: s.Session, Classes: classes, Undo: undo, Redo: redo})), t.Put(Steps, Key{s.ID, 1}, first))
}

// Append appends steps to a session whose last step is n, all or none. If the session has later
// steps already, it appends nothing and returns these as others. With no steps it only reads the
// others. behind reports that some of the others cannot be read, for example because compaction has
// deleted them: the session must then be read anew.
func Append(db DB, session string, n int, steps []Step) (others []Step, behind bool, err error) {
	err = db.Do(true, func(t Tx) (err error) {
		if others, behind, err = after(t, session, n); err != nil || len(others) > 0 || behind {
			return err
		}
		for i, s := range steps {
			if err := put(t, session, n+1+i, s); err != nil {
				return err
			}
		}
		return nil
	})
	return others, behind, err
}

func put(t Tx, session string, n int, s Step) error {
	return cmp.Or(putAll(t, Thumbnails, s.Thumbnails), putAll(t, Priors, s.Files), t.Put(Steps, Key{session, n}, encodeStep(s)))
}

// putThumbnails puts the thumbnails of examples.
func putThumbnails(t Tx, all []*metaqda.Example) (err error) {
	for _, x := range all {
		if len(x.Thumbnail) > 0 {
			err = cmp.Or(err, t.Put(Thumbnails, Key{ID: x.ID}, x.Thumbnail))
		}
	}
	return err
}

// putAll puts bytes under their ids.
func putAll(t Tx, table Table, all map[string][]byte) (err error) {
	for id, b := range all {
		err = cmp.Or(err, t.Put(table, Key{ID: id}, b))
	}
	return err
}

func after(t Tx, session string, n int) (steps []Step, behind bool, err error) {
	last, err := t.Last(Steps, session)
	if err != nil || last == n && n > 0 {
		return nil, false, err
	}
	if last == 0 {
		return nil, false, exists(t, session)
	}
	var keys []Key
	for i := n + 1; i <= last; i++ {
		keys = append(keys, Key{session, i})
	}
	values, err := t.Get(Steps, keys...)
	for i, v := range values {
		s, reason := decodeStep(v)
		if v == nil || reason != "" || s.anew {
			return nil, true, err
		}
		s.N = n + 1 + i
		steps = append(steps, s)
	}
	if err == nil {
		err = giveThumbnails(t, added(steps))
	}
	return steps, last < n, err
}

// added returns the examples that steps add.
func added(steps []Step) (all []*metaqda.Example) {
	for _, s := range steps {
		if s.Command != nil {
			all = append(all, examplesOf(s.Command.Entries)...)
		}
	}
	return all
}

// giveThumbnails reads the thumbnails of examples.
func giveThumbnails(t Tx, all []*metaqda.Example) error {
	ids := make([]string, len(all))
	for i, x := range all {
		ids[i] = x.ID
	}
	found, err := thumbnails(t, ids)
	for _, x := range all {
		if x.Vector != nil {
			x.Thumbnail = found[x.ID]
		}
	}
	return err
}

// Discard deletes the damaged records of a class from the table Aside.
func Discard(db DB, session, class string) error {
	return db.Do(true, func(t Tx) error {
		keys, err := t.Keys(Aside, session)
		if err != nil {
			return err
		}
		return each(t, Aside, keys, func(k Key, v any) error {
			if b, ok := v.([]byte); ok && asideOf(b).Class() == class {
				return t.Put(Aside, k, nil)
			}
			return nil
		})
	})
}

// AppendTo appends an edit to a session that is not open.
func AppendTo(db DB, session string, edit Edit) error {
	return db.Do(true, func(t Tx) error {
		if err := exists(t, session); err != nil {
			return err
		}
		s, n, err := summary(t, session)
		if err != nil {
			return err
		}
		edit.Apply(&s.Session)
		return put(t, session, n+1, Step{Edit: &edit, After: s})
	})
}

// summary returns the summary of a session and the number of its last step.
func summary(t Tx, session string) (s Summary, n int, err error) {
	n, err = t.Last(Steps, session)
	if err != nil {
		return s, n, err
	}
	v, err := t.Get(Steps, Key{session, n})
	if err != nil {
		return s, n, err
	}
	last, reason := decodeStep(v[0])
	if s = last.After; reason == "" {
		s.ID = session
		return s, n, nil
	}
	c, err := (&Stored{Session: session}).read(t)
	if err != nil {
		return s, n, err
	}
	s = Summary{Session: c.Session, Classes: len(c.Classes)}
	for _, k := range c.Classes {
		s.Examples += len(k.Examples)
	}
	return s, n, nil
}

// Summaries returns all sessions, the last changed first.
func Summaries(db DB) (all []Summary, err error) {
	err = db.Do(false, func(t Tx) error {
		ids, err := sessions(t)
		for _, id := range ids {
			s, _, err := summary(t, id)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		return err
	})
	sort(all, func(a, b *Summary) int { return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// sort sorts values through pointers to them. The program has this way of sorting for pointers anyway.
// Sorting each type of value directly would add code for each type.
func sort[T any](all []T, compare func(a, b *T) int) {
	own := slices.Clone(all)
	order := make([]*T, len(own))
	for i := range own {
		order[i] = &own[i]
	}
	slices.SortStableFunc(order, compare)
	for i, x := range order {
		all[i] = *x
	}
}

// sessions returns the ids of all sessions.
func sessions(t Tx) (ids []string, err error) {
	keys, err := t.All(Steps)
	for _, k := range keys {
		if k.N > 0 && (len(ids) == 0 || ids[len(ids)-1] != k.ID) {
			ids = append(ids, k.ID)
		}
	}
	return ids, err
}

// Delete deletes a session with all that belongs to it.
func Delete(db DB, session string) error {
	return db.Do(true, func(t Tx) error {
		r := &Stored{Session: session}
		if _, err := r.read(t); err != nil {
			return err
		}
		for id := range r.examples {
			if err := t.Put(Thumbnails, Key{ID: id}, nil); err != nil {
				return err
			}
		}
		for _, table := range []Table{Steps, Snapshots, Aside} {
			keys, err := t.Keys(table, session)
			if err != nil {
				return err
			}
			for _, k := range keys {
				if err := t.Put(table, k, nil); err != nil {
					return err
				}
			}
		}
		return t.Put(Meta, tombstone(session), "")
	})
}

// Sweep deletes the priors that are neither the site's nor chosen by a session, and then calls
// Erase.
func Sweep(db DB) error {
	err := db.Do(true, func(t Tx) error {
		site, err := t.Get(Meta, Key{ID: SitePrior})
		if err != nil {
			return err
		}
		ids, err := sessions(t)
		if err != nil {
			return err
		}
		used := map[string]bool{}
		if sum, ok := site[0].(string); ok {
			used[sum] = true
		}
		for _, id := range ids {
			s, _, err := summary(t, id)
			if err != nil {
				return err
			}
			used[s.Settings.Prior] = true
		}
		waiting, err := t.All(oldSessions) // see Migrate
		if err != nil {
			return err
		}
		for _, k := range waiting {
			v, err := t.Get(oldSessions, k)
			if err != nil {
				return err
			}
			used[oldSession(k.ID, v[0]).Settings.Prior] = true
		}
		priors, err := t.All(Priors)
		for _, k := range priors {
			if !used[k.ID] && err == nil {
				err = t.Put(Priors, k, nil)
			}
		}
		return err
	})
	db.Erase()
	return err
}

// Value returns a record of Meta, a text, or of Priors, bytes. It is empty if there is none.
func Value[T string | []byte](db DB, table Table, id string) (v T, err error) {
	err = db.Do(false, func(t Tx) error {
		found, err := t.Get(table, Key{ID: id})
		if err == nil {
			v, _ = found[0].(T)
		}
		return err
	})
	return v, err
}

// Put stores a text of Meta, and bytes of Priors under their sha256.
func Put(db DB, id, text string, files map[string][]byte) error {
	return db.Do(true, func(t Tx) error {
		return cmp.Or(putAll(t, Priors, files), t.Put(Meta, Key{ID: id}, text))
	})
}

// ThumbnailsOf returns the thumbnails of examples, as far as they have one, by their ids.
func ThumbnailsOf(db DB, examples []string) (found map[string][]byte, err error) {
	if len(examples) == 0 {
		return nil, nil
	}
	err = db.Do(false, func(t Tx) error {
		found, err = thumbnails(t, examples)
		return err
	})
	return found, err
}

func thumbnails(t Tx, examples []string) (map[string][]byte, error) {
	keys, found := make([]Key, len(examples)), map[string][]byte{}
	for i, id := range examples {
		keys[i] = Key{ID: id}
	}
	values, err := t.Get(Thumbnails, keys...)
	for i, v := range values {
		if b, ok := v.([]byte); ok && len(b) > 0 {
			found[examples[i]] = b
		}
	}
	return found, err
}
