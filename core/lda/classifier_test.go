package lda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/session"
	"metaqda/core/test"
)

func TestThousandClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	c := test.Must(New(niw.HandCrafted(24, 0.3), with(Options{NonePrior: 0.1})))(t)
	centres := make([][]float64, 1000)
	for j := range centres {
		centres[j] = niwtest.Vector(rng, 24, 0)
		label := fmt.Sprint(j)
		test.OK(t, c.AddClass(label))
		for range 2 {
			x := append([]float64(nil), centres[j]...)
			x[rng.IntN(24)] += 0.1
			test.OK(t, c.Add(label, x))
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
	test.OK(t, c.RemoveClass("17"))
	p := ask(t, c, centres[999])
	if len(p) != 1000 || p[998] < 0.5 {
		t.Errorf("after removing a class: %d probabilities, that of the last %v", len(p)-1, p[998])
	}
}

// What is refused says what is wrong with it and changes nothing.
func TestRefusalsNameTheTrouble(t *testing.T) {
	c := taughtOne(t, niw.HandCrafted(2, 1), Options{NonePrior: 0.2}, [][]float64{{0, 9e69}, {1, 0}, {-9e69, 0}})
	test.OK(t, c.AddClass("empty"))
	p := make([]float64, 3)
	asked := []float64{-9e69, 9e68} // as far away as may be
	want := ask(t, c, asked)
	probabilities := func(x []float64) error { return test.Err(c.ProbabilitiesTo(p[:len(c.classes)], x)) }
	for what, take := range map[string]func(x []float64) error{
		"Add":             func(x []float64) error { return c.Add("it", x) },
		"Insert":          func(x []float64) error { return c.Insert("it", 0, x) },
		"AddRows":         func(x []float64) error { return c.AddRows("it", dense([][]float64{x, x})) },
		"ProbabilitiesTo": probabilities,
		"ScoresTo":        func(x []float64) error { return c.ScoresTo(p[:2], x) },
		"Nearest":         func(x []float64) error { return test.Err(c.Nearest(x, 1)) },
	} {
		test.Refused[*niw.DimensionError](t, take([]float64{1}), "%s: one number", what)
		for _, bad := range []float64{math.NaN(), math.Inf(1), 1.1e70, -1e75, 1e150, 1e200, -1e308} { // squares of what is farther than 1e70 would not stay finite in sums and products
			test.Refused[*niw.ValueError](t, take([]float64{0, bad}), "%s: %v", what, bad)
		}
	}
	for what, take := range map[string]func(x *mat.Dense) error{
		"Alike":    func(x *mat.Dense) error { return test.Err(c.Alike(t.Context(), x, nil, []int{0, 71})) },
		"Suggest":  func(x *mat.Dense) error { return test.Err(c.Suggest(t.Context(), x, 1, nil)) },
		"Classify": func(x *mat.Dense) error { return test.Err(c.Classify(t.Context(), x, nil)) },
		"one by one": func(x *mat.Dense) error {
			return test.Err(taughtOne(t, c.prior, batchVariants["bayes"], [][]float64{{1, 2}}).Classify(t.Context(), x, nil))
		},
	} {
		test.Refused[*niw.DimensionError](t, take(mat.NewDense(72, 3, nil)), "%s: three numbers", what)
		for _, bad := range []float64{math.NaN(), math.Inf(1), 1e200} {
			x := mat.NewDense(90, 2, nil)
			x.Set(71, 1, bad)
			err := take(x)
			test.Refused[*niw.ValueError](t, err, "%s: %v", what, bad)
			row := test.Refused[*RowError](t, err, "%s: %v", what, bad)
			if row.Row != 71 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	leaveOut := func(label string, i int) error { return test.Err(c.LeaveOutTo(p[:len(c.classes)], label, i)) }
	for what, err := range map[string]error{
		"blank": c.AddClass(" \t"), "duplicate": c.AddClass("it"), "remove": c.RemoveClass("nobody"), "add": c.Add("nobody", asked),
		"insert": c.Insert("nobody", 0, asked), "leave out": leaveOut("nobody", 0), "truncate": c.Truncate("nobody", 0),
	} {
		test.Refused[*LabelError](t, err, "%s", what)
	}
	pictures := func(i int) error { return test.Err(c.Pictures("it", i)) }
	for what, err := range map[string]error{
		"insert before": c.Insert("it", -1, asked), "insert after": c.Insert("it", 4, asked), "remove": c.Remove("empty", 0), "remove before": c.Remove("it", -1),
		"leave out": leaveOut("empty", 0), "leave out before": leaveOut("it", -1), "pictures": pictures(3), "pictures before": pictures(-1),
	} {
		test.Refused[*ExampleError](t, err, "%s", what)
	}
	spoilt := func(spoil func(*session.Population)) Options {
		p := somePopulation()
		spoil(p)
		return with(Options{Population: p})
	}
	for _, bad := range []Options{{}, with(Options{NonePrior: 1}), with(Options{NonePrior: -0.1}), with(Options{NonePrior: math.NaN()}), with(Options{Centre: -1}), with(Options{Spread: -1}), {Shared: 1},
		with(Options{Near: -1}), with(Options{Near: math.NaN()}), with(Options{Near: math.Inf(1)}), with(Options{Parts: &Parts{}}), with(Options{Parts: &Parts{First: 1, Odds: 2e3}}),
		spoilt(func(p *session.Population) { p.LogT = math.NaN() }), spoilt(func(p *session.Population) { p.Known.Slope.Mean = 1001 }),
		spoilt(func(p *session.Population) { p.LogTemperature.SD = -1 }), spoilt(func(p *session.Population) { p.CohortDeviation.SD = 0 })} {
		test.Refused[*niw.ValueError](t, c.SetOptions(bad), "options %+v", bad)
	}
	same(t, "after refusals", ask(t, c, asked), want, 0)
	value := test.Refused[*niw.ValueError](t, test.Err(New(&niw.Prior{M: p, Kappa: -1}, with(Options{}))), "kappa -1")
	if value.Name != "kappa" {
		t.Errorf("kappa -1: %v", value)
	}

	test.OK(t, c.RemoveClass("it"))
	if err := leaveOut("other", 0); !errors.Is(err, ErrNoExamples) {
		t.Errorf("the only example of all left out: %v", err)
	}
	test.OK(t, c.Remove("other", 0))
	for what, err := range map[string]error{"a question": probabilities(asked), "many": test.Err(c.Classify(t.Context(), mat.NewDense(1, 2, nil), nil)), "a predictor": test.Err(c.Predictor())} {
		if !errors.Is(err, ErrNoExamples) {
			t.Errorf("%s, nothing taught: %v", what, err)
		}
	}
}

// No coefficients that pass turn a session into anything but probabilities.
func TestExtremePopulations(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	p, query := niwtest.Prior(rng, 30), niwtest.Vector(rng, 30, 0.3)
	for _, v := range []float64{1000, -1000, 1e-300} {
		for i := range session.Size {
			population := somePopulation()
			(*[session.Size]float64)(unsafe.Pointer(population))[i] = v // it has nothing but numbers
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

// No options that pass turn examples of any size into anything but probabilities.
func TestExtremeOptions(t *testing.T) {
	const d = 3
	rng := rand.New(rand.NewPCG(15, 1))
	some := func(of ...float64) float64 { return of[rng.IntN(len(of))] }
	refused := 0
	for range 1500 {
		o := Options{
			Shared: some(1e-310, 1e-9, 1, 1e9), Kappa: some(1e-310, 1e-200, 1e-9, 1, 1e9), Spread: some(1e-310, 0, 1e-9, 1, 1e9),
			NonePrior: some(0, 5e-324, 0.2, 1-1e-16), Near: some(0, 1e-310, 0.1, math.MaxFloat64), Centre: some(0, 1e-310, 1, math.MaxFloat64),
			Population: []*session.Population{nil, somePopulation()}[rng.IntN(2)], Parts: []*Parts{nil, {First: 1}}[rng.IntN(2)],
		}
		c, err := New(niw.HandCrafted(d, 1), o)
		if err != nil {
			refused++
			continue
		}
		scale, offset := some(0, 5e-324, 1e-160, 1e-10, 1, 1e60), some(0, 1, 1e60)
		rows := mat.NewDense(4, d, nil)
		for j := range 3 {
			test.OK(t, c.AddClass(fmt.Sprint(j)))
			rows.Apply(func(int, int, float64) float64 { return scale*rng.NormFloat64() + offset }, rows)
			test.OK(t, c.AddRows(fmt.Sprint(j), rows.Slice(0, 1+rng.IntN(4), 0, d).(*mat.Dense)))
		}
		ask(t, c, rows.RawRowView(3))
		p := make([]float64, 3, 4)
		none := test.Must(c.LeaveOutTo(p, "0", 0))(t)
		a := test.Must(c.Classify(t.Context(), rows, nil))(t)
		for what, p := range map[string][]float64{"left out": append(p, none), "many": append(a.Classes.RawRowView(0), a.None[0])} {
			if sum := floats.Sum(p); !(math.Abs(sum-1) <= 1e-9) {
				t.Fatalf("%s: %v of %+v, scale %v, offset %v", what, p, o, scale, offset)
			}
		}
	}
	if refused < 500 || refused > 1000 {
		t.Errorf("%d options refused", refused)
	}
}

// Any bytes taken as numbers are answered by probabilities or an error.
func FuzzProbabilities(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, uint8(3))
	f.Add(1e300, -1e300, 1e-300, 0.0, uint8(9))
	f.Add(math.Inf(1), math.NaN(), 1e154, 1e70, uint8(1))
	f.Fuzz(func(t *testing.T, a, b, x, y float64, k uint8) {
		for _, o := range variants {
			c := test.Must(New(niw.HandCrafted(2, 1), o))(t)
			test.OK(t, c.AddClass("p"))
			test.OK(t, c.AddClass("q"))
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

// Another prior probability of none of these needs no work, and is that of a classifier made with it.
func TestAnotherNonePriorKeepsWhatIsComputed(t *testing.T) {
	for name, o := range variants {
		c, x := teach(t, niw.HandCrafted(5, 1), o, []int{4, 3, 2})
		c.Prepare(always)
		o.NonePrior = 0.6
		test.OK(t, c.SetOptions(o))
		if !c.Settled() {
			t.Errorf("%s: the next answer has to compute anew", name)
		}
		other, _ := teach(t, niw.HandCrafted(5, 1), o, []int{4, 3, 2})
		same(t, name, ask(t, c, x[1][0]), ask(t, other, x[1][0]), 0)
		dst, want := make([]float64, 3), make([]float64, 3)
		got, none := test.Must(c.LeaveOutTo(dst, "c0", 1))(t), test.Must(other.LeaveOutTo(want, "c0", 1))(t)
		same(t, name+", left out", append(dst, got), append(want, none), 1e-12)
	}
}
