// Package engine is the classifier that the page talks to: the open session
// with its classes and examples, the prior in use, the last query, undo, and
// what has to be stored. It is plain Go: storage, view, clock and network are
// handed in, so that it runs natively in tests. It is not for learning priors,
// which is package learn's, nor does it compute densities, which is core's.
//
// A session here is what a person taught under one name, with its settings and the
// prior it uses: [store.Session] is its record, and the [session.Population] of
// package metaqda/core/session says how such sessions differ in difficulty.
//
// Methods that only compute return at once and note what is to be stored;
// [Engine.Flush] stores it. Methods that wait are marked so; they must not be
// called from a JavaScript callback.
package engine

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"metaqda/core/model"
	"metaqda/core/qda"
	"metaqda/wasm/store"
	"metaqda/wasm/view"
)

// Hooks connect an engine with the world around it.
type Hooks struct {
	Show    func(view.Frame)                 // draws a prediction
	Changed func()                           // the state is not what it was
	Stored  func(Note)                       // what has been stored, for the other tabs
	Stale   func(Note)                       // what is open must be brought up to date by Follow
	Fetch   func(url string) ([]byte, error) // waits for the bytes behind a URL
	Now     func() time.Time
	Later   func(time.Duration, func()) // calls after a time; nil: what is shown follows every change at once
	Breathe func(urgent bool)           // lets messages in, and returns, unless urgent in its own time; nil: what takes long is done at once
	Marks   func() string               // what Mark noted of all sessions, a JSON array; waits
	Mark    func(id, mark string)       // notes JSON outside of the store, nothing for a session that is deleted
	Fold    func(string) string         // what names that people take for the same have in common; nil: all but case
}

// Engine holds one open session. Its methods may be called by several
// goroutines.
type Engine struct {
	hooks Hooks

	waiting  sync.Mutex // one operation that waits at a time, held while waiting
	flushing sync.Mutex // one write at a time, held while waiting

	mu         sync.Mutex // everything below; never held while waiting
	store      store.Store
	trouble    string   // why changes are not kept, empty when they are
	gone       error    // why nothing more of the session can be kept: it is here alone
	vanished   string   // what was noted elsewhere and is not stored any more, empty if all is
	unmark     []string // sessions that have vanished, whose marks can go
	noting     bool     // the session's mark will be noted in a moment
	pending    []noted  // changes not stored yet, in order
	number     uint64   // of the last change noted
	refused    map[uint64]error
	sweep      bool             // priors may have gone out of use
	fetch      []*store.Example // whose thumbnails are fetched before pending is stored
	damaged    []store.Damage   // records of the session that cannot be used
	here       model.Extractor  // reads the pictures, empty while unknown
	session    store.Session
	classes    []*class
	site       *prior // the site's prior, nil until known
	prior      *prior // in use, nil until the dimension is known
	classifier *qda.Classifier
	late       []*class  // which the classifier does not know whole yet, see [Engine.Ready]
	awaited    int       // so many wait for that
	query      []float32 // nil without one
	due        bool      // what is shown will follow the changes in a moment
	rested     time.Time // until then what is shown need not follow again
	journal    journal
	unreadable string                  // why the prior that the session chose cannot be read, empty when it can or is not here
	undo       map[string]func() error // by token
	tokens     []string                // of undo, oldest first
	folded     map[string]string       // names as people take them, by name
	scratch    []float64               // of length d
	answer     []float64               // the last one, and scratch
}

// class is one class; its id is its label in the classifier, so that a new name
// is no change there.
type class struct {
	store.Class
	examples []*store.Example // in the order of the classifier
	bursts   []int            // sizes of its bursts, in the order they were begun
	counted  int              // so many examples are in them
	late     bool             // the classifier does not know all examples,
	enrolled int              // but so many of the first
}

// New returns an engine without a session: [Engine.Start] opens one. trouble
// says why s does not last, or is empty.
func New(s store.Store, trouble string, hooks Hooks) *Engine {
	if hooks.Now == nil {
		hooks.Now = time.Now
	}
	return &Engine{hooks: hooks, store: s, trouble: trouble, undo: map[string]func() error{}, refused: map[uint64]error{}, folded: map[string]string{}}
}

// State is what the page shows beside the prediction.
type State struct {
	SessionID, SessionName string
	Settings               store.Settings
	Dimension              int
	Prior                  PriorInfo
	Classes                []ClassInfo
	Trouble                string // why changes are not kept, empty when they are
	Vanished               string // what was kept here before and is not any more, a sentence
	Saved                  int64  // when the session was last saved to a file, in milliseconds since 1970 UTC, 0 for never
	Damaged                int    // so many records of the session cannot be used, see [Engine.Damaged]
	Extractor              model.Extractor
	Foreign                string // why its pictures cannot be compared with new ones, empty when they can
}

