//go:build js && wasm

package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BenchmarkRoutines times every routine at the dimensions of embeddings, with
// the kernels and with gonum's own code, in GFLOP/s.
func BenchmarkRoutines(b *testing.B) {
	for _, side := range []int{64, 256, 640, 1280} {
		if Available() {
			benchmark(b, "simd", side, BLAS{})
		}
		benchmark(b, "gonum", side, gonum.Implementation{})
	}
}

// rows is the number of right-hand sides and of rows in products: an episode's worth of points.
const rows = 100

func benchmark(b *testing.B, name string, n int, r blas.Float64) {
	p := pair{rnd: rand.New(rand.NewPCG(1, 2))}
	a, l, x, y := p.vector(n*n), p.triangle(n, n), p.vector(rows*n), p.vector(rows*n)
	c := make([]float64, max(rows*rows, rows*n))
	tri := func(s blas.Side, t blas.Transpose) func() {
		return func() { copy(c, x); r.Dtrsm(s, blas.Lower, t, blas.NonUnit, rows, n, 1, l, n, c, n) }
	}
	for _, c := range []struct {
		routine string
		flops   int
		run     func()
	}{
		{"dot", 2 * n, func() { r.Ddot(n, x, 1, y, 1) }},
		{"axpy", 2 * n, func() { r.Daxpy(n, 1e-9, x, 1, y, 1) }},
		{"gemvN", 2 * n * n, func() { r.Dgemv(blas.NoTrans, n, n, 1, a, n, x, 1, 0, c, 1) }},
		{"gemvT", 2 * n * n, func() { r.Dgemv(blas.Trans, n, n, 1, a, n, x, 1, 0, c, 1) }},
		{"trsvN", n * n, func() { copy(c[:n], x); r.Dtrsv(blas.Lower, blas.NoTrans, blas.NonUnit, n, l, n, c, 1) }},
		{"trsvT", n * n, func() { copy(c[:n], x); r.Dtrsv(blas.Lower, blas.Trans, blas.NonUnit, n, l, n, c, 1) }},
		{"gemmNN", 2 * rows * n * n, func() { r.Dgemm(blas.NoTrans, blas.NoTrans, rows, n, n, 1, x, n, a, n, 0, c, n) }},
		{"gemmNT", 2 * rows * rows * n, func() { r.Dgemm(blas.NoTrans, blas.Trans, rows, rows, n, 1, x, n, y, n, 0, c, rows) }},
		{"gemmTN", 2 * rows * n * n, func() { r.Dgemm(blas.Trans, blas.NoTrans, n, n, rows, 1, x, n, y, n, 0, a, n) }},
		{"gemmNT5", 2 * 5 * n * n, func() { r.Dgemm(blas.NoTrans, blas.Trans, 5, n, n, 1, x, n, a, n, 0, c, n) }},
		{"gemmNN5", 2 * 5 * n * n, func() { r.Dgemm(blas.NoTrans, blas.NoTrans, 5, n, n, 1, x, n, a, n, 0, c, n) }},
		{"syrk", rows * rows * n, func() { r.Dsyrk(blas.Lower, blas.NoTrans, rows, n, 1, x, n, 0, c, rows) }},
		{"trsmRT", rows * n * n, tri(blas.Right, blas.Trans)},
		{"trsmRN", rows * n * n, tri(blas.Right, blas.NoTrans)},
	} {
		b.Run(fmt.Sprintf("%s/%s/%d", c.routine, name, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
			b.ReportMetric(float64(c.flops)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
