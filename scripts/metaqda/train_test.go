package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/episode"
	"metaqda/core/model"
	"metaqda/core/qda"
)

// quick are flags that make a run take a moment.
var quick = []string{"--steps", "40", "--validate-every", "20", "--n-way", "3-6", "--n-shot", "1-4", "--val-way", "4", "--val-tasks", "10", "--calibrate", "10", "--batch", "2"}

func trainArgs(data, out string, more ...string) []string {
	return append(append([]string{"train", "--data", data, "--out", out}, quick...), more...)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTrainWritesAPriorThatEvalTakes(t *testing.T) {
	dir := t.TempDir()
	a := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	b := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "beta")
	out := filepath.Join(dir, "prior.safetensors")
	log, svg := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "curve.svg")
	mustRun(t, trainArgs(a+","+b, out, "--log", log, "--curve", svg, "--power", "0.5")...)
	p, err := model.DecodePrior(readFile(t, out))
	if err != nil {
		t.Fatal(err)
	}
	if p.NIW.Dim() != 6 || len(p.Transform.Center) != 6 || p.Transform.Power != 0.5 || p.Facts["data"] != "alpha,beta" || p.Facts["seed"] != "0" {
		t.Errorf("got %+v", p)
	}
	if want := meanOfTraining(t, a, b); !slices.EqualFunc(p.DataMean, want, func(x, y float64) bool { return math.Abs(x-y) < 1e-6 }) {
		t.Errorf("the mean of the data is %v, want %v", p.DataMean, want)
	}
	if len(p.Calibration.LogT) == 0 || len(p.Calibration.Known) == 0 || len(p.MAP.LogT) == 0 {
		t.Errorf("not calibrated: %+v", p.Calibration)
	}
	if !bytes.Contains(readFile(t, svg), []byte("</svg>")) {
		t.Error("the curve is no SVG")
	}
	steps, points := 0, 0
	for line := range bytes.Lines(readFile(t, log)) {
		var entry logLine
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Point != nil {
			points++
		} else {
			steps++
		}
	}
	if steps != 40 || points != 3 {
		t.Errorf("log of %d steps and %d validations, want 40 and 3", steps, points)
	}
	mustRun(t, "eval", "--data", a, "--prior", out, "--methods", "fb,map", "--n-tasks", "5", "--n-query", "3", "--n-shot", "1")
}

// meanOfTraining returns the mean of the sets' means of their training rows.
func meanOfTraining(t *testing.T, paths ...string) []float64 {
	t.Helper()
	var mean []float64
	for _, path := range paths {
		s, err := dataset.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		classes, err := s.Split("train")
		if err != nil {
			t.Fatal(err)
		}
		own := s.Mean(s.Rows(classes))
		if mean == nil {
			mean = make([]float64, len(own))
		}
		floats.AddScaled(mean, 1/float64(len(paths)), own)
	}
	return mean
}

// At full rank a spiked S is the learned one, calibration included; at less it
// is another of the same determinant.
func TestTrainWithASpikedScale(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	train := func(name string, more ...string) *model.Prior {
		out := filepath.Join(dir, name)
		mustRun(t, trainArgs(data, out, append(more, "--precision", "F64")...)...)
		p, err := model.DecodePrior(readFile(t, out))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, start := range []string{"within", "identity"} {
		plain, full, few := train("plain", "--start", start), train("full", "--start", start, "--rank", "6"), train("few", "--start", start, "--rank", "2")
		var want, got mat.SymDense
		want.SymOuterK(1, plain.NIW.L)
		got.SymOuterK(1, full.NIW.Dense().L)
		if full.NIW.Spiked == nil || !mat.EqualApprox(&want, &got, 1e-9) {
			t.Errorf("start %s: S at full rank is not the learned one", start)
		}
		for i, v := range plain.Calibration.LogT {
			if math.Abs(full.Calibration.LogT[i]-v) > 1e-3 {
				t.Errorf("start %s: log T %v at full rank, %v as learned", start, full.Calibration.LogT, plain.Calibration.LogT)
			}
		}
		if few.NIW.Spiked == nil || few.NIW.Spiked.Rank() != 2 || math.Abs(few.NIW.LogDetS()-plain.NIW.LogDetS()) > 1e-8 || !strings.HasPrefix(few.Facts["rank"], "2;") {
			t.Errorf("start %s: rank 2 gave %+v", start, few.NIW.Spiked)
		}
		mustRun(t, "eval", "--data", data, "--prior", filepath.Join(dir, "few"), "--methods", "fb,map,fb-lda", "--n-tasks", "5", "--n-query", "3", "--n-shot", "1")
	}
}

// The bytes of the prior depend on neither the workers nor the run, but on the
// seed.
func TestTrainIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	prior := func(name string, more ...string) []byte {
		out := filepath.Join(dir, name)
		mustRun(t, trainArgs(data, out, more...)...)
		return readFile(t, out)
	}
	one := prior("one", "--workers", "1")
	if !bytes.Equal(one, prior("three", "--workers", "3")) {
		t.Error("one and three workers give different bytes")
	}
	if bytes.Equal(one, prior("seed", "--random-seed", "1")) {
		t.Error("another seed gives the same bytes")
	}
}

