package lda

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/session"
	"metaqda/core/test"
)

func dense(rows [][]float64) *mat.Dense {
	m := new(mat.Dense)
	for i, r := range rows {
		if i == 0 {
			m = mat.NewDense(len(rows), len(r), nil)
		}
		m.SetRow(i, r)
	}
	return m
}

// classify returns a row for each picture: the probabilities of the classes and of
// none.
func classify(t testing.TB, c *Classifier, x [][]float64) [][]float64 {
	t.Helper()
	a := test.Must(c.Classify(context.Background(), dense(x), nil))(t)
	var out [][]float64
	for i := range x {
		p := append(slices.Clone(a.Classes.RawRowView(i)), a.None[i])
		for _, v := range p {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("probability %v", v)
			}
		}
		s := floats.Sum(p)
		if math.Abs(s-1) > 1e-12 {
			t.Fatalf("probabilities sum to %v", s)
		}
		out = append(out, p)
	}
	return out
}

// clusters draws n pictures of each class of a scene about its middle, and returns
// the class of each.
func (s scene) clusters(rng *rand.Rand, n int, spread float64) (x [][]float64, class []int) {
	for j, pictures := range s {
		if len(pictures) == 0 {
			continue
		}
		for range n {
			v := slices.Clone(pictures[0])
			for i := range v {
				v[i] += spread * rng.NormFloat64()
			}
			x, class = append(x, v), append(class, j)
		}
	}
	return x, class
}

var batchVariants = map[string]Options{
	"bayes":   {NonePrior: 0.2, Shared: 1, Kappa: 1},
	"session": {NonePrior: 0.3, Population: somePopulation(), Centre: 1.5, Near: 0.01, Shared: 0.8, Kappa: 3},
}

// togetherOptions are those of the tests of pictures judged together.
func togetherOptions() Options {
	return Options{Centre: 1.5, NonePrior: 0.1, Near: 0.01, Population: somePopulation(), Shared: 0.8, Kappa: 3}
}

// The oracle is the definition with d×d matrices: the mean of each class over its
// examples and its pseudo-labelled pictures by their weights, without the picture that
// is judged and frames of its burst.
func TestPseudoLabelledScoresByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	for name, p := range priors(t, rng) {
		s := randomScene(rng, p.Dim(), 1, 2, 3)
		c := s.teach(t, p, togetherOptions())
		x, _ := s.clusters(rng, 5, 0.7)
		for _, v := range x[:3] { // bursts of three
			x = append(x, slices.Clone(v), slices.Clone(v))
			x[len(x)-1][0] += 1e-3
			x[len(x)-2][0] -= 1e-3
		}
		b := &batch{of: c, ctx: context.Background(), progress: func(int, int) {}, n: len(x), posterior: c.Session()}
		test.OK(t, b.answer(&Answers{Classes: mat.NewDense(len(x), 3, nil), None: make([]float64, len(x))}, dense(x)))
		got := make([]float64, 3)
		for i := range x {
			test.OK(t, b.scoresTo(got, i))
			for j, q := range b.pseudo {
				want := densePseudo(t, c, b, q, i)
				if math.Abs(got[j]-want) > 1e-8*math.Max(1, math.Abs(want)) {
					t.Errorf("%s: picture %d under class %d: %.12g, want %.12g", name, i, j, got[j], want)
				}
			}
		}
		test.OK(t, b.sharpen())
		for i := range x { // the weights of a picture sum to the square of its probability of being known
			known := floats.Sum(b.share.RawRowView(i))
			if got := floats.Sum(b.weights.RawRowView(i)); got != 0 && math.Abs(got-known*known) > 1e-12 {
				t.Errorf("%s: the weights of picture %d sum to %v, want %v", name, i, got, known*known)
			}
		}
		if labelled := len(b.pseudo[0].pictures) + len(b.pseudo[1].pictures); labelled == 0 && p.Dim() > 3 {
			t.Errorf("%s: nothing pseudo-labelled", name)
		}
	}
}

