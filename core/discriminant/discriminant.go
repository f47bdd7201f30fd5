// Package discriminant has the classifiers of the paper: MetaQDA, in which each class has
// a scale matrix of its own, and MetaLDA, in which all share one, fully Bayesian or by the
// mode of the posterior, under a learned or a hand-made prior (Zhang, Meng, Gouk and
// Hospedales, Shallow Bayesian Meta Learning for Real-World Few-Shot Recognition, ICCV
// 2021). They are methods of `metaqda eval` and what `metaqda reproduce` compares; what
// the page and the packages answer by is core/qda.
package discriminant

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// Classifier has the posteriors of C classes in coordinates whitened by the prior. It is
// not safe for use by several goroutines at once.
type Classifier struct {
	inference niw.Inference
	empty     niw.Group // the prior predictive
	classes   []*class
	pool      *pool // nil where each class has a scale matrix of its own
}

// New returns the classifier of the given classes, the rows of each its examples,
// whitened by p; nil is a class without examples, whose density is the prior predictive.
// Cost K² d for a class of K examples, or K d² + d³ where K is not below d; with one
// scale matrix for all the same for the number of all examples.
func New(p *niw.Prior, inf niw.Inference, pooled bool, classes []*mat.Dense) *Classifier {
	c := &Classifier{inference: inf}
	c.empty.Reset(p)
	if pooled {
		c.pool = newPool(p, classes)
		return c
	}
	for _, x := range classes {
		c.classes = append(c.classes, newClass(p, x))
	}
	return c
}

// LogDensitiesTo stores the log density of the whitened query z under each class in dst,
// of length C, and returns that under a class never seen. Cost K d + K² for each class of
// K examples, or d²/2; with one scale matrix N d + N², or d²/2, for all N examples.
func (c *Classifier) LogDensitiesTo(dst, z []float64) (none float64) {
	r2 := floats.Dot(z, z)
	if c.pool != nil {
		c.pool.prepare(z)
		for j := range dst {
			dst[j] = c.pool.logProb(j, c.inference, r2)
		}
		return c.pool.logProb(-1, c.inference, r2)
	}
	none = c.empty.LogProb(c.inference, r2, nil)
	for j, k := range c.classes {
		if dst[j] = none; k != nil {
			dst[j] = k.logProb(c.inference, z, r2)
		}
	}
	return none
}

// class is the posterior of one class in the smaller of two forms: K×K inner products of
// its examples, or the d×d scale matrix.
type class struct {
	w     blas64.General
	cross []float64
	group niw.Group

	dense      *niw.Scatter // nil in the other form
	mean, diff []float64
}

func newClass(p *niw.Prior, x *mat.Dense) *class {
	if x == nil {
		return nil
	}
	c := &class{w: x.RawMatrix()}
	k, d := x.Dims()
	if k < d {
		c.cross = make([]float64, k)
		c.group.Reset(p)
		for i := range k {
			cross := c.cross[:i+1]
			blas64.Gemv(blas.NoTrans, 1, blas64.General{Rows: i + 1, Cols: d, Stride: c.w.Stride, Data: c.w.Data}, vector(x.RawRowView(i)), 0, vector(cross))
			c.group.Append(cross)
		}
		return c
	}
	c.dense, c.mean, c.diff = new(niw.Scatter), posteriorMean(c.w, p.Kappa), make([]float64, d)
	c.dense.Reset(p)
	c.dense.Add(c.w)
	if !c.dense.Factorize() {
		panic("discriminant: scatter of finite examples not positive definite")
	}
	return c
}

func (c *class) logProb(inf niw.Inference, z []float64, r2 float64) float64 {
	if c.dense == nil {
		blas64.Gemv(blas.NoTrans, 1, c.w, vector(z), 0, vector(c.cross))
		return c.group.LogProb(inf, r2, c.cross)
	}
	floats.SubTo(c.diff, z, c.mean)
	c.dense.SolveTo(c.diff)
	post := c.dense.Posterior(c.w.Rows)
	return post.LogProb(inf, floats.Dot(c.diff, c.diff))
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// posteriorMean returns L⁻¹(m_j-m) = Σ w_i/(kappa+K).
func posteriorMean(w blas64.General, kappa float64) []float64 {
	mean := make([]float64, w.Cols)
	for i := range w.Rows {
		floats.Add(mean, w.Data[i*w.Stride:i*w.Stride+w.Cols])
	}
	floats.Scale(1/(kappa+float64(w.Rows)), mean)
	return mean
}
