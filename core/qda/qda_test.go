package qda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/niw"
	"metaqda/core/session"
)

func randomPrior(rng *rand.Rand, d int) *niw.Prior {
	p := niw.HandCrafted(d, 1)
	p.Kappa, p.Nu = 0.3+rng.Float64(), float64(d)+3*rng.Float64()
	for i := range d {
		p.M[i] = 0.3 * rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.2*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.7+rng.Float64())
	}
	return p
}

func randomVector(rng *rand.Rand, d int, offset float64) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = offset + rng.NormFloat64()
	}
	return x
}

// teach returns a classifier with the given shots per class, class j lying
// around j/2 in every coordinate.
func teach(t testing.TB, p *niw.Prior, o Options, shots []int) (*Classifier, [][][]float64) {
	t.Helper()
	c, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(42, uint64(p.Dim())))
	examples := make([][][]float64, len(shots))
	for j, k := range shots {
		label := fmt.Sprint("c", j)
		must(t, c.AddClass(label))
		for range k {
			x := randomVector(rng, p.Dim(), float64(j)/2)
			examples[j] = append(examples[j], x)
			must(t, c.Add(label, x))
		}
	}
	return c, examples
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask returns the probabilities with that of none of these appended.
func ask(t testing.TB, c *Classifier, x []float64) []float64 {
	t.Helper()
	p := make([]float64, len(c.classes), len(c.classes)+1)
	none, err := c.ProbabilitiesTo(p, x)
	must(t, err)
	p = append(p, none)
	var sum float64
	for _, v := range p {
		if !(v >= 0 && v <= 1) {
			t.Fatalf("probability %v", v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-12) {
		t.Fatalf("probabilities sum to %v", sum)
	}
	return p
}

func same(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: [%d] is %.15g, want %.15g", what, i, got[i], want[i])
		}
	}
}

var variants = map[string]Options{
	"shared":     {Shared: 0.6, Kappa: 3, Centre: 1.2, NonePrior: 0.2, Population: somePopulation()},
	"fb":         {NonePrior: 0.2},
	"map":        {Inference: niw.MAP, NonePrior: 0.2},
	"pooled fb":  {Pooled: true, NonePrior: 0.2},
	"pooled map": {Pooled: true, Inference: niw.MAP, NonePrior: 0.2},
	"session":    {NonePrior: 0.3, Population: somePopulation()},
}

// pooledOracle is the pooled predictive by gonum's dense Student-t.
func pooledOracle(t *testing.T, p *niw.Prior, examples [][][]float64, query []float64) []float64 {
	t.Helper()
	d, n := p.Dim(), 0
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, p.L)
	means := make([][]float64, len(examples))
	for j, rows := range examples {
		k := float64(len(rows))
		n += len(rows)
		mean := make([]float64, d)
		for _, x := range rows {
			for i, v := range x {
				mean[i] += v / k
			}
		}
		diff := mat.NewVecDense(d, nil)
		for _, x := range rows {
			for i := range d {
				diff.SetVec(i, x[i]-mean[i])
			}
			s.SymRankOne(s, 1, diff)
		}
		means[j] = make([]float64, d)
		for i := range d {
			diff.SetVec(i, mean[i]-p.M[i])
			means[j][i] = (p.Kappa*p.M[i] + k*mean[i]) / (p.Kappa + k)
		}
		s.SymRankOne(s, p.Kappa*k/(p.Kappa+k), diff)
	}
	df := p.Nu + float64(n) - float64(d) + 1
	density := func(m []float64, kappa float64) float64 {
		scaled := mat.NewSymDense(d, nil)
		scaled.ScaleSym((kappa+1)/(kappa*df), s)
		st, ok := distmv.NewStudentsT(m, scaled, df, nil)
		if !ok {
			t.Fatal("oracle not positive definite")
		}
		return st.LogProb(query)
	}
	var out []float64
	for j := range means {
		out = append(out, density(means[j], p.Kappa+float64(len(examples[j]))))
	}
	return append(out, density(p.M, p.Kappa))
}

