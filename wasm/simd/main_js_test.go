//go:build js && wasm

package simd

import (
	"fmt"
	"os"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"metaqda/core/test"
)

// TestMain requires the kernels unless METAQDA_SIMD=0 asked for a run without:
// else a broken runner would pass every test by comparing gonum with itself.
func TestMain(m *testing.M) {
	if wanted := os.Getenv("METAQDA_SIMD") != "0"; wanted != Available() {
		fmt.Printf("kernels wanted %v, available %v\n", wanted, Available())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// needKernels skips a test in the run without kernels.
func needKernels(tb testing.TB) {
	tb.Helper()
	if !Available() {
		tb.Skip("METAQDA_SIMD=0")
	}
}

func TestInstallFollowsAvailability(t *testing.T) {
	defer blas64.Use(gonum.Implementation{})
	if got := Install(); got != Available() {
		t.Fatalf("Install() = %v with kernels available %v", got, Available())
	}
	_, installed := blas64.Implementation().(BLAS)
	test.FailIf(t, installed != Available(), "kernels in blas64: %v, available %v", installed, Available())
	got := blas64.Dot(blas64.Vector{N: 40, Inc: 1, Data: ones(40)}, blas64.Vector{N: 40, Inc: 1, Data: ones(40)})
	test.FailIf(t, got != 40, "dot of 40 ones = %v", got)
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
