package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/session"
)

// Frozen is all that the answers of a [Classifier] depend on as long as nothing is
// taught, in arrays of which another program needs little more than inner products.
// Row 0 is a class never seen, rows 1 to C are the classes that have examples. For a
// transformed embedding x of length d
//
//	z    = (x, B x)                                                    d+r
//	q_j  = Base_j Σ_i Weight_i (z_i - Mean_ji)² + Σ_{Owner_n = j} Sign_n (f_nᵀx - At_n)²
//	l_j  = Norm_j - Rate_j ln(1 + Scale_j q_j)       fully Bayesian; MAP: Norm_j - Rate_j q_j
//	u_j  = Slope_j (l_j - l_0) + Offset_j
//	s    = ln Σ_j exp(u_j + LogPrior_j)
//
// and probabilities are those of Session with LogOdds in place of ln π_known/π_none.
// The quadratic forms are those of package niw: with f of class j the rows of C⁻¹W̃L⁻¹,
// W̃ = W - 1δᵀ, I + 11ᵀ/kappa + W̃W̃ᵀ = CCᵀ, q_j = |L⁻¹(x-m_j)|² - Σ_n (f_nᵀ(x-m_j))².
type Frozen struct {
	Labels                  []string   // C
	B                       *mat.Dense // r×d, nil if r = 0
	Weight                  []float64  // d+r
	Mean                    *mat.Dense // (C+1)×(d+r)
	Base                    []float64  // C+1
	Rows                    *mat.Dense // N×d, nil if N = 0
	At, Sign                []float64  // N
	Owner                   []int      // N, in 1..C
	Inference               niw.Inference
	Norm, Rate, Scale       []float64 // C+1
	Slope, Offset, LogPrior []float64 // C
	Session                 session.Table
	LogOdds                 float64
}

// Freeze returns what the classifier answers by now. Classes without examples, which
// have probability zero, are left out. It returns [ErrNoExamples] if that is all. Cost
// that of the first prediction after a change, N d (K+r) for the examples and, with a
// prior that has a factor L, d³/3.
func (c *Classifier) Freeze() (*Frozen, error) {
	if len(c.taught) == 0 {
		return nil, ErrNoExamples
	}
	posterior := c.Session() // before what it settles is read
	f := &Frozen{Inference: c.options.Inference, Session: posterior.Table(), LogOdds: session.LogOdds(c.options.NonePrior), LogPrior: slices.Clone(c.work.logPrior)}
	b, weight := c.prior.Metric()
	f.Weight = weight
	z := blas64.General{Cols: c.Dim(), Stride: c.Dim()}
	if b != nil {
		z = b.RawMatrix()
	}
	means := [][]float64{make([]float64, c.Dim())}
	if delta := c.centre.shift(); delta != nil {
		copy(means[0], delta)
	}
	posts := []niw.Posterior{c.empty}
	f.Base = append(f.Base, 1)
	var rows blas64.General
	for _, k := range c.taught {
		f.Labels = append(f.Labels, k.label)
		f.Slope, f.Offset = append(f.Slope, k.slope), append(f.Offset, k.offset)
		mean := make([]float64, c.Dim())
		posteriorMean(mean, k.w, c.prior.Kappa)
		floats.AddScaled(mean, c.prior.Kappa/(c.prior.Kappa+float64(k.count())), means[0])
		means, f.Base = append(means, mean), append(f.Base, 1)
		if c.options.Pooled {
			continue
		}
		post, own, sign := k.freeze(c)
		posts = append(posts, post)
		if sign > 0 {
			f.Base[len(f.Base)-1] = 0
		}
		for range own.Rows {
			f.Owner, f.Sign = append(f.Owner, len(f.Labels)), append(f.Sign, sign)
		}
		rows = stacked(rows, own)
	}
	if c.options.Pooled {
		var shared blas64.General
		var sign float64
		if posts, shared, sign = c.freezePool(); sign > 0 {
			z, f.Weight = blas64.General{}, make([]float64, c.Dim())
		}
		c.adjoint(shared)
		z = stacked(z, shared)
		for range shared.Rows {
			f.Weight = append(f.Weight, sign)
		}
	}
	c.adjoint(rows)
	f.place(c.prior, z, rows, means)
	for i := range posts {
		f.density(&posts[i])
	}
	return f, nil
}

