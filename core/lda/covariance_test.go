package lda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// bench of examples for a covariance: classes without a classifier.
type taughtClasses struct {
	prior *niw.Prior
	list  []*class
	rng   *rand.Rand
}

func newTaught(d int, seed uint64) *taughtClasses {
	p := niw.HandCrafted(d, 1)
	return &taughtClasses{prior: p, rng: rand.New(rand.NewPCG(seed, 9))}
}

func (t *taughtClasses) vector() []float64 { return niwtest.Vector(t.rng, t.prior.Dim(), 0) }

// count returns what an example may count.
func (t *taughtClasses) count() float64 { return 1 + 2*t.rng.Float64() }

func (t *taughtClasses) class(k int) *class {
	c := newClass(fmt.Sprint(len(t.list)), t.prior.Dim(), 0)
	for range k {
		c.insert(c.count(), t.vector(), t.count())
	}
	t.list = append(t.list, c)
	return c
}

// scale returns A by its definition.
func (t *taughtClasses) scale(weight float64) *mat.SymDense {
	d := t.prior.Dim()
	a := mat.NewSymDense(d, nil)
	for i := range d {
		a.SetSym(i, i, 1)
	}
	for _, k := range t.list {
		mean := make([]float64, d)
		k.meanTo(mean)
		for i := range k.count() {
			r := mat.NewVecDense(d, nil)
			r.SubVec(mat.NewVecDense(d, k.row(i)), mat.NewVecDense(d, mean))
			a.SymRankOne(a, weight*k.n[i], r)
		}
	}
	return a
}

// score returns e_j of a whitened query by dense matrices: for a class that counts as so
// many examples about a mean, in a session whose mean is that of the classes but one.
func (t *taughtClasses) score(tb testing.TB, o *Options, but *class, mean []float64, count float64, query []float64) float64 {
	tb.Helper()
	var factor mat.Cholesky
	if !factor.Factorize(t.scale(o.Shared)) {
		tb.Fatal("oracle not positive definite")
	}
	d := t.prior.Dim()
	session, total := make([]float64, d), o.Centre
	for _, k := range t.list {
		if n := k.weight(); k != but && n > 0 {
			own := make([]float64, d)
			k.meanTo(own)
			floats.AddScaled(session, o.Kappa*n/(o.Kappa+n), own)
			total += o.Kappa * n / (o.Kappa + n)
		}
	}
	if total > 0 {
		floats.Scale(1/total, session)
	}
	m := make([]float64, d)
	floats.AddScaled(m, o.Kappa/(o.Kappa+count), session)
	floats.AddScaled(m, count/(o.Kappa+count), mean)
	quad := func(m []float64) float64 {
		var diff, solved mat.VecDense
		diff.SubVec(mat.NewVecDense(d, query), mat.NewVecDense(d, m))
		test.OK(tb, factor.SolveVecTo(&solved, &diff))
		return mat.Dot(&diff, &solved)
	}
	return (quad(session) - quad(m)) / 2
}

// compare holds what the covariance answers against the definition.
func (t *taughtClasses) compare(tb *testing.T, c *covariance, what string) {
	tb.Helper()
	var factor mat.Cholesky
	if !factor.Factorize(t.scale(c.weight)) {
		tb.Fatal("not positive definite")
	}
	z := t.vector()
	image, got := make([]float64, c.n), make([]float64, len(c.members))
	c.imageTo(image, z)
	c.innerTo(got, z, image)
	if len(c.members) != len(t.list) {
		tb.Fatalf("%s: %d classes, want %d", what, len(c.members), len(t.list))
	}
	solved := mat.NewVecDense(len(z), nil)
	test.OK(tb, factor.SolveVecTo(solved, mat.NewVecDense(len(z), z)))
	for _, k := range t.list {
		mean := make([]float64, len(z))
		k.meanTo(mean)
		want := mat.Dot(solved, mat.NewVecDense(len(z), mean))
		m := c.index[k]
		if math.Abs(got[m.column]-want) > 1e-9*(1+math.Abs(want)) {
			tb.Errorf("%s: class %s: %v, want %v", what, k.label, got[m.column], want)
		}
	}
	if got, want := c.inner(z, image, z, image), mat.Dot(solved, mat.NewVecDense(len(z), z)); math.Abs(got-want) > 1e-9*want {
		tb.Errorf("%s: quadratic form %v, want %v", what, got, want)
	}
}

