package metaqda

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"metaqda/core/niw"
	"metaqda/core/test"
	"metaqda/core/watch"
)

// watched shows a watch one vector in so many answers, four a second, and returns the events.
func watched(t *testing.T, c *Classifier, w *Watch, at *float64, x []float32, n int) (events []Event) {
	t.Helper()
	for range n {
		events = append(events, test.Must(w.Next(*at, ask(t, c, x)[:c.Len()]))(t)...)
		*at += 0.25
	}
	return events
}

func TestAWatchFollowsItsClassifier(t *testing.T) {
	all := pictures(rand.New(rand.NewPCG(5, 1)), 3, 6, 20, 0.1)
	c := fresh(t, Settings{NonePrior: 0.2})
	for k, label := range []string{"cup", "pen"} {
		for _, x := range all[k][:5] {
			test.OK(t, test.Err(c.Add(label, "", x)))
		}
	}
	w := test.Must(c.Watch(watch.Default))(t)
	at := 0.0
	events := watched(t, c, w, &at, all[2][0], 8)
	if len(events) > 0 {
		t.Errorf("of a thing not taught: %+v", events)
	}
	events = watched(t, c, w, &at, all[0][5], 8)
	if len(events) != 1 || events[0].Label != "cup" || !events[0].Here || events[0].Since != 2 {
		t.Fatalf("of a cup: %+v", events)
	}
	if w.Here() != "cup" {
		t.Errorf("here is %q", w.Here())
	}

	test.OK(t, c.RenameClass("cup", "mug"))
	for _, x := range all[2][:5] {
		test.OK(t, test.Err(c.Add("key", "", x)))
	}
	events = watched(t, c, w, &at, all[2][5], 8)
	if len(events) != 2 || events[0].Label != "mug" || events[0].Here || events[1].Label != "key" || !events[1].Here {
		t.Errorf("of a key, taught meanwhile: %+v", events)
	}

	test.OK(t, c.RemoveClass("key"))
	events = watched(t, c, w, &at, all[1][5], 8)
	if len(events) != 2 || events[0].Label != "key" || events[0].Here || events[1].Label != "pen" {
		t.Errorf("of a pen, without keys: %+v", events)
	}
}

// The level of a class is the mean logit of the classifier's answers for its own examples.
func TestLevels(t *testing.T) {
	all := pictures(rand.New(rand.NewPCG(6, 1)), 2, 40, 20, 0.3)
	c := fresh(t, Settings{NonePrior: 0.2})
	for _, x := range all[0][:3] {
		test.OK(t, test.Err(c.Add("cup", "", x)))
	}
	test.OK(t, test.Err(c.AddClass("empty")))
	for _, x := range all[1] {
		test.OK(t, test.Err(c.Add("pen", "", x)))
	}
	_ = ask(t, c, all[0][0]) // all is enrolled
	want := 0.0
	for _, x := range all[0][:3] {
		want += watch.Logit(ask(t, c, x)[0]) / 3
	}
	got := c.levels()
	if math.Abs(got[0]-want) > 1e-12 {
		t.Errorf("level %v, want %v", got[0], want)
	}
	if got[1] <= min(got[0], got[2]) || got[1] >= max(got[0], got[2]) {
		t.Errorf("an empty class has %v between %v and %v", got[1], got[0], got[2])
	}
	levels := fresh(t, Settings{}).levels()
	if len(levels) != 0 {
		t.Errorf("without classes: %v", levels)
	}
}

func TestAWatchWithoutExamples(t *testing.T) {
	c := fresh(t, Settings{})
	w := test.Must(c.Watch(1))(t)
	events := test.Must(w.Next(0, nil))(t)
	if len(events) > 0 {
		t.Errorf("%+v", events)
	}
	test.OK(t, test.Err(c.AddClass("cup")))
	test.OK(t, test.Err(w.Next(1, []float64{0})))
	test.Refused[*Error](t, test.Err(w.Next(2, []float64{0, 1})), "another number of classes")
	test.Refused[*niw.ValueError](t, test.Err(w.Next(0, []float64{0})), "an earlier time")
	test.Refused[*niw.ValueError](t, test.Err(w.Next(2, []float64{math.NaN()})), "NaN")
	test.Refused[*niw.ValueError](t, test.Err(c.Watch(0)), "no false events")
}

