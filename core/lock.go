package metaqda

import (
	"sync"

	"metaqda/core/qda"
)

// reading keeps changes out until what it returns is called.
//
//go:noinline // three kilobytes less to download
func (c *Classifier) reading() (done func()) {
	c.mu.RLock()
	return c.mu.RUnlock
}

// writing keeps all others out until what it returns is called.
//
//go:noinline
func (c *Classifier) writing() (done func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// hold is reading for answers, which change nothing then: what they need is computed before. It
// leaves c.mu.RUnlock to the caller, unless it returns an error.
func (c *Classifier) hold() error {
	for {
		c.mu.RLock()
		if c.qda == nil {
			c.mu.RUnlock()
			return qda.ErrNoExamples
		}
		if !c.behind && !c.unscaled() && c.qda.Settled() {
			return nil
		}
		c.mu.RUnlock()
		c.Prepare(func() bool { return true })
	}
}

// rooms holds []float64 for vectors that are asked about.
var rooms = sync.Pool{New: func() any { return new([]float64) }}
