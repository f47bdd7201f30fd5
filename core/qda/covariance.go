package qda

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// covariance is the scale matrix that all classes of a session share, in whitened
// coordinates, with the scatter of each class about its own mean x̄_j:
//
//	A = I + w Σ_j Σ_{i in j} (x_i - x̄_j)(x_i - x̄_j)ᵀ
//
// It is kept as the Cholesky factor U of the smaller of two matrices. With D the ρ rows
// x_i - x_b, b any one example of the class of i and i all others,
//
//	ρ < d    A⁻¹ = I - Dᵀ M⁻¹ D,   M = (I + E)/w + D Dᵀ = Uᵀ U
//	else     A = Uᵀ U
//
// where E is one if both rows are of one class, else zero: the scatter of K examples is
// D_jᵀ (I + 11ᵀ)⁻¹ D_j whichever of them the differences are taken from. Beside U stand
// the images of the class means, the rows of W̄,
//
//	ρ < d    V = U⁻ᵀ D W̄ᵀ,   x̄_jᵀ A⁻¹ x̄_k = x̄_jᵀ x̄_k - (VᵀV)_jk
//	else     V = U⁻ᵀ W̄ᵀ,     x̄_jᵀ A⁻¹ x̄_k = (VᵀV)_jk
//
// An example more or less is a row more or less of U, or a rotation of U, and the same
// of V: O(n(n+C)) for U of order n, in which nothing is lost but rounding.
type covariance struct {
	weight float64
	dim    int
	primal bool // A itself is factorised

	n       int       // order of U
	rows    []float64 // row k: room for a row of U, then a row of V
	uRoom   int
	vRoom   int
	diff    []float64 // D, n×d; empty if primal
	of      []rowOfClass
	members []*member // one for each column of V
	index   map[*class]*member
	means   []float64     // W̄, C×d
	making  *construction // nil when done
	anew    int           // while the order of U and half the classes are at most this, U is always made anew: its bits then depend on the examples and their order alone
	x, work []float64
}

// rowOfClass tells which example a row of D is of.
type rowOfClass struct {
	member *member
	id     uint64
}

// member is a class as the covariance knows it.
type member struct {
	class  *class
	column int
	count  int       // examples
	mean   []float64 // of these; in primal form alone kept from change to change
	base   uint64    // the example that differences are taken from, 0 for none
	origin []float64 // that example
}

// newCovariance returns A = I.
func newCovariance(weight float64, d int) *covariance {
	return &covariance{weight: weight, dim: d, anew: 64, index: map[*class]*member{}}
}

func (c *covariance) stride() int         { return c.uRoom + c.vRoom }
func (c *covariance) row(k int) []float64 { return c.rows[k*c.stride() : (k+1)*c.stride()] }
func (c *covariance) mean(j int) []float64 {
	return c.means[j*c.dim : (j+1)*c.dim]
}

func (c *covariance) factor() blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: c.n, Stride: max(1, c.stride()), Data: c.rows}
}

// images returns V.
func (c *covariance) images() blas64.General {
	return blas64.General{Rows: c.n, Cols: len(c.members), Stride: max(1, c.stride()), Data: c.rows[min(c.uRoom, len(c.rows)):]}
}

func (c *covariance) differences() blas64.General {
	return blas64.General{Rows: c.n, Cols: c.dim, Stride: c.dim, Data: c.diff}
}

func (c *covariance) meanRows() blas64.General {
	return blas64.General{Rows: len(c.members), Cols: c.dim, Stride: c.dim, Data: c.means}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// imageTo stores the image of z, U⁻ᵀ D z or U⁻ᵀ z, in dst of length n. Cost n d + n²/2,
// or d²/2.
func (c *covariance) imageTo(dst, z []float64) {
	if c.n == 0 {
		return
	}
	if c.primal {
		copy(dst, z)
	} else {
		gemv(c.differences(), z, 0, dst)
	}
	blas64.Trsv(blas.Trans, c.factor(), vector(dst))
}

// imagesTo is imageTo for the rows of z, in the rows of dst.
func (c *covariance) imagesTo(dst, z blas64.General) {
	if c.n == 0 || z.Rows == 0 {
		return
	}
	if c.primal {
		for i := range z.Rows {
			copy(rowOf(dst, i), rowOf(z, i))
		}
	} else {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, z, c.differences(), 0, dst)
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, c.factor(), dst)
}

