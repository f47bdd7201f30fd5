//go:build js && wasm

package simd

import "gonum.org/v1/gonum/blas"

// A system is op(A) X = B with op(A) lower or upper triangular, in steps, so
// that the systems X op(A) = B are the same after transposing both sides.
type system struct {
	forward    bool // op(A) is lower triangular
	unit       bool
	m, n       int // op(A) is m x m, B is m x n
	a          []float64
	aRow, aCol int
	b          []float64
	bRow, bCol int
}

func (k *kernels) doTrsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) bool {
	lower, trans, unit, ok := triangle(ul, t, d)
	side := m
	if s == blas.Right {
		side = n
	}
	if !ok || (s != blas.Left && s != blas.Right) || m <= 0 || n <= 0 || side < minTriangle || alpha == 0 ||
		!holds(len(a), side, side, lda) || !holds(len(b), m, n, ldb) {
		return false
	}
	k.scaleRows(whole, m, n, alpha, b, ldb)
	if s == blas.Right && m <= fewRows {
		// Row by row: op(A)ᵀ x = b.
		for i := range m {
			k.trsv(lower, !trans, unit, int32(n), &a[0], int32(lda), &b[i*ldb])
		}
		return true
	}
	aRow, aCol := steps(trans, lda)
	sys := system{lower != trans, unit, m, n, a, aRow, aCol, b, ldb, 1}
	if s == blas.Right {
		sys = system{lower == trans, unit, n, m, a, aCol, aRow, b, 1, ldb}
	}
	k.solve(&sys)
	return true
}

// solve works through the diagonal blocks: substitution in the block, then one
// product takes what was found out of the rows still to come. All but a
// fraction solveSide/m of the work is in the products.
func (k *kernels) solve(s *system) {
	for done := 0; done < s.m; {
		size := min(solveSide, s.m-done)
		first, rest, restSize := done, done+size, s.m-done-size
		if !s.forward {
			first, rest = restSize, 0
		}
		k.substitute(s, first, size)
		if restSize > 0 {
			k.eliminate(s, first, size, rest, restSize)
		}
		done += size
	}
}

// substitute solves one diagonal block. The kernel knows lower triangles only:
// an upper one is a lower one read backwards.
func (k *kernels) substitute(s *system, first, size int) {
	at, sign := first, 1
	if !s.forward {
		at, sign = first+size-1, -1
	}
	padded := size + tileRows
	k.trsm(s.unit, int32(size), int32(s.n),
		&s.a[at*(s.aRow+s.aCol)], int32(sign*s.aRow), int32(sign*s.aCol),
		&s.b[at*s.bRow], int32(sign*s.bRow), int32(s.bCol),
		k.room(padded*(padded+maxTile)+tileRows*maxTile))
}

// eliminate subtracts from the rest rows of B their part in the solved ones:
// B[rest] -= op(A)[rest, solved] X[solved]. The result of the product kernel has
// contiguous rows, so transposed systems are eliminated as X opᵀ.
func (k *kernels) eliminate(s *system, first, size, rest, restSize int) {
	off := s.a[rest*s.aRow+first*s.aCol:]
	x, y := s.b[first*s.bRow:], s.b[rest*s.bRow:]
	if s.bCol == 1 {
		k.product(whole, restSize, s.n, size, -1, off, s.aRow, s.aCol, x, s.bRow, 1, y, s.bRow)
		return
	}
	k.product(whole, s.n, restSize, size, -1, x, s.bCol, 1, off, s.aCol, s.aRow, y, s.bCol)
}
