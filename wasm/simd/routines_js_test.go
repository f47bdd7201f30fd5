package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// eps is the unit of rounding.
const eps = 0x1p-52

// A pair is the implementation under test and its reference.
type pair struct {
	got, want blas.Float64
	rnd       *rand.Rand
}

// against returns the kernels beside gonum.
func against(t testing.TB) pair {
	needKernels(t)
	return pair{BLAS{}, gonum.Implementation{}, rand.New(rand.NewPCG(1, 2))}
}

// vector returns n numbers from -1 to 1, none of them zero.
func (p pair) vector(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = (p.rnd.Float64() - 0.5) * 2
		if x[i] == 0 {
			x[i] = 1
		}
	}
	return x
}

// triangle returns an n x n matrix with rows ld apart whose triangles are both
// well conditioned: a diagonal near 1 and small numbers elsewhere.
func (p pair) triangle(n, ld int) []float64 {
	a := p.vector(max(0, (n-1)*ld+n))
	for i := range a {
		a[i] /= float64(n)
	}
	for i := range n {
		a[i*ld+i] = 1 + p.rnd.Float64()
	}
	return a
}

// compare requires equal classes (NaN, either infinity) and finite numbers
// within tol roundings; it looks at every number of the backing slices, so that
// a write outside the wanted part is seen.
func compare(t *testing.T, got, want []float64, tol float64, format string, args ...any) {
	t.Helper()
	for i := range want {
		g, w := got[i], want[i]
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
func (p pair) spoil(x []float64) {
	if len(x) > 0 {
		x[p.rnd.IntN(len(x))] = specials[p.rnd.IntN(len(specials))]
	}
}

// zeros makes about a third of x zero, of both signs.
func (p pair) zeros(x []float64) {
	for i := range x {
		switch p.rnd.IntN(6) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = math.Copysign(0, -1)
		}
	}
}