// innerTo stores zᵀ A⁻¹ x̄_j in dst for every class, given the image t of z. Cost
// C (d+n), or C d.
func (c *covariance) innerTo(dst, z, t []float64) {
	clear(dst)
	if !c.primal {
		gemv(c.meanRows(), z, 0, dst)
	}
	if c.n > 0 && len(dst) > 0 {
		sign := -1.0
		if c.primal {
			sign = 1
		}
		blas64.Gemv(blas.Trans, sign, c.images(), vector(t), 1, vector(dst))
	}
}

// inner returns xᵀ A⁻¹ y, given both images.
func (c *covariance) inner(x, tx, y, ty []float64) float64 {
	if c.primal {
		return inner(tx, ty)
	}
	return inner(x, y) - inner(tx, ty)
}

// update brings the covariance to the examples that the classes have now, by changing
// it or, where that is more work, by making it anew. It reports false where more said
// that it is enough for now; nothing else may be asked of it then.
func (c *covariance) update(taught []*class, more func() bool) bool {
	if c.making != nil {
		return c.build(taught, c.primalFor(taught), more)
	}
	changes := 0
	stay := make(map[*class]bool, len(taught))
	for _, k := range taught {
		stay[k] = true
		switch m := c.index[k]; {
		case m == nil:
			changes += k.count()
		case !c.primal && m.baseGone():
			changes += m.count + k.count()
		default:
			changes += len(k.gone) + k.freshCount()
		}
	}
	for _, m := range c.members {
		if !stay[m.class] {
			changes += m.count
		}
	}
	if changes == 0 {
		return true
	}
	primal := c.primalFor(taught)
	if primal != c.primal || c.n+len(c.members)/2 <= c.anew || changes > 8+c.n/4 {
		return c.build(taught, primal, more)
	}
	for j := len(c.members) - 1; j >= 0; j-- {
		if m := c.members[j]; !stay[m.class] {
			c.leave(m)
		}
	}
	for _, k := range taught {
		m := c.index[k]
		if m == nil {
			m = c.join(k)
		}
		if len(k.gone) > 0 || k.freshCount() > 0 {
			c.follow(m)
		}
	}
	return true
}

// primalFor tells which form serves: the smaller one; once in primal form it stays there
// until the other is much smaller.
func (c *covariance) primalFor(taught []*class) bool {
	rho := 0
	for _, k := range taught {
		rho += k.count() - 1
	}
	return rho >= c.dim || c.primal && rho >= 3*c.dim/4
}

// baseGone tells whether the example that differences are taken from was removed.
func (m *member) baseGone() bool {
	return slices.ContainsFunc(m.class.gone, func(g gone) bool { return g.id == m.base })
}

// join gives a class a column of V.
func (c *covariance) join(k *class) *member {
	m := &member{class: k, column: len(c.members), mean: make([]float64, c.dim)}
	k.seen, k.gone = 0, nil
	c.index[k] = m
	c.members = append(c.members, m)
	c.means = append(c.means, m.mean...)
	c.reserve(c.n, len(c.members))
	return m
}

// leave takes a class out with all its examples.
func (c *covariance) leave(m *member) {
	k := m.class
	if c.primal {
		for i, id := range k.ids {
			if id <= k.seen {
				k.gone = append(k.gone, gone{id, slices.Clone(k.row(i))})
			}
		}
		for _, g := range k.gone {
			c.rotateOut(m, g.z)
		}
	} else {
		c.deleteRowsOf(m)
	}
	k.seen, k.gone = 0, nil
	last := len(c.members) - 1
	end := c.members[last]
	copy(c.mean(m.column), c.mean(last))
	for i := range c.n {
		v := c.row(i)[c.uRoom:]
		v[m.column], v[last] = v[last], 0
	}
	c.members[m.column], end.column = end, m.column
	c.members, c.means = c.members[:last], c.means[:last*c.dim]
	delete(c.index, k)
}

