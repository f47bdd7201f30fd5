package qda

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

const (
	// BackgroundShots is the number of examples that a class of a [Background]
	// counts for: what a taught class has, not what it was made from.
	BackgroundShots = 5

	// maxBackground bounds the classes; a file that asks for more is not ours.
	maxBackground = 4096
)

// Background is what the world looks like beside the taught classes: the means
// of n classes that the prior was learned from, in a subspace of R dimensions. A
// query that resembles one of them more than the session's own examples do is
// more likely a stranger than its evidence says. In whitened space
//
//	b = ln 1/n Σ_k exp((l(q_k) - l_0(r²))/T),   q_k = |w - m_k|²,   r² = |w|²
//
// with l the Student-t density under a class of five examples of mean m̄_k and
// no scatter, m_k = 5/(kappa+5) m̄_k, and l_0 that of the prior predictive. Like
// a cohort in speaker verification it takes out of the score what makes a query
// score high or low against any class. Known weighs b less the mean of the
// session's examples, so that it costs nothing where the taught classes resemble
// the background themselves.
//
// Make one with [NewBackground]; the fields must not be changed then.
type Background struct {
	Directions  *mat.Dense // U, R×d
	Coordinates *mat.Dense // n×R: the mean of class k is m + Uᵀ times row k, m the prior's
	Temperature float64    // T
}

// NewBackground returns the background of the given parts, which it keeps. It
// returns a *[niw.DimensionError] or a *[niw.ValueError] that names what is wrong.
func NewBackground(directions, coordinates *mat.Dense, temperature float64) (*Background, error) {
	if directions == nil {
		return nil, &niw.DimensionError{Name: "directions of the background", Got: 0, Want: 1}
	}
	if coordinates == nil {
		return nil, &niw.DimensionError{Name: "classes of the background", Got: 0, Want: 1}
	}
	r, d := directions.Dims()
	n, columns := coordinates.Dims()
	if n > maxBackground {
		return nil, &niw.DimensionError{Name: "classes of the background", Got: n, Want: maxBackground}
	}
	if r > d {
		return nil, &niw.DimensionError{Name: "directions of the background", Got: r, Want: d}
	}
	if columns != r {
		return nil, &niw.DimensionError{Name: "coordinates of the background", Got: columns, Want: r}
	}
	if !(temperature >= 1e-3 && temperature <= 1e6) {
		return nil, &niw.ValueError{Name: "temperature of the background", Index: -1, Value: temperature, Want: "a number from 0.001 to 1000000"}
	}
	for i := range r {
		if err := checkSmall("direction of the background", directions.RawRowView(i), d); err != nil {
			return nil, err
		}
	}
	for k := range n {
		if err := checkSmall("class of the background", coordinates.RawRowView(k), r); err != nil {
			return nil, err
		}
	}
	return &Background{Directions: directions, Coordinates: coordinates, Temperature: temperature}, nil
}

// Dim returns d.
func (b *Background) Dim() int { _, d := b.Directions.Dims(); return d }

// Rank returns R.
func (b *Background) Rank() int { r, _ := b.Directions.Dims(); return r }

// Check reports whether the background is one of embeddings of length d.
func (b *Background) Check(d int) error {
	if b != nil && b.Dim() != d {
		return &niw.DimensionError{Name: "direction of the background", Got: b.Dim(), Want: d}
	}
	return nil
}

// WhitenedBackground is a background under one prior.
type WhitenedBackground struct {
	Directions *mat.Dense // V, R×d: U whitened

	coordinates blas64.General // n×R, times -2 share
	norm2       []float64      // |m_k|²
	temperature float64
	prior, post niw.Posterior
	norm        float64
}

// Under returns the background under a prior. Cost that of whitening R vectors, and
// n R d.
func (b *Background) Under(p *niw.Prior) *WhitenedBackground {
	r, d := b.Directions.Dims()
	n, _ := b.Coordinates.Dims()
	v := mat.NewDense(r, d, nil)
	for i := range r {
		floats.AddTo(v.RawRowView(i), b.Directions.RawRowView(i), p.M)
	}
	p.WhitenRowsTo(v, v)
	s := &WhitenedBackground{Directions: v, norm2: make([]float64, n), temperature: b.Temperature, prior: emptyClass(p)}
	s.post = s.prior
	s.post.Kappa += BackgroundShots
	s.post.Nu += BackgroundShots
	s.norm = s.post.LogNorm(niw.FB) - s.prior.LogNorm(niw.FB)
	share := BackgroundShots / s.post.Kappa
	mean, c := mat.NewVecDense(d, nil), mat.NewDense(n, r, nil)
	for k := range n {
		mean.MulVec(v.T(), b.Coordinates.RowView(k))
		s.norm2[k] = share * share * mat.Dot(mean, mean)
	}
	c.Scale(-2*share, b.Coordinates)
	s.coordinates = c.RawMatrix()
	return s
}

