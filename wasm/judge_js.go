package main

import (
	"context"
	"syscall/js"
	"time"
	"unsafe"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
)

// judge answers about many pictures in a worker, with what JavaScript sees of it.
type judge struct {
	taught   *metaqda.Classifier // nil until the session is there
	x        []float32           // the pictures that answers are about, of length d, one after the other
	d        int
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
	var p *metaqda.Prior
	if prior != nil {
		if p, err = metaqda.DecodePrior(prior); err != nil {
			return nil, err
		}
	}
	j.d = dimension
	j.taught, err = metaqda.OpenUnder(session, p)
	return nil, err
}

func (j *judge) pictures(x []float32) (any, error) {
	j.x = x
	return nil, nil
}

// answer asks a question and answers it to the end.
func (j *judge) answer(begin func(c *metaqda.Classifier) (*metaqda.Batch, error)) (*metaqda.Batch, error) {
	if j.taught == nil {
		return nil, &engine.Error{Code: "argument", Message: "There is no session to judge by: this is a mistake of the page that calls."}
	}
	b, err := begin(j.taught)
	if err != nil {
		return nil, err
	}
	return b, b.Finish(context.Background(), j.tell)
}

// classify answers with, for each picture, what it is taken for (the index of a class, -1
// for none of them), 1 where that is doubtful, the probability of none, and those of the
// classes, in rows; and their headlines.
func (j *judge) classify() (any, error) {
	b, err := j.answer(func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginClassify(j.x, j.d) })
	if metaqda.Code(err) == "empty" || err == nil && b.Len() == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []float64
	headlines := make([]any, b.Len())
	for i := range b.Len() {
		p, none := b.Answer(i)
		d := j.taught.Decide(p, none)
		headlines[i] = d.Headline
		doubtful := 0.0
		if d.Doubtful {
			doubtful = 1
		}
		all = append(append(all, float64(d.Class), doubtful, none), p...)
	}
	bytes := bridge.Array(unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), 8*len(all)))
	return map[string]any{"rows": js.Global().Get("Float64Array").New(bytes.Get("buffer")), "headlines": headlines}, nil
}

func (j *judge) suggest(n int) (any, error) {
	b, err := j.answer(func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginSuggest(j.x, j.d, n) })
	if err != nil {
		return nil, err
	}
	return list(b.Suggestions), nil
}

func (j *judge) alike(strangers []int) (any, error) {
	b, err := j.answer(func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginAlike(j.x, j.d, strangers) })
	if err != nil {
		return nil, err
	}
	all := make([]any, len(b.Groups))
	for i, g := range b.Groups {
		all[i] = list(g)
	}
	return all, nil
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
