// Package engine serves the page. It holds sessions by name, one of them open, and the last query.
// It stores changes, tells other tabs about them and words the errors. A [metaqda.Classifier] holds
// the classes of the open session and predicts. The package is plain Go and runs natively in tests:
// storage, view, clock and network are passed in. It does not learn priors; package
// metaqda/core/adapt does.
//
// A session is the classes that a person taught under one name, with its settings and its
// prior. [log.Session] is its head. The [session.Population] of package
// metaqda/core/session says how such sessions differ in difficulty.
//
// Methods that only compute return at once and note the changes; [Engine.Flush] stores them.
// Methods that wait are marked: do not call them from a JavaScript callback.
package engine

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/log"
	"metaqda/wasm/memory"
	"metaqda/wasm/view"
)

// Hooks connect an engine with its environment. Show, Later, Yield, Marks and Mark may be nil.
type Hooks struct {
	Show    func(view.Frame)                 // draws a prediction
	Changed func()                           // the state has changed
	Stored  func(Note)                       // tells the other tabs how many steps a session has
	Stale   func(Note)                       // the open session must be updated by Follow
	Fetch   func(url string) ([]byte, error) // waits for the bytes behind a URL
	Now     func() time.Time
	Later   func(time.Duration, func()) // calls after a time; nil: every change is shown at once
	Yield   func(urgent bool)           // yields to the event loop: one turn if urgent, else until idle; nil: long work is done at once
	Marks   func() string               // the marks of all sessions, a JSON array; waits
	Mark    func(id, mark string)       // notes JSON outside the store; empty for a deleted session
}

// Engine holds one open session. Several goroutines may call its methods.
type Engine struct {
	hooks Hooks
	db    log.DB

	storing sync.Mutex // one operation on the database at a time, held while waiting

	mu       sync.Mutex      // everything below; never held while waiting
	*session                 // the open session
	parked   []*session      // former ones with changes that are not yet stored
	keeping  keeping         // whether changes are stored, and why not
	here     model.Extractor // the page's extractor, empty while unknown
	site     *metaqda.Prior  // the site's prior, nil until known
	memory   *memory.Budget  // of the classifier
	live     live            // the query and how its answer is shown
	changes  changes         // for the page
	followed int             // how many times changes of other tabs were applied
}

// session is a session as this tab has it.
type session struct {
	log.Session // taught has its present Actions
	taught      *metaqda.Classifier
	stored      *log.Stored                 // where its parts are
	create      func() (*log.Stored, error) // stores it for the first time; nil once it is stored
	pending     []*pending                  // changes not yet stored, in order
	damaged     []log.Damage                // records that cannot be used
	broken      []*metaqda.Example          // pictures that break the computation: they are stored, and not used
	unreadable  string                      // why its chosen prior cannot be read; empty if it can, or if it is not stored
	choices     map[string][2]string        // chosen priors before and after a step, by its id
	preparing   bool                        // its pictures are being enrolled in slices
	begun       int                         // number of open Begin
	current     []metaqda.Change            // changes by the current operation
	commands    []metaqda.Command           // the same for the log
}

// keeping says whether changes are stored.
type keeping struct {
	trouble  string   // why changes are not stored, empty if they are
	gone     error    // why the session can no longer be stored: it is in this tab only
	vanished string   // sessions that have marks but are no longer stored, empty if there are none
	unmark   []string // vanished sessions, whose marks can be deleted
	number   uint64   // of the last change noted
	refused  map[uint64]error
	recent   Recent // what [Engine.Change] noted and [Engine.Recent] has not returned
	sweep    bool   // priors are out of use, or deleted data must leave the files
}

// live is the query of the view.
type live struct {
	query   []float32           // nil without one
	watch   *metaqda.Watch      // of the live view, nil until its first frame
	began   time.Time           // when the watch began
	due     bool                // a redraw is scheduled
	rested  time.Time           // no redraw before this time
	scoring *metaqda.Classifier // leaves out its examples in slices, see setOf
}

// New returns an engine without a session: [Engine.Start] opens one. trouble says why db is not
// permanent, or is empty.
func New(db log.DB, trouble string, hooks Hooks) *Engine {
	return &Engine{hooks: hooks, db: db, keeping: keeping{trouble: trouble, refused: map[uint64]error{}}, memory: memory.OfHeap()}
}

// State is everything the page shows beside the prediction. web/engine/contract.js describes
// its JSON, to which the page adds the classes.
type State struct {
	SessionID   string
	SessionName string
	Classes     []metaqda.Class // must not be changed
	Firsts      [][]int         // of each class: where the first example of each burst stands
	Dimension   int
	Undo        string // name of the step that Undo takes back, empty for none
	UndoID      string // its id
	Redo        string
	Saved       int64 // when the session was last saved to a file, in milliseconds since 1970 UTC, 0 for never
	Updated     int64 // when it was last changed
	Damaged     int   // number of unusable records of the session, see [Engine.Damaged]
	Followed    int   // how many times changes of other tabs were applied
	Prior       PriorInfo
	Extractor   ExtractorInfo
	Trouble     string // why changes are not stored, empty if they are
	Vanished    string // a sentence about sessions that are no longer stored, empty if there are none
	log.Settings
}

