package learn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/store"
)

// watched is a store that takes a moment for a write, as IndexedDB does, and knows
// its keys. It fails the test if a run's progress is there without what the run
// needs to be resumed.
type watched struct {
	store.Store
	t     *testing.T
	mu    sync.Mutex
	keys  map[string]bool
	wrote int
	full  bool
}

func newWatched(t *testing.T) *watched {
	return &watched{Store: store.NewMemory(), t: t, keys: map[string]bool{}}
}

func (w *watched) Apply(ops []store.Op) error {
	time.Sleep(50 * time.Microsecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full {
		return &store.Error{Code: "quota", Message: "full"}
	}
	if err := w.Store.Apply(ops); err != nil {
		return err
	}
	return w.note(ops)
}

func (w *watched) Commit(changes []store.Change) ([]error, error) {
	time.Sleep(50 * time.Microsecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full {
		return nil, &store.Error{Code: "quota", Message: "full"}
	}
	refused, err := w.Store.Commit(changes)
	for i, c := range changes {
		if err == nil && refused[i] == nil {
			err = w.note(c.Ops)
		}
	}
	return refused, err
}

// note notes what was written, under the lock.
func (w *watched) note(ops []store.Op) error {
	for _, op := range ops {
		w.keys[op.Key] = op.Value != nil
		if op.Value != nil {
			w.wrote++
		}
	}
	for key, there := range w.keys {
		if session, ok := strings.CutSuffix(key, partTally); ok && there != w.keys[session+partClassifier] {
			w.t.Errorf("session %s: progress %v, classifier %v", session, there, !there)
		}
	}
	return nil
}

// left returns the keys that are there, and how many writes there were.
func (w *watched) left() (keys []string, wrote int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, there := range w.keys {
		if there {
			keys = append(keys, key)
		}
	}
	return keys, w.wrote
}

// file is a small classifier file of the world.
func file(t testing.TB) []byte {
	t.Helper()
	c := &model.Classifier{}
	for _, k := range world(6, 4, 1) {
		class := model.Class{Label: k.Name, Weight: 1}
		for _, x := range k.Examples {
			class.Examples = append(class.Examples, model.Example{Embedding: x})
		}
		c.Classes = append(c.Classes, class)
	}
	b, err := model.EncodeClassifier(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newLearner(s store.Store, tell func(Progress)) *Learner {
	return NewLearner(s, Hooks{Tell: tell, Breathe: runtime.Gosched, HandCrafted: func(d int) (*model.Prior, error) {
		return &model.Prior{NIW: niw.HandCrafted(d, 1), Transform: embed.Transform{Kind: embed.None}}, nil
	}})
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return err.Error()
}

func (l *Learner) now() state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// command is one of those of the table, for session "s".
type command string

var commands = []command{"begin", "resume", "pause", "proceed", "cancel", "finished", "forget", "pending"}

// do carries out a command and returns the code of what it answers.
func (l *Learner) do(c command, t Task) string {
	var err error
	switch c {
	case "begin":
		_, err = l.Begin("s", t)
	case "resume":
		_, err = l.Resume("s")
	case "pause":
		l.Pause()
	case "proceed":
		l.Proceed()
	case "cancel":
		err = l.Cancel()
	case "finished":
		_, err = l.Finished()
	case "forget":
		err = l.Forget("s")
	case "pending":
		var steps int
		if _, steps, err = l.Pending("s"); err == nil && steps == 0 {
			return "nothing"
		}
	}
	return codeOf(err)
}

// table is the table of [Learner] with whether there is a checkpoint. The code
// "waits" is of a command that has not returned.
type table struct {
	state  state
	stored bool
}

func (m table) after(c command) (table, string) {
	alive := m.state == running || m.state == paused
	switch c {
	case "begin":
		if m.state != idle {
			return m, "busy"
		}
		return table{running, true}, ""
	case "resume":
		switch {
		case m.state != idle:
			return m, "busy"
		case !m.stored:
			return m, "checkpoint"
		}
		return table{running, true}, ""
	case "pause":
		if m.state == running {
			m.state = paused
		}
	case "proceed":
		if m.state == paused {
			m.state = running
		}
	case "cancel":
		if m.state != idle {
			return table{idle, false}, ""
		}
	case "finished":
		switch {
		case m.state == idle:
			return m, "checkpoint"
		case alive:
			return m, "waits"
		}
		m.state = idle
	case "forget":
		if alive {
			return m, "busy"
		}
		m.stored = false
	case "pending":
		if !m.stored {
			return m, "nothing"
		}
	}
	return m, ""
}

// expect returns the answers of commands one after the other, of which the last
// one is to be cancel, and the state before that.
func (m table) expect(cs ...command) (codes []string, before table) {
	for _, c := range cs {
		before = m
		var code string
		m, code = m.after(c)
		codes = append(codes, code)
		if c == "cancel" {
			for i := range codes {
				if codes[i] == "waits" {
					codes[i] = "cancelled"
				}
			}
		}
	}
	return codes, before
}

// in returns a learner in a state, with a checkpoint of session "s".
func in(t *testing.T, want state, task Task) *Learner {
	t.Helper()
	s := newWatched(t)
	l := newLearner(s, nil)
	switch want {
	case idle:
		if err := (checkpoints{s}).put("s", task); err != nil {
			t.Fatal(err)
		}
		return l
	case ended:
		short := task
		short.Steps = 1
		task = short
	}
	if _, err := l.Begin("s", task); err != nil {
		t.Fatal(err)
	}
	if want == paused {
		l.Pause()
	}
	for l.now() != want {
		time.Sleep(100 * time.Microsecond)
	}
	return l
}

// TestEveryPairOfCommands gives every two commands in every state, one after the
// other and at once, and compares with the table.
func TestEveryPairOfCommands(t *testing.T) {
	task := Task{Classifier: file(t), Steps: MaxSteps}
	for name, s := range map[string]state{"idle": idle, "running": running, "paused": paused, "ended": ended} {
		for _, a := range commands {
			for _, b := range commands {
				t.Run(fmt.Sprintf("%s/%s then %s", name, a, b), func(t *testing.T) {
					l := in(t, s, task)
					want, before := table{s, true}.expect(a, b, "cancel")
					got := make([]string, 2)
					var late sync.WaitGroup
					waiting := 0
					for i, c := range []command{a, b} {
						if want[i] == "cancelled" && c == "finished" {
							late.Go(func() { got[i] = l.do(c, task) })
							for waiting++; l.awaited() < waiting; { // until it waits
								time.Sleep(50 * time.Microsecond)
							}
							continue
						}
						got[i] = l.do(c, task)
					}
					if now := l.now(); now != before.state {
						t.Errorf("state %d, want %d", now, before.state)
					}
					if _, steps, _ := l.Pending("s"); (steps > 0) != before.stored {
						t.Errorf("%d steps to resume, want some: %v", steps, before.stored)
					}
					if err := l.Cancel(); err != nil {
						t.Error(err)
					}
					late.Wait()
					if !slices.Equal(got, want[:2]) {
						t.Errorf("answers %q, want %q", got, want[:2])
					}
				})
				t.Run(fmt.Sprintf("%s/%s and %s", name, a, b), func(t *testing.T) {
					l := in(t, s, task)
					got := make([]string, 2)
					var quick, late sync.WaitGroup
					for i, c := range []command{a, b} {
						to := &quick
						if c == "finished" {
							to = &late
						}
						to.Go(func() { got[i] = l.do(c, task) })
					}
					quick.Wait()
					now := l.now()
					ab, first := table{s, true}.expect(a, b, "cancel")
					ba, second := table{s, true}.expect(b, a, "cancel")
					if a != "finished" && b != "finished" && now != first.state && now != second.state {
						t.Errorf("state %d, want %d or %d", now, first.state, second.state)
					}
					if err := l.Cancel(); err != nil {
						t.Error(err)
					}
					late.Wait()
					wants := [][]string{ab[:2], {ba[1], ba[0]}}
					if a == "finished" { // it may come last of all, after cancel
						late, _ := table{s, true}.expect(b, "cancel", a)
						wants = append(wants, []string{late[2], late[0]})
					}
					if b == "finished" {
						late, _ := table{s, true}.expect(a, "cancel", b)
						wants = append(wants, []string{late[0], late[2]})
					}
					if a == "finished" && b == "finished" {
						late, _ := table{s, true}.expect("cancel", a, b)
						wants = append(wants, late[1:])
					}
					if !slices.ContainsFunc(wants, func(want []string) bool { return slices.Equal(got, want) }) {
						t.Errorf("answers %q, want one of %q", got, wants)
					}
				})
			}
		}
	}
}

// awaited returns how many wait for the end of the run.
func (l *Learner) awaited() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run.waiting
}

// TestRandomCommands lets several goroutines command at random, for two sessions,
// while the run goes on. The store watches what is written.
func TestRandomCommands(t *testing.T) {
	tasks := []Task{{Classifier: file(t), Steps: 5}, {Classifier: file(t), Steps: MaxSteps}}
	for seed := range uint64(4) {
		s := newWatched(t)
		l := newLearner(s, func(Progress) {})
		var all, late sync.WaitGroup
		for g := range uint64(6) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(seed, g))
				for range 60 {
					session := []string{"s", "other"}[r.IntN(2)]
					switch r.IntN(8) {
					case 0, 1:
						_, _ = l.Begin(session, tasks[r.IntN(2)])
					case 2:
						_, _ = l.Resume(session)
					case 3:
						l.Pause()
					case 4:
						l.Proceed()
					case 5:
						if r.IntN(4) == 0 {
							_ = l.Cancel()
						}
					case 6:
						late.Go(func() { _, _ = l.Finished() })
					case 7:
						_ = l.Forget(session)
					}
					if r.IntN(3) == 0 {
						time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
					}
				}
			})
		}
		all.Wait()
		if err := errors.Join(l.Cancel(), l.Forget("s"), l.Forget("other")); err != nil {
			t.Fatal(err)
		}
		late.Wait() // nobody waits for a run that is gone
		nothingLeft(t, s)
	}
}