// Levels are computed again after a change, and only then.
// Watches that begin before the first example is there compute nothing while others read, as the
// race detector sees.
func TestWatchesBesideTheFirstExample(t *testing.T) {
	all := pictures(rand.New(rand.NewPCG(5, 9)), 2, 1, 20, 0.1)
	for range 300 {
		c := fresh(t, Settings{NonePrior: 0.2})
		var tasks sync.WaitGroup
		for range 4 {
			w := test.Must(c.Watch(watch.Default))(t)
			tasks.Go(func() {
				for !w.levels || len(w.ids) == 0 {
					test.Must(w.Next(0, nil))(t)
				}
			})
		}
		tasks.Go(func() {
			_, err := c.AddAll([]string{"a", "b"}, []Example{{Vector: all[0][0]}, {Vector: all[1][0]}})
			test.OK(t, err)
		})
		tasks.Wait()
	}
}

func TestLevelsFollowEveryChange(t *testing.T) {
	all := pictures(rand.New(rand.NewPCG(7, 1)), 2, 4, 20, 0.3)
	c := fresh(t, Settings{NonePrior: 0.2})
	w := test.Must(c.Watch(1))(t)
	for what, change := range map[string]func() error{
		"add":       func() error { return test.Err(c.Add("cup", "", all[0][0])) },
		"configure": func() error { return c.Configure(Settings{NonePrior: 0.5}) },
		"undo":      func() error { return test.Err(c.Undo()) },
		"prior":     func() error { return c.SetPrior(test.Must(Default(20))(t)) },
	} {
		test.OK(t, test.Err(c.Add("cup", "", all[0][1])))
		test.OK(t, test.Err(w.Next(0, nil)))
		before := w.seen
		test.OK(t, test.Err(w.Next(0, nil)))
		if w.seen != before {
			t.Errorf("without a change: version %d, then %d", before, w.seen)
		}
		test.OK(t, change())
		test.OK(t, test.Err(w.Next(0, nil)))
		if w.seen == before {
			t.Errorf("%s changes nothing", what)
		}
	}
}

// watchedAnswers gives a watch answers in percents of two classes, four a second, and returns the
// headline after each. The rest is none of these.
func watchedAnswers(t *testing.T, w *Watch, at *float64, answers ...[2]float64) (said []string) {
	t.Helper()
	for _, a := range answers {
		test.OK(t, test.Err(w.Next(*at, []float64{a[0] / 100, a[1] / 100})))
		*at += 0.25
		said = append(said, w.Decision().Headline)
	}
	return said
}

// shapes returns a watch of two classes that are never here, for its bounds are too high.
func ofShapes(t *testing.T) *Watch {
	c := fresh(t, Settings{NonePrior: 0.2})
	all := pictures(rand.New(rand.NewPCG(8, 1)), 2, 5, 20, 0.1)
	for k, label := range []string{"cup", "pen"} {
		for _, x := range all[k] {
			test.OK(t, test.Err(c.Add(label, "", x)))
		}
	}
	return test.Must(c.Watch(1e-9))(t)
}

// The share that a removed class had in the average is no sign of a thing of no class.
func TestAnAnswerAfterAClassIsRemovedIsShownAsItIs(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.2})
	for i, label := range []string{"cup", "pen", "key"} {
		x := make([]float32, 3)
		x[i] = 1
		test.OK(t, test.Err(c.Add(label, "", x)))
	}
	w := test.Must(c.Watch(watch.Default))(t)
	for i := range 12 {
		test.Must(w.Next(float64(i)/4, []float64{0.9, 0.05, 0.02}))(t)
	}
	test.OK(t, c.RemoveClass("cup"))
	test.Must(w.Next(3, []float64{0.66, 0.02}))(t)
	if label, headline := w.Shown(); label != "pen" || headline != "Probably pen: 66 %" {
		t.Errorf("shown is %q: %s", label, headline)
	}
}

func TestNoiseChangesNoHeadline(t *testing.T) {
	for what, answers := range map[string][2][2]float64{ // two answers in turn
		"Almost certainly cup":           {{99, 1}, {96, 2}},
		"Probably cup":                   {{62, 20}, {57, 20}},
		"Probably none of these":         {{12, 8}, {22, 14}},
		"Not sure: cup 46 % or pen 43 %": {{46, 43}, {43, 46}},
		"Not sure: pen 46 % or cup 43 %": {{43, 46}, {46, 43}},
	} {
		w, at := ofShapes(t), 0.0
		class := 0
		for i := range 80 {
			said := watchedAnswers(t, w, &at, answers[i/(1+i/40*3)%2])[0] // then each four times
			if words(said) != words(what) && words(said) != words(what+": 9 %") {
				t.Errorf("answer %d of %v: %q, want %q", i, answers, said, what)
			}
			if is := w.Decision().Class; i == 0 {
				class = is
			} else if is != class {
				t.Errorf("answer %d of %v: class %d, was %d", i, answers, is, class)
			}
		}
	}
}

