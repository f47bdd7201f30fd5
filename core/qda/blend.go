package qda

import (
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

// The precision blend of [niw.Posterior.Blend] needs Euclidean distances in the
// space of the embeddings beside the quadratic forms. Of each class it takes the
// posterior mean there, which follows from the whitened examples,
//
//	m_j - m = L Σ_i w_i/(kappa+K_j)
//
// so that it depends on the examples at hand alone, not on those that were
// removed. Without a blend none of it is computed.

// blends tells whether the options ask for it.
func (c *Classifier) blends() bool { return c.options.RegParam > 0 }

// centre stores x-m in c.y. It returns an error if that is too large to
// calculate with.
func (c *Classifier) centre(x []float64) error {
	c.y = sized(c.y, len(x))
	floats.SubTo(c.y, x, c.prior.M)
	_, err := checkedNorm2(squaredNorm(c.y))
	return err
}

// centreWhitened stores x-m = L z in c.y. Cost d²/2.
func (c *Classifier) centreWhitened(z []float64) {
	c.y = sized(c.y, len(z))
	copy(c.y, z)
	c.prior.UnwhitenTo(c.y)
}

// blend returns q' of the class k, or of a class never seen when k is nil, for
// the query whose quadratic form is q and whose x-m is in c.y. Cost O(d).
func (c *Classifier) blend(post *niw.Posterior, k *class, q float64) float64 {
	var e float64
	if k == nil {
		e = floats.Dot(c.y, c.y)
	} else {
		e = distance2(c.y, k.meanShift(c.prior))
	}
	return post.Blend(c.options.Inference, c.options.RegParam, q, e)
}

// blendWithout is blend for the class's own example in c.y, after taking it out.
// With k_j = kappa+K_j the mean without it is (k_j m_j - x)/(k_j-1) relative to
// m, hence
//
//	|x - mean|² = (k_j/(k_j-1))² |x-m_j|²
func (c *Classifier) blendWithout(post *niw.Posterior, k *class, q float64) float64 {
	e := withoutOne(distance2(c.y, k.meanShift(c.prior)), post.Kappa+1)
	return post.Blend(c.options.Inference, c.options.RegParam, q, e)
}

// withoutOne turns the squared distance of an example from the mean of its class
// with kappa_j = kj into that from the mean without it.
func withoutOne(e, kj float64) float64 {
	r := kj / (kj - 1)
	return r * r * e
}

// meanShift returns m_j-m, computed anew after a change. Cost K d + d²/2 then.
func (k *class) meanShift(p *niw.Prior) []float64 {
	if !k.shifted {
		k.shift = sized(k.shift, k.w.Cols)
		posteriorMean(k.shift, k.w, p.Kappa)
		p.UnwhitenTo(k.shift)
		k.shifted = true
	}
	return k.shift
}

// checkBlend returns an error if the options ask for a blend and products with L
// could overflow.
func checkBlend(p *niw.Prior, o *Options) error {
	if o.RegParam == 0 {
		return nil
	}
	if s := p.TraceS(); !(s <= maxNorm2) {
		return &niw.ValueError{Name: "trace of S", Index: -1, Value: s, Want: "at most 1e140 for a blended precision: check the embeddings' scale"}
	}
	return nil
}

// sized returns x where it has length n, else fresh memory.
func sized(x []float64, n int) []float64 {
	if len(x) == n {
		return x
	}
	return make([]float64, n)
}