// nothingLeft fails if anything is in the store, or comes there.
func nothingLeft(t *testing.T, s *watched) {
	t.Helper()
	keys, wrote := s.left()
	if len(keys) > 0 {
		t.Errorf("left in the store: %q", keys)
	}
	time.Sleep(10 * time.Millisecond)
	if keys, now := s.left(); len(keys) > 0 || now != wrote {
		t.Errorf("written after the end: %d records, there are %q", now-wrote, keys)
	}
}

// TestCancelLeavesNothing cancels at all times of a run, beside other commands.
func TestCancelLeavesNothing(t *testing.T) {
	task := Task{Classifier: file(t), Steps: 40}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		s := newWatched(t)
		l := newLearner(s, nil)
		if _, err := l.Begin("s", task); err != nil {
			t.Fatal(err)
		}
		var others sync.WaitGroup
		if i%2 == 0 {
			others.Go(l.Pause)
			others.Go(l.Proceed)
			others.Go(l.Pause)
		}
		time.Sleep(time.Duration(r.IntN(20_000)) * time.Microsecond)
		if err := l.Cancel(); err != nil {
			t.Fatal(err)
		}
		keys, _ := s.left()
		if len(keys) > 0 {
			t.Errorf("run %d: %q is left", i, keys)
		}
		others.Wait()
		nothingLeft(t, s)
		if _, err := l.Finished(); codeOf(err) != "checkpoint" {
			t.Errorf("finished after cancel: %v", err)
		}
	}
}

func TestTwoBeginsAtOnceAreOneRun(t *testing.T) {
	l := newLearner(newWatched(t), nil)
	var codes [5]string
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() { codes[i] = l.do("begin", Task{Classifier: file(t), Steps: MaxSteps}) })
	}
	all.Wait()
	slices.Sort(codes[:])
	if codes != [5]string{"", "busy", "busy", "busy", "busy"} {
		t.Errorf("answers %q", codes)
	}
	if err := l.Cancel(); err != nil {
		t.Error(err)
	}
}

// TestALearnerResumesWhereAnotherStopped interrupts a run by a pause and by nothing
// at all, and compares with one that was not interrupted.
func TestALearnerResumesWhereAnotherStopped(t *testing.T) {
	task := Task{Classifier: file(t), Steps: 60}
	learned := func(l *Learner) []byte {
		t.Helper()
		got, err := l.Finished()
		if err != nil {
			t.Fatal(err)
		}
		if got.Best.Validation.Loss > got.Before.Validation.Loss {
			t.Errorf("the best, %v, is worse than before, %v", got.Best.Validation, got.Before.Validation)
		}
		return got.Prior
	}
	whole := newLearner(newWatched(t), nil)
	if _, err := whole.Begin("s", task); err != nil {
		t.Fatal(err)
	}
	want := learned(whole)

	s := newWatched(t)
	var told []Progress
	first := newLearner(s, func(p Progress) { told = append(told, p) })
	stopped := make(chan struct{})
	first.hooks.Breathe = func() { // between two steps
		if done, _ := first.run.Steps(); done == 7 {
			first.Pause()
			close(stopped)
		}
	}
	if _, err := first.Begin("s", task); err != nil {
		t.Fatal(err)
	}
	<-stopped
	done, steps, err := first.Pending("s")
	if err != nil || done != 7 || steps != 60 {
		t.Errorf("%d of %d steps, %v", done, steps, err)
	}
	if last := told[len(told)-1]; !last.Paused || last.Done || last.Step != done || told[0].Point == nil || !math.IsInf(told[0].SecondsLeft, 1) {
		t.Errorf("told %+v", told)
	}
	second := newLearner(s, nil)
	started, err := second.Resume("s")
	if err != nil || started.Step != done || len(started.History) == 0 {
		t.Fatalf("resumed at %+v, %v", started, err)
	}
	if !bytes.Equal(learned(second), want) {
		t.Error("a resumed run ends elsewhere")
	}
	if done, steps, err := second.Pending("s"); err != nil || done != 60 || steps != 60 {
		t.Errorf("%d of %d steps after the end, %v", done, steps, err)
	}
	third := newLearner(s, nil) // nothing is left to do
	if _, err := third.Resume("s"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(learned(third), want) {
		t.Error("a run resumed at its end ends elsewhere")
	}
	if err := errors.Join(first.Cancel(), third.Forget("s")); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, s)
}

func TestAFullStoreCostsTheResumingAlone(t *testing.T) {
	s := newWatched(t)
	s.full = true
	l := newLearner(s, nil)
	if _, err := l.Begin("s", Task{Classifier: file(t), Steps: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Finished(); err != nil {
		t.Fatal(err)
	}
	if _, steps, err := l.Pending("s"); err != nil || steps != 0 {
		t.Errorf("%d steps to resume, %v", steps, err)
	}
}

func TestTasksThatCannotBeLearnedLeaveTheLearnerIdle(t *testing.T) {
	l := newLearner(newWatched(t), nil)
	few, err := (&Dataset{Dimension: 2, Embeddings: make([]float32, 6), Labels: []int{0, 1, 1}, Names: []string{"a", "b"}}).File()
	if err != nil {
		t.Fatal(err)
	}
	var little *TooLittleError
	var value *niw.ValueError
	var format *model.FormatError
	for _, c := range []struct {
		task Task
		want any
	}{
		{Task{Classifier: few, Steps: 3}, &little}, {Task{Classifier: file(t)}, &value},
		{Task{Classifier: []byte("torn"), Steps: 3}, &format}, {Task{Classifier: file(t), Prior: []byte("torn"), Steps: 3}, &format},
	} {
		if _, err := l.Begin("s", c.task); !errors.As(err, c.want) || l.now() != idle {
			t.Errorf("error %v, want a %T", err, c.want)
		}
	}
	if _, steps, err := l.Pending("s"); err != nil || steps != 0 {
		t.Errorf("%d steps to resume, %v", steps, err)
	}
}

func TestDatasets(t *testing.T) {
	good := Dataset{Dimension: 2, Embeddings: []float32{1, 2, 3, 4, 5, 6}, Labels: []int{1, 0, 1}, Names: []string{"a", "b"}}
	b, err := good.File()
	if err != nil {
		t.Fatal(err)
	}
	c, err := model.DecodeClassifier(b)
	if err != nil || len(c.Classes) != 2 || len(c.Classes[1].Examples) != 2 || !slices.Equal(c.Classes[1].Examples[1].Embedding, []float32{5, 6}) {
		t.Errorf("classes %+v, %v", c, err)
	}
	for name, change := range map[string]func(*Dataset){
		"dimension 0":   func(s *Dataset) { s.Dimension = 0 },
		"dimension 4":   func(s *Dataset) { s.Dimension = 4 },
		"a label less":  func(s *Dataset) { s.Labels = s.Labels[:2] },
		"a name less":   func(s *Dataset) { s.Names = s.Names[:1] },
		"a label below": func(s *Dataset) { s.Labels = []int{-1, 0, 1} },
	} {
		bad := good
		change(&bad)
		if _, err := bad.File(); codeOf(err) != "format" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
