package lda

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// shared is the density with one scale matrix for the session (MODEL.md, section 1), in whitened
// coordinates. A is as in [covariance], and <x,y> = xᵀ A⁻¹ y. x̄_j is the mean of class j, whose
// examples count K_j, and m_s the mean of the session:
//
//	m_s = Σ_j α_j x̄_j,   α_j = τ_j/(kappa_d + Σ_j τ_j),   τ_j = kappa K_j/(kappa+K_j)
//	m_j = (kappa m_s + K_j x̄_j)/(kappa+K_j)
//	e_j(x) = -½ <x-m_j, x-m_j> + ½ <x-m_s, x-m_s>
//	       = h_j (<x,x̄_j> - <x,m_s>) + c_j,   h_j = K_j/(kappa+K_j)
//
// e_j is linear in x. It is the difference of two log densities without their volume terms, those of
// class j and of an unseen class, whose mean is m_s.
type shared struct {
	options *Options
	cov     *covariance
	kappa   float64 // see [estimation]

	// By column of the covariance:
	alpha, h, c []float64
	atMean      []float64 // <x̄_j, m_s>
	norm        []float64 // <x̄_j, x̄_j>
	total       float64   // kappa_d + Σ τ_j
	meanNorm    float64   // <m_s, m_s>
	unit        float64   // factor that callers multiply e_j by, see perFreedom and perSpread
	columns     []int     // of the classes taught
	image, x    []float64 // scratch
	room        room
}

// room is scratch memory that later calls use again. Allocating it for each piece of work would make
// the program's memory grow, which takes milliseconds in WebAssembly.
type room struct {
	inners, images, means, meanImages, betweens, row []float64
	own                                              []int
}

// matrix returns a matrix whose data are *in, which it lengthens if needed. Its content is arbitrary.
func matrix(in *[]float64, rows, columns int) blas64.General {
	*in = grow(*in, rows*max(1, columns))
	return blas64.General{Rows: rows, Cols: columns, Stride: max(1, columns), Data: *in}
}

func newShared(o *Options, d int) *shared {
	return &shared{options: o, cov: newCovariance(o.Shared, d), kappa: o.Kappa}
}

// pull returns τ_j for a class with K_j = k.
//
//go:noinline // some kilobytes less to download
func (s *shared) pull(k float64) float64 {
	return s.kappa * k / (s.kappa + k)
}

func always() bool { return true }

// settle brings the density up to date with the examples. It costs as much as [covariance.update],
// and C (d+n).
func (s *shared) settle(taught []*class) {
	s.cov.update(taught, always)
	n := len(s.cov.members)
	for _, v := range []*[]float64{&s.alpha, &s.h, &s.c, &s.atMean, &s.norm} {
		*v = grow(*v, n)
	}
	s.total = s.options.Centre
	for j, m := range s.cov.members {
		k := m.weight
		s.alpha[j] = s.pull(k)
		s.h[j] = k / (s.kappa + k)
		s.total += s.alpha[j]
	}
	floats.Scale(1/s.total, s.alpha)
	s.image, s.x = grow(s.image, s.cov.n), grow(s.x, s.cov.dim)
	clear(s.x)
	clear(s.image)
	if n > 0 {
		blas64.Gemv(blas.Trans, 1, s.cov.meanRows(), vector(s.alpha), 0, vector(s.x))
		if s.cov.n > 0 {
			blas64.Gemv(blas.NoTrans, 1, s.cov.images(), vector(s.alpha), 0, vector(s.image))
		}
	}
	s.cov.innerTo(s.atMean, s.x, s.image)
	s.meanNorm = floats.Dot(s.alpha, s.atMean)
	s.cov.normsTo(s.norm)
	for j := range s.c {
		s.c[j] = s.constant(s.h[j], s.norm[j], s.atMean[j], s.meanNorm)
	}
	if s.options.Spread == 0 {
		s.unit = s.perFreedom(s.x)
	} else {
		s.unit = s.perSpread()
	}
	s.columns = s.columns[:0]
	for _, k := range taught {
		s.columns = append(s.columns, s.cov.index[k].column)
	}
}

