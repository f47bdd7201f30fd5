package lda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// counting counts the multiply-adds of linear algebra.
type counting struct {
	gonum.Implementation
	cost int
}

func (b *counting) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, x []float64, ldx int, beta float64, c []float64, ldc int) {
	b.cost += m * n * k
	b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
}

func (b *counting) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	b.cost += m * n
	b.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

func (b *counting) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	b.cost += n * n * k / 2
	b.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
}

func (b *counting) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	if b.cost += m * n * n / 2; s == blas.Left {
		b.cost += m*m*n/2 - m*n*n/2
	}
	b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
}

func (b *counting) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	b.cost += n * n / 2
	b.Implementation.Dtrsv(ul, tA, d, n, a, lda, x, incX)
}

func (b *counting) Dtrmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	b.cost += n * n / 2
	b.Implementation.Dtrmv(ul, tA, d, n, a, lda, x, incX)
}

func (b *counting) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	b.cost += n
	b.Implementation.Daxpy(n, alpha, x, incX, y, incY)
}

func (b *counting) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	b.cost += n
	return b.Implementation.Ddot(n, x, incX, y, incY)
}

// smallPieces makes pieces of work smaller until the test ends, so that classifiers may be, and counts
// their multiply-adds.
func smallPieces(t *testing.T) *counting {
	b, was := &counting{}, pieceCost
	blas64.Use(b)
	pieceCost = 1_000_000
	t.Cleanup(func() { pieceCost = was; blas64.Use(gonum.Implementation{}) })
	return b
}

// No piece of work between two rests costs much more than pieceCost: the first answer with many
// classes, the next one after an example more, a batch, what to label, and each example left out.
// The dual form has fewer examples.
func TestPiecesOfWorkAreSmall(t *testing.T) {
	b := smallPieces(t)
	rng := rand.New(rand.NewPCG(91, 1))
	for _, size := range []struct{ way, shot, d int }{{400, 3, 400}, {150, 3, 500}} {
		o := variants["session"]
		o.Near = 0.1
		c := test.Must(New(niw.HandCrafted(size.d, 1), o))(t)
		row := func(j int) []float64 {
			x := niwtest.Vector(rng, size.d, 0)
			x[j%size.d] += 5
			return x
		}
		for j := range size.way {
			test.OK(t, c.AddClass(fmt.Sprint(j)))
			for range size.shot {
				test.OK(t, c.Add(fmt.Sprint(j), row(j)))
			}
		}
		pieces, most := 0, 0
		count := func() bool {
			pieces++
			most = max(most, b.cost)
			b.cost = 0
			return true
		}
		small := func(what string, least int) {
			t.Helper()
			count()
			if most > 2*pieceCost || pieces < least {
				t.Errorf("%s with %d classes: %d pieces, the largest of %d multiply-adds, want %d at most", what, size.way, pieces, most, 2*pieceCost)
			}
			pieces, most = 0, 0
		}
		b.cost = 0
		c.Prepare(count)
		small("the first answer", 100)
		test.OK(t, c.Add("1", row(1)))
		b.cost = 0
		c.Prepare(count)
		small("the answer after a change", 20)
		for i := range 60 {
			test.OK(t, c.Add(fmt.Sprint(i/2%7), row(i/2%7)))
		}
		b.cost = 0
		c.Prepare(count)
		small("the answer after many changes", 80)
		x := mat.NewDense(300, size.d, nil)
		for i := range 300 {
			x.SetRow(i, row(i))
		}
		b.cost = 0
		test.Must(c.Classify(context.Background(), x, func(int, int) { count() }))(t)
		small("classify", 100)
		test.Must(c.Suggest(context.Background(), x, 5, func(int, int) { count() }))(t)
		small("suggest", 100)
		p := make([]float64, size.way)
		for j := range size.way {
			test.Must(c.LeaveOutTo(p, fmt.Sprint(j), j%size.shot))(t)
			count()
		}
		small("leave out", size.way)
	}
}

// The frames of a film are one burst. A batch of them costs a few times as much as one of other
// pictures, and its pieces are as small.
func TestPiecesOfABurstAreSmall(t *testing.T) {
	b := smallPieces(t)
	const d, way, n = 400, 10, 100
	rng := rand.New(rand.NewPCG(93, 1))
	o := variants["session"]
	o.Near = 0.1
	c := test.Must(New(niw.HandCrafted(d, 1), o))(t)
	for j := range way {
		test.OK(t, c.AddClass(fmt.Sprint(j)))
		for range 3 {
			x := niwtest.Vector(rng, d, 0)
			x[j] += 5
			test.OK(t, c.Add(fmt.Sprint(j), x))
		}
	}
	c.Prepare(always)
	x, frame := mat.NewDense(n, d, nil), niwtest.Vector(rng, d, 0)
	frame[0], frame[1] = 5, 5
	for i := range n {
		x.SetRow(i, frame)
		x.Set(i, i, frame[i]+0.01)
	}
	all, most := 0, 0
	b.cost = 0
	test.Must(c.Classify(context.Background(), x, func(int, int) {
		all, most, b.cost = all+b.cost, max(most, b.cost), 0
	}))(t)
	if limit := 3 * n * way * 2 * 40 * d; most > 3*pieceCost || all > limit {
		t.Errorf("pieces of up to %d multiply-adds, want %d at most; together %d, want %d at most", most, 3*pieceCost, all, limit)
	}
}

// A classifier that takes in changes in pieces answers, to the bit, as one that takes them in at
// once, in both forms of the covariance: a class gained and lost, examples in the middle, removed
// ones, the one that differences are taken from, and a clone changed while it is half done.
func TestChangesInPiecesChangeNoBit(t *testing.T) {
	for _, d := range []int{90, 400} { // 140 residuals: A itself, and the smaller matrix
		rng := rand.New(rand.NewPCG(92, uint64(d)))
		row := func(j int) []float64 {
			x := niwtest.Vector(rng, d, 0)
			x[j%d] += 5
			return x
		}
		once := test.Must(New(niw.HandCrafted(d, 1), variants["session"]))(t)
		for j := range 60 {
			test.OK(t, once.AddClass(fmt.Sprint(j)))
			for range 3 + j%2 {
				test.OK(t, once.Add(fmt.Sprint(j), row(j)))
			}
		}
		once.Prepare(always)
		if form := once.shared.cov; form.primal != (d == 90) || form.n <= form.anew {
			t.Fatalf("d = %d has the wrong form", d)
		}
		pieces := once.Clone()
		query := row(7)
		for round := range 3 {
			rows := [][]float64{row(1), row(2), row(2), row(3), row(60)}
			for _, c := range []*Classifier{once, pieces} {
				test.OK(t, c.Add("1", rows[0]))
				test.OK(t, c.Insert("2", 1, rows[1]))
				test.OK(t, c.Add("2", rows[2]))
				test.OK(t, c.Remove("1", 1))
				test.OK(t, c.Remove(fmt.Sprint(20+round), 0))
				test.OK(t, c.Insert("3", 0, rows[3]))
				test.OK(t, c.Remove("4", 0))
				test.OK(t, c.Remove("5", 1))
				test.OK(t, c.RemoveClass(fmt.Sprint(10+round)))
				test.OK(t, c.AddClass(fmt.Sprint("new", round)))
				test.OK(t, c.Add(fmt.Sprint("new", round), rows[4]))
			}
			once.Prepare(always)
			steps := 0
			for left := true; left; steps++ {
				at := 0
				left = !pieces.Prepare(func() bool { at++; return at == 1 })
				if steps%3 == 2 { // the one that goes on is a clone of the one half done
					pieces = pieces.Clone()
				}
			}
			if steps < 10 {
				t.Errorf("d = %d: all is done in %d pieces", d, steps)
			}
			same(t, fmt.Sprint("answer ", d, round), ask(t, pieces, query), ask(t, once, query), 0)
		}
	}
}

// However small the pieces of work are, answers differ by rounding alone, in both forms of the
// covariance.
func TestPiecesOfAnySizeComeToTheSame(t *testing.T) {
	was := pieceCost
	defer func() { pieceCost = was }()
	for _, d := range []int{40, 300} { // 90 residuals: A itself, and the smaller matrix
		rng := rand.New(rand.NewPCG(94, uint64(d)))
		s := randomScene(rng, d, 24, 24, 24, 24)
		x, _ := s.clusters(rng, 18, 0.7)
		var want []float64
		for _, pieceCost = range []int{was, 10_000, 1} {
			c := s.teach(t, niwtest.Prior(rand.New(rand.NewPCG(95, 1)), d), variants["session"])
			got := everything(t, c, x[0])
			for i := range 3 {
				p := make([]float64, len(s))
				got = append(append(got, test.Must(c.LeaveOutTo(p, "c1", i))(t)), p...)
			}
			got = append(got, slices.Concat(classify(t, c, x)...)...)
			for _, i := range test.Must(c.Suggest(t.Context(), dense(x), 20, nil))(t).Rows {
				got = append(got, float64(i))
			}
			for _, g := range test.Must(c.Alike(t.Context(), dense(x), nil, []int{0, 1, 2, 3, 20, 21, 22, 23, 40, 60}))(t)[0] {
				for _, i := range g {
					got = append(got, float64(i))
				}
			}
			if form := c.shared.cov; form.primal != (d == 40) {
				t.Fatalf("d = %d has the wrong form", d)
			}
			if want == nil {
				want = got
			}
			same(t, fmt.Sprintf("d = %d, pieces of %d", d, pieceCost), got, want, 1e-9)
		}
	}
}

// Work goes on where choosing the examples of the support takes longer than a caller has.
func TestPrepareEndsHoweverLongChoosingTakes(t *testing.T) {
	c, _ := teach(t, niwtest.Prior(rand.New(rand.NewPCG(98, 1)), 6), variants["session"], []int{9, 8, 7})
	chosen := func() *asked {
		if len(c.support.asked) == 0 {
			return nil
		}
		return &c.support.asked[0]
	}
	for calls := 0; ; calls++ {
		if calls == 100 {
			t.Fatal("Prepare chooses again and again")
		}
		before := chosen()
		if c.Prepare(func() bool { return chosen() == before }) {
			return
		}
	}
}

// A classifier that changes while its answer is half computed leaves its clone as it was, which goes
// on with what is computed.
func TestACloneGoesOnWithItsOwnSupport(t *testing.T) {
	cost := pieceCost
	defer func() { pieceCost = cost }()
	pieceCost = 5000 // the support comes in many pieces
	c, x := teach(t, niwtest.Prior(rand.New(rand.NewPCG(96, 1)), 30), variants["session"], []int{9, 8, 7, 6})
	want := c.Clone()
	for c.support.done == 0 {
		asked := 0
		c.Prepare(func() bool { asked++; return asked == 1 })
	}
	if c.support.done == len(c.support.asked) {
		t.Fatal("the support came in one piece")
	}
	clone := c.Clone()
	test.OK(t, c.Remove("c0", 0))
	test.OK(t, c.Add("c1", x[0][0]))
	c.Prepare(always)
	same(t, "the clone", ask(t, clone, x[2][0]), ask(t, want, x[2][0]), 0)
}

// So it does wherever the original stops, and both take in examples that the other has not.
func TestACloneOfAnythingHalfDoneIsOfItsOwn(t *testing.T) {
	for _, d := range []int{6, 30} { // A itself, and the smaller matrix
		for pieces := 1; ; pieces++ {
			rng := rand.New(rand.NewPCG(97, 1))
			c, x := teach(t, niwtest.Prior(rng, d), variants["session"], []int{9, 8, 7})
			c.shared.cov.anew = 0
			c.Prepare(always)
			for i := range 6 {
				test.OK(t, c.Add("c1", niwtest.Vector(rng, d, float64(i)/4)))
				if i%2 == 0 {
					test.OK(t, c.Remove("c2", 1))
				}
			}
			asked := 0
			done := c.Prepare(func() bool { asked++; return asked <= pieces })
			clone := c.Clone()
			for i, c := range []*Classifier{c, clone} {
				test.OK(t, c.Remove("c2", i))
				for k := range 3 {
					test.OK(t, c.Insert("c1", i*c.Count("c1"), x[2*i][k])) // first or last
				}
			}
			for more := true; more; { // both go on in turn
				more = false
				for _, c := range []*Classifier{c, clone} {
					asked = 0
					more = !c.Prepare(func() bool { asked++; return asked == 1 }) || more
				}
			}
			for i, c := range []*Classifier{c, clone} {
				fresh := test.Must(New(c.prior, c.options))(t)
				for j, k := range c.classes {
					test.OK(t, fresh.AddClass(k.label))
					for at := range k.pictures() {
						fresh.classes[j].add(k.picture(at))
					}
				}
				fresh.changed()
				same(t, fmt.Sprintf("d = %d, %d pieces, classifier %d", d, pieces, i), ask(t, c, x[2][0]), ask(t, fresh, x[2][0]), 1e-9)
			}
			if done {
				break
			}
		}
	}
}

