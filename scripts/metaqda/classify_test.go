package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	core "metaqda/core"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/scripts/files"
)

const (
	emoji   = "../../testdata/dataset/emoji"
	shipped = "../../web/prior/default.safetensors"
)

// known classes are taught by their first style; the rest of their rows, and those
// of other classes, are to be sorted.
const known, others = 8, 4

// newJob writes small real embeddings as the two files of a job. It returns the job and the class
// of each row to be sorted.
func newJob(t *testing.T) (j job, truth []string) {
	t.Helper()
	set := test.Must(dataset.Load(emoji + ".npz"))(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	var taught, files []string
	var asked []float32
	for c, class := range set.Classes[:known+others] {
		for k, i := range set.ClassRows(c) {
			if c < known && k == 0 {
				taught = append(taught, strings.ReplaceAll(strings.Trim(fmt.Sprint(set.Row(i)), "[]"), " ", ",")+","+class+"\n")
				continue
			}
			if c >= known {
				class = None
			}
			files = append(files, fmt.Sprintf(`"folder, of mine/%d.png"`, len(truth)))
			asked, truth = append(asked, set.Row(i)...), append(truth, class)
		}
	}
	save(t, file("taught.csv"), []byte(strings.Join(taught, "")))
	save(t, file("asked.npy"), npy(asked, set.Dim))
	save(t, file("asked.json"), []byte(`{"files":[`+strings.Join(files, ",")+`]}`))
	j = defaultJob()
	j.Examples, j.Data, j.Prior, j.NonePrior = file("taught.csv"), file("asked.npy"), shipped, new(0.2)
	return j, truth
}

// npy encodes rows of numbers as an array.
func npy(x []float32, dim int) []byte {
	return datasettest.Array("<f4", fmt.Sprintf("(%d, %d)", len(x)/dim, dim), x)
}

// tableOf returns the table.
func tableOf(t *testing.T, j job) [][]string {
	t.Helper()
	text := test.Must(j.Table(t.Context()))(t)
	return test.Must(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)
}

// The table says of every row what the classifier does, in words and in numbers, and
// that is mostly right.
func TestTheTableSaysWhatTheClassifierDoes(t *testing.T) {
	j, truth := newJob(t)
	right := map[bool]int{}
	aside := map[bool][]string{} // those that are none of the classes
	for _, batch := range []bool{false, true} {
		j.Batch = batch
		want := answers(t, j)
		table := tableOf(t, j)
		head, table := table[0], table[1:]
		if strings.Join(head[:3], " ") != "row file answer" || head[len(head)-1] != None || len(head) != 3+known+1 || len(table) != len(truth) {
			t.Fatalf("in a batch %v: %d rows under %v", batch, len(table), head)
		}
		for i, line := range table {
			if line[0] != strconv.Itoa(i) || line[1] != fmt.Sprintf("folder, of mine/%d.png", i) {
				t.Fatalf("row %d is called %v", i, line[:2])
			}
			best, sum := 0, 0.0 // the most probable class
			for k, text := range line[3:] {
				p, err := strconv.ParseFloat(text, 64)
				expect := want.None[i]
				if k < known {
					expect = want.Classes.At(i, k)
				}
				if err != nil || math.Abs(p-expect) > 1e-6 {
					t.Errorf("in a batch %v, row %d, %s: %s, want %v", batch, i, head[3+k], text, expect)
				}
				if sum += p; k < known && p > parse(t, line[3+best]) {
					best = k
				}
			}
			if int(100*want.None[i]+.5) >= core.NoneFrom {
				best = known
				aside[batch] = append(aside[batch], line[0])
			}
			if math.Abs(sum-1) > 1e-5 || line[2] != head[3+best] {
				t.Errorf("in a batch %v, row %d: answer %q of %v", batch, i, line[2], line[3:])
			}
			if line[2] == truth[i] {
				right[batch]++
			}
		}
	}
	one, all := aside[false], aside[true]
	if len(one) == 0 || !slices.Equal(one, all) {
		t.Errorf("one by one %v are laid aside, in a batch %v", one, all)
	}
	n := len(truth)
	if right[false] < n/2 || right[true] < right[false] {
		t.Errorf("of %d rows %d are right one by one and %d batch", n, right[false], right[true])
	}
}

// A prior that nothing was learned for is right far more often than chance; one that
// says nothing of sessions is refused.
func TestPriorsThatNothingWasLearnedFor(t *testing.T) {
	j, truth := newJob(t)
	p := test.Must(core.DefaultFile(1280))(t)
	j.NonePrior = new(0.0) // what counts is which class
	bare := *p
	bare.Session = model.Session{}
	for _, prior := range []*model.Prior{p, &bare} {
		file := test.Must(model.EncodePrior(prior))(t)
		j.Prior = filepath.Join(t.TempDir(), "prior")
		save(t, j.Prior, file)
		if prior == &bare {
			_, err := j.Table(t.Context())
			if err == nil || !strings.Contains(err.Error(), "covariance of each class") {
				t.Errorf("without a session model: %v", err)
			}
			continue
		}
		right, answers := 0, map[string]bool{}
		for i, line := range tableOf(t, j)[1:] {
			answers[line[2]] = true
			if line[2] == truth[i] {
				right++
			}
		}
		if right < len(truth)/3 || len(answers) < known/2 {
			t.Errorf("%d of %d are right, the answers are %v", right, len(truth), answers)
		}
	}
}

func TestNoNameIsAFormulaInASpreadsheet(t *testing.T) {
	for _, name := range []string{"=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"} {
		text := test.Must(encode([]string{name}, []core.Answer{{Probabilities: []float64{1}}}, []string{name}))(t)
		table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		want := "'" + name
		if err != nil || table[0][3] != want || table[1][1] != want || table[1][2] != want {
			t.Errorf("%q is written %q, %v", name, table, err)
		}
	}
}

func parse(t *testing.T, text string) float64 {
	return test.Must(strconv.ParseFloat(text, 64))(t)
}

// answers asks the classifier itself.
func answers(t *testing.T, j job) *lda.Answers {
	t.Helper()
	prior, err := files.Prior(j.Prior)
	test.OK(t, err)
	taught := test.Must(dataset.Load(j.Examples))(t)
	rows := test.Must(dataset.LoadRows(j.Data, 0))(t)
	o := prior.Session.Options()
	o.NonePrior = *j.NonePrior
	c := test.Must(lda.New(prior.NIW, o))(t)
	x := make([]float64, taught.Dim)
	for i, class := range taught.Labels {
		test.OK(t, errors.Join(c.AddClass(taught.Classes[class]), prior.Transform.ApplyTo(x, taught.RowTo(x, i)), c.Add(taught.Classes[class], x)))
	}
	all := mat.NewDense(rows.Len(), rows.Dim, nil)
	a := &lda.Answers{Classes: mat.NewDense(rows.Len(), known, nil), None: make([]float64, rows.Len())}
	for i := range rows.Len() {
		q := all.RawRowView(i)
		for k, v := range rows.Row(i) {
			q[k] = float64(v)
		}
		test.OK(t, prior.Transform.ApplyTo(q, q))
		a.None[i], err = c.ProbabilitiesTo(a.Classes.RawRowView(i), q)
		test.OK(t, err)
	}
	if !j.Batch {
		return a
	}
	a = test.Must(c.Classify(t.Context(), all, nil))(t)
	return a
}

// Three classes have columns with units of their own: what the commands refuse, what they say
// beside their work, and that they leave what they read.
func TestEveryColumnOfTheTableHasANameOfItsOwn(t *testing.T) {
	labels := []string{"file", "class file", "row", "cat", "none of these"}
	table := string(test.Must(encode(labels, nil, nil))(t))
	if want := "row,file,answer,class class file,class file,class row,cat,class none of these,none of these\n"; table != want {
		t.Errorf("%q, want %q", table, want)
	}
}

func TestTeachingATable(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	rng := rand.New(rand.NewPCG(5, 1))
	text, bare := "label,hue,ash,proline\n", ""
	for i := range 60 {
		sin, cos := math.Sincos(2 * math.Pi / 3 * float64(i))
		row := fmt.Sprintf("%v,%v,%v\n", cos+0.2*rng.NormFloat64(), sin+0.2*rng.NormFloat64(), 300*rng.NormFloat64())
		text, bare = text+strconv.Itoa(i%3)+","+row, bare+row
	}
	for name, content := range map[string]string{"table.csv": text, "bare.csv": "x,y,class\n" + bare, "table.json": "{}", "one.csv": "label,a\nx,1\ny,2\n",
		"same.csv": "label,a,b\na,1,2\nA ,2,3\n", "none.csv": "label,a,b\nnone of these,1,2\n", "wide.csv": "x" + strings.Repeat(",1", 9000) + "\n"} {
		save(t, at(name), []byte(content))
	}
	taught := map[string]int{} // rows answered right
	for name, more := range map[string][]string{"plain": nil, "scaled": {"--scale", "standardise", "--quiet"}} {
		said := map[string]string{"plain": "taught 60 examples of 3 classes, vectors of length 3: " + at(name) + "\n"}[name]
		if got := mustRun(t, append([]string{"enrol", "--examples", at("table.csv"), "--out", at(name)}, more...)...); got != said {
			t.Errorf("teach %v prints %q, want %q", more, got, said)
		}
		mustRun(t, "recognise", "--classifier", at(name), "--data", at("bare.csv"), "--out", at("answers"), "--none-prior", "0")
		for _, line := range test.Must(csv.NewReader(bytes.NewReader(readFile(t, at("answers")))).ReadAll())(t)[1:] {
			if row, _ := strconv.Atoi(line[0]); line[2] == strconv.Itoa(row%3) {
				taught[name]++
			}
		}
	}
	if taught["scaled"] < 57 || taught["plain"] > 45 {
		t.Errorf("of 60 rows are right: %v", taught)
	}
	teach := func(name string, more ...string) []string {
		return append([]string{"teach", "--examples", at(name), "--out", at("out")}, more...)
	}
	predict := func(more ...string) []string {
		return append([]string{"predict", "--data", at("table.csv"), "--out", at("out")}, more...)
	}
	test.OK(t, os.Link(at("table.csv"), at("link")))
	for _, c := range []struct {
		args []string
		say  string
	}{
		{teach("table.csv", "--none-prior", "-0.7"), "none of these is -0.7"},
		{teach("table.csv", "--none-prior", "nan"), "none of these is NaN"},
		{predict("--classifier", at("plain"), "--none-prior", "-0.7"), "none of these is -0.7"},
		{teach("table.csv", "--out", at("link")), "link is read and would be written over"},
		{teach("table.csv", "--out", at("table.json")), "table.json is read"},
		{predict("--classifier", at("plain"), "--out", at("plain")), "plain is read"},
		{[]string{"export", "--classifier", at("plain"), "--out", at("plain")}, "plain is read"},
		{teach("table.csv", "--scale", "zscore"), "--scale: There is no scale"},
		{teach("table.csv", "--scale", "standardise", "--prior", shipped), "--scale: Under a learned prior"},
		{predict("--classifier", at("plain"), "--scale", "standardise"), "--scale goes with --examples"},
		{predict("--classifier", at("plain"), "--examples", at("table.csv")), "leave one of them out"},
		{teach("table.csv", "--prior", at("table.csv")), "make one with `metaqda train`"},
		{predict("--classifier", at("table.csv")), "make one with `metaqda teach`"},
		{[]string{"verify", at("table.csv")}, "such as those of testdata"},
		{teach("same.csv"), `class 1, "a", cannot be taught: class "A" exists already`},
		{teach("none.csv"), "choose another name"},
		{teach("wide.csv"), "give from 1 to 8192"},
		{predict(), "--classifier or by --examples"},
		{[]string{"predict", "--classifier", at("plain"), "--data", at("table.csv")}, "no --out given; `metaqda predict --help`"},
	} {
		refused(t, c.args, c.say)
	}
	if string(readFile(t, at("table.csv"))) != text {
		t.Error("the table was written over")
	}
	other := writePrior(t, at("other"), test.Must(core.DefaultFile(3))(t))
	for say, args := range map[string][]string{"nothing but the sign counts": teach("one.csv"), "other takes its place": predict("--classifier", at("plain"), "--prior", other)} {
		status, _, notes := metaqda(args...)
		if status != 0 || strings.Count(notes, "\n") != 1 || !strings.Contains(notes, say) {
			t.Errorf("%v: status %d, %q, want %q", args, status, notes, say)
		}
	}
}

func TestWhatCannotBeSorted(t *testing.T) {
	narrow := filepath.Join(t.TempDir(), "narrow.npy")
	save(t, narrow, npy([]float32{1, 2, 3}, 3))
	zero := filepath.Join(t.TempDir(), "zero.npy")
	save(t, zero, npy(append(make([]float32, 1280), slices.Repeat([]float32{float32(math.NaN())}, 1280)...), 1280))
	for name, c := range map[string]struct {
		spoil func(j *job)
		say   string
	}{
		"no such data":    {func(j *job) { j.Data = "gone.npz" }, "gone.npz does not exist"},
		"no such prior":   {func(j *job) { j.Prior = "gone.safetensors" }, "check the path of the prior"},
		"other dimension": {func(j *job) { j.Data = narrow }, "narrow.npy has rows of length 3 but length 1280 is wanted"},
		"no number":       {func(j *job) { j.Data = zero }, "zero.npy, row 1: column 0 is NaN"},
		"examples too":    {func(j *job) { j.Examples = "../../testdata/dataset/float32.npz" }, "float32.npz has rows of length 5"},
		"too probable":    {func(j *job) { j.NonePrior = new(1.0) }, "--none-prior: prior probability of none of these"},
		"other extractor": {func(j *job) {
			j.Examples = emoji + ".npz"
			save(t, strings.Replace(j.Data, "npy", "json", 1), []byte(`{"extractor":"another"}`))
		}, "not of \"another\""},
	} {
		j, _ := newJob(t)
		c.spoil(&j)
		table, err := j.Table(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.say)
		}
		if table != nil {
			t.Errorf("%s: there is a table", name)
		}
	}
}

// A session answers as the examples that it was taught, under the shipped prior that it
// names, without a file of it.
func TestASessionAnswersAsItsExamples(t *testing.T) {
	j, _ := newJob(t)
	want := tableOf(t, j)
	c := test.Must(j.Teach())(t)
	file := test.Must(c.Save())(t)
	saved := defaultJob()
	saved.Classifier, saved.Data = filepath.Join(t.TempDir(), "session"), j.Data
	save(t, saved.Classifier, file)
	got := tableOf(t, saved)
	if !reflect.DeepEqual(got, want) {
		t.Error("the session answers otherwise")
	}
	saved.NonePrior = new(0.0)
	if reflect.DeepEqual(tableOf(t, saved), want) {
		t.Error("--none-prior changes nothing")
	}
	saved.Classifier = "gone"
	_, err := saved.Table(t.Context())
	if err == nil || !strings.Contains(err.Error(), "check the path of the classifier") {
		t.Errorf("no session: %v", err)
	}
}

// A session may have classes and no example yet.
func TestASessionWithoutExamplesSortsNothing(t *testing.T) {
	j, _ := newJob(t)
	c := test.Must(core.New(core.Settings{}, nil))(t)
	test.Must(c.AddClass("cup"))(t)
	j.Examples, j.Prior, j.Classifier = "", "", filepath.Join(t.TempDir(), "session")
	save(t, j.Classifier, test.Must(c.Save())(t))
	for _, j.Batch = range []bool{true, false} {
		if _, err := j.Table(t.Context()); err == nil || err.Error() != j.Classifier+": no class has an example yet: add at least one to a class" {
			t.Errorf("judged together %v: %v", j.Batch, err)
		}
	}
}