// The oracle is the definition: the weights of pictures by their probabilities, without copies of
// examples and of each other, pictures too far out, and all but the surest of a class.
func TestPseudoLabelsByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(86, 1))
	const d = 20
	s := randomScene(rng, d, 1, 2, 3)
	c := s.teach(t, niwtest.Prior(rng, d), togetherOptions())
	x, _ := s.clusters(rng, 45, 1.2) // of each class more than count
	for range 15 {
		x = append(x, niwtest.Vector(rng, d, -3))
	}
	far := slices.Clone(x[0])
	floats.Scale(30, far)
	x = append(x, x[3], x[50], x[3], s[0][0], s[2][1], far)
	b := &batch{of: c, ctx: t.Context(), progress: func(int, int) {}, n: len(x), posterior: c.Session()}
	test.OK(t, b.answer(&Answers{Classes: mat.NewDense(len(x), 3, nil), None: make([]float64, len(x))}, dense(x)))
	p := mat.DenseCopyOf(b.share)
	test.OK(t, b.label())

	z, inExamples := mat.NewDense(len(x), d, nil), make([]float64, 3) // of each class the largest squared length of an example
	c.whitenRowsTo(z, dense(x))
	for j, k := range c.taught {
		for i := range k.count() {
			inExamples[j] = max(inExamples[j], squaredNorm(k.row(i)))
		}
	}
	v, known := mat.NewDense(len(x), 3, nil), make([]float64, len(x))
	normalise := func() {
		for i := range x {
			if sum := floats.Sum(v.RawRowView(i)); sum > 0 {
				floats.Scale(known[i]/sum, v.RawRowView(i))
			}
		}
	}
	for i := range x {
		if squaredNorm(z.RawRowView(i)) > farOut*slices.Max(inExamples) {
			continue
		}
		known[i] = math.Pow(floats.Sum(p.RawRowView(i)), 2)
		for j := range 3 {
			v.Set(i, j, p.At(i, j)*p.At(i, j))
		}
	}
	for range 2 {
		normalise()
		total := mat.Sum(v)
		var sums [3]float64
		for j := range sums {
			sums[j] = mat.Sum(v.ColView(j))
		}
		v.Apply(func(_, j int, w float64) float64 { return w * math.Sqrt(total/3/sums[j]) }, v)
	}
	normalise()
	q := 0.0
	for i := range x {
		if row := v.RawRowView(i); floats.Sum(row) > 0 {
			q += floats.Dot(row, row) / floats.Sum(row) / mat.Sum(v)
		}
	}
	certain := (q - 1./3) / (1 - 1./3)
	var picked [3][]int
	var shares [3]float64
	total, most := 0.0, 0.0
	for j, k := range c.taught {
		var order []int
		for i := range x {
			if v.At(i, j) >= 0.01 && squaredNorm(z.RawRowView(i)) <= farOut*inExamples[j] {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.At(b, j), v.At(a, j)) })
		seen, own, rest := 0.0, 0.0, 0.0
		for _, i := range order {
			w := v.At(i, j)
			if len(picked[j]) == 32 {
				rest += w
				continue
			}
			seen += w
			if !slices.ContainsFunc(append(slices.Clone(s[j]), rowsAt(x, picked[j])...), func(y []float64) bool { return floats.EqualApprox(x[i], y, 1e-12) }) {
				picked[j] = append(picked[j], i)
				own += w
			}
		}
		shares[j] = own + rest*own/seen
		total += shares[j]
		most += 6 * certain / k.weight()
	}
	if lambda := most / total; lambda >= 1 || len(picked[0]) < 32 || len(picked[1])+len(picked[2]) < 10 {
		t.Fatalf("λ is %v, with %d, %d and %d pictures: too easy", lambda, len(picked[0]), len(picked[1]), len(picked[2]))
	}
	for j, got := range b.pseudo {
		if !slices.Equal(got.pictures, picked[j]) {
			t.Fatalf("class %d has the pictures %v, want %v", j, got.pictures, picked[j])
		}
		all := 0.0
		for _, i := range picked[j] {
			all += v.At(i, j)
		}
		for r, i := range picked[j] {
			if want := v.At(i, j) * min(1, most/total*shares[j]/all); math.Abs(got.weights[r]-want) > 1e-9 {
				t.Errorf("class %d, picture %d: the weight is %.12g, want %.12g", j, i, got.weights[r], want)
			}
		}
	}
}

