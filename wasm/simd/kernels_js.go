//go:build js && wasm

package simd

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// Below these sizes a call costs more than Go's own loop: numbers of a vector,
// of a matrix, of the triangle's side, and multiplications of a product.
const (
	minVector   = 32
	minMatrix   = 32
	minTriangle = 8
	minProduct  = 64
)

// A product or system with at most this many rows is done row by row with the
// matrix-vector kernels: packing the other factor would cost more than it saves.
const fewRows = 8

// A product A Bᵀ is done without packing while B has at most this many numbers
// and so stays in the second-level cache.
const cached = 96 << 10

// Block sizes of the kernels (kernels/level3.ts), for the size of the scratch area.
const (
	tileRows  = 4
	maxTile   = 4 // columns
	maxLanes  = 2 // numbers of a vector
	blockM    = 64
	blockK    = 256
	blockN    = 256
	solveSide = 128 // side of the diagonal blocks of trsm
)

// Parts of a product's result.
const (
	whole = iota
	lowerPart
	upperPart
)

// kernels are the routines. Each method returns false,
// and has touched nothing, when gonum's routine is to answer instead: for small
// sizes, strides, alpha = 0 and bad arguments.
type kernels struct {
	dot  func(n int32, x, y *float64) float64
	axpy func(n int32, alpha float64, x, y *float64)
	scal func(n int32, alpha float64, x *float64)
	gemv func(trans bool, m, n int32, alpha float64, a *float64, lda int32, x, y *float64)
	trsv func(lower, trans, unit bool, n int32, a *float64, lda int32, x *float64)
	gemm func(part, m, n, k int32, alpha float64, a *float64, aRow, aCol int32, b *float64, bRow, bCol int32, c *float64, ldc int32, scratch *float64)
	nt   func(m, n, k int32, alpha float64, a *float64, lda int32, b *float64, ldb int32, c *float64, ldc int32)
	trsm func(unit bool, m, n int32, a *float64, aRow, aCol int32, b *float64, bRow, bCol int32, scratch *float64)

	minSquare, maxSquare float64 // a sum of squares between these has neither under- nor overflowed

	scratch []float64 // packed panels; grows to the largest need, at most 656 KB of float64
}

var (
	float64s = kernels{dot: ddot, axpy: daxpy, scal: dscal, gemv: dgemv, trsv: dtrsv, gemm: dgemm, nt: dgemmNT, trsm: dtrsm,
		minSquare: 1e-280, maxSquare: math.MaxFloat64}
)

// room returns a scratch area of at least n numbers. Nothing else runs while a
// kernel does, so one area serves all.
func (k *kernels) room(n int) *float64 {
	if len(k.scratch) < n {
		k.scratch = make([]float64, n)
	}
	return &k.scratch[0]
}

// holds reports whether an r x c matrix with row step ld fits into n numbers.
func holds(n, r, c, ld int) bool { return ld >= c && n >= (r-1)*ld+c }

// transposed reads a Transpose argument; ok is false for one that gonum rejects.
func transposed(t blas.Transpose) (trans, ok bool) {
	trans = t == blas.Trans || t == blas.ConjTrans
	return trans, trans || t == blas.NoTrans
}

// triangle reads the arguments that describe a triangular matrix.
func triangle(ul blas.Uplo, t blas.Transpose, d blas.Diag) (lower, trans, unit, ok bool) {
	trans, ok = transposed(t)
	lower, unit = ul == blas.Lower, d == blas.Unit
	return lower, trans, unit, ok && (lower || ul == blas.Upper) && (unit || d == blas.NonUnit)
}

// steps returns the row and column steps of a matrix or its transpose.
func steps(trans bool, ld int) (row, col int) {
	if trans {
		return 1, ld
	}
	return ld, 1
}

func (k *kernels) doDot(n int, x []float64, incX int, y []float64, incY int) (float64, bool) {
	if n < minVector || incX != 1 || incY != 1 || len(x) < n || len(y) < n {
		return 0, false
	}
	return k.dot(int32(n), &x[0], &y[0]), true
}

func (k *kernels) doAxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) bool {
	if n < minVector || incX != 1 || incY != 1 || len(x) < n || len(y) < n || alpha == 0 {
		return false
	}
	k.axpy(int32(n), alpha, &x[0], &y[0])
	return true
}

func (k *kernels) doScal(n int, alpha float64, x []float64, incX int) bool {
	if n < minVector || incX != 1 || len(x) < n || alpha == 0 {
		return false
	}
	k.scal(int32(n), alpha, &x[0])
	return true
}

// doNrm2 leaves vectors whose squares could leave the range of float64 to gonum's scaled sum.
func (k *kernels) doNrm2(n int, x []float64, incX int) (float64, bool) {
	square, ok := k.doDot(n, x, incX, x, incX)
	if !ok || !(square > k.minSquare && square < k.maxSquare) {
		return 0, false
	}
	return float64(math.Sqrt(float64(square))), true
}

