package lda

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// furthest is the largest factor between w and Options.Shared, and between kappa and Options.Kappa.
// core/session/EXPERIMENTS.md has figures.
const furthest = 16

// estimation finds w of [covariance] and kappa of [shared] for a session, class by class. Without
// Options.Spread they are the options. With it the prior knows only the shape of its scale matrix, and
// the session's own examples tell more. In whitened coordinates
//
//	W     = Σ_j Σ_{i in j} n_i |x_i-x̄_j|²/(N-C)               squared length of a residual
//	B     = E Σ_j φ_j |x̄_j-x̄|²/(E-1) - W Σ_j φ_j/K_j          spread of the classes, at least 0
//	F     = W²/t                                              directions that the residuals fill
//	kappa = W (n_2+E-1)/(n_2 W/Kappa + (E-1) B)
//	ln w  = ((N-C) ln((d-F)/(W (1+F))) + n_2 ln Shared)/(N-C+n_2)
//
// φ_j, x̄ and E are those of [shared.perSpread], with Options.Kappa.
//
// kappa is the variance within the classes over that between them. With Options.Near it is at least
// the option: near-copies that were not found make W too small.
//
// w mixes I and the scatter so that the covariance has the smallest expected squared error. That is
// the oracle of Chen, Wiesel, Eldar and Hero (Shrinkage algorithms for MMSE covariance estimation,
// 2010) with W for the trace. t estimates the squared Frobenius norm of the covariance: the mean of
// (r_iᵀ r_k)² over pairs of residuals of different classes, which are independent. w is a power of √2,
// so that it seldom changes and the factor of A is seldom made anew.
type estimation struct {
	done    bool
	next    int       // class
	cost    int       // of the work since the last rest
	first   []float64 // x̄_1; means are taken from there
	mean    []float64
	all     []float64 // Σ τ_j (x̄_j-x̄_1)
	total   float64   // Σ τ_j
	squares float64   // Σ τ_j²
	scatter float64   // Σ τ_j |x̄_j-x̄_1|²
	noise   float64   // Σ τ_j/K_j
	within  float64   // Σ_j Σ_i n_i |x_i-x̄_j|²
	length  float64   // Σ_j Σ_i n_i |x_i|² of the same examples
	freedom float64   // N-C
}

// estimate goes on with e until more returns false. It reports whether w and kappa are found. Cost N d,
// and 64² d/2 for t.
func (s *shared) estimate(e *estimation, taught []*class, more func() bool) bool {
	if e.done {
		return true
	}
	w, o := s.options.Shared, s.options
	if s.kappa = o.Kappa; o.Spread > 0 && len(taught) > 1 {
		for ; e.next < len(taught); e.next++ {
			e.take(taught[e.next], s)
			if e.cost > pieceCost/2 {
				if e.cost = 0; !more() {
					e.next++
					return false
				}
			}
		}
		if e.within > rounding*e.length {
			if !more() {
				return false
			}
			if s.kappa = bounded(e.kappa(o), o.Kappa); o.Near > 0 {
				s.kappa = max(s.kappa, o.Kappa)
			}
			w = e.weight(s, taught)
		}
	}
	if *e = (estimation{done: true}); w != s.cov.weight {
		fresh := newCovariance(w, s.cov.dim)
		fresh.anew = s.cov.anew
		s.cov = fresh
	}
	return true
}

// take adds the examples of a class.
func (e *estimation) take(k *class, s *shared) {
	if e.mean == nil {
		e.mean, e.all = make([]float64, s.cov.dim), make([]float64, s.cov.dim)
	}
	k.meanTo(e.mean)
	if k.count() > 1 {
		for i, n := range k.n {
			e.within += n * squaredDistance(k.row(i), e.mean)
			e.length += n * squaredNorm(k.row(i))
		}
		e.freedom += float64(k.count() - 1)
	}
	if e.first == nil {
		e.first = copied(e.mean)
	}
	weight := k.weight()
	tau := s.options.Kappa * weight / (s.options.Kappa + weight)
	floats.Sub(e.mean, e.first)
	floats.AddScaled(e.all, tau, e.mean)
	e.scatter += tau * squaredNorm(e.mean)
	e.total, e.squares, e.noise = e.total+tau, e.squares+tau*tau, e.noise+tau/weight
	e.cost += 6 * k.count() * s.cov.dim
}

// kappa returns the estimate of kappa.
func (e *estimation) kappa(o *Options) float64 {
	w, classes := e.within/e.freedom, e.total*e.total/e.squares
	scatter := e.scatter/e.total - squaredNorm(e.all)/e.total/e.total
	between := max(0, classes*scatter-(classes-1)*w*e.noise/e.total)
	return w * (o.Spread + classes - 1) / (o.Spread*w/o.Kappa + between)
}

// weight returns the estimate of w, or the option if fewer than two classes have residuals.
func (e *estimation) weight(s *shared, taught []*class) float64 {
	o, d, w := s.options, s.options.filled(s.cov.dim), e.within/e.freedom
	t, pairs := s.squaredScale(taught, e.mean)
	if !pairs || w == 0 {
		return o.Shared
	}
	root := w / math.Sqrt(t) // of F: w w and t may both be too small for a number
	fills := max(1, min(d, root*root))
	fresh := bounded((d-fills)/(w*(1+fills)), o.Shared)
	return coarse(math.Exp((e.freedom*math.Log(fresh) + o.Spread*math.Log(o.Shared)) / (e.freedom + o.Spread)))
}

// bounded returns v, but at most furthest times more or less than centre.
func bounded(v, centre float64) float64 { return max(centre/furthest, min(centre*furthest, v)) }

// squaredScale returns t, from the examples that [chooseAsked] takes of the classes with residuals, and
// whether these are two classes or more. mean is scratch of length d.
func (s *shared) squaredScale(taught []*class, mean []float64) (t float64, pairs bool) {
	var several []*class
	for _, k := range taught {
		if k.count() > 1 {
			several = append(several, k)
		}
	}
	chosen := chooseAsked(several)
	rows, share := make([][]float64, len(chosen)), make([]float64, len(chosen)) // share: of the covariance, in the mean of rᵢrᵢᵀ
	sum, total := 0.0, 0.0
	for i, a := range chosen {
		n := a.of.n[a.at]
		share[i] = 1 - n/a.of.weight()
		if i == 0 || a.of != chosen[i-1].of {
			a.of.meanTo(mean)
		}
		rows[i] = copied(a.of.row(a.at))
		floats.Sub(rows[i], mean)
		floats.Scale(math.Sqrt(n), rows[i])
		for k, r := range rows[:i] {
			if chosen[k].of != a.of {
				v := inner(r, rows[i])
				sum += v * v
				total += share[k] * share[i]
			}
		}
	}
	if total == 0 {
		return 0, false
	}
	return sum / total, true
}