// A picture far from the others of its class changes the correlation length, by which all bursts
// are found. The classifier then takes in the bursts that change, and not all pictures anew. It
// answers as one that had this length from the start.
func TestAnotherCorrelationLengthChangesFewExamples(t *testing.T) {
	b := &counting{}
	blas64.Use(b)
	defer blas64.Use(gonum.Implementation{})
	const way = 100
	for _, name := range []string{"bayes", "parts"} {
		for _, d := range []int{120, 500} { // 203 residuals: A itself, and the smaller matrix
			rng := rand.New(rand.NewPCG(93, uint64(d)))
			o := variants[name]
			o.Near = 1e9
			add := func(c *Classifier, label string, x []float64) {
				t.Helper()
				test.OK(t, c.Add(label, x))
			}
			c, fresh := test.Must(New(niw.HandCrafted(d, 1), o))(t), test.Must(New(niw.HandCrafted(d, 1), o))(t)
			for j := range way {
				label := fmt.Sprint(j)
				test.OK(t, c.AddClass(label))
				test.OK(t, fresh.AddClass(label))
				for range 3 {
					x := niwtest.Vector(rng, d, 0)
					x[j] += 5
					add(c, label, x)
					add(fresh, label, x)
					if j < 3 { // a burst, whose count depends on the length
						y := niwtest.Vector(rng, d, 0)
						floats.AddScaledTo(y, x, 0.3, y)
						add(c, label, y)
						add(fresh, label, y)
					}
				}
			}
			b.cost = 0
			c.Prepare(always)
			anew, near := b.cost, c.Near()
			counts := slices.Clone(c.classes[0].n)
			far := niwtest.Vector(rng, d, 0)
			floats.Scale(2.2, far)
			add(c, "70", far)
			add(fresh, "70", far)
			b.cost = 0
			c.Prepare(always)
			if c.Near() == near || slices.Equal(c.classes[0].n, counts) || c.classes[0].count() != len(counts) {
				t.Fatalf("%s, d = %d: the length is %v after %v, the counts of a class with bursts %v after %v", name, d, c.Near(), near, c.classes[0].n, counts)
			}
			if b.cost > anew/2 {
				t.Errorf("%s, d = %d: one picture takes %d multiply-adds, all of them %d", name, d, b.cost, anew)
			}
			fresh.Prepare(always)
			for j, k := range c.classes {
				if other := fresh.classes[j]; !slices.Equal(k.n, other.n) || !slices.Equal(k.of, other.of) || !slices.Equal(k.w.Data, other.w.Data) {
					t.Fatalf("%s, d = %d: class %d has other examples than in a session that begins so", name, d, j)
				}
			}
			for _, j := range []int{0, 1, 70, 99} {
				x := niwtest.Vector(rng, d, 0)
				x[j] += 5
				same(t, fmt.Sprint(name, " d = ", d), ask(t, c, x), ask(t, fresh, x), 1e-9)
			}
		}
	}
}

// Finding the frames of a burst compares with all pictures of a batch, which may be many.
func TestFindingABurstRests(t *testing.T) {
	const n, d = 50, 8
	was := pieceCost
	pieceCost = 10 * withinCost * d
	defer func() { pieceCost = was }()
	rests := 0
	b := &batch{of: test.Must(New(niw.HandCrafted(d, 1), variants["session"]))(t), ctx: context.Background(), progress: func(int, int) { rests++ }, n: n,
		w: blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}, r2: make([]float64, n), burst: make([][]uint64, n)}
	test.OK(t, b.findBurst(0))
	if rests != 5 {
		t.Errorf("%d rests, want one for every ten pictures", rests)
	}
}
