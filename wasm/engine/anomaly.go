package engine

// WithoutCells returns the class and the examples whose cells [Engine.Anomaly] lacks.
func (e *Engine) WithoutCells() (class string, examples []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	examples = append([]string{}, e.taught.WithoutCells()...) // never nil, which is null in JavaScript
	if len(examples) > 0 {
		for _, k := range e.taught.Classes() {
			if len(k.Examples) > 0 {
				class = k.ID
			}
		}
	}
	return class, examples
}

// SetCells tells the cells of the picture of an example.
func (e *Engine) SetCells(example string, cells []float32, d int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.foreign(); err != nil {
		return err
	}
	return e.taught.SetCells(example, cells, d)
}

// Anomaly says whether a picture is like the examples of the only class.
func (e *Engine) Anomaly(cells []float32, d int) (wrong float64, good int, parts []float64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.foreign(); err != nil {
		return 0, 0, nil, err
	}
	a, err := e.taught.Anomaly(cells, d)
	if err != nil {
		return 0, 0, nil, err
	}
	return a.Wrong, a.Good, a.Cells, nil
}
