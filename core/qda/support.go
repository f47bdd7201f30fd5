package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/session"
)

// supportClasses and supportExamples bound the work of reading off a large
// session what it says of itself: the first examples of the first classes, so
// that a session which grows asks the same ones again.
const (
	supportClasses  = 32
	supportExamples = 64
)

// support is a session's own examples under its own classes. The scores under a
// class stay while neither it nor the examples nor the session's mean changes.
type support struct {
	session.Support
	examples blas64.General // n×d, whitened
	owner    []*class       // of each
	at       []int          // which example of that class it is
	columns  map[*class]*column
}

// column holds the scores of the examples under one class.
type column struct {
	version int
	scores  []float64
}

// Support returns what the session's own examples say, at most 64 of them, of
// classes that have examples; see [session.Support]. It must not be changed and
// holds until the next change of the classifier. Cost, after a change of one
// class of K examples, 64 K (d+K), and after one that moves the session's mean
// that for all classes.
func (c *Classifier) Support() *session.Support {
	c.settle()
	s := &c.support
	moved := c.centre.takeMoved()
	if s.choose(c.taught) || moved || s.columns == nil {
		s.columns = make(map[*class]*column, len(c.taught))
	}
	for j, k := range c.taught {
		if col := s.columns[k]; col == nil || col.version != k.version {
			s.columns[k] = &column{k.version, c.supportScores(j)}
		}
	}
	s.gather(c.taught)
	return &s.Support
}

// choose settles which examples are asked and reports whether they are others
// than before.
func (s *support) choose(taught []*class) (changed bool) {
	each := supportExamples / max(1, min(len(taught), supportClasses))
	n := 0
	s.Class = s.Class[:0]
	for a, k := range taught[:min(len(taught), supportClasses)] {
		for i := range min(each, k.count()) {
			if s.put(n, k, i) {
				changed = true
			}
			s.Class = append(s.Class, a)
			n++
		}
	}
	changed = changed || n != s.examples.Rows
	s.owner, s.at, s.examples.Rows = s.owner[:n], s.at[:n], n
	return changed
}

// put makes the i-th example of a class the n-th of those asked.
func (s *support) put(n int, k *class, i int) (changed bool) {
	row, d := k.row(i), k.w.Cols
	s.examples.Cols, s.examples.Stride = d, d
	if n == len(s.at) {
		s.owner, s.at = append(s.owner, nil), append(s.at, 0)
		s.examples.Data = append(s.examples.Data[:n*d], row...)
	}
	old := s.examples.Data[n*d : (n+1)*d]
	if s.owner[n] == k && s.at[n] == i && slices.Equal(old, row) {
		return false
	}
	s.owner[n], s.at[n] = k, i
	copy(old, row)
	return true
}

// supportScores returns the scores of the examples under the j-th class with
// examples.
func (c *Classifier) supportScores(j int) []float64 {
	k, s := c.taught[j], &c.support
	inf := c.options.Inference
	scores := make([]float64, len(s.Class))
	for i, y := range s.Class {
		x := c.whole(rowOf(s.examples, i))
		r2 := c.centre.r2(x)
		switch none := c.empty.LogProb(inf, r2); {
		case y != j:
			scores[i] = k.logProb(c, x) - none
		case k.count() > 1:
			scores[i] = k.logProbWithout(c, s.at[i], r2) - none
		}
	}
	return scores
}

// gather puts the columns together.
func (s *support) gather(taught []*class) {
	c := len(taught)
	s.Scores = slices.Grow(s.Scores[:0], len(s.Class)*c)[:len(s.Class)*c]
	s.Shots = s.Shots[:0]
	for j, k := range taught {
		s.Shots = append(s.Shots, float64(k.count()))
		for i, v := range s.columns[k].scores {
			s.Scores[i*c+j] = v
		}
	}
	if len(s.columns) > c { // classes that are gone
		for k := range s.columns {
			if !slices.Contains(taught, k) {
				delete(s.columns, k)
			}
		}
	}
}

// whole returns the point w, whitened and checked when it was added.
func (c *Classifier) whole(w []float64) point {
	return point{z: w, r2: squaredNorm(w), along: c.centre.along(w, nil)}
}

// logProbWithout returns the log density of the class's own example i, with
// r2 = |w_i-δ|², after taking it out; δ stays where it is. Cost O(1), after a
// change O(K³) or O(K d² + d³) once, and d²/2 in dense form.
func (k *class) logProbWithout(c *Classifier, i int, r2 float64) float64 {
	if k.lowRank() {
		return k.group.LogProbWithout(c.options.Inference, i)
	}
	q := k.denseQuad(c, k.row(i))
	return k.dense.LogProbWithout(c.options.Inference, k.count(), q, r2)
}

// ScoresTo stores in dst, in the order of the classes that have examples and of
// their number, the log density of x under each less that under the prior
// predictive: what [session.Sample] holds of a query. Errors and cost are those of
// [Classifier.ProbabilitiesTo].
func (c *Classifier) ScoresTo(dst, x []float64) error {
	if len(dst) != len(c.taught) {
		panic("qda: destination of wrong length")
	}
	q, err := c.query(x)
	if err != nil {
		return err
	}
	none := c.densities(c.logits, q)
	j := 0
	for i, k := range c.classes {
		if k.count() > 0 {
			dst[j] = c.logits[i] - none
			j++
		}
	}
	return nil
}

func rowOf(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }
