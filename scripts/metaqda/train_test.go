package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/dataset"
	"metaqda/core/model"
	"metaqda/core/test"
)

// quick are flags that make a run take a moment.
var quick = []string{"--steps", "40", "--validate-every", "20", "--n-way", "3-6", "--n-shot", "1-4", "--val-way", "4", "--val-tasks", "10", "--calibrate", "3", "--batch", "2"}

func trainArgs(data, out string, more ...string) []string {
	return append(append([]string{"train", "--data", data, "--out", out}, quick...), more...)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	return test.Must(os.ReadFile(path))(t)
}

func TestTrainWritesAPriorThatEvalTakes(t *testing.T) {
	dir := t.TempDir()
	a := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	b := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "beta")
	out := filepath.Join(dir, "prior.safetensors")
	log, svg := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "curve.svg")
	mustRun(t, trainArgs(a+","+b, out, "--log", log, "--curve", svg, "--power", "0.5")...)
	p := test.Must(model.DecodePrior(readFile(t, out)))(t)
	if p.NIW.Dim() != 6 || len(p.Transform.Centre) != 6 || p.Transform.Power != 0.5 || p.Facts["data"] != "alpha,beta" || p.Facts["seed"] != "0" {
		t.Errorf("got %+v", p)
	}
	want := meanOfTraining(t, a, b)
	if !slices.EqualFunc(p.DataMean, want, func(x, y float64) bool { return math.Abs(x-y) < 1e-6 }) {
		t.Errorf("the mean of the data is %v, want %v", p.DataMean, want)
	}
	if p.Session.Population == nil || p.Session.Population.LogTemperature.SD <= 0 || p.Session.Shared <= 0 || p.Session.Kappa != 5 || p.Session.Near <= 0 {
		t.Errorf("no session model: %+v", p.Session)
	}
	if !bytes.Contains(readFile(t, svg), []byte("</svg>")) {
		t.Error("the curve is no SVG")
	}
	steps, points := 0, 0
	for line := range bytes.Lines(readFile(t, log)) {
		var entry logLine
		test.OK(t, json.Unmarshal(line, &entry))
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
		s := test.Must(dataset.Load(path))(t)
		classes := test.Must(s.Split("train"))(t)
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
		return test.Must(model.DecodePrior(readFile(t, out)))(t)
	}
	for _, start := range []string{"within", "identity"} {
		plain, full, few := train("plain", "--start", start), train("full", "--start", start, "--rank", "6"), train("few", "--start", start, "--rank", "2")
		var want, got mat.SymDense
		want.SymOuterK(1, plain.NIW.L)
		got.SymOuterK(1, full.NIW.Dense().L)
		if full.NIW.Spiked == nil || !mat.EqualApprox(&want, &got, 1e-9) {
			t.Errorf("start %s: S at full rank is not the learned one", start)
		}
		if got, want := full.Session.Population.LogT, plain.Session.Population.LogT; math.Abs(got-want) > 1e-2 {
			t.Errorf("start %s: log T %v at full rank, %v as learned", start, got, want)
		}
		if few.NIW.Spiked == nil || few.NIW.Spiked.Rank() != 2 || math.Abs(few.NIW.LogDetS()-plain.NIW.LogDetS()) > 1e-8 || !strings.HasPrefix(few.Facts["rank"], "2;") {
			t.Errorf("start %s: rank 2 gave %+v", start, few.NIW.Spiked)
		}
		mustRun(t, "eval", "--data", data, "--prior", filepath.Join(dir, "few"), "--methods", "fb,map,fb-lda", "--n-tasks", "5", "--n-query", "3", "--n-shot", "1")
	}
}

