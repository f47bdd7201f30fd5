package learn

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/wasm/store"
)

// Learner learns priors one at a time and keeps in a store what a run needs to go
// on after a reload. It is in one of four states:
//
//	idle     there is no run
//	running  a run does step after step
//	paused   a run waits
//	ended    a run has done its last step, or failed, and nobody has asked for the
//	         outcome yet
//
// What each command does in each state; one in brackets leaves the state as it is.
//
//	          idle          running       paused        ended
//	Begin     running       (busy)        (busy)        (busy)
//	Resume    running       (busy)        (busy)        (busy)
//	Pause     (nothing)     paused        (nothing)     (nothing)
//	Proceed   (nothing)     (nothing)     running       (nothing)
//	Cancel    (nothing)     idle          idle          idle
//	Finished  (refused)     (waits)       (waits)       idle
//	Forget    (deletes)     (busy)        (busy)        (deletes)
//	Pending   (reads)       (reads)       (reads)       (reads)
//	last step               ended, or idle where Finished waits
//
// A run ends by itself where a picture that it learns from is removed: [Forgotten] has
// deleted its checkpoint then.
//
// Forget is busy for the session of the run alone. A command that returns an error
// has changed nothing, except that Cancel ends the run even where its checkpoint
// cannot be deleted.
//
// A command or a step, each with its writes to the store, has the state to itself:
// one mutex is held from its beginning to its end. So two commands at once are two
// commands one after the other, nothing happens within a step, and once Cancel has
// returned nothing of the run writes any more. Commands wait, for the step under
// way and for the store, so they must not be called from a JavaScript callback.
type Learner struct {
	hooks Hooks

	mu     sync.Mutex
	moved  *sync.Cond // the state is another
	stored checkpoints
	state  state
	run    *active // nil in state idle
}

// Hooks connect a learner with the world around it.
type Hooks struct {
	// Tell hears how far a run is. It must not call the learner.
	Tell func(Progress)
	// HandCrafted makes the prior to begin at for embeddings of length d where a
	// task names none.
	HandCrafted func(d int) (*model.Prior, error)
	// Breathe is called between two steps and lets commands in: under js/wasm,
	// where everything is one thread, it must return to the event loop.
	Breathe func()
}

type state int

const (
	idle state = iota
	running
	paused
	ended
)

// active is a run with what is to be known of it beside.
type active struct {
	*Run
	session string
	over    chan struct{} // closed when the outcome is known
	waiting int           // so many calls of Finished wait for it
	err     error         // the outcome: why there is none

	busy  time.Duration // spent on steps
	first int           // step at which this learner began
	told  time.Time     // when progress was last told
	saved time.Time     // when the state was last saved
	apart bool          // nothing of a session is learned on
	look  time.Time     // when it was last looked whether that is all still there
	loss  float64       // sum over the steps since progress was told
	steps int           // number of these
}

// Progress is how far a run is.
type Progress struct {
	Step, Steps int
	Loss        float64 // mean over the steps since the last time
	SecondsLeft float64 // infinite while nothing tells
	Paused      bool
	Done        bool
	Point       *metatrain.Point // set where one was added to the curve
	Best        bool             // that point is the best so far
	Err         error            // why the run ends early
}

// Started is where a run begins.
type Started struct {
	Step, Steps int
	History     []metatrain.Point
}

// Learned is the outcome of a run.
type Learned struct {
	Prior        []byte          // prior file
	Before, Best metatrain.Point // of the prior that learning began at, and of this one
}

// Error is a command that is refused: a short code for programs and a sentence for
// people that names the remedy.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Message }

var (
	errBusy      = &Error{"busy", "Learning is under way already: wait for it, or cancel it first."}
	errNoRun     = &Error{"checkpoint", "Nothing is being learned: begin first."}
	errNothing   = &Error{"checkpoint", "There is nothing to go on with: begin anew."}
	errOlder     = &Error{"checkpoint", "What was being learned began with a former version of this page, whose numbers mean other things now: cancel it and begin anew."}
	errRemoved   = &Error{"removed", "Learning was stopped, because something it learned from was removed meanwhile: begin anew with what is left. Nothing has changed."}
	errCancelled = &Error{"cancelled", "Learning was cancelled; nothing has changed."}
)