// PriorInfo describes the prior in use.
type PriorInfo struct {
	Sum     string
	Name    string
	Site    bool // sessions without a choice of their own use it
	Facts   map[string]string
	Trouble string // why it is not the chosen prior, empty if it is
}

// ExtractorInfo describes the extractor of the session's pictures.
type ExtractorInfo struct {
	model.Extractor
	Foreign string // why its pictures cannot be compared with new ones, empty if they can
	Chosen  bool   // there are no pictures yet, and the extractor is not the one that the page uses
}

// State returns the state.
func (e *Engine) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.overview()
	s.Classes = e.taught.Classes()
	for _, k := range s.Classes {
		s.Firsts = append(s.Firsts, e.taught.Firsts(k.ID))
	}
	return s
}

// overview returns the state without its classes.
func (e *Engine) overview() State {
	s := State{SessionID: e.session.ID, SessionName: e.session.Name, Settings: e.session.Settings, Dimension: e.taught.Dim(), Prior: e.priorInfo(),
		Saved: e.session.Saved, Updated: e.session.Updated, Damaged: len(e.damaged), Followed: e.followed, Extractor: ExtractorInfo{Extractor: e.session.Extractor},
		Trouble: e.keeping.trouble, Vanished: e.keeping.vanished}
	s.Actions = e.taught.Actions()
	s.Undo, s.Redo = e.taught.Next()
	s.UndoID, _ = e.next()
	s.Extractor.Chosen = e.here.ID != "" && e.session.Extractor.ID != "" && e.session.Extractor != e.here && e.taught.Count() == 0
	if err := e.foreign(); err != nil {
		s.Extractor.Foreign = err.Error()
	}
	return s
}

// defaultSettings are the settings of a new session.
func defaultSettings() log.Settings {
	return log.Settings{Sort: string(view.ByProbability), NonePrior: 0.2}
}

// Order sets the order in which the session's classes are shown, probability or taught.
func (e *Engine) Order(sort string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	settings := e.session.Settings
	settings.Sort = sort
	if err := checkSettings(settings); err != nil {
		return err
	}
	e.touch(log.Edit{Sort: &sort})
	return nil
}

func checkSettings(s log.Settings) error {
	if s.Sort != string(view.ByProbability) && s.Sort != string(view.AsTaught) {
		return fail("value", "The order “"+s.Sort+"” is unknown: choose probability or taught.")
	}
	if !(s.NonePrior >= 0 && s.NonePrior < 1) {
		return fail("value", "The chance of something unknown must be from 0 to below 1.")
	}
	return nil
}

// newID returns 64 random bits in hexadecimal. Ids must differ but need not be secret, and
// crypto/rand would make the program larger.
func newID() string {
	return strconv.FormatUint(rand.Uint64(), 16)
}

// cleanName returns the clean name of a session, or an error if it is impossible.
func cleanName(name string) (string, error) {
	clean, err := model.CleanLabel(name)
	if err != nil {
		return "", fail("label", "The name of the session "+err.Error()+".")
	}
	return clean, nil
}

// fail returns a [metaqda.Error].
func fail(code, message string) error { return &metaqda.Error{Code: code, Message: message} }

// useBuiltIn is the remedy for a prior of a former version.
const useBuiltIn = "Use the built-in one, or learn again from your sessions."

// Explain turns any error into a *metaqda.Error. A *metaqda.Error stays as it is.
func Explain(err error) *metaqda.Error {
	var (
		own       *metaqda.Error
		dimension *niw.DimensionError
		format    *model.FormatError
		little    *adapt.TooLittleError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &dimension):
		return &metaqda.Error{Code: "dimension", Message: "The " + dimension.Name + " has length " + strconv.Itoa(dimension.Got) + " where length " + strconv.Itoa(dimension.Want) + " is expected: use one feature extractor for everything in a session, or begin a new session."}
	case errors.As(err, &format) && format.Older:
		return &metaqda.Error{Code: "older", Message: "This " + format.Format + " file was made by a former version of this page, and its numbers mean other things now. " + useBuiltIn}
	case errors.As(err, &format):
		return &metaqda.Error{Code: "format", Message: "This is " + format.Error() + ". Choose a file that was saved here."}
	case errors.As(err, &little):
		return &metaqda.Error{Code: "too-little", Message: little.Error()}
	}
	return &metaqda.Error{Code: metaqda.Code(err), Message: err.Error()}
}
