package main

import (
	"syscall/js"
	"time"

	"metaqda/core/metatrain"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/learn"
	"metaqda/wasm/store"
)

// trainer is the learner of a worker with what JavaScript sees of it.
type trainer struct {
	*learn.Learner
	listener js.Value
}

const (
	defaultSteps = 300
	// breath lets messages in between steps: waiting for no time at all would
	// not return to the event loop.
	breath = time.Microsecond
	// mostNumbers bounds a data set to what fits a tab's memory several times.
	mostNumbers = 32 << 20
)

func startTrainer(database string) js.Value {
	t := &trainer{listener: js.Undefined()}
	var kept store.Store = store.NewMemory() // the page has said that nothing is kept
	if db, err := store.Open(database, js.Undefined(), nil); err == nil {
		kept = db
	}
	t.Learner = learn.NewLearner(kept, learn.Hooks{Tell: t.tell, HandCrafted: engine.HandCrafted, Breathe: func() { time.Sleep(breath) }})
	api := js.ValueOf(map[string]any{})
	for name, m := range t.methods() {
		api.Set(name, bridge.Func(m))
	}
	return api
}

// methods are those that web/trainer.js asks for.
func (t *trainer) methods() map[string]bridge.Method {
	waiting := bridge.Waiting
	return map[string]bridge.Method{
		"on":       bridge.AtOnce(bridge.Take1(bridge.Function("listener"), t.on)),
		"begin":    waiting(bridge.Take1(task, t.begin)),
		"resume":   waiting(bridge.Take1(sessionID, func(session string) (any, error) { return started(t.Resume(session)) })),
		"pending":  waiting(bridge.Take1(sessionID, t.pending)),
		"pause":    waiting(bridge.Take0(func() (any, error) { t.Pause(); return nil, nil })),
		"proceed":  waiting(bridge.Take0(func() (any, error) { t.Proceed(); return nil, nil })),
		"cancel":   waiting(bridge.Take0(func() (any, error) { return nil, t.Cancel() })),
		"finished": waiting(bridge.Take0(t.finished)),
		"forget":   waiting(bridge.Take1(sessionID, nothing1(t.Forget))),
	}
}

// on sets the function that is told of progress.
func (t *trainer) on(listener js.Value) (any, error) {
	t.listener = listener
	return nil, nil
}

// sessionTask is a task with the session that it is begun for.
type sessionTask struct {
	session string
	learn.Task
}

// task decodes {session, classifier, marked, prior, steps}, or in place of the classifier a
// dataset {embeddings, dimension, labels, names}.
func task(v js.Value) (t sessionTask, err error) {
	if t.session, err = bridge.Field(v, "session", sessionID); err != nil {
		return t, err
	}
	steps, err := bridge.Field(v, "steps", bridge.Optional(func(v js.Value) (*float64, error) {
		n, err := bridge.Number("number of steps")(v)
		return &n, err
	}))
	if err != nil {
		return t, err
	}
	if t.Steps = defaultSteps; steps != nil {
		t.Steps = int(*steps)
	}
	if t.Prior, err = bridge.Field(v, "prior", bridge.Optional(bridge.Bytes("prior"))); err != nil {
		return t, err
	}
	t.Marked = v.Get("marked").Truthy()
	data, err := bridge.Field(v, "dataset", bridge.Optional(dataset))
	switch {
	case err != nil:
	case data != nil:
		t.Apart, t.Marked = true, false
		t.Classifier, err = data.File()
	default:
		t.Classifier, err = bridge.Field(v, "classifier", bridge.Bytes("session file"))
	}
	return t, err
}

// dataset decodes n×d numbers in one Float32Array and an index into names for each
// row.
func dataset(v js.Value) (*learn.Dataset, error) {
	var s learn.Dataset
	var err error
	if s.Embeddings, err = bridge.Field(v, "embeddings", bridge.Numbers("embeddings", mostNumbers)); err != nil {
		return nil, err
	}
	whole := func(what string) bridge.Kind[int] {
		return func(v js.Value) (int, error) {
			x, err := bridge.Number(what)(v)
			return int(x), err
		}
	}
	if s.Dimension, err = bridge.Field(v, "dimension", whole("dimension")); err != nil {
		return nil, err
	}
	if s.Labels, err = bridge.Field(v, "labels", bridge.List("labels", whole("labels"))); err != nil {
		return nil, err
	}
	s.Names, err = bridge.Field(v, "names", bridge.List("names", bridge.Text("names")))
	return &s, err
}

func (t *trainer) begin(task sessionTask) (any, error) {
	return started(t.Begin(task.session, task.Task))
}

func started(s *learn.Started, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	history := make([]any, len(s.History))
	for i, p := range s.History {
		history[i] = point(p)
	}
	return map[string]any{"step": s.Step, "steps": s.Steps, "history": history}, nil
}

func (t *trainer) pending(session string) (any, error) {
	done, steps, err := t.Pending(session)
	if err != nil || steps == 0 {
		return nil, err
	}
	return map[string]any{"steps": steps, "done": done}, nil
}

func (t *trainer) finished() (any, error) {
	l, err := t.Finished()
	if err != nil {
		return nil, err
	}
	return map[string]any{"prior": bridge.Array(l.Prior), "before": point(l.Before), "best": point(l.Best)}, nil
}

// tell tells the listener how far the run is.
func (t *trainer) tell(p learn.Progress) {
	if !t.listener.Truthy() {
		return
	}
	m := map[string]any{"step": p.Step, "steps": p.Steps, "loss": p.Loss, "secondsLeft": p.SecondsLeft,
		"paused": p.Paused, "done": p.Done, "best": p.Best, "point": nil}
	if p.Point != nil {
		m["point"] = point(*p.Point)
	}
	if p.Err != nil {
		e := engine.Explain(p.Err)
		m["error"] = map[string]any{"code": e.Code, "message": e.Message}
	}
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