// The bytes of the prior depend on the seed and not on the workers, and an interrupted
// run writes none.
func TestTheSeedAloneDecidesTheBytes(t *testing.T) {
	dir := t.TempDir()
	data := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	train := func(workers, seed string) []byte {
		out := filepath.Join(dir, "prior")
		mustRun(t, trainArgs(data, out, "--optimizer", "adam", "--learning-rate", "0.001", "--workers", workers, "--random-seed", seed)...)
		return readFile(t, out)
	}
	want := train("1", "0")
	if !bytes.Equal(train("3", "0"), want) {
		t.Error("another number of workers gives other bytes")
	}
	if bytes.Equal(train("3", "1"), want) {
		t.Error("another seed gives the same bytes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := names(t, dir)
	status := run(ctx, trainArgs(data, filepath.Join(dir, "none")), io.Discard, io.Discard)
	if status != 130 || names(t, dir) != before {
		t.Errorf("an interrupted run ended with %d and left %s", status, names(t, dir))
	}
}

func TestTrainBadInput(t *testing.T) {
	dir := t.TempDir()
	good := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "good")
	wide := toy{classes: 48, rows: 20, dim: 7}.write(t, dir, "wide")
	nan := toy{classes: 48, rows: 20, dim: 6, spoil: func(x []float32, _ []int) { x[6*17+2] = float32(math.NaN()) }}.write(t, dir, "nan")
	few := toy{classes: 6, rows: 20, dim: 6}.write(t, dir, "few")
	thin := toy{classes: 48, rows: 5, dim: 6}.write(t, dir, "thin")
	bare := toy{classes: 48, rows: 20, dim: 6, meta: "-"}.write(t, dir, "bare")
	alike := toy{classes: 48, rows: 20, dim: 6, spoil: func(x []float32, labels []int) {
		for i, c := range labels {
			copy(x[6*i:6*i+6], []float32{float32(c), 0.1, 0.3, 0.7, -0.9, 0.1})
		}
	}}.write(t, dir, "alike")
	split := filepath.Join(dir, "split.json")
	save(t, split, []byte(`{"train": ["zebra"]}`))
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"no data", nil, []string{"--data", "required"}},
		{"missing file", []string{"--data", filepath.Join(dir, "gone.npz")}, []string{"gone.npz", "check the path"}},
		{"NaN", []string{"--data", nan}, []string{"nan.npz, row 17", "remove the row"}},
		{"dimensions differ", []string{"--data", good + "," + wide}, []string{"wide.npz", "length 7", "good.npz has 6", "one extractor"}},
		{"no split", []string{"--data", bare}, []string{"--split", "bare.npz", `no split "train"`}},
		{"no validation split", []string{"--data", bare, "--split", "all"}, []string{"--val-split", "bare.npz", `no split "val"`}},
		{"over the data", []string{"--data", good, "--log", good}, []string{"good.npz is read"}},
		{"too few classes", []string{"--data", few}, []string{"few.npz", "1 classes", "fewer classes"}},
		{"too few classes to validate", []string{"--data", good, "--val-way", "40"}, []string{"val-way 40", "good.npz", "fewer classes"}},
		{"too few rows", []string{"--data", thin}, []string{"thin.npz", "5 rows", "fewer shots"}},
		{"loss", []string{"--data", good, "--loss", "hinge"}, []string{`"hinge"`, "cross_entropy"}},
		{"range", []string{"--data", good, "--n-way", "9-5"}, []string{"n-way", "9-5"}},
		{"rate", []string{"--data", good, "--learning-rate", "-1"}, []string{"learning rate", "0 or more"}},
		{"nu", []string{"--data", good, "--nu", "4"}, []string{"nu", "from 1e-12"}},
		{"classes without spread", []string{"--data", alike}, []string{"--shared", "hardly differ within", "other data"}},
		{"first part", []string{"--data", good, "--first-part", "6"}, []string{"--first-part is 6", "below the dimension"}},
		{"validation on what is learned", []string{"--data", good, "--split", "all"}, []string{"--val-split val has the class", "--split all"}},
		{"rank", []string{"--data", good, "--rank", "-1"}, []string{"--rank is -1", "0 or more"}},
		{"power", []string{"--data", good, "--power", "-1"}, []string{"--power is -1", "from 0 to 4"}},
		{"shift", []string{"--data", good, "--shift", "-1"}, []string{"--shift is -1", "from 0 to a million"}},
		{"folds of no cross-fitting", []string{"--data", good, "--calibrate-on", "left-out", "--shared", "0", "--folds-out", filepath.Join(dir, "folds")}, []string{"--folds-out takes", "--shared above 0"}},
		{"left out", []string{"--data", good, "--calibrate-on", "both"}, []string{`"both"`, "val or left-out"}},
		{"unknown class in split file", []string{"--data", good, "--splits", split}, []string{"split.json", "zebra", "correct the name"}},
		{"preset", []string{"--data", good, "--preset", "best"}, []string{`"best"`, "shipped"}},
		{"flag", []string{"--data", good, "--epochs", "4"}, []string{"epochs", "--help"}},
		{"curve", []string{"--data", good, "--curve", "c.gif"}, []string{"c.gif", "ends in .svg"}},
		{"diverges", []string{"--data", good, "--learning-rate", "1e308", "--warm-up", "0", "--clip", "0", "--loss", "nll", "--scalar-learning-rate", "1e308"}, []string{"diverged", "smaller learning rate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := names(t, dir)
			refused(t, append(append([]string{"train", "--quiet", "--out", filepath.Join(dir, "out")}, quick...), c.args...), c.want...)
			if after := names(t, dir); after != before {
				t.Errorf("files were left: %s", after)
			}
		})
	}
}

