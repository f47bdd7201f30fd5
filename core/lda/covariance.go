package lda

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// covariance is the scale matrix that all classes of a session share, in whitened coordinates. It
// adds the scatter of each class about its own mean x̄_j. Example i counts n_i (see [bursts]):
//
//	A = I + w Σ_j Σ_{i in j} n_i (x_i - x̄_j)(x_i - x̄_j)ᵀ,   x̄_j = Σ n_i x_i / K_j,   K_j = Σ n_i
//
// It is stored as the Cholesky factor U of the smaller of two matrices. D has ρ = N-C rows x_i - x_b:
// b is one example of each class, and i any other one. Then
//
//	ρ < d    A⁻¹ = I - Dᵀ M⁻¹ D,   M = (N⁻¹ + E)/w + D Dᵀ = Uᵀ U
//	else     A = Uᵀ U
//
// where N has n_i on its diagonal, and an entry of E is 1/n_b if both rows are of one class, else
// zero. The scatter of a class is D_jᵀ (N⁻¹ + 11ᵀ/n_b)⁻¹ D_j for any b. With U it stores V, the
// images of the class means, which are the rows of W̄:
//
//	ρ < d    V = U⁻ᵀ D W̄ᵀ,   x̄_jᵀ A⁻¹ x̄_k = x̄_jᵀ x̄_k - (VᵀV)_jk
//	else     V = U⁻ᵀ W̄ᵀ,     x̄_jᵀ A⁻¹ x̄_k = (VᵀV)_jk
//
// Adding or removing an example adds or removes a row of U, or rotates U, and changes V likewise.
// It costs O(n(n+C)) for U of order n, and is exact up to rounding.
type covariance struct {
	weight float64
	dim    int
	primal bool // A itself is factorised

	n        int       // order of U
	rows     []float64 // row k: room for a row of U, then a row of V
	uRoom    int
	vRoom    int
	diff     []float64 // D, n×d; empty if primal
	of       []rowOfClass
	members  []*member // one for each column of V
	index    map[*class]*member
	means    []float64     // W̄, C×d
	making   *construction // nil when done
	changing bool          // some of the changes are taken in, by update
	lent     bool          // rows, diff and means are shared with a clone, see own
	worn     bool          // rotate has lost digits: update makes U anew
	anew     int           // up to this order of U plus half the classes, each change makes U anew, so its bits do not depend on the history
	x, work  []float64
}

// rowOfClass tells which example a row of D is of, and what it counts.
type rowOfClass struct {
	member *member
	id     uint64
	n      float64
}

// member is a class as the covariance knows it.
type member struct {
	class  *class
	column int
	count  int       // examples
	weight float64   // K_j, what they count together
	mean   []float64 // of the examples, a new slice at each change; only the primal form keeps it from change to change
	base   uint64    // the example that differences are taken from, 0 for none
	origin []float64 // that example
	share  float64   // 1/n of that example
	stale  bool      // a change has begun: the rows of U, or in primal form count, weight and mean, may be newer than V
}

// newCovariance returns A = I.
func newCovariance(weight float64, d int) *covariance {
	return &covariance{weight: weight, dim: d, anew: 64, index: map[*class]*member{}}
}

func (c *covariance) stride() int { return c.uRoom + c.vRoom }

//go:noinline // some kilobytes less to download
func (c *covariance) row(k int) []float64 { return c.rows[k*c.stride() : (k+1)*c.stride()] }

//go:noinline // some kilobytes less to download
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

//go:noinline // some kilobytes less to download
func (c *covariance) differences() blas64.General {
	return blas64.General{Rows: c.n, Cols: c.dim, Stride: c.dim, Data: c.diff}
}

//go:noinline // some kilobytes less to download
func (c *covariance) meanRows() blas64.General {
	return blas64.General{Rows: len(c.members), Cols: c.dim, Stride: c.dim, Data: c.means}
}

