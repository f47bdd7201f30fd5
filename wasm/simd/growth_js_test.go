//go:build js && wasm

package simd

import (
	"runtime"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"metaqda/core/test"
)

// TestKernelsFollowMemoryGrowth takes a slice that lies beyond the memory the
// program had when the kernels were first used, so that the memory must have
// grown under them.
func TestKernelsFollowMemoryGrowth(t *testing.T) {
	needKernels(t)
	x := ones(64)
	if got := (BLAS{}).Ddot(64, x, 1, x, 1); got != 64 {
		t.Fatalf("before growth: dot of 64 ones = %v", got)
	}
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	const side = 64
	far := make([]float64, before.Sys/8+side*side)
	if end := uintptr(unsafe.Pointer(&far[0])) + uintptr(len(far))*8; uint64(end) <= before.Sys {
		t.Fatalf("the slice ends at %d, inside the %d bytes of before", end, before.Sys)
	}
	a := far[len(far)-side*side:]
	for i := range a {
		a[i] = 1
	}
	y := make([]float64, side)
	BLAS{}.Dgemv(blas.NoTrans, side, side, 1, a, side, x, 1, 0, y, 1)
	for i, v := range y {
		test.StopIf(t, v != side, "after growth: row %d times ones = %v, want %d", i, v, side)
	}
	BLAS{}.Daxpy(side, 1, x, 1, a, 1)
	test.FailIf(t, a[0] != 2 || a[side-1] != 2 || a[side] != 1, "after growth: axpy wrote %v, %v, %v, want 2, 2, 1", a[0], a[side-1], a[side])
	if got := (BLAS{}).Ddot(64, x, 1, x, 1); got != 64 {
		t.Errorf("old memory after growth: dot of 64 ones = %v", got)
	}
}
