package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"metaqda/core/niw"
	"metaqda/core/test"
)

var animals = []string{"cat", "dog", "hen"}

// answer is one answer with its time.
type answer struct {
	seconds float64
	p       []float64
}

// still returns n answers, four a second from a time on.
func still(from float64, n int, p ...float64) (all []answer) {
	for i := range n {
		all = append(all, answer{from + float64(i)/4, p})
	}
	return all
}

func watching(t *testing.T, ids []string, levels []float64) *Watch {
	w := test.Must(New(Default))(t)
	test.OK(t, w.SetClasses(ids, levels))
	return w
}

// told returns the events as words.
func told(t *testing.T, w *Watch, answers ...answer) (said []string) {
	for _, a := range answers {
		for _, e := range test.Must(w.Step(a.seconds, a.p))(t) {
			word := "gone"
			if e.Here {
				word = "here"
			}
			if !(e.Probability >= 0 && e.Probability <= 1) || e.Since > a.seconds {
				t.Errorf("event %+v at %v", e, a.seconds)
			}
			said = append(said, fmt.Sprintf("%s %s %v", e.ID, word, e.Since))
		}
	}
	return said
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// byPaths sums over all paths of states: the joint probability of a path and of all answers is
// a product of transitions and likelihood ratios.
func byPaths(answers []answer, classes int, bounds []float64) []float64 {
	prior := func(s int) float64 {
		if s == classes {
			return 0.5
		}
		return 0.5 / float64(classes)
	}
	sums := make([]float64, classes+1)
	var walk func(i, before int, joint float64)
	walk = func(i, before int, joint float64) {
		if i == len(answers) {
			sums[before] += joint
			return
		}
		stay, weight := 0.0, 1.0
		if i > 0 {
			d := answers[i].seconds - answers[i-1].seconds
			stay, weight = math.Exp(-4.5*math.Min(d, 0.25)), math.Min(1, 4*d)
		}
		for s := range classes + 1 {
			p := (1 - stay) * prior(s)
			if s == before {
				p += stay
			}
			if s < classes {
				odds := answers[i].p[s] / (1 - answers[i].p[s])
				p *= math.Pow(odds/math.Exp(bounds[s]), weight)
			}
			walk(i+1, s, joint*p)
		}
	}
	walk(0, classes, 1)
	total := 0.0
	for _, v := range sums {
		total += v
	}
	for i := range sums {
		sums[i] /= total
	}
	return sums
}

func TestFilterEqualsTheSumOverAllPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 30 {
		classes := 1 + n%3
		levels := make([]float64, classes)
		for i := range levels {
			levels[i] = 3 + rng.Float64()
		}
		w := watching(t, animals[:classes], levels)
		var answers []answer
		at := 100 * rng.NormFloat64()
		for range 6 {
			a := answer{seconds: at}
			for range classes {
				a.p = append(a.p, 0.01+0.98*rng.Float64()/float64(classes))
			}
			answers = append(answers, a)
			_, err := w.Step(a.seconds, a.p)
			test.OK(t, err)
			at += rng.ExpFloat64() / 4
			bounds := make([]float64, classes)
			for i, r := range levels {
				bounds[i] = 0.8*r - 2.2
			}
			for s, want := range byPaths(answers, classes, bounds) {
				if math.Abs(w.belief[s]-want) > 1e-12 {
					t.Fatalf("%d classes, %d answers, state %d: %v, want %v", classes, len(answers), s, w.belief[s], want)
				}
			}
		}
	}
}

func TestAThingComesAndGoes(t *testing.T) {
	w := watching(t, animals, nil)
	expect(t, told(t, w, still(0, 8, .1, .1, .1)...))
	expect(t, told(t, w, still(2, 8, .98, .01, 0)...), "cat here 2")
	if w.Here() != "cat" || w.Belief("cat") < 0.9 {
		t.Errorf("here is %q at %v", w.Here(), w.Belief("cat"))
	}
	expect(t, told(t, w, answer{4, []float64{.5, .4, 0}})) // one doubtful answer ends nothing
	expect(t, told(t, w, still(4.25, 8, .01, .98, 0)...), "cat gone 4.25", "dog here 4.25")
	expect(t, told(t, w, still(6.25, 8, .01, .01, .01)...), "dog gone 6.25")
	expect(t, told(t, w, still(8.25, 20, .45, .45, .05)...)) // undecided between two
}

