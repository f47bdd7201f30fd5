// Package adapt learns a prior from the classes of sessions, in closed form. The prior describes
// what a person's pictures of one kind have in common. It helps with new classes of this kind.
// Within a session, classes share a covariance anyway (core/session/MODEL.md, section 1). This
// package does the same across sessions.
//
// The coordinates are whitened by the prior in use, and w is the prior's. R holds the residuals of all
// examples from the means of their classes. The weights α_j are as in MODEL.md:
//
//	S' = s (S + w RᵀR),   m' = Σ_j α_j x̄_j,   ln T' = ln T + δ
//
// S + w RᵀR is the A, and m' the m_s, of a session that has all these classes. s keeps the mean squared
// distance within left-out classes the same, so Near and w keep their meaning. δ makes the right
// answers about the left-out classes most probable. The rest of the prior does not change.
//
// Left-out classes show whether the prior helps. Half of a session's classes are predicted, as known
// and as unknown ones, under the prior of all other classes: see [Learn]. The package is for some ten
// to a few hundred classes of one person. core/lab/metatrain learns priors from data sets.
package adapt

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
)

const (
	// Learning needs at least MinClasses classes of MinExamples examples: one class to learn from,
	// two to tell apart and one that is unknown.
	MinClasses  = 4
	MinExamples = 3

	mostRows    = 2000 // largest number of examples learned from: with more, S' hardly changes
	mostOfClass = 12   // examples of a class

	// leastGain is how much lower the loss on classes left out must be. Without it, textures and
	// scenes lost up to .05 of NLL (core/session/EXPERIMENTS.md).
	leastGain = 0.01
)

// Class is the embeddings of a class's pictures, as the extractor gave them.
type Class [][]float32

// Session is the classes of a session.
type Session []Class

// Learned is the result of [Learn].
type Learned struct {
	Prior         *model.Prior // nil if it does not help
	Classes       int          // number of classes learned from
	Before, After Measured     // on classes left out
}

// TooLittleError says why classes are too few to learn from.
type TooLittleError struct{ Classes int }

func (e *TooLittleError) Error() string {
	return "Learning needs another session with at least " + strconv.Itoa(MinClasses) + " classes of " + strconv.Itoa(MinExamples) +
		" different examples each, and the largest one has " + strconv.Itoa(e.Classes) + " of them: teach more in another session first."
}

// Learn learns a prior from sessions that use the prior p. A burst counts as one example; classes of
// one example say nothing. It measures both priors by tasks of up to five left-out classes. For some
// queries none of these is right. It keeps the learned prior only if right answers become more
// probable. Neither the accuracy nor the probability of none of these for unknown queries may be lower.
//
// It costs O(d³), n d² for whitening all n pictures, and for each session up to 288 tasks in at most
// 400 dimensions.
// It returns a *[niw.ValueError] if p is for other densities or has no session model, or if a picture
// lies too far out under p. It returns a *[TooLittleError] for too few classes, and a
// *[niw.DimensionError] for embeddings of another length. Other errors are those of the prior's
// transform and of ctx.
func Learn(ctx context.Context, p *model.Prior, sessions []Session) (*Learned, error) {
	l, prior, err := try(ctx, p, sessions)
	if err == nil && pays(l.Before, l.After) {
		l.Prior = prior()
	}
	return l, err
}

// try learns a prior from sessions and measures it. It returns the measure and a function that
// makes the prior.
func try(ctx context.Context, p *model.Prior, sessions []Session) (*Learned, func() *model.Prior, error) {
	if p.Session.Shared == 0 || p.Session.Population == nil {
		return nil, nil, &niw.ValueError{Name: "weight of the session's scatter in the prior in use", Index: -1, Value: p.Session.Shared, Want: "a positive number: use the built-in prior"}
	}
	if p.NIW.Spiked != nil { // [carried] needs the coordinates of L, and a spiked prior whitens to other ones
		own := *p
		own.NIW, p = p.NIW.Dense(), &own
	}
	rng := rand.New(rand.NewPCG(0x61646170, 0))
	taught, most, err := examples(p, sessions, rng)
	if err != nil {
		return nil, nil, err
	}
	if most < MinClasses {
		return nil, nil, &TooLittleError{most}
	}
	x, s := newMeasurement(p, taught, rng), new(settled)
	l := &Learned{}
	if l.Before, l.After, *s, err = x.run(ctx); err != nil {
		return nil, nil, err
	}
	for _, session := range taught {
		l.Classes += len(session)
	}
	return l, func() *model.Prior {
		q := carried(p, slices.Concat(taught...), s)
		q.Facts["learned-on"] = strconv.Itoa(l.Classes) + " classes"
		show := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
		q.Facts["learned-validation"] = "accuracy " + show(l.After.Accuracy) + ", loss " + show(l.After.Loss) + ", none of an unknown example " + show(l.After.Unknown) +
			"; before, " + show(l.Before.Accuracy) + ", " + show(l.Before.Loss) + ", " + show(l.Before.Unknown)
		return q
	}, nil
}

// pays reports whether a prior helps. The right answers must be more probable. Known and unknown
// queries must not be recognised worse.
func pays(before, after Measured) bool {
	return after.Loss < before.Loss-leastGain && after.Accuracy >= before.Accuracy && after.Unknown >= before.Unknown
}

// settled holds what left-out classes determine: s of S', and δ of ln T'.
type settled struct{ scale, logT float64 }