func TestPooledMatchesDenseStudentT(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 4, 30} { // dense form for 1 and 4, low rank for 30
		p := randomPrior(rng, d)
		c, examples := teach(t, p, Options{Pooled: true}, []int{3, 1, 5})
		query := randomVector(rng, d, 0.5)
		got := make([]float64, 3)
		none, err := c.LogDensitiesTo(got, query)
		must(t, err)
		want := pooledOracle(t, p, examples, query)
		for i, g := range append(got, none) {
			if !(math.Abs(g-want[i]) <= 1e-10*math.Max(1, math.Abs(want[i]))) {
				t.Errorf("d=%d [%d]: got %.12g, want %.12g", d, i, g, want[i])
			}
		}
	}
}

// A scale matrix pooled of one class is the class's own.
func TestClassMatchesDenseStudentT(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, d := range []int{1, 4, 20} { // 20: low rank; 4: one class of each form
		p := randomPrior(rng, d)
		c, examples := teach(t, p, Options{}, []int{2, 7})
		query, got := randomVector(rng, d, 0.4), make([]float64, 2)
		_, err := c.LogDensitiesTo(got, query)
		must(t, err)
		for j, g := range got {
			if want := pooledOracle(t, p, examples[j:j+1], query)[0]; !(math.Abs(g-want) <= 1e-10*math.Max(1, math.Abs(want))) {
				t.Errorf("d=%d [%d]: got %.12g, want %.12g", d, j, g, want)
			}
		}
	}
}

func TestProbabilitiesAreBayesRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	c, _ := teach(t, randomPrior(rng, 3), Options{NonePrior: 0.25}, []int{2, 4})
	must(t, c.SetClassPrior("c1", 3))
	query := randomVector(rng, 3, 0.3)
	l := make([]float64, 2)
	l0, err := c.LogDensitiesTo(l, query)
	must(t, err)
	a, b, n := 0.75*0.25*math.Exp(l[0]), 0.75*0.75*math.Exp(l[1]), 0.25*math.Exp(l0)
	z := a + b + n
	same(t, "Bayes", ask(t, c, query), []float64{a / z, b / z, n / z}, 1e-13)
}

// somePopulation has every coefficient away from where it would do nothing.
func somePopulation() *session.Population {
	return &session.Population{
		LogT: [2]float64{1, -0.2}, Offset: [2]float64{-0.3, 0.05},
		Hardness: session.Hardness{SD: 0.5, Weight: 0.6},
		Level:    session.Level{Mean: [2]float64{0.5, 0.2}, SD: 0.7, Count: 3}, Spread: session.Spread{SD: 2, Count: 1.5},
		Known: session.Known{Threshold: session.Normal{Mean: 0.4, SD: 0.6}, Slope: session.Normal{Mean: 0.3, SD: 0.4}, Weight: 0.3},
	}
}

// What the session says is what classifiers taught anew say, each without the
// example in question; the probabilities are those of package session for it.
func TestSupportByTeachingAnew(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		for _, shots := range [][]int{{2, 3, 1}, {1, 1}, {4}, {1}} {
			p, o := randomPrior(rng, 30), Options{Inference: inf, NonePrior: 0.3, Population: somePopulation()}
			c, examples := teach(t, p, o, shots)
			want := &session.Support{}
			for j, rows := range examples {
				want.Shots = append(want.Shots, float64(len(rows)))
				for i, x := range rows {
					want.Class = append(want.Class, j)
					want.Scores = append(want.Scores, scoresWithout(t, p, inf, examples, j, i, x)...)
				}
			}
			name := fmt.Sprint(inf, shots)
			got := c.Support()
			same(t, name+" shots", got.Shots, want.Shots, 0)
			same(t, name+" scores", got.Scores, want.Scores, 1e-9)
			query := randomVector(rng, 30, 0.3)
			e := make([]float64, len(shots))
			must(t, c.ScoresTo(e, query))
			prior := make([]float64, len(shots))
			for j, k := range want.Shots {
				slope, offset := o.Population.Line(k)
				e[j] = slope*e[j] + offset
				prior[j] = -math.Log(float64(len(shots)))
			}
			probability := make([]float64, len(shots)+1)
			probability[len(shots)] = o.Population.Infer(want).ProbabilitiesTo(probability[:len(shots)], e, prior, 0.3, make([]float64, len(shots)))
			same(t, name, ask(t, c, query), probability, 1e-9)
		}
	}
}