func rowsAt(x [][]float64, at []int) (rows [][]float64) {
	for _, i := range at {
		rows = append(rows, x[i])
	}
	return rows
}

// densePseudo is e_j of a picture for a class.
func densePseudo(t *testing.T, c *Classifier, b *batch, q *pseudoLabels, picture int) float64 {
	t.Helper()
	z := rowOf(b.w, picture)
	mean, count := make([]float64, c.Dim()), q.class.weight()
	sum := count
	for i, n := range q.class.n {
		floats.AddScaled(mean, n, q.class.row(i))
	}
	for r, v := range q.pictures {
		diff := slices.Clone(z)
		floats.Sub(diff, rowOf(b.w, v))
		if v != picture && squaredNorm(diff) >= q.class.reach() {
			floats.AddScaled(mean, q.weights[r], rowOf(b.w, v))
			sum += q.weights[r]
		}
	}
	floats.Scale(1/sum, mean)
	taught := &taughtClasses{prior: c.prior, list: c.taught}
	return taught.score(t, &c.options, nil, mean, count+labelled*(sum-count), z)
}

// What the pictures say of how hard the session is, against the definition: of each
// distinct one, in proportion to its pseudo-label weight, but not of the picture judged, its copies
// and the frames of its burst.
func TestAgreementIsOfOtherPictures(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 1))
	p := priors(t, rng)["d=30"]
	population := somePopulation()
	s := randomScene(rng, p.Dim(), 1, 2, 3)
	o := togetherOptions()
	o.Population = population
	c := s.teach(t, p, o)
	x, _ := s.clusters(rng, 5, 0.7)
	x = append(x, slices.Clone(x[0]), slices.Clone(x[7])) // copies
	x[len(x)-1][0] += 1e-3                                // but this one is a frame
	b := &batch{of: c, ctx: context.Background(), progress: func(int, int) {}, n: len(x), posterior: c.Session()}
	test.OK(t, b.answer(&Answers{Classes: mat.NewDense(len(x), 3, nil), None: make([]float64, len(x))}, dense(x)))

	// The answers alone are those of the classifier.
	alone := make([]float64, 3)
	for i := range x {
		test.OK(t, c.ScoresTo(alone, x[i]))
		floats.Scale(c.work.slope, alone)
		same(t, fmt.Sprint("alone ", i), b.agree.alone.RawRowView(i), alone, 1e-8)
	}

	// Counted anew with the weights that there would be now.
	const lambda = 0.3
	before := mat.DenseCopyOf(b.share)
	b.agree.weigh(lambda)
	test.OK(t, b.judge(false))
	apart := func(i, k int) bool {
		return slices.Equal(x[i], x[k]) || i != k && slices.Contains([]int{7, len(x) - 1}, i) && slices.Contains([]int{7, len(x) - 1}, k)
	}
	for i := range x {
		var want session.Evidence
		for k := range x {
			if apart(i, k) || k == len(x)-2 { // the second of two copies
				continue
			}
			share := slices.Clone(before.RawRowView(k))
			for j, v := range share {
				if share[j] = tempering * lambda * v; v < leastShare {
					share[j] = 0
				}
			}
			e := population.Evidence(b.agree.alone.RawRowView(k), share)
			want.Add(1, &e)
		}
		got := b.agree.without(i)
		same(t, fmt.Sprint("evidence for ", i), got[:], want[:], 1e-9)
	}
}

// Clusters about one example each are told apart better together.
func TestTogetherIsBetter(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))
	const d, way, n = 60, 4, 12
	var one, all int
	for range 20 {
		p := niw.HandCrafted(d, 1) // the covariance of the classes
		p.Kappa = 4
		c := test.Must(New(p, with(Options{Shared: 0.05, Kappa: p.Kappa, Centre: 1, Population: session.Bayes()})))(t)
		var x [][]float64
		var class []int
		for j := range way {
			centre := niwtest.Vector(rng, d, 0)
			floats.Scale(math.Sqrt(1/p.Kappa), centre)
			draw := func() []float64 {
				v := niwtest.Vector(rng, d, 0)
				floats.Add(v, centre)
				return v
			}
			test.OK(t, c.AddClass(fmt.Sprint("c", j)))
			test.OK(t, c.Add(fmt.Sprint("c", j), draw()))
			for range n {
				x, class = append(x, draw()), append(class, j)
			}
		}
		for i, p := range classify(t, c, x) {
			if floats.MaxIdx(p) == class[i] {
				all++
			}
			if floats.MaxIdx(ask(t, c, x[i])) == class[i] {
				one++
			}
		}
	}
	total := 20 * way * n
	if all < one+total/20 {
		t.Errorf("%d of %d right together, %d one by one: want five in a hundred more", all, total, one)
	}
}

func TestClassifyLeavesWhatWasTaught(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 1))
	for name, p := range priors(t, rng) {
		for variant, o := range batchVariants {
			s := randomScene(rng, p.Dim(), 3, 1, 0, 4)
			c, fresh := s.teach(t, p, o), s.teach(t, p, o)
			x, _ := s.clusters(rng, 7, 0.5)
			for i, p := range classify(t, c, x) {
				if p[2] != 0 {
					t.Fatalf("%s, %s: picture %d is of a class without examples with probability %v", name, variant, i, p[2])
				}
			}
			for _, q := range x {
				got, want := everything(t, c, q), everything(t, fresh, q)
				if !slices.Equal(got, want) {
					t.Fatalf("%s, %s: %v after a batch, want %v", name, variant, got, want)
				}
			}
			classify(t, c, x) // and it goes on from there
			test.OK(t, c.Add("c1", x[0]))
			test.OK(t, fresh.Add("c1", x[0]))
			got, want := everything(t, c, x[3]), everything(t, fresh, x[3])
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v after a batch and a picture, want %v", name, variant, got, want)
			}
		}
	}
}

// Rows whitened together and one by one differ by rounding. So pictures of the batch that were
// taught are copies of examples either way.
func TestClassifyKnowsExamplesHoweverTheyWereAdded(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(84, 2+seed))
		all := priors(t, rng)
		all["d=100"] = niwtest.Prior(rng, 100)
		for name, p := range all {
			s := randomScene(rng, p.Dim(), 2, 1, 3)
			oneByOne, together := s.teach(t, p, togetherOptions()), test.Must(New(p, togetherOptions()))(t)
			x, _ := s.clusters(rng, 3, 1)
			for j, pictures := range s {
				label := fmt.Sprint("c", j)
				test.OK(t, together.AddClass(label))
				test.OK(t, together.AddRows(label, dense(pictures)))
				x = append(x, pictures...)
			}
			got := classify(t, together, x)
			for i, want := range classify(t, oneByOne, x) {
				same(t, fmt.Sprint(name, ", seed ", seed, ", picture ", i), got[i], want, 1e-7)
			}
			for _, scale := range []float64{1e-60, 1e-6, 1e6, 1e60} { // what rounding leaves grows with the vectors
				rows := dense(x)
				rows.Scale(scale, rows)
				w, z := mat.NewDense(len(x), p.Dim(), nil), make([]float64, p.Dim())
				together.whitenRowsTo(w, rows)
				for i := range x {
					together.whitenTo(z, rows.RawRowView(i))
					if r2 := squaredNorm(z); !within(z, w.RawRowView(i), nearOfCopies(2*r2)) {
						t.Errorf("%s: picture %d times %v is no copy of itself", name, i, scale)
					}
				}
			}
		}
	}
}

func TestOrderOfABatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 1))
	for name, p := range priors(t, rng) {
		for variant, o := range batchVariants {
			s := randomScene(rng, p.Dim(), 2, 1, 3)
			c := s.teach(t, p, o)
			x, _ := s.clusters(rng, 30, 1)
			x = append(x, x[3], x[5], x[3]) // the same ones again
			want := classify(t, c, x)
			again := classify(t, c, x)
			order := rng.Perm(len(x))
			var y [][]float64
			for _, i := range order {
				y = append(y, x[i])
			}
			got := classify(t, c, y)
			for at, i := range order {
				same(t, fmt.Sprint(name, ", ", variant, ", picture ", i), got[at], want[i], 1e-7)
				if !slices.Equal(again[i], want[i]) {
					t.Fatalf("%s, %s: picture %d is %v, then %v", name, variant, i, want[i], again[i])
				}
			}
		}
	}
}

// Which pictures of a batch are frames of one burst follows the options, also in a session that gives
// the parts of embeddings other shares.
func TestFramesOfABatchFollowTheCorrelationLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(86, 2))
	o := togetherOptions()
	o.Parts = &Parts{First: 3, Odds: -9}
	s := randomScene(rng, 6, 3, 3, 2)
	x, _ := s.clusters(rng, 5, 0.5)
	c := s.teach(t, niw.HandCrafted(6, 1), o)
	before := classify(t, c, x)
	o.Near = 3
	test.OK(t, c.SetOptions(o))
	after := classify(t, c, x)
	for i, want := range classify(t, s.teach(t, niw.HandCrafted(6, 1), o), x) {
		same(t, fmt.Sprint("picture ", i), after[i], want, 1e-9)
	}
	if c.answering() == c || floats.EqualApprox(slices.Concat(before...), slices.Concat(after...), 1e-6) {
		t.Error("the test wants another share than ½, and bursts in the batch")
	}
}

// Where nothing can be pseudo-labelled, together is one by one: one picture, the same one
// many times, a burst, a single class among which nothing is to be told apart, Bayes' rule as it
// stands.
func TestTogetherIsOneByOneWhereNothingIsPseudoLabelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(85, 1))
	for name, p := range priors(t, rng) {
		for variant, o := range batchVariants {
			s := randomScene(rng, p.Dim(), 2, 1, 3)
			c := s.teach(t, p, o)
			x, _ := s.clusters(rng, 1, 1)
			alone := ask(t, c, x[1])
			what := name + ", " + variant
			same(t, what+": one picture", classify(t, c, x[1:2])[0], alone, 1e-9)
			for _, got := range classify(t, c, slices.Repeat(x[1:2], 70)) {
				same(t, what+": identical pictures", got, alone, 1e-9)
			}
			burst := [][]float64{x[1]} // whose frames do not judge each other
			for range 9 {
				w := slices.Clone(x[1])
				w[rng.IntN(len(w))] += 1e-4
				burst = append(burst, w)
			}
			for i, got := range classify(t, c, burst) {
				same(t, what+": a burst", got, ask(t, c, burst[i]), 1e-9)
			}
			single := s[:1].teach(t, p, o)
			x, _ = s.clusters(rng, 4, 1)
			if o.Population == nil {
				for i, got := range classify(t, c, x) {
					same(t, what+": Bayes' rule", got, ask(t, c, x[i]), 0)
				}
			}
			for i, got := range classify(t, single, x) {
				same(t, what+": one class", got, ask(t, single, x[i]), 1e-9)
			}
		}
	}
}

