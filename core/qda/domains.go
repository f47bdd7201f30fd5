package qda

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

const (
	// classSpread is how much more than the pictures of a domain at large the mean
	// of a session of it may scatter: its classes are not those the domain was
	// described by.
	classSpread = 1.5

	// strangeDomain is the prior probability that a session is of no domain that
	// the prior was learned from.
	strangeDomain = 0.5

	// strangeSpread is what the scatter of unknown domains about the known ones has
	// beside that of the known ones among themselves, in covariances of a picture.
	strangeSpread = 0.5

	// maxDomains bounds D; a file that asks for more is not ours.
	maxDomains = 64
)

// Domains describes the D domains that a prior was learned from, so that a
// session of one of them is recognised by its examples and calibrated as is known
// to be right there, and a session of none of them is told from both. Linear
// discriminants z = W x of a transformed embedding x are Gaussian in each domain,
// and so is the mean z̄ over the C classes of a session of their means:
//
//	z̄ ~ N(Mean_t, 1.5 Cov_t/C)      in domain t
//	z̄ ~ N(M, B + Σ/2 + Σ/C)         in a domain never seen
//
// with M and B mean and covariance of the Mean_t, and Σ the mean of the Cov_t. A
// domain never seen has probability one half beforehand, the others share the
// rest. Five pictures are enough: of the sessions of a domain left out of four,
// between 77 and 100 % are found to be of none of the other three, and 83 to
// 100 % of the others' are recognised, on classes that had no part in it.
//
// Make one with [NewDomains]; the fields must not be changed then.
type Domains struct {
	Names      []string    // D
	Directions *mat.Dense  // W, R×d
	Mean       [][]float64 // D×R
	Cov        [][]float64 // D×R², by rows

	known   []mat.Cholesky // of Cov
	middle  []float64      // M
	between *mat.SymDense  // B + Σ/2
	within  *mat.SymDense  // Σ
}

// NewDomains returns the description with the given parts, which it keeps. It
// returns a *[niw.DimensionError] or a *[niw.ValueError] that names what is wrong.
func NewDomains(names []string, directions *mat.Dense, mean, cov [][]float64) (*Domains, error) {
	n := len(names)
	if n < 1 || n > maxDomains {
		return nil, &niw.DimensionError{Name: "domains", Got: n, Want: maxDomains}
	}
	if directions == nil {
		return nil, &niw.DimensionError{Name: "directions of the domains", Got: 0, Want: n - 1}
	}
	r, d := directions.Dims()
	if r < 1 || r > maxDomains {
		return nil, &niw.DimensionError{Name: "directions of the domains", Got: r, Want: maxDomains}
	}
	for i := range r {
		if err := checkSmall("direction of the domains", directions.RawRowView(i), d); err != nil {
			return nil, err
		}
	}
	if len(mean) != n {
		return nil, &niw.DimensionError{Name: "means of the domains", Got: len(mean), Want: n}
	}
	if len(cov) != n {
		return nil, &niw.DimensionError{Name: "covariances of the domains", Got: len(cov), Want: n}
	}
	m := &Domains{Names: names, Directions: directions, Mean: mean, Cov: cov,
		known: make([]mat.Cholesky, n), middle: make([]float64, r), between: mat.NewSymDense(r, nil), within: mat.NewSymDense(r, nil)}
	for t := range n {
		if err := m.setCov(t, r); err != nil {
			return nil, err
		}
	}
	deviation := mat.NewVecDense(r, nil)
	for t := range n {
		for i, v := range mean[t] {
			deviation.SetVec(i, v-m.middle[i])
		}
		m.between.SymRankOne(m.between, 1/math.Max(float64(n-1), 1), deviation)
	}
	addScaled(m.between, strangeSpread, m.within)
	return m, nil
}

const (
	// maxCoordinate keeps squares and their sums finite.
	maxCoordinate = 1e12

	// maxMean is where z̄ counts as that of no domain without a calculation.
	maxMean = 1e100
)

// checkSmall is [niw.CheckVector] with a bound.
func checkSmall(name string, x []float64, n int) error {
	if err := niw.CheckVector(name, x, n); err != nil {
		return err
	}
	for i, v := range x {
		if math.Abs(v) > maxCoordinate {
			return &niw.ValueError{Name: name, Index: i, Value: v, Want: "a number of magnitude at most 1e12"}
		}
	}
	return nil
}

