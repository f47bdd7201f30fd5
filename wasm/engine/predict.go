package engine

import (
	"errors"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/view"
)

// Prediction is the answer to a query: probabilities that sum to one.
type Prediction struct {
	Classes  []Probability `json:"classes"` // in the order of the session
	None     float64       `json:"none"`
	Decision Decision      `json:"decision"`
}

// Decision is what that is taken for, see [metaqda.Classifier.Decide].
type Decision struct {
	Class    string `json:"class"`    // id, empty for none of these
	Doubtful bool   `json:"doubtful"` // somebody should look at it
	Headline string `json:"headline"` // in one sentence
}

// Probability is that of one class.
type Probability struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`
	P    float64 `json:"probability"`
}

// Ask returns the probabilities of an embedding as bare numbers: that of none of
// these and then those of the classes in the order of the session, nil while there is
// nothing to compare with. They are good until the next call. Unless showing is Unseen, it makes x
// the query, and shows what becomes of it at once and after every later change.
// x may change afterwards. Unseen, nothing is allocated. It returns an error, too, while
// the classifier does not know all pictures, for which [Engine.Await] waits.
func (e *Engine) Ask(x []float32, showing int) ([]float64, error) {
	if err := CheckEmbedding(x); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.taught.Ready() {
		return nil, errNotReady
	}
	return e.ask(x, showing)
}

// How the answer to a query is shown.
const (
	Unseen = iota
	Single // by itself
	Frame  // as the next of a live view, see [metaqda.Steady]
)

var errNotReady = errors.New("metaqda: not ready")

// Decide says what the last answer of Ask is taken for, see [metaqda.Classifier.Decide].
func (e *Engine) Decide() (class int, doubtful bool, headline string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.taught.Len()
	if len(e.answer) <= n {
		return -1, true, ""
	}
	d := e.taught.Decide(e.answer[1:n+1], e.answer[0])
	return d.Class, d.Doubtful, d.Headline
}

func (e *Engine) ask(x []float32, showing int) ([]float64, error) {
	p, err := e.probabilities(x)
	if err == nil && showing != Unseen {
		e.query = append(e.query[:0], x...)
		e.display(p, showing)
	}
	return p, err
}

// Predict returns the probabilities of an embedding with the names of the classes, nil while
// there is nothing to compare with.
func (e *Engine) Predict(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.named(e.ask(x, Unseen))
}

// Show predicts as [Engine.Predict] does, and shows the answer now and after every later
// change. With nil it shows none.
func (e *Engine) Show(x []float32) (*Prediction, error) { return e.show(x, Single) }

// ShowFrame is [Engine.Show] for the next frame of a live view.
func (e *Engine) ShowFrame(x []float32) (*Prediction, error) { return e.show(x, Frame) }

func (e *Engine) show(x []float32, showing int) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x == nil {
		e.query = nil
		e.display(nil, Single)
		return nil, nil
	}
	return e.named(e.ask(x, showing))
}

func (e *Engine) named(p []float64, err error) (*Prediction, error) {
	if p == nil {
		return nil, err
	}
	answer := &Prediction{None: p[0], Classes: make([]Probability, e.taught.Len())}
	for i := range answer.Classes {
		k, _ := e.taught.At(i)
		answer.Classes[i] = Probability{ID: k.ID, Name: k.Label, P: p[i+1]}
	}
	answer.Decision = e.decision(p[1:], p[0])
	return answer, nil
}

func (e *Engine) decision(classes []float64, none float64) Decision {
	d := e.taught.Decide(classes, none)
	to := Decision{Doubtful: d.Doubtful, Headline: d.Headline}
	if d.Class >= 0 {
		k, _ := e.taught.At(d.Class)
		to.Class = k.ID
	}
	return to
}

func (e *Engine) probabilities(x []float32) ([]float64, error) {
	if err := e.foreign(); err != nil {
		return nil, err
	}
	if p := e.taught.Prior(); p != nil && len(x) != p.Dim() && (p.Sum() != "" || e.taught.Count() > 0) {
		return nil, &niw.DimensionError{Name: "embedding", Got: len(x), Want: p.Dim()}
	}
	if e.taught.Count() == 0 {
		return nil, nil
	}
	n := e.taught.Len()
	if len(e.answer) < n+1 {
		e.answer = make([]float64, 2*n+1)
	}
	answer := e.answer[:n+1]
	none, err := e.taught.ProbabilitiesTo(answer[1:], x)
	if err != nil {
		return nil, err
	}
	answer[0] = none
	return answer, nil
}

// rest is how many times longer than it takes nobody sees an answer follow the
// next change: else whoever adds hundreds of pictures waits for as many answers,
// each of which asks all pictures there are what they say of the session.
const rest = 9

// follow has what is shown follow a change: at once where the last time was long
// enough ago, else in a moment together with what changes until then.
func (e *Engine) follow() {
	switch wait := e.rested.Sub(e.hooks.Now()); {
	case e.hooks.Later == nil || e.query == nil || wait <= 0:
		e.refresh()
	case !e.due:
		e.due = true
		e.hooks.Later(wait, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.due {
				e.refresh()
			}
		})
	}
}

// refresh evaluates the query anew and shows the result.
func (e *Engine) refresh() {
	begun := e.hooks.Now()
	defer func() {
		now := e.hooks.Now()
		e.due, e.rested = false, now.Add(rest*now.Sub(begun))
	}()
	var p []float64
	if e.query != nil && e.taught.Ready() { // else once all is ready
		var err error
		if p, err = e.probabilities(e.query); err != nil {
			// The query was checked under another prior, whose dimension is gone,
			// or in another session.
			e.query = nil
		}
	}
	e.display(p, Single)
}

// display shows probabilities as [Engine.Ask] returns them. A live view begins anew after
// whatever is shown by itself.
func (e *Engine) display(p []float64, showing int) {
	if showing == Single {
		e.live = metaqda.Steady{}
	}
	if e.hooks.Show == nil {
		return
	}
	in, show := e.input(p), true
	if showing == Frame && p != nil {
		in.Decision, show = e.live.DecideAmong(e.taught.Labels(), e.taught.Bursts(), p[1:], p[0])
	}
	if show {
		e.hooks.Show(view.Compose(in))
	}
}

func (e *Engine) input(p []float64) view.Input {
	s := e.session.Settings
	in := view.Input{Query: e.query != nil, Waiting: e.query != nil && !e.taught.Ready(), Sort: view.Sort(s.Sort), Classes: make([]view.Class, e.taught.Len())}
	for i := range in.Classes {
		k, n := e.taught.At(i)
		in.Classes[i] = view.Class{ID: k.ID, Name: k.Label, Examples: n, Views: len(k.Bursts)}
		if p != nil {
			in.Classes[i].Probability = p[i+1]
		}
	}
	if p != nil {
		in.None, in.Decision = p[0], e.taught.Decide(p[1:], p[0])
	}
	return in
}

// CheckEmbedding returns an error that names the first number that is not
// finite, or a length that no embedding has.
func CheckEmbedding(x []float32) error {
	if len(x) == 0 || len(x) > model.MaxDimension {
		return fail("dimension", "An embedding must have between 1 and 8192 numbers.")
	}
	for i, v := range x {
		if v-v != 0 { // an infinity or NaN
			return &niw.ValueError{Name: "embedding", Index: i, Value: float64(v), Want: "a finite number: leave this one out"}
		}
	}
	return nil
}

// Near is a taught picture beside a query.
type Near struct {
	Class    string  `json:"class"`
	Example  string  `json:"example"`
	Distance float64 `json:"distance"`
	Near     bool    `json:"near"` // close enough to be of one burst
}

// Nearest returns the taught pictures nearest to an embedding, the closest first,
// see [metaqda.Classifier.Nearest].
func (e *Engine) Nearest(x []float32, n int) ([]Near, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.foreign(); err != nil {
		return nil, err
	}
	found, err := e.taught.Nearest(x, n)
	if err != nil {
		return nil, err
	}
	all := make([]Near, len(found))
	for i, f := range found {
		all[i] = Near{Class: f.Example.Class, Example: f.Example.ID, Distance: f.Distance, Near: f.Near}
	}
	return all, nil
}

// Trial is what one example of the session would have been taken for had it never
// been taught, see [metaqda.Classifier.LeaveOut].
type Trial struct {
	Of       int       `json:"of"`       // how many there are in all
	Revision uint64    `json:"revision"` // the state it is about
	Class    string    `json:"class"`
	Pictures []string  `json:"pictures"` // ids: one, or the frames of a burst
	Alone    bool      `json:"alone"`    // its class has no other, so that nothing was asked
	Classes  []string  `json:"classes"`  // ids in the order taught
	Answer   []float64 `json:"answer"`   // their probabilities
	None     float64   `json:"none"`
	Decision Decision  `json:"decision"`
}

// LeaveOut tries the i-th of all examples of the session, a burst being one. It
// returns nil where there are fewer.
func (e *Engine) LeaveOut(i int) (*Trial, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out, err := e.taught.LeaveOut(i)
	if out == nil || err != nil {
		return nil, err
	}
	t := &Trial{Of: out.Of, Revision: e.changes.revision, Class: out.Examples[0].Class, Alone: out.Alone, None: out.None, Answer: make([]float64, e.taught.Len())}
	for i := range e.taught.Len() {
		k, _ := e.taught.At(i)
		t.Classes = append(t.Classes, k.ID)
	}
	for _, x := range out.Examples {
		t.Pictures = append(t.Pictures, x.ID)
	}
	if t.Alone {
		t.None = 0
		return t, nil
	}
	copy(t.Answer, out.Probabilities)
	t.Decision = e.decision(t.Answer, t.None)
	return t, nil
}

// slice is how long one piece of work may take beside everything else: of a session of
// many pictures that is opened the classifier comes to know most in such pieces.
const slice = 16 * time.Millisecond

// Ready tells whether the classifier knows all pictures, and so answers at once.
func (e *Engine) Ready() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taught.Ready()
}

// Await waits until the classifier knows all pictures.
func (e *Engine) Await() {
	e.awaited.Add(1)
	defer e.awaited.Add(-1)
	for !e.Ready() {
		e.hooks.Yield(true)
	}
}

// prepareLater has a classifier know all pictures, slice by slice, while it serves.
func (e *Engine) prepareLater(c *metaqda.Classifier) {
	for e.prepareSlice(c) {
		e.hooks.Yield(e.awaited.Load() > 0)
	}
}

func (e *Engine) prepareSlice(c *metaqda.Classifier) (more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taught != c {
		return false
	}
	begun := e.hooks.Now()
	if !c.Prepare(func() bool { return e.hooks.Now().Sub(begun) < slice }) {
		return true
	}
	e.preparing = nil
	e.refresh()
	e.announce()
	return false
}
