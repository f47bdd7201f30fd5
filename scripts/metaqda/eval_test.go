package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/episode"
	"metaqda/core/metrics"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/session"
)

// TestMain lets the test binary be the command itself: the tests of shards run
// it in processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv("METAQDA_TEST_AS_COMMAND") == "1" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// toy describes a generated data set.
type toy struct {
	classes, rows, dim int
	spoil              func(x []float32, labels []int32)
	burst              int    // rows of a group; 0: no groups
	meta               string // replaces the .json; "-" leaves it away
}

// write puts NAME.npz and NAME.json into a folder and returns the path of the
// first. Classes are Gaussians about random means; the first half trains, of
// the rest a third validates.
func (y toy) write(t testing.TB, dir, name string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(len(name)), uint64(name[0])))
	var x []float32
	var labels []int32
	splits := map[string][]string{}
	var classes []string
	for c := range y.classes {
		class := fmt.Sprintf("class%02d", c)
		classes = append(classes, class)
		split := "train"
		if c >= y.classes/2 {
			split = "test"
			if c < y.classes*2/3 {
				split = "val"
			}
		}
		splits[split] = append(splits[split], class)
		mean := make([]float64, y.dim)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range y.rows {
			for j := range mean {
				x = append(x, float32(3+mean[j]+1.5*rng.NormFloat64()))
			}
			labels = append(labels, int32(c))
		}
	}
	if y.spoil != nil {
		y.spoil(x, labels)
	}
	path := filepath.Join(dir, name+".npz")
	var groups [][]int32
	if y.burst > 0 {
		groups = append(groups, make([]int32, len(labels)))
		for i := range labels {
			groups[0][i] = int32(i / y.burst)
		}
	}
	save(t, path, encodeNPZ(t, x, y.dim, labels, groups...))
	meta, err := json.Marshal(map[string]any{"name": name, "dimension": y.dim, "classes": classes, "splits": splits})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func encodeNPZ(t testing.TB, x []float32, dim int, labels []int32, groups ...[]int32) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	type array struct {
		name, descr, shape string
		data               any
	}
	arrays := []array{{"embeddings.npy", "<f4", fmt.Sprintf("(%d, %d)", len(x)/dim, dim), x}, {"labels.npy", "<i4", fmt.Sprintf("(%d,)", len(labels)), labels}}
	for _, g := range groups {
		arrays = append(arrays, array{"groups.npy", "<i4", fmt.Sprintf("(%d,)", len(g)), g})
	}
	for _, a := range arrays {
		w, err := z.Create(a.name)
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", a.descr, a.shape)
		w.Write([]byte("\x93NUMPY\x01\x00"))
		binary.Write(w, binary.LittleEndian, uint16(len(head)))
		w.Write([]byte(head))
		binary.Write(w, binary.LittleEndian, a.data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// randomPrior has no special values, and a calibration that depends on the
// shot.
func randomPrior(dim int) *model.Prior {
	rng := rand.New(rand.NewPCG(4, uint64(dim)))
	p := niw.HandCrafted(dim, 1)
	p.Kappa, p.Nu = 0.7, float64(dim)+1.5
	center := make([]float64, dim)
	for i := range dim {
		p.M[i] = 0.1 * rng.NormFloat64()
		center[i] = 3 + 0.1*rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.05*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.3+0.2*rng.Float64())
	}
	return &model.Prior{NIW: p, Transform: embed.Transform{Kind: embed.CL2N, Center: center},
		Session: model.Session{Near: 0.1, Centre: 1.5, FB: somePopulation(0.4), MAP: somePopulation(0.6)},
		Facts:   map[string]string{"data": "alpha"}}
}

func writePrior(t testing.TB, path string, p *model.Prior) string {
	t.Helper()
	b, err := model.EncodePrior(p)
	if err != nil {
		t.Fatal(err)
	}
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

func readReport(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Four processes that each do a part must together give, byte for byte, what
// one process gives; so must another number of workers.
func TestShardsMergeToTheWhole(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 30, rows: 24, dim: 7}.write(t, dir, "alpha")
	prior := writePrior(t, filepath.Join(dir, "prior.safetensors"), randomPrior(7))
	for protocol, extra := range map[string][]string{
		"standard":     {"--methods", "fb,map,ncc-cl2n,linear,knn,qda,fb-lda,teachable"},
		"open-set":     {"--methods", "fb,ncc-cl2n"},
		"multi-domain": {"--methods", "fb,ncc-cl2n"},
		"sessions":     {"--methods", "fb,map,ncc-cl2n,linear,knn,knn-tfjs"},
		"incremental":  {"--methods", "fb,ncc-cl2n", "--n-way", "3", "--repeat", "6"},
	} {
		t.Run(protocol, func(t *testing.T) {
			base := append([]string{"eval", "--protocol", protocol, "--data", data, "--prior", prior, "--n-tasks", "21", "--n-val-tasks", "5", "--n-query", "6", "--random-seed", "11"}, extra...)
			out := func(name string) string { return filepath.Join(dir, protocol+name) }
			mustRun(t, append(base, "--json", out("whole"), "--workers", "1")...)
			mustRun(t, append(base, "--json", out("workers"), "--workers", "5")...)
			var processes []*exec.Cmd
			merge := []string{"merge", "--json", out("merged")}
			for i := 3; i >= 0; i-- {
				file := out(fmt.Sprint("shard", i))
				merge = append(merge, file)
				c := exec.Command(os.Args[0], append(base, "--shard", fmt.Sprintf("%d/4", i), "--json", file)...)
				c.Env = append(os.Environ(), "METAQDA_TEST_AS_COMMAND=1")
				c.Stderr = os.Stderr
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				processes = append(processes, c)
			}
			for _, c := range processes {
				if err := c.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			mustRun(t, merge...)
			want, err := os.ReadFile(out("whole"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"workers", "merged"} {
				got, err := os.ReadFile(out(name))
				if err != nil {
					t.Fatal(err)
				}
				// Another binary, another stamp: nothing else may differ.
				if !bytes.Equal(got, want) {
					t.Errorf("%s differs from the whole:\n%.600s\n%.600s", name, got, want)
				}
			}
		})
	}
}

func TestShardsCountFromZeroOrOne(t *testing.T) {
	for _, from := range []int{0, 1} {
		done := make([]int, 10)
		for i := range 4 {
			s, err := parseShard(fmt.Sprintf("%d/4", from+i))
			if err != nil {
				t.Fatal(err)
			}
			for e := range done {
				if s.has(e) {
					done[e]++
				}
			}
		}
		for e, n := range done {
			if n != 1 {
				t.Errorf("counting from %d, episode %d is done %d times", from, e, n)
			}
		}
	}
}

// sourceOf prepares a toy set and prior for tests below the command line.
func sourceOf(t *testing.T, classes, rows, dim int) (*source, *evalOptions) {
	t.Helper()
	dir := t.TempDir()
	o := &evalOptions{protocol: "standard", split: "test", ways: []int{4}, shots: []int{3}, query: 5, tasks: 8, seed: 2, workers: 1, shard: whole, handScale: 1, repeat: 1,
		data:   []string{toy{classes: classes, rows: rows, dim: dim}.write(t, dir, "alpha")},
		priors: []string{writePrior(t, filepath.Join(dir, "p.safetensors"), randomPrior(dim))}}
	sources, err := o.load()
	if err != nil {
		t.Fatal(err)
	}
	return sources[0], o
}

// somePopulation has no special values.
func somePopulation(logT float64) *session.Population {
	return &session.Population{LogT: [2]float64{logT, 0.2}, Offset: [2]float64{0.1, -0.05}, Hardness: session.Hardness{SD: 0.4, Weight: 0.7},
		Level: session.Level{Mean: [2]float64{1, 0.3}, SD: 0.8, Count: 3}, Spread: session.Spread{SD: 1.5, Count: 2},
		Known: session.Known{Threshold: session.Normal{Mean: 0.5, SD: 0.6}, Slope: session.Normal{Mean: 0.2, SD: 0.3}, Weight: 0.4}}
}

// The evaluation whitens a data set once. The oracle is the classifier that the page
// uses, with the prior as it is, taught one example at a time.
func TestEvaluationAgreesWithTheClassifier(t *testing.T) {
	for _, shots := range []int{12, 5} { // classes of more rows than dimensions among them
		s, o := sourceOf(t, 24, 20, 9)
		pool, err := s.pool("test")
		if err != nil {
			t.Fatal(err)
		}
		config := episode.Config{Way: episode.Exactly(4), Shot: episode.Range{Min: 1, Max: shots}, Query: episode.Exactly(3), Imbalanced: true, UnknownClasses: 2}
		sampler, err := episode.NewUniform(pool, config, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.rows = s.set.Rows([]int{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
		for _, c := range []struct {
			method string
			inf    niw.Inference
			pooled bool
		}{{"fb", niw.FB, false}, {"map", niw.MAP, false}, {"fb-lda", niw.FB, true}, {"map-lda", niw.MAP, true}} {
			options := s.prior.session.Options(c.inf)
			options.Pooled, options.NonePrior = c.pooled, 0.5
			methods, err := parseMethods(c.method)
			if err != nil {
				t.Fatal(err)
			}
			make, err := methods[0].prepare(s, o)
			if err != nil {
				t.Fatal(err)
			}
			var w workspace
			scorer := make()
			for i := range 10 {
				e := sampler.Episode(i)
				w.begin(&e, i)
				if _, err := scorer.score(&w, w.scores, w.none); err != nil {
					t.Fatal(err)
				}
				compareWithClassifier(t, c.method, s, &e, &w, options)
			}
		}
	}
}

func compareWithClassifier(t *testing.T, method string, s *source, e *episode.Episode, w *workspace, o qda.Options) {
	t.Helper()
	c, err := qda.New(s.prior.niw, o)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, s.set.Dim)
	for j, rows := range e.Support {
		label := fmt.Sprint(j)
		if err := c.AddClass(label); err != nil {
			t.Fatal(err)
		}
		for _, i := range rows {
			if err := s.prior.transform.Apply(x, s.set.RowTo(x, i)); err != nil {
				t.Fatal(err)
			}
			if err := c.Add(label, x); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, got := make([]float64, e.Way()), make([]float64, e.Way())
	for k, i := range e.Query {
		if err := s.prior.transform.Apply(x, s.set.RowTo(x, i)); err != nil {
			t.Fatal(err)
		}
		none, err := c.ProbabilitiesTo(want, x)
		if err != nil {
			t.Fatal(err)
		}
		metrics.SoftmaxTo(got, w.scores.RawRowView(k), 1)
		for j := range got {
			if p := want[j] / (1 - none); math.Abs(got[j]-p) > 1e-7 {
				t.Fatalf("%s: query %d class %d: %v, the classifier says %v", method, k, j, got[j], p)
			}
		}
		if p := 1 / (1 + math.Exp(-w.none[k])); math.Abs(p-none) > 1e-8 {
			t.Fatalf("%s: query %d: none %v, the classifier says %v", method, k, p, none)
		}
	}
}

// Classes with fewer and with more rows than dimensions go different ways.
func TestIncrementalScoresAgreeWithTheClassifier(t *testing.T) {
	s, o := sourceOf(t, 24, 30, 8)
	o.ways, o.shots, o.repeat = []int{3}, []int{4}, 1
	r, err := o.newIncrementalRun(s, o.split, o.repeat)
	if err != nil {
		t.Fatal(err)
	}
	s.rows = r.rows()
	for _, name := range []string{"fb", "map"} {
		methods, err := parseMethods(name)
		if err != nil {
			t.Fatal(err)
		}
		make, err := methods[0].prepare(s, o)
		if err != nil {
			t.Fatal(err)
		}
		first, second := r.sessions[0][0], r.sessions[0][1]
		support := append(append([][]int{}, first.Support...), second.Support...)
		e := episode.Episode{Classes: make2ints(len(support)), Support: support, Query: r.allQueries()[:12], QueryLabel: make2ints(12)}
		var w workspace
		w.begin(&e, 0)
		scores := make().(incrementalScorer).classScores(support, e.Query, 2)
		w.scores = scores
		inf, _ := niw.ParseInference(name)
		for i := range w.none { // not scored here
			w.none[i] = math.NaN()
		}
		options := s.prior.session.Options(inf)
		plain := *options.Population
		plain.Hardness.SD = 0
		compareClosed(t, s, &e, scores, qda.Options{Inference: inf, Population: &plain})
	}
}

func make2ints(n int) []int { return make([]int, n) }

func compareClosed(t *testing.T, s *source, e *episode.Episode, scores *mat.Dense, o qda.Options) {
	t.Helper()
	c, err := qda.New(s.prior.niw, o)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, s.set.Dim)
	apply := func(i int) []float64 {
		if err := s.prior.transform.Apply(x, s.set.RowTo(x, i)); err != nil {
			t.Fatal(err)
		}
		return x
	}
	for j, rows := range e.Support {
		if err := c.AddClass(fmt.Sprint(j)); err != nil {
			t.Fatal(err)
		}
		for _, i := range rows {
			if err := c.Add(fmt.Sprint(j), apply(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, got := make([]float64, len(e.Support)), make([]float64, len(e.Support))
	for k, i := range e.Query {
		if _, err := c.ProbabilitiesTo(want, apply(i)); err != nil {
			t.Fatal(err)
		}
		metrics.SoftmaxTo(got, scores.RawRowView(k), 1)
		for j := range got {
			if math.Abs(got[j]-want[j]) > 1e-8 {
				t.Fatalf("query %d class %d: %v, the classifier says %v", k, j, got[j], want[j])
			}
		}
	}
}

// The measures of the JSON are recomputed here from what little is needed:
// accuracies from the episodes, ECE from the bins.
func TestReportAddsUp(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 24, rows: 20, dim: 6}.write(t, dir, "alpha")
	out := filepath.Join(dir, "out.json")
	text := mustRun(t, "eval", "--data", data, "--methods", "ncc-cl2n,linear", "--n-tasks", "30", "--n-query", "5", "--json", out, "--markdown", filepath.Join(dir, "out.md"))
	if !strings.Contains(text, "ncc-cl2n") || !strings.Contains(text, "5-shot accuracy") {
		t.Errorf("table lacks method or column:\n%s", text)
	}
	r := readReport(t, out)
	if r["seed"] != 0.0 || r["versions"] == nil || r["protocol"] != "standard" {
		t.Errorf("header lacks seed, versions or protocol: %v", r)
	}
	results := r["results"].([]any)
	if len(results) != 4 {
		t.Fatalf("%d results for two methods and two shots", len(results))
	}
	for _, v := range results {
		x := v.(map[string]any)
		var sum float64
		episodes := x["episode_accuracy"].([]any)
		for _, a := range episodes {
			sum += a.(float64)
		}
		mean := x["accuracy"].(map[string]any)["mean"].(float64)
		if len(episodes) != 30 || math.Abs(sum/30-mean) > 1e-12 || mean < 0.2 || mean > 1 {
			t.Errorf("%s: mean accuracy %v, of the episodes %v", x["method"], mean, sum/30)
		}
		var n, ece float64
		for _, v := range x["bins"].([]any) {
			b := v.(map[string]any)
			n += b["count"].(float64)
			ece += math.Abs(b["correct"].(float64) - b["confidence"].(float64))
		}
		if n != 30*5*5 || math.Abs(ece/n-x["ece"].(float64)) > 1e-12 {
			t.Errorf("%s: ECE %v, from the bins %v of %v queries", x["method"], x["ece"], ece/n, n)
		}
		for _, key := range []string{"nll", "brier", "ece_ts", "mce", "temperature"} {
			if _, ok := x[key].(float64); !ok {
				t.Errorf("%s: no %s", x["method"], key)
			}
		}
		if v, ok := x["auroc_none"]; !ok || v != nil {
			t.Errorf("%s: auroc_none of a closed set is %v, want null", x["method"], v)
		}
	}
}

// On classes far apart everything must be right: the plumbing of rows and
// labels from file to result.
func TestEveryProtocolOnEasyData(t *testing.T) {
	dir := t.TempDir()
	apart := func(x []float32, labels []int32) {
		d := len(x) / len(labels)
		for i, c := range labels {
			x[i*d+int(c)%d] += 60
			x[i*d+int(c)/d] += 37
		}
	}
	a := toy{classes: 36, rows: 24, dim: 12, spoil: apart}.write(t, dir, "alpha")
	b := toy{classes: 36, rows: 24, dim: 12, spoil: apart}.write(t, dir, "beta")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), &model.Prior{NIW: niw.HandCrafted(12, 1),
		Transform: embed.Transform{Kind: embed.L2}, Facts: map[string]string{"data": "alpha"}})
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
			priors := prior
			if protocol == "leave-one-domain-out" {
				priors += "," + prior
			}
			mustRun(t, append([]string{"eval", "--protocol", protocol, "--data", a + "," + b, "--prior", priors, "--n-tasks", "6", "--n-val-tasks", "4", "--n-query", "5", "--json", out}, flags...)...)
			seen := map[string]bool{}
			for _, v := range readReport(t, out)["results"].([]any) {
				x := v.(map[string]any)
				seen[x["data"].(string)] = true
				accuracy := x["accuracy"].(map[string]any)["mean"].(float64)
				if least := map[bool]float64{true: 0.6, false: 0.75}[protocol == "incremental"]; accuracy < least {
					t.Errorf("%v on %v, %v-shot: accuracy %v", x["method"], x["data"], x["shot"], accuracy)
				}
				if roc, ok := x["auroc_none"].(float64); ok != (protocol == "open-set") || (ok && roc < 0.6) {
					t.Errorf("%v: auroc_none %v", x["method"], x["auroc_none"])
				}
			}
			if !seen["alpha"] || !seen["beta"] {
				t.Errorf("results for %v only", seen)
			}
		})
	}
	pictures, err := filepath.Glob(filepath.Join(dir, "pictures", "*.svg"))
	if err != nil || len(pictures) != 2*2*5 {
		t.Errorf("%d pictures, want one for each of 5 methods, 2 shots and 2 data sets", len(pictures))
	}
}

// A single class leaves nothing to the largest probability, which is one.
func TestOpenSetTellsTheGain(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 36, rows: 24, dim: 12}.write(t, dir, "alpha")
	prior := writePrior(t, filepath.Join(dir, "p.safetensors"), randomPrior(12))
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
		if bayes := isMetaQDA(x["method"].(string)); has != bayes {
			t.Errorf("%v: ece_none %v", x["method"], x["ece_none"])
		}
		if x["way"] == 1.0 && (x["auroc_max_probability"] != 0.5 || x["accuracy"].(map[string]any)["mean"] != 1.0) {
			t.Errorf("%v with one class: accuracy %v, AUROC of 1 - max %v", x["method"], x["accuracy"], x["auroc_max_probability"])
		}
	}
	none, most, ece := 0.85, 0.7, 0.03
	if got := gain(&Result{AUROCNone: &none, AUROCMaxProb: &most, ECENone: &ece}); got != "+15.00" {
		t.Errorf("gain %s", got)
	}
}

func TestMultiDomainSummary(t *testing.T) {
	r := &report{header: &header{Protocol: "multi-domain", Methods: []string{"a", "b"}, Data: []dataHeader{{Name: "x"}, {Name: "y"}}, InDomain: []string{"x"}}}
	for _, v := range []struct {
		method, data string
		accuracy     float64
	}{{"a", "x", 0.5}, {"b", "x", 0.7}, {"a", "y", 0.4}, {"b", "y", 0.4}} {
		r.Results = append(r.Results, &Result{Method: v.method, Data: v.data, Accuracy: Interval{Mean: v.accuracy}})
	}
	r.summarise()
	for i, want := range []summary{{Overall: 0.45, AverageRank: 1.75}, {Overall: 0.55, AverageRank: 1.25}} {
		got := r.Summary[i]
		if math.Abs(got.Overall-want.Overall) > 1e-12 || got.AverageRank != want.AverageRank || *got.OutOfDomain != 0.4 || *got.InDomain != []float64{0.5, 0.7}[i] {
			t.Errorf("method %s: %+v", got.Method, *got)
		}
	}
}

// Whatever is wrong is told in one sentence that names the file, the row where
// there is one and the remedy, with status 2 and without a file.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	good := toy{classes: 24, rows: 20, dim: 6}.write(t, dir, "good")
	nan := toy{classes: 24, rows: 20, dim: 6, spoil: func(x []float32, _ []int32) { x[6*17+2] = float32(math.NaN()) }}.write(t, dir, "nan")
	small := toy{classes: 24, rows: 17, dim: 6, spoil: func(_ []float32, labels []int32) { labels[17*20] = 3 }}.write(t, dir, "small")
	bare := toy{classes: 24, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare")
	wide := writePrior(t, filepath.Join(dir, "wide.safetensors"), randomPrior(9))
	torn := filepath.Join(dir, "torn.npz")
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
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
		{"dimension of the prior", []string{"--data", good, "--prior", wide, "--methods", "fb"}, []string{"good.npz", "6 numbers", "prior is for 9", "extractor"}},
		{"prior is no prior", []string{"--data", good, "--prior", good, "--methods", "fb"}, []string{"good.npz", "no usable prior", "metaqda train"}},
		{"prior is missing", []string{"--data", good, "--prior", filepath.Join(dir, "none"), "--methods", "fb"}, []string{"none", "check the path"}},
		{"fb without prior", []string{"--data", good, "--methods", "fb"}, []string{"--prior", "fb-handcrafted"}},
		{"unknown method", []string{"--data", good, "--methods", "svm"}, []string{`"svm"`, "choose from"}},
		{"unknown protocol", []string{"--data", good, "--protocol", "best"}, []string{`"best"`, "choose standard"}},
		{"unknown flag", []string{"--data", good, "--n-shots", "1"}, []string{"n-shots"}},
		{"stray word", []string{"--data", good, "test"}, []string{`"test"`, "--help"}},
		{"shots", []string{"--data", good, "--n-shot", "1,x"}, []string{"--n-shot", `"x"`, "whole numbers"}},
		{"tasks", []string{"--data", good, "--n-tasks", "0"}, []string{"--n-tasks is 0"}},
		{"shard", []string{"--data", good, "--shard", "5/4"}, []string{"5/4", "such as 0/4"}},
		{"hand-crafted scale", []string{"--data", good, "--hand-scale", "0"}, []string{"--hand-scale"}},
		{"same data twice", []string{"--data", good + "," + good}, []string{"both called", "another name"}},
		{"priors and data differ", []string{"--data", good, "--prior", wide + "," + wide}, []string{"2 files for 1 data sets"}},
		{"left out without priors", []string{"--data", good, "--protocol", "leave-one-domain-out"}, []string{"one --prior for each"}},
		{"incremental with linear", []string{"--data", good, "--protocol", "incremental", "--methods", "linear"}, []string{"linear", "ncc-cl2n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(dir, "out.json")
			before := names(t, dir)
			status, stdout, stderr := metaqda(append([]string{"eval", "--json", out}, c.args...)...)
			if status != 2 || stdout != "" {
				t.Errorf("status %d, output %q", status, stdout)
			}
			if strings.Count(stderr, "\n") != 1 {
				t.Errorf("not one line: %q", stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q does not say %q", stderr, want)
				}
			}
			if after := names(t, dir); after != before {
				t.Errorf("files were left: %s", after)
			}
		})
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 24, rows: 20, dim: 4}.write(t, dir, "alpha")
	status, _, stderr := metaqda("eval", "--data", data, "--json", filepath.Join(dir, "missing", "out.json"))
	if status != 2 || !strings.Contains(stderr, "create it first") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if status, _, stderr = metaqda("eval", "--data", data, "--json", dir); status != 2 || !strings.Contains(stderr, "is a folder") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestMergeRefusesWhatDoesNotBelongTogether(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 24, rows: 20, dim: 4}.write(t, dir, "alpha")
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, s := range [][]string{{"a0", "0/3", "0"}, {"a1", "1/3", "0"}, {"b1", "1/3", "5"}, {"a2", "2/3", "0"}} {
		mustRun(t, "eval", "--data", data, "--methods", "ncc-un", "--n-tasks", "4", "--n-query", "3", "--shard", s[1], "--random-seed", s[2], "--json", file(s[0]))
	}
	save(t, file("other"), []byte("{}"))
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, "no shards given"},
		{[]string{"a0", "a1"}, "shard 2/3 is missing"},
		{[]string{"a0", "a1", "a1"}, "the same shard"},
		{[]string{"a0", "b1", "a2"}, "not shards of one evaluation"},
		{[]string{"a0", "other"}, "is neither shard nor evaluation"},
		{[]string{"gone"}, "check the path"},
	} {
		args := []string{"merge", "--json", file("out")}
		for _, f := range c.files {
			args = append(args, file(f))
		}
		status, _, stderr := metaqda(args...)
		if _, err := os.Stat(file("out")); status != 2 || !strings.Contains(stderr, c.want) || err == nil {
			t.Errorf("%v: status %d, %q, want %q and no file", c.files, status, stderr, c.want)
		}
	}
	if status, _, stderr := metaqda("eval", "--data", data, "--shard", "0/2", "--methods", "ncc-un", "--n-query", "3"); status != 2 || !strings.Contains(stderr, "--json OUT") {
		t.Errorf("a shard without file: %d, %q", status, stderr)
	}
}

