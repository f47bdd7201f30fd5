package qda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

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
			test.FailIf(t, i != j && v >= p[j], "class %d has %v, class %d %v", j, p[j], i, v)
		}
	}
	test.OK(t, c.RemoveClass("17"))
	p := ask(t, c, centres[999])
	test.FailIf(t, len(p) != 1000 || p[998] < 0.5, "after removing a class: %d probabilities, that of the last %v", len(p)-1, p[998])
}

func TestErrorsNameTheTrouble(t *testing.T) {
	c := test.Must(New(niw.HandCrafted(2, 1), with(Options{})))(t)
	var label *LabelError
	var value *niw.ValueError
	var dim *niw.DimensionError
	var example *ExampleError
	p := make([]float64, 0, 2)
	_, err := c.ProbabilitiesTo(p, []float64{0, 0})
	test.FailIf(t, !errors.Is(err, ErrNoExamples), "no classes: %v", err)
	for _, bad := range []string{"", "  ", "\t"} {
		err := c.AddClass(bad)
		test.FailIf(t, !errors.As(err, &label), "label %q: %v", bad, err)
	}
	test.OK(t, c.AddClass("a"))
	test.OK(t, c.AddClass("b"))
	p = p[:2]
	err = c.AddClass("a")
	test.FailIf(t, !errors.As(err, &label) || label.Label != "a", "duplicate: %v", err)
	err = c.RenameClass("a", "b")
	test.FailIf(t, !errors.As(err, &label), "rename to a taken label: %v", err)
	err = c.Add("x", []float64{0, 0})
	test.FailIf(t, !errors.As(err, &label), "unknown class: %v", err)
	err = c.Add("a", []float64{0})
	test.FailIf(t, !errors.As(err, &dim), "one number of two: %v", err)
	for _, bad := range []float64{math.NaN(), math.Inf(1), 1e200, -1e308} {
		err := c.Add("a", []float64{0, bad})
		test.FailIf(t, !errors.As(err, &value), "%v: %v", bad, err)
		err = c.AddRows("a", mat.NewDense(1, 2, []float64{0, bad}))
		test.FailIf(t, !errors.As(err, &value), "%v in rows: %v", bad, err)
	}
	_, err = c.ProbabilitiesTo(p, []float64{0, 0})
	test.FailIf(t, !errors.Is(err, ErrNoExamples), "empty classes: %v", err)
	err = c.Remove("a", 0)
	test.FailIf(t, !errors.As(err, &example), "remove from an empty class: %v", err)
	spoilt := func(spoil func(*session.Population)) Options {
		p := somePopulation()
		spoil(p)
		return with(Options{Population: p})
	}
	for _, bad := range []Options{{}, with(Options{NonePrior: 1}), with(Options{NonePrior: -0.1}), with(Options{NonePrior: math.NaN()}), with(Options{Centre: -1}), with(Options{Near: math.Inf(1)}), {Shared: 1},
		spoilt(func(p *session.Population) { p.LogT = math.NaN() }), spoilt(func(p *session.Population) { p.Known.Slope.Mean = 1001 }),
		spoilt(func(p *session.Population) { p.LogTemperature.SD = -1 }), spoilt(func(p *session.Population) { p.CohortDeviation.SD = 0 })} {
		test.FailIf(t, c.SetOptions(bad) == nil, "options %+v passed", bad)
	}
	bad := niw.HandCrafted(2, 1)
	bad.Kappa = -1
	_, err = New(bad, with(Options{}))
	test.FailIf(t, !errors.As(err, &value) || value.Name != "kappa", "kappa -1: %v", err)
}

// No coefficients that pass turn a session into anything but probabilities.
func TestExtremePopulations(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	p, query := niwtest.Prior(rng, 30), niwtest.Vector(rng, 30, 0.3)
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

func TestRenameKeepsEverything(t *testing.T) {
	c, _ := teach(t, niw.HandCrafted(3, 1), Options{}, []int{2, 1})
	want := ask(t, c, []float64{0.2, 0, 0})
	test.OK(t, c.RenameClass("c0", "first"))
	same(t, "renamed", ask(t, c, []float64{0.2, 0, 0}), want, 0)
	test.FailIf(t, c.Count("first") != 2 || c.Count("c0") != 0 || c.Labels()[0] != "first", "labels %v", c.Labels())
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
			test.StopIf(t, err == nil && !(math.Abs(p[0]+p[1]+none-1) < 1e-9), "probabilities %v and %v", p, none)
		}
	})
}

// Squares of what is further away than 1e70 would not stay finite in sums and products.
func TestTooFarAwayIsRefused(t *testing.T) {
	c := test.Must(New(niw.HandCrafted(2, 1), with(Options{NonePrior: 0.1})))(t)
	test.OK(t, c.AddClass("a"))
	test.OK(t, c.Add("a", []float64{0, 9e69}))
	test.OK(t, c.Add("a", []float64{1, 0}))
	test.OK(t, c.Add("a", []float64{-9e69, 0}))
	for _, query := range [][]float64{{0, 0}, {0, 9e69}, {-9e69, 9e68}} {
		ask(t, c, query)
	}
	var value *niw.ValueError
	for _, far := range []float64{1.1e70, -1e75, 1e150} {
		err := c.Add("a", []float64{far, 0})
		test.FailIf(t, !errors.As(err, &value), "%v: %v", far, err)
		_, err = c.ProbabilitiesTo(make([]float64, 1), []float64{0, far})
		test.FailIf(t, !errors.As(err, &value), "query %v: %v", far, err)
	}
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		classes []float64
		none    float64
		want    int
	}{
		{"the most probable", []float64{.2, .7}, .1, 1},
		{"none, though a class is more probable", []float64{.66, 0}, .34, -1},
		{"a class, though none is more probable", []float64{.23, .24, .23}, .3, 1},
		{"on the edge", []float64{.665}, NoneFrom, -1},
		{"the first of equals", []float64{.4, .4}, .2, 0},
		{"without none", []float64{0, 1}, 0, 1},
		{"without classes", nil, 0, -1},
	} {
		got := Decide(c.classes, c.none)
		test.FailIf(t, got != c.want, "%s: %d, want %d", c.name, got, c.want)
	}
}
