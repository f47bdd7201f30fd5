package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

// class is one taught class: its whitened examples and what follows from them. An
// example is a burst, most often of one picture.
type class struct {
	label   string
	weight  float64        // p(y=j) up to normalisation
	bursts                 // which picture is in which example
	w       blas64.General // K×d whitened examples in the order they were begun
	b       blas64.General // K×r their partners, for queries whitened in part
	group   niw.Group      // low-rank posterior, kept while K < d
	later   bool           // examples beyond the first ones wait for catchUp
	version int            // counts changes of the examples
	stale   bool           // the dense posterior does not match w or δ
	dense   *niw.Scatter   // dense posterior, used while K >= d
	mean    []float64      // whitened posterior mean, for the dense form
	cross   []float64      // scratch: W z, length K

	shared bool     // the scale matrix is that of a [covariance]: no posterior of its own is kept
	ids    []uint64 // of the examples, what a [covariance] knows them by
	serial uint64   // the last id that was given
	seen   uint64   // the covariance has those up to this one
	gone   []gone   // of these, those that are no longer there

	slope, offset float64 // u = slope e + offset, by [Classifier.settle]
}

// gone is an example that a class no longer has.
type gone struct {
	id uint64
	z  []float64
}

// freshCount returns the number of examples that no covariance has seen.
func (c *class) freshCount() (n int) {
	for _, id := range c.ids {
		if id > c.seen {
			n++
		}
	}
	return n
}

// identify gives the example at place i an id.
func (c *class) identify(i int) {
	c.serial++
	c.ids[i] = c.serial
}

// forget notes that the example at place i is about to go.
func (c *class) forget(i int) {
	if c.ids[i] <= c.seen {
		c.gone = append(c.gone, gone{c.ids[i], slices.Clone(c.row(i))})
	}
}

// point is a whitened point w, whole or in part; see [niw.Prior.WhitenPartTo].
type point struct {
	z     []float64 // d: the whitened point, or y
	a     []float64 // r, or nil if z is whole
	r2    float64   // |w|²
	along float64   // wᵀδ, δ that of the session's [centre]
}

func newClass(label string, prior niw.Posterior, rank int, near float64) *class {
	c := &class{label: label, weight: 1, bursts: bursts{near: near}}
	c.w = blas64.General{Cols: prior.Dim, Stride: prior.Dim}
	c.b = blas64.General{Cols: rank, Stride: rank}
	c.group.ResetFrom(prior)
	return c
}

func (c *class) count() int { return c.w.Rows }

// touch notes that the examples have changed.
func (c *class) touch() {
	c.stale = true
	c.version++
}

// lowRank tells which of the two forms serves: the smaller one.
func (c *class) lowRank() bool { return c.w.Rows < c.w.Cols }

// insert makes the whitened v, of length d, the i-th example. Cost O((K+r) d), and
// that of [niw.Group.Insert].
func (c *class) insert(i int, v []float64, p *niw.Prior) {
	insertRow(&c.w, i, v)
	if c.b.Cols > 0 {
		insertRow(&c.b, i, nil)
		p.PartnerTo(rowOf(c.b, i), v)
	}
	c.cross = append(c.cross, 0)
	c.ids = slices.Insert(c.ids, i, 0)
	c.identify(i)
	c.touch()
	if c.lowRank() && !c.shared && !(c.later && c.group.Len() >= oneByOne) {
		c.group.Insert(i, c.products(i, c.w.Rows))
	}
}

// replace changes the i-th example to v. Cost as for [class.insert].
func (c *class) replace(i int, v []float64, p *niw.Prior) {
	c.forget(i)
	copy(c.row(i), v)
	c.identify(i)
	if c.b.Cols > 0 {
		p.PartnerTo(rowOf(c.b, i), v)
	}
	c.touch()
	if c.lowRank() && !c.shared && i < c.group.Len() {
		c.group.Replace(i, c.products(i, c.group.Len()))
	}
}

const (
	// oneByOne examples enter the posterior one by one even where many come
	// together, so that its bits do not depend on it; see [niw.Group.AppendRows].
	oneByOne = 256

	// productRows are the rows of a block of inner products.
	productRows = 64
)

// together takes in the changes that add makes, many examples at once.
func (c *class) together(add func()) {
	c.later = true
	add()
	c.later = false
	if c.lowRank() && !c.shared {
		c.catchUp()
	}
}