// Whatever is added, removed and replaced in whatever order, in both forms and across
// them, the covariance is that of its definition. So it is after updates that stopped early.
func TestCovarianceFollowsItsExamples(t *testing.T) {
	for seed := range uint64(20) {
		s := newTaught(24, seed)
		c := newCovariance(3, 24)
		c.anew = 0
		for range 4 {
			s.class(1 + s.rng.IntN(3))
		}
		for step := range 160 {
			grow := step/40%2 == 0 // to more examples than dimensions and back
			k := s.list[s.rng.IntN(len(s.list))]
			switch n := s.rng.IntN(12); {
			case n == 0:
				s.class(1 + s.rng.IntN(4))
			case n == 1 && len(s.list) > 2:
				i := s.rng.IntN(len(s.list))
				s.list = append(s.list[:i:i], s.list[i+1:]...)
			case n < 4:
				i := s.rng.IntN(k.count())
				k.remove(i)
				k.insert(i, s.vector(), s.count())
			case grow || k.count() == 1:
				k.insert(s.rng.IntN(k.count()+1), s.vector(), s.count())
			default:
				k.remove(s.rng.IntN(k.count()))
			}
			if pieces := s.rng.IntN(6); pieces < 3 {
				c.update(s.list, func() bool { pieces--; return pieces >= 0 })
			} else {
				c.update(s.list, func() bool { return true })
				s.compare(t, c, fmt.Sprintf("seed %d, step %d, primal %v", seed, step, c.primal))
			}
			if t.Failed() {
				return
			}
		}
	}
}

// centred are options with a mean of the session.
var centred = Options{Shared: 0.7, Kappa: 2.5, Centre: 1.2, NonePrior: 0.2}

// byDefinition returns e_j of a query, NaN for classes without examples. The session's mean
// is that of the classes but one.
func byDefinition(t *testing.T, p *niw.Prior, o *Options, x [][][]float64, but int, query []float64) []float64 {
	t.Helper()
	d := p.Dim()
	taught, z, e := &taughtClasses{prior: p}, make([]float64, d), make([]float64, len(x))
	for _, rows := range x {
		k := taught.class(0)
		for i, v := range rows {
			p.WhitenTo(z, v)
			k.insert(i, z, 1)
		}
	}
	p.WhitenTo(z, query)
	for j, k := range taught.list {
		if e[j] = math.NaN(); k.count() > 0 {
			mean, without := make([]float64, d), (*class)(nil)
			if k.meanTo(mean); but >= 0 {
				without = taught.list[but]
			}
			e[j] = taught.score(t, o, without, mean, k.weight(), z)
		}
	}
	return e
}

func TestSharedScoresByDefinition(t *testing.T) {
	for _, shots := range [][]int{{1}, {3}, {1, 1}, {2, 1, 4}, {5, 6, 7}} {
		c, x := teach(t, niw.HandCrafted(9, 1.3), centred, shots)
		query := make([]float64, 9)
		query[2], query[5] = 1.5, -2
		got := make([]float64, len(x))
		test.OK(t, c.ScoresTo(got, query))
		same(t, fmt.Sprint(shots), got, byDefinition(t, c.prior, &c.options, x, -1, query), 1e-10)
	}
}

// A large n_2 outweighs the session; without one the size of single examples counts no more.
func TestScoresInUnitsOfTheSpread(t *testing.T) {
	o, query := centred, niwtest.Vector(rand.New(rand.NewPCG(7, 7)), 9, 1)
	scores := func(n2, size float64) []float64 {
		o.Spread = n2
		_, x := teach(t, niw.HandCrafted(9, 1.3), o, []int{1, 1, 1, 1})
		for j := range x {
			floats.Scale(size, x[j][0])
		}
		e, z := make([]float64, len(x)), slices.Clone(query)
		floats.Scale(size, z)
		test.OK(t, scene(x).teach(t, niw.HandCrafted(9, 1.3), o).ScoresTo(e, z))
		return e
	}
	same(t, "small and large", scores(1e-9, 7), scores(1e-9, 1), 1e-6)
	plain := scores(0, 1)
	floats.Scale(math.Pow(9, 0.1), plain)
	same(t, "outweighed", scores(1e9, 1), plain, 1e-6)
}

// Each example adds to A. In sessions larger than those of the fit this must not make scores small.
func TestScoresKeepTheirSizeInLargeSessions(t *testing.T) {
	const d, way, queries = 32, 8, 5
	mean := func(shots int) (sum float64) {
		rng := rand.New(rand.NewPCG(3, 9))
		s, asked := make(scene, way), make(scene, way)
		for j := range s {
			centre := niwtest.Vector(rng, d, 0)
			for i := range shots + queries {
				x := niwtest.Vector(rng, d, 0)
				floats.AddScaled(x, 2, centre)
				if i < queries {
					asked[j] = append(asked[j], x)
				} else {
					s[j] = append(s[j], x)
				}
			}
		}
		o := centred
		o.Shared = 0.01 // a prior that weighs as much as a hundred examples
		c, e := s.teach(t, niw.HandCrafted(d, 1), o), make([]float64, way)
		for j := range s {
			for _, x := range asked[j] {
				test.OK(t, c.ScoresTo(e, x))
				sum += e[j] / way / queries
			}
		}
		return sum
	}
	few := mean(6)
	for _, shots := range []int{10, 30, 100} {
		if got := mean(shots); !(got > few/2 && got < 2*few) {
			t.Errorf("%d examples of each class: the mean score of their own class is %v, with 6 it is %v", shots, got, few)
		}
	}
}