// freeze returns the posterior of a class and the rows of its quadratic form in
// whitened space: those that take away from the length of what is asked, in the
// low-rank form, or all there is of it.
func (k *class) freeze(c *Classifier) (post niw.Posterior, rows blas64.General, sign float64) {
	if !k.lowRank() {
		k.refresh(c.prior, c.centre.shift())
		return k.dense.Posterior(k.count()), inverse(c.Dim(), k.dense.SolveTo), 1
	}
	rows = stacked(blas64.General{}, k.w)
	if delta := c.centre.shift(); delta != nil {
		for i := range rows.Rows {
			floats.Sub(rowOf(rows, i), delta)
		}
	}
	n := rows.Rows
	m := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: make([]float64, n*n)}
	blas64.Syrk(blas.NoTrans, 1, rows, 0, m)
	floats.AddConst(1/c.prior.Kappa, m.Data)
	for i := range n {
		m.Data[i*n+i]++
	}
	factor, ok := lapack64.Potrf(m)
	if !ok {
		panic("qda: Gram matrix of finite examples not positive definite")
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, factor, rows)
	return k.group.Posterior(), rows, -1
}

// freezePool is that for the pooled variant, whose rows all classes share.
func (c *Classifier) freezePool() (posts []niw.Posterior, rows blas64.General, sign float64) {
	if c.pool == nil {
		c.pool = newPool(c.prior, c.taught)
	}
	posts = []niw.Posterior{c.pool.post}
	for _, n := range c.pool.counts {
		post := c.pool.post
		post.Kappa += float64(n)
		posts = append(posts, post)
	}
	if c.pool.useD {
		return posts, inverse(c.Dim(), c.pool.dense.SolveTo), 1
	}
	rows = stacked(blas64.General{}, c.pool.w)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, c.pool.chol, rows)
	return posts, rows, -1
}

// adjoint makes rows that want a whitened point rows that want the point.
func (c *Classifier) adjoint(rows blas64.General) {
	for i := range rows.Rows {
		c.prior.AdjointTo(rowOf(rows, i))
	}
}

// place computes where the means, whitened, lie in z and on the rows.
func (f *Frozen) place(p *niw.Prior, b, rows blas64.General, means [][]float64) {
	d := p.Dim()
	f.Mean = mat.NewDense(len(means), d+b.Rows, nil)
	f.At = make([]float64, rows.Rows)
	for j, m := range means {
		p.UnwhitenTo(m)
		floats.Add(m, p.M)
		z := f.Mean.RawRowView(j)
		copy(z, m)
		gemv(b, m, 0, z[d:])
		for n, owner := range f.Owner {
			if owner == j {
				f.At[n] = inner(rowOf(rows, n), m)
			}
		}
	}
	if b.Rows > 0 {
		f.B = mat.NewDense(b.Rows, d, b.Data)
	}
	if rows.Rows > 0 {
		f.Rows = mat.NewDense(rows.Rows, d, rows.Data)
	}
}

// density takes what a posterior says beside its quadratic form.
func (f *Frozen) density(post *niw.Posterior) {
	f.Norm = append(f.Norm, post.LogNorm(f.Inference))
	f.Rate, f.Scale = append(f.Rate, -post.LogKernel(niw.MAP, 1)), append(f.Scale, 1)
	if last := len(f.Rate) - 1; f.Inference == niw.FB {
		f.Rate[last], f.Scale[last] = (post.Nu+1)/2, post.Kappa/(post.Kappa+1)
	}
}

// stacked returns a copy of the rows of a and then of b.
func stacked(a, b blas64.General) blas64.General {
	s := blas64.General{Rows: a.Rows + b.Rows, Cols: b.Cols, Stride: b.Cols, Data: make([]float64, 0, (a.Rows+b.Rows)*b.Cols)}
	for _, m := range []blas64.General{a, b} {
		for i := range m.Rows {
			s.Data = append(s.Data, rowOf(m, i)...)
		}
	}
	return s
}

// inverse returns the d×d matrix of which solve multiplies a vector.
func inverse(d int, solve func(v []float64)) blas64.General {
	t := blas64.General{Rows: d, Cols: d, Stride: d, Data: make([]float64, d*d)}
	column := make([]float64, d)
	for j := range d {
		clear(column)
		column[j] = 1
		solve(column)
		for i, v := range column {
			t.Data[i*d+j] = v
		}
	}
	return t
}
