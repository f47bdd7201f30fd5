package engine

import (
	"metaqda/core/niw"
	"metaqda/wasm/view"
)

// Prediction is the answer to a query: probabilities that sum to one.
type Prediction struct {
	Classes []Probability `json:"classes"` // in the order of the session
	None    float64       `json:"none"`
}

// Probability is that of one class.
type Probability struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`
	P    float64 `json:"probability"`
}

// Ask returns the probabilities of an embedding as bare numbers: that of none of
// these and then those of the classes in the order of the session, nil while there is
// nothing to compare with. They are good until the next call. With show it makes x
// the query, and shows what becomes of it at once and after every later change.
// x may change afterwards. Without show nothing is allocated.
func (e *Engine) Ask(x []float32, show bool) ([]float64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ask(x, show)
}

func (e *Engine) ask(x []float32, show bool) ([]float64, error) {
	p, err := e.probabilities(x)
	if err == nil && show {
		e.query = append(e.query[:0], x...)
		e.show(p)
	}
	return p, err
}

// Recognise makes x the query, or with nil clears it, as [Engine.Ask] does with
// show, and returns the answer with names, nil while there is nothing to compare
// with.
func (e *Engine) Recognise(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x == nil {
		e.query = nil
		e.show(nil)
		return nil, nil
	}
	return e.named(e.ask(x, true))
}

// Probabilities returns what Recognise would, without making x the query.
func (e *Engine) Probabilities(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.named(e.ask(x, false))
}

func (e *Engine) named(p []float64, err error) (*Prediction, error) {
	if p == nil {
		return nil, err
	}
	answer := &Prediction{None: p[0], Classes: make([]Probability, len(e.classes))}
	for i, c := range e.classes {
		answer.Classes[i] = Probability{ID: c.ID, Name: c.Name, P: p[i+1]}
	}
	return answer, nil
}

func (e *Engine) probabilities(x []float32) ([]float64, error) {
	if err := e.foreign(); err != nil {
		return nil, err
	}
	z, err := e.transformed(x)
	if err != nil || e.exampleCount() == 0 {
		return nil, err
	}
	e.catchUpWithAll()
	n := len(e.classes)
	if len(e.answer) < n+1 {
		e.answer = make([]float64, 2*n+1)
	}
	answer := e.answer[:n+1]
	if answer[0], err = e.classifier.ProbabilitiesTo(answer[1:], z); err != nil {
		return nil, err
	}
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
	if e.query != nil && len(e.late) == 0 { // else once all is ready
		var err error
		if p, err = e.probabilities(e.query); err != nil {
			// The query was checked under another prior, whose dimension is gone,
			// or in another session.
			e.query = nil
		}
	}
	e.show(p)
}

// show shows probabilities as [Engine.Ask] returns them.
func (e *Engine) show(p []float64) {
	if e.hooks.Show != nil {
		e.hooks.Show(view.Compose(e.input(p)))
	}
}

func (e *Engine) input(p []float64) view.Input {
	s := e.session.Settings
	in := view.Input{Query: e.query != nil, Waiting: e.query != nil && len(e.late) > 0, Open: s.NonePrior > 0, Sort: view.Sort(s.Sort), Classes: make([]view.Class, len(e.classes))}
	for i, c := range e.classes {
		in.Classes[i] = view.Class{ID: c.ID, Name: c.Name, Examples: len(c.examples), Views: len(c.bursts)}
		if p != nil {
			in.Classes[i].Probability = p[i+1]
		}
	}
	if p != nil {
		in.None = p[0]
	}
	return in
}

// CheckEmbedding returns an error that names the first number that is not
// finite, or a length that no embedding has.
func CheckEmbedding(x []float32) error {
	if len(x) == 0 || len(x) > MaxDimension {
		return fail("dimension", "An embedding must have between 1 and 8192 numbers.")
	}
	for i, v := range x {
		if v-v != 0 { // an infinity or NaN
			return &niw.ValueError{Name: "embedding", Index: i, Value: float64(v), Want: "a finite number: leave this picture out"}
		}
	}
	return nil
}

// Near is a taught picture beside a query.
type Near struct {
	Class    string  `json:"class"`
	Example  string  `json:"example"`
	Distance float64 `json:"distance"`
}

// Nearest returns the taught pictures nearest to an embedding, the closest first,
// see [qda.Classifier.Nearest].
func (e *Engine) Nearest(x []float32, n int) ([]Near, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.foreign(); err != nil {
		return nil, err
	}
	z, err := e.transformed(x)
	if err != nil {
		return nil, err
	}
	e.catchUpWithAll()
	found, err := e.classifier.Nearest(z, n)
	if err != nil {
		return nil, err
	}
	all := make([]Near, len(found))
	for i, f := range found {
		c, err := e.class(f.Label)
		if err != nil {
			return nil, err
		}
		all[i] = Near{Class: c.ID, Example: c.examples[f.Picture].ID, Distance: f.Distance}
	}
	return all, nil
}
