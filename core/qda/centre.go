package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

const (
	// centreClasses and centreExamples bound what the mean of a session is made
	// of, so that it comes to rest while the session grows.
	centreClasses  = 32
	centreExamples = 8
)

// centre is the mean of a session, by which its examples tell more than the prior
// what the pictures of it look like:
//
//	m_d ~ N(m, Sigma/kappa_d),   mu_j | m_d ~ N(m_d, Sigma/kappa)
//
// With w̄_j the mean of the K_j examples of class j, the mean of m_d given them is
//
//	m_s = m + L δ,   δ = Σ_j a_j w̄_j / (kappa_d + Σ_j a_j),   a_j = kappa K_j/(kappa+K_j)
//
// over the first 32 classes that have examples, with the first 8 bursts of each.
// Densities are those of a prior with m_s in place of m; that m_s has a scatter of
// its own, and that it knows the example which is left out of a class, is neglected.
type centre struct {
	on      bool      // not at m
	moved   bool      // since [centre.takeMoved]
	delta   []float64 // d
	partner []float64 // r: of delta, for queries whitened in part
	norm2   float64   // |δ|²
	next    []float64 // scratch
}

// takeMoved tells whether δ has moved since it was asked last.
func (c *centre) takeMoved() bool {
	moved := c.moved
	c.moved = false
	return moved
}

// along returns wᵀδ of a whitened point, 0 where the session has no mean of its own.
func (c *centre) along(z, a []float64) float64 {
	if !c.on {
		return 0
	}
	s := inner(z, c.delta)
	if len(a) > 0 {
		s += inner(a, c.partner)
	}
	return s
}

// shift returns δ, nil where the session has no mean of its own.
func (c *centre) shift() []float64 {
	if !c.on {
		return nil
	}
	return c.delta
}

// r2 returns |w-δ|² of a whitened point.
func (c *centre) r2(x point) float64 {
	if !c.on {
		return x.r2
	}
	return max(x.r2-2*x.along+c.norm2, 0)
}

// inner returns xᵀy.
func inner(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

// move computes δ anew and tells whether it changed. Cost d for each of at most 256
// examples, and r d.
func (c *centre) move(kappaD float64, p *niw.Prior, taught []*class) (moved bool) {
	wasOn := c.on
	c.on = kappaD > 0 && len(taught) > 0
	if !c.on {
		return wasOn
	}
	if c.delta == nil {
		d := p.Dim()
		c.delta, c.next, c.partner = make([]float64, d), make([]float64, d), make([]float64, p.Rank())
	}
	clear(c.next)
	total := kappaD
	for _, k := range taught[:min(len(taught), centreClasses)] {
		n := min(k.count(), centreExamples)
		for i := range n {
			floats.AddScaled(c.next, p.Kappa/(p.Kappa+float64(n)), k.row(i)) // a_j/K_j
		}
		total += p.Kappa * float64(n) / (p.Kappa + float64(n))
	}
	floats.Scale(1/total, c.next)
	if wasOn && slices.Equal(c.next, c.delta) {
		return false
	}
	c.delta, c.next = c.next, c.delta
	c.norm2 = squaredNorm(c.delta)
	if len(c.partner) > 0 {
		p.PartnerTo(c.partner, c.delta)
	}
	return true
}

// recentre makes the mean of the session what its examples say. Groups whose
// examples changed have lost theirs. Cost K d + O(K²) for each class if δ moved, else
// for each that changed.
func (c *Classifier) recentre() {
	kappaD := c.options.Centre
	if c.options.Pooled {
		kappaD = 0
	}
	moved := c.centre.move(kappaD, c.prior, c.taught)
	c.centre.moved = c.centre.moved || moved
	for _, k := range c.taught {
		k.stale = k.stale || moved
		if !k.lowRank() {
			continue
		}
		switch {
		case !c.centre.on:
			k.group.Unshift()
		case moved || !k.group.Shifted():
			gemv(k.w, c.centre.delta, 0, k.cross)
			k.group.Shift(k.cross, c.centre.norm2)
		}
	}
}
