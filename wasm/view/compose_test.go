package view

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/test"
)

// asked returns the input with the decision of the engine.
func asked(in Input) Input {
	labels, examples, p := make([]string, len(in.Classes)), make([]int, len(in.Classes)), make([]float64, len(in.Classes))
	for i, c := range in.Classes {
		labels[i], examples[i], p[i] = c.Name, c.Examples, c.Probability
	}
	in.Query, in.Decision = true, metaqda.DecideAmong(labels, examples, p, in.None)
	return in
}

func classes(p ...float64) []Class {
	var all []Class
	for i, v := range p {
		all = append(all, Class{ID: strconv.Itoa(i), Name: []string{"cat", "dog", "hen", "owl"}[i], Examples: 2, Probability: v})
	}
	return all
}

// The texts before there is anything to compare; testdata/view/frames.json has the rest.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"no classes", Input{Query: true}, "Add a class and"},
		{"one class without pictures", Input{Classes: []Class{{ID: "a", Name: "cat"}}}, "Add a few examples to “cat”"},
		{"classes without pictures", Input{Classes: []Class{{ID: "a"}, {ID: "b"}}, Query: true}, "Add a few examples to each"},
		{"no query", Input{Classes: classes(0, 0)}, "Choose something"},
		{"silence before the microphone", Input{Classes: classes(0, 0), Live: true}, "There is nothing to recognise"},
	} {
		got := Compose(c.in).Verdict
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: verdict %q, want %q", c.name, got, c.want)
		}
	}
}

var unhedged = strings.NewReplacer("\u00a0", " ", "Not sure; maybe ", "", "Not sure: ", "", "Probably ", "", "Almost certainly ", "", ":", "", ",", "")

// The headline names the more probable answer, and its number, first; the same row is marked. It
// names the decision, too.
func TestTheHeadlineFollowsTheNumbers(t *testing.T) {
	for percent := range 101 {
		for none := 0; percent+none <= 100; none++ {
			p, q := float64(percent)/100, float64(none)/100
			f := Compose(asked(Input{Classes: classes(p, 1-p-q), None: q}))
			at := slices.IndexFunc(f.Rows, func(r Row) bool { return r.Best })
			name := strings.ReplaceAll(f.Rows[at].Name, metaqda.NoneName, "none of these")
			said := unhedged.Replace(f.Verdict)
			if !strings.HasPrefix(said, name+" "+f.Rows[at].Text) {
				t.Errorf("%q where %+v is marked", f.Verdict, f.Rows[at])
			}
			for _, r := range f.Rows {
				if r.P > f.Rows[at].P+.01 {
					t.Errorf("%q where %+v is marked and %+v is more probable", f.Verdict, f.Rows[at], r)
				}
			}
			if none >= metaqda.NoneFrom && !strings.Contains(f.Verdict, "none of these") {
				t.Errorf("%q at %d %% for none of these", f.Verdict, none)
			}
		}
	}
}

// An answer from few examples has a hint; an answer from enough has none.
func TestLittleIsCalledLittle(t *testing.T) {
	for _, c := range []struct {
		name     string
		examples []int
		p        []float64
		want     string
	}{
		{"one class of one picture", []int{1}, []float64{.73}, "This rests on a single example. With one class it can only say “cat” or not. More examples, or a second class, make this surer."},
		{"one class of two", []int{2}, []float64{.73}, "This rests on 2 examples. With one class it can only say “cat” or not"},
		{"one class of two beside an empty one", []int{0, 2}, []float64{0, .73}, "This rests on 2 examples. With one class it can only say “dog” or not"},
		{"one class of many", []int{9}, []float64{.73}, "With one class it can only say “cat” or not. More examples, or a second class, make this surer."},
		{"two classes, the probable one of one picture", []int{5, 1}, []float64{.1, .8}, "“dog” rests on a single example: two or three others make it surer."},
		{"two classes, the probable one of two", []int{1, 2}, []float64{.1, .8}, ""},
		{"two classes, none", []int{1, 1}, []float64{.1, .1}, ""},
	} {
		var none float64 = 1
		in := Input{Classes: classes(c.p...)}
		for i := range in.Classes {
			in.Classes[i].Examples = c.examples[i]
			none -= c.p[i]
		}
		in.None = none
		got := Compose(asked(in)).Hint
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	held := asked(Input{Classes: classes(.8, .1), None: .1})
	held.Classes[0].Examples, held.Classes[0].Views = 7, 1
	got, want := Compose(held).Hint, "“cat” rests on examples that are nearly the same: two or three others make it surer."
	if got != want {
		t.Errorf("held before the camera: %q, want %q", got, want)
	}
	got = Compose(Input{Classes: classes(.9)}).Hint
	if got != "" {
		t.Errorf("without a query: %q", got)
	}
}

func TestASetIsNamedWhereTheHeadlineIsNotSure(t *testing.T) {
	for _, c := range []struct {
		p        []float64
		set      []int
		borrowed bool
		want     string
	}{
		{[]float64{.5, .4, .05}, []int{0, 1}, false, "Nine times in ten it is “cat” or “dog”."},
		{[]float64{.4, .05, .1}, []int{-1, 0, 2}, true, "Nine times in ten it is none of these, “cat” or “hen”. There are too few examples yet to check that number."},
		{[]float64{.5, .4, .05}, []int{0}, false, ""},
		{[]float64{.3, .3, .2, .1}, []int{0, 1, 2, 3}, false, ""}, // too many to help
		{[]float64{.5, .3}, []int{0, -1, 1}, true, ""},            // all there are
		{[]float64{.9, .05, .01}, []int{0, 1}, false, ""},         // sure enough
		{[]float64{.49, .09, .14}, []int{0, -1, 1}, false, ""},    // the meters sum to 86 %
	} {
		in := Input{Classes: classes(c.p...), None: 1, Set: &metaqda.Set{Labels: c.set, Borrowed: c.borrowed}}
		for _, v := range c.p {
			in.None -= v
		}
		if got := Compose(asked(in)).Hint; got != c.want {
			t.Errorf("%v: %q, want %q", c.p, got, c.want)
		}
	}
}

func TestMetersReadBackExactly(t *testing.T) {
	p := []float64{1.0 / 3, 1e-9, 0.1}
	for i, r := range Compose(asked(Input{Classes: classes(p...), Sort: AsTaught})).Rows[:3] {
		v, err := strconv.ParseFloat(r.Now, 64)
		if err != nil || v != p[i] {
			t.Errorf("%q reads %v, %v, want %v", r.Now, v, err, p[i])
		}
		if strings.ContainsAny(r.Now, "eE") {
			t.Errorf("%q is no plain decimal", r.Now)
		}
	}
}

// The page of a shared file shows the same in JavaScript: web/share/page/compose.js is tested
// with the same frames.
func TestFramesAreThoseWrittenDown(t *testing.T) {
	b := test.Must(os.ReadFile("../../testdata/view/frames.json"))(t)
	var frames []struct {
		Classes []struct {
			Name        string
			Examples    int
			Probability float64
		}
		None    float64
		Sort    Sort
		Verdict string
		Rows    []struct {
			Name, Text string
			P          float64
			Best, None bool
		}
	}
	err := json.Unmarshal(b, &frames)
	if err != nil || len(frames) < 20 {
		t.Fatalf("%v %v", len(frames), err)
	}
	for i, f := range frames {
		in := Input{None: f.None, Sort: f.Sort}
		for _, c := range f.Classes {
			in.Classes = append(in.Classes, Class{ID: c.Name, Name: c.Name, Examples: c.Examples, Probability: c.Probability})
		}
		got := Compose(asked(in))
		if got.Verdict != f.Verdict || len(got.Rows) != len(f.Rows) {
			t.Errorf("frame %d: %q, want %q", i, got.Verdict, f.Verdict)
			continue
		}
		for k, want := range f.Rows {
			r := got.Rows[k]
			if r.Name != want.Name || r.Text != want.Text || r.P != want.P || r.Best != want.Best || r.None != want.None {
				t.Errorf("frame %d, row %d: %+v, want %+v", i, k, r, want)
			}
		}
	}
}

// Of many classes the most probable ones and none of these are shown, in the chosen order. The
// others share one note.
func TestOfManyClassesTheMostProbableAreShown(t *testing.T) {
	in := Input{None: 1e-9}
	rest := 0.0
	for i := range 1000 {
		p := 2 * float64(i) / (1000 * 999)
		in.Classes = append(in.Classes, Class{ID: strconv.Itoa(i), Name: "class " + strconv.Itoa(i), Examples: 1, Probability: p})
		if i < 1000-mostRows {
			rest += p
		}
	}
	for _, sort := range []Sort{ByProbability, AsTaught} {
		in.Sort = sort
		f := Compose(asked(in))
		if len(f.Rows) != mostRows+1 {
			t.Fatalf("%d rows", len(f.Rows))
		}
		first, last := f.Rows[0], f.Rows[mostRows]
		if sort == ByProbability && first.ID != "999" || sort == AsTaught && first.ID != "940" || !last.None {
			t.Errorf("%s: from %+v to %+v", sort, first, last)
		}
		want := "And 940 more, less probable: " + metaqda.Percent(rest) + " together"
		if f.Rest != want {
			t.Errorf("rest %q, want %q", f.Rest, want)
		}
	}
	in.Classes = in.Classes[:mostRows]
	f := Compose(asked(in))
	if len(f.Rows) != mostRows+1 || f.Rest != "" {
		t.Errorf("%d rows, %q", len(f.Rows), f.Rest)
	}
}
