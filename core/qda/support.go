package qda

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/session"
)

// supportClasses and supportExamples bound the work of reading off a large
// session what it says of itself: the first examples of the first classes, so
// that a session which grows asks the same ones again. Where Options.Shared is
// positive [chooseAsked] draws them within the same bounds.
const (
	supportClasses  = 32
	supportExamples = 64
)

// support is a session's own examples under its own classes. The inner products of
// an example with those of a class stay while both do, the scores while the
// session's mean does too.
type support struct {
	session.Support
	asked   []*asked
	columns map[*class]*column
}

// asked is an example that is asked under all classes.
type asked struct {
	of    *class
	at    int     // which example of it
	point         // whole, a copy
	moved float64 // |w-δ|²
	none  float64 // log density under a class never seen
}

// column holds what the examples asked are to one class.
type column struct {
	version  int
	products [][]float64 // K for each example of another class, nil in dense form
	scores   []float64
}

// Support returns what the session's own examples say, at most 64 of them, of
// classes that have examples; see [session.Support]. It must not be changed and
// holds until the next change of the classifier. Cost, where Options.Shared is
// positive, that of [shared.supportTo]; else, after a change of one
// class of K examples, 64 K (d+K), and for each example that is newly asked N d;
// after one that moves the session's mean 64 K² more for every class.
func (c *Classifier) Support() *session.Support {
	c.gatherSupport(func() bool { return true })
	return &c.support.Support
}

// Prepare does what the first answer after changes would do beforehand, as long as
// more says so, and reports whether that is all. Pieces of work between two calls of
// more are those of one class.
func (c *Classifier) Prepare(more func() bool) bool {
	if len(c.taught) == 0 || c.options.Pooled || c.posterior != nil && c.settled {
		return true
	}
	if !c.gatherSupport(more) {
		return false
	}
	c.Session()
	return true
}

// gatherSupport brings the support up to date, unless more says that it is enough for
// now: the columns that were not looked at are forgotten then.
func (c *Classifier) gatherSupport(more func() bool) bool {
	if c.shared != nil && !c.shared.cov.update(c.taught, more) {
		return false
	}
	c.settle()
	s := &c.support
	if c.shared != nil {
		s.share(c.shared, c.taught)
		return true
	}
	moved := c.centre.takeMoved()
	before := len(s.asked)
	from := s.choose(c.taught)
	if s.columns == nil {
		s.columns = make(map[*class]*column, len(c.taught))
	}
	for _, x := range s.asked {
		x.along = c.centre.along(x.z, nil)
		x.moved = c.centre.r2(x.point)
		x.none = c.empty.LogProb(c.options.Inference, x.moved)
	}
	others := len(from) != before || moved
	for i, at := range from {
		others = others || i != at
	}
	for j, k := range c.taught {
		if !more() {
			for _, rest := range c.taught[j:] {
				delete(s.columns, rest)
			}
			return false
		}
		col := s.columns[k]
		changed := col == nil || col.version != k.version
		if changed {
			col = &column{version: k.version}
			s.columns[k] = col
		}
		if changed || others {
			c.fill(col, j, from, moved)
		}
	}
	s.gather(c.taught)
	return true
}

// share is what the examples say of a session of one scale matrix.
func (s *support) share(by *shared, taught []*class) {
	s.asked = chooseAsked(taught)
	s.Class, s.Shots = s.Class[:0], s.Shots[:0]
	at := make(map[*class]int, len(taught))
	for j, k := range taught {
		at[k] = j
		s.Shots = append(s.Shots, float64(k.count()))
	}
	for _, a := range s.asked {
		s.Class = append(s.Class, at[a.of])
	}
	s.Scores = grow(s.Scores, len(s.asked)*len(taught))
	by.supportTo(s.Scores, taught, s.asked)
}

// fill brings the column of the j-th class with examples up to date, after the
// examples asked came from where choose says.
func (c *Classifier) fill(col *column, j int, from []int, moved bool) {
	k, s := c.taught[j], &c.support
	if len(col.scores) == 0 {
		from = slices.Repeat([]int{-1}, len(s.asked))
	}
	products, scores := make([][]float64, len(from)), make([]float64, len(from))
	var fresh []float64
	if k.lowRank() {
		fresh = make([]float64, newIn(from)*k.count())
	}
	for i, x := range s.asked {
		if from[i] >= 0 {
			products[i], scores[i] = col.products[from[i]], col.scores[from[i]]
			if !moved {
				continue
			}
		}
		switch {
		case s.Class[i] == j && k.count() > 1:
			scores[i] = k.logProbWithout(c, x.at, x.moved) - x.none
		case s.Class[i] == j:
		case !k.lowRank():
			scores[i] = k.logProb(c, x.point) - x.none
		default:
			if from[i] < 0 {
				products[i], fresh = fresh[:k.count()], fresh[k.count():]
				gemv(k.w, x.z, 0, products[i])
			}
			scores[i] = k.logProbOf(c, x.point, products[i]) - x.none
		}
	}
	col.products, col.scores = products, scores
}

// newIn counts the examples that were not asked before.
func newIn(from []int) (n int) {
	for _, at := range from {
		if at < 0 {
			n++
		}
	}
	return n
}

// choose settles which examples are asked and returns where each stood among those
// asked before, -1 for a new one.
func (s *support) choose(taught []*class) (from []int) {
	each := supportExamples / max(1, min(len(taught), supportClasses))
	var now []*asked
	s.Class = s.Class[:0]
	for a, k := range taught[:min(len(taught), supportClasses)] {
		for i := range min(each, k.count()) {
			x, at := s.find(k, i)
			now, from = append(now, x), append(from, at)
			s.Class = append(s.Class, a)
		}
	}
	s.asked = now
	return from
}

// find returns the i-th example of a class as it was asked before, and where it
// stood, or else a new one and -1.
func (s *support) find(k *class, i int) (x *asked, at int) {
	row := k.row(i)
	for at, x := range s.asked {
		if x.of == k && x.at == i && slices.Equal(x.z, row) {
			return x, at
		}
	}
	return &asked{of: k, at: i, point: point{z: slices.Clone(row), r2: squaredNorm(row)}}, -1
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
