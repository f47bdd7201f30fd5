package baseline

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Discriminant is classical discriminant analysis: one Gaussian per class
// fitted by maximum likelihood,
//
//	mu_c = mean,  Sigma_c = 1/K_c sum_i (x_i - mu_c)(x_i - mu_c)^T + e I,
//	score_c = -1/2 log det Sigma_c - 1/2 (x - mu_c)^T Sigma_c^-1 (x - mu_c),
//
// with the sum over the class (QDA) or over all classes (LDA, pooled, 1/n). With fewer rows than
// dimensions Sigma is singular and the method undefined. The ridge e is the smallest that lets it
// be computed in double precision: 1e-8 of the mean variance of the support. With one row a class
// only e is left: both are nearest centroid, and far too sure of their answers. Source: Hastie et
// al., The Elements of Statistical Learning, section 4.3.
type Discriminant struct {
	Pooled bool // LDA

	means *mat.Dense
	chol  []mat.Cholesky // of Sigma, one for each class or one for all
}

// discriminantRidge is the ridge relative to the support's mean variance.
const discriminantRidge = 1e-8

// ErrNotDefinite says that a covariance could not be factorised.
var ErrNotDefinite = errors.New("baseline: covariance is not positive definite")

// Fit estimates means and covariances. Cost O(way d^3).
func (m *Discriminant) Fit(t Task) error {
	var count []int
	m.means, count = t.means()
	sigma := m.scatter(t, count)
	ridge := discriminantRidge * meanVariance(t.Support)
	m.chol = make([]mat.Cholesky, len(sigma))
	for c, s := range sigma {
		for j := range s.SymmetricDim() {
			s.SetSym(j, j, s.At(j, j)+ridge)
		}
		if !m.chol[c].Factorize(s) {
			return ErrNotDefinite
		}
	}
	return nil
}

// scatter returns the covariances without ridge.
func (m *Discriminant) scatter(t Task, count []int) []*mat.SymDense {
	n, d := t.Support.Dims()
	sigma := make([]*mat.SymDense, t.Way)
	if m.Pooled {
		sigma = sigma[:1]
	}
	for c := range sigma {
		sigma[c] = mat.NewSymDense(d, nil)
	}
	diff := mat.NewVecDense(d, nil)
	for i := range n {
		c := t.Labels[i]
		diff.SubVec(t.Support.RowView(i), m.means.RowView(c))
		if m.Pooled {
			sigma[0].SymRankOne(sigma[0], 1/float64(n), diff)
		} else {
			sigma[c].SymRankOne(sigma[c], 1/float64(count[c]), diff)
		}
	}
	return sigma
}

// meanVariance returns the variance of the rows about their mean, averaged over the
// dimensions. For equal rows it returns 1, so that a ridge relative to it is never 0.
func meanVariance(x *mat.Dense) float64 {
	n, d := x.Dims()
	mean := make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	sum := 0.0
	for i := range n {
		sum += squaredDistance(x.RawRowView(i), mean)
	}
	if sum == 0 {
		return 1
	}
	return sum / float64(n*d)
}

// ScoresTo stores the log densities without their common constant.
func (m *Discriminant) ScoresTo(dst, queries *mat.Dense) {
	way, d := m.means.Dims()
	q, _ := queries.Dims()
	diff, solved := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
	for c := range way {
		chol := &m.chol[min(c, len(m.chol)-1)]
		half := -chol.LogDet() / 2
		for i := range q {
			diff.SubVec(queries.RowView(i), m.means.RowView(c))
			if err := chol.SolveVecTo(solved, diff); err != nil {
				// Ill-conditioned, which a small ridge means it to be: the
				// result stands.
				var cond mat.Condition
				if !errors.As(err, &cond) {
					dst.Set(i, c, math.Inf(-1))
					continue
				}
			}
			dst.Set(i, c, half-mat.Dot(diff, solved)/2)
		}
	}
}