func TestASensorThatFindsNothingEndsWhatWasHere(t *testing.T) {
	w := watching(t, animals, nil)
	expect(t, told(t, w, still(0, 8, .98, .01, 0)...), "cat here 0")
	expect(t, told(t, w, answer{2, nil}, answer{2.25, nil}, answer{2.5, nil}), "cat gone 2")
}

func TestAGapOfAnHourForgets(t *testing.T) {
	w := watching(t, animals, nil)
	expect(t, told(t, w, still(0, 8, .98, .01, 0)...), "cat here 0")
	expect(t, told(t, w, still(3601.75, 8, .98, .01, 0)...), "cat gone 1.75", "cat here 3601.75")
}

func TestClassesChangeWhileWatching(t *testing.T) {
	w := watching(t, animals, nil)
	expect(t, told(t, w, still(0, 8, .98, .01, 0)...), "cat here 0")
	test.OK(t, w.SetClasses([]string{"owl", "hen", "cat"}, nil)) // another order, dog gone, owl new
	expect(t, told(t, w, still(2, 8, 0, .01, .98)...))
	test.OK(t, w.SetClasses([]string{"owl", "hen"}, nil))
	expect(t, told(t, w, answer{4, []float64{.02, .02}}), "cat gone 4")
	test.OK(t, w.SetClasses(nil, nil))
	expect(t, told(t, w, answer{4.25, nil}, answer{4.5, []float64{}}))
	test.OK(t, w.SetClasses([]string{"owl"}, nil))
	expect(t, told(t, w, still(5, 8, 1)...), "owl here 5")
}

// The order of classes decides nothing.
func TestClassesMayBePermuted(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	v, w := watching(t, []string{"a", "b", "c"}, []float64{2, 3, 4}), watching(t, []string{"c", "a", "b"}, []float64{4, 2, 3})
	for i := range 200 {
		p := []float64{rng.Float64(), 0.1 * rng.Float64(), 0}
		a, b := told(t, v, answer{float64(i), p}), told(t, w, answer{float64(i), []float64{p[2], p[0], p[1]}})
		if !slices.Equal(a, b) {
			t.Errorf("%q, permuted %q", a, b)
		}
	}
}

// More answers a second are not more evidence: of still things the belief is about the same.
func TestFasterAnswersSayNoMore(t *testing.T) {
	slow, fast := watching(t, animals, nil), watching(t, animals, nil)
	p := []float64{.8, .1, 0}
	for i := range 81 {
		at := float64(i) / 40
		test.OK(t, test.Err(fast.Step(at, p)))
		if i%10 == 0 {
			test.OK(t, test.Err(slow.Step(at, p)))
		}
	}
	a, b := slow.Belief("cat"), fast.Belief("cat")
	if math.Abs(a-b) > 0.1 || a > 0.9 {
		t.Errorf("four a second %v, forty %v", a, b)
	}
}

// A still thing is noticed at any rate: each slow answer says at least as much as a fast one.
func TestSlowAnswersAreNotForgotten(t *testing.T) {
	for _, apart := range []float64{0.25, 0.5, 1, 2, 5} {
		w := watching(t, animals, nil)
		events := 0
		for i := range 10 {
			events += len(test.Must(w.Step(float64(i)*apart, []float64{.97, .01, .01}))(t))
		}
		if events != 1 || w.Here() != "cat" {
			t.Errorf("%v seconds apart: %d events, %q is here", apart, events, w.Here())
		}
	}
}

func TestMoreFalseEventsAllowedIsNeverLessSure(t *testing.T) {
	before := 0.0
	for _, perHour := range []float64{0.1, 1, 10, 100} {
		w := test.Must(New(perHour))(t)
		test.OK(t, w.SetClasses(animals, nil))
		told(t, w, still(0, 3, .8, .1, 0)...)
		if w.Belief("cat") <= before {
			t.Errorf("at %v an hour %v, before %v", perHour, w.Belief("cat"), before)
		}
		before = w.Belief("cat")
	}
}

func TestSurerSessionsAskForSurerAnswers(t *testing.T) {
	low, high := watching(t, animals, []float64{2, 2, 2}), watching(t, animals, []float64{6, 6, 6})
	expect(t, told(t, low, still(0, 8, .9, .05, 0)...), "cat here 0")
	expect(t, told(t, high, still(0, 8, .9, .05, 0)...))
}

