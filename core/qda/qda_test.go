package qda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metaqda/core/niw"
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
	if math.Abs(sum-1) > 1e-12 {
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
	"fb":         {NonePrior: 0.2},
	"map":        {Inference: niw.MAP, NonePrior: 0.2},
	"pooled fb":  {Pooled: true, NonePrior: 0.2},
	"pooled map": {Pooled: true, Inference: niw.MAP, NonePrior: 0.2},
	"levels": {NonePrior: 0.3, Calibration: Calibration{LogT: []float64{0.5}, Offset: []float64{0, -0.2}, Known: [][]float64{
		{-0.4, 0.5, 0.07, 0.1, 0.15, -0.02}, {-0.5, 0.6, 0.03, 0, 0.3, -0.1}, {0.2, 0.5, 0.03, 0.02, 0, 0.03}, {-0.4, 0.1, 0, 0, 0, 0}}, Tau: []float64{0.2, 0.4, 0.1, -0.3, 0.05}}},
	"calibrated": {NonePrior: 0.1, Calibration: Calibration{LogT: []float64{1, -0.2}, Offset: []float64{0, 0.3}, None: []float64{1, -0.5, 0.2}}},
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
			if math.Abs(g-want[i]) > 1e-10*math.Max(1, math.Abs(want[i])) {
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
			if want := pooledOracle(t, p, examples[j:j+1], query)[0]; math.Abs(g-want) > 1e-10*math.Max(1, math.Abs(want)) {
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

func TestCalibrationFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	o := variants["calibrated"]
	c, _ := teach(t, randomPrior(rng, 20), o, []int{1, 4})
	query := randomVector(rng, 20, 0.3)
	l := make([]float64, 2)
	l0, err := c.LogDensitiesTo(l, query)
	must(t, err)
	ln4 := math.Log(4)
	logit := []float64{
		math.Log(0.45) + (l[0]-l0)/math.E,
		math.Log(0.45) + (l[1]-l0)/math.Exp(1-0.2*ln4) + 0.3*ln4,
		math.Log(0.1) + 1 - 0.5*math.Log(2.5) + 0.2*math.Ln2,
	}
	var z float64
	for _, v := range logit {
		z += math.Exp(v)
	}
	want := []float64{math.Exp(logit[0]) / z, math.Exp(logit[1]) / z, math.Exp(logit[2]) / z}
	same(t, "calibrated", ask(t, c, query), want, 1e-12)
}

// The levels are computed here from classifiers taught anew without the example
// in question, by the definition.
func TestLevelsByTeachingAnew(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	o := variants["levels"]
	for _, shots := range [][]int{{2, 3, 1}, {1, 1}, {4}, {1}} {
		p := randomPrior(rng, 30)
		c, examples := teach(t, p, o, shots)
		var odds []float64
		u := func(skipClass, skipRow int, x []float64) (s float64) {
			d, err := New(p, o)
			must(t, err)
			for j, rows := range examples {
				label := fmt.Sprint(j)
				must(t, d.AddClass(label))
				for i, r := range rows {
					if j != skipClass || i != skipRow && skipRow >= 0 {
						must(t, d.Add(label, r))
					}
				}
			}
			odds = make([]float64, len(examples))
			l0, err := d.LogDensitiesTo(odds, x)
			must(t, err)
			n := 0
			for j := range odds {
				if k := d.Count(fmt.Sprint(j)); k > 0 {
					odds[j] = (odds[j]-l0)/math.Exp(0.5) - 0.2*math.Log(float64(k))
					s += math.Exp(odds[j])
					n++
				}
			}
			return math.Log(s / float64(n))
		}
		var unseen, known, known2, nu, nk, lnK float64
		for j, rows := range examples {
			lnK += math.Log(float64(len(rows))) / float64(len(shots))
			for i, x := range rows {
				if len(shots) > 1 {
					unseen, nu = unseen+u(j, -1, x), nu+1
				}
				if len(rows) > 1 {
					s := u(j, i, x)
					known, known2, nk = known+s, known2+s*s, nk+1
				}
			}
		}
		unseen, known = unseen/nu, known/nk
		form, gap, middle := 0, known-unseen, (known+unseen)/2
		switch {
		case nk == 0 && nu == 0:
			form, gap, middle = 3, 1, 7
		case nk == 0:
			form, gap = 1, math.Sqrt(math.Max(unseen, 1))/2
			middle = unseen + gap/2
		case nu == 0:
			form, gap = 2, 2*math.Sqrt(known2/nk-known*known)+1
			middle = known - gap/2
		}
		gap = math.Max(gap, 0.2)
		query := randomVector(rng, 30, 0.3)
		z := u(-1, -1, query) - middle
		want := []float64{1, z, z * math.Log(gap), lnK, math.Log(float64(len(shots))), math.Log(gap), 0, 0}
		all := ask(t, c, query)
		if c.session.Form != form {
			t.Fatalf("%v: form %d, want %d", shots, c.session.Form, form)
		}
		got := c.session.Features(u(-1, -1, query), 0)
		same(t, fmt.Sprint(shots), got[:], want, 1e-9)
		logit := math.Log(0.7 / 0.3)
		for i, weight := range o.Calibration.Known[form] {
			logit += weight * want[i]
		}
		none := 1 / (1 + math.Exp(logit))
		if math.Abs(all[len(shots)]-none) > 1e-9 {
			t.Errorf("%v: none of these has %v, want %v", shots, all[len(shots)], none)
		}
		tau := 1.0
		switch form {
		case 0:
			tau = math.Exp(0.4 + 0.1*lnK - 0.3*math.Log(gap) + 0.05*u(-1, -1, query))
		case 1:
			tau = math.Exp(0.2 + 0.05*u(-1, -1, query))
		}
		var sum float64
		for _, v := range odds { // of the query, with equal weights
			sum += math.Exp(v / tau)
		}
		share := make([]float64, len(shots))
		for j, v := range odds {
			share[j] = math.Exp(v/tau) / sum
			all[j] /= 1 - none
		}
		same(t, fmt.Sprint(shots, " classes"), all, share, 1e-9)
		closed := o
		closed.NonePrior = 0
		must(t, c.SetOptions(closed))
		same(t, fmt.Sprint(shots, " closed set"), ask(t, c, query), share, 1e-9)
	}
}

func TestGramSessionIsTheClassifiersOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	const d = 30
	for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
		for _, shots := range [][]int{{2, 3, 1}, {1, 1}, {4}, {1}} {
			o := variants["levels"]
			o.Inference = inf
			c, _ := teach(t, randomPrior(rng, d), o, shots)
			ask(t, c, randomVector(rng, d, 0.3))
			var rows []float64
			for _, k := range c.classes {
				rows = append(rows, k.w.Data...)
			}
			var gram mat.Dense
			w := mat.NewDense(len(rows)/d, d, rows)
			gram.Mul(w, w.T())
			got := o.Calibration.GramSession(c.empty, inf, shots, gram.RawMatrix()).Features(2, 0)
			want := c.session.Features(2, 0)
			same(t, fmt.Sprint(inf, shots), got[:], want[:], 1e-9)
		}
	}
}