// stopWriter cancels once the text has been written to it.
type stopWriter struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (w *stopWriter) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.cancel()
	}
	return n, err
}

func TestTrainResumesToTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	mustRun(t, trainArgs(data, whole, "--log", whole+".log", "--optimizer", "adam", "--learning-rate", "0.001")...)
	args := trainArgs(data, parts, "--log", parts+".log", "--optimizer", "adam", "--learning-rate", "0.001")
	for _, stop := range []string{" 0/40", " 20/40", "calibrating"} {
		ctx, cancel := context.WithCancel(context.Background())
		w := &stopWriter{text: stop, cancel: cancel}
		if status := run(ctx, args, &bytes.Buffer{}, w); status != 130 || !strings.Contains(w.String(), "--resume") {
			t.Fatalf("stopped at %q: status %d, %s", stop, status, w)
		}
		if _, err := os.Stat(parts); err == nil {
			t.Fatal("an interrupted run left a prior")
		}
		if stop == " 0/40" {
			args = append(args, "--resume")
		}
	}
	mustRun(t, args...)
	if !bytes.Equal(readFile(t, whole), readFile(t, parts)) {
		t.Error("the resumed prior differs")
	}
	if !bytes.Equal(readFile(t, whole+".log"), readFile(t, parts+".log")) {
		t.Error("the resumed log differs")
	}
	if _, err := os.Stat(parts + ".checkpoint"); err == nil {
		t.Error("the checkpoint was left behind")
	}
}