// imageTo stores the image of z, U⁻ᵀ D z or U⁻ᵀ z, in dst of length n. Cost n d + n²/2,
// or d²/2.
func (c *covariance) imageTo(dst, z []float64) {
	if c.n == 0 {
		return
	}
	if c.primal {
		copy(dst, z)
	} else {
		gemv(c.differences(), z, dst)
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
		gemv(c.meanRows(), z, dst)
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
//
//go:noinline // some kilobytes less to download
func (c *covariance) inner(x, tx, y, ty []float64) float64 {
	if c.primal {
		return inner(tx, ty)
	}
	return inner(x, y) - inner(tx, ty)
}

// update brings the covariance up to date with the examples of the classes. It changes the factor
// example by example, or makes it anew if that is less work or if an example far out has gone. It
// reports false if more returned false before the end: then only update may be called next.
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
			changes += m.pending()
		}
	}
	for _, m := range c.members {
		if !stay[m.class] {
			changes += max(1, m.count) // 0 if a join stopped early
		}
	}
	if changes == 0 {
		c.changing = false
		return true
	}
	primal := c.primalFor(taught)
	if primal != c.primal || !c.changing && c.n+len(c.members)/2 <= c.anew || changes > 8+c.n/4 {
		c.changing = false
		return c.build(taught, primal, more)
	}
	c.changing = true
	if c.lent {
		if !more() {
			return false
		}
		c.own()
	}
	for j := len(c.members) - 1; j >= 0; j-- {
		if m := c.members[j]; !stay[m.class] {
			if !c.leave(m, more) {
				return false
			}
		}
	}
	for _, k := range taught {
		m := c.index[k]
		if m != nil && m.pending() == 0 {
			continue
		}
		if m == nil {
			m = c.join(k)
		}
		if !c.updateMember(m, more) {
			return false
		}
	}
	c.changing = false
	return !c.worn || c.build(taught, primal, more)
}

// primalFor reports whether to use the primal form: the smaller form is used. A large primal form is kept
// until the other form is much smaller.
func (c *covariance) primalFor(taught []*class) bool {
	rho := 0
	for _, k := range taught {
		rho += k.count() - 1
	}
	return rho >= c.dim || c.primal && c.n+len(c.members)/2 > c.anew && rho >= 3*c.dim/4
}

// pending returns the number of changes of the class that the covariance has not taken in. It is at
// least 1 while the member is stale.
func (m *member) pending() int {
	n := len(m.class.gone) + m.class.freshCount()
	if m.stale {
		return max(1, n)
	}
	return n
}

// baseGone reports whether the example that differences are taken from was removed.
func (m *member) baseGone() bool {
	return slices.ContainsFunc(m.class.gone, func(g gone) bool { return g.id == m.base })
}

// join gives a class a column of V.
func (c *covariance) join(k *class) *member {
	m := &member{class: k, column: len(c.members), mean: make([]float64, c.dim)}
	k.seen, k.ahead, k.gone = 0, nil, nil
	c.index[k] = m
	c.members = append(c.members, m)
	c.means = append(c.means, m.mean...)
	c.reserve(c.n, len(c.members))
	return m
}

// leave takes a class out with all its examples while more returns true. It reports whether it has
// finished.
func (c *covariance) leave(m *member, more func() bool) bool {
	k := m.class
	if c.primal {
		for i, id := range k.ids {
			if k.saw(id) {
				k.gone = append(k.gone, gone{id, slices.Clone(k.row(i)), k.n[i]})
			}
		}
		k.seen, k.ahead = 0, nil
		if !c.rotateGone(m, more) {
			return false
		}
	} else if !more() {
		return false
	} else {
		c.deleteRowsOf(m)
	}
	k.seen, k.ahead, k.gone = 0, nil, nil
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
	return true
}

// rotateGone takes out the examples that a class no longer has, while more returns true. It reports
// whether it has finished.
func (c *covariance) rotateGone(m *member, more func() bool) bool {
	for k := m.class; len(k.gone) > 0; k.gone = k.gone[1:] {
		if !more() {
			return false
		}
		c.rotateOut(m, k.gone[0].z, k.gone[0].n)
	}
	return true
}

