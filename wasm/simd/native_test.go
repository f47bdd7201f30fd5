//go:build !js

package simd

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"metaqda/core/test"
)

func TestNativeProgramsKeepGonum(t *testing.T) {
	test.StopIf(t, Available() || Install(), "kernels outside WebAssembly")
	_, ok := blas64.Implementation().(gonum.Implementation)
	test.FailIf(t, !ok, "blas64 uses %T", blas64.Implementation())
}
