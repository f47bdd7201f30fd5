package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// foreignReport has the given accuracies, on two tasks 0.02 to either side: by
// method, then by data set, way and shot.
func foreignReport(methods []string, accuracy map[string][]float64) *report {
	r := &report{header: &header{Protocol: "leave-one-domain-out", Methods: methods, Data: []dataHeader{{Name: "x"}, {Name: "y"}},
		Way: []int{5, 20}, Shot: []int{1, 5}, Tasks: 2, Repeat: 1}}
	for _, m := range methods {
		for i, a := range accuracy[m] {
			r.Results = append(r.Results, &Result{Method: m, Data: r.Data[i/4].Name, Way: pointer(r.Way[i/2%2]), Shot: pointer(r.Shot[i%2]),
				Tasks: 2, Accuracy: Interval{Mean: a}, EpisodeAccuracy: []float64{a - 0.02, a + 0.02}, ECE: 0.01})
		}
	}
	r.sumUp()
	return r
}

func TestMargins(t *testing.T) {
	r := foreignReport([]string{"fb", "ncc-cl2n", "linear", "knn"}, map[string][]float64{
		"fb":       {0.50, 0.70, 0.30, 0.50, 0.80, 0.90, 0.60, 0.80},
		"ncc-cl2n": {0.48, 0.69, 0.28, 0.49, 0.78, 0.89, 0.58, 0.79},
		"linear":   {0.47, 0.71, 0.27, 0.48, 0.77, 0.902, 0.57, 0.78},
		"knn":      {0.40, 0.60, 0.20, 0.40, 0.81, 0.80, 0.50, 0.70},
	})
	for i, want := range []margin{
		{Against: []string{"ncc-cl2n"}, Mean: 0.015, Least: Interval{Mean: 0.01}},
		{Against: []string{"linear"}, Mean: 0.0185, Least: Interval{Mean: -0.01}, Below: []string{"x, 5-way 5-shot"}},
		{Against: []string{"knn"}, Mean: 0.08625, Least: Interval{Mean: -0.01}, Below: []string{"y, 5-way 1-shot"}},
		{Against: heads, Mean: 0.011, Least: Interval{Mean: -0.01}, Below: []string{"x, 5-way 5-shot"}},
		{Against: []string{"ncc-cl2n", "linear", "knn"}, Mean: 0.00725, Least: Interval{Mean: -0.01}, Below: []string{"x, 5-way 5-shot", "y, 5-way 1-shot"}},
	} {
		got := r.Margins[i]
		if got.Method != "fb" || got.Cells != 8 || !slices.Equal(got.Against, want.Against) || math.Abs(got.Mean-want.Mean) > 1e-12 ||
			math.Abs(got.Least.Mean-want.Least.Mean) > 1e-12 || math.Abs(got.Least.CI95) > 1e-12 || !slices.Equal(got.Below, want.Below) {
			t.Errorf("margin %d: got %+v, want %+v", i, *got, want)
		}
	}
	if len(r.Margins) != 5 {
		t.Errorf("%d margins, want 5", len(r.Margins))
	}
	tables := r.tables()
	if len(tables) != 4+2+1+1 { // cells, two groups of rivals, ECE, margins
		t.Fatalf("%d tables", len(tables))
	}
	if grid := tables[4]; fmt.Sprint(grid.rows) != "[[x, 5 +2.00 -1.00] [x, 20 +2.00 +1.00] [y, 5 +2.00 -0.20] [y, 20 +2.00 +1.00]]" {
		t.Errorf("above the heads: %v", grid.rows)
	}
	if want := "fb is more than 0.3 points below ncc-cl2n or linear in 1 of 8 cells: x, 5-way 5-shot; on average +1.10 points from the better"; tables[7].note != want {
		t.Errorf("got %q, want %q", tables[7].note, want)
	}
}

func TestMarginsWithoutCompetitors(t *testing.T) {
	r := foreignReport([]string{"fb"}, map[string][]float64{"fb": {0.5, 0.7, 0.3, 0.5, 0.8, 0.9, 0.6, 0.8}})
	if len(r.Margins) != 0 || len(r.tables()) != 4+1 {
		t.Errorf("%d margins, %d tables", len(r.Margins), len(r.tables()))
	}
}

// Methods that were run apart must give the tables of those run together; a
// method on fewer tasks is compared over these.
func TestMethodsMergeToTheWhole(t *testing.T) {
	dir := t.TempDir()
	a := toy{classes: 36, rows: 20, dim: 6}.write(t, dir, "alpha")
	b := toy{classes: 36, rows: 20, dim: 6}.write(t, dir, "beta")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), randomPrior(6))
	file := func(name string) string { return filepath.Join(dir, name) }
	eval := func(name, methods, tasks string) string {
		return mustRun(t, "eval", "--protocol", "leave-one-domain-out", "--data", a+","+b, "--prior", prior+","+prior, "--methods", methods, "--n-way", "3,5", "--n-shot", "1,2",
			"--n-query", "4", "--n-tasks", tasks, "--n-val-tasks", "0", "--json", file(name))
	}
	whole := eval("whole", "fb,ncc-cl2n,linear", "8")
	if !strings.Contains(whole, "points, 8 cells") || !strings.Contains(whole, " of 8 cells") {
		t.Errorf("no summary of 2 data sets, 2 ways and 2 shots:\n%s", whole)
	}
	eval("fast", "fb,ncc-cl2n", "8")
	eval("slow", "linear", "8")
	eval("few", "linear", "3")
	if merged := mustRun(t, "merge", "--json", file("merged"), file("fast"), file("slow")); merged != whole {
		t.Errorf("merged:\n%s\nwhole:\n%s", merged, whole)
	}
	text := mustRun(t, "merge", "--json", file("uneven"), file("few"), file("fast"))
	for _, want := range []string{"linear (3 tasks)", "8 tasks, seed 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again := mustRun(t, "merge", "--json", file("again"), file("uneven"))
	one, err := os.ReadFile(file("uneven"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(file("again"))
	if err != nil || string(one) != string(two) || again != text {
		t.Errorf("what was merged reads back as something else: %v", err)
	}
	damaged := strings.Replace(string(one), `"method":"fb","data":"beta"`, `"method":"fb","data":"gamma"`, 1)
	save(t, file("damaged"), []byte(damaged))
	mustRun(t, "eval", "--data", a, "--methods", "ncc-un", "--n-tasks", "2", "--n-query", "3", "--json", file("other"))
	mustRun(t, "eval", "--protocol", "multi-domain", "--data", a, "--methods", "ncc-un", "--n-tasks", "2", "--json", file("multi"))
	for _, c := range []struct{ files, want string }{
		{"fast,fast", "has the method fb"},
		{"fast,other", "not of one evaluation"},
		{"multi", "no fixed ways and shots"},
		{"damaged", "no result of fb on beta, 3-way 1-shot"},
	} {
		args := []string{"merge"}
		for _, f := range list(c.files) {
			args = append(args, file(f))
		}
		if status, _, stderr := metaqda(args...); status != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, want %q", c.files, status, stderr, c.want)
		}
	}
}