// fitted is about the largest n in the sessions to which the priors of one domain were fitted.
const fitted = 64

// between returns the variance between the class means, Σ_j φ_j |x̄_j-x̄|² with φ_j = α_j/Σα and
// x̄ = Σ_j φ_j x̄_j. norm has the squared length of each x̄_j, and meanNorm is the squared length of
// m_s.
func (s *shared) between(norm []float64, meanNorm float64) float64 {
	a := floats.Sum(s.alpha)
	return math.Max(0, floats.Dot(s.alpha, norm)/a-meanNorm/a/a) // a*a might be 0
}

// perFreedom returns the unit of e_j where Options.Spread is 0. A grows with n = Σ_j (K_j-1), and
// divides the variance between class means by some f. Above n_f = fitted the unit gives scores the
// size that they have at n_f:
//
//	unit = f/(1 + (f-1) n_f/n),   f = Σ_j φ_j |x̄_j-x̄|² / Σ_j φ_j <x̄_j-x̄, x̄_j-x̄>
//
// It is 1 for smaller sessions. mean is m_s. Cost C d.
func (s *shared) perFreedom(mean []float64) float64 {
	n := 0.0
	for _, m := range s.cov.members {
		n += m.weight - 1
	}
	if n <= fitted {
		return 1
	}
	norm := grow(s.room.row, len(s.alpha))
	s.room.row = norm
	for j := range norm {
		x := s.cov.mean(j)
		norm[j] = inner(x, x)
	}
	f := s.between(norm, inner(mean, mean)) / s.between(s.norm, s.meanNorm)
	if !(f > 1 && f < 1e9) { // all means are equal, but for rounding
		return 1
	}
	return f / (1 + (f-1)*fitted/n)
}

// perSpread returns the unit of e_j where n_2 = Options.Spread is not 0. V is the variance between the
// class means, of E-1 degrees of freedom, shrunk to 1 by n_2 more. H is the mean of h_j, and H_0 that
// with Options.Kappa in place of the kappa of [estimation]:
//
//	unit = d^.1 (E/2)^b max(1, H_0/H)/V,   V = (n_2 + E Σ_j φ_j <x̄_j-x̄, x̄_j-x̄>)/(n_2 + E - 1)
//
// where b is Options.ByClasses, and E = 1/Σ φ_j² is the effective number of classes. A kappa above the
// option makes each h_j smaller, for the noise of the class means. V has that noise in it already, so
// H_0/H takes it out once.
func (s *shared) perSpread() float64 {
	n2, a := s.options.Spread, floats.Sum(s.alpha)
	if a == 0 {
		return 1
	}
	classes := math.Pow(a/floats.Norm(s.alpha, 2), 2) // E
	h, h0 := floats.Dot(s.alpha, s.h), 0.0
	for j, m := range s.cov.members {
		h0 += s.alpha[j] * m.weight / (s.options.Kappa + m.weight)
	}
	v := (n2 + classes*s.between(s.norm, s.meanNorm)) / (n2 + classes - 1)
	return math.Pow(s.options.filled(s.cov.dim), 0.1) * math.Pow(classes/2, s.options.ByClasses) * math.Max(1, h0/h) / v
}

// constant returns c_j = ½ <m_s,m_s> - ½ <m_j,m_j>.
func (s *shared) constant(h, norm, atMean, meanNorm float64) float64 {
	g := 1 - h
	return (meanNorm - (g*g*meanNorm + 2*g*h*atMean + h*h*norm)) / 2
}

// scoresTo stores e_j of the whitened x in dst, in the order of the classes taught.
// Cost n d + n²/2 + C (d+n), or d²/2 + C d.
func (s *shared) scoresTo(dst, x []float64, w *work) {
	s.cov.imageTo(w.image, x)
	s.cov.innerTo(w.inners, x, w.image)
	mean := floats.Dot(s.alpha, w.inners)
	for i, j := range s.columns {
		dst[i] = s.h[j]*(w.inners[j]-mean) + s.c[j]
	}
}