// follow takes in what changed in one class.
func (c *covariance) follow(m *member) {
	k := m.class
	if c.primal {
		for _, g := range k.gone {
			c.rotateOut(m, g.z)
		}
		for i, id := range k.ids {
			if id > k.seen {
				c.rotateIn(m, k.row(i))
			}
		}
	} else {
		c.followRows(m)
	}
	c.note(m)
	t := c.room(c.n)
	c.imageTo(t, c.mean(m.column))
	for i, v := range t {
		c.row(i)[c.uRoom+m.column] = v
	}
}

// note writes down that the covariance has the examples of a class, and their mean.
func (c *covariance) note(m *member) {
	k := m.class
	mean := c.mean(m.column)
	posteriorMean(mean, k.w, 0)
	copy(m.mean, mean)
	m.count, k.seen, k.gone = k.count(), k.serial, nil
}

// followRows makes the rows of D those of the class.
func (c *covariance) followRows(m *member) {
	k := m.class
	if m.base != 0 && (m.baseGone() || k.count() < 2) {
		c.deleteRowsOf(m)
	}
	for _, g := range k.gone {
		if r := slices.Index(c.of, rowOfClass{m, g.id}); r >= 0 {
			c.deleteRow(r)
		}
	}
	if k.count() < 2 {
		return
	}
	all := m.base == 0
	if all {
		m.base, m.origin = k.ids[0], slices.Clone(k.row(0))
	}
	for i, id := range k.ids {
		if id != m.base && (all || id > k.seen) {
			c.appendRow(m, id, k.row(i))
		}
	}
}

func (c *covariance) deleteRowsOf(m *member) {
	for r := c.n - 1; r >= 0; r-- {
		if c.of[r].member == m {
			c.deleteRow(r)
		}
	}
	m.base, m.origin = 0, nil
}

// appendRow adds the difference of an example. M stays above (I+E)/w, hence the bound
// of what is left of its diagonal, which only rounding goes below.
func (c *covariance) appendRow(m *member, id uint64, x []float64) {
	n := c.n
	c.reserve(n+1, len(c.members))
	c.diff = append(c.diff, x...)
	d := c.diff[n*c.dim:]
	floats.Sub(d, m.origin)
	l := c.room(n)
	gemv(c.differences(), d, 0, l)
	for r, of := range c.of {
		if of.member == m {
			l[r] += 1 / c.weight
		}
	}
	if n > 0 {
		blas64.Trsv(blas.Trans, c.factor(), vector(l))
	}
	c.x = grow(c.x, len(c.members))
	v := c.x
	c.innerDifference(v, d, l)
	diagonal := math.Sqrt(math.Max(2/c.weight+squaredNorm(d)-squaredNorm(l), 1/c.weight))
	for r, s := range l {
		c.row(r)[n] = s
	}
	c.n, c.of = n+1, append(c.of, rowOfClass{m, id})
	last := c.row(n)
	clear(last)
	last[n] = diagonal
	for j, s := range v {
		last[c.uRoom+j] = s / diagonal
	}
}

// innerDifference stores W̄ d - Vᵀ l in dst.
func (c *covariance) innerDifference(dst, d, l []float64) {
	gemv(c.meanRows(), d, 0, dst)
	if c.n > 0 {
		blas64.Gemv(blas.Trans, -1, c.images(), vector(l), 1, vector(dst))
	}
}