// scoresWithout returns the scores of x, the i-th example of class own, under all
// classes without it; zero where nothing is left.
func scoresWithout(t *testing.T, p *niw.Prior, inf niw.Inference, examples [][][]float64, own, i int, x []float64) []float64 {
	t.Helper()
	c, err := New(p, Options{Inference: inf})
	must(t, err)
	for j, rows := range examples {
		label := fmt.Sprint(j)
		must(t, c.AddClass(label))
		for k, r := range rows {
			if j != own || k != i {
				must(t, c.Add(label, r))
			}
		}
	}
	l := make([]float64, len(examples))
	l0, err := c.LogDensitiesTo(l, x)
	must(t, err)
	for j := range l {
		l[j] -= l0
	}
	return l
}

// The scores that are kept from change to change are those of a classifier that
// is asked for the first time.
func TestSupportFollowsEveryChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for _, o := range []Options{{}, {Centre: 1.5}, {Near: 0.5, Centre: 2}} {
		p := randomPrior(rng, 20)
		c, err := New(p, o)
		must(t, err)
		var labels []string
		taught := map[string][][]float64{}
		for step := range 150 {
			switch label := fmt.Sprint(rng.IntN(6)); {
			case c.Index(label) < 0:
				must(t, c.AddClass(label))
				labels, taught[label] = append(labels, label), nil
			case rng.IntN(12) == 0:
				must(t, c.RemoveClass(label))
				labels = slices.DeleteFunc(labels, func(l string) bool { return l == label })
				delete(taught, label)
			case rng.IntN(4) == 0 && len(taught[label]) > 0:
				i := rng.IntN(len(taught[label]))
				must(t, c.Remove(label, i))
				taught[label] = slices.Delete(taught[label], i, i+1)
			default:
				x := randomVector(rng, 20, 0.2)
				must(t, c.Add(label, x))
				taught[label] = append(taught[label], x)
			}
			if step%3 == 0 {
				continue // several changes between two questions
			}
			fresh, err := New(p, o)
			must(t, err)
			for _, label := range labels {
				must(t, fresh.AddClass(label))
				for _, x := range taught[label] {
					must(t, fresh.Add(label, x))
				}
			}
			got, want := c.Support(), fresh.Support()
			same(t, fmt.Sprint("step ", step), got.Scores, want.Scores, 1e-9)
			same(t, "shots", got.Shots, want.Shots, 0)
		}
	}
}

// A session of many classes asks a bounded number of its examples.
func TestSupportOfALargeSession(t *testing.T) {
	shots := make([]int, 200)
	for i := range shots {
		shots[i] = 2
	}
	c, _ := teach(t, niw.HandCrafted(30, 1), Options{NonePrior: 0.1, Population: somePopulation()}, shots)
	s := c.Support()
	if len(s.Class) != supportExamples || s.Way() != 200 || s.Class[63] != 31 {
		t.Errorf("%d examples of %d classes, the last of class %d", len(s.Class), s.Way(), s.Class[len(s.Class)-1])
	}
}

func TestOrderOfEnrolmentDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for name, o := range variants {
		for _, d := range []int{2, 40} {
			p := randomPrior(rng, d)
			c, examples := teach(t, p, o, []int{5, 3, 4})
			query := randomVector(rng, d, 0.5)
			want := ask(t, c, query)
			other, err := New(p, o)
			must(t, err)
			for j := range examples {
				must(t, other.AddClass(fmt.Sprint("c", j)))
			}
			for round := 4; round >= 0; round-- {
				for j, rows := range examples {
					if round < len(rows) {
						must(t, other.Add(fmt.Sprint("c", j), rows[round]))
					}
				}
			}
			same(t, name, ask(t, other, query), want, 1e-10)
		}
	}
}

func TestRemoveUndoesAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for name, o := range variants {
		for _, d := range []int{1, 4, 40} { // 4: the fifth example crosses to the dense form
			c, _ := teach(t, randomPrior(rng, d), o, []int{3, 4})
			query := randomVector(rng, d, 0.5)
			want := ask(t, c, query)
			for range 3 {
				must(t, c.Add("c1", randomVector(rng, d, 9)))
			}
			ask(t, c, query)
			for i := 6; i >= 4; i-- {
				must(t, c.Remove("c1", i))
			}
			same(t, name, ask(t, c, query), want, 1e-12)
		}
	}
}