// PriorInfo tells which prior is in use.
type PriorInfo struct {
	Sum, Name string
	Site      bool // it is what a session has that chose none
	Facts     map[string]string
	Trouble   string // why it is not the one that the session chose, empty when it is
}

// ClassInfo is a class with its examples. They must not be changed.
type ClassInfo struct {
	ID, Name string
	Examples []*store.Example
	Bursts   []int // how many pictures each example for the classifier is made of, see qda.Options.Near
}

// State returns the state.
func (e *Engine) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.overview()
	s.Classes = e.classInfos()
	return s
}

// overview returns the state without classes.
func (e *Engine) overview() State {
	s := State{SessionID: e.session.ID, SessionName: e.session.Name, Settings: e.session.Settings, Prior: e.priorInfo(), Trouble: e.trouble, Vanished: e.vanished,
		Saved: e.session.Saved, Damaged: len(e.damaged), Extractor: e.session.Extractor}
	if e.prior != nil {
		s.Dimension = e.prior.dim()
	}
	if err := e.foreign(); err != nil {
		s.Foreign = err.Error()
	}
	return s
}

func (e *Engine) classInfos() []ClassInfo {
	all := make([]ClassInfo, len(e.classes))
	for i, c := range e.classes {
		all[i] = ClassInfo{ID: c.ID, Name: c.Name, Examples: slices.Clone(c.examples), Bursts: slices.Clone(c.bursts)}
	}
	return all
}

// defaultSettings are those of a new session.
func defaultSettings() store.Settings {
	return store.Settings{Sort: string(view.ByProbability), NonePrior: 0.2}
}

// Change names the settings to change; nil leaves one as it is.
type Change struct {
	Sort      *string
	NonePrior *float64
}

// Configure changes settings of the session, all or none.
func (e *Engine) Configure(c Change) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.session.Settings
	set(&s.Sort, c.Sort)
	set(&s.NonePrior, c.NonePrior)
	if err := checkSettings(s); err != nil {
		return err
	}
	if e.classifier != nil {
		near := e.classifier.Options().Near
		if err := e.classifier.SetOptions(options(s, e.prior)); err != nil {
			return err
		}
		if e.classifier.Options().Near != near {
			e.noteAllBursts()
		}
	}
	e.session.Settings = s
	e.touch(store.Edit{Sort: c.Sort, NonePrior: c.NonePrior}, store.Needs{})
	return nil
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

func checkSettings(s store.Settings) error {
	if s.Sort != string(view.ByProbability) && s.Sort != string(view.AsTaught) {
		return fail("setting", "The order “"+s.Sort+"” is unknown: choose probability or taught.")
	}
	if !(s.NonePrior >= 0 && s.NonePrior < 1) {
		return fail("setting", "The chance of something unknown must be from 0 to below 1.")
	}
	return nil
}

// touch notes that the session changed, with the given further changes, and
// shows the consequences. Classes and examples that they store are noted for
// [Engine.Changes] too; what goes is noted where it goes.
func (e *Engine) touch(edit store.Edit, needs store.Needs, ops ...store.Op) {
	e.notePuts(ops)
	e.session.Updated = e.hooks.Now().UnixMilli()
	edit.Updated = e.session.Updated
	needs.Session = e.session.ID
	e.note(needs, append(ops, store.Op{Table: store.Sessions, Key: e.session.ID, Value: edit})...)
	if addsPicture(ops) {
		e.follow() // pictures are added by the hundred, all else is done one at a time
	} else {
		e.refresh()
	}
	e.announce()
}

// addsPicture tells whether a change is that of one example put.
func addsPicture(ops []store.Op) bool {
	if len(ops) != 1 {
		return false
	}
	_, ok := ops[0].Value.(store.Example)
	return ok
}

func (e *Engine) announce() {
	if e.hooks.Changed != nil {
		e.hooks.Changed()
	}
}

// newID returns 64 random bits in hexadecimal. Ids need not be secret, only
// different, and crypto/rand would make the program larger.
func newID() string {
	return strconv.FormatUint(rand.Uint64(), 16)
}

// cleanName returns a name as it is kept, or why it cannot serve.
func cleanName(what, name string) (string, error) {
	clean, err := model.CleanLabel(name)
	if err != nil {
		return "", fail("label", "The name of the "+what+" "+err.Error()+".")
	}
	return clean, nil
}
