package metaqda

import (
	"sync"

	"metaqda/core/lda"
)

// reading takes the lock for reading and returns its release.
//
//go:noinline // three kilobytes less to download
func (c *Classifier) reading() (done func()) {
	c.mu.RLock()
	return c.mu.RUnlock
}

// writing takes the lock for writing and returns its release.
//
//go:noinline
func (c *Classifier) writing() (done func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// hold is reading for answers: it first computes all that they need, so that they change nothing.
// Unless it returns an error, the caller must call c.mu.RUnlock.
func (c *Classifier) hold() error {
	for {
		c.mu.RLock()
		if c.lda == nil {
			c.mu.RUnlock()
			return lda.ErrNoExamples
		}
		if !c.behind && !c.unscaled() && c.lda.Settled() {
			return nil
		}
		c.mu.RUnlock()
		c.Prepare(func() bool { return true })
	}
}

// rooms holds []float64 for query vectors.
var rooms = sync.Pool{New: func() any { return new([]float64) }}
