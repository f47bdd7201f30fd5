// Package store keeps sessions, their pictures' embeddings and priors in the
// browser's IndexedDB, one record per thing, so that adding an example writes
// one example. Where IndexedDB cannot be had, [Memory] takes its place. It is not
// for files that people keep, whose formats are in package metaqda/core/model.
package store

import (
	metaqda "metaqda/core"
	"metaqda/core/model"
)

// Table names an object store of the database.
type Table string

const (
	Sessions   Table = "sessions"
	Classes    Table = "classes"
	Examples   Table = "examples"
	Thumbnails Table = "thumbnails"
	Priors     Table = "priors"
	Meta       Table = "meta"
	Steps      Table = "steps"
)

// Tables lists all tables.
var Tables = []Table{Sessions, Classes, Examples, Thumbnails, Priors, Meta, Steps}

// Session is the record of a session, what a person taught under one name, without
// its classes and examples. Another thing of that name, [model.Session] in a prior,
// says how such sessions differ in difficulty.
type Session struct {
	ID, Name         string
	Created, Updated int64 // milliseconds since 1970 UTC
	Saved            int64 // when it was last saved to a file, 0 for never
	Settings         Settings
	// Extractor read the pictures. It is empty before the first picture, where
	// nobody said which it was, and in sessions from before it was recorded.
	Extractor model.Extractor
}

// Settings are the choices that turn examples into predictions.
type Settings struct {
	Sort      string  `json:"sort"` // order of the meters
	NonePrior float64 `json:"nonePrior"`
	Actions   string  `json:"actions"` // what happens when none of these comes and goes
	Prior     string  `json:"-"`       // sha256 of the prior chosen for this session, empty for the site's
}

// Class is one class; classes of a session stand in the order of Order.
type Class struct {
	ID, Session, Name string
	Order             float64
	Actions           string // what happens when it comes and goes
}

// Example is one picture of a class: its raw embedding of length d and its
// thumbnail, encoded picture bytes or nil. A Store keeps and deletes the thumbnail with
// the example, in a record beside it.
type Example struct {
	ID, Session, Class string
	Order              float64
	Group              string // of frames that count as one, empty for none
	Embedding          []float32
	Thumbnail          []byte
	Apart              bool // the thumbnail was not read: [Store.Thumbnails] has it
}

// ManyPictures is how many pictures of a session are read with their thumbnails. Of more
// they are read when they are wanted: they are most of what is stored.
const ManyPictures = 600

// Edit changes fields of a session's record; nil leaves one as it is, so that two
// tabs which change different fields both have their way.
type Edit struct {
	Name, Sort, Prior, Actions *string
	NonePrior                  *float64
	Extractor                  *model.Extractor
	Updated, Saved             int64 // the later one counts
}

// Apply makes the changes.
func (d Edit) Apply(s *Session) {
	set(&s.Name, d.Name)
	set(&s.Settings.Sort, d.Sort)
	set(&s.Settings.Prior, d.Prior)
	set(&s.Settings.NonePrior, d.NonePrior)
	set(&s.Settings.Actions, d.Actions)
	set(&s.Extractor, d.Extractor)
	s.Updated, s.Saved = max(s.Updated, d.Updated), max(s.Saved, d.Saved)
}

func set[T any](dst, v *T) {
	if v != nil {
		*dst = *v
	}
}

// Op writes one record: Value is a [Session], [Class], [Example], a string for
// [Meta], bytes for [Priors] and [Steps], nil to delete the record, or an
// [Edit] of a session.
type Op struct {
	Table Table
	Key   string
	Value any
}

// Ref returns what the operation is on.
func (o Op) Ref() Ref { return Ref{o.Table, o.Key} }

// Change is operations that belong together, with what they take for granted. Where
// that is not so any more, because another tab was quicker, all are refused.
type Change struct {
	Needs Needs
	Ops   []Op
}

// Needs is what a change takes for granted; what is empty is not asked for.
type Needs struct {
	Session string // exists
	Class   string // exists in the session
	Name    string // is that of no class of the session but Class
	Whole   bool   // Class has no examples but those that the change deletes
}

// Ref names a record.
type Ref struct {
	Table Table
	Key   string
}

// Contents is a whole session as stored.
type Contents struct {
	Session  Session
	Classes  []Class    // by Order
	Examples []*Example // by Order, each of one of the classes
	Damaged  []Damage   // records of the session that cannot be used
}

// Parts are some records of a session, as far as they are there and sound.
type Parts struct {
	Session  *Session // nil where it is gone
	Deleted  bool     // by [Store.DeleteSession]
	Classes  map[string]Class
	Examples map[string]Example
}

// Summary is a session with the number of its classes and examples.
type Summary struct {
	Session
	Classes, Examples int
}

// Store is what the engine needs of storage. All methods may wait, so they must
// not be called from a JavaScript callback. Errors are *[Error]s.
//
// Several tabs have the same store. Each call of a method that writes has it to
// itself from the first thing it reads to the last it writes.
type Store interface {
	// Commit carries out the changes in order, each as a whole or not at all:
	// refused has an *[Error] for each that was not, nil for the others. With err
	// nothing is carried out. What is committed is safe from a loss of power as far
	// as the device keeps its word.
	Commit(changes []Change) (refused []error, err error)
	// Summaries returns all sessions, the last changed first.
	Summaries() ([]Summary, error)
	// Unreachable returns the records that nothing leads to: those of no session, small
	// copies of no picture, and what has a key that nothing here writes.
	Unreachable() ([]Damage, error)
	// Contents returns a session, or nil if there is none of that id.
	Contents(session string) (*Contents, error)
	// Thumbnails returns those of examples, as far as they have one, by their ids.
	Thumbnails(examples []string) (map[string][]byte, error)
	// Parts returns some classes and examples of a session, by their ids.
	Parts(session string, classes, examples []string) (*Parts, error)
	// DeleteSession deletes a session with all that belongs to it, steps whose keys
	// begin with its id and a slash among it.
	DeleteSession(id string) error
	// Sweep deletes the priors that are neither the site's nor chosen by a session, and has
	// the bytes of what was deleted dropped from files, as far as that is possible.
	Sweep() error
	// Bytes returns a record of Priors or Steps, or nil if there is none.
	Bytes(table Table, key string) ([]byte, error)
	// Text returns a record of Meta, or "" if there is none.
	Text(key string) (string, error)
}

// SitePrior is the key in Meta of the sha256 of the site's prior.
const SitePrior = "site-prior"

// Error is a failure of storage that a person can do something about. Its code is "quota",
// "blocked", "closed", "aborted", "version", "unavailable" or "storage"; of a refused change
// "session", "class", "label", "changed" or "cleared".
type Error = metaqda.Error