// scale multiplies by beta; beta = 0 overwrites whatever is there, NaN included.
func (k *kernels) scale(beta float64, x []float64) {
	switch {
	case beta == 1 || len(x) == 0:
	case beta == 0:
		clear(x)
	case len(x) < minVector:
		for i := range x {
			x[i] *= beta
		}
	default:
		k.scal(int32(len(x)), beta, &x[0])
	}
}

// scaleRows scales the wanted part of each row of an m x n matrix.
func (k *kernels) scaleRows(part int32, m, n int, beta float64, c []float64, ldc int) {
	if beta == 1 {
		return
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		switch part {
		case lowerPart:
			row = row[:i+1]
		case upperPart:
			row = row[i:]
		}
		k.scale(beta, row)
	}
}

func (k *kernels) doGemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) bool {
	trans, ok := transposed(t)
	lenX, lenY := n, m
	if trans {
		lenX, lenY = m, n
	}
	if !ok || m <= 0 || n <= 0 || m*n < minMatrix || incX != 1 || incY != 1 || alpha == 0 ||
		!holds(len(a), m, n, lda) || len(x) < lenX || len(y) < lenY {
		return false
	}
	k.scale(beta, y[:lenY])
	k.gemv(trans, int32(m), int32(n), alpha, &a[0], int32(lda), &x[0], &y[0])
	return true
}

func (k *kernels) doTrsv(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) bool {
	lower, trans, unit, ok := triangle(ul, t, d)
	if !ok || n < minTriangle || incX != 1 || !holds(len(a), n, n, lda) || len(x) < n {
		return false
	}
	k.trsv(lower, trans, unit, int32(n), &a[0], int32(lda), &x[0])
	return true
}

func (k *kernels) doGemm(tA, tB blas.Transpose, m, n, p int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) bool {
	transA, okA := transposed(tA)
	transB, okB := transposed(tB)
	if !okA || !okB || m <= 0 || n <= 0 || p <= 0 || m*n*p < minProduct || alpha == 0 || !holds(len(c), m, n, ldc) {
		return false
	}
	rowsA, colsA, rowsB, colsB := m, p, p, n
	if transA {
		rowsA, colsA = p, m
	}
	if transB {
		rowsB, colsB = n, p
	}
	if !holds(len(a), rowsA, colsA, lda) || !holds(len(b), rowsB, colsB, ldb) {
		return false
	}
	aRow, aCol := steps(transA, lda)
	bRow, bCol := steps(transB, ldb)
	k.scaleRows(whole, m, n, beta, c, ldc)
	switch {
	case !transA && transB && m >= tileRows && n*p <= cached:
		k.productNT(m, n, p, alpha, a, lda, b, ldb, c, ldc)
	case !transA && m <= fewRows:
		for i := range m {
			k.gemv(!transB, int32(rowsB), int32(colsB), alpha, &b[0], int32(ldb), &a[i*lda], &c[i*ldc])
		}
	default:
		k.product(whole, m, n, p, alpha, a, aRow, aCol, b, bRow, bCol, c, ldc)
	}
	return true
}

// productNT computes C += alpha A Bᵀ as the factors lie. The kernel sums whole
// vectors; what is left of the p terms is a thin product of its own.
func (k *kernels) productNT(m, n, p int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	body := p &^ (maxLanes - 1)
	if body > 0 {
		k.nt(int32(m), int32(n), int32(body), alpha, &a[0], int32(lda), &b[0], int32(ldb), &c[0], int32(ldc))
	}
	if body < p {
		k.product(whole, m, n, p-body, alpha, a[body:], lda, 1, b[body:], 1, ldb, c, ldc)
	}
}

// doSyrk computes one triangle of alpha A Aᵀ + beta C, or of alpha Aᵀ A + beta C.
func (k *kernels) doSyrk(ul blas.Uplo, t blas.Transpose, n, p int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) bool {
	lower, trans, _, ok := triangle(ul, t, blas.NonUnit)
	if !ok || n <= 0 || p <= 0 || n*n*p < 2*minProduct || alpha == 0 || !holds(len(c), n, n, ldc) {
		return false
	}
	rows, cols := n, p
	if trans {
		rows, cols = p, n
	}
	if !holds(len(a), rows, cols, lda) {
		return false
	}
	part := int32(upperPart)
	if lower {
		part = lowerPart
	}
	row, col := steps(trans, lda)
	k.scaleRows(part, n, n, beta, c, ldc)
	k.product(part, n, n, p, alpha, a, row, col, a, col, row, c, ldc)
	return true
}

// product calls the gemm kernel: the wanted part of C += alpha A B, A m x p and
// B p x n with steps. The slices start at element (0, 0).
func (k *kernels) product(part int32, m, n, p int, alpha float64, a []float64, aRow, aCol int, b []float64, bRow, bCol int, c []float64, ldc int) {
	panels := min(blockK, p) * (min(blockM, m) + tileRows + min(blockN, n) + maxTile)
	k.gemm(part, int32(m), int32(n), int32(p), alpha, &a[0], int32(aRow), int32(aCol), &b[0], int32(bRow), int32(bCol),
		&c[0], int32(ldc), k.room(panels+tileRows*maxTile))
}
