//go:build !js

package simd

// Available reports whether there are kernels: never outside the browser's kind of machine.
func Available() bool { return false }

// Install leaves gonum's own routines in place and returns false.
func Install() bool { return false }
