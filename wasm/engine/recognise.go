package engine

import (
	"metaqda/core/niw"
	"metaqda/wasm/view"
)

// Prediction is the answer to a query. It sums to one.
type Prediction struct {
	Classes []Probability `json:"classes"` // in the order taught
	None    float64       `json:"none"`
}

// Probability is the share of one class.
type Probability struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`
	P    float64 `json:"probability"`
}

// Recognise makes x the query, or with nil clears it, and shows what becomes of
// it now and after every later change. The answer is nil while there is nothing
// to compare with. x may change afterwards.
func (e *Engine) Recognise(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x == nil {
		e.query = nil
		return e.refresh(), nil
	}
	if err := e.foreign(); err != nil {
		return nil, err
	}
	if _, err := e.transformed(x); err != nil {
		return nil, err
	}
	e.query = append(e.query[:0], x...)
	return e.refresh(), nil
}

// Probabilities returns what Recognise would, without making x the query.
func (e *Engine) Probabilities(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.predict(x)
}

// Shares returns what Probabilities does as bare numbers: that of none of these
// and then those of the classes in the order taught, nil while there is nothing
// to compare with. They are good until the next call. It allocates nothing.
func (e *Engine) Shares(x []float32) ([]float64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.predictShares(x)
}

func (e *Engine) predictShares(x []float32) ([]float64, error) {
	if err := e.foreign(); err != nil {
		return nil, err
	}
	z, err := e.transformed(x)
	if err != nil || e.exampleCount() == 0 {
		return nil, err
	}
	n := len(e.classes)
	if len(e.shares) < n+1 {
		e.shares = make([]float64, 2*n+1)
	}
	answer := e.shares[:n+1]
	if answer[0], err = e.classifier.ProbabilitiesTo(answer[1:], z); err != nil {
		return nil, err
	}
	return answer, nil
}

func (e *Engine) predict(x []float32) (*Prediction, error) {
	shares, err := e.predictShares(x)
	if shares == nil {
		return nil, err
	}
	p := &Prediction{None: shares[0], Classes: make([]Probability, len(e.classes))}
	for i, c := range e.classes {
		p.Classes[i] = Probability{ID: c.ID, Name: c.Name, P: shares[i+1]}
	}
	return p, nil
}

// refresh evaluates the query anew and shows the result.
func (e *Engine) refresh() *Prediction {
	var p *Prediction
	if e.query != nil {
		var err error
		if p, err = e.predict(e.query); err != nil {
			// The query was checked under another prior, whose dimension is gone,
			// or in another session.
			e.query = nil
		}
	}
	if e.hooks.Show != nil {
		e.hooks.Show(view.Compose(e.input(p)))
	}
	return p
}

func (e *Engine) input(p *Prediction) view.Input {
	s := e.session.Settings
	in := view.Input{Query: e.query != nil, Open: s.NonePrior > 0, Sort: view.Sort(s.Sort), Classes: make([]view.Class, len(e.classes))}
	for i, c := range e.classes {
		in.Classes[i] = view.Class{ID: c.ID, Name: c.Name, Examples: len(c.examples)}
		if p != nil {
			in.Classes[i].Probability = p.Classes[i].P
		}
	}
	if p != nil {
		in.None = p.None
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
