package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/metrics"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// niwScorer scores episodes of a whitened data set from Gram products alone.
type niwScorer struct {
	space  *space
	niw    *niw.Prior
	prior  niw.Posterior // of an empty class
	inf    niw.Inference
	pooled bool
	cal    *qda.Calibration

	domains *qda.Domains // nil if not told apart
}

// niwScratch is what niwScorer keeps between episodes.
type niwScratch struct {
	groups []niw.Group
	norm2  []float64
}

func (s *niwScorer) score(w *workspace, dst *mat.Dense, none []float64) (bool, error) {
	d := &w.densest
	if cap(d.norm2) < len(w.e.Query) {
		d.norm2 = make([]float64, len(w.e.Query))
	}
	d.norm2 = d.norm2[:len(w.e.Query)]
	for i, row := range w.e.Query {
		d.norm2[i] = s.space.norm2[s.space.index[row]]
	}
	if s.pooled {
		s.pooledDensities(w, dst, none)
	} else {
		s.densities(w, dst, none)
	}
	s.calibrate(w, dst, none)
	return true, nil
}

// densities stores log densities: of the classes in dst, of none of them in
// none.
func (s *niwScorer) densities(w *workspace, dst *mat.Dense, none []float64) {
	d := &w.densest
	gram, n := w.gram(s.space), len(w.rows)
	for len(d.groups) < w.e.Way() {
		d.groups = append(d.groups, niw.Group{})
	}
	var empty niw.Group
	empty.ResetFrom(s.prior)
	for i := range w.e.Query {
		none[i] = empty.LogProb(s.inf, d.norm2[i], nil)
	}
	first := 0
	for j, rows := range w.e.Support {
		g := &d.groups[j]
		g.ResetFrom(s.prior)
		for k := range rows {
			g.Append(gram.RawRowView(first + k)[first : first+k+1])
		}
		for i := range w.e.Query {
			cross := gram.RawRowView(n + i)[first : first+len(rows)]
			dst.Set(i, j, g.LogProb(s.inf, d.norm2[i], cross))
		}
		first += len(rows)
	}
}

// pooledDensities is the LDA form: S_j = L A L^T with one A for all classes,
//
//	A = I + sum_j { scatter_j + kappa K_j/(kappa+K_j) wbar_j wbar_j^T },
//
// evaluated in the span of the whitened support, outside of which A is I.
func (s *niwScorer) pooledDensities(w *workspace, dst *mat.Dense, none []float64) {
	r := w.coordinates(s.space)
	_, dim := r.support.Dims()
	a := mat.NewSymDense(dim, nil)
	for j := range dim {
		a.SetSym(j, j, 1)
	}
	sums := mat.NewDense(w.e.Way(), dim, nil)
	for i, c := range w.labels {
		row := mat.NewVecDense(dim, r.support.RawRowView(i))
		a.SymRankOne(a, 1, row)
		sum := sums.RawRowView(c)
		for j := range sum {
			sum[j] += row.AtVec(j)
		}
	}
	// Scatter plus prior term is sum w w^T - (sum w)(sum w)^T/(kappa+K), and
	// the posterior mean (sum w)/(kappa+K).
	for j, rows := range w.e.Support {
		sum := mat.NewVecDense(dim, sums.RawRowView(j))
		a.SymRankOne(a, -1/(s.prior.Kappa+float64(len(rows))), sum)
		sum.ScaleVec(1/(s.prior.Kappa+float64(len(rows))), sum)
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		panic("metaqda: scatter of finite rows is not positive definite")
	}
	post := s.prior
	post.Nu += float64(len(w.rows))
	post.LogDetS += chol.LogDet()
	var factor mat.TriDense
	chol.LTo(&factor)
	s.pooledScores(w, dst, none, r, sums, &factor, post)
}

func (s *niwScorer) pooledScores(w *workspace, dst *mat.Dense, none []float64, r *reduced, means *mat.Dense, factor *mat.TriDense, post niw.Posterior) {
	_, dim := means.Dims()
	solved := mat.NewVecDense(dim, nil)
	quad := func(x, mean []float64, outside float64) float64 {
		for j := range dim {
			solved.SetVec(j, x[j]-mean[j])
		}
		// The factor's diagonal is at least one: it cannot be singular.
		_ = solved.SolveVec(factor, solved)
		return outside + mat.Dot(solved, solved)
	}
	zero := make([]float64, dim)
	for i := range w.e.Query {
		x := r.queries.RawRowView(i)
		outside := w.densest.norm2[i]
		for _, v := range x {
			outside -= v * v
		}
		outside = math.Max(outside, 0)
		none[i] = post.LogProb(s.inf, quad(x, zero, outside))
		for j, rows := range w.e.Support {
			p := post
			p.Kappa += float64(len(rows))
			dst.Set(i, j, p.LogProb(s.inf, quad(x, means.RawRowView(j), outside)))
		}
	}
}

// calibrate turns log densities into logits as [qda.Calibration] defines them,
// for equal class priors, and none into log odds at a prior probability of one
// half.
func (s *niwScorer) calibrate(w *workspace, dst *mat.Dense, none []float64) {
	way := w.e.Way()
	mean := float64(len(w.rows)) / float64(way)
	offset := s.cal.NoneOffset(mean, way)
	for i := range w.e.Query {
		row := dst.RawRowView(i)
		for j, rows := range w.e.Support {
			row[j] = s.cal.LogOdds(row[j]-none[i], len(rows))
		}
		none[i] = offset + math.Log(float64(way)) - metrics.LogSumExp(row, 1)
	}
	if len(s.cal.Known) > 0 && !s.pooled && (len(s.cal.Tau) > 0 || slices.Contains(w.e.QueryLabel, -1)) {
		s.fromLevels(w, dst, none)
	}
}

// fromLevels replaces the log odds of none of these by those from the levels of
// the episode's support, and divides those of the classes by τ.
func (s *niwScorer) fromLevels(w *workspace, dst *mat.Dense, none []float64) {
	shots := make([]int, w.e.Way())
	for j, rows := range w.e.Support {
		shots[j] = len(rows)
	}
	session := s.cal.GramSession(s.prior, s.inf, shots, w.gram(s.space).RawMatrix())
	session.Background = s.meanBackground(w)
	if s.domains != nil && len(s.cal.Domains) > 0 {
		session.Domains = s.domains.Recognise(s.meanCoordinates(w), w.e.Way())
	}
	for i := range none {
		row := dst.RawRowView(i)
		evidence := qda.Evidence(row)
		none[i] = -s.cal.KnownLogOdds(session, evidence, s.background(w.e.Query[i]))
		floats.Scale(s.cal.Sharpness(session, evidence), row)
	}
}

// background returns the score of a row of the set against the prior's
// background, 0 without one.
func (s *niwScorer) background(row int) float64 {
	if s.space.background == nil {
		return 0
	}
	return s.space.background[s.space.index[row]]
}

// meanBackground returns the mean score of the support.
func (s *niwScorer) meanBackground(w *workspace) (mean float64) {
	for _, row := range w.rows {
		mean += s.background(row) / float64(len(w.rows))
	}
	return mean
}

// meanCoordinates returns the mean over the classes of the mean coordinates of
// their examples.
func (s *niwScorer) meanCoordinates(w *workspace) []float64 {
	z := make([]float64, s.domains.Rank())
	for _, rows := range w.e.Support {
		for _, i := range rows {
			floats.AddScaled(z, 1/float64(len(rows)*w.e.Way()), s.space.z.RawRowView(int(s.space.index[i])))
		}
	}
	return z
}
