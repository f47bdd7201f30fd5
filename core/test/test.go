// Package test has short helpers, for tests alone.
package test

import (
	"errors"
	"testing"
)

// OK ends the test with an error, if there is one.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must returns the result of a call that does not fail: test.Must(os.Open(name))(t). An error ends
// the test.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Refused returns the error that something was refused with, which must be an E, else the
// test ends.
func Refused[E error](t testing.TB, err error, format string, args ...any) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf(format+": %v", append(args, err)...)
	}
	return e
}

// Err returns the error of a call: test.Err(os.Open(name)).
func Err[T any](_ T, err error) error { return err }
