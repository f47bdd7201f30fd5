package main

import (
	"context"
	"encoding/json"
	"math"
	"syscall/js"
	"time"

	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/learn"
	"metaqda/wasm/store"
)

// trainer learns priors in a worker, one at a time. The methods of the object
// handed over are those that web/engine/trainer.js asks for.
type trainer struct {
	store    store.Store // of checkpoints
	listener js.Value
	run      *running // the one that has not been finished yet, or nil
}

// running is a run, under way, paused or done.
type running struct {
	*learn.Run
	session string

	paused bool
	stop   bool
	wake   chan struct{} // ends a pause
	quiet  chan struct{} // closed once a pause has begun and is stored
	ended  chan struct{} // closed when no step will follow
	err    error

	busy  time.Duration // spent on steps
	first int           // step at which this worker began
	told  time.Time     // when progress was last told
	saved time.Time     // when the state was last saved
	loss  float64       // sum over the steps since then
	steps int           // number of these
}

// A checkpoint is what a run needs to go on after a reload. Its parts are
// records of their own, so that a validation rewrites only job and state.
const (
	partJob        = "/job"        // JSON: job
	partClassifier = "/classifier" // classifier file: what to learn on
	partPrior      = "/prior"      // prior file: what to begin at; missing for the built-in one
	partState      = "/state"
)

// job is what is to be known of a run before its data are read.
type job struct {
	Steps int `json:"steps"`
	Done  int `json:"done"`
}

const (
	defaultSteps = 300
	tellEvery    = 100 * time.Millisecond
	saveEvery    = 5 * time.Second // a state of some megabytes takes a while
	// breath lets messages in between steps: waiting for no time at all would
	// not return to the event loop.
	breath = time.Microsecond
)

func startTrainer() js.Value {
	t := &trainer{listener: js.Undefined()}
	if db, err := store.Open(); err == nil {
		t.store = db
	} else {
		t.store = store.NewMemory() // the page has said that nothing is kept
	}
	api := js.ValueOf(map[string]any{})
	for name, m := range map[string]bridge.Method{
		"on": t.on, "begin": t.begin, "resume": t.resume, "pending": t.pending,
		"pause": t.pause, "proceed": t.proceed, "cancel": t.cancel, "finished": t.finished, "forget": t.forget,
	} {
		api.Set(name, bridge.Func(m))
	}
	return api
}

// on sets the function that is told of progress.
func (t *trainer) on(a bridge.Args) (any, bridge.Later, error) {
	t.listener = a.Value(0)
	return nil, nil, nil
}

// begin starts to learn: {session, classifier, prior, steps}, or in place of
// the classifier a data set {embeddings, dimension, labels, names}.
func (t *trainer) begin(a bridge.Args) (any, bridge.Later, error) {
	in := a.Value(0)
	fields := bridge.Args{in.Get("session"), in.Get("steps"), in.Get("classifier"), in.Get("prior"), in.Get("dataset")}
	session, err := fields.Text(0, "id of the session")
	if err != nil {
		return nil, nil, err
	}
	j := job{Steps: defaultSteps}
	if v := fields.Value(1); v.Type() == js.TypeNumber {
		j.Steps = int(v.Float())
	}
	var prior []byte
	if !fields.Missing(3) {
		if prior, err = fields.Bytes(3, "prior"); err != nil {
			return nil, nil, err
		}
	}
	classifier, err := whatToLearnOn(fields)
	return waiting(err, func() (any, error) {
		r, err := t.prepare(session, j, classifier, prior)
		if err != nil {
			return nil, err
		}
		// A store that is full costs the resuming, not the run.
		_ = t.keep(session, j, classifier, prior)
		return t.start(r), nil
	})
}

// start makes r the run and lets it run.
func (t *trainer) start(r *running) map[string]any {
	t.run = r
	go t.loop(r)
	done, all := r.Steps()
	history := []any{}
	for _, p := range r.History() {
		history = append(history, point(p))
	}
	return map[string]any{"step": done, "steps": all, "history": history}
}

// whatToLearnOn returns the classifier file of the arguments of begin.
func whatToLearnOn(fields bridge.Args) ([]byte, error) {
	if fields.Missing(4) {
		return fields.Bytes(2, "session file")
	}
	c, err := dataset(fields.Value(4))
	if err != nil {
		return nil, err
	}
	return model.EncodeClassifier(c)
}

// resume goes on with the run of a session that a reload interrupted.
func (t *trainer) resume(a bridge.Args) (any, bridge.Later, error) {
	session, err := a.Text(0, "id of the session")
	return waiting(err, func() (any, error) {
		parts, err := t.stored(session)
		if err != nil {
			return nil, err
		}
		j := jobOf(parts[partJob])
		if j == nil || parts[partClassifier] == nil {
			return nil, &engine.Error{Code: "checkpoint", Message: "There is nothing to go on with: begin anew."}
		}
		r, err := t.prepare(session, *j, parts[partClassifier], parts[partPrior])
		if err != nil && engine.Explain(err).Code == "older" {
			return nil, &engine.Error{Code: "checkpoint", Message: "What was being learned began at a prior of a former version of this page, whose numbers mean other things now: cancel it and begin anew."}
		}
		if err != nil {
			return nil, err
		}
		if state := parts[partState]; state != nil { // or else from the beginning
			if err := r.LoadState(state); err != nil {
				return nil, err
			}
		}
		r.first, _ = r.Steps()
		return t.start(r), nil
	})
}

// stored returns the parts of a session's checkpoint, those missing as nil.
func (t *trainer) stored(session string) (map[string][]byte, error) {
	parts := map[string][]byte{}
	for _, part := range []string{partJob, partClassifier, partPrior, partState} {
		b, err := t.store.Bytes(store.Checkpoints, session+part)
		if err != nil {
			return nil, err
		}
		parts[part] = b
	}
	return parts, nil
}

// pending tells whether a run of the session was interrupted: {steps, done} or
// null.
func (t *trainer) pending(a bridge.Args) (any, bridge.Later, error) {
	session, err := a.Text(0, "id of the session")
	return waiting(err, func() (any, error) {
		b, err := t.store.Bytes(store.Checkpoints, session+partJob)
		j := jobOf(b)
		if err != nil || j == nil {
			return nil, err
		}
		return map[string]any{"steps": j.Steps, "done": j.Done}, nil
	})
}

// jobOf decodes a job; anything else gives nil.
func jobOf(b []byte) *job {
	j := &job{}
	if json.Unmarshal(b, j) != nil {
		return nil
	}
	return j
}

// prepare reads the files and makes the run, not started yet.
func (t *trainer) prepare(session string, j job, classifier, prior []byte) (*running, error) {
	if t.run != nil {
		return nil, &engine.Error{Code: "busy", Message: "A prior is being learned already: wait for it, or cancel it first."}
	}
	content, err := model.DecodeClassifier(classifier)
	if err != nil {
		return nil, err
	}
	classes, d := classesToLearn(content)
	if d == 0 {
		return nil, &learn.TooLittleError{}
	}
	var begin *model.Prior
	if prior != nil {
		begin, err = model.DecodePrior(prior)
	} else {
		begin, err = engine.BuiltIn(d)
	}
	if err != nil {
		return nil, err
	}
	run, err := learn.New(learn.Job{Classes: classes, Prior: begin, Steps: j.Steps})
	if err != nil {
		return nil, err
	}
	return &running{Run: run, session: session, wake: make(chan struct{}, 1), quiet: make(chan struct{}), ended: make(chan struct{})}, nil
}

func classesToLearn(c *model.Classifier) (classes []learn.Class, d int) {
	for _, k := range c.Classes {
		class := learn.Class{Name: k.Label}
		for _, e := range k.Examples {
			class.Examples = append(class.Examples, e.Embedding)
			d = len(e.Embedding)
		}
		classes = append(classes, class)
	}
	return classes, d
}

// keep stores what a run needs beside its state.
func (t *trainer) keep(session string, j job, classifier, prior []byte) error {
	ops := []store.Op{
		{Table: store.Checkpoints, Key: session + partJob, Value: encodeJob(j)},
		{Table: store.Checkpoints, Key: session + partClassifier, Value: classifier},
		{Table: store.Checkpoints, Key: session + partPrior},
		{Table: store.Checkpoints, Key: session + partState},
	}
	if prior != nil {
		ops[2].Value = prior
	}
	return t.store.Apply(ops)
}

func encodeJob(j job) []byte {
	b, err := json.Marshal(j)
	if err != nil {
		panic("metaqda: whole numbers do not encode")
	}
	return b
}

// save writes the state. If there is no room the run goes on, but not after a
// reload.
func (t *trainer) save(r *running) {
	done, all := r.Steps()
	r.saved = time.Now()
	_ = t.store.Apply([]store.Op{
		{Table: store.Checkpoints, Key: r.session + partState, Value: r.State()},
		{Table: store.Checkpoints, Key: r.session + partJob, Value: encodeJob(job{Steps: all, Done: done})},
	})
}

// loop does step after step until the run is done, stopped or fails. Between
// two steps it lets messages in.
func (t *trainer) loop(r *running) {
	defer close(r.ended)
	for !r.stop && !r.done() {
		if r.paused {
			t.save(r)
			t.tell(r, metatrain.Progress{}, true)
			close(r.quiet)
			<-r.wake
			continue
		}
		p, err := r.step()
		if err != nil {
			r.err = err
			t.tell(r, p, true)
			return
		}
		if p.Point != nil && (r.done() || time.Since(r.saved) > saveEvery) {
			t.save(r)
		}
		t.tell(r, p, p.Point != nil)
		time.Sleep(breath)
	}
}

func (r *running) step() (metatrain.Progress, error) {
	before := time.Now()
	p, err := r.Step(context.Background())
	r.busy += time.Since(before)
	if err == nil && p.Point == nil {
		r.loss += p.Loss
		r.steps++
	}
	return p, err
}

// done reports whether all steps are done and validated.
func (r *running) done() bool {
	done, all := r.Steps()
	h := r.History()
	return done >= all && len(h) > 0 && h[len(h)-1].Step >= all
}

// tell tells the listener how far the run is, unless it was told just now.
func (t *trainer) tell(r *running, p metatrain.Progress, must bool) {
	if t.run != r || !t.listener.Truthy() || !must && time.Since(r.told) < tellEvery {
		return
	}
	done, all := r.Steps()
	m := map[string]any{"step": done, "steps": all, "loss": r.loss / float64(max(r.steps, 1)), "secondsLeft": r.secondsLeft(done, all),
		"paused": r.paused, "done": r.done(), "best": p.Best, "point": nil}
	if p.Point != nil {
		m["point"] = point(*p.Point)
	}
	if r.err != nil {
		e := engine.Explain(r.err)
		m["error"] = map[string]any{"code": e.Code, "message": e.Message}
	}
	r.told, r.loss, r.steps = time.Now(), 0, 0
	t.listener.Invoke(m)
}

// point is one point of the curve: {step, loss, validation}.
func point(p metatrain.Point) map[string]any {
	m := map[string]any{"step": p.Step, "loss": p.Loss, "validation": nil}
	if v := p.Validation; v != nil {
		m["validation"] = map[string]any{"loss": v.Loss, "accuracy": v.Accuracy}
	}
	return m
}

// secondsLeft extrapolates the time that steps have taken so far, infinite while
// there are none.
func (r *running) secondsLeft(done, all int) float64 {
	if done == r.first {
		return math.Inf(1)
	}
	return r.busy.Seconds() / float64(done-r.first) * float64(all-done)
}