// Whether a picture is of none of the classes is settled alone.
func TestNoneIsThatOfThePictureAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(87, 1))
	const d = 30
	s := randomScene(rng, d, 1, 3, 2)
	c := s.teach(t, niwtest.Prior(rng, d), togetherOptions())
	x, _ := s.clusters(rng, 6, 0.7)
	for range 20 {
		x = append(x, niwtest.Vector(rng, d, -3))
	}
	for i, p := range classify(t, c, x) {
		alone := ask(t, c, x[i])
		if math.Abs(p[3]-alone[3]) > 1e-9 {
			t.Errorf("picture %d: none has %v, alone %v", i, p[3], alone[3])
		}
	}
}

// No row, however long, makes the others' answers other than they were.
func TestExtremeRowsOfABatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(88, 1))
	for _, scale := range []float64{1e-300, 1e8, 1e40, 1e65} {
		for variant, o := range batchVariants {
			p := niwtest.Prior(rng, 12)
			s := randomScene(rng, 12, 2, 1, 1)
			c := s.teach(t, p, o)
			x, _ := s.clusters(rng, 6, 0.5)
			far := niwtest.Vector(rng, 12, 0)
			floats.Scale(scale, far)
			want, got := classify(t, c, x), classify(t, c, append(slices.Clone(x), far))
			if scale < 1 {
				continue // a picture like others: finite is enough
			}
			for i := range x {
				same(t, fmt.Sprint(variant, ", scale ", scale, ", picture ", i), got[i], want[i], 1e-9)
			}
		}
	}
	// Taught far out as well, where rounding is all there is.
	p := niwtest.Prior(rng, 12)
	s := randomScene(rng, 12, 2, 1)
	for j := range s {
		for _, v := range s[j] {
			floats.Scale(1e60, v)
		}
	}
	c := s.teach(t, p, batchVariants["session"])
	x, _ := s.clusters(rng, 6, 1e58)
	classify(t, c, x)
}

// Answers that judging together made surer stay. Those that it made less sure go half way back to
// the answers one by one, in which copies count once.
func TestAnswersGoBackWhereTogetherIsLessSure(t *testing.T) {
	sure, unsure := []float64{0.8, 0.1}, []float64{0.5, 0.4}
	for _, c := range []struct{ together, alone, want []float64 }{
		{sure, unsure, sure},
		{unsure, sure, []float64{0.65, 0.25}},
		{unsure, unsure, unsure},
	} {
		b := &batch{n: 3, r2: make([]float64, 3), share: mat.NewDense(3, 2, nil), alone: mat.NewDense(3, 2, nil), pseudo: []*pseudoLabels{{farthest: 1}}}
		b.agree.first = []int{0, 1, 1}
		for i := range 3 {
			b.share.SetRow(i, c.together)
			b.alone.SetRow(i, c.alone)
		}
		b.share.SetRow(2, sure) // a copy of what says the contrary
		b.alone.SetRow(2, unsure)
		b.temper()
		if got := b.share.RawRowView(0); !floats.EqualApprox(got, c.want, 1e-12) {
			t.Errorf("together %v, alone %v: %v, want %v", c.together, c.alone, got, c.want)
		}
	}
}

// Vectors of length one are at the bound exactly where the mean of a class's only example is half as
// long: that of a vector and of zero.
func TestRoundingDoesNotDecideWhatIsFarOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	const d = 9
	half := make([]float64, d)
	half[0] = 0.5
	k := newClass("a", d, 0)
	k.add(half)
	b := &batch{r2: make([]float64, 1)}
	q := newPseudoLabels(b, k, nil)
	for range 100 {
		x := niwtest.Vector(rng, d, 0)
		floats.Scale(1/floats.Norm(x, 2), x)
		if b.r2[0] = squaredNorm(x); !q.within(0, 1) {
			t.Fatalf("a squared length of %v is beyond the bound %v", b.r2[0], q.farthest)
		}
	}
}
