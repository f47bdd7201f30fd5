package metatrain

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/qda"
)

// domainShrink is the share of the identity in the covariance of [NewDomains].
const domainShrink = 0.1

// NewDomains returns how to tell the domains apart by the rows of their classes,
// by linear discriminant analysis: the directions
//
//	S⁻¹ (μ_t - μ),   S = 0.9 mean_t Cov_t + 0.1 I (mean diagonal of it)
//
// of all domains but the last, scaled to a mean variance of one; μ_t and Cov_t
// are mean and covariance of the rows of domain t, μ the mean of the μ_t. Every
// domain counts the same. ok is false for fewer than two domains, and where rows
// are too alike to tell. Cost N d² for N rows in all, and d³/3.
func NewDomains(d int, domains []Labelled, workers int) (m *qda.Domains, ok bool) {
	n := len(domains)
	if n < 2 {
		return nil, false
	}
	s, one := make([]float64, d*d), make([]float64, d*d)
	mean, names := mat.NewDense(n, d, nil), make([]string, n)
	rows := make([][]int, n)
	for t, dom := range domains {
		names[t] = dom.Name
		for _, class := range dom.Classes {
			rows[t] = append(rows[t], class...)
		}
		clear(one)
		withinScatter(one, d, Labelled{dom.Domain, rows[t : t+1]}, workers)
		blas64.Axpy(1/float64(len(rows[t])*n), vector(one), vector(s))
		classMean(mean.RawRowView(t), dom.Domain, rows[t])
	}
	var trace float64
	for i := range d {
		trace += s[i*d+i] / float64(d)
	}
	blas64.Scal(1-domainShrink, vector(s))
	for i := range d {
		s[i*d+i] += domainShrink * trace
	}
	factor, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: s})
	if !ok {
		return nil, false
	}
	w := discriminants(mean, factor)
	centres, cov := make([][]float64, n), make([][]float64, n)
	for t, dom := range domains {
		centres[t], cov[t] = meanAndCov(w, dom.Domain, rows[t])
	}
	if !rescale(w, centres, cov) {
		return nil, false
	}
	m, err := qda.NewDomains(names, w, centres, cov)
	return m, err == nil
}

// discriminants returns S⁻¹ (μ_t - μ) of all rows of mean but the last.
func discriminants(mean *mat.Dense, factor blas64.Triangular) *mat.Dense {
	n, d := mean.Dims()
	w := mat.NewDense(n-1, d, nil)
	for t := range n - 1 {
		row := vector(w.RawRowView(t))
		blas64.Copy(vector(mean.RawRowView(t)), row)
		for k := range n {
			blas64.Axpy(-1/float64(n), vector(mean.RawRowView(k)), row)
		}
		blas64.Trsv(blas.NoTrans, factor, row)
		blas64.Trsv(blas.Trans, factor, row)
	}
	return w
}

// meanAndCov returns mean and covariance of W x over rows of a domain.
func meanAndCov(w *mat.Dense, dom *Domain, rows []int) (mean, cov []float64) {
	r, d := w.Dims()
	x, z := mat.NewVecDense(d, nil), mat.NewDense(len(rows), r, nil)
	for i, row := range rows {
		for k, v := range dom.Row(row) {
			x.SetVec(k, float64(v))
		}
		mat.NewVecDense(r, z.RawRowView(i)).MulVec(w, x)
	}
	mean, cov = make([]float64, r), make([]float64, r*r)
	for i := range rows {
		blas64.Axpy(1/float64(len(rows)), vector(z.RawRowView(i)), vector(mean))
	}
	for i := range rows {
		blas64.Axpy(-1, vector(mean), vector(z.RawRowView(i)))
	}
	mat.NewDense(r, r, cov).Mul(z.T(), z)
	blas64.Scal(1/float64(len(rows)), vector(cov))
	return mean, cov
}

// rescale gives every direction a mean variance of one over the domains. It
// returns false if one has none.
func rescale(w *mat.Dense, mean, cov [][]float64) bool {
	r, _ := w.Dims()
	for i := range r {
		var v float64
		for t := range cov {
			v += cov[t][i*r+i] / float64(len(cov))
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
		c := 1 / math.Sqrt(v)
		blas64.Scal(c, vector(w.RawRowView(i)))
		for t := range cov {
			mean[t][i] *= c
			for k := range r {
				cov[t][i*r+k] *= c
				cov[t][k*r+i] *= c
			}
		}
	}
	return true
}