func TestSortingStops(t *testing.T) {
	for _, batch := range []bool{true, false} {
		j, _ := newJob(t)
		ctx, cancel := context.WithCancel(t.Context())
		j.Batch, j.Progress = batch, func(string, int, int) { cancel() }
		table, err := j.Table(ctx)
		if !errors.Is(err, context.Canceled) || table != nil {
			t.Errorf("in a batch %v: %v, a table of %d bytes", batch, err, len(table))
		}
	}
}

// The standard output has the file alone. The summary is with the errors.
func TestTheStandardOutputHasTheFileAlone(t *testing.T) {
	dir := t.TempDir()
	table, file := filepath.Join(dir, "table.csv"), filepath.Join(dir, "file")
	save(t, table, []byte("label,a,b\ncup,1,2\npen,2,1\n"))
	data := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	for _, c := range []struct {
		args  []string
		says  string
		reads func()
	}{
		{[]string{"teach", "--examples", table, "--out"}, "taught 2 examples of 2 classes", func() {
			mustRun(t, "export", "--classifier", file, "--out", filepath.Join(dir, "numbers"))
		}},
		{slices.Concat([]string{"train", "--data", data}, quick, []string{"--out"}), " bytes, sha256 ", func() { test.Must(model.DecodePrior(readFile(t, file)))(t) }},
		{[]string{"eval", "--data", data, "--n-tasks", "3", "--n-way", "3", "--split", "all", "--methods", "ncc-cl2n", "--json"}, "ncc-cl2n", func() {
			mustRun(t, "merge", "--json", filepath.Join(dir, "merged.json"), file)
		}},
	} {
		for _, to := range []string{"-", file} {
			out := test.Must(os.Create(file))(t)
			var said strings.Builder
			args := append(slices.Clone(c.args), to)
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "METAQDA_TEST_AS_COMMAND=1"), out, &said
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %v: %s", args, err, &said)
			}
			test.OK(t, out.Close())
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("%v says %q, want %q in it", args, &said, c.says)
			}
			c.reads()
		}
	}
}
