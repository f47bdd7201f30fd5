package simd

import "gonum.org/v1/gonum/blas"

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
	tileCols  = 4
	lanes     = 2 // numbers of a vector
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

// scratch holds packed panels; it grows to the largest need, at most 656 KB.
var scratch []float64

// room returns a scratch area of at least n numbers. Nothing else runs while a
// kernel does, so one area serves all.
func room(n int) *float64 {
	if len(scratch) < n {
		scratch = make([]float64, n)
	}
	return &scratch[0]
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

// scale multiplies by beta; beta = 0 overwrites whatever is there, NaN included.
func scale(beta float64, x []float64) {
	switch {
	case beta == 1 || len(x) == 0:
	case beta == 0:
		clear(x)
	case len(x) < minVector:
		for i := range x {
			x[i] *= beta
		}
	default:
		dscal(int32(len(x)), beta, &x[0])
	}
}

// scaleRows scales the wanted part of each row of an m x n matrix.
func scaleRows(part int32, m, n int, beta float64, c []float64, ldc int) {
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
		scale(beta, row)
	}
}

// productNT computes C += alpha A Bᵀ without packing. The kernel sums whole vectors; the remaining
// terms of the p are a thin product of their own.
func productNT(m, n, p int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	body := p &^ (lanes - 1)
	if body > 0 {
		dgemmNT(int32(m), int32(n), int32(body), alpha, &a[0], int32(lda), &b[0], int32(ldb), &c[0], int32(ldc))
	}
	if body < p {
		product(whole, m, n, p-body, alpha, a[body:], lda, 1, b[body:], 1, ldb, c, ldc)
	}
}

// product calls the gemm kernel: the wanted part of C += alpha A B, A m x p and
// B p x n with steps. The slices start at element (0, 0).
func product(part int32, m, n, p int, alpha float64, a []float64, aRow, aCol int, b []float64, bRow, bCol int, c []float64, ldc int) {
	panels := min(blockK, p) * (min(blockM, m) + tileRows + min(blockN, n) + tileCols)
	dgemm(part, int32(m), int32(n), int32(p), alpha, &a[0], int32(aRow), int32(aCol), &b[0], int32(bRow), int32(bCol),
		&c[0], int32(ldc), room(panels+tileRows*tileCols))
}

// A system is op(A) X = B with op(A) lower or upper triangular. It is solved in steps. The
// systems X op(A) = B are the same after transposing both sides.
type system struct {
	forward    bool // op(A) is lower triangular
	unit       bool
	m, n       int // op(A) is m x m, B is m x n
	a          []float64
	aRow, aCol int
	b          []float64
	bRow, bCol int
}

// solve works through the diagonal blocks: substitution in the block, then one product subtracts
// the solution from the remaining rows. All but a fraction solveSide/m of the work is in the
// products.
func solve(s *system) {
	for done := 0; done < s.m; {
		size := min(solveSide, s.m-done)
		first, rest, restSize := done, done+size, s.m-done-size
		if !s.forward {
			first, rest = restSize, 0
		}
		substitute(s, first, size)
		if restSize > 0 {
			eliminate(s, first, size, rest, restSize)
		}
		done += size
	}
}

// substitute solves one diagonal block. The kernel knows lower triangles only:
// an upper one is a lower one read backwards.
func substitute(s *system, first, size int) {
	at, sign := first, 1
	if !s.forward {
		at, sign = first+size-1, -1
	}
	padded := size + tileRows
	dtrsm(s.unit, int32(size), int32(s.n),
		&s.a[at*(s.aRow+s.aCol)], int32(sign*s.aRow), int32(sign*s.aCol),
		&s.b[at*s.bRow], int32(sign*s.bRow), int32(s.bCol),
		room(padded*(padded+tileCols)+tileRows*tileCols))
}

// eliminate subtracts from the rest rows of B their part in the solved ones:
// B[rest] -= op(A)[rest, solved] X[solved]. The result of the product kernel has
// contiguous rows, so transposed systems are eliminated as X opᵀ.
func eliminate(s *system, first, size, rest, restSize int) {
	off := s.a[rest*s.aRow+first*s.aCol:]
	x, y := s.b[first*s.bRow:], s.b[rest*s.bRow:]
	if s.bCol == 1 {
		product(whole, restSize, s.n, size, -1, off, s.aRow, s.aCol, x, s.bRow, 1, y, s.bRow)
		return
	}
	product(whole, s.n, restSize, size, -1, x, s.bCol, 1, off, s.aCol, s.aRow, y, s.bCol)
}