func TestTrainBadInput(t *testing.T) {
	dir := t.TempDir()
	good := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "good")
	wide := toy{classes: 48, rows: 20, dim: 7}.write(t, dir, "wide")
	nan := toy{classes: 48, rows: 20, dim: 6, spoil: func(x []float32, _ []int32) { x[6*17+2] = float32(math.NaN()) }}.write(t, dir, "nan")
	few := toy{classes: 6, rows: 20, dim: 6}.write(t, dir, "few")
	thin := toy{classes: 48, rows: 5, dim: 6}.write(t, dir, "thin")
	bare := toy{classes: 48, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare")
	split := filepath.Join(dir, "split.json")
	save(t, split, []byte(`{"train": ["zebra"]}`))
	broken := filepath.Join(dir, "broken.checkpoint")
	save(t, broken, []byte("MQTRAIN1 but no more than that, alas, and yet long enough to be looked into"))
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"no data", nil, []string{"--data", "required"}},
		{"missing file", []string{"--data", filepath.Join(dir, "gone.npz")}, []string{"gone.npz", "check the path"}},
		{"NaN", []string{"--data", nan}, []string{"nan.npz, row 17", "remove the row"}},
		{"dimensions differ", []string{"--data", good + "," + wide}, []string{"wide.npz", "7 numbers", "good.npz has 6", "one extractor"}},
		{"no split", []string{"--data", bare}, []string{"bare.npz", `no split "train"`}},
		{"too few classes", []string{"--data", few}, []string{"few.npz", "1 classes", "fewer classes"}},
		{"too few rows", []string{"--data", thin}, []string{"thin.npz", "5 rows", "fewer shots"}},
		{"loss", []string{"--data", good, "--loss", "hinge"}, []string{`"hinge"`, "cross_entropy"}},
		{"range", []string{"--data", good, "--n-way", "9-5"}, []string{"n-way", "9-5"}},
		{"rate", []string{"--data", good, "--learning-rate", "-1"}, []string{"learning rate", "0 or more"}},
		{"nu", []string{"--data", good, "--nu", "4"}, []string{"nu", "positive"}},
		{"left out", []string{"--data", good, "--calibrate-on", "both"}, []string{`"both"`, "val or left-out"}},
		{"unknown class in split file", []string{"--data", good, "--splits", split}, []string{"split.json", "zebra", "correct the name"}},
		{"preset", []string{"--data", good, "--preset", "best"}, []string{`"best"`, "paper"}},
		{"flag", []string{"--data", good, "--epochs", "4"}, []string{"epochs", "--help"}},
		{"curve", []string{"--data", good, "--curve", "c.gif"}, []string{"c.gif", ".svg or .png"}},
		{"nothing to resume", []string{"--data", good, "--resume"}, []string{"checkpoint", "leave out --resume"}},
		{"broken checkpoint", []string{"--data", good, "--resume", "--checkpoint", broken}, []string{"broken.checkpoint", "begin anew"}},
		{"diverges", []string{"--data", good, "--learning-rate", "1e308", "--warm-up", "0", "--clip", "0", "--loss", "nll", "--scalar-learning-rate", "1e308"}, []string{"diverged", "smaller learning rate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := names(t, dir)
			args := append(append([]string{"train", "--quiet", "--out", filepath.Join(dir, "out")}, quick...), c.args...)
			status, stdout, stderr := metaqda(args...)
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("status %d, output %q, errors %q", status, stdout, stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q does not say %q", stderr, want)
				}
			}
			if after := names(t, dir); after != before && c.name != "diverges" { // that one keeps its checkpoint
				t.Errorf("files were left: %s", after)
			}
		})
	}
}

// Rehearsals without classes and without domains change the calibration and
// nothing else, and tell domains apart where there are several.
func TestTrainCalibratesOnWhatIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	a := toy{classes: 96, rows: 20, dim: 6}.write(t, dir, "alpha")
	b := toy{classes: 96, rows: 20, dim: 6}.write(t, dir, "beta")
	learn := func(name, data string, extra ...string) *model.Prior {
		out := filepath.Join(dir, name)
		mustRun(t, trainArgs(data, out, append([]string{"--calibrate", "3"}, extra...)...)...)
		p, err := model.DecodePrior(readFile(t, out))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, data := range map[string]string{"one": a, "two": a + "," + b} {
		val := learn(name+" val", data)
		left := learn(name+" left out", data, "--calibrate-on", "left-out", "--workers", "1")
		if !mat.Equal(left.NIW.L, val.NIW.L) || left.NIW.Kappa != val.NIW.Kappa {
			t.Errorf("%s: the prior changed", name)
		}
		if left.Calibration.LogT[0] == val.Calibration.LogT[0] || len(left.Calibration.Known) == 0 || len(left.Calibration.Tau) != sessionTau {
			t.Errorf("%s: the calibration is %+v", name, left.Calibration)
		}
		for _, p := range []*model.Prior{val, left} {
			if p.Background == nil || p.Background.Dim() != 6 || p.Background.Temperature <= 0 {
				t.Errorf("%s: the background is %+v", name, p.Background)
			}
			for inf, c := range map[string]qda.Calibration{"fb": p.Calibration, "map": p.MAP} {
				if len(c.Known[0]) != qda.KnownFeatures || c.Known[0][6] == 0 || c.Known[1][6] == 0 {
					t.Errorf("%s, %s: the background has no part in %v", name, inf, c.Known)
				}
			}
		}
		if val.Domains != nil || len(val.Calibration.Domains) != 0 {
			t.Errorf("%s: validation classes tell domains apart", name)
		}
		if name == "one" {
			if left.Domains != nil || len(left.Calibration.Domains) != 0 {
				t.Errorf("one data set is told apart: %+v", left.Domains)
			}
			continue
		}
		if left.Domains == nil || strings.Join(left.Domains.Names, " ") != "alpha beta" {
			t.Fatalf("the domains are %+v", left.Domains)
		}
		for inf, c := range map[string]qda.Calibration{"fb": left.Calibration, "map": left.MAP} {
			if len(c.Domains) != 2 || len(c.Domains[0].Tau) != qda.TauCoefficients || c.Domains[0].Tau[0] == c.Domains[1].Tau[0] || c.Domains[0].Tau[0] == c.Tau[0] {
				t.Errorf("%s: the domains' calibrations are %+v", inf, c.Domains)
			}
		}
		learn("two at once", data, "--calibrate-on", "left-out", "--workers", "3")
		if !bytes.Equal(readFile(t, filepath.Join(dir, "two at once")), readFile(t, filepath.Join(dir, name+" left out"))) {
			t.Error("another number of workers, other bytes")
		}
	}
}

