package engine

import (
	metaqda "metaqda/core"
	"metaqda/wasm/view"
)

// Review says which examples probably spoil others, and which class needs another example, as
// [metaqda.Classifier.Influence] and [metaqda.Classifier.Needs].
type Review struct {
	Revision  uint64      `json:"revision"` // revision of the state
	Need      Need        `json:"need"`
	Influence []Influence `json:"influence"` // the worst first
}

// Need is a [metaqda.Need]. Classes are ids, empty for none.
type Need struct {
	Class        string  `json:"class"`
	ConfusedWith string  `json:"confusedWith"`
	Doubt        float64 `json:"doubt"`
}

// Influence is a [metaqda.Influence]. Classes are ids.
type Influence struct {
	Class    string   `json:"class"`
	Like     string   `json:"like"`
	Pictures []string `json:"pictures"` // ids: one, or the frames of a burst
	Asked    int      `json:"asked"`
	Right    int      `json:"right"`
	LogProb  float64  `json:"logProbability"`
}

// Influence asks slice by slice while the engine serves. It returns nil if the session changes
// meanwhile.
func (e *Engine) Influence() (*Review, error) {
	e.mu.Lock()
	revision := e.changes.revision
	b, err := e.taught.BeginInfluence(metaqda.MostInfluence)
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer b.Stop()
	for more := true; more; {
		for begun := e.hooks.Now(); more && e.hooks.Now().Sub(begun) < slice; {
			if more, _, _, err = b.Step(); err != nil {
				return nil, err
			}
		}
		if e.hooks.Yield != nil {
			e.hooks.Yield(true)
		}
		if e.changedSince(revision) {
			return nil, nil
		}
	}
	return e.review(b, revision), nil
}

func (e *Engine) changedSince(revision uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes.revision != revision
}

func (e *Engine) review(b *metaqda.Batch, revision uint64) *Review {
	e.mu.Lock()
	defer e.mu.Unlock()
	classes := e.taught.Classes()
	id := func(i int) string {
		if i < 0 {
			return ""
		}
		return classes[i].ID
	}
	r := &Review{Revision: revision, Need: Need{id(b.Need.Class), id(b.Need.ConfusedWith), b.Need.Doubt}, Influence: []Influence{}}
	for i := range b.Influence {
		x := &b.Influence[i]
		one := Influence{Class: id(x.Class), Like: id(x.Like), Asked: x.Asked, Right: x.Right, LogProb: x.LogProb}
		for _, p := range x.Examples {
			one.Pictures = append(one.Pictures, p.ID)
		}
		r.Influence = append(r.Influence, one)
	}
	return r
}

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
