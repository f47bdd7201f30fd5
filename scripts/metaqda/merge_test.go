package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/model/modeltest"
	"metaqda/core/test"
)

// Methods that were run apart must give the tables of those run together; a
// method on fewer tasks is compared over these.
func TestMethodsMergeToTheWhole(t *testing.T) {
	dir := t.TempDir()
	a := toy{classes: 36, rows: 20, dim: 6}.write(t, dir, "alpha")
	b := toy{classes: 36, rows: 20, dim: 6}.write(t, dir, "beta")
	left := modeltest.Prior(6)
	left.Facts = nil // it does not say that it was learned on alpha
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), left)
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
	merged := mustRun(t, "merge", "--json", file("merged"), file("fast"), file("slow"))
	if merged != whole {
		t.Errorf("merged:\n%s\nwhole:\n%s", merged, whole)
	}
	text := mustRun(t, "merge", "--json", file("uneven"), file("few"), file("fast"))
	for _, want := range []string{"linear (3 tasks)", "8 tasks, seed 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again := mustRun(t, "merge", "--json", file("again"), file("uneven"))
	one := test.Must(os.ReadFile(file("uneven")))(t)
	two, err := os.ReadFile(file("again"))
	if err != nil || string(one) != string(two) || again != text {
		t.Errorf("what was merged reads back as something else: %v", err)
	}
	damaged := strings.Replace(string(one), `"method":"fb","data":"beta"`, `"method":"fb","data":"gamma"`, 1)
	save(t, file("damaged"), []byte(damaged))
	save(t, file("text"), []byte("{}"))
	mustRun(t, "eval", "--data", a, "--methods", "ncc-un", "--n-tasks", "2", "--n-query", "3", "--json", file("other"))
	mustRun(t, "eval", "--protocol", "multi-domain", "--data", a, "--methods", "ncc-un", "--n-tasks", "2", "--json", file("multi"))
	for _, c := range []struct{ files, want string }{
		{"fast,fast", "has the method fb"},
		{"fast,other", "not of one evaluation"},
		{"multi", "no fixed ways and shots"},
		{"fast,text", "is neither shard nor evaluation"},
		{"gone", "check the path"},
		{"damaged", "no result of fb on beta, 3-way 1-shot"},
	} {
		args := []string{"merge"}
		for _, f := range strings.Split(c.files, ",") {
			args = append(args, file(f))
		}
		refused(t, append(args, "--json", file("out")), c.want)
		_, err := os.Stat(file("out"))
		if err == nil {
			t.Errorf("%v: a file was written", c.files)
		}
	}
}