// deleteRow takes the r-th row out of D: the factor of what is below it has to make up
// for what the row explained.
func (c *covariance) deleteRow(r int) {
	x := append([]float64(nil), c.row(r)...)
	copy(x[r:], x[r+1:c.n])
	x[c.n-1] = 0
	for k := range c.n {
		row := c.row(k)
		copy(row[r:], row[r+1:c.n])
		row[c.n-1] = 0
	}
	s := c.stride()
	copy(c.rows[r*s:], c.rows[(r+1)*s:c.n*s])
	c.diff = slices.Delete(c.diff, r*c.dim, (r+1)*c.dim)
	c.of = slices.Delete(c.of, r, r+1)
	c.n--
	c.rotate(r, x, 1)
}

// rotateIn adds an example of a class, and rotateOut removes one.
func (c *covariance) rotateIn(m *member, z []float64) {
	k := float64(m.count)
	m.count++
	floats.SubTo(c.centred(), z, m.mean)
	if k > 0 {
		c.rotate(0, c.x, c.weight*k/(k+1))
	}
	floats.SubTo(c.centred(), z, m.mean)
	floats.AddScaled(m.mean, 1/(k+1), c.x[:c.dim])
}

func (c *covariance) rotateOut(m *member, z []float64) {
	k := float64(m.count)
	if m.count--; m.count == 0 {
		clear(m.mean)
		return
	}
	floats.SubTo(c.centred(), z, m.mean)
	floats.AddScaled(m.mean, -1/(k-1), c.x[:c.dim])
	c.rotate(0, c.x, -c.weight*k/(k-1))
}

// centred returns room for a row of U and of V in which the latter is zero.
func (c *covariance) centred() []float64 {
	c.x = grow(c.x, c.stride())
	clear(c.x)
	return c.x[:c.dim]
}

// rotate makes UᵀU + scale x xᵀ of UᵀU from row k on, x being a row of U and of V, and
// of UᵀV what belongs to it. It overwrites x.
//
//	ρ² = U_kk² + x_k²,  c = ρ/U_kk,  s = x_k/U_kk:  U_k ← (U_k + s x)/c,  x ← c x - s U_k
//
// with x scaled by √|scale|, and with -s in the first for a negative scale.
func (c *covariance) rotate(from int, x []float64, scale float64) {
	end := c.uRoom + len(c.members)
	sign := 1.0
	if scale < 0 {
		sign = -1
	}
	if scale != 1 {
		floats.Scale(math.Sqrt(math.Abs(scale)), x[:end])
	}
	for k := from; k < c.n; k++ {
		row := c.row(k)[k:end]
		y := x[k:end]
		if y[0] == 0 {
			continue
		}
		s := y[0] / row[0]
		r := math.Sqrt(math.Max(1+sign*s*s, leastPivot))
		blas64.Axpy(sign*s, vector(y), vector(row))
		blas64.Scal(1/r, vector(row))
		blas64.Scal(r, vector(y))
		blas64.Axpy(-s, vector(row), vector(y))
	}
}

// leastPivot keeps a rotation out of the factor real whatever rounding does: A without
// an example is above I, and U_kk² at most what its examples make of it.
const leastPivot = 1e-12

// construction is a covariance that is being made anew, in pieces.
type construction struct {
	versions []int // of the classes, all but the examples of which it has seen
	steps    []func()
}