const (
	tellEvery = 100 * time.Millisecond
	saveEvery = 5 * time.Second // a state of some megabytes takes a while
	lookEvery = 300 * time.Millisecond
)

// NewLearner returns an idle learner with its checkpoints in s.
func NewLearner(s store.Store, hooks Hooks) *Learner {
	l := &Learner{hooks: hooks, stored: checkpoints{s}}
	l.moved = sync.NewCond(&l.mu)
	return l
}

// to makes a transition.
func (l *Learner) to(s state) {
	l.state = s
	if s == idle {
		l.run = nil
	}
	l.moved.Broadcast()
}

// Begin starts to learn for a session, in place of what could be resumed there.
func (l *Learner) Begin(session string, t Task) (*Started, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != idle {
		return nil, errBusy
	}
	r, err := l.prepare(session, t)
	if err != nil {
		return nil, err
	}
	// A store that is full costs the resuming, not the run.
	if refused := (*store.Error)(nil); errors.As(l.stored.put(session, t), &refused) && refused.Code == "gone" {
		return nil, errRemoved
	}
	r.apart = t.Apart || !l.stored.marked(session) // or nothing at all can be kept
	return l.start(r), nil
}

// Resume goes on with the run of a session that a reload interrupted.
func (l *Learner) Resume(session string) (*Started, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != idle {
		return nil, errBusy
	}
	c, err := l.stored.get(session)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errNothing
	}
	r, err := l.prepare(session, c.Task)
	if format := (*model.FormatError)(nil); errors.As(err, &format) && format.Older {
		return nil, errOlder
	}
	if err != nil {
		return nil, err
	}
	if c.state != nil { // or else from the beginning
		if err := r.LoadState(c.state); err != nil {
			return nil, err
		}
	}
	r.first, _ = r.Steps()
	r.apart = !l.stored.marked(session) // begun by a former version, or on data of its own
	return l.start(r), nil
}

// prepare reads the files of a task and makes the run, not started yet.
func (l *Learner) prepare(session string, t Task) (*active, error) {
	content, err := model.DecodeClassifier(t.Classifier)
	if err != nil {
		return nil, err
	}
	classes, d := classesOf(content)
	if d == 0 {
		return nil, &TooLittleError{}
	}
	var begin *model.Prior
	if t.Prior != nil {
		begin, err = model.DecodePrior(t.Prior)
	} else {
		begin, err = l.hooks.HandCrafted(d)
	}
	if err != nil {
		return nil, err
	}
	if begin.Extractor.ID == "" {
		begin.Extractor = content.Extractor // what is learned is of its numbers
	}
	run, err := New(Job{Classes: classes, Prior: begin, Steps: t.Steps})
	if err != nil {
		return nil, err
	}
	return &active{Run: run, session: session, over: make(chan struct{})}, nil
}

func classesOf(c *model.Classifier) (classes []Class, d int) {
	for _, k := range c.Classes {
		class := Class{Name: k.Label}
		for _, e := range k.Examples {
			class.Examples = append(class.Examples, e.Embedding)
			d = len(e.Embedding)
		}
		classes = append(classes, class)
	}
	return classes, d
}

// start makes r the run and lets it run.
func (l *Learner) start(r *active) *Started {
	l.run = r
	l.to(running)
	go l.work(r)
	done, all := r.Steps()
	return &Started{Step: done, Steps: all, History: slices.Clone(r.History())}
}

// work does step after step while r is the run. There is one for each run.
func (l *Learner) work(r *active) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for l.run == r && l.state == paused {
			l.moved.Wait()
		}
		if l.run != r || l.state != running {
			return
		}
		l.step(r)
		l.mu.Unlock()
		l.hooks.Breathe()
		l.mu.Lock()
	}
}