// innersOf stores <x,x̄_j> for the whitened rows of x in the rows of dst. It has a column for each
// class in the order of the covariance. It returns the images of the rows, valid until the next call.
func (s *shared) innersOf(dst, x blas64.General) (images blas64.General) {
	c := s.cov
	images = matrix(&s.room.images, x.Rows, c.n)
	c.imagesTo(images, x)
	c.innersTo(dst, x, images)
	return images
}

// supportTo stores the left-out scores of the given examples, times unit, in rows of C. Row i of scores
// has e_j of example i, taken out of its class, of the session's mean and of A. Row i of apart has
// e_j with the whole class taken out of the session's mean, and the example out of A. In apart the
// number of its own class has no meaning. In scores it is minus infinity if the example is the only
// one of its class. Both are exact, and apart may be nil. Let class y count K and its example x count
// n. With a = x - x̄_y and γ = w n K/(K-n)
//
//	<p,q>' = <p,q> + β <p,a><q,a>,   β = γ/(1 - γ <a,a>),   x̄_y' = x̄_y - n a/(K-n)
//
// Cost n²/2 + C n for each example, n the order of U, and C (d+n) for each class of theirs.
func (s *shared) supportTo(scores, apart []float64, taught []*class, asked []asked) {
	n, c := len(asked), len(taught)
	if n == 0 {
		return
	}
	inners, images := matrix(&s.room.inners, n, c), matrix(&s.room.images, n, s.cov.n)
	s.room.own = s.room.own[:0] // the columns of their classes
	for i, a := range asked {
		s.cov.residualTo(rowOf(images, i), a)
		if i == 0 || a.of != asked[i-1].of {
			s.room.own = append(s.room.own, s.cov.index[a.of].column)
		}
	}
	clear(inners.Data)
	if s.cov.n > 0 {
		blas64.Trsm(blas.Right, blas.NoTrans, 1, s.cov.factor(), images)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, images, s.cov.images(), 0, inners)
	}
	betweens, at := s.betweens(s.room.own), -1
	s.room.row = grow(s.room.row, c)
	l, row := leftOut{shared: s}, s.room.row
	for i, a := range asked {
		if i == 0 || a.of != asked[i-1].of {
			at++
			l.of, l.between = s.cov.index[a.of], rowOf(betweens, at)
		}
		l.n, l.inners, l.square = a.of.n[a.at], rowOf(inners, i), squaredNorm(rowOf(images, i))
		for whole, dst := range [][]float64{scores, apart} {
			if dst == nil {
				continue
			}
			l.take(row, whole == 1 || a.of.count() == 1)
			for j, at := range s.columns {
				dst[i*c+j] = s.unit * row[at]
				if taught[j] == a.of && whole == 0 && a.of.count() == 1 {
					dst[i*c+j] = math.Inf(-1) // the class has no other example
				}
			}
		}
	}
}

// residualTo stores a row r in dst. Let a be an example minus the mean of its class. All inner products
// with a follow from the image t = U⁻ᵀ r:
//
//	<a,x̄_j> = tᵀ V_j,   tᵀt = <a,a> in primal form, else 1/γ - <a,a>
//
// In primal form r is a. Otherwise r is 1/(w n) at the example's row of D, and zero elsewhere. The
// example b has no row. Its r is -1/(w n) at all rows of the class: the residuals of a class, each times
// its count, sum to zero. Since A⁻¹ Dᵀ = Dᵀ M⁻¹ (M - D Dᵀ), nothing large is subtracted. Where residuals
// are far longer than the prior expects, 1 - γ <a,a> computed directly would lose all digits.
func (c *covariance) residualTo(dst []float64, a asked) {
	clear(dst)
	m, n := c.index[a.of], a.of.n[a.at]
	switch id := a.of.ids[a.at]; {
	case a.of.count() == 1: // a is zero
	case c.primal:
		floats.SubTo(dst, a.of.row(a.at), c.mean(m.column))
	case id != m.base:
		dst[slices.Index(c.of, rowOfClass{m, id, n})] = 1 / (c.weight * n)
	default:
		for r, of := range c.of {
			if of.member == m {
				dst[r] = -1 / (c.weight * n)
			}
		}
	}
}