// What the examples say is what is said of each without it, and of each as out of set in a
// session whose mean knows nothing of its class.
func TestSharedSupportLeavesEachOut(t *testing.T) {
	for k, shots := range [][]int{{4}, {1, 1}, {1, 2}, {2, 1, 4}, {3, 3, 3}, {9, 8, 7}, {2, 1, 4}, {3, 3, 3}, {9, 8, 7}} {
		c, x := teach(t, niw.HandCrafted(8, 1.3), centred, shots)
		tol := 1e-9
		if k > 5 { // residuals a thousand times as long as the prior expects
			tol = 1e-7 // the definition itself loses digits
			for _, rows := range x {
				for _, v := range rows {
					floats.Scale(1e3, v)
				}
			}
			c = scene(x).teach(t, c.prior, centred)
		}
		s := c.Support()
		for i, y := range s.Class {
			at := c.support.asked[i].at
			without := slices.Clone(x)
			without[y] = slices.Delete(slices.Clone(x[y]), at, at+1)
			for kind, rows := range [][]float64{s.Scores, s.Unknown} {
				got := rows[i*len(x) : (i+1)*len(x)]
				want := byDefinition(t, c.prior, &c.options, without, []int{-1, y}[kind], x[y][at])
				for j := range got {
					if j == y && (kind == 1 || len(x[j]) == 1) {
						continue
					}
					if !(math.Abs(got[j]-want[j]) <= tol*(1+math.Abs(want[j]))) {
						t.Errorf("%v: example %d of class %d under class %d, kind %d: %v, want %v", shots, at, y, j, kind, got[j], want[j])
					}
				}
			}
		}
	}
}

// Made in pieces, with changes in between, the covariance is the same as made at once.
func TestCovarianceInPieces(t *testing.T) {
	for _, shots := range []int{20, 40} { // fewer residuals than dimensions, and more
		s := newTaught(90, 8)
		for range 4 {
			s.class(shots)
		}
		c := newCovariance(2, 90)
		calls := 0
		once := func() bool { calls++; return calls%2 == 1 }
		for range 3 {
			if c.update(s.list, once) {
				t.Fatal("made in fewer pieces than it has")
			}
		}
		s.list[1].insert(0, s.vector(), 1) // begins again
		pieces := 0
		for !c.update(s.list, once) {
			if pieces++; pieces > 100 {
				t.Fatal("does not end")
			}
		}
		if pieces < 3 {
			t.Errorf("%d examples a class: %d pieces", shots, pieces)
		}
		s.compare(t, c, fmt.Sprint(shots, " examples a class"))
	}
}

// Neither the order of the examples nor that of the classes matters, however many there
// are: which of them are asked about the session is drawn by their own digits.
func TestOrderDoesNotMatter(t *testing.T) {
	for i, shots := range [][]int{{5, 3, 4}, slices.Repeat([]int{40}, 3), slices.Repeat([]int{40}, 40), slices.Repeat([]int{30}, 4)} { // of 40 classes 32 are asked
		for name, o := range variants {
			way := len(shots)
			c, x := teach(t, niw.HandCrafted(30, 1.3), o, shots)
			if i == 3 { // all examples have the same first number
				for _, rows := range x {
					for _, one := range rows {
						one[0] = 0
					}
				}
				c = scene(x).teach(t, c.prior, o)
			}
			backwards := make(scene, way)
			for j, rows := range x {
				backwards[way-1-j] = slices.Clone(rows)
				slices.Reverse(backwards[way-1-j])
			}
			other := backwards.teach(t, c.prior, o)
			for _, query := range [][]float64{x[0][3], x[2][3], make([]float64, 30)} {
				want, got := ask(t, c, query), ask(t, other, query)
				slices.Reverse(got[:way])
				same(t, fmt.Sprint(name, ", ", way, " classes"), got, want, 1e-9)
			}
		}
	}
}

// An example far out may take all digits of the others in the factor, which is changed by rotations.
// Once it has gone, they are there again.
func TestARemovedOutlierLeavesNothingInTheFactor(t *testing.T) {
	for _, far := range []float64{1e3, 1e5, 1e8, 1e12} {
		rng := rand.New(rand.NewPCG(96, 1))
		s := scene{nil, nil}
		for i := range 120 {
			s[i%2] = append(s[i%2], niwtest.Vector(rng, 70, float64(i%2)))
		}
		c, want := s.teach(t, niw.HandCrafted(70, 1), Options{}), s.teach(t, niw.HandCrafted(70, 1), Options{})
		out := niwtest.Vector(rng, 70, 0)
		floats.Scale(far, out)
		c.settle()
		test.OK(t, c.Add("c1", out))
		c.settle()
		test.OK(t, c.Remove("c1", 60))
		for _, x := range s[0][:5] {
			same(t, fmt.Sprint("after one at ", far), ask(t, c, x), ask(t, want, x), 1e-10)
		}
	}
}
