package experiment

import (
	"context"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/discriminant"
	"metaqda/core/lda"
	"metaqda/core/niw"
)

// niwScorer scores episodes of a whitened data set with the classifier of the page.
type niwScorer struct {
	space    *Space
	prior    *niw.Prior // in the coordinates of the whitened rows
	options  lda.Options
	together bool // queries are judged together
	hasNone  bool // the protocol measures none of these
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-300

// ScoresTo implements [Scorer].
func (s *niwScorer) ScoresTo(dst *mat.Dense, none []float64, t *Task) (bool, error) {
	c, err := lda.New(s.prior, s.options)
	if err != nil {
		return false, err
	}
	for j, rows := range t.Support {
		label := strconv.Itoa(j)
		if err := c.AddClass(label); err != nil {
			return false, err
		}
		for _, i := range rows {
			if err := c.Add(label, s.space.Row(i)); err != nil {
				return false, err
			}
		}
	}
	if s.together {
		a, err := c.Classify(context.Background(), s.space.Rows(t.Query), nil)
		if err != nil {
			return false, err
		}
		dst.Copy(a.Classes)
		copy(none, a.None)
	}
	for i, row := range t.Query {
		p := dst.RawRowView(i)
		if !s.together {
			if none[i], err = c.ProbabilitiesTo(p, s.space.Row(row)); err != nil {
				return false, err
			}
		}
		none[i] = takeLogs(p, none[i])
	}
	return s.hasNone, nil
}

// takeLogs replaces the probabilities of classes by their logarithms and returns the
// log odds of none.
func takeLogs(p []float64, none float64) float64 {
	known := 0.0
	for j, v := range p {
		known += v
		p[j] = math.Log(math.Max(v, leastProbability))
	}
	return math.Log(math.Max(none, leastProbability)) - math.Log(math.Max(known, leastProbability))
}

// paperScorer scores episodes of a whitened data set by the paper's densities, without calibration.
type paperScorer struct {
	space        *Space
	niw          *niw.Prior // by which the rows are whitened
	inference    niw.Inference
	pooled       bool
	near, centre float64 // of the prior; see [lda.Options]
}

// ScoresTo implements [Scorer].
func (s *paperScorer) ScoresTo(dst *mat.Dense, none []float64, t *Task) (bool, error) {
	way := t.Way()
	classes := make([]*mat.Dense, way)
	for j, rows := range t.Support {
		classes[j] = s.space.Rows(rows)
	}
	if s.near > 0 {
		var err error
		if classes, err = lda.BurstMeans(classes, lda.Options{Near: s.near}); err != nil {
			return false, err
		}
	}
	queries := s.space.Rows(t.Query)
	s.move(classes, queries)
	c := discriminant.New(s.niw.Whitened(), s.inference, s.pooled, classes)
	for i := range t.Query {
		l := dst.RawRowView(i)
		floats.AddConst(-c.LogDensitiesTo(l, queries.RawRowView(i)), l)
		none[i] = math.Log(float64(way)) - floats.LogSumExp(l) // Bayes' rule
	}
	return true, nil
}

// move shifts the mean of the prior toward that of the session, by the prior's kappa_d. It
// subtracts from all rows
//
//	δ = Σ_j τ_j w̄_j/(kappa_d + Σ_j τ_j),   τ_j = kappa K_j/(kappa+K_j)
func (s *paperScorer) move(classes []*mat.Dense, queries *mat.Dense) {
	if s.centre == 0 || s.pooled {
		return
	}
	_, d := queries.Dims()
	delta, total := make([]float64, d), s.centre
	for _, x := range classes {
		k, _ := x.Dims()
		for i := range k {
			floats.AddScaled(delta, s.niw.Kappa/(s.niw.Kappa+float64(k)), x.RawRowView(i))
		}
		total += s.niw.Kappa * float64(k) / (s.niw.Kappa + float64(k))
	}
	for _, x := range append(classes, queries) {
		k, _ := x.Dims()
		for i := range k {
			floats.AddScaled(x.RawRowView(i), -1/total, delta)
		}
	}
}

// paperClassScorer is a paperScorer for classes that share nothing.
type paperClassScorer struct{ paperScorer }

// ClassScoresTo implements [ClassScorer]. Classes come and go here, so they share nothing, not even
// a mean of the session.
func (s *paperClassScorer) ClassScoresTo(dst *mat.Dense, support [][]int, queries []int, workers int) error {
	z := s.space.Rows(queries)
	white := s.niw.Whitened()
	return eachClass(len(support), workers, func(c int) error {
		k := discriminant.New(white, s.inference, false, []*mat.Dense{s.space.Rows(support[c])})
		var l [1]float64
		for i := range queries {
			none := k.LogDensitiesTo(l[:], z.RawRowView(i))
			dst.Set(i, c, l[0]-none)
		}
		return nil
	})
}
