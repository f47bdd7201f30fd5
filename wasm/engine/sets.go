package engine

import (
	metaqda "metaqda/core"
	"metaqda/wasm/view"
)

// coverage is the probability that a shown set of labels contains the right one.
const coverage = 0.9

// setOf returns the set of labels of an answer that is not sure, nil while its threshold is not known.
// The first call after a change leaves out examples in slices, and shows the answer anew.
func (e *Engine) setOf(p []float64, d metaqda.Decision) *metaqda.Set {
	if e.live.watch != nil || !view.NotSure(d) { // a live view changes too often to read it
		return nil
	}
	c := e.taught
	if !e.scores(c) {
		if e.live.scoring != c {
			e.live.scoring = c
			go e.scoreLater(c)
		}
		return nil
	}
	s, err := c.SetOf(metaqda.Answer{Probabilities: p[1:], None: p[0]}, coverage)
	if err != nil {
		return nil
	}
	return &s
}

// scores leaves out examples for a slice of time, and reports whether that is done.
func (e *Engine) scores(c *metaqda.Classifier) bool {
	begun := e.hooks.Now()
	_, done := c.Scores(func() bool { return e.hooks.Yield == nil || e.hooks.Now().Sub(begun) < slice/4 })
	return done
}

func (e *Engine) scoreLater(c *metaqda.Classifier) {
	for e.scoreSlice(c) {
		e.hooks.Yield(false)
	}
}

func (e *Engine) scoreSlice(c *metaqda.Classifier) (more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taught == c && !e.scores(c) {
		return true
	}
	if e.live.scoring == c {
		e.live.scoring = nil
	}
	if e.taught == c && e.live.watch == nil && e.live.query != nil {
		e.refresh()
	}
	return false
}