// catchUp takes the last examples into the low-rank posterior.
func (c *class) catchUp() {
	for c.group.Len() < min(c.w.Rows, oneByOne) {
		k := c.group.Len()
		c.group.Append(c.products(k, k+1))
	}
	k, n := c.group.Len(), c.w.Rows
	if k == n {
		return
	}
	gram := blas64.General{Rows: n - k, Cols: n, Stride: n, Data: make([]float64, (n-k)*n)}
	for j := k; j < n; j += productRows {
		end := min(j+productRows, n)
		part := blas64.General{Rows: end - j, Cols: end, Stride: n, Data: gram.Data[(j-k)*n:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, c.rows(j, end), c.rows(0, end), 0, part)
	}
	c.group.AppendRows(gram)
}

// rows returns the rows of w from the first one up to, but not including, the last.
func (c *class) rows(first, last int) blas64.General {
	return blas64.General{Rows: last - first, Cols: c.w.Cols, Stride: c.w.Stride, Data: c.w.Data[first*c.w.Stride:]}
}

// products returns the inner products of row i with the first n rows.
func (c *class) products(i, n int) []float64 {
	gemv(c.rows(0, n), c.row(i), 0, c.cross[:n])
	return c.cross[:n]
}

// remove deletes the i-th example. Cost O(K d), and that of [niw.Group.Remove].
func (c *class) remove(i int, prior niw.Posterior) {
	wasLowRank := c.lowRank()
	c.forget(i)
	c.ids = slices.Delete(c.ids, i, i+1)
	deleteRow(&c.w, i)
	if c.b.Cols > 0 {
		deleteRow(&c.b, i)
	}
	c.cross = c.cross[:c.w.Rows]
	c.touch()
	switch {
	case c.shared:
	case wasLowRank:
		c.group.Remove(i)
	case c.lowRank():
		c.group.ResetFrom(prior)
		c.catchUp()
	}
}

// insertRow makes v, nil for one to be filled in, the i-th row of a matrix
// without gaps.
func insertRow(m *blas64.General, i int, v []float64) {
	n := m.Cols
	m.Data = slices.Grow(m.Data, n)[:len(m.Data)+n]
	copy(m.Data[(i+1)*n:], m.Data[i*n:])
	copy(m.Data[i*n:], v)
	m.Rows++
}

// deleteRow takes the i-th row out of a matrix without gaps.
func deleteRow(m *blas64.General, i int) {
	n := m.Cols
	m.Data = append(m.Data[:i*n], m.Data[(i+1)*n:]...)
	m.Rows--
}

func (c *class) row(i int) []float64 { return c.w.Data[i*c.w.Stride : i*c.w.Stride+c.w.Cols] }

// logProb returns the log density of the whitened query x. A class in dense form
// wants the query whole.
func (c *class) logProb(of *Classifier, x point) float64 {
	if c.lowRank() {
		gemv(c.w, x.z, 0, c.cross)
		if x.a != nil {
			gemv(c.b, x.a, 1, c.cross)
		}
		return c.logProbOf(of, x, c.cross)
	}
	q := c.denseQuad(of, x.z)
	post := c.dense.Posterior(c.w.Rows)
	return post.LogProb(of.options.Inference, q)
}

// logProbOf is logProb in low-rank form, given the inner products of x with the
// examples.
func (c *class) logProbOf(of *Classifier, x point, cross []float64) float64 {
	if of.centre.on {
		return c.group.LogProbShifted(of.options.Inference, x.r2, cross, x.along)
	}
	return c.group.LogProb(of.options.Inference, x.r2, cross)
}

// denseQuad returns the quadratic form of a whitened point z in dense form.
func (c *class) denseQuad(of *Classifier, z []float64) float64 {
	c.refresh(of.prior, of.centre.shift())
	floats.SubTo(of.scratch, z, c.mean)
	c.dense.SolveTo(of.scratch)
	return floats.Dot(of.scratch, of.scratch)
}

// refresh factorises the dense posterior if the examples have changed, or δ, nil for
// zero. Cost O(K d² + d³).
func (c *class) refresh(p *niw.Prior, delta []float64) {
	if !c.stale {
		return
	}
	if c.dense == nil {
		c.dense, c.mean = new(niw.Scatter), make([]float64, c.w.Cols)
	}
	c.dense.Reset(p)
	c.dense.AddShifted(c.w, delta)
	if !c.dense.Factorize() {
		panic("qda: scatter of finite examples not positive definite")
	}
	posteriorMean(c.mean, c.w, p.Kappa)
	if delta != nil {
		floats.AddScaled(c.mean, p.Kappa/(p.Kappa+float64(c.w.Rows)), delta)
	}
	c.stale = false
}

// posteriorMean stores L⁻¹(m_j-m) = Σ w_i/(kappa+K) in dst.
func posteriorMean(dst []float64, w blas64.General, kappa float64) {
	clear(dst)
	for i := range w.Rows {
		floats.Add(dst, w.Data[i*w.Stride:i*w.Stride+w.Cols])
	}
	floats.Scale(1/(kappa+float64(w.Rows)), dst)
}

// gemv stores a x + beta y in y.
func gemv(a blas64.General, x []float64, beta float64, y []float64) {
	if a.Rows == 0 {
		return
	}
	blas64.Gemv(blas.NoTrans, 1, a, blas64.Vector{N: a.Cols, Data: x, Inc: 1}, beta, blas64.Vector{N: a.Rows, Data: y, Inc: 1})
}
