package qda

import (
	"errors"
	"fmt"
)

// ErrNoExamples is returned by predictions while no class has an example.
var ErrNoExamples = errors.New("no class has an example yet: add at least one to a class")

// LabelError reports a class label that cannot be used.
type LabelError struct {
	Label  string
	Reason string // with the remedy
}

func (e *LabelError) Error() string { return fmt.Sprintf("class %q %s", e.Label, e.Reason) }

// ExampleError reports an example that does not exist.
type ExampleError struct {
	Label string
	Index int
	Count int
}

func (e *ExampleError) Error() string {
	return fmt.Sprintf("class %q has no example %d: it has %d, counted from 0", e.Label, e.Index, e.Count)
}

// RowError reports a row of several that cannot be used.
type RowError struct {
	Row int // counted from 0
	Err error
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %v", e.Row, e.Err) }

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }
