package main

import (
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/model/modeltest"
)

func TestTransductiveTables(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 60, rows: 30, dim: 6}.write(t, dir, "alpha")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), modeltest.Prior(6))
	base := []string{"eval", "--protocol", "transductive", "--data", data, "--prior", prior, "--n-way", "4", "--n-shot", "1,2", "--n-tasks", "6"}
	for _, c := range []struct {
		flags       []string
		title, miss string
	}{
		{nil, "15 queries a class, 6 tasks", "none AUROC"},
		{[]string{"--imbalance", "dirichlet", "--n-query", "5"}, "5 queries a class on average, 6 tasks", "none AUROC"},
		{[]string{"--out-of-set", "0.5"}, "15 queries a class and as many out of set, 6 tasks", "TS"},
	} {
		out := filepath.Join(dir, "out.json")
		text := mustRun(t, append(append(base, "--json", out), c.flags...)...)
		if !strings.Contains(text, c.title) || strings.Contains(text, c.miss) || !strings.Contains(text, "2-shot NLL") {
			t.Errorf("%v gives\n%s", c.flags, text)
		}
		if strings.Contains(text, "out of set") != strings.Contains(text, "1-shot none Brier") {
			t.Errorf("%v: measures of none\n%s", c.flags, text)
		}
		for _, m := range []string{"metaqda", "metaqda-transductive", "propagation", "laplacian", "ncc-cl2n", "linear", "knn"} {
			if !strings.Contains(text, "\n"+m+" ") {
				t.Errorf("%v: no %s in\n%s", c.flags, m, text)
			}
		}
		if mustRun(t, "merge", out) != text {
			t.Errorf("%v: the file that was written prints another table", c.flags)
		}
	}
	for _, c := range [][2]string{{"--imbalance", "zipf"}, {"--out-of-set", "0.4"}} {
		refused(t, append(base, c[:]...), "metaqda eval: "+c[0]+" is")
	}
	help := mustRun(t, "eval", "--help")
	if !strings.Contains(help, "transductive          the queries of a task judged together") || !strings.Contains(help, "metaqda-transductive") {
		t.Errorf("the help does not tell the protocol:\n%s", help)
	}
}

// The shipped prior and the default prior recognise emoji that they were taught, one by one and
// together.
func TestClassify(t *testing.T) {
	const emoji = "../../testdata/dataset/emoji.npz"
	out, unlearned := filepath.Join(t.TempDir(), "table.csv"), filepath.Join(t.TempDir(), "prior")
	mustRun(t, "prior", "--dimension", "1280", "--out", unlearned)
	args := []string{"classify", "--examples", emoji, "--data", emoji, "--prior", "../../web/prior/default.safetensors", "--out", out}
	var before string
	for _, how := range [][]string{{"sort"}, {"predict"}, {"classify", "--prior", unlearned}} {
		mustRun(t, append(append(how[:1:1], args[1:]...), how[1:]...)...)
		text := string(readFile(t, out))
		table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(table) != 1+19*6 || len(table[0]) != 3+19+1 || text == before {
			t.Fatalf("%s: %d rows, %v", how, len(table), err)
		}
		right := 0
		for i, line := range table[1:] {
			if line[2] == table[0][3+i/6] {
				right++
			}
		}
		if right < 19*6-3 {
			t.Errorf("%s: %d of %d right", how, right, 19*6)
		}
		before = text
	}
}