func TestRemoveFromTheMiddleAsIfNeverThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, d := range []int{2, 40} {
		p := randomPrior(rng, d)
		c, examples := teach(t, p, variants["fb"], []int{4, 4})
		must(t, c.Remove("c0", 1))
		fresh, err := New(p, variants["fb"])
		must(t, err)
		for j, rows := range examples {
			must(t, fresh.AddClass(fmt.Sprint("c", j)))
			for i, x := range rows {
				if j != 0 || i != 1 {
					must(t, fresh.Add(fmt.Sprint("c", j), x))
				}
			}
		}
		query := randomVector(rng, d, 0.2)
		same(t, "removed", ask(t, c, query), ask(t, fresh, query), 1e-12)
	}
}

func TestAddingAClassLeavesTheOthersAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	c, _ := teach(t, randomPrior(rng, 10), Options{}, []int{2, 3})
	query := randomVector(rng, 10, 0)
	before, after := make([]float64, 2), make([]float64, 3)
	_, err := c.LogDensitiesTo(before, query)
	must(t, err)
	must(t, c.AddClass("new"))
	must(t, c.Add("new", randomVector(rng, 10, 3)))
	_, err = c.LogDensitiesTo(after, query)
	must(t, err)
	if before[0] != after[0] || before[1] != after[1] {
		t.Errorf("densities moved from %v to %v", before, after)
	}
}

func TestRowsTogetherEqualRowsOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	p := randomPrior(rng, 70)
	c, examples := teach(t, p, variants["fb"], []int{5, 2})
	other, err := New(p, variants["fb"])
	must(t, err)
	for j, rows := range examples {
		x := mat.NewDense(len(rows), 70, nil)
		for i, r := range rows {
			x.SetRow(i, r)
		}
		must(t, other.AddClass(fmt.Sprint("c", j)))
		must(t, other.AddRows(fmt.Sprint("c", j), x))
	}
	query := randomVector(rng, 70, 0.1)
	same(t, "batch", ask(t, other, query), ask(t, c, query), 1e-10)
}

func TestClassPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	p := randomPrior(rng, 6)
	c, examples := teach(t, p, variants["pooled fb"], []int{2, 3, 1})
	other, err := New(p, variants["pooled fb"])
	must(t, err)
	for _, j := range []int{2, 0, 1} {
		must(t, other.AddClass(fmt.Sprint("c", j)))
		for _, x := range examples[j] {
			must(t, other.Add(fmt.Sprint("c", j), x))
		}
	}
	query := randomVector(rng, 6, 0.5)
	a, b := ask(t, c, query), ask(t, other, query)
	same(t, "permuted", []float64{b[1], b[2], b[0], b[3]}, a, 1e-11)
}

func TestDegenerateData(t *testing.T) {
	const d = 6
	constant := []float64{2, 2, 2, 2, 2, 2}
	zero := make([]float64, d)
	far := []float64{1e3, 1e3, 1e3, 1e3, 1e3, 1e3}
	for name, rows := range map[string][][]float64{
		"one example":        {constant},
		"identical examples": {constant, constant, constant, constant, constant, constant, constant, constant},
		"at the prior mean":  {zero, zero},
		"offset 1e3":         {far, far, {1e3, 1001, 1e3, 1e3, 999, 1e3}},
	} {
		for variant, o := range variants {
			c, err := New(niw.HandCrafted(d, 1), o)
			must(t, err)
			must(t, c.AddClass("it"))
			must(t, c.AddClass("other"))
			must(t, c.Add("other", []float64{-3, 0, -3, 0, -3, 0}))
			for _, x := range rows {
				must(t, c.Add("it", x))
			}
			p := ask(t, c, rows[0])
			if p[0] < p[1] {
				t.Errorf("%s, %s: own example has %v, the other class %v", name, variant, p[0], p[1])
			}
			ask(t, c, []float64{1e60, -1e60, 0, 0, 0, 1}) // far away still sums to one
		}
	}
}

// At an offset of 1e3 from the prior mean the low-rank form loses digits to
// cancellation; eight must remain.
func TestOffsetKeepsDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	const d = 12
	p := randomPrior(rng, d)
	c, err := New(p, Options{})
	must(t, err)
	must(t, c.AddClass("far"))
	x := mat.NewDense(4, d, nil)
	for i := range 4 {
		x.SetRow(i, randomVector(rng, d, 1e3))
		must(t, c.Add("far", x.RawRowView(i)))
	}
	query := randomVector(rng, d, 1e3)
	got := make([]float64, 1)
	_, err = c.LogDensitiesTo(got, query)
	must(t, err)
	post, _ := p.Update(x)
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, post.L)
	df := post.Nu - d + 1
	s.ScaleSym((post.Kappa+1)/(post.Kappa*df), s)
	st, ok := distmv.NewStudentsT(post.M, s, df, nil)
	if !ok {
		t.Fatal("oracle not positive definite")
	}
	if want := st.LogProb(query); !(math.Abs(got[0]-want) <= 1e-8*math.Abs(want)) {
		t.Errorf("got %.15g, want %.15g", got[0], want)
	}
}

func TestThousandClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	c, err := New(niw.HandCrafted(24, 0.3), Options{NonePrior: 0.1})
	must(t, err)
	centres := make([][]float64, 1000)
	for j := range centres {
		centres[j] = randomVector(rng, 24, 0)
		label := fmt.Sprint(j)
		must(t, c.AddClass(label))
		for range 2 {
			x := append([]float64(nil), centres[j]...)
			x[rng.IntN(24)] += 0.1
			must(t, c.Add(label, x))
		}
	}
	for _, j := range []int{0, 17, 999} {
		p := ask(t, c, centres[j])
		for i, v := range p {
			if i != j && v >= p[j] {
				t.Errorf("class %d has %v, class %d %v", j, p[j], i, v)
			}
		}
	}
	must(t, c.RemoveClass("17"))
	if p := ask(t, c, centres[999]); len(p) != 1000 || p[998] < 0.5 {
		t.Errorf("after removing a class: %d probabilities, that of the last %v", len(p)-1, p[998])
	}
}

func TestErrorsNameTheTrouble(t *testing.T) {
	c, err := New(niw.HandCrafted(2, 1), Options{})
	must(t, err)
	var label *LabelError
	var value *niw.ValueError
	var dim *niw.DimensionError
	var example *ExampleError
	p := make([]float64, 0, 2)
	if _, err := c.ProbabilitiesTo(p, []float64{0, 0}); !errors.Is(err, ErrNoExamples) {
		t.Errorf("no classes: %v", err)
	}
	for _, bad := range []string{"", "  ", "\t"} {
		if err := c.AddClass(bad); !errors.As(err, &label) {
			t.Errorf("label %q: %v", bad, err)
		}
	}
	must(t, c.AddClass("a"))
	must(t, c.AddClass("b"))
	p = p[:2]
	if err := c.AddClass("a"); !errors.As(err, &label) || label.Label != "a" {
		t.Errorf("duplicate: %v", err)
	}
	if err := c.RenameClass("a", "b"); !errors.As(err, &label) {
		t.Errorf("rename to a taken label: %v", err)
	}
	if err := c.Add("x", []float64{0, 0}); !errors.As(err, &label) {
		t.Errorf("unknown class: %v", err)
	}
	if err := c.Add("a", []float64{0}); !errors.As(err, &dim) {
		t.Errorf("one number of two: %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), 1e200, -1e308} {
		if err := c.Add("a", []float64{0, bad}); !errors.As(err, &value) {
			t.Errorf("%v: %v", bad, err)
		}
		if err := c.AddRows("a", mat.NewDense(1, 2, []float64{0, bad})); !errors.As(err, &value) {
			t.Errorf("%v in rows: %v", bad, err)
		}
	}
	if _, err := c.ProbabilitiesTo(p, []float64{0, 0}); !errors.Is(err, ErrNoExamples) {
		t.Errorf("empty classes: %v", err)
	}
	if err := c.Remove("a", 0); !errors.As(err, &example) {
		t.Errorf("remove from an empty class: %v", err)
	}
	if err := c.SetClassPrior("a", 0); !errors.As(err, &value) {
		t.Errorf("weight zero: %v", err)
	}
	spoilt := func(spoil func(*session.Population)) Options {
		p := somePopulation()
		spoil(p)
		return Options{Population: p}
	}
	for _, bad := range []Options{{NonePrior: 1}, {NonePrior: -0.1}, {NonePrior: math.NaN()},
		spoilt(func(p *session.Population) { p.LogT[0] = math.NaN() }), spoilt(func(p *session.Population) { p.Known.Slope.Mean = 1001 }),
		spoilt(func(p *session.Population) { p.Hardness.SD = -1 }), spoilt(func(p *session.Population) { p.Spread.SD = 0 })} {
		if c.SetOptions(bad) == nil {
			t.Errorf("options %+v passed", bad)
		}
	}
	bad := niw.HandCrafted(2, 1)
	bad.Kappa = -1
	if _, err := New(bad, Options{}); !errors.As(err, &value) || value.Name != "kappa" {
		t.Errorf("kappa -1: %v", err)
	}
}

// No coefficients that pass turn a session into anything but probabilities.
func TestExtremePopulations(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	p, query := randomPrior(rng, 30), randomVector(rng, 30, 0.3)
	for _, v := range []float64{1000, -1000, 1e-300} {
		for i := range session.Size {
			population := somePopulation()
			numbers(population)[i].Set(reflect.ValueOf(v))
			o := Options{NonePrior: 0.1, Population: population}
			if population.Validate() != nil {
				continue
			}
			for _, shots := range [][]int{{2, 2}, {1}, {1, 3}} {
				c, _ := teach(t, p, o, shots)
				ask(t, c, query) // probabilities that sum to one, none of them NaN
			}
		}
	}
}

// numbers returns the coefficients of a population in their order.
func numbers(p *session.Population) (list []reflect.Value) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Float64:
			list = append(list, v)
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(reflect.ValueOf(p).Elem())
	return list
}