// Cross-fitting changes the session model and nothing else, and their
// priors are written for each set that they were learned without.
func TestCrossFitting(t *testing.T) {
	dir := t.TempDir()
	world := toy{classes: 48, rows: 20, dim: 6}
	a, b, c := world.write(t, dir, "alpha"), world.write(t, dir, "beta"), world.write(t, dir, "gamma")
	families := filepath.Join(dir, "families.txt")
	save(t, families, []byte("alpha one # the first\n\nbeta two\ngamma two\n"))
	learn := func(name string, extra ...string) *model.Prior {
		out := filepath.Join(dir, name)
		mustRun(t, trainArgs(strings.Join([]string{a, b, c}, ","), out, append([]string{"--steps", "20", "--calibrate", "1", "--families", families}, extra...)...)...)
		return test.Must(model.DecodePrior(readFile(t, out)))(t)
	}
	folds := filepath.Join(dir, "folds")
	val := learn("val")
	left := learn("left out", "--calibrate-on", "left-out", "--workers", "1", "--folds-out", folds)
	if !mat.Equal(left.NIW.L, val.NIW.L) || left.NIW.Kappa != val.NIW.Kappa || left.Session.Near != val.Session.Near {
		t.Error("the prior changed")
	}
	own := learn("own", "--shared", "0", "--calibrate-on", "left-out")
	if own.Session.Shared != 0 || own.Session.Population != nil {
		t.Errorf("a covariance for each class: %+v", own.Session)
	}
	if a, b := left.Session.Population, val.Session.Population; a.LogT == b.LogT || a.CohortMean == b.CohortMean || a.LogTemperature.SD <= 0 {
		t.Errorf("the population is %+v, of validation classes %+v", a, b)
	}
	if left.Session.Near <= 0 || left.Session.Centre != 1.67 {
		t.Errorf("near %v, centre %v", left.Session.Near, left.Session.Centre)
	}
	without := func(set string) *model.Prior {
		return test.Must(model.DecodePrior(readFile(t, filepath.Join(folds, "without-"+set+".safetensors"))))(t)
	}
	alpha, beta, gamma := without("alpha"), without("beta"), without("gamma")
	if !mat.Equal(beta.NIW.L, gamma.NIW.L) || mat.Equal(alpha.NIW.L, beta.NIW.L) || mat.Equal(alpha.NIW.L, left.NIW.L) {
		t.Error("a family was not left out as a whole")
	}
	if *alpha.Session.Population == *beta.Session.Population || beta.Facts["without"] != "beta, gamma" {
		t.Errorf("without %q: %+v", beta.Facts["without"], beta.Session.Population)
	}
}

func TestAPriorNamesTheExtractorOfItsData(t *testing.T) {
	dir := t.TempDir()
	a := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "alpha")
	b := toy{classes: 48, rows: 20, dim: 6}.write(t, dir, "beta")
	told := func(data, id, sum string) {
		t.Helper()
		file := strings.TrimSuffix(data, filepath.Ext(data)) + ".json"
		var m map[string]any
		test.OK(t, json.Unmarshal(readFile(t, file), &m))
		m["extractor"], m["extractor_sha256"] = id, sum
		text, err := json.Marshal(m)
		if err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
		test.OK(t, err)
	}
	sum, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	out := filepath.Join(dir, "prior.safetensors")
	for name, c := range map[string]struct {
		sumA, sumB string
		more       []string
		want       model.Extractor
	}{
		"all tell the same":  {sum, sum, nil, model.Extractor{ID: "net@1", SHA256: sum}},
		"other files of it":  {sum, other, nil, model.Extractor{ID: "net@1"}},
		"one does not tell":  {sum, "", nil, model.Extractor{ID: "net@1"}},
		"it is said instead": {sum, sum, []string{"--extractor", "net@2"}, model.Extractor{ID: "net@2"}},
	} {
		t.Run(name, func(t *testing.T) {
			told(a, "net@1", c.sumA)
			told(b, "net@1", c.sumB)
			mustRun(t, trainArgs(a+","+b, out, append(c.more, "--steps", "2", "--validate-every", "2", "--calibrate", "0")...)...)
			p := test.Must(model.DecodePrior(readFile(t, out)))(t)
			if p.Extractor != c.want {
				t.Errorf("got %v, want %v", p.Extractor, c.want)
			}
		})
	}
}
