// Package store keeps sessions, their pictures' embeddings and priors in the
// browser's IndexedDB, one record per thing, so that adding an example writes
// one example. Where IndexedDB cannot be had, [Memory] takes its place. It is not
// for files that people keep, whose formats are in package metaqda/core/model.
package store

import (
	"slices"
	"sort"

	"metaqda/core/model"
)

// Table names an object store of the database.
type Table string

const (
	Sessions    Table = "sessions"
	Classes     Table = "classes"
	Examples    Table = "examples"
	Priors      Table = "priors"
	Meta        Table = "meta"
	Checkpoints Table = "checkpoints"
)

// Tables lists all tables.
var Tables = []Table{Sessions, Classes, Examples, Priors, Meta, Checkpoints}

// Session is the record of a session, what a person taught under one name, without
// its classes and examples. Another thing of that name, [model.Session] in a prior,
// says how such sessions differ in difficulty.
type Session struct {
	ID, Name         string
	Created, Updated int64 // milliseconds since 1970 UTC
	Saved            int64 // likewise, when a person last saved it to a file; 0 for never
	Settings         Settings
	// Extractor read the pictures. It is empty before the first picture, where
	// nobody said which it was, and in sessions from before it was recorded.
	Extractor model.Extractor
}

// Settings are the choices that turn examples into predictions.
type Settings struct {
	Inference string // "fb" or "map"
	Sort      string // order of the meters
	NonePrior float64
	Pooled    bool
	Prior     string // sha256 of the prior chosen for this session, empty for the site's
}

// Class is one class; classes of a session stand in the order of Order.
type Class struct {
	ID, Session, Name string
	Order             float64
}

// Example is one picture of a class: its raw embedding of length d and its
// thumbnail, encoded picture bytes or nil.
type Example struct {
	ID, Session, Class string
	Order              float64
	Embedding          []float32
	Thumbnail          []byte
}

// Op writes one record: Value is a [Session], [Class], [Example], a string for
// [Meta], bytes for [Priors] and [Checkpoints], or nil to delete the record.
type Op struct {
	Table Table
	Key   string
	Value any
}

// Contents is a whole session as stored.
type Contents struct {
	Session  Session
	Classes  []Class   // by Order
	Examples []Example // by Order, each of one of the classes
}

// Summary is a session with the number of its classes and examples.
type Summary struct {
	Session
	Classes, Examples int
}

// Store is what the engine needs of storage. All methods may wait, so they must
// not be called from a JavaScript callback. Errors are *[Error]s.
type Store interface {
	// Apply carries out the operations in order, all or none.
	Apply(ops []Op) error
	// Summaries returns all sessions, the last changed first.
	Summaries() ([]Summary, error)
	// Contents returns a session, or nil if there is none of that id.
	Contents(session string) (*Contents, error)
	// DeleteSession deletes a session with all that belongs to it.
	DeleteSession(id string) error
	// Bytes returns a record of Priors or Checkpoints, or nil if there is none.
	Bytes(table Table, key string) ([]byte, error)
	// Text returns a record of Meta, or "" if there is none.
	Text(key string) (string, error)
}

// Error is a failure of storage that a person can do something about.
type Error struct {
	Code    string // "quota", "blocked", "closed", "unavailable" or "storage"
	Message string // a sentence with the remedy
}

func (e *Error) Error() string { return e.Message }

// tidy puts contents in order and drops examples whose class is gone: another
// tab may have deleted it while an example was being added here.
func tidy(c *Contents) {
	sort.SliceStable(c.Classes, func(i, j int) bool {
		return before(c.Classes[i].Order, c.Classes[j].Order, c.Classes[i].ID, c.Classes[j].ID)
	})
	sort.SliceStable(c.Examples, func(i, j int) bool {
		return before(c.Examples[i].Order, c.Examples[j].Order, c.Examples[i].ID, c.Examples[j].ID)
	})
	known := make(map[string]bool, len(c.Classes))
	for _, k := range c.Classes {
		known[k.ID] = true
	}
	c.Examples = slices.DeleteFunc(c.Examples, func(e Example) bool { return !known[e.Class] })
}

func before(a, b float64, idA, idB string) bool { return a < b || a == b && idA < idB }

// newestFirst sorts summaries for a list.
func newestFirst(s []Summary) {
	sort.SliceStable(s, func(i, j int) bool { return before(float64(-s[i].Updated), float64(-s[j].Updated), s[i].ID, s[j].ID) })
}
