package lda

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

// rotateIn adds the whitened example z, which counts n, to a class in primal form. rotateOut removes
// one.
func (c *covariance) rotateIn(m *member, z []float64, n float64) {
	k := m.weight
	m.count, m.weight = m.count+1, k+n
	floats.SubTo(c.centred(), z, m.mean)
	if k > 0 {
		c.rotate(0, c.x, c.weight*k*n/(k+n))
	}
	floats.SubTo(c.centred(), z, m.mean)
	m.mean = floats.AddScaledTo(make([]float64, c.dim), m.mean, n/(k+n), c.x[:c.dim])
}

func (c *covariance) rotateOut(m *member, z []float64, n float64) {
	k := m.weight
	if m.count--; m.count == 0 {
		m.weight = 0
		m.mean = make([]float64, c.dim)
		return
	}
	m.weight = k - n
	floats.SubTo(c.centred(), z, m.mean)
	m.mean = floats.AddScaledTo(make([]float64, c.dim), m.mean, -n/(k-n), c.x[:c.dim])
	c.rotate(0, c.x, -c.weight*k*n/(k-n))
}

// centred clears c.x, room for a row of U and one of V. It returns the d numbers of the row of U.
func (c *covariance) centred() []float64 {
	c.x = grow(c.x, c.stride())
	clear(c.x)
	return c.x[:c.dim]
}

// rotate changes U into the Cholesky factor of UᵀU + scale x xᵀ, and V with it. x is a row of U
// followed by a row of V; rotate overwrites it. The entries of x before from must be zero: U is
// changed from that row on. With y = √|scale| x and σ the sign of scale, it does for each row k
//
//	s = y_k/U_kk,  r = √(1 + σ s²):  U_k ← (U_k + σ s y)/r,  y ← r y - s U_k
//
// where the last U_k is the new one. Rows of V are changed as parts of the rows of U.
func (c *covariance) rotate(from int, x []float64, scale float64) {
	end := c.uRoom + len(c.members)
	sign := 1.0
	if scale < 0 {
		sign = -1
	}
	if scale != 1 {
		floats.Scale(math.Sqrt(math.Abs(scale)), x[:end])
	}
	left := 1.0 // of the determinant of UᵀU
	for k := from; k < c.n; k++ {
		row := c.row(k)[k:end]
		y := x[k:end]
		if y[0] == 0 {
			continue
		}
		s := y[0] / row[0]
		r2 := math.Max(1+sign*s*s, leastPivot)
		left *= r2
		r := math.Sqrt(r2)
		blas64.Axpy(sign*s, vector(y), vector(row))
		blas64.Scal(1/r, vector(row))
		blas64.Scal(r, vector(y))
		blas64.Axpy(-s, vector(row), vector(y))
	}
	c.worn = c.worn || left < leastLeft
}

// leastPivot bounds r² in rotate from below. Without rounding r² is positive, since A without an
// example is still at least I.
const leastPivot = 1e-12

// leastLeft is the least share of the determinant that rotate may leave. Below it about half of the
// digits are lost: an example far beyond all others was taken out.
const leastLeft = 1e-8

// construction is the state of a covariance that is made anew in pieces.
type construction struct {
	taught   []*class
	versions []uint64 // serial and count of each class; if one has changed, build begins again
	steps    []func() // the pieces that are still to do
}

// build makes the covariance anew, in pieces, until more returns false. It reports whether it has
// finished. If not, the next call goes on, or begins again if the classes have changed. A piece is
// the examples of at most 64 classes, or at most 64 rows of a matrix. Cost ρ² d + ρ³/3 +
// C ρ (d+ρ/2), or in primal form N d² + d³/3 + C d²/2.
func (c *covariance) build(taught []*class, primal bool, more func() bool) bool {
	versions := make([]uint64, 0, 2*len(taught))
	for _, k := range taught {
		versions = append(versions, k.serial, uint64(k.count()))
	}
	if c.making == nil || !slices.Equal(versions, c.making.versions) || !slices.Equal(taught, c.making.taught) {
		c.begin(taught, primal)
		c.making.versions = versions
	}
	for len(c.making.steps) > 0 {
		if !more() {
			return false
		}
		step := c.making.steps[0]
		c.making.steps = c.making.steps[1:]
		step()
	}
	c.making = nil
	return true
}

// begin clears the covariance and lists the pieces of building it anew.
func (c *covariance) begin(taught []*class, primal bool) {
	*c = covariance{weight: c.weight, dim: c.dim, anew: c.anew, primal: primal, index: map[*class]*member{}, making: &construction{taught: slices.Clone(taught)}}
	n := 0
	for _, k := range taught {
		n += k.count() - 1
	}
	c.means = make([]float64, 0, len(taught)*c.dim)
	if primal {
		n = c.dim
	} else {
		c.diff = make([]float64, 0, n*c.dim)
	}
	for some := range slices.Chunk(c.making.taught, pieceRows) {
		c.plan(func() {
			for _, k := range some {
				c.take(k)
			}
		})
	}
	c.plan(func() {
		c.reserve(n, len(c.members))
		c.n = n
		c.planRest()
	})
}

// take makes a class a member, with its examples.
func (c *covariance) take(k *class) {
	m := c.join(k)
	c.note(m)
	if c.primal || k.count() < 2 {
		return
	}
	m.begin()
	for i, id := range k.ids[1:] {
		c.of = append(c.of, rowOfClass{m, id, k.n[i+1]})
		c.diff = append(c.diff, k.row(i+1)...)
		floats.Sub(c.diff[len(c.diff)-c.dim:], m.origin)
	}
}