// One answer that differs changes no class; a second does.
func TestAnotherThingChangesTheHeadlineWithinHalfASecond(t *testing.T) {
	for _, c := range []struct{ was, is [2]float64 }{
		{[2]float64{96, 2}, [2]float64{2, 96}},
		{[2]float64{96, 2}, [2]float64{1, 1}},
		{[2]float64{1, 1}, [2]float64{96, 2}},
	} {
		w, at := ofShapes(t), 0.0
		watchedAnswers(t, w, &at, c.was, c.was, c.was)
		before := w.Decision().Class
		watchedAnswers(t, w, &at, c.is, c.is, c.is)
		if after := w.Decision().Class; after == before {
			t.Errorf("%v, then %v: still class %d", c.was, c.is, after)
		}
	}
	w, at := ofShapes(t), 0.0
	watchedAnswers(t, w, &at, [2]float64{96, 2}, [2]float64{96, 2}, [2]float64{2, 50}, [2]float64{96, 2})
	if w.Decision().Class != 0 {
		t.Errorf("after one other answer: %+v", w.Decision())
	}
}

// The headline names the class that is here, as the events do.
func TestTheHeadlineFollowsTheWatch(t *testing.T) {
	all := pictures(rand.New(rand.NewPCG(5, 1)), 3, 6, 20, 0.1)
	c := fresh(t, Settings{NonePrior: 0.2})
	for k, label := range []string{"cup", "pen"} {
		for _, x := range all[k][:5] {
			test.OK(t, test.Err(c.Add(label, "", x)))
		}
	}
	w, at := test.Must(c.Watch(watch.Default))(t), 0.0
	if d := w.Decision(); d.Class != 0 && d.Headline != "" {
		t.Errorf("before any answer: %+v", d)
	}
	for _, x := range [][]float32{all[0][5], all[2][0], all[1][5]} {
		watched(t, c, w, &at, x, 8)
		d := w.Decision()
		if here := w.Here(); here != "" && (d.Class < 0 || c.Labels()[d.Class] != here) {
			t.Errorf("%q is here, and the headline is %q", here, d.Headline)
		}
		p := ask(t, c, x)
		if want := c.Decide(p[:2], p[2]); d.Class != want.Class {
			t.Errorf("after two seconds %+v, of one answer %+v", d, want)
		}
	}
	test.OK(t, c.RenameClass("pen", "biro"))
	watched(t, c, w, &at, all[1][5], 1)
	if !strings.Contains(w.Decision().Headline, "biro") {
		t.Errorf("renamed: %q", w.Decision().Headline)
	}
	test.OK(t, c.RemoveClass("biro"))
	watched(t, c, w, &at, all[1][5], 1)
	if d := w.Decision(); d.Class > 0 {
		t.Errorf("removed: %+v", d)
	}
	test.OK(t, test.Err(w.Next(at, nil)))
	if d := w.Decision(); d.Class != -1 || d.Headline != "" {
		t.Errorf("with nothing to ask about: %+v", d)
	}
}

// With noisy answers about things that stay, the headline changes far less often than each answer
// alone would. It still changes with every thing.
func TestAHeadlineChangesWithThingsNotWithNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	w, at := ofShapes(t), 0.0
	alone, shown, things, before, last := 0, 0, 0, "", ""
	for thing := range 60 {
		things++
		mean := [3]float64{}
		mean[thing%3] = 1.5 // in turn a cup, a pen and something else
		for range 24 {
			var e [3]float64
			sum := 0.0
			for i := range e {
				e[i] = math.Exp(mean[i] + 0.9*rng.NormFloat64())
				sum += e[i]
			}
			p, none := []float64{e[0] / sum, e[1] / sum}, e[2]/sum
			test.OK(t, test.Err(w.Next(at, p)))
			at += 0.25
			by := words(DecideAmong([]string{"cup", "pen"}, []int{5, 5}, p, none).Headline)
			if is := words(w.Decision().Headline); is != last {
				shown, last = shown+1, is
			}
			if by != before {
				alone, before = alone+1, by
			}
		}
	}
	if shown < things || shown > alone/2 {
		t.Errorf("%d things, %d changes of the headline, %d by each answer alone", things, shown, alone)
	}
	t.Logf("%d things, %d changes of the headline, %d by each answer alone", things, shown, alone)
}
