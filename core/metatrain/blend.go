package metatrain

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/episode"
	"metaqda/core/niw"
)

// euclid is what the precision blend of [niw.Posterior.Blend] adds to a class:
// with y = x-m, not whitened,
//
//	c  = m_j - m = Σ y_k/kappa_j over the class's support,   e = |y-c|²
//	q' = (1-lambda) q + lambda e/tau_j
//
// It is all empty without a blend.
type euclid struct {
	lambda float64
	c      []float64 // d
	e      []float64 // of each query
	along  []float64 // (y-c)ᵀc of each query
	q      []float64 // q' of each query
	de     []float64 // gradient by e
}

// mix computes q' of every query from q; plain holds y, support rows first.
// Without a blend both are the same. Cost d for a query.
func (c *class) mix(o *Objective, plain blas64.General, ns int) {
	c.euclid.lambda, c.mixed = o.RegParam, c.q
	if o.RegParam == 0 {
		return
	}
	u, d, n := &c.euclid, plain.Cols, len(c.q)
	u.c, u.e, u.along, u.q, u.de = grown(u.c, d), grown(u.e, n), grown(u.along, n), grown(u.q, n), grown(u.de, n)
	clear(u.c)
	for k := range c.k {
		blas64.Axpy(1/c.post.Kappa, vector(rowOf(plain, c.off+k)), vector(u.c))
	}
	for i, q := range c.q {
		var e, along float64
		for k, v := range rowOf(plain, ns+i) {
			diff := v - u.c[k]
			e += diff * diff
			along += diff * u.c[k]
		}
		u.e[i], u.along[i] = e, along
		u.q[i] = c.post.Blend(o.Inference, o.RegParam, q, e)
	}
	c.mixed = u.q
}

// plainRows returns the rows less m, not whitened, or nothing without a blend.
func (e *Engine) plainRows(w *Workspace) (g blas64.General) {
	if e.objective.RegParam == 0 {
		return g
	}
	return w.matrix(w.plain, 0, w.n)
}

func rowOf(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// unmix takes dmix, the gradient by q' of query i, and returns that by q. It
// adds what goes by tau_j and e to the prior's scalars,
//
//	dtau = -dmix lambda e/tau_j²,   de = dmix lambda/tau_j,   dkappa_j += 2 de (y-c)ᵀc/kappa_j
//
// and leaves de for [Workspace.reverseMean].
func (c *class) unmix(inf niw.Inference, i int, dmix float64, pg *priorGrad) float64 {
	u := &c.euclid
	if u.lambda == 0 {
		return dmix
	}
	de := blendGrad(inf, &c.post, u.lambda, u.e[i], dmix, pg)
	pg.kappa += 2 * de * u.along[i] / c.post.Kappa
	u.de[i] = de
	return (1 - u.lambda) * dmix
}

// blendGrad carries dmix, the gradient by q', on to kappa and nu by tau_j and
// returns the gradient by e. With df_j = nu_j-d+1,
//
//	FB   dtau/dkappa_j = df_j/(kappa_j+1)²,   dtau/dnu_j = kappa_j/(kappa_j+1)
//	MAP  dtau/dnu_j = 1
func blendGrad(inf niw.Inference, post *niw.Posterior, lambda, e, dmix float64, pg *priorGrad) (de float64) {
	tau := post.PrecisionScale(inf)
	de = dmix * lambda / tau
	dtau := -de * e / tau
	if inf == niw.MAP {
		pg.nu += dtau
		return de
	}
	k := post.Kappa + 1
	pg.kappa += dtau * (post.Nu - float64(post.Dim) + 1) / (k * k)
	pg.nu += dtau * post.Kappa / k
	return de
}

// mixPrior computes q' of every query under the prior predictive, where q is
// |z|² and e is |y|².
func (w *Workspace) mixPrior(e *Engine) {
	w.mixed0 = w.r2
	lambda := e.objective.RegParam
	if lambda == 0 {
		return
	}
	n := len(w.r2)
	w.e0, w.de0, w.q0 = grown(w.e0, n), grown(w.de0, n), grown(w.q0, n)
	for i, r2 := range w.r2 {
		y := vector(rowOf(w.matrix(w.plain, w.ns, n), i))
		w.e0[i] = blas64.Dot(y, y)
		w.q0[i] = e.prior.Blend(e.objective.Inference, lambda, r2, w.e0[i])
	}
	w.mixed0 = w.q0
}

// unmixPrior is [class.unmix] for the prior predictive.
func (w *Workspace) unmixPrior(e *Engine, i int, dmix float64) float64 {
	lambda := e.objective.RegParam
	if lambda == 0 {
		return dmix
	}
	w.de0[i] = blendGrad(e.objective.Inference, &e.prior, lambda, w.e0[i], dmix, &w.pg)
	return (1 - lambda) * dmix
}

// reverseMean carries the gradients by the distances e back to m, which they
// depend on beside the whitened rows: d(x-m_j)/dm = -kappa/kappa_j, hence
//
//	dm = -2 Σ_i de0_i y_i - 2 Σ_j kappa/kappa_j Σ_i de_ij (y_i-c_j)
//
// Cost d for a query and for a class.
func (w *Workspace) reverseMean(e *Engine) {
	if e.objective.RegParam == 0 {
		return
	}
	w.dMean = grown(w.dMean, w.d)
	clear(w.dMean)
	for j := range w.class {
		c := &w.class[j]
		share := e.prior.Kappa / c.post.Kappa
		var sum float64
		for i, de := range c.euclid.de {
			w.de0[i] += share * de
			sum += share * de
		}
		blas64.Axpy(2*sum, vector(c.euclid.c), vector(w.dMean))
	}
	for i, de := range w.de0 {
		blas64.Axpy(-2*de, vector(rowOf(w.matrix(w.plain, w.ns, len(w.de0)), i)), vector(w.dMean))
	}
}

// supportBlend is what the levels of [qda.Calibration.GramSession] need of the
// task's support for a blend.
func (w *Workspace) supportBlend(o *Objective) (g blas64.General) {
	if o.RegParam == 0 {
		return g
	}
	return outer(w.matrix(w.plain, 0, w.ns))
}

// fillPlain stores the rows of the episode less m, not whitened, for a blend.
func (s *scratch) fillPlain(e *episode.Episode, dom *Domain, m []float64) {
	d := len(m)
	rows := append(slices.Concat(e.Support...), e.Query...)
	s.work.plain = grown(s.work.plain, len(rows)*d)
	for i, r := range rows {
		for k, x := range dom.Row(r) {
			s.work.plain[i*d+k] = float64(x) - m[k]
		}
	}
}