// step does one step, saves what it led to and tells of it.
func (l *Learner) step(r *active) {
	if r.done() { // resumed where nothing was left to do
		l.end(nil)
		return
	}
	before := time.Now()
	if !r.apart && before.Sub(r.look) >= lookEvery {
		if r.look = before; !l.stored.marked(r.session) {
			l.tell(metatrain.Progress{}, errRemoved, true)
			l.end(errRemoved)
			return
		}
	}
	p, err := r.Step(context.Background())
	r.busy += time.Since(before)
	if err != nil {
		l.tell(p, err, true)
		l.end(err)
		return
	}
	if p.Point == nil {
		r.loss += p.Loss
		r.steps++
	}
	if p.Point != nil && (r.done() || time.Since(r.saved) > saveEvery) {
		l.save()
	}
	l.tell(p, nil, p.Point != nil)
	if r.done() {
		l.end(nil)
	}
}

// end is the transition after the last step.
func (l *Learner) end(err error) {
	r := l.run
	r.err = err
	close(r.over)
	if r.waiting > 0 {
		l.to(idle)
	} else {
		l.to(ended)
	}
}

// done reports whether all steps are done and validated.
func (r *active) done() bool {
	done, all := r.Steps()
	h := r.History()
	return done >= all && len(h) > 0 && h[len(h)-1].Step >= all
}

// save stores the run's state. If there is no room the run goes on, but not after
// a reload.
func (l *Learner) save() {
	done, all := l.run.Steps()
	l.run.saved = time.Now()
	_ = l.stored.save(l.run.session, tally{Steps: all, Done: done}, l.run.State())
}

// tell tells how far the run is, unless that was told just now and need not be.
func (l *Learner) tell(p metatrain.Progress, err error, must bool) {
	r := l.run
	if l.hooks.Tell == nil || !must && time.Since(r.told) < tellEvery {
		return
	}
	done, all := r.Steps()
	l.hooks.Tell(Progress{Step: done, Steps: all, Loss: r.loss / float64(max(r.steps, 1)), SecondsLeft: r.secondsLeft(done, all),
		Paused: l.state == paused, Done: r.done(), Point: p.Point, Best: p.Best, Err: err})
	r.told, r.loss, r.steps = time.Now(), 0, 0
}

// secondsLeft extrapolates the time that steps have taken so far, infinite while
// there are none.
func (r *active) secondsLeft(done, all int) float64 {
	if done == r.first {
		return math.Inf(1)
	}
	return r.busy.Seconds() / float64(done-r.first) * float64(all-done)
}

// Pause returns when no step is under way and the checkpoint is written.
func (l *Learner) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != running {
		return
	}
	l.to(paused)
	l.save()
	l.tell(metatrain.Progress{}, nil, true)
}

// Proceed ends a pause.
func (l *Learner) Proceed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == paused {
		l.to(running)
	}
}

// Cancel ends the run and deletes its checkpoint.
func (l *Learner) Cancel() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.run
	if r == nil {
		return nil
	}
	if l.state != ended {
		r.err = errCancelled
		close(r.over)
	}
	l.to(idle)
	return l.stored.clear(r.session)
}

// Finished waits for the end of the run and returns the best prior. The checkpoint
// stays until [Learner.Forget]. It returns an *[Error] with code "cancelled" if the
// run is cancelled meanwhile.
func (l *Learner) Finished() (*Learned, error) {
	l.mu.Lock()
	r := l.run
	switch l.state {
	case idle:
		l.mu.Unlock()
		return nil, errNoRun
	case ended:
		l.to(idle)
	default:
		r.waiting++
	}
	l.mu.Unlock()
	<-r.over
	if r.err != nil {
		return nil, r.err
	}
	return r.outcome()
}

// outcome returns what was learned. Nothing changes a run that has ended, so it
// takes no lock; several may ask.
func (r *active) outcome() (*Learned, error) {
	file, err := model.EncodePrior(r.Prior())
	if err != nil {
		return nil, err
	}
	return &Learned{Prior: file, Before: r.History()[0], Best: *r.Best()}, nil
}

// Pending tells how far the run of a session is that could be resumed; steps is 0
// if there is none.
func (l *Learner) Pending(session string) (done, steps int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, err := l.stored.tally(session)
	if err != nil || t == nil {
		return 0, 0, err
	}
	return t.Done, t.Steps, nil
}

// Forget deletes the checkpoint of a session.
func (l *Learner) Forget(session string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run != nil && l.run.session == session && l.state != ended {
		return errBusy
	}
	return l.stored.clear(session)
}
