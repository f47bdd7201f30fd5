package metaqda

import (
	"sync"

	"metaqda/core/lda"
)

// reading takes the lock for reading and returns its release. Bursts are counted then.
//
//go:noinline // three kilobytes less to download
func (c *Classifier) reading() (done func()) {
	for {
		c.mu.RLock()
		if c.adding == nil && !c.counting() {
			return c.mu.RUnlock
		}
		c.mu.RUnlock()
		done := c.writing()
		if c.counting() {
			c.tellLate()
		}
		done()
	}
}

// writing takes the lock for writing and returns its release. The examples of a [Bulk] are there
// then.
//
//go:noinline
func (c *Classifier) writing() (done func()) {
	c.mu.Lock()
	c.addRest()
	return c.mu.Unlock
}

// hold computes everything that answers need and then takes the lock for reading. Unless it returns
// an error, the caller must call c.mu.RUnlock.
func (c *Classifier) hold() error {
	c.holdAny()
	if c.lda == nil {
		c.mu.RUnlock()
		return lda.ErrNoExamples
	}
	return nil
}

// holdAny is like hold, but also takes the lock if the length of vectors is not settled yet.
func (c *Classifier) holdAny() {
	for {
		c.mu.RLock()
		if c.adding == nil && c.settled() {
			return
		}
		c.mu.RUnlock()
		c.Prepare(always)
	}
}

// always never asks to stop.
func always() bool { return true }

// rooms holds []float64 for query vectors.
var rooms = sync.Pool{New: func() any { return new([]float64) }}
