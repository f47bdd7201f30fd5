package experiment

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/session"
)

// niwScorer scores episodes of a whitened data set by the classifier that the page
// uses.
type niwScorer struct {
	space   *Space
	niw     *niw.Prior    // by which the rows are whitened
	prior   niw.Posterior // of an empty class
	options qda.Options
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-300

// Score implements [Scorer].
func (s *niwScorer) ScoresTo(dst *mat.Dense, none []float64, t *Task) (bool, error) {
	c, err := s.taught(t)
	if err != nil {
		return false, err
	}
	for i, row := range t.Query {
		p := dst.RawRowView(i)
		if none[i], err = c.ProbabilitiesTo(p, s.space.Row(row)); err != nil {
			return false, err
		}
		none[i] = takeLogs(p, none[i])
	}
	return true, nil
}

// taught returns a classifier with the support of a task.
func (s *niwScorer) taught(t *Task) (*qda.Classifier, error) {
	c, err := qda.New(s.niw.Whitened(), s.options)
	if err != nil {
		return nil, err
	}
	for j, rows := range t.Support {
		label := strconv.Itoa(j)
		if err := c.AddClass(label); err != nil {
			return nil, err
		}
		for _, i := range rows {
			if err := c.Add(label, s.space.Row(i)); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
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

// niwClassScorer is a niwScorer whose classes share no scale matrix.
type niwClassScorer struct{ niwScorer }

// population returns that of the options, or Bayes' rule.
func (s *niwClassScorer) population() *session.Population {
	if p := s.options.Population; p != nil {
		return p
	}
	return session.Bayes()
}

// ClassScoresTo uses the smaller of the two forms for each class: Gram products
// of its rows, or the d x d scatter where rows outnumber dimensions. Classes come
// and go here, so that nothing is left that they share: neither a mean of the
// session nor its hardness, which keeps the order of the classes.
func (s *niwClassScorer) ClassScoresTo(dst *mat.Dense, support [][]int, queries []int, workers int) error {
	z := s.space.Rows(queries)
	var empty niw.Group
	empty.ResetFrom(s.prior)
	inf := s.options.Inference
	return eachClass(len(support), workers, func(c int) error {
		density := s.classDensity(s.space.Rows(support[c]), z)
		slope, offset := s.population().Line(float64(len(support[c])))
		for i, row := range queries {
			none := empty.LogProb(inf, s.space.norm2[s.space.index[row]], nil)
			dst.Set(i, c, slope*(density(i)-none)+offset)
		}
		return nil
	})
}

// classDensity returns the log density of the i-th row of z under a class with
// the whitened rows w.
func (s *niwClassScorer) classDensity(w, z *mat.Dense) func(i int) float64 {
	k, d := w.Dims()
	if k >= d {
		return s.denseDensity(w, z)
	}
	var gram, cross mat.Dense
	gram.Mul(w, w.T())
	cross.Mul(z, w.T())
	var g niw.Group
	g.ResetFrom(s.prior)
	for i := range k {
		g.Append(gram.RawRowView(i)[:i+1])
	}
	return func(i int) float64 {
		row := z.RawRowView(i)
		return g.LogProb(s.options.Inference, floats.Dot(row, row), cross.RawRowView(i))
	}
}

func (s *niwClassScorer) denseDensity(w, z *mat.Dense) func(i int) float64 {
	k, d := w.Dims()
	var scatter niw.Scatter
	scatter.Reset(s.niw)
	scatter.Add(w.RawMatrix())
	if !scatter.Factorize() {
		panic("experiment: scatter of finite rows is not positive definite")
	}
	centre := make([]float64, d)
	for i := range k {
		floats.Add(centre, w.RawRowView(i))
	}
	floats.Scale(1/(s.prior.Kappa+float64(k)), centre)
	post := scatter.Posterior(k)
	diff := make([]float64, d)
	return func(i int) float64 {
		floats.SubTo(diff, z.RawRowView(i), centre)
		scatter.SolveTo(diff)
		return post.LogProb(s.options.Inference, floats.Dot(diff, diff))
	}
}
