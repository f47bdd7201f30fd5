package learn

import (
	"encoding/json"

	"metaqda/wasm/store"
)

// Task is what to learn, as files: what a checkpoint keeps of it.
type Task struct {
	Classifier []byte // classifier file: the classes to learn on
	Prior      []byte // prior file: where to begin, nil for the hand-crafted prior
	Steps      int
	// Apart says that what is learned on is no session's pictures, whose removal does
	// not concern the run then.
	Apart bool
	// Marked says that [Mark] was stored before the classifier was read: what has been
	// removed since then took the mark away.
	Marked bool
}

// checkpoint is what a run needs to go on after a reload.
type checkpoint struct {
	Task
	state []byte // of the run, nil before the first is saved
}

// Its parts are records of their own in the table Checkpoints, under the id of the
// session and a suffix, so that a validation rewrites only tally and state.
const (
	partTally      = "/job"
	partClassifier = "/classifier"
	partPrior      = "/prior" // missing for the hand-crafted one
	partState      = "/state"
	partMark       = "/mark" // there while nothing that is learned on has been removed
)

// tally is what is to be known of a run before its data are read, kept as JSON.
type tally struct {
	Steps int `json:"steps"`
	Done  int `json:"done"`
}

// checkpoints keeps at most one checkpoint for each session. All methods wait.
type checkpoints struct{ store.Store }

// put stores what a run is begun with in place of what there was.
func (c checkpoints) put(session string, t Task) error {
	ops := []store.Op{
		write(session+partTally, encodeTally(tally{Steps: t.Steps})),
		write(session+partClassifier, t.Classifier),
		{Table: store.Checkpoints, Key: session + partPrior},
		{Table: store.Checkpoints, Key: session + partState},
	}
	if t.Prior != nil {
		ops[2].Value = t.Prior
	}
	mark := Mark(session)
	change := store.Change{Ops: append(ops, mark)}
	switch {
	case t.Marked:
		change = store.Change{Needs: store.Needs{Record: store.Ref{Table: mark.Table, Key: mark.Key}}, Ops: ops}
	case t.Apart:
		change.Ops = append(ops, store.Op{Table: mark.Table, Key: mark.Key})
	}
	refused, err := c.Commit([]store.Change{change})
	if err == nil {
		err = refused[0]
	} else if !t.Marked && !t.Apart { // no room for all of it
		_ = c.Apply([]store.Op{mark})
	}
	return err
}

// Mark is the operation that begins to watch over what a run of a session learns on:
// the mark goes with the first removal, see [Forgotten].
func Mark(session string) store.Op { return write(session+partMark, []byte{1}) }

// marked tells whether everything that the run of a session learns on is still there.
// In doubt it is.
func (c checkpoints) marked(session string) bool {
	b, err := c.Bytes(store.Checkpoints, session+partMark)
	return err != nil || b != nil
}

// save stores how far the run has come, unless what it was begun with has been
// deleted meanwhile.
func (c checkpoints) save(session string, t tally, state []byte) error {
	refused, err := c.Commit([]store.Change{{
		Needs: store.Needs{Record: store.Ref{Table: store.Checkpoints, Key: session + partClassifier}},
		Ops:   []store.Op{write(session+partState, state), write(session+partTally, encodeTally(t))},
	}})
	if err == nil {
		err = refused[0]
	}
	return err
}

func write(key string, b []byte) store.Op {
	return store.Op{Table: store.Checkpoints, Key: key, Value: b}
}

// tally returns how far the stored run of a session is, nil if there is none.
func (c checkpoints) tally(session string) (*tally, error) {
	b, err := c.Bytes(store.Checkpoints, session+partTally)
	t := &tally{}
	if err != nil || json.Unmarshal(b, t) != nil {
		return nil, err
	}
	return t, nil
}

// get returns the checkpoint of a session, nil if there is none.
func (c checkpoints) get(session string) (*checkpoint, error) {
	t, err := c.tally(session)
	if err != nil || t == nil {
		return nil, err
	}
	found := &checkpoint{Task: Task{Steps: t.Steps}}
	for part, to := range map[string]*[]byte{partClassifier: &found.Classifier, partPrior: &found.Prior, partState: &found.state} {
		if *to, err = c.Bytes(store.Checkpoints, session+part); err != nil {
			return nil, err
		}
	}
	if found.Classifier == nil {
		return nil, nil
	}
	return found, nil
}

// clear deletes the checkpoint of a session.
func (c checkpoints) clear(session string) error { return c.Apply(Forgotten(session)) }

// Forgotten returns the operations that delete the checkpoint of a session, which has
// all of its pictures' embeddings and thumbnails in it.
func Forgotten(session string) (ops []store.Op) {
	for _, part := range []string{partTally, partClassifier, partPrior, partState, partMark} {
		ops = append(ops, store.Op{Table: store.Checkpoints, Key: session + part})
	}
	return ops
}

func encodeTally(t tally) []byte {
	b, err := json.Marshal(t)
	if err != nil {
		panic("metaqda: whole numbers do not encode")
	}
	return b
}