func TestHelp(t *testing.T) {
	if out := mustRun(t, "help"); !strings.Contains(out, "eval") || !strings.Contains(out, "merge") {
		t.Errorf("help lists no commands:\n%s", out)
	}
	for _, c := range commands {
		out := mustRun(t, c.name, "--help")
		if !strings.Contains(out, "usage: metaqda "+c.name) {
			t.Errorf("help of %s:\n%s", c.name, out)
		}
	}
	out := mustRun(t, "eval", "--help")
	for _, word := range append([]string{"standard", "incremental", "-random-seed", "-shard", "ncc-cl2n"}, "leave-one-domain-out") {
		if !strings.Contains(out, word) {
			t.Errorf("help of eval does not mention %s", word)
		}
	}
	if status, _, stderr := metaqda("evaluate"); status != 2 || !strings.Contains(stderr, `"evaluate"`) {
		t.Errorf("unknown command: %d, %q", status, stderr)
	}
}

func TestBalanceGradientByFiniteDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	l := balanceLoss{base: 3}
	for i := range 40 {
		row := make([]float64, 5)
		for c := range row {
			row[c] = 3 * rng.NormFloat64()
		}
		l.scores, l.labels = append(l.scores, row), append(l.labels, i%5)
	}
	x, got, scratch := []float64{-0.5, 0.3, 0.7}, make([]float64, 3), make([]float64, 3)
	l.loss(got, x)
	want := fd.Gradient(nil, func(x []float64) float64 { return l.loss(scratch, x) }, x, &fd.Settings{Formula: fd.Central})
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-7 {
			t.Errorf("derivative %d is %v, by differences %v", k, got[k], want[k])
		}
	}
}

// Scores that were made from known logits must be put back.
func TestBalanceIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	truth := balance{0.5, 2, -3}
	l := balanceLoss{base: 4}
	p := make([]float64, 6)
	for range 20000 {
		row := make([]float64, 6)
		for c := range row {
			row[c] = 2 * rng.NormFloat64()
		}
		logits := append([]float64(nil), row...)
		truth.apply(logits, 4)
		metrics.SoftmaxTo(p, logits, 1)
		u, y := rng.Float64(), 0
		for u > p[y] && y < 5 {
			u -= p[y]
			y++
		}
		l.scores, l.labels = append(l.scores, row), append(l.labels, y)
	}
	got := l.minimise()
	if got == nil || math.Abs(got.base-truth.base) > 0.05 || math.Abs(got.novel-truth.novel) > 0.1 || math.Abs(got.offset-truth.offset) > 0.2 {
		t.Errorf("got %+v, want about %+v", got, truth)
	}
}