// updateMember takes in the changes of one class while more returns true. It reports whether it has
// finished.
func (c *covariance) updateMember(m *member, more func() bool) bool {
	k := m.class
	m.stale = true
	if !c.primal {
		if !c.followRows(m, more) {
			return false
		}
	} else {
		if !c.rotateGone(m, more) {
			return false
		}
		for i, id := range k.ids {
			if k.saw(id) {
				continue
			}
			if !more() {
				return false
			}
			c.rotateIn(m, k.row(i), k.n[i])
			k.ahead = append(k.ahead, id)
		}
	}
	c.note(m)
	t := c.room(c.n)
	c.imageTo(t, c.mean(m.column))
	for i, v := range t {
		c.row(i)[c.uRoom+m.column] = v
	}
	return true
}

// note records that the covariance has the examples of a class, and their mean.
func (c *covariance) note(m *member) {
	k := m.class
	mean := c.mean(m.column)
	k.meanTo(mean)
	m.mean = slices.Clone(mean)
	m.count, m.weight = k.count(), k.weight()
	k.seen, k.ahead, k.gone = k.serial, nil, nil
	m.stale = false
}

// followRows makes the rows of D those of the class while more returns true. It reports whether it
// has finished.
func (c *covariance) followRows(m *member, more func() bool) bool {
	k := m.class
	if m.base != 0 && (m.baseGone() || k.count() < 2) {
		if !more() {
			return false
		}
		c.deleteRowsOf(m)
	}
	for ; len(k.gone) > 0; k.gone = k.gone[1:] {
		if r := slices.Index(c.of, rowOfClass{m, k.gone[0].id, k.gone[0].n}); r >= 0 {
			if !more() {
				return false
			}
			c.deleteRow(r)
		}
	}
	if k.count() < 2 {
		return true
	}
	if m.base == 0 {
		m.begin()
		k.seen, k.ahead = 0, []uint64{m.base} // no other has a row
	}
	for i, id := range k.ids {
		if k.saw(id) {
			continue
		}
		if !more() {
			return false
		}
		c.appendRow(rowOfClass{m, id, k.n[i]}, k.row(i))
		k.ahead = append(k.ahead, id)
	}
	return true
}

// begin takes differences from the first example from now on.
func (m *member) begin() {
	m.base, m.origin, m.share = m.class.ids[0], slices.Clone(m.class.row(0)), 1/m.class.n[0]
}

func (c *covariance) deleteRowsOf(m *member) {
	for r := c.n - 1; r >= 0; r-- {
		if c.of[r].member == m {
			c.deleteRow(r)
		}
	}
	m.base, m.origin = 0, nil
}

// appendRow adds the difference of an example. M is at least N⁻¹/w, so the square of the new
// diagonal entry of U is at least 1/(n_i w). Only rounding goes below.
func (c *covariance) appendRow(new rowOfClass, x []float64) {
	n, m := c.n, new.member
	c.reserve(n+1, len(c.members))
	c.diff = append(c.diff, x...)
	d := c.diff[n*c.dim:]
	floats.Sub(d, m.origin)
	l := c.room(n)
	gemv(c.differences(), d, l)
	for r, of := range c.of {
		if of.member == m {
			l[r] += m.share / c.weight
		}
	}
	if n > 0 {
		blas64.Trsv(blas.Trans, c.factor(), vector(l))
	}
	c.x = grow(c.x, len(c.members))
	v := c.x
	c.innerDifference(v, d, l)
	own := 1 / (new.n * c.weight)
	diagonal := math.Sqrt(math.Max(own+m.share/c.weight+squaredNorm(d)-squaredNorm(l), own))
	for r, s := range l {
		c.row(r)[n] = s
	}
	c.n, c.of = n+1, append(c.of, new)
	last := c.row(n)
	clear(last)
	last[n] = diagonal
	for j, s := range v {
		last[c.uRoom+j] = s / diagonal
	}
}

// innerDifference stores W̄ d - Vᵀ l in dst.
func (c *covariance) innerDifference(dst, d, l []float64) {
	gemv(c.meanRows(), d, dst)
	if c.n > 0 {
		blas64.Gemv(blas.Trans, -1, c.images(), vector(l), 1, vector(dst))
	}
}

// deleteRow takes row r out of D. The part of the factor below row r is updated by that row.
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
