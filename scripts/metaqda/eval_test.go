package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/experiment"
	"metaqda/core/model"
	"metaqda/core/model/modeltest"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// TestMain lets the test binary be the command itself: the tests of shards run
// it in processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv("METAQDA_TEST_AS_COMMAND") == "1" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// toy is a generated data set in files; see [datasettest.Gaussians].
type toy struct {
	classes, rows, dim int
	spoil              func(x []float32, labels []int)
	burst              int    // rows of a group; 0: no groups
	meta               string // replaces the .json; "-" leaves it away
}

// write puts NAME.npz and NAME.json into a folder and returns the path of the
// first.
func (y toy) write(t testing.TB, dir, name string) string {
	t.Helper()
	npz, meta := datasettest.Gaussians{Classes: y.classes, Rows: y.rows, Dim: y.dim, Burst: y.burst, Spoil: y.spoil}.Files(name)
	path := filepath.Join(dir, name+".npz")
	save(t, path, npz)
	if y.meta != "" {
		meta = []byte(y.meta)
	}
	if y.meta != "-" {
		save(t, filepath.Join(dir, name+".json"), meta)
	}
	return path
}

func save(t testing.TB, path string, data []byte) {
	t.Helper()
	test.OK(t, os.WriteFile(path, data, 0o644))
}

func writePrior(t testing.TB, path string, p *model.Prior) string {
	t.Helper()
	b := test.Must(model.EncodePrior(p))(t)
	save(t, path, b)
	return path
}

// command runs metaqda in this process.
func metaqda(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	status, out, err := metaqda(args...)
	if status != 0 {
		t.Fatalf("metaqda %s: status %d, %s", strings.Join(args, " "), status, err)
	}
	return out
}

// refused runs metaqda, which must end with status 2 and print nothing. Its one line of errors must
// have all wanted texts.
func refused(t *testing.T, args []string, want ...string) {
	t.Helper()
	status, stdout, stderr := metaqda(args...)
	if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%v: status %d, output %q, errors %q", args, status, stdout, stderr)
	}
	for _, s := range want {
		if !strings.Contains(stderr, s) {
			t.Errorf("%v: %q does not say %q", args, stderr, s)
		}
	}
}

func readReport(t *testing.T, path string) map[string]any {
	t.Helper()
	text := test.Must(os.ReadFile(path))(t)
	var r map[string]any
	test.OK(t, json.Unmarshal(text, &r))
	return r
}

// The measures of the JSON are recomputed here from few data: accuracies from the episodes, ECE
// from the bins.
func TestReportAddsUp(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 24, rows: 20, dim: 6}.write(t, dir, "alpha")
	out := filepath.Join(dir, "out.json")
	text := mustRun(t, "eval", "--data", data, "--methods", "ncc-cl2n,linear", "--n-tasks", "30", "--n-query", "5", "--json", out, "--markdown", filepath.Join(dir, "out.md"))
	if !strings.Contains(text, "ncc-cl2n") || !strings.Contains(text, "5-shot accuracy") {
		t.Errorf("table lacks method or column:\n%s", text)
	}
	var r experiment.Report
	test.OK(t, json.Unmarshal(readFile(t, out), &r))
	if r.Seed != 0 || r.Versions["go"] == "" || r.Protocol != "standard" || len(r.Results) != 4 {
		t.Fatalf("seed, versions, protocol or results: %+v", r)
	}
	for _, x := range r.Results {
		mean := floats.Sum(x.EpisodeAccuracy) / 30
		if len(x.EpisodeAccuracy) != 30 || math.Abs(mean-x.Accuracy.Mean) > 1e-12 || mean < 0.2 || mean > 1 {
			t.Errorf("%s: mean accuracy %v, of the episodes %v", x.Method, x.Accuracy.Mean, mean)
		}
		var n, ece float64
		for _, b := range x.Bins {
			n += float64(b.Count)
			ece += math.Abs(float64(b.Correct) - b.Confidence)
		}
		if n != 30*5*5 || math.Abs(ece/n-x.ECE) > 1e-12 {
			t.Errorf("%s: ECE %v, from the bins %v of %v queries", x.Method, x.ECE, ece/n, n)
		}
		if !(x.NLL > 0 && x.Brier > 0 && x.MCE > 0) || x.ECETS == nil || x.Temperature == nil || x.AUROCNone != nil {
			t.Errorf("%s lacks a measure, or has one of an open set: %+v", x.Method, x)
		}
	}
	if !bytes.Contains(readFile(t, out), []byte(`"auroc_none":null`)) {
		t.Error("what was not measured is not null")
	}
}

// On classes far apart everything must be right: the plumbing of rows and
// labels from file to result.
func TestEveryProtocolOnEasyData(t *testing.T) {
	dir := t.TempDir()
	apart := func(x []float32, labels []int) {
		d := len(x) / len(labels)
		for i, c := range labels {
			x[i*d+int(c)%d] += 60
			x[i*d+int(c)/d] += 37
		}
	}
	a := toy{classes: 36, rows: 24, dim: 12, spoil: apart}.write(t, dir, "alpha")
	b := toy{classes: 36, rows: 24, dim: 12, spoil: apart}.write(t, dir, "beta")
	priorOf := func(data string) string {
		return writePrior(t, filepath.Join(dir, data+".safetensors"), &model.Prior{NIW: niw.HandCrafted(12, 1),
			Transform: embed.Transform{Kind: embed.L2}, Session: model.Session{Shared: 1, Kappa: 1}, Facts: map[string]string{"data": data}})
	}
	for protocol, flags := range map[string][]string{
		"standard":             {},
		"cross-domain":         {},
		"multi-domain":         {},
		"incremental":          {"--n-way", "3", "--repeat", "2"},
		"calibration":          {"--pictures", filepath.Join(dir, "pictures")},
		"ablation":             {},
		"open-set":             {"--methods", "fb,map,ncc-cl2n,linear,cosine,teachable"},
		"sessions":             {"--methods", "fb,map,ncc-cl2n,linear,teachable"},
		"leave-one-domain-out": {"--n-shot", "1,2", "--methods", "fb,ncc-cl2n,linear"},
	} {
		t.Run(protocol, func(t *testing.T) {
			out := filepath.Join(dir, protocol+".json")
			priors := priorOf("alpha")
			switch protocol {
			case "cross-domain":
				priors = priorOf("omega")
			case "leave-one-domain-out":
				priors = priorOf("beta") + "," + priors
			}
			mustRun(t, append([]string{"eval", "--protocol", protocol, "--data", a + "," + b, "--prior", priors, "--n-tasks", "6", "--n-val-tasks", "4", "--n-query", "5", "--json", out}, flags...)...)
			seen := map[string]bool{}
			for _, v := range readReport(t, out)["results"].([]any) {
				x := v.(map[string]any)
				seen[x["data"].(string)] = true
				accuracy := x["accuracy"].(map[string]any)["mean"].(float64)
				least := map[bool]float64{true: 0.6, false: 0.75}[protocol == "incremental"]
				if accuracy < least {
					t.Errorf("%v on %v, %v-shot: accuracy %v", x["method"], x["data"], x["shot"], accuracy)
				}
				roc, ok := x["auroc_none"].(float64)
				if ok != (protocol == "open-set") || (ok && roc < 0.6) {
					t.Errorf("%v: auroc_none %v", x["method"], x["auroc_none"])
				}
			}
			if !seen["alpha"] || !seen["beta"] {
				t.Errorf("results for %v only", seen)
			}
		})
	}
	pictures, err := filepath.Glob(filepath.Join(dir, "pictures", "*.svg"))
	if err != nil || len(pictures) != 2*2*6 {
		t.Errorf("%d pictures, want one for each of 6 methods, 2 shots and 2 data sets", len(pictures))
	}
}

// A single class leaves nothing to the largest probability, which is one.
func TestOpenSetTellsTheGain(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 36, rows: 24, dim: 12}.write(t, dir, "alpha")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), modeltest.Prior(12))
	out := filepath.Join(dir, "out.json")
	text := mustRun(t, "eval", "--protocol", "open-set", "--data", data, "--prior", prior, "--methods", "fb,map,ncc-un,linear,knn-tfjs", "--n-way", "1,3", "--n-shot", "2",
		"--n-query", "5", "--n-tasks", "20", "--json", out)
	for _, name := range []string{"2-shot AUROC  ", "2-shot AUROC 1-max", "2-shot gain", "2-shot ECE none", "2-shot Brier none"} {
		if strings.Count(text, name) != 2 {
			t.Errorf("not one column %q for each way:\n%s", name, text)
		}
	}
	for _, v := range readReport(t, out)["results"].([]any) {
		x := v.(map[string]any)
		_, has := x["ece_none"].(float64)
		bayes := experiment.IsMetaQDA(x["method"].(string))
		if has != bayes {
			t.Errorf("%v: ece_none %v", x["method"], x["ece_none"])
		}
		if x["way"] == 1.0 && (x["auroc_max_probability"] != 0.5 || x["accuracy"].(map[string]any)["mean"] != 1.0) {
			t.Errorf("%v with one class: accuracy %v, AUROC of 1 - max %v", x["method"], x["accuracy"], x["auroc_max_probability"])
		}
	}
}

// An error is one sentence that names the file, the row if there is one, and the remedy. The status
// is 2, and no file is written.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	good := toy{classes: 24, rows: 20, dim: 6}.write(t, dir, "good")
	nan := toy{classes: 24, rows: 20, dim: 6, spoil: func(x []float32, _ []int) { x[6*17+2] = float32(math.NaN()) }}.write(t, dir, "nan")
	small := toy{classes: 24, rows: 17, dim: 6, spoil: func(_ []float32, labels []int) { labels[17*20] = 3 }}.write(t, dir, "small")
	bare := toy{classes: 24, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare")
	wide := writePrior(t, filepath.Join(dir, "wide.safetensors"), modeltest.Prior(9))
	torn := filepath.Join(dir, "torn.npz")
	data := test.Must(os.ReadFile(good))(t)
	save(t, torn, data[:len(data)/2])
	flipped := filepath.Join(dir, "flipped.npz")
	data[len(data)/4] ^= 1
	save(t, flipped, data)
	split := filepath.Join(dir, "split.json")
	save(t, split, []byte(`{"test": ["zebra"]}`))

	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"no data", nil, []string{"--data"}},
		{"decimal comma", []string{"--n-tasks", "0,3"}, []string{`invalid value "0,3" for --n-tasks: invalid syntax; `}},
		{"missing file", []string{"--data", filepath.Join(dir, "gone.npz")}, []string{"gone.npz", "does not exist", "check the path"}},
		{"torn file", []string{"--data", torn}, []string{"torn.npz", "write the file again"}},
		{"flipped bit", []string{"--data", flipped}, []string{"flipped.npz", "write the file again"}},
		{"NaN", []string{"--data", nan}, []string{"nan.npz, row 17", "column 2 is NaN", "remove the row"}},
		{"missing split", []string{"--data", good, "--split", "evaluation"}, []string{"good.npz", `no split "evaluation"`, "choose one of these"}},
		{"no splits at all", []string{"--data", bare, "--methods", "ncc-un"}, []string{"bare.npz", `no split "test"`, ".json beside"}},
		{"no training classes", []string{"--data", bare, "--split", "all", "--methods", "ncc-cl2n", "--n-query", "3"}, []string{"bare.npz", "train", "--prior"}},
		{"class too small", []string{"--data", small, "--methods", "ncc-un", "--n-shot", "2"}, []string{"small.npz", "class20", "16 rows", "fewer shots"}},
		{"too few classes", []string{"--data", good, "--n-way", "9", "--methods", "ncc-un", "--n-shot", "1"}, []string{"good.npz", "8 classes", "fewer classes"}},
		{"unknown class in split file", []string{"--data", good, "--splits", split}, []string{"split.json", "zebra", "correct the name"}},
		{"dimension of the prior", []string{"--data", good, "--prior", wide, "--methods", "fb"}, []string{"good.npz", "length 6", "prior is for 9", "extractor"}},
		{"prior is no prior", []string{"--data", good, "--prior", good, "--methods", "fb"}, []string{"good.npz", "no usable prior", "metaqda train"}},
		{"prior is missing", []string{"--data", good, "--prior", filepath.Join(dir, "none"), "--methods", "fb"}, []string{"none", "check the path"}},
		{"fb without prior", []string{"--data", good, "--methods", "fb"}, []string{"--prior", "fb-handcrafted"}},
		{"unknown method", []string{"--data", good, "--methods", "svm"}, []string{`"svm"`, "choose from"}},
		{"unknown protocol", []string{"--data", good, "--protocol", "best"}, []string{`"best"`, "choose standard"}},
		{"unknown flag", []string{"--data", good, "--n-shots", "1"}, []string{"not defined: --n-shots; "}},
		{"stray word", []string{"--data", good, "test"}, []string{`"test"`, "--help"}},
		{"shots", []string{"--data", good, "--n-shot", "1,x"}, []string{"--n-shot", `"x"`, "whole numbers"}},
		{"tasks", []string{"--data", good, "--n-tasks", "0"}, []string{"--n-tasks is 0"}},
		{"shard", []string{"--data", good, "--shard", "5/4"}, []string{"5/4", "such as 0/4"}},
		{"tables of a shard", []string{"--data", good, "--methods", "ncc-un", "--n-tasks", "2", "--n-query", "3", "--shard", "0/2", "--markdown", filepath.Join(dir, "x.md")}, []string{"a shard has no tables", "metaqda merge"}},
		{"hand-crafted scale", []string{"--data", good, "--hand-scale", "0"}, []string{"--hand-scale"}},
		{"same data twice", []string{"--data", good + "," + good}, []string{"both called", "another name"}},
		{"priors and data differ", []string{"--data", good, "--prior", wide + "," + wide}, []string{"2 files for 1 data sets"}},
		{"left out without priors", []string{"--data", good, "--protocol", "leave-one-domain-out"}, []string{"one --prior for each"}},
		{"incremental with linear", []string{"--data", good, "--protocol", "incremental", "--methods", "linear"}, []string{"linear", "ncc-cl2n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(dir, "out.json")
			before := names(t, dir)
			refused(t, append([]string{"eval", "--json", out}, c.args...), c.want...)
			after := names(t, dir)
			if after != before {
				t.Errorf("files were left: %s", after)
			}
		})
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries := test.Must(os.ReadDir(dir))(t)
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 24, rows: 20, dim: 4}.write(t, dir, "alpha")
	refused(t, []string{"eval", "--data", data, "--json", filepath.Join(dir, "missing", "out.json")}, "create it first")
	refused(t, []string{"eval", "--data", data, "--json", dir}, "is a folder")
	refused(t, []string{"eval", "--data", data, "--json", data}, "is read and would be written over")
	refused(t, []string{"eval", "--data", data, "--shard", "0/2"}, "--json OUT")
}

// As the README has it: whatever lies at the top of testdata is oracle vectors.
func TestVerifyTakesAllVectors(t *testing.T) {
	files := test.Must(filepath.Glob("../../testdata/*.json"))(t)
	out := mustRun(t, append([]string{"verify"}, files...)...)
	if len(files) < 3 || strings.Count(out, " vectors") != len(files) {
		t.Errorf("%d files:\n%s", len(files), out)
	}
}

func TestHelp(t *testing.T) {
	if out := mustRun(t, "help"); !strings.Contains(out, "eval") || !strings.Contains(out, "merge") {
		t.Errorf("help lists no commands:\n%s", out)
	}
	for _, c := range strings.Fields("train eval merge prior verify") {
		out := mustRun(t, c, "--help")
		if !strings.Contains(out, "usage: metaqda "+c) {
			t.Errorf("help of %s:\n%s", c, out)
		}
	}
	out := mustRun(t, "eval", "--help")
	for _, word := range append([]string{"standard", "incremental", "-random-seed", "-shard", "ncc-cl2n"}, "leave-one-domain-out") {
		if !strings.Contains(out, word) {
			t.Errorf("help of eval does not mention %s", word)
		}
	}
	for _, args := range []string{"evaluate", "help evaluate", "evaluate --help"} {
		refused(t, strings.Fields(args), `no command "evaluate"`, "`metaqda help`")
	}
	for args, want := range map[string]string{"help --help": "usage: metaqda COMMAND", "help help": "usage: metaqda COMMAND", "help train -h": "usage: metaqda train", "--version": "metaqda version "} {
		if out := mustRun(t, strings.Fields(args)...); !strings.Contains(out, want) {
			t.Errorf("%s says no %q:\n%s", args, want, out)
		}
	}
}
