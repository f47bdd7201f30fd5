package qda

import (
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
	group  niw.Group      // low-rank posterior, kept while K < d
	stale  bool           // the dense posterior does not match w
	dense  *niw.Scatter   // dense posterior, used while K >= d
	mean   []float64      // whitened posterior mean, for the dense form
	cross  []float64      // scratch: W z, length K

	// For the precision blend:
	shift   []float64 // m_j-m, the posterior mean not whitened
	shifted bool      // shift matches w

	// What the calibration makes of it, by [Classifier.settle]:
	invT      float64 // 1/T(K)
	offset    float64 // b(K)
	logWeight float64 // ln p(y=j)
}

func newClass(label string, prior niw.Posterior) *class {
	c := &class{label: label, weight: 1}
	c.w = blas64.General{Cols: prior.Dim, Stride: prior.Dim}
	c.group.ResetFrom(prior)
	return c
}

func (c *class) count() int { return c.w.Rows }

// lowRank tells which of the two forms serves: the smaller one.
func (c *class) lowRank() bool { return c.w.Rows < c.w.Cols }

// add appends one whitened example of length d. Cost O(K d).
func (c *class) add(w []float64) {
	c.w.Data = append(c.w.Data, w...)
	c.w.Rows++
	c.cross = append(c.cross, 0)
	c.stale, c.shifted = true, false
	if c.lowRank() {
		c.appendToGroup(c.w.Rows - 1)
	}
}

// appendToGroup adds the inner products of row k with the rows up to k.
func (c *class) appendToGroup(k int) {
	cross := c.cross[:k+1]
	rows := blas64.General{Rows: k + 1, Cols: c.w.Cols, Stride: c.w.Stride, Data: c.w.Data}
	gemv(rows, c.row(k), cross)
	c.group.Append(cross)
}

// remove deletes the i-th example. Cost O(K d + K³).
func (c *class) remove(i int, prior niw.Posterior) {
	wasLowRank := c.lowRank()
	d := c.w.Cols
	copy(c.w.Data[i*d:], c.w.Data[(i+1)*d:c.w.Rows*d])
	c.w.Rows--
	c.w.Data = c.w.Data[:c.w.Rows*d]
	c.cross = c.cross[:c.w.Rows]
	c.stale, c.shifted = true, false
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

func (c *class) row(i int) []float64 { return c.w.Data[i*c.w.Stride : i*c.w.Stride+c.w.Cols] }

// logProb returns the log density of the whitened query z with r2 = |z|² and,
// for a blend, x-m in of.y.
func (c *class) logProb(of *Classifier, z []float64, r2 float64) float64 {
	inf := of.options.Inference
	if c.lowRank() {
		gemv(c.w, z, c.cross)
		q := c.group.Quad(r2, c.cross)
		if of.blends() {
			post := c.group.Posterior()
			q = of.blend(&post, c, q)
		}
		return c.group.LogProbAt(inf, q)
	}
	c.refresh(of.prior)
	floats.SubTo(of.scratch, z, c.mean)
	c.dense.SolveTo(of.scratch)
	post, q := c.dense.Posterior(c.w.Rows), floats.Dot(of.scratch, of.scratch)
	if of.blends() {
		q = of.blend(&post, c, q)
	}
	return post.LogProb(inf, q)
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

// gemv stores a x in y.
func gemv(a blas64.General, x, y []float64) {
	if a.Rows == 0 {
		return
	}
	blas64.Gemv(blas.NoTrans, 1, a, blas64.Vector{N: a.Cols, Data: x, Inc: 1}, 0, blas64.Vector{N: a.Rows, Data: y, Inc: 1})
}
