package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

// class is one taught class: its whitened examples and what follows from them.
type class struct {
	label  string
	weight float64        // p(y=j) up to normalisation
	w      blas64.General // K×d whitened examples in the order they were added
	b      blas64.General // K×r their partners, for queries whitened in part
	group  niw.Group      // low-rank posterior, kept while K < d
	stale  bool           // the dense posterior does not match w
	dense  *niw.Scatter   // dense posterior, used while K >= d
	mean   []float64      // whitened posterior mean, for the dense form
	cross  []float64      // scratch: W z, length K

	// What the calibration makes of it, by [Classifier.settle]:
	invT      float64 // 1/T(K)
	offset    float64 // b(K)
	logWeight float64 // ln p(y=j)
}

// point is a whitened point, whole or in part; see [niw.Prior.WhitenPartTo].
type point struct {
	z []float64 // d: the whitened point, or y
	a []float64 // r, or nil if z is whole
}

func newClass(label string, prior niw.Posterior, rank int) *class {
	c := &class{label: label, weight: 1}
	c.w = blas64.General{Cols: prior.Dim, Stride: prior.Dim}
	c.b = blas64.General{Cols: rank, Stride: rank}
	c.group.ResetFrom(prior)
	return c
}

func (c *class) count() int { return c.w.Rows }

// lowRank tells which of the two forms serves: the smaller one.
func (c *class) lowRank() bool { return c.w.Rows < c.w.Cols }

// add appends one whitened example of length d. Cost O((K+r) d).
func (c *class) add(w []float64, p *niw.Prior) {
	c.w.Data = append(c.w.Data, w...)
	c.w.Rows++
	if r := c.b.Cols; r > 0 {
		c.b.Data = slices.Grow(c.b.Data, r)[:len(c.b.Data)+r]
		c.b.Rows++
		p.PartnerTo(c.b.Data[len(c.b.Data)-r:], w)
	}
	c.cross = append(c.cross, 0)
	c.stale = true
	if c.lowRank() {
		c.appendToGroup(c.w.Rows - 1)
	}
}

// appendToGroup adds the inner products of row k with the rows up to k.
func (c *class) appendToGroup(k int) {
	cross := c.cross[:k+1]
	rows := blas64.General{Rows: k + 1, Cols: c.w.Cols, Stride: c.w.Stride, Data: c.w.Data}
	gemv(rows, c.row(k), 0, cross)
	c.group.Append(cross)
}

// remove deletes the i-th example. Cost O(K d + K³).
func (c *class) remove(i int, prior niw.Posterior) {
	wasLowRank := c.lowRank()
	deleteRow(&c.w, i)
	if c.b.Cols > 0 {
		deleteRow(&c.b, i)
	}
	c.cross = c.cross[:c.w.Rows]
	c.stale = true
	switch {
	case wasLowRank:
		c.group.Remove(i)
	case c.lowRank():
		c.group.ResetFrom(prior)
		for k := range c.w.Rows {
			c.appendToGroup(k)
		}
	}
}

// deleteRow takes the i-th row out of a matrix without gaps.
func deleteRow(m *blas64.General, i int) {
	n := m.Cols
	m.Data = append(m.Data[:i*n], m.Data[(i+1)*n:]...)
	m.Rows--
}

func (c *class) row(i int) []float64 { return c.w.Data[i*c.w.Stride : i*c.w.Stride+c.w.Cols] }

// logProb returns the log density of the whitened query x with r2 = |w|². A class
// in dense form wants the query whole.
func (c *class) logProb(of *Classifier, x point, r2 float64) float64 {
	inf := of.options.Inference
	if c.lowRank() {
		gemv(c.w, x.z, 0, c.cross)
		if x.a != nil {
			gemv(c.b, x.a, 1, c.cross)
		}
		return c.group.LogProb(inf, r2, c.cross)
	}
	q := c.denseQuad(of, x.z)
	post := c.dense.Posterior(c.w.Rows)
	return post.LogProb(inf, q)
}

// denseQuad returns the quadratic form of a whitened point z in dense form.
func (c *class) denseQuad(of *Classifier, z []float64) float64 {
	c.refresh(of.prior)
	floats.SubTo(of.scratch, z, c.mean)
	c.dense.SolveTo(of.scratch)
	return floats.Dot(of.scratch, of.scratch)
}

// refresh factorises the dense posterior if the examples have changed. Cost
// O(K d² + d³).
func (c *class) refresh(p *niw.Prior) {
	if !c.stale {
		return
	}
	if c.dense == nil {
		c.dense, c.mean = new(niw.Scatter), make([]float64, c.w.Cols)
	}
	c.dense.Reset(p)
	c.dense.Add(c.w)
	if !c.dense.Factorize() {
		panic("qda: scatter of finite examples not positive definite")
	}
	posteriorMean(c.mean, c.w, p.Kappa)
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
