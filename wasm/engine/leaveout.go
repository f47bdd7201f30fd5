package engine

// Trial is what one example of the session would have been taken for had it never
// been taught, see [qda.Classifier.LeaveOutTo].
type Trial struct {
	Of       int       `json:"of"`       // how many there are in all
	Revision uint64    `json:"revision"` // the state it is about
	Class    string    `json:"class"`
	Pictures []string  `json:"pictures"` // ids: one, or the frames of a burst
	Alone    bool      `json:"alone"`    // its class has no other, so that nothing was asked
	Classes  []string  `json:"classes"`  // ids in the order taught
	Answer   []float64 `json:"answer"`   // their probabilities
	None     float64   `json:"none"`
}

// LeaveOut tries the i-th of all examples of the session, a burst being one. It
// returns nil where there are fewer.
func (e *Engine) LeaveOut(i int) (*Trial, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.classifier == nil {
		return nil, nil
	}
	e.catchUpWithAll()
	var c *class
	t := &Trial{Revision: e.journal.revision}
	at := i
	for _, k := range e.classes {
		n := e.classifier.Bursts(k.ID)
		if c == nil && at < n {
			c = k
		}
		if c == nil {
			at -= n
		}
		t.Of += n
		t.Classes = append(t.Classes, k.ID)
	}
	if c == nil || i < 0 {
		return nil, nil
	}
	t.Class, t.Alone = c.ID, e.classifier.Bursts(c.ID) == 1
	pictures, err := e.classifier.Pictures(c.ID, at)
	if err != nil {
		return nil, err
	}
	for _, p := range pictures {
		t.Pictures = append(t.Pictures, c.examples[p].ID)
	}
	t.Answer = make([]float64, len(e.classes))
	if t.Alone {
		return t, nil
	}
	t.None, err = e.classifier.LeaveOutTo(t.Answer, c.ID, at)
	return t, err
}