// ScoresTo stores b of the whitened rows of w, n×d, in dst, of length n, with
// scratch of its own. Cost that of [BackgroundScorer.Score], and R d, for each.
func (s *WhitenedBackground) ScoresTo(dst []float64, w blas64.General) {
	scorer, z := s.Scorer(), make([]float64, s.Directions.RawMatrix().Rows)
	for i := range dst {
		row := w.Data[i*w.Stride : i*w.Stride+w.Cols]
		gemv(s.Directions.RawMatrix(), row, 0, z)
		dst[i] = scorer.Score(z, squaredNorm(row))
	}
}

// BackgroundScorer measures points against a background. It has scratch space and
// is not safe for use by several goroutines at once.
type BackgroundScorer struct {
	*WhitenedBackground
	along []float64
}

// Scorer returns a scorer of its own scratch.
func (s *WhitenedBackground) Scorer() *BackgroundScorer {
	return &BackgroundScorer{s, make([]float64, len(s.norm2))}
}

// Score returns b of a whitened point w with z = V w, of length R, and r2 = |w|².
// Cost n R multiply-adds and n exponentials: with q_0 the least of the q_k and
// c = kappa_j/(kappa_j+1)
//
//	b = (l(q_0) - l_0(r²))/T + ln 1/n Σ_k exp(-(nu_j+1)/2T ln (1+c q_k)/(1+c q_0))
func (s *BackgroundScorer) Score(z []float64, r2 float64) float64 {
	gemv(s.coordinates, z, 0, s.along)
	least := math.Inf(1)
	for k, v := range s.along {
		q := r2 + v + s.norm2[k]
		if q < 0 {
			q = 0
		}
		if q < least {
			least = q
		}
		s.along[k] = q
	}
	c, power := s.post.Kappa/(s.post.Kappa+1), (s.post.Nu+1)/2/s.temperature
	scale := c / (1 + c*least)
	var sum float64
	for _, q := range s.along {
		sum += math.Exp(-power * logOnePlus((q-least)*scale))
	}
	return (s.norm+s.post.LogKernel(niw.FB, least)-s.prior.LogKernel(niw.FB, r2))/s.temperature + math.Log(sum/float64(len(s.along)))
}

// logOnePlus returns ln(1+x) for x >= 0, with a relative error below 1e-12. Nearly
// all classes of a background are nearly as far as the nearest; there the series of
// 2 artanh(x/(2+x)) takes a third of the time of the library's.
func logOnePlus(x float64) float64 {
	t := x / (2 + x)
	if t > 0.15 {
		return math.Log1p(x)
	}
	y := t * t
	return 2 * t * (1 + y*(1./3+y*(1./5+y*(1./7+y*(1./9+y*(1./11+y/13))))))
}

// background is what a classifier needs to score queries: the scorer with the
// partners of the directions, for queries whitened in part.
type background struct {
	*BackgroundScorer
	partners blas64.General // R×r
	z        []float64
}

func newBackground(b *Background, p *niw.Prior) *background {
	rank := p.Rank()
	g := &background{BackgroundScorer: b.Under(p).Scorer(), z: make([]float64, b.Rank()),
		partners: blas64.General{Rows: b.Rank(), Cols: rank, Stride: rank, Data: make([]float64, b.Rank()*rank)}}
	for i := 0; rank > 0 && i < b.Rank(); i++ {
		p.PartnerTo(g.partners.Data[i*rank:(i+1)*rank], g.Directions.RawRowView(i))
	}
	return g
}

// score returns b of a whitened point; 0 without a background.
func (g *background) score(x point) float64 {
	if g == nil {
		return 0
	}
	gemv(g.Directions.RawMatrix(), x.z, 0, g.z)
	if x.a != nil {
		gemv(g.partners, x.a, 1, g.z)
	}
	return g.Score(g.z, x.r2)
}

// mean returns that of b over the examples of the chosen classes, at most each of
// every one; 0 without a background.
func (g *background) mean(chosen []*class, each int) float64 {
	if g == nil {
		return 0
	}
	var sum, n float64
	for _, k := range chosen {
		take := min(each, k.count())
		for i := range take {
			w := k.row(i * k.count() / take)
			sum += g.score(point{z: w, r2: squaredNorm(w)})
			n++
		}
	}
	return sum / n
}