// leftOut computes the rows of [shared.supportTo] of one example x of class y.
type leftOut struct {
	*shared
	of      *member
	n       float64   // what x counts
	between []float64 // <x̄_j, x̄_y>
	inners  []float64 // <x̄_j, a>
	square  float64   // tᵀt of [covariance.residualTo]
}

// take stores e_j in row, with the example taken out of the session's mean, or its whole class if
// whole is set.
func (l *leftOut) take(row []float64, whole bool) {
	y, k, left := l.of.column, l.of.weight, l.of.weight-l.n
	// m_s' = (total m_s - less x̄_y - onA z a)/z
	less, onA, beta, step, aa := l.pull(k), 0.0, 0.0, 0.0, 0.0 // aa: <a,a>
	if l.of.count > 1 {
		gamma := l.cov.weight * l.n * k / left
		rest := gamma * l.square // 1 - γ <a,a>
		if aa = 1/gamma - l.square; l.cov.primal {
			aa, rest = l.square, math.Max(1-rest, leastPivot)
		}
		beta = gamma / rest
	}
	if !whole {
		less -= l.pull(left)
		step = l.n / left
	}
	z := l.total - less
	if z <= 0 {
		clear(row)
		return
	}
	if !whole {
		onA = -l.pull(left) * step / z
	}
	onY, scale := -less/z, l.total/z
	ya := l.inners[y]                   // <x̄_y, a>
	xa := ya + aa                       // <x,a>
	sa := floats.Dot(l.alpha, l.inners) // <m_s, a>
	msA := scale*sa + onY*ya + onA*aa
	// <x,m_s'>, <m_s',m_s'> before β
	xs := scale*(l.atMean[y]+sa) + onY*(l.norm[y]+ya) + onA*xa
	ss := scale*scale*l.meanNorm + onY*onY*l.norm[y] + onA*onA*aa + 2*(scale*onY*l.atMean[y]+scale*onA*sa+onY*onA*ya)
	xs += beta * xa * msA
	ss += beta * msA * msA
	for j, ja := range l.inners {
		h, in, nn := l.h[j], l.between[j]+ja, l.norm[j] // in: <x̄_j, x>
		js := scale*l.atMean[j] + onY*l.between[j] + onA*ja
		if j == y {
			if whole {
				row[j] = 0
				continue
			}
			h = left / (l.kappa + left)
			in -= step * xa
			nn += step*step*aa - 2*step*ya
			js -= step * msA
			ja -= step * aa
		}
		in += beta * xa * ja
		nn += beta * ja * ja
		js += beta * ja * msA
		row[j] = h*(in-xs) + l.constant(h, nn, js, ss)
	}
}

// normsTo stores <x̄_j,x̄_j>. Cost C (d+n).
func (c *covariance) normsTo(dst []float64) {
	clear(dst)
	sign := 1.0
	if !c.primal {
		sign = -1
		for j := range dst {
			dst[j] = squaredNorm(c.mean(j))
		}
	}
	for k := range c.n {
		for j, v := range c.row(k)[c.uRoom : c.uRoom+len(dst)] {
			dst[j] += sign * v * v
		}
	}
}

// betweens returns <x̄_j, x̄_y>, a row for each column y. They hold until the next call. Cost C (d+n)
// a row.
func (s *shared) betweens(of []int) blas64.General {
	c := s.cov
	means, images := matrix(&s.room.means, len(of), c.dim), matrix(&s.room.meanImages, len(of), c.n)
	for i, y := range of {
		copy(rowOf(means, i), c.mean(y))
		for k := range c.n {
			images.Data[i*images.Stride+k] = c.row(k)[c.uRoom+y]
		}
	}
	dst := matrix(&s.room.betweens, len(of), len(c.members))
	c.innersTo(dst, means, images)
	return dst
}

// innersTo stores <x,x̄_j> for the rows of x in the rows of dst, given their images.
func (c *covariance) innersTo(dst, x, images blas64.General) {
	sign, beta := 1.0, 0.0
	if !c.primal {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, c.meanRows(), 0, dst)
		sign, beta = -1, 1
	}
	if c.n > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, sign, images, c.images(), beta, dst)
	}
}