// setCov factorises the covariance of domain t and adds it and the mean to those
// of all.
func (m *Domains) setCov(t, r int) error {
	n := float64(len(m.Names))
	if err := checkSmall("mean of a domain", m.Mean[t], r); err != nil {
		return err
	}
	if err := checkSmall("covariance of a domain", m.Cov[t], r*r); err != nil {
		return err
	}
	s := mat.NewSymDense(r, append([]float64(nil), m.Cov[t]...))
	for i := range r {
		if v := s.At(i, i); !(v > 1/maxCoordinate) {
			return &niw.ValueError{Name: "variance of a domain", Index: i, Value: v, Want: "above 1e-12"}
		}
	}
	cond := math.Inf(1)
	if m.known[t].Factorize(s) {
		cond = m.known[t].Cond()
	}
	if !(cond <= maxCoordinate) {
		return &niw.ValueError{Name: "condition of the covariance of a domain", Index: t, Value: cond, Want: "at most 1e12"}
	}
	addScaled(m.within, 1/n, s)
	for i, x := range m.Mean[t] {
		m.middle[i] += x / n
	}
	return nil
}

func addScaled(dst *mat.SymDense, c float64, a *mat.SymDense) {
	var s mat.SymDense
	s.ScaleSym(c, a)
	dst.AddSym(dst, &s)
}

// Dim returns d.
func (m *Domains) Dim() int { _, d := m.Directions.Dims(); return d }

// Rank returns R.
func (m *Domains) Rank() int { r, _ := m.Directions.Dims(); return r }

// Check reports whether the domains are those of embeddings of length d and of
// the calibrations.
func (m *Domains) Check(d int, calibrations ...*Calibration) error {
	if m == nil {
		return nil
	}
	if m.Dim() != d {
		return &niw.DimensionError{Name: "direction of the domains", Got: m.Dim(), Want: d}
	}
	for _, c := range calibrations {
		if n := len(c.Domains); n != 0 && n != len(m.Names) {
			return &niw.DimensionError{Name: "calibration: domains", Got: n, Want: len(m.Names)}
		}
	}
	return nil
}

// CoordinatesTo stores z = W x in z, of length R, for a transformed embedding x
// of length d.
func (m *Domains) CoordinatesTo(z, x []float64) {
	blas64.Gemv(blas.NoTrans, 1, m.Directions.RawMatrix(), blas64.Vector{N: len(x), Data: x, Inc: 1}, 0, blas64.Vector{N: len(z), Data: z, Inc: 1})
}

// Recognise returns the probabilities that a session is of each of the D domains,
// and last that it is of none of them, from the mean z of the coordinates of its
// classes and their number. Cost D R³.
func (m *Domains) Recognise(z []float64, classes int) []float64 {
	n, c := len(m.Names), float64(classes)
	for _, v := range z {
		if !(math.Abs(v) <= maxMean) {
			p := make([]float64, n+1)
			p[n] = 1
			return p
		}
	}
	x, log := mat.NewVecDense(len(z), z), make([]float64, n+1)
	for t := range n {
		var f mat.Cholesky
		f.Scale(classSpread/c, &m.known[t])
		log[t] = logNormal(x, m.Mean[t], &f) + math.Log((1-strangeDomain)/float64(n))
	}
	s := mat.NewSymDense(len(z), nil)
	s.CopySym(m.between)
	addScaled(s, 1/c, m.within)
	var f mat.Cholesky
	if !f.Factorize(s) {
		panic("qda: sum of positive definite matrices not positive definite")
	}
	log[n] = logNormal(x, m.middle, &f) + math.Log(strangeDomain)
	softmax(log, log, math.Inf(-1))
	return log
}

// logNormal returns the log density of x but for the constant of its dimension.
func logNormal(x *mat.VecDense, mean []float64, f *mat.Cholesky) float64 {
	var r, s mat.VecDense
	r.SubVec(x, mat.NewVecDense(len(mean), mean))
	if err := f.SolveVecTo(&s, &r); err != nil {
		panic("qda: covariance of a domain is singular")
	}
	return -0.5 * (mat.Dot(&r, &s) + f.LogDet())
}

// recognise returns the probabilities of the domains from the examples of the
// chosen classes, at most each of every one; nil if there is nothing to
// recognise. Cost N d for N examples, and that of whitening one.
func (c *Classifier) recognise(chosen []*class, each int) []float64 {
	m := c.options.Domains
	if m == nil || len(c.options.Calibration.Domains) == 0 {
		return nil
	}
	mean := make([]float64, c.Dim())
	for _, k := range chosen {
		take := min(each, k.count())
		for i := range take {
			w := blas64.Vector{N: c.Dim(), Data: k.row(i * k.count() / take), Inc: 1}
			blas64.Axpy(1/float64(take*len(chosen)), w, blas64.Vector{N: c.Dim(), Data: mean, Inc: 1})
		}
	}
	c.prior.UnwhitenTo(mean)
	for i, v := range c.prior.M {
		mean[i] += v
	}
	z := make([]float64, m.Rank())
	m.CoordinatesTo(z, mean)
	return m.Recognise(z, len(chosen))
}
