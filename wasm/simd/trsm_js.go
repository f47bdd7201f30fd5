//go:build js && wasm

package simd

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

// solve works through the diagonal blocks: substitution in the block, then one
// product takes what was found out of the rows still to come. All but a
// fraction solveSide/m of the work is in the products.
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
		room(padded*(padded+maxTile)+tileRows*maxTile))
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
