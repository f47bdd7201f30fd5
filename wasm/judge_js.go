package main

import (
	"context"
	"syscall/js"
	"time"
	"unsafe"

	"metaqda/core/adapt"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
)

// judge answers about many pictures in a worker, with what JavaScript sees of it.
type judge struct {
	judge    *engine.Judge // nil until the session is there
	x        []float32     // the pictures that answers are about
	listener js.Value
	told     time.Time
}

// mostNumbers bounds a batch to what fits a tab's memory several times.
const mostNumbers = 32 << 20

// tellEvery is the least time between two words about progress.
const tellEvery = 100 * time.Millisecond

func startJudge() js.Value {
	j := &judge{listener: js.Undefined()}
	api := js.ValueOf(map[string]any{})
	for name, m := range j.methods() {
		api.Set(name, bridge.Func(m))
	}
	return api
}

// methods are those that web/engine/judge.js asks for.
func (j *judge) methods() map[string]bridge.Method {
	atOnce, waiting := bridge.AtOnce, bridge.Waiting
	whole := func(v js.Value) (int, error) {
		n, err := bridge.Number("number")(v)
		return int(n), err
	}
	return map[string]bridge.Method{
		"on":       atOnce(bridge.Take1(bridge.Function("listener"), j.on)),
		"session":  atOnce(bridge.Take3(bridge.Bytes("session file"), bridge.Optional(bridge.Bytes("prior")), whole, j.session)),
		"pictures": atOnce(bridge.Take1(bridge.Numbers("embeddings", mostNumbers), j.pictures)),
		"classify": waiting(bridge.Take0(j.classify)),
		"suggest":  atOnce(bridge.Take1(whole, j.suggest)),
		"alike":    atOnce(bridge.Take1(bridge.List("numbers of pictures", whole), j.alike)),
		"learn":    waiting(bridge.Take2(bridge.List("session files", bridge.Bytes("session file")), bridge.Optional(bridge.Bytes("prior")), learn)),
	}
}

// on sets the function that is told how much is done of how much.
func (j *judge) on(listener js.Value) (any, error) {
	j.listener = listener
	return nil, nil
}

func (j *judge) session(session, prior []byte, dimension int) (_ any, err error) {
	j.judge, err = engine.NewJudge(session, prior, dimension)
	return nil, err
}

func (j *judge) pictures(x []float32) (any, error) {
	j.x = x
	return nil, nil
}

// ready returns an error while there is no session to judge by.
func (j *judge) ready() error {
	if j.judge == nil {
		return &engine.Error{Code: "argument", Message: "There is no session to judge by: this is a mistake of the page that calls."}
	}
	return nil
}

func (j *judge) classify() (any, error) {
	if err := j.ready(); err != nil {
		return nil, err
	}
	p, err := j.judge.Classify(context.Background(), j.x, j.tell)
	if err != nil || p == nil {
		return nil, err
	}
	bytes := bridge.Array(unsafe.Slice((*byte)(unsafe.Pointer(&p[0])), 8*len(p)))
	return js.Global().Get("Float64Array").New(bytes.Get("buffer")), nil
}

func (j *judge) suggest(n int) (any, error) {
	if err := j.ready(); err != nil {
		return nil, err
	}
	chosen, err := j.judge.Suggest(j.x, n)
	return list(chosen), err
}

func (j *judge) alike(strangers []int) (any, error) {
	if err := j.ready(); err != nil {
		return nil, err
	}
	groups, err := j.judge.Alike(j.x, strangers)
	all := make([]any, len(groups))
	for i, g := range groups {
		all[i] = list(g)
	}
	return all, err
}

// learn returns what sessions teach: {prior, classes, sessions, before, after}, prior null
// where it does not pay, the others {accuracy, loss, auroc}.
func learn(sessions [][]byte, prior []byte) (any, error) {
	l, err := engine.Learn(context.Background(), sessions, prior)
	if err != nil {
		return nil, err
	}
	measured := func(m adapt.Measured) map[string]any {
		return map[string]any{"accuracy": m.Accuracy, "loss": m.Loss, "auroc": m.AUROC}
	}
	m := map[string]any{"prior": nil, "classes": l.Classes, "sessions": len(sessions), "before": measured(l.Before), "after": measured(l.After)}
	if l.File != nil {
		m["prior"] = bridge.Array(l.File)
	}
	return m, nil
}

func list(numbers []int) []any {
	all := make([]any, len(numbers))
	for i, n := range numbers {
		all[i] = n
	}
	return all
}

// tell tells the listener how far the answers are, now and then.
func (j *judge) tell(done, total int) {
	if now := time.Now(); j.listener.Truthy() && now.Sub(j.told) >= tellEvery {
		j.told = now
		j.listener.Invoke(map[string]any{"done": done, "total": total})
	}
}
