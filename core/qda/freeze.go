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
//	l_j  = Norm_j - Rate_j ln(1 + Scale_j q_j)       if Inference is FB; MAP: Norm_j - Rate_j q_j
//	u_j  = Slope_j (l_j - l_0) + Offset_j
//	s    = ln Σ_j exp(u_j + LogPrior_j)
//
// where the one scale matrix of a session has MAP. Probabilities are those of Session with
// LogOdds in place of ln π_known/π_none. The quadratic forms are those of package niw: with f of class j the rows of C⁻¹W̃L⁻¹,
// W̃ = W - 1δᵀ, I + 11ᵀ/kappa + W̃W̃ᵀ = CCᵀ, q_j = |L⁻¹(x-m_j)|² - Σ_n (f_nᵀ(x-m_j))².
type Frozen struct {
	Labels                  []string       // C
	B                       blas64.General // r×d
	Weight                  []float64      // d+r
	Mean                    *mat.Dense     // (C+1)×(d+r)
	Base                    []float64      // C+1
	Rows                    blas64.General // N×d
	At, Sign                []float64      // N
	Owner                   []int          // N, in 1..C
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
	n := len(c.taught)
	if n == 0 {
		return nil, ErrNoExamples
	}
	posterior := c.Session() // before what it settles is read
	f := &Frozen{
		Inference: c.options.Inference, Session: posterior.Table(), LogOdds: session.LogOdds(c.options.NonePrior),
		Labels: make([]string, n), Slope: make([]float64, n), Offset: make([]float64, n), LogPrior: slices.Clone(c.work.logPrior),
		Base: make([]float64, n+1), Norm: make([]float64, n+1), Rate: make([]float64, n+1), Scale: make([]float64, n+1),
	}
	means := mat.NewDense(n+1, c.Dim(), nil)
	if c.shared != nil {
		f.Inference = niw.MAP
		c.freezeShared(f, means)
		return f, nil
	}
	if delta := c.centre.shift(); delta != nil {
		means.SetRow(0, delta)
	}
	var b, rows blas64.General
	b, f.Weight = c.prior.Metric()
	for j, k := range c.taught {
		f.Labels[j], f.Slope[j], f.Offset[j] = k.label, k.slope, k.offset
		mean := means.RawRowView(j + 1)
		posteriorMean(mean, k.w, c.prior.Kappa)
		floats.AddScaled(mean, c.prior.Kappa/(c.prior.Kappa+float64(k.count())), means.RawRowView(0))
	}
	if c.options.Pooled {
		b = c.freezePool(f, b)
	} else {
		rows = c.freezeClasses(f)
	}
	f.place(c.prior, b, rows, means)
	return f, nil
}

// freezeShared takes what one scale matrix for all classes has: a row of f for each
// example that A needs, or A⁻½ whole. l_j is -½ q_j.
func (c *Classifier) freezeShared(f *Frozen, means *mat.Dense) {
	var b, rows blas64.General
	b, f.Weight = c.prior.Metric()
	s, cov, sign := c.shared, c.shared.cov, -1.0
	session := means.RawRowView(0)
	blas64.Gemv(blas.Trans, 1, cov.meanRows(), vector(s.alpha), 0, vector(session))
	for j, k := range c.taught {
		m := cov.index[k]
		f.Labels[j], f.Slope[j], f.Offset[j] = k.label, k.slope, k.offset
		floats.AddScaled(means.RawRowView(j+1), s.h[m.column], cov.mean(m.column))
		floats.AddScaled(means.RawRowView(j+1), 1-s.h[m.column], session)
	}
	switch {
	case cov.primal:
		rows, sign = inverse(c.Dim(), func(v []float64) { blas64.Trsv(blas.Trans, cov.factor(), vector(v)) }), 1
		b, f.Weight = blas64.General{}, make([]float64, c.Dim())
	case cov.n > 0:
		rows = stacked(blas64.General{}, cov.differences())
		blas64.Trsm(blas.Left, blas.Trans, 1, cov.factor(), rows)
	}
	c.adjoint(rows)
	for range rows.Rows {
		f.Weight = append(f.Weight, sign)
	}
	for j := range f.Base {
		f.Base[j], f.Rate[j], f.Scale[j] = 1, 0.5, 1
	}
	f.place(c.prior, stacked(b, rows), blas64.General{}, means)
}

// freezeClasses takes what the classes have each for itself, and returns their rows.
func (c *Classifier) freezeClasses(f *Frozen) (rows blas64.General) {
	f.density(0, &c.empty, 1)
	for j, k := range c.taught {
		post, own, sign := k.freeze(c)
		base := 1.0
		if sign > 0 {
			base = 0
		}
		f.density(j+1, &post, base)
		for range own.Rows {
			f.Owner, f.Sign = append(f.Owner, j+1), append(f.Sign, sign)
		}
		rows = stacked(rows, own)
	}
	c.adjoint(rows)
	return rows
}

// freezePool takes what the pooled variant has, and returns b with the rows that all
// classes share.
func (c *Classifier) freezePool(f *Frozen, b blas64.General) blas64.General {
	if c.pool == nil {
		c.pool = newPool(c.prior, c.taught)
	}
	q, sign := c.pool, -1.0
	var rows blas64.General
	if q.useD {
		rows, sign = inverse(c.Dim(), q.dense.SolveTo), 1
		b, f.Weight = blas64.General{}, make([]float64, c.Dim())
	} else {
		rows = stacked(blas64.General{}, q.w)
		blas64.Trsm(blas.Left, blas.NoTrans, 1, q.chol, rows)
	}
	c.adjoint(rows)
	for range rows.Rows {
		f.Weight = append(f.Weight, sign)
	}
	post := q.post
	f.density(0, &post, 1)
	for j, n := range q.counts {
		post.Kappa = q.post.Kappa + float64(n)
		f.density(j+1, &post, 1)
	}
	return stacked(b, rows)
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

// adjoint makes rows that want a whitened point rows that want the point.
func (c *Classifier) adjoint(rows blas64.General) {
	for i := range rows.Rows {
		c.prior.AdjointTo(rowOf(rows, i))
	}
}

// place computes where the means, whitened, lie in z and on the rows.
func (f *Frozen) place(p *niw.Prior, b, rows blas64.General, means *mat.Dense) {
	d, n := p.Dim(), len(f.Base)
	f.Mean, f.At = mat.NewDense(n, d+b.Rows, nil), make([]float64, rows.Rows)
	for j := range n {
		m, z := means.RawRowView(j), f.Mean.RawRowView(j)
		p.PlaceTo(m)
		copy(z, m)
		gemv(b, m, 0, z[d:])
	}
	for i, j := range f.Owner {
		f.At[i] = inner(rowOf(rows, i), means.RawRowView(j))
	}
	f.B, f.Rows = b, rows
}

// density takes what a posterior says of row j beside its quadratic form.
func (f *Frozen) density(j int, post *niw.Posterior, base float64) {
	f.Base[j], f.Norm[j] = base, post.LogNorm(f.Inference)
	f.Rate[j], f.Scale[j] = -post.LogKernel(niw.MAP, 1), 1
	if f.Inference == niw.FB {
		f.Rate[j], f.Scale[j] = (post.Nu+1)/2, post.Kappa/(post.Kappa+1)
	}
}

// stacked returns a copy of the rows of a and then of b.
func stacked(a, b blas64.General) blas64.General {
	cols := max(a.Cols, b.Cols)
	s := blas64.General{Rows: a.Rows + b.Rows, Cols: cols, Stride: cols, Data: make([]float64, 0, (a.Rows+b.Rows)*b.Cols)}
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
