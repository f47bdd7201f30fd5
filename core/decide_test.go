package metaqda

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"metaqda/core/test"
)

func TestDecide(t *testing.T) {
	labels, two := []string{"cat", "dog"}, []int{2, 2}
	for _, c := range []struct {
		name     string
		bursts   []int
		classes  []float64
		none     float64
		class    int
		doubtful bool
		headline string
		first    int
	}{
		{"surely a class", two, []float64{.02, .97}, .01, 1, false, "Almost certainly dog: 97 %", 1},
		{"on the edge of doubt", two, []float64{.02, SureFrom / 100.}, .13, 1, false, "Probably dog: 85 %", 1},
		{"below it", two, []float64{.03, SureFrom/100. - .01}, .13, 1, true, "Probably dog: 84 %", 1},
		{"surely none", two, []float64{.01, .01}, .98, -1, false, "Almost certainly none of these: 98 %", -1},
		{"probably none", two, []float64{.2, .1}, .7, -1, true, "Probably none of these: 70 %", -1},
		{"none, though a class is more probable", two, []float64{.58, .05}, .37, -1, true, "Not sure: cat 58 % or none of these 37 %", 0},
		{"none, and nothing near it", two, []float64{.25, .24}, .51, -1, true, "Not sure; maybe none of these, 51 %", -1},
		{"a class, and nothing near it", two, []float64{.25, .51}, .24, 1, true, "Not sure; maybe dog, 51 %", 1},
		{"a class, though none is more probable", two, []float64{.32, .35}, .33, 1, true, "Not sure: dog 35 % or none of these 33 %", 1},
		{"none from the percent that is shown", two, []float64{.665, 0}, .335, -1, true, "Not sure: cat 67 % or none of these 34 %", 0},
		{"below that", two, []float64{.6651, 0}, .3349, 0, true, "Probably cat: 67 %", 0},
		{"none, and a class as probable", two, []float64{.401, .2}, .399, -1, true, "Not sure: none of these 40 % or cat 40 %", -1},
		{"none, and two classes more probable than a class", two, []float64{.3, .36}, .34, -1, true, "Not sure: dog 36 % or none of these 34 %", 1},
		{"the first of equals", two, []float64{.4, .4}, .2, 0, true, "Not sure: cat 40 % or dog 40 %", 0},
		{"one class of few", []int{0, FewExamples - 1}, []float64{0, .9}, .1, 1, true, "Looks like dog; I know nothing else yet", 1},
		{"one class of few, and none", []int{FewExamples - 1, 0}, []float64{.6, 0}, .4, -1, true, "Not sure: cat 60 % or none of these 40 %", 0},
		{"one class of enough", []int{0, FewExamples}, []float64{0, .9}, .1, 1, false, "Probably dog: 90 %", 1},
		{"one class without none", []int{9, 0}, []float64{1, 0}, 0, 0, true, "Only “cat” has examples: teach a second class to compare with.", 0},
		{"without classes", nil, nil, 1, -1, false, "Almost certainly none of these: 100 %", -1},
	} {
		got := DecideAmong(labels, c.bursts, c.classes, c.none)
		if (got != Decision{c.class, c.doubtful, c.headline, c.first}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The package's documents state the same bounds as the code.
func TestDocumentsStateTheBounds(t *testing.T) {
	for _, name := range []string{"library/README.md", "engine/contract.js"} {
		text := string(test.Must(os.ReadFile("../web/" + name))(t))
		for _, want := range []string{fmt.Sprintf("at least %d %%", NoneFrom), fmt.Sprintf("less than %d %%", SureFrom)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}
