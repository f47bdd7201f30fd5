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

// batchWorker answers about many pictures in a worker, with what JavaScript sees of it.
type batchWorker struct {
	taught   *metaqda.Classifier // nil until the session is there
	x        []float32           // the pictures that answers are about, of length d, one after the other
	d        int
	listener js.Value
	told     time.Time
}

// tellEvery is the least time between two words about progress.
const tellEvery = 100 * time.Millisecond

func startBatch() js.Value {
	w := &batchWorker{listener: js.Undefined()}
	return bridge.Object(w.methods())
}

// methods are those that web/engine/batch.js asks for.
func (w *batchWorker) methods() map[string]bridge.Method {
	bind, atOnce, waiting := bridge.Bind, bridge.AtOnce, bridge.Waiting
	return map[string]bridge.Method{
		"on":       atOnce(bind(func(listener js.Value) { w.listener = listener }, "listener")), // is told how much is done of how much
		"session":  atOnce(bind(w.session, "session file, prior?, number")),
		"pictures": atOnce(bind(func(x bridge.Numbers) { w.x = x }, "embeddings")),
		"classify": waiting(bind(w.classify, "what is left out?")),
		"suggest":  atOnce(bind(w.suggest, "number")),
		"alike":    atOnce(bind(w.alike, "numbers of pictures")),
		"learn":    waiting(bind(learn, "session files, prior?")),
	}
}

func (w *batchWorker) session(session, prior []byte, dimension int) (err error) {
	var p *metaqda.Prior
	if prior != nil {
		if p, err = metaqda.DecodePrior(prior); err != nil {
			return err
		}
	}
	w.d = dimension
	w.taught, err = metaqda.OpenUnder(session, p)
	return err
}

// answer asks a question and answers it to the end.
func (w *batchWorker) answer(begin func(c *metaqda.Classifier) (*metaqda.Batch, error)) (*metaqda.Batch, error) {
	if w.taught == nil {
		return nil, &engine.Error{Code: "argument", Message: "There is no session to answer by: correct the call."}
	}
	b, err := begin(w.taught)
	if err != nil {
		return nil, err
	}
	return b, b.Finish(context.Background(), w.tell)
}

// classify answers for each picture what it is taken for: the index of a class, or -1 for none
// of them. It says whether that is doubtful, and adds the headline. The probabilities come in
// rows: that of none, and then those of the classes. Each list of out is the number of a
// picture and the indices of classes that it is not of.
func (w *batchWorker) classify(out [][]int) (any, error) {
	b, err := w.answer(func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginClassify(w.x, w.d) })
	if metaqda.Code(err) == "empty" || err == nil && b.Len() == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []float64
	left := make([][]int, b.Len())
	for _, o := range out {
		left[o[0]] = o[1:]
	}
	taken, doubtful, headlines := make([]any, b.Len()), make([]any, b.Len()), make([]any, b.Len())
	for i := range b.Len() {
		p, none := b.Answer(i)
		if len(left[i]) > 0 {
			p, none = metaqda.Without(p, none, left[i])
		}
		d := w.taught.Decide(p, none)
		taken[i], doubtful[i], headlines[i] = d.Class, d.Doubtful, d.Headline
		rows = append(append(rows, none), p...)
	}
	bytes := bridge.Array(unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 8*len(rows)))
	return map[string]any{"probabilities": js.Global().Get("Float64Array").New(bytes.Get("buffer")), "taken": taken, "doubtful": doubtful, "headlines": headlines}, nil
}

func (w *batchWorker) suggest(n int) (any, error) {
	b, err := w.answer(func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginSuggest(w.x, w.d, n) })
	if err != nil {
		return nil, err
	}
	return map[string]any{"places": bridge.Encode(append([]int{}, b.Suggestions...)), "like": bridge.Encode(append([]int{}, b.Like...))}, nil // JSON has no list for nil
}

func (w *batchWorker) alike(places []int) ([][]int, error) {
	b, err := w.answer(func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginAlike(w.x, w.d, places) })
	if err != nil {
		return nil, err
	}
	return append([][]int{}, b.Groups...), nil
}

// learn returns what sessions teach: {prior, classes, sessions, before, after}, prior null
// where it does not pay, the others {accuracy, unknown, loss}.
func learn(sessions [][]byte, prior []byte) (any, error) {
	l, err := engine.Learn(context.Background(), sessions, prior)
	if err != nil {
		return nil, err
	}
	measured := func(m adapt.Measured) map[string]any {
		return map[string]any{"accuracy": m.Accuracy, "unknown": m.Unknown, "loss": m.Loss}
	}
	return map[string]any{"prior": bridge.Encode(l.File), "classes": l.Classes, "sessions": len(sessions), "before": measured(l.Before), "after": measured(l.After)}, nil
}

// tell tells the listener how far the answers are, now and then.
func (w *batchWorker) tell(done, total int) {
	if now := time.Now(); w.listener.Truthy() && now.Sub(w.told) >= tellEvery {
		w.told = now
		w.listener.Invoke(map[string]any{"done": done, "total": total})
	}
}
