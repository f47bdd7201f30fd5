package simd

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
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
	if installed != Available() {
		t.Errorf("kernels in blas64: %v, available %v", installed, Available())
	}
	got := blas64.Dot(blas64.Vector{N: 40, Inc: 1, Data: ones(40)}, blas64.Vector{N: 40, Inc: 1, Data: ones(40)})
	if got != 40 {
		t.Errorf("dot of 40 ones = %v", got)
	}
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// TestKernelsFollowMemoryGrowth lets the memory grow after the kernels were first used. It
// takes a slice that lies in the new memory.
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
		if v != side {
			t.Fatalf("after growth: row %d times ones = %v, want %d", i, v, side)
		}
	}
	BLAS{}.Daxpy(side, 1, x, 1, a, 1)
	if a[0] != 2 || a[side-1] != 2 || a[side] != 1 {
		t.Errorf("after growth: axpy wrote %v, %v, %v, want 2, 2, 1", a[0], a[side-1], a[side])
	}
	if got := (BLAS{}).Ddot(64, x, 1, x, 1); got != 64 {
		t.Errorf("old memory after growth: dot of 64 ones = %v", got)
	}
}

// TestBadArgumentsPanicAsInGonum hands both implementations the same bad calls.
func TestBadArgumentsPanicAsInGonum(t *testing.T) {
	needKernels(t)
	const n = 20
	v, short, a := ones(n), ones(n-1), ones(n*n)
	bad, no, lo, un := blas.Transpose('x'), blas.NoTrans, blas.Lower, blas.Unit
	for name, call := range map[string]func(blas.Float64){
		"dot, short x":       func(b blas.Float64) { b.Ddot(n, short, 1, v, 1) },
		"dot, negative n":    func(b blas.Float64) { b.Ddot(-1, v, 1, v, 1) },
		"axpy, zero step":    func(b blas.Float64) { b.Daxpy(n, 1, v, 0, v, 1) },
		"scal, short x":      func(b blas.Float64) { b.Dscal(n, 2, short, 1) },
		"gemv, transpose":    func(b blas.Float64) { b.Dgemv(bad, n, n, 1, a, n, v, 1, 0, v, 1) },
		"gemv, lda":          func(b blas.Float64) { b.Dgemv(no, n, n, 1, a, n-1, v, 1, 0, v, 1) },
		"gemv, short a":      func(b blas.Float64) { b.Dgemv(no, n+1, n, 1, a, n, v, 1, 0, ones(n+1), 1) },
		"gemv, short x":      func(b blas.Float64) { b.Dgemv(no, n, n, 1, a, n, short, 1, 0, v, 1) },
		"gemv, short y":      func(b blas.Float64) { b.Dgemv(no, n, n, 1, a, n, v, 1, 0, short, 1) },
		"trsv, triangle":     func(b blas.Float64) { b.Dtrsv(blas.All, no, un, n, a, n, v, 1) },
		"trsv, diagonal":     func(b blas.Float64) { b.Dtrsv(lo, no, 'x', n, a, n, v, 1) },
		"trsv, lda":          func(b blas.Float64) { b.Dtrsv(lo, no, un, n, a, n-1, v, 1) },
		"trsv, short a":      func(b blas.Float64) { b.Dtrsv(lo, no, un, n, a[1:], n, v, 1) },
		"trsv, short x":      func(b blas.Float64) { b.Dtrsv(lo, no, un, n, a, n, short, 1) },
		"gemm, transpose":    func(b blas.Float64) { b.Dgemm(no, bad, n, n, n, 1, a, n, a, n, 0, a, n) },
		"gemm, negative k":   func(b blas.Float64) { b.Dgemm(no, no, n, n, -1, 1, a, n, a, n, 0, a, n) },
		"gemm, lda":          func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a, 1, a, n, 0, a, n) },
		"gemm, short a":      func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a[1:], n, a, n, 0, a, n) },
		"gemm, short b":      func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a, n, a[1:], n, 0, a, n) },
		"gemm, short c":      func(b blas.Float64) { b.Dgemm(no, no, n, n, n, 1, a, n, a, n, 0, a[1:], n) },
		"syrk, triangle":     func(b blas.Float64) { b.Dsyrk(blas.All, no, n, n, 1, a, n, 0, a, n) },
		"syrk, short a":      func(b blas.Float64) { b.Dsyrk(lo, no, n, n, 1, a[1:], n, 0, a, n) },
		"syrk, short c":      func(b blas.Float64) { b.Dsyrk(lo, no, n, n, 1, a, n, 0, a[1:], n) },
		"trsm, side":         func(b blas.Float64) { b.Dtrsm('x', lo, no, un, n, n, 1, a, n, a, n) },
		"trsm, short a":      func(b blas.Float64) { b.Dtrsm(blas.Left, lo, no, un, n, n, 1, a[1:], n, a, n) },
		"trsm, short b":      func(b blas.Float64) { b.Dtrsm(blas.Right, lo, no, un, n, n, 1, a, n, a[1:], n) },
		"trsm, ldb":          func(b blas.Float64) { b.Dtrsm(blas.Right, lo, no, un, n, n, 1, a, n, a, n-1) },
		"trsm, negative row": func(b blas.Float64) { b.Dtrsm(blas.Left, lo, no, un, -1, n, 1, a, n, a, n) },
	} {
		want := recovered(func() { call(gonum.Implementation{}) })
		if got := recovered(func() { call(BLAS{}) }); want == nil || got != want {
			t.Errorf("%s: panics with %v, gonum with %v", name, got, want)
		}
	}
}

// recovered returns what f panics with.
func recovered(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
