// Package engine is what a page talks to: sessions by name, of which one is open, the last
// query, what other tabs are told, what has to be stored, and refusals in words. What a
// session is taught, and what that answers, is a [metaqda.Classifier]. It is plain Go:
// storage, view, clock and network are handed in, so that it runs natively in tests. It is
// not for learning priors, which is the business of package metaqda/core/adapt.
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
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/memory"
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
	Yield   func(urgent bool)           // yields to the event loop: one turn if urgent, else until idle; nil: what takes long is done at once
	Marks   func() string               // what Mark noted of all sessions, a JSON array; waits
	Mark    func(id, mark string)       // notes JSON outside of the store, nothing for a session that is deleted
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
	pending    []noted  // changes not stored yet, in order
	number     uint64   // of the last change noted
	refused    map[uint64]error
	sweep      bool                     // priors have gone out of use, or what was deleted is to leave the files
	fetch      []*metaqda.Example       // whose thumbnails are fetched before pending is stored
	encode     map[string]*metaqda.Step // steps in pending, by their keys, that such thumbnails are of
	damaged    []store.Damage           // records of the session that cannot be used
	here       model.Extractor          // reads the pictures, empty while unknown
	session    store.Session            // the open one
	taught     *metaqda.Classifier      // what it is taught
	memory     memory.Budget            // for what is taught
	heard      []metaqda.Change         // what became of it in the operation under way
	site       *metaqda.Prior           // the site's prior, nil until known
	preparing  *metaqda.Classifier      // which comes to know all pictures in slices
	awaited    atomic.Int32             // so many wait for the classifier to know all pictures
	query      []float32                // nil without one
	live       metaqda.Steady           // what is shown of a live view
	due        bool                     // what is shown will follow the changes in a moment
	rested     time.Time                // until then what is shown need not follow again
	changes    changes                  // for the page
	unreadable string                   // why the prior that the session chose cannot be read, empty when it can or is not here
	choices    map[string][2]string     // priors that the session had chosen before and after a step, by its id
	slots      map[string]int           // where steps that can be undone or redone are stored, by their ids
	steps      []byte                   // their list as it is stored
	answer     []float64                // the last one, and scratch
}

// New returns an engine without a session: [Engine.Start] opens one. trouble
// says why s does not last, or is empty.
func New(s store.Store, trouble string, hooks Hooks) *Engine {
	if hooks.Now == nil {
		hooks.Now = time.Now
	}
	return &Engine{hooks: hooks, store: s, trouble: trouble, refused: map[uint64]error{}, encode: map[string]*metaqda.Step{}, choices: map[string][2]string{}, memory: memory.Budget{Most: memory.Most}}
}

// State is what the page shows beside the prediction, as web/engine/contract.js describes
// its JSON, to which the page adds the classes.
type State struct {
	SessionID   string          `json:"sessionId"`
	SessionName string          `json:"sessionName"`
	Classes     []metaqda.Class `json:"-"` // they must not be changed
	Dimension   int             `json:"dimension"`
	Undo        string          `json:"undo"` // what would be undone, empty for nothing
	Redo        string          `json:"redo"`
	Saved       int64           `json:"saved"`   // when the session was last saved to a file, in milliseconds since 1970 UTC, 0 for never
	Damaged     int             `json:"damaged"` // so many records of the session cannot be used, see [Engine.Damaged]
	Prior       PriorInfo       `json:"prior"`
	Extractor   Reader          `json:"extractor"`
	Keeping     `json:"storage"`
	store.Settings
}

// PriorInfo tells which prior is in use.
type PriorInfo struct {
	Sum     string            `json:"sha256"`
	Name    string            `json:"name"`
	Site    bool              `json:"site"` // it is what a session has that chose none
	Facts   map[string]string `json:"facts"`
	Trouble string            `json:"message"` // why it is not the one that the session chose, empty when it is
}

// Reader tells which extractor read the pictures of the session, or will.
type Reader struct {
	ID      string `json:"id"`
	SHA256  string `json:"sha256"`
	Foreign string `json:"message"` // why its pictures cannot be compared with new ones, empty when they can
}

// Keeping tells what becomes of changes.
type Keeping struct {
	Kept       bool   `json:"kept"`
	Trouble    string `json:"message"`    // why changes are not kept, empty when they are
	Vanished   string `json:"vanished"`   // what was kept here before and is not any more, a sentence
	Persistent string `json:"persistent"` // whether the browser promises to keep them, "yes" or "no", empty while nobody has asked it
}

// State returns the state.
func (e *Engine) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.overview()
	s.Classes = e.taught.Classes()
	return s
}

// overview returns the state without classes.
func (e *Engine) overview() State {
	s := State{SessionID: e.session.ID, SessionName: e.session.Name, Settings: e.session.Settings, Dimension: e.taught.Dim(), Prior: e.priorInfo(),
		Saved: e.session.Saved, Damaged: len(e.damaged), Extractor: Reader{ID: e.session.Extractor.ID, SHA256: e.session.Extractor.SHA256},
		Keeping: Keeping{Kept: e.trouble == "", Trouble: e.trouble, Vanished: e.vanished}}
	s.Undo, s.Redo = e.taught.Next()
	if err := e.foreign(); err != nil {
		s.Extractor.Foreign = err.Error()
	}
	return s
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
	session, edit := e.session, store.Edit{Sort: c.Sort, NonePrior: c.NonePrior}
	edit.Apply(&session)
	s := session.Settings
	if err := checkSettings(s); err != nil {
		return err
	}
	if err := e.taught.Configure(metaqda.Settings{NonePrior: s.NonePrior}); err != nil {
		return err
	}
	e.session.Settings = s
	e.touch(edit)
	return nil
}

func checkSettings(s store.Settings) error {
	if s.Sort != string(view.ByProbability) && s.Sort != string(view.AsTaught) {
		return fail("value", "The order “"+s.Sort+"” is unknown: choose probability or taught.")
	}
	if !(s.NonePrior >= 0 && s.NonePrior < 1) {
		return fail("value", "The chance of something unknown must be from 0 to below 1.")
	}
	return nil
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

// Error is what a caller of the engine gets: a short code for programs and a
// sentence for people that names the remedy.
type Error = metaqda.Error

// fail returns an Error.
func fail(code, message string) error { return &Error{Code: code, Message: message} }

// anew is what to do in place of using a prior of a former version.
const anew = "Use the built-in one, or learn again from your sessions."

// Explain turns any error into an *Error, which keeps its own sentence if it is one.
func Explain(err error) *Error {
	var (
		own       *Error
		dimension *niw.DimensionError
		format    *model.FormatError
		little    *adapt.TooLittleError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &dimension):
		return &Error{Code: "dimension", Message: "The " + dimension.Name + " has " + strconv.Itoa(dimension.Got) + " numbers where " + strconv.Itoa(dimension.Want) + " are expected: use one feature extractor for everything in a session, or begin a new session."}
	case errors.As(err, &format) && format.Older:
		return &Error{Code: "older", Message: "This " + format.Format + " file was made by a former version of this page, and its numbers mean other things now. " + anew}
	case errors.As(err, &format):
		return &Error{Code: "format", Message: "This is " + format.Error() + ". Choose a file that was exported here."}
	case errors.As(err, &little):
		return &Error{Code: "too-little", Message: little.Error()}
	}
	return &Error{Code: metaqda.Code(err), Message: err.Error()}
}