func TestEmptyClassIsLeftOut(t *testing.T) {
	c, _ := teach(t, niw.HandCrafted(3, 1), Options{NonePrior: 0.5}, []int{2, 0})
	p := ask(t, c, []float64{0, 0, 0})
	if p[1] != 0 {
		t.Errorf("a class without examples has probability %v", p[1])
	}
}

func TestRenameKeepsEverything(t *testing.T) {
	c, _ := teach(t, niw.HandCrafted(3, 1), Options{}, []int{2, 1})
	want := ask(t, c, []float64{0.2, 0, 0})
	must(t, c.RenameClass("c0", "first"))
	same(t, "renamed", ask(t, c, []float64{0.2, 0, 0}), want, 0)
	if c.Count("first") != 2 || c.Count("c0") != 0 || c.Labels()[0] != "first" {
		t.Errorf("labels %v", c.Labels())
	}
}

func TestPredictionDoesNotAllocate(t *testing.T) {
	for name, o := range variants {
		c, _ := teach(t, niw.HandCrafted(40, 1), o, []int{5, 5, 5})
		p, x := make([]float64, 3), make([]float64, 40)
		ask(t, c, x)
		if n := testing.AllocsPerRun(50, func() { _, _ = c.ProbabilitiesTo(p, x) }); n != 0 {
			t.Errorf("%s: %v allocations per prediction", name, n)
		}
	}
}

// Any bytes taken as numbers are answered by probabilities or an error.
func FuzzProbabilities(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, uint8(3))
	f.Add(1e300, -1e300, 1e-300, 0.0, uint8(9))
	f.Add(math.Inf(1), math.NaN(), 1e154, 1e70, uint8(1))
	f.Fuzz(func(t *testing.T, a, b, x, y float64, k uint8) {
		for _, o := range variants {
			c, err := New(niw.HandCrafted(2, 1), o)
			must(t, err)
			must(t, c.AddClass("p"))
			must(t, c.AddClass("q"))
			_ = c.Add("q", []float64{1, 1})
			for range k%4 + 1 {
				if c.Add("p", []float64{a, b}) != nil {
					return
				}
			}
			p := make([]float64, 2)
			none, err := c.ProbabilitiesTo(p, []float64{x, y})
			if err == nil && !(math.Abs(p[0]+p[1]+none-1) < 1e-9) {
				t.Fatalf("probabilities %v and %v", p, none)
			}
		}
	})
}

// An example left out of its class in closed form, whichever form the class has,
// scores as under a class that never had it.
func TestLeavingOutIsRemoving(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	for _, d := range []int{3, 7, 40} {
		for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
			p := randomPrior(rng, d)
			for i := range 7 {
				c, examples := teach(t, p, Options{Inference: inf}, []int{7})
				k := c.classes[0]
				got := k.logProbWithout(c, i, squaredNorm(k.row(i)))
				must(t, c.Remove("c0", i))
				want := make([]float64, 1)
				_, err := c.LogDensitiesTo(want, examples[0][i])
				must(t, err)
				same(t, fmt.Sprint("d=", d, " ", inf), []float64{got}, want, 1e-10)
			}
		}
	}
}
