package view

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/test"
)

func classes(p ...float64) []Class {
	var all []Class
	for i, v := range p {
		all = append(all, Class{ID: strconv.Itoa(i), Name: []string{"cat", "dog", "hen", "owl"}[i], Examples: 2, Probability: v})
	}
	return all
}

// What is said before there is anything to compare; testdata/view/frames.json has the rest.
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
	} {
		got := Compose(c.in).Verdict
		test.FailIf(t, !strings.HasPrefix(got, c.want), "%s: verdict %q, want %q", c.name, got, c.want)
	}
}

// One number must not be called two things.
func TestTheSameNumberIsCalledTheSame(t *testing.T) {
	words := map[string]string{}
	for p := 0.5; p < 1; p += 0.0005 {
		f := Compose(Input{Classes: classes(p, 0), None: 1 - p, Open: true, Query: true})
		word, _, _ := strings.Cut(f.Verdict, " ")
		percent := metaqda.Percent(p)
		before, ok := words[percent]
		test.FailIf(t, ok && before != word, "%s is called both %q and %q", percent, before, word)
		words[percent] = word
	}
	// The largest number is the first that is said.
	number := regexp.MustCompile(`([<>]\x{a0})?\d+\x{a0}%`)
	for p := 0.0; p <= 1; p += 0.01 {
		for none := 0.0; p+none <= 1; none += 0.01 {
			said := Compose(Input{Classes: classes(p, 1-p-none), None: none, Open: true, Query: true}).Verdict
			want := strings.ReplaceAll(metaqda.Percent(max(p, 1-p-none, none)), " ", "\u00a0")
			test.FailIf(t, number.FindString(said) != want, "%q of %v, %v and none %v: want %s first", said, p, 1-p-none, none, want)
		}
	}
	test.FailIf(t, words["97 %"] != "Almost" || words["96 %"] != "Probably", "97 %% is called %q, 96 %% %q", words["97 %"], words["96 %"])
}

// An answer from little says so and what would help; one from enough says nothing.
func TestLittleIsCalledLittle(t *testing.T) {
	for _, c := range []struct {
		name     string
		examples []int
		p        []float64
		want     string
	}{
		{"one class of one picture", []int{1}, []float64{.73}, "This rests on a single example: two or three others make it surer. And with one class it can only say “cat” or not: a second one shows it what else there is."},
		{"one class of two", []int{2}, []float64{.73}, "This rests on 2 examples: two or three others make it surer. And with one class it can only say “cat” or not"},
		{"one class of two beside an empty one", []int{0, 2}, []float64{0, .73}, "This rests on 2 examples: two or three others make it surer. And with one class it can only say “dog” or not"},
		{"one class of many", []int{9}, []float64{.73}, "With one class it can only say “cat” or not"},
		{"two classes, the probable one of one picture", []int{5, 1}, []float64{.1, .8}, "“dog” rests on a single example: two or three others make it surer."},
		{"two classes, the probable one of two", []int{1, 2}, []float64{.1, .8}, ""},
		{"two classes, none", []int{1, 1}, []float64{.1, .1}, ""},
	} {
		var none float64 = 1
		in := Input{Query: true, Open: true, Classes: classes(c.p...)}
		for i := range in.Classes {
			in.Classes[i].Examples = c.examples[i]
			none -= c.p[i]
		}
		in.None = none
		got := Compose(in).Hint
		test.FailIf(t, !strings.HasPrefix(got, c.want) || c.want == "" && got != "", "%s: %q, want %q", c.name, got, c.want)
	}
	held := Input{Query: true, Open: true, Classes: classes(.8, .1), None: .1}
	held.Classes[0].Examples, held.Classes[0].Views = 7, 1
	got, want := Compose(held).Hint, "“cat” rests on examples that are nearly the same: two or three others make it surer."
	test.FailIf(t, got != want, "held before the camera: %q, want %q", got, want)
	got = Compose(Input{Classes: classes(.9)}).Hint
	test.FailIf(t, got != "", "without a query: %q", got)
}

func TestMetersReadBackExactly(t *testing.T) {
	p := []float64{1.0 / 3, 1e-9, 0.1}
	for i, r := range Compose(Input{Classes: classes(p...), Query: true, Sort: AsTaught}).Rows[:3] {
		v, err := strconv.ParseFloat(r.Now, 64)
		test.FailIf(t, err != nil || v != p[i], "%q reads %v, %v, want %v", r.Now, v, err, p[i])
		test.FailIf(t, strings.ContainsAny(r.Now, "eE"), "%q is no plain decimal", r.Now)
	}
}

// What is marked is what is said, and follows the percents that are shown.
func TestWhatTheQueryIsTakenFor(t *testing.T) {
	marked := map[string]string{}
	for p := 0.2; p < 0.5; p += 0.0005 {
		f := Compose(Input{Classes: classes(0.9*(1-p), 0.1*(1-p)), None: p, Open: true, Query: true})
		for _, r := range f.Rows {
			if !r.Best {
				continue
			}
			before, ok := marked[metaqda.Percent(p)]
			test.FailIf(t, ok && before != r.Name, "none of these %s: both %q and %q are marked", metaqda.Percent(p), before, r.Name)
			marked[metaqda.Percent(p)] = r.Name
			said := strings.Contains(f.Verdict, "none of these")
			test.FailIf(t, r.None != said && p < 0.45, "%q is marked where %q is said", r.Name, f.Verdict)
		}
	}
	test.FailIf(t, marked["33 %"] != "cat" || marked["34 %"] != metaqda.NoneName, "at 33 %% %q, at 34 %% %q", marked["33 %"], marked["34 %"])
}

// The page of a shared file says the same in JavaScript: web/share/page/compose.js is
// held to the same frames.
func TestFramesAreThoseWrittenDown(t *testing.T) {
	b := test.Must(os.ReadFile("../../testdata/view/frames.json"))(t)
	var frames []struct {
		Classes []struct {
			Name        string
			Examples    int
			Probability float64
		}
		None    float64
		Open    bool
		Sort    Sort
		Verdict string
		Rows    []struct {
			Name, Text string
			P          float64
			Best, None bool
		}
	}
	err := json.Unmarshal(b, &frames)
	test.StopIf(t, err != nil || len(frames) < 20, "%v %v", len(frames), err)
	for i, f := range frames {
		in := Input{None: f.None, Open: f.Open, Sort: f.Sort, Query: true}
		for _, c := range f.Classes {
			in.Classes = append(in.Classes, Class{ID: c.Name, Name: c.Name, Examples: c.Examples, Probability: c.Probability})
		}
		got := Compose(in)
		if got.Verdict != f.Verdict || len(got.Rows) != len(f.Rows) {
			t.Errorf("frame %d: %q, want %q", i, got.Verdict, f.Verdict)
			continue
		}
		for k, want := range f.Rows {
			r := got.Rows[k]
			test.FailIf(t, r.Name != want.Name || r.Text != want.Text || r.P != want.P || r.Best != want.Best || r.None != want.None, "frame %d, row %d: %+v, want %+v", i, k, r, want)
		}
	}
}

// Of many classes the most probable are shown, in the order asked for, none of these
// with them, and the others are told together.
func TestOfManyClassesTheMostProbableAreShown(t *testing.T) {
	in := Input{Query: true, Open: true, None: 1e-9}
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
		f := Compose(in)
		test.StopIf(t, len(f.Rows) != mostRows+1, "%d rows", len(f.Rows))
		first, last := f.Rows[0], f.Rows[mostRows]
		test.FailIf(t, sort == ByProbability && first.ID != "999" || sort == AsTaught && first.ID != "940" || !last.None, "%s: from %+v to %+v", sort, first, last)
		want := "And 940 more, less probable: " + metaqda.Percent(rest) + " together"
		test.FailIf(t, f.Rest != want, "rest %q, want %q", f.Rest, want)
	}
	in.Classes = in.Classes[:mostRows]
	f := Compose(in)
	test.FailIf(t, len(f.Rows) != mostRows+1 || f.Rest != "", "%d rows, %q", len(f.Rows), f.Rest)
}