// examples returns the whitened examples of the classes with at least two. It also returns the
// largest number of classes with MinExamples in one session.
func examples(p *model.Prior, sessions []Session, rng *rand.Rand) (taught [][]*mat.Dense, most int, err error) {
	rows := 0
	for _, session := range sessions {
		var pictures, classes []*mat.Dense
		for _, c := range session {
			x, err := whitened(p, c)
			if err != nil {
				return nil, 0, err
			}
			if x != nil {
				pictures = append(pictures, x)
			}
		}
		means, err := lda.BurstMeans(pictures, p.Session.Options())
		if err != nil {
			return nil, 0, err
		}
		for _, x := range means {
			if x = some(x, rng); x != nil && rows < mostRows {
				n, _ := x.Dims()
				rows += n
				classes = append(classes, x)
			}
		}
		most = max(most, enough(classes))
		taught = append(taught, classes)
	}
	return taught, most, nil
}

// whitened returns the pictures of a class, or nil where there are fewer than two.
func whitened(p *model.Prior, c Class) (*mat.Dense, error) {
	d := p.NIW.Dim()
	if len(c) < 2 {
		return nil, nil
	}
	x := mat.NewDense(len(c), d, nil)
	for i, e := range c {
		if len(e) != d {
			return nil, &niw.DimensionError{Name: "embedding", Got: len(e), Want: d}
		}
		row := x.RawRowView(i)
		for j, v := range e {
			row[j] = float64(v)
		}
		if err := p.Transform.ApplyTo(row, row); err != nil {
			return nil, err
		}
	}
	p.NIW.WhitenRowsTo(x, x)
	for _, v := range x.RawMatrix().Data {
		if !(math.Abs(v) <= 1e18) {
			return nil, &niw.ValueError{Name: "whitened embedding", Index: -1, Value: v, Want: "a smaller number: the background knowledge in use does not fit these pictures"}
		}
	}
	return x, nil
}

// some returns at most 12 of the examples of a class, or nil where there are fewer than two.
func some(x *mat.Dense, rng *rand.Rand) *mat.Dense {
	n, d := x.Dims()
	if n < 2 {
		return nil
	}
	if n > mostOfClass {
		rng.Shuffle(n, func(i, j int) {
			a, b := x.RawRowView(i), x.RawRowView(j)
			for k := range a {
				a[k], b[k] = b[k], a[k]
			}
		})
		x = x.Slice(0, mostOfClass, 0, d).(*mat.Dense)
	}
	return x
}

// update returns the learned prior, (m', s (I + w RᵀR)), in coordinates in which the prior in use is
// (0, I). Cost n d² + d³/3.
func update(p *model.Prior, d int, classes []*mat.Dense, scale float64) *niw.Prior {
	m := make([]float64, d)
	a := blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: make([]float64, d*d)}
	total := p.Session.Centre
	for _, c := range classes {
		k, _ := c.Dims()
		pull := p.Session.Kappa * float64(k) / (p.Session.Kappa + float64(k))
		total += pull
		r, mean := residuals(c)
		floats.AddScaled(m, pull, mean)
		blas64.Syrk(blas.Trans, p.Session.Shared, r.RawMatrix(), 1, a)
	}
	if total > 0 {
		floats.Scale(1/total, m)
	}
	for i := range d {
		a.Data[i*d+i]++
	}
	floats.Scale(scale, a.Data)
	niw.Factorise(a)
	return &niw.Prior{M: m, Kappa: p.NIW.Kappa, Nu: float64(d), L: mat.NewTriDense(d, mat.Lower, a.Data)}
}

// residuals returns the rows of a class less their mean, and the mean.
func residuals(c *mat.Dense) (r *mat.Dense, mean []float64) {
	r = mat.DenseCopyOf(c)
	k, d := r.Dims()
	mean = make([]float64, d)
	for i := range k {
		floats.AddScaled(mean, 1/float64(k), r.RawRowView(i))
	}
	for i := range k {
		floats.Sub(r.RawRowView(i), mean)
	}
	return r, mean
}

// carried returns p with the learned mean m + L m' and factor L L', in the coordinates of embeddings.
// m' and L' are those of update. p must have L.
func carried(p *model.Prior, classes []*mat.Dense, s *settled) *model.Prior {
	d := p.NIW.Dim()
	base := p.NIW
	white := update(p, d, classes, s.scale)
	blas64.Trmv(blas.NoTrans, base.L.RawTriangular(), blas64.Vector{N: d, Data: white.M, Inc: 1})
	floats.Add(white.M, base.M)
	l := white.L.RawTriangular()
	for i := range d { // what Potrf left above the diagonal
		clear(l.Data[i*l.Stride+i+1 : i*l.Stride+d])
	}
	white.L, white.Nu = times(base.L.RawTriangular(), l), base.Nu
	q, population := *p, *p.Session.Population
	population.LogT += s.logT
	q.NIW, q.Session.Population, q.Precision, q.Facts = white, &population, "F32", maps.Clone(p.Facts)
	if q.Facts == nil {
		q.Facts = map[string]string{}
	}
	q.Facts["name"] = "Learned here"
	return &q
}

// times returns the product of two lower triangular matrices with zeros above the diagonal. Trmm would
// do the same, but has no SIMD kernel and makes the program 12 KB larger. Cost 2/3 d³.
func times(a, b blas64.Triangular) *mat.TriDense {
	const rows = 64 // at once
	d := a.N
	product := mat.NewTriDense(d, mat.Lower, nil)
	for from := 0; from < d; from += rows {
		to := min(from+rows, d)
		rowsOf := func(t blas64.Triangular, first int) blas64.General { // up to row `to`
			return blas64.General{Rows: to - first, Cols: to, Stride: t.Stride, Data: t.Data[first*t.Stride:]}
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, rowsOf(a, from), rowsOf(b, 0), 0, rowsOf(product.RawTriangular(), from))
	}
	return product
}
