package metatrain

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Block sizes of the products below. Rows and columns of one call stay under the size at which
// gonum's Dgemm starts goroutines. Here parallelism is over tasks and block rows of L, in an order
// that does not depend on the number of cores. A step allocates nothing.
const (
	rowBlock   = 128 // rows of a task handled at once
	solveBlock = 8   // edge of the diagonal blocks of L that are solved row by row
	gradBlock  = 64  // edge of the blocks of the gradient of L
)

// factor is L with its transpose for the solves. A step spends its time on these. With the
// transpose both solves are products of long rows on one goroutine. Natively they take two thirds
// of the time of SolveRowsTo in core/niw, which has no transpose. They take half the time of a BLAS
// Trsm with Lᵀ.
type factor struct {
	d     int
	lower []float64 // d×d row-major, zero above the diagonal
	upper []float64 // its transpose, so that both solves are dot products of long rows
}

func newFactor(d int) *factor {
	return &factor{d: d, lower: make([]float64, d*d), upper: make([]float64, d*d)}
}

// transpose brings upper up to date with lower. Cost d²/2 moves, by blocks
// that fit the first-level cache.
func (f *factor) transpose() {
	const b = 32
	for i0 := 0; i0 < f.d; i0 += b {
		for j0 := 0; j0 <= i0; j0 += b {
			for i := i0; i < min(i0+b, f.d); i++ {
				for j := j0; j < min(j0+b, i+1); j++ {
					f.upper[j*f.d+i] = f.lower[i*f.d+j]
				}
			}
		}
	}
}

// whiten overwrites the rows y of x with L⁻¹y. With columns in blocks J,
//
//	w_J = L_JJ⁻¹ (y_J - w_<J (L_J,<J)ᵀ)
//
// Cost n d²/2 multiply-adds for n rows.
func (f *factor) whiten(x blas64.General) {
	for r := 0; r < x.Rows; r += rowBlock {
		b := rowsOf(x, r, min(rowBlock, x.Rows-r))
		for j := 0; j < f.d; j += solveBlock {
			n := min(solveBlock, f.d-j)
			bj := colsOf(b, j, n)
			if j > 0 {
				left := blas64.General{Rows: n, Cols: j, Stride: f.d, Data: f.lower[j*f.d:]}
				blas64.Gemm(blas.NoTrans, blas.Trans, -1, colsOf(b, 0, j), left, 1, bj)
			}
			f.forward(bj, j)
		}
	}
}

// unwhiten overwrites the rows y of x with L⁻ᵀy, from the last block to the first:
//
//	v_J = L_JJ⁻ᵀ (y_J - v_>J L_>J,J)
func (f *factor) unwhiten(x blas64.General) {
	last := (f.d - 1) / solveBlock * solveBlock
	for r := 0; r < x.Rows; r += rowBlock {
		b := rowsOf(x, r, min(rowBlock, x.Rows-r))
		for j := last; j >= 0; j -= solveBlock {
			n := min(solveBlock, f.d-j)
			bj := colsOf(b, j, n)
			if rest := f.d - j - n; rest > 0 {
				right := blas64.General{Rows: n, Cols: rest, Stride: f.d, Data: f.upper[j*f.d+j+n:]}
				blas64.Gemm(blas.NoTrans, blas.Trans, -1, colsOf(b, j+n, rest), right, 1, bj)
			}
			f.backward(bj, j)
		}
	}
}

// forward solves with the diagonal block of L at j, a row of b at a time.
func (f *factor) forward(b blas64.General, j int) {
	for r := range b.Rows {
		y := b.Data[r*b.Stride : r*b.Stride+b.Cols]
		for i := range y {
			row := f.lower[(j+i)*f.d+j : (j+i)*f.d+j+i+1]
			s := y[i]
			for k, l := range row[:i] {
				s -= l * y[k]
			}
			y[i] = s / row[i]
		}
	}
}

// backward solves with the transpose of the diagonal block at j.
func (f *factor) backward(b blas64.General, j int) {
	for r := range b.Rows {
		y := b.Data[r*b.Stride : r*b.Stride+b.Cols]
		for i := len(y) - 1; i >= 0; i-- {
			row := f.upper[(j+i)*f.d+j+i : (j+i)*f.d+j+len(y)]
			s := y[i]
			for k, l := range row[1:] {
				s -= l * y[i+1+k]
			}
			y[i] = s / row[0]
		}
	}
}

// subOuter subtracts tril(VᵀW) from block row i of dst, d×d: rows
// i·gradBlock and on. vt and wt are Vᵀ and Wᵀ, d×n. Entries above the diagonal
// of the diagonal block are set to zero. Cost n·gradBlock·d/2 on average.
func subOuter(dst []float64, d, i int, vt, wt blas64.General) {
	r := i * gradBlock
	n := min(gradBlock, d-r)
	v := rowsOf(vt, r, n)
	for c := 0; c <= r; c += gradBlock {
		w := rowsOf(wt, c, min(gradBlock, d-c))
		out := blas64.General{Rows: n, Cols: w.Rows, Stride: d, Data: dst[r*d+c:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, -1, v, w, 1, out)
	}
	for k := r; k < r+n; k++ {
		clear(dst[k*d+k+1 : k*d+r+n])
	}
}

// transposeTo stores the transpose of src in dst.
func transposeTo(dst, src blas64.General) {
	const b = 16
	for i0 := 0; i0 < src.Rows; i0 += b {
		for j0 := 0; j0 < src.Cols; j0 += b {
			for j := j0; j < min(j0+b, src.Cols); j++ {
				out := dst.Data[j*dst.Stride:]
				for i := i0; i < min(i0+b, src.Rows); i++ {
					out[i] = src.Data[i*src.Stride+j]
				}
			}
		}
	}
}

func rowsOf(x blas64.General, r, n int) blas64.General {
	return blas64.General{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[r*x.Stride:]}
}

func colsOf(x blas64.General, c, n int) blas64.General {
	return blas64.General{Rows: x.Rows, Cols: n, Stride: x.Stride, Data: x.Data[c:]}
}

// gemm adds A B or A Bᵀ to C, in blocks of rows and columns small
// enough to stay on this goroutine.
func gemm(tb blas.Transpose, a, b, c blas64.General) {
	for i := 0; i < c.Rows; i += rowBlock {
		m := min(rowBlock, c.Rows-i)
		for j := 0; j < c.Cols; j += gradBlock {
			n := min(gradBlock, c.Cols-j)
			bj := colsOf(b, j, n)
			if tb == blas.Trans {
				bj = rowsOf(b, j, n)
			}
			blas64.Gemm(blas.NoTrans, tb, 1, rowsOf(a, i, m), bj, 1, colsOf(rowsOf(c, i, m), j, n))
		}
	}
}
