//go:build js && wasm

package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// routines is one implementation's half for one type of number, so that the
// same tests serve float64 and float32.
type routines[T float32 | float64] struct {
	dot  func(n int, x []T, incX int, y []T, incY int) T
	axpy func(n int, alpha T, x []T, incX int, y []T, incY int)
	scal func(n int, alpha T, x []T, incX int)
	nrm2 func(n int, x []T, incX int) T
	gemv func(t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	trsv func(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []T, lda int, x []T, incX int)
	gemm func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	syrk func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	trsm func(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
}

func of64(b blas.Float64) routines[float64] {
	return routines[float64]{b.Ddot, b.Daxpy, b.Dscal, b.Dnrm2, b.Dgemv, b.Dtrsv, b.Dgemm, b.Dsyrk, b.Dtrsm}
}

func of32(b blas.Float32) routines[float32] {
	return routines[float32]{b.Sdot, b.Saxpy, b.Sscal, b.Snrm2, b.Sgemv, b.Strsv, b.Sgemm, b.Ssyrk, b.Strsm}
}

// both runs a test for float64 and float32: the kernels against gonum.
func both(t *testing.T, f64 func(*testing.T, pair[float64]), f32 func(*testing.T, pair[float32])) {
	needKernels(t)
	t.Run("float64", func(t *testing.T) {
		f64(t, pair[float64]{of64(BLAS{}), of64(gonum.Implementation{}), 0x1p-52, newRand()})
	})
	t.Run("float32", func(t *testing.T) {
		f32(t, pair[float32]{of32(BLAS{}), of32(gonum.Implementation{}), 0x1p-23, newRand()})
	})
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// A pair is the implementation under test, its reference and the unit of rounding.
type pair[T float32 | float64] struct {
	got, want routines[T]
	eps       float64
	rnd       *rand.Rand
}

// vector returns n numbers from -1 to 1, none of them zero.
func (p pair[T]) vector(n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(p.rnd.Float64()-0.5) * 2
		if x[i] == 0 {
			x[i] = 1
		}
	}
	return x
}

// triangle returns an n x n matrix with rows ld apart whose triangles are both
// well conditioned: a diagonal near 1 and small numbers elsewhere.
func (p pair[T]) triangle(n, ld int) []T {
	a := p.vector(max(0, (n-1)*ld+n))
	for i := range a {
		a[i] /= T(n)
	}
	for i := range n {
		a[i*ld+i] = 1 + T(p.rnd.Float64())
	}
	return a
}

// compare requires equal classes (NaN, either infinity) and finite numbers
// within tol roundings; it looks at every number of the backing slices, so that
// a write outside the wanted part is seen.
func compare[T float32 | float64](t *testing.T, got, want []T, tol float64, format string, args ...any) {
	t.Helper()
	for i := range want {
		g, w := float64(got[i]), float64(want[i])
		if math.IsNaN(g) && math.IsNaN(w) || g == w {
			continue
		}
		if !(math.Abs(g-w) <= tol*max(1, math.Abs(w))) || math.IsInf(w, 0) {
			t.Fatalf(format+": number %d is %v, want %v", append(args, i, g, w)...)
		}
	}
}

// specials are put into operands by spoil.
var specials = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}

// spoil puts one special number at a random place of x.
func (p pair[T]) spoil(x []T) {
	if len(x) > 0 {
		x[p.rnd.IntN(len(x))] = T(specials[p.rnd.IntN(len(specials))])
	}
}

// zeros makes about a third of x zero, of both signs.
func (p pair[T]) zeros(x []T) {
	for i := range x {
		switch p.rnd.IntN(6) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = T(math.Copysign(0, -1))
		}
	}
}

// clone returns a copy of x.
func clone[T float32 | float64](x []T) []T { return append([]T(nil), x...) }
