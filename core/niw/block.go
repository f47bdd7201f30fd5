package niw

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

const (
	// oneByOne rows of a factor and of its inverse are computed one by one, in the
	// same order of operations however they came. Later ones come in blocks of
	// factorBlock where at least fewRows of them come together: there nearly all
	// work is in matrix products.
	oneByOne    = 256
	factorBlock = 64
	fewRows     = 16
)

// AppendRows is [Group.Append] for n examples at once: row i of cross, n×(K+n), has
// the inner products with the K examples in the group and the new ones up to the
// i-th; what follows in it is not read. The bits are those of Append up to 256
// examples. Cost n (K+n)² at the speed of matrix products.
func (g *Group) AppendRows(cross blas64.General) {
	k, n := g.n, g.n+cross.Rows
	if cross.Rows > 0 && cross.Cols != n {
		panic("niw: cross products of wrong length")
	}
	g.grow(n)
	for i := range cross.Rows {
		copy(g.gram[(k+i)*g.stride:(k+i)*g.stride+k+i+1], cross.Data[i*cross.Stride:])
	}
	g.n, g.chol.n = n, n
	for ; k < n && (k < oneByOne || n-k < fewRows); k++ {
		g.chol.set(k, 0, g.gram[k*g.stride:], 1/g.prior.Kappa)
	}
	for ; k < n; k += factorBlock {
		g.chol.setBlock(k, min(factorBlock, n-k), g.gram, g.stride, 1/g.prior.Kappa)
	}
	g.update()
}

// setBlock is [factor.set] of nb rows from j on, with the whole Gram matrix given.
// With M_JJ the block of M at the diagonal
//
//	C_J< = M_J< C_<<⁻ᵀ,   C_JJ C_JJᵀ = M_JJ - C_J< C_J<ᵀ
func (f *factor) setBlock(j, nb int, gram []float64, stride int, shift float64) {
	for r := j; r < j+nb; r++ {
		row := f.a[r*f.stride:]
		for i, v := range gram[r*stride : r*stride+j] {
			row[i] = v + shift
		}
	}
	left := blas64.General{Rows: nb, Cols: j, Stride: f.stride, Data: f.a[j*f.stride:]}
	above := f.triangle()
	above.N = j
	SolveRowsTo(left, above)
	var block [factorBlock * factorBlock]float64
	s := blas64.Symmetric{Uplo: blas.Lower, N: nb, Stride: factorBlock, Data: block[:]}
	blas64.Syrk(blas.NoTrans, -1, left, 0, s)
	for r := range nb {
		row, diagonal := f.a[(j+r)*f.stride+j:], block[r*factorBlock:]
		for i := range r + 1 {
			v := gram[(j+r)*stride+j+i] + shift + diagonal[i]
			before := f.a[(j+i)*f.stride+j:]
			for l, x := range row[:i] {
				v -= x * before[l]
			}
			if i == r {
				row[r] = math.Sqrt(math.Max(v+1, 1))
			} else {
				row[i] = v / before[i]
			}
		}
	}
}

// invertBlock computes nb rows of T from j on. With U = T_<<ᵀ, what the square has
// before row and column j above and on the diagonal,
//
//	T_J<ᵀ = -U C_J<ᵀ C_JJ⁻ᵀ
func (f *factor) invertBlock(j, nb int) {
	c := blas64.General{Rows: nb, Cols: j, Stride: f.stride, Data: f.a[j*f.stride:]}
	var block [factorBlock * factorBlock]float64
	for i := 0; i < j; i += factorBlock {
		ib := min(factorBlock, j-i)
		for r := range ib {
			row := block[r*factorBlock : r*factorBlock+ib]
			clear(row[:r])
			copy(row[r:], f.a[(i+r)*f.stride+i+r:])
			row[r] = 1 / row[r]
		}
		u := blas64.General{Rows: ib, Cols: ib, Stride: factorBlock, Data: block[:]}
		x := blas64.General{Rows: ib, Cols: nb, Stride: f.stride, Data: f.a[i*f.stride+j:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, -1, u, columns(c, i, ib), 0, x)
		if rest := j - i - ib; rest > 0 {
			u := blas64.General{Rows: ib, Cols: rest, Stride: f.stride, Data: f.a[i*f.stride+i+ib:]}
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, u, columns(c, i+ib, rest), 1, x)
		}
	}
	x := blas64.General{Rows: j, Cols: nb, Stride: f.stride, Data: f.a[j:]}
	blas64.Trsm(blas.Right, blas.Trans, 1, diagonal(f.triangle(), j, nb), x)
	for i := range j {
		for _, v := range x.Data[i*x.Stride : i*x.Stride+nb] {
			f.diag[i] += v * v
		}
	}
	for k := j; k < j+nb; k++ {
		f.invertRow(k, j)
	}
}
