package qda

import (
	"errors"
	"strconv"
)

// ErrNoExamples is returned by predictions while no class has an example.
var ErrNoExamples = errors.New("no class has an example yet: add at least one to a class")

// LabelError reports a class label that cannot be used.
type LabelError struct {
	Label  string
	Reason string // with the remedy
}

// Error returns one sentence.
func (e *LabelError) Error() string { return "class " + strconv.Quote(e.Label) + " " + e.Reason }

// ExampleError reports an example that does not exist.
type ExampleError struct {
	Label string
	Index int
	Count int
}

// Error returns one sentence.
func (e *ExampleError) Error() string {
	return "class " + strconv.Quote(e.Label) + " has no example " + strconv.Itoa(e.Index) + ": it has " + strconv.Itoa(e.Count) + ", counted from 0"
}

// RowError reports a row of several that cannot be used.
type RowError struct {
	Row int // counted from 0
	Err error
}

// Error returns one sentence.
func (e *RowError) Error() string { return "row " + strconv.Itoa(e.Row) + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }
