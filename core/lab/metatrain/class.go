package metatrain

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/niw"
)

// class is the posterior of one class of a task in the low-rank form of package
// discriminant, with all that its reverse pass needs:
//
//	M = I + 11ᵀ/kappa + G = C Cᵀ,   u = g - G1/(kappa+K),   a = M⁻¹u
//	q = r2 - 2(1ᵀg)/(kappa+K) + 1ᵀG1/(kappa+K)² - uᵀa
//
// G is the K×K Gram matrix of the whitened support. g holds the K inner products of the support
// with a query, and r2 is the query's squared length. Rows of a belong to queries.
type class struct {
	k, off int // examples, and the first's row in the support
	post   niw.Posterior
	norm   norm
	gram   []float64 // K×K
	chol   []float64 // K×K, lower
	inv    []float64 // M⁻¹, K×K
	rowSum []float64 // G1
	total  float64   // 1ᵀG1
	a      []float64 // queries×K
	sum    []float64 // 1ᵀg of each query
	q      []float64 // quadratic form of each query
	dM, dG []float64 // K×K, reverse pass
	dr, du []float64 // K, reverse pass
}

// fit takes in the Gram matrix already in c.gram. Cost O(K³).
func (c *class) fit(inf niw.Inference, prior niw.Posterior) {
	k := c.k
	c.chol, c.inv = grown(c.chol, k*k), grown(c.inv, k*k)
	c.rowSum = grown(c.rowSum, k)
	c.total = 0
	for i := range k {
		var s float64
		for j, g := range c.gram[i*k : (i+1)*k] {
			c.chol[i*k+j] = g + 1/prior.Kappa
			s += g
		}
		c.chol[i*k+i]++
		c.rowSum[i] = s
		c.total += s
	}
	logDet := cholesky(c.chol, k)
	invert(c.inv, c.chol, k)
	c.post = prior
	c.post.Kappa += float64(k)
	c.post.Nu += float64(k)
	c.post.LogDetS += logDet + math.Log(prior.Kappa/c.post.Kappa)
	c.norm = newNorm(inf, &c.post)
}

// score computes the quadratic form of every query; cross holds g in its
// columns off to off+K, r2 the squared lengths. Cost K² for a query.
func (c *class) score(cross blas64.General, r2 []float64) {
	k, n := c.k, cross.Rows
	c.a, c.sum, c.q = grown(c.a, n*k), grown(c.sum, n), grown(c.q, n)
	c.du = grown(c.du, k)
	u, kj := c.du, c.post.Kappa
	for i := range n {
		g := cross.Data[i*cross.Stride+c.off : i*cross.Stride+c.off+k]
		var sum, fit float64
		for r, v := range g {
			sum += v
			u[r] = v - c.rowSum[r]/kj
		}
		a := c.a[i*k : (i+1)*k]
		for r := range a {
			a[r] = dot(c.inv[r*k:(r+1)*k], u)
			fit += a[r] * u[r]
		}
		c.sum[i] = sum
		c.q[i] = math.Max(r2[i]-2*sum/kj+c.total/(kj*kj)-fit, 0)
	}
}

// dot returns the inner product of two short vectors.
func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// priorGrad is the gradient with respect to kappa, nu and log det S, S the prior scale.
type priorGrad struct {
	kappa, nu, logDet float64
}

// reverse carries dl back to the inner products. dl is the gradient of the loss with respect to the
// class's log densities, one for each query. The columns off to off+K of dcross are stored. The
// queries' squared lengths dr2 and the prior's scalars are added. The Gram matrix is left in c.dG,
// symmetrised so that the support's gradient is dG W. The steps follow the formulas above [class]
// line by line:
//
//	dM += ½ (-Σdl) M⁻¹ + Σ dq a aᵀ      du = -2 dq a
//	dg  = -2 dq/kj 1 + du               d(G1) = -Σ du/kj,  d(1ᵀG1) = Σ dq/kj²
//
// Cost K² for a query.
func (c *class) reverse(inf niw.Inference, dl []float64, dcross blas64.General, dr2 []float64, pg *priorGrad) {
	k, kj := c.k, c.post.Kappa
	c.dM, c.dr = grown(c.dM, k*k), grown(c.dr, k)
	clear(c.dM)
	clear(c.dr)
	var dTotal, dKappaJ, dNuJ, dLogDet float64
	for i, l := range dl {
		p := c.norm.at(inf, &c.post, c.q[i])
		dq, a := l*p.q, c.a[i*k:(i+1)*k]
		dNuJ += l * p.nu
		dLogDet += l * p.logDet
		dr2[i] += dq
		dTotal += dq / (kj * kj)
		dg := dcross.Data[i*dcross.Stride+c.off : i*dcross.Stride+c.off+k]
		var along float64
		for r, v := range a {
			du := -2 * dq * v
			dg[r] = du - 2*dq/kj
			c.dr[r] -= du / kj
			along += du * c.rowSum[r]
			row := c.dM[r*k : (r+1)*k]
			for s, w := range a {
				row[s] += dq * v * w
			}
		}
		dKappaJ += l*p.kappa + dq*(2*c.sum[i]/(kj*kj)-2*c.total/(kj*kj*kj)) + along/(kj*kj)
	}
	c.reverseGram(dLogDet, dTotal)
	pg.nu += dNuJ
	pg.logDet += dLogDet
	pg.kappa += dKappaJ + c.reverseKappa(dLogDet)
}

// reverseGram completes dM by the log-determinant and forms 2 sym(dG), the
// matrix that takes the support W to its gradient.
func (c *class) reverseGram(dLogDet, dTotal float64) {
	k := c.k
	c.dG = grown(c.dG, k*k)
	for i, v := range c.inv {
		c.dM[i] += dLogDet * v
	}
	for r := range k {
		for s := range k {
			c.dG[r*k+s] = c.dM[r*k+s] + c.dM[s*k+r] + 2*dTotal + c.dr[r] + c.dr[s]
		}
	}
}

// reverseKappa returns the gradient with respect to the prior's kappa in M and in log det S_j, that
// is, not through kappa_j.
func (c *class) reverseKappa(dLogDet float64) float64 {
	kappa := c.post.Kappa - float64(c.k)
	var inM float64
	for _, v := range c.dM {
		inM -= v
	}
	return inM/(kappa*kappa) + dLogDet*(1/kappa-1/c.post.Kappa)
}

// cholesky overwrites the lower triangle of the K×K matrix m with its Cholesky
// factor and returns log det m. The matrices it is given are at least the
// identity, hence so is every Schur complement; rounding may say otherwise.
func cholesky(m []float64, k int) (logDet float64) {
	for i := range k {
		row := m[i*k : (i+1)*k]
		for j := range i {
			above := m[j*k : j*k+j+1]
			row[j] = (row[j] - dot(above[:j], row)) / above[j]
		}
		row[i] = math.Sqrt(math.Max(row[i]-dot(row[:i], row), 1))
		logDet += 2 * math.Log(row[i])
	}
	return logDet
}

// invert stores (C Cᵀ)⁻¹ in dst, C the K×K lower triangular factor.
func invert(dst, c []float64, k int) {
	for j := range k {
		x := dst[j*k : (j+1)*k] // row j of the symmetric inverse: solve for e_j
		clear(x)
		x[j] = 1
		for i := j; i < k; i++ {
			x[i] = (x[i] - dot(c[i*k+j:i*k+i], x[j:])) / c[i*k+i]
		}
		for i := k - 1; i >= 0; i-- {
			for r := i + 1; r < k; r++ {
				x[i] -= c[r*k+i] * x[r]
			}
			x[i] /= c[i*k+i]
		}
	}
}