// planRest lists the pieces that follow once all classes are members: U, then V.
func (c *covariance) planRest() {
	n := c.n
	if n == 0 {
		return
	}
	if c.primal {
		c.planScatter()
	} else {
		c.planGram()
	}
	c.planFactor()
	for j, size := 0, piece(n*(c.dim+n/2)); j < len(c.members); j += size {
		end := min(j+size, len(c.members))
		c.plan(func() {
			t := blas64.General{Rows: end - j, Cols: n, Stride: n, Data: make([]float64, (end-j)*n)}
			c.imagesTo(t, rowsOf(c.meanRows(), j, end-j))
			for r := range t.Rows {
				for i, v := range rowOf(t, r) {
					c.row(i)[c.uRoom+j+r] = v
				}
			}
		})
	}
}

//
//go:noinline // some kilobytes less to download
func (c *covariance) plan(step func()) { c.making.steps = append(c.making.steps, step) }

// pieceRows is the largest number of rows in a piece, and pieceCost about the largest number of its
// multiply-adds. Between two pieces a program of one thread can do other things.
const pieceRows = 64

var pieceCost = 10_000_000

// piece returns the number of rows in a piece if each costs so many multiply-adds.
func piece(cost int) int { return max(1, min(pieceRows, pieceCost/max(1, cost))) }

// part returns a view of the block of U, rows×columns, that begins at (i, j).
func (c *covariance) part(i, j, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: c.stride(), Data: c.rows[i*c.stride()+j:]}
}

// planGram lists the pieces that store M in the place of U.
func (c *covariance) planGram() {
	n := c.n
	for i, size := 0, piece(n*c.dim); i < n; i += size {
		rows := min(size, n-i)
		c.plan(func() {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(c.differences(), i, rows), rowsOf(c.differences(), i, n-i), 0, c.part(i, i, rows, n-i))
			for r := i; r < i+rows; r++ {
				row := c.row(r)
				for s := r; s < n && c.of[s].member == c.of[r].member; s++ {
					row[s] += c.of[r].member.share / c.weight
				}
				row[r] += 1 / (c.of[r].n * c.weight)
			}
		})
	}
}

// planScatter lists the pieces that store A in the place of U.
func (c *covariance) planScatter() {
	c.plan(func() {
		for i := range c.dim {
			c.row(i)[i] = 1
		}
	})
	var all []asked
	for _, m := range c.members {
		for i := range m.count {
			all = append(all, asked{m.class, i})
		}
	}
	var centred blas64.General
	var data []float64
	for some := range slices.Chunk(all, pieceRows) {
		c.plan(func() {
			centred = matrix(&data, len(some), c.dim)
			for r, a := range some {
				row := rowOf(centred, r)
				floats.SubTo(row, a.of.row(a.at), c.index[a.of].mean)
				floats.Scale(math.Sqrt(a.of.n[a.at]), row)
			}
		})
		c.planProduct(0, c.weight, func() blas64.General { return centred })
	}
}

// planProduct lists the pieces that add scale xᵀx to the block of U from (first, first) on. x has at
// most pieceRows rows. Entries below the diagonal get no meaning.
func (c *covariance) planProduct(first int, scale float64, x func() blas64.General) {
	n := c.n - first
	for i, rows := 0, 0; i < n; i += rows {
		rows = min(n-i, max(1, pieceCost/(pieceRows*(n-i))))
		from, size := i, rows
		c.plan(func() {
			right := x()
			right.Data, right.Cols = right.Data[from:], n-from
			left := right
			left.Cols = size
			blas64.Gemm(blas.Trans, blas.NoTrans, scale, left, right, 1, c.part(first+from, first+from, size, n-from))
		})
	}
}

// planFactor lists the pieces that overwrite the matrix in the place of U by its Cholesky factor. A
// piece is a block of rows (Golub and Van Loan, Matrix Computations, section 4.2.6).
func (c *covariance) planFactor() {
	for i := 0; i < c.n; i += pieceRows {
		rows := min(pieceRows, c.n-i)
		rest := c.n - i - rows
		c.plan(func() {
			u := niw.Factorise(blas64.Symmetric{Uplo: blas.Upper, N: rows, Stride: c.stride(), Data: c.rows[i*c.stride()+i:]})
			for r := i; r < i+rows; r++ {
				clear(c.row(r)[:r])
			}
			if rest > 0 {
				blas64.Trsm(blas.Left, blas.Trans, 1, u, c.part(i, i+rows, rows, rest))
			}
		})
		c.planProduct(i+rows, -1, func() blas64.General { return c.part(i, i+rows, rows, rest) })
	}
}

// reserve makes room for U of order n and V of the given number of columns.
func (c *covariance) reserve(n, columns int) {
	if n <= c.uRoom && columns <= c.vRoom && n*c.stride() <= len(c.rows) {
		return
	}
	u, v := c.uRoom, c.vRoom
	if n > u {
		u = n
		if !c.primal {
			u = n + n/4 + 8
		}
	}
	if columns > v {
		v = columns + columns/4 + 4
	}
	rows := make([]float64, u*(u+v))
	for k := range c.n {
		old := c.row(k)
		copy(rows[k*(u+v):], old[:c.uRoom])
		copy(rows[k*(u+v)+u:], old[c.uRoom:])
	}
	c.rows, c.uRoom, c.vRoom = rows, u, v
}

// room returns n numbers of scratch space.
func (c *covariance) room(n int) []float64 {
	c.work = grow(c.work, n)
	return c.work
}

// grow returns a slice of length n with any content. It is x if x has room.
//
//go:noinline // some kilobytes less to download
func grow(x []float64, n int) []float64 { return slices.Grow(x[:0], n)[:n] }