// A session of many classes is read off an even choice of them.
func TestLevelsOfALargeSession(t *testing.T) {
	shots := make([]int, 200)
	for i := range shots {
		shots[i] = 2
	}
	c, _ := teach(t, niw.HandCrafted(30, 1), variants["levels"], shots)
	p := ask(t, c, make([]float64, 30))
	if p[200] <= 0 || p[200] >= 1 {
		t.Errorf("none of these has %v", p[200])
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
	if want := st.LogProb(query); math.Abs(got[0]-want) > 1e-8*math.Abs(want) {
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
	for _, bad := range []Options{{NonePrior: 1}, {NonePrior: -0.1}, {NonePrior: math.NaN()}, {Calibration: Calibration{LogT: []float64{math.NaN()}}},
		{Calibration: Calibration{Tau: make([]float64, 4)}}, tauOf(math.NaN(), 0, 0, 0), tauOf(0, 0, 0, 1001), tauOf(0, 0, 0, 0, 0, 0)} {
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

// tauOf returns options that would do but for their coefficients of τ.
func tauOf(tau ...float64) Options {
	o := variants["levels"]
	o.Calibration.Tau = tau
	return o
}

// No coefficients that pass turn a session into anything but probabilities, and
// the order of its classes stays.
func TestExtremeSharpness(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	p, query := randomPrior(rng, 30), randomVector(rng, 30, 0.3)
	plain, _ := teach(t, p, tauOf(), []int{2, 2})
	want := ask(t, plain, query)
	for _, g := range []float64{1000, -1000} {
		for _, logT := range []float64{1000, -1000, 0.5} {
			o := tauOf(g, g, g, g, g)
			o.Calibration.LogT = []float64{logT}
			c, _ := teach(t, p, o, []int{2, 2})
			if got := ask(t, c, query); logT == 0.5 && (got[0] > got[1]) != (want[0] > want[1]) {
				t.Errorf("tau %v: %v, without it %v", g, got, want)
			}
		}
	}
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