// build makes the covariance anew, as long as more says so, and reports whether it is
// done; a later call goes on unless the classes have changed. Cost ρ² d + ρ³/3 +
// C ρ (d+ρ/2), or N d² + d³/3 + C d²/2.
func (c *covariance) build(taught []*class, primal bool, more func() bool) bool {
	versions := make([]int, 0, 2*len(taught))
	for _, k := range taught {
		versions = append(versions, k.version, k.count())
	}
	if c.making == nil || !slices.Equal(versions, c.making.versions) || !c.isOf(taught) {
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

// isOf tells whether the members are these classes.
func (c *covariance) isOf(taught []*class) bool {
	return slices.EqualFunc(c.members, taught, func(m *member, k *class) bool { return m.class == k })
}

// begin lists what is to be done.
func (c *covariance) begin(taught []*class, primal bool) {
	*c = covariance{weight: c.weight, dim: c.dim, anew: c.anew, primal: primal, index: map[*class]*member{}, making: &construction{}}
	for _, k := range taught {
		m := c.join(k)
		c.note(m)
		if !primal && k.count() > 1 {
			m.base, m.origin = k.ids[0], slices.Clone(k.row(0))
			for i, id := range k.ids[1:] {
				c.of = append(c.of, rowOfClass{m, id})
				c.diff = append(c.diff, k.row(i+1)...)
				floats.Sub(c.diff[len(c.diff)-c.dim:], m.origin)
			}
		}
	}
	n := len(c.of)
	if primal {
		n = c.dim
	}
	c.reserve(n, len(c.members))
	if c.n = n; n == 0 {
		return
	}
	if primal {
		c.planScatter()
	} else {
		c.planGram()
	}
	c.planFactor()
	for j := 0; j < len(c.members); j += pieceRows {
		end := min(j+pieceRows, len(c.members))
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

func (c *covariance) plan(step func()) { c.making.steps = append(c.making.steps, step) }

// pieceRows are worked on between two calls of more.
const pieceRows = 64

// part returns rows by columns of U's place from (i, j) on.
func (c *covariance) part(i, j, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: c.stride(), Data: c.rows[i*c.stride()+j:]}
}

// planGram makes M in the place of U.
func (c *covariance) planGram() {
	n := c.n
	for i := 0; i < n; i += pieceRows {
		rows := min(pieceRows, n-i)
		c.plan(func() {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(c.differences(), i, rows), rowsOf(c.differences(), i, n-i), 0, c.part(i, i, rows, n-i))
			for r := i; r < i+rows; r++ {
				row := c.row(r)
				for s := r; s < n && c.of[s].member == c.of[r].member; s++ {
					row[s] += 1 / c.weight
				}
				row[r] += 1 / c.weight
			}
		})
	}
}

// planScatter makes A in the place of U.
func (c *covariance) planScatter() {
	a := blas64.Symmetric{Uplo: blas.Upper, N: c.dim, Stride: c.stride(), Data: c.rows}
	c.plan(func() {
		for i := range c.dim {
			a.Data[i*a.Stride+i] = 1
		}
	})
	for _, m := range c.members {
		for i := 0; i < m.count; i += pieceRows {
			rows := min(pieceRows, m.count-i)
			c.plan(func() {
				centred := blas64.General{Rows: rows, Cols: c.dim, Stride: c.dim, Data: make([]float64, 0, rows*c.dim)}
				for r := range rows {
					centred.Data = append(centred.Data, m.class.row(i+r)...)
					floats.Sub(centred.Data[r*c.dim:], m.mean)
				}
				blas64.Syrk(blas.Trans, c.weight, centred, 1, a)
			})
		}
	}
}

// planFactor makes U of what is in its place, a block of rows at a time (Golub and Van
// Loan, Matrix Computations, section 4.2.6).
func (c *covariance) planFactor() {
	for i := 0; i < c.n; i += pieceRows {
		rows := min(pieceRows, c.n-i)
		rest := c.n - i - rows
		c.plan(func() {
			block := blas64.Symmetric{Uplo: blas.Upper, N: rows, Stride: c.stride(), Data: c.rows[i*c.stride()+i:]}
			u, ok := lapack64.Potrf(block)
			if !ok {
				panic("qda: scale matrix of finite examples not positive definite")
			}
			for r := i; r < i+rows; r++ {
				clear(c.row(r)[:r])
			}
			if rest == 0 {
				return
			}
			right := c.part(i, i+rows, rows, rest)
			blas64.Trsm(blas.Left, blas.Trans, 1, u, right)
			blas64.Syrk(blas.Trans, -1, right, 1, blas64.Symmetric{Uplo: blas.Upper, N: rest, Stride: c.stride(), Data: c.rows[(i+rows)*(c.stride()+1):]})
		})
	}
}

// reserve makes room for U of order n and V of so many columns.
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

// grow returns a slice of length n, x where that has room.
func grow(x []float64, n int) []float64 { return slices.Grow(x[:0], n)[:n] }