// The rows of a split are numbered anew; each keeps its group.
func TestTrainingKeepsGroups(t *testing.T) {
	s, err := dataset.Load(toy{classes: 12, rows: 8, dim: 3, burst: 4}.write(t, t.TempDir(), "bursts"))
	if err != nil {
		t.Fatal(err)
	}
	var f fold
	f.transform.Kind = embed.None
	_, pool, err := f.domain(s, "test", 2, sha256.New())
	if err != nil {
		t.Fatal(err)
	}
	classes, _ := s.Split("test")
	for k, rows := range pool.Rows {
		for i, row := range rows {
			if want := s.Groups[s.ClassRows(classes[k])[i]]; pool.Groups[row] != want {
				t.Errorf("row %d of class %d is of group %d, want %d", i, k, pool.Groups[row], want)
			}
		}
	}
}

// Each class is held in one part and learned from in all others.
func TestClassesAreHeldOnce(t *testing.T) {
	dir := t.TempDir()
	sets, err := loadAll([]string{toy{classes: 22, rows: 4, dim: 3}.write(t, dir, "alpha")}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &trainSets{train: sets, val: sets}
	want, err := sets[0].Split("train")
	if err != nil {
		t.Fatal(err)
	}
	held := map[int]int{}
	for k := range 4 {
		parts, err := s.withoutClasses("train", 7, k, 4)
		if err != nil {
			t.Fatal(err)
		}
		learn, err := parts.train[0].Split(learnSplit)
		if err != nil {
			t.Fatal(err)
		}
		out, err := parts.train[0].Split(heldSplit)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range out {
			held[c]++
			if slices.Contains(learn, c) {
				t.Errorf("part %d: class %d is held and learned from", k, c)
			}
		}
		if len(learn)+len(out) != len(want) || len(out) < len(want)/4 {
			t.Errorf("part %d: %d and %d classes of %d", k, len(learn), len(out), len(want))
		}
	}
	for _, c := range want {
		if held[c] != 1 {
			t.Errorf("class %d is held %d times", c, held[c])
		}
	}
}

func TestPresets(t *testing.T) {
	parse := func(preset string) *trainOptions {
		o, err := parseTrain([]string{"--data", "a.npz", "--out", "p", "--steps", "7", preset}, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		if o.start != "identity" || o.config.Start.Temperature != 1 || o.config.Optimiser != "adam" || o.config.Steps != 7 {
			t.Errorf("%s: got %+v", preset, o)
		}
		return o
	}
	if c := parse("--preset=paper").config; c.Start.Scale != 1 || c.Rate != 3e-4 || c.WeightDecay != 1e-4 {
		t.Errorf("paper: got %+v", c)
	}
	if o := parse("--preset=conv4"); o.config.Start.Scale != 5 || o.config.Rate != 1e-3 || o.tasks.Shot != (episode.Range{Min: 1, Max: 5}) || o.calibrate == 0 {
		t.Errorf("conv4: got %+v", o)
	}
}