// pause resolves when no step is under way and the checkpoint is written.
func (t *trainer) pause(bridge.Args) (any, bridge.Later, error) {
	r := t.run
	if r == nil || r.paused {
		return nil, nil, nil
	}
	r.quiet = make(chan struct{})
	r.paused = true
	return later(func() (any, error) {
		select {
		case <-r.quiet:
		case <-r.ended:
		}
		return nil, nil
	})
}

// proceed ends a pause.
func (t *trainer) proceed(bridge.Args) (any, bridge.Later, error) {
	if r := t.run; r != nil && r.paused {
		r.paused = false
		r.wakeUp()
	}
	return nil, nil, nil
}

func (r *running) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// cancel ends the run and forgets its checkpoint.
func (t *trainer) cancel(bridge.Args) (any, bridge.Later, error) {
	r := t.run
	if r == nil {
		return nil, nil, nil
	}
	r.stop, r.paused = true, false
	r.wakeUp()
	return later(func() (any, error) {
		<-r.ended
		t.run = nil
		return nil, t.clear(r.session)
	})
}

// finished waits for the end of the run and returns the best prior: {prior,
// before, best}, the last two being points of the curve. The checkpoint stays
// until forget.
func (t *trainer) finished(bridge.Args) (any, bridge.Later, error) {
	r := t.run
	if r == nil {
		return nil, nil, &engine.Error{Code: "checkpoint", Message: "Nothing is being learned: begin first."}
	}
	return later(func() (any, error) {
		<-r.ended
		if t.run == r {
			t.run = nil
		}
		if r.err != nil {
			return nil, r.err
		}
		if r.stop {
			return nil, &engine.Error{Code: "cancelled", Message: "Learning was cancelled; the prior in use stays."}
		}
		file, err := model.EncodePrior(r.Prior())
		if err != nil {
			return nil, err
		}
		return map[string]any{"prior": bridge.Bytes(file), "before": point(r.History()[0]), "best": point(*r.Best())}, nil
	})
}

// forget deletes the checkpoint of a session.
func (t *trainer) forget(a bridge.Args) (any, bridge.Later, error) {
	session, err := a.Text(0, "id of the session")
	return waiting(err, func() (any, error) { return nil, t.clear(session) })
}

func (t *trainer) clear(session string) error {
	var ops []store.Op
	for _, part := range []string{partJob, partClassifier, partPrior, partState} {
		ops = append(ops, store.Op{Table: store.Checkpoints, Key: session + part})
	}
	return t.store.Apply(ops)
}

// mostNumbers bounds a data set to what fits a tab's memory several times.
const mostNumbers = 32 << 20

// dataset makes classes of {embeddings, dimension, labels, names}: n×d numbers
// in one Float32Array, an index into names for each row.
func dataset(v js.Value) (*model.Classifier, error) {
	wrong := func(what string) error {
		return &engine.Error{Code: "format", Message: "The data set cannot be used: " + what + "."}
	}
	x, err := bridge.Args{v.Get("embeddings")}.Numbers(0, "embeddings", mostNumbers, nil)
	if err != nil {
		return nil, err
	}
	d, labels, names := v.Get("dimension").Int(), v.Get("labels"), v.Get("names")
	if d < 1 || len(x)%d != 0 || len(x)/d != labels.Length() {
		return nil, wrong("embeddings and labels differ in number")
	}
	c := &model.Classifier{Settings: model.Settings{Inference: "fb"}}
	for i := range names.Length() {
		c.Classes = append(c.Classes, model.Class{Label: names.Index(i).String(), Weight: 1})
	}
	for i := range labels.Length() {
		k := labels.Index(i).Int()
		if k < 0 || k >= len(c.Classes) {
			return nil, wrong("a label names no class")
		}
		c.Classes[k].Examples = append(c.Classes[k].Examples, model.Example{Embedding: x[i*d : (i+1)*d]})
	}
	return c, c.Validate()
}