func TestBadValuesChangeNothing(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, perHour := range []float64{0, -1, nan, inf} {
		test.Refused[*niw.ValueError](t, test.Err(New(perHour)), "%v an hour", perHour)
	}
	w := watching(t, animals, nil)
	told(t, w, still(0, 8, .98, .01, 0)...)
	before := *w
	before.belief = slices.Clone(w.belief)
	for _, a := range []answer{{1, []float64{.9, 0, 0}}, {nan, []float64{.9, 0, 0}}, {inf, nil}, {2, []float64{nan, 0, 0}}, {2, []float64{1.1, 0, 0}}, {2, []float64{0, -.1, 0}}} {
		test.Refused[*niw.ValueError](t, test.Err(w.Step(a.seconds, a.p)), "answer %v", a)
	}
	test.Refused[*niw.ValueError](t, w.SetClasses(animals, []float64{1, nan, 2}), "level")
	if !slices.Equal(w.belief, before.belief) || w.seconds != before.seconds || w.now != before.now {
		t.Errorf("%+v, before %+v", *w, before)
	}
	expect(t, told(t, w, answer{1.75, []float64{0, 1, 0}})) // the same time again says nothing
}

// Any answers leave probabilities behind.
func FuzzStep(f *testing.F) {
	f.Add(0.0, 0.9, 0.1, 1e300, 0.0, 1.0)
	f.Add(-1e308, 1.0, 0.0, 1e308, 1.0, 0.0)
	f.Fuzz(func(t *testing.T, s, p, q, s2, p2, q2 float64) {
		w := watching(t, animals[:2], []float64{0, 9})
		for _, a := range []answer{{s, []float64{p, q}}, {s2, []float64{p2, q2}}} {
			_, _ = w.Step(a.seconds, a.p)
			sum := w.belief[0] + w.belief[1] + w.belief[2]
			if !(math.Abs(sum-1) < 1e-9) {
				t.Errorf("belief %v", w.belief)
			}
		}
	})
}

// However often one asks, the moving average is that of time: e^(-t/τ) of a step is left after t.
func TestTheAverageForgetsWithTime(t *testing.T) {
	for _, step := range []float64{0.05, 0.25} {
		w := watching(t, animals, nil)
		told(t, w, answer{0, []float64{.9, 0, 0}})
		for i := 1; float64(i)*step < 1+step/2; i++ {
			told(t, w, answer{float64(i) * step, []float64{.1, .5, 0}})
		}
		left := math.Exp(-1 / memory)
		p, none := w.Answer()
		for i, want := range []float64{.1 + .8*left, .5 - .5*left, 0} {
			if math.Abs(p[i]-want) > 1e-12 {
				t.Errorf("every %v s: class %d %v, want %v", step, i, p[i], want)
			}
		}
		if want := .4 - .3*left; math.Abs(none-want) > 1e-12 {
			t.Errorf("every %v s: none %v, want %v", step, none, want)
		}
	}
}

func TestTheAverageFollowsItsClasses(t *testing.T) {
	w := watching(t, animals, nil)
	if p, none := w.Answer(); p != nil || none != 1 {
		t.Errorf("before any answer: %v, %v", p, none)
	}
	told(t, w, answer{0, []float64{.6, .3, 0}})
	test.OK(t, w.SetClasses([]string{"owl", "cat"}, nil))
	p, none := w.Answer()
	if !slices.Equal(p, []float64{0, .6}) || math.Abs(none-.4) > 1e-12 {
		t.Errorf("%v, %v", p, none)
	}
	told(t, w, answer{.25, nil})
	if p, _ := w.Answer(); p != nil {
		t.Errorf("with nothing to ask about: %v", p)
	}
	told(t, w, answer{.5, []float64{.1, .2}})
	if p, _ := w.Answer(); !slices.Equal(p, []float64{.1, .2}) {
		t.Errorf("the next answer alone counts: %v", p)
	}
}

// After a change of the rate, a watch behaves as one that had the rate from the beginning.
func TestTheRateMayChange(t *testing.T) {
	v, w := watching(t, animals, []float64{2, 3, 4}), test.Must(New(25))(t)
	test.OK(t, w.SetClasses(animals, []float64{2, 3, 4}))
	test.OK(t, v.Allow(25))
	for i, b := range w.bounds {
		if math.Abs(v.bounds[i]-b) > 1e-12 {
			t.Errorf("bound %d: %v, want %v", i, v.bounds[i], b)
		}
	}
	told(t, v, still(0, 3, .9, 0, 0)...)
	before := v.Belief("cat")
	for _, perHour := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		test.Refused[*niw.ValueError](t, v.Allow(perHour), "%v an hour", perHour)
	}
	test.OK(t, v.Allow(2))
	if v.Belief("cat") != before {
		t.Errorf("another rate changes what is believed")
	}
}
