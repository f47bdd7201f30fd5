// Package test says in a line what tests would say in three. It is for tests alone.
package test

import "testing"

// OK ends the test with an error, if there is one.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must returns what a call gives that does not fail: test.Must(os.Open(name))(t). An error
// ends the test.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// FailIf fails the test if something is wrong, and lets it go on.
func FailIf(t testing.TB, wrong bool, format string, args ...any) {
	t.Helper()
	if wrong {
		t.Errorf(format, args...)
	}
}

// StopIf fails the test and ends it if something is wrong.
func StopIf(t testing.TB, wrong bool, format string, args ...any) {
	t.Helper()
	if wrong {
		t.Fatalf(format, args...)
	}
}
