package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	core "metaqda/core"
	"metaqda/core/embed"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/model/modeltest"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// A plainCase is a classifier file with queries and what it answers to them.
type plainCase struct {
	File    string      `json:"file"`
	Queries [][]float32 `json:"queries"`
	want    [][]float64 // none, then each class that has examples
}

// writePlain exports a classifier of random vectors through the command.
func writePlain(t *testing.T, name string, rng *rand.Rand, d int, shots []int, prior *model.Prior, s core.Settings) plainCase {
	t.Helper()
	dir := t.TempDir()
	var under *core.Prior
	args := []string{"export", "--classifier", filepath.Join(dir, "classifier.safetensors"), "--out", filepath.Join(dir, name)}
	if prior != nil {
		file, err := model.EncodePrior(prior)
		test.OK(t, err)
		if under, err = core.DecodePrior(file); err != nil { // rounded
			t.Fatal(err)
		}
		save(t, filepath.Join(dir, "prior.safetensors"), file)
		args = append(args, "--prior", filepath.Join(dir, "prior.safetensors"))
	}
	c := test.Must(core.New(s, under))(t)
	point := func(mean []float64) []float32 {
		x := make([]float32, d)
		for i := range x {
			x[i] = float32(mean[i] + 0.4*rng.NormFloat64())
		}
		return x
	}
	p := plainCase{File: filepath.Join(dir, name)}
	for j, k := range shots {
		mean := make([]float64, d)
		for i := range mean {
			mean[i] = math.Abs(rng.NormFloat64())
		}
		label := []string{"cup", "“löffel” \"\\u003c", "__proto__", "c", "d", "e"}[j]
		if k == 0 {
			test.Must(c.AddClass(label))(t)
		}
		for range k {
			test.Must(c.Add(label, "", point(mean)))(t)
		}
		p.Queries = append(p.Queries, point(mean), point(make([]float64, d)))
	}
	file := test.Must(c.Save())(t)
	save(t, filepath.Join(dir, "classifier.safetensors"), file)
	for _, x := range p.Queries {
		probabilities := make([]float64, len(shots))
		none := test.Must(c.ProbabilitiesTo(probabilities, x))(t)
		want := []float64{none}
		for j, v := range probabilities {
			if shots[j] > 0 {
				want = append(want, v)
			}
		}
		p.want = append(p.want, want)
	}
	mustRun(t, args...)
	return p
}

// plainCases go through every part of the format.
func plainCases(t *testing.T) []plainCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(90, 1))
	shipped := test.Must(os.ReadFile("../../web/prior/default.safetensors"))(t)
	learned := test.Must(model.DecodePrior(shipped))(t)
	one := model.Session{Centre: 1.5, Shared: 1.5, Kappa: 5, Population: modeltest.Prior(9).Session.Population}
	centred := &model.Prior{NIW: niw.HandCrafted(9, 1), Session: one, Transform: embed.Transform{Kind: embed.CL2N, Power: 0.5, Centre: make([]float64, 9)}}
	for i := range 9 {
		centred.Transform.Centre[i] = 0.1 * rng.NormFloat64()
		centred.NIW.M[i] = 0.1 * rng.NormFloat64()
		for j := range i {
			centred.NIW.L.SetTri(i, j, 0.3*rng.NormFloat64())
		}
	}
	parts := *centred
	parts.Session.Parts = &lda.Parts{First: 4, Odds: -20} // another share than ½ is chosen
	d := len(learned.NIW.M)
	raw := &model.Prior{NIW: niw.HandCrafted(6, 2), Session: one, Transform: embed.Transform{Kind: embed.None, Power: 1.5}}
	return []plainCase{
		writePlain(t, "shipped", rng, d, []int{3, 0, 1, 2}, learned, core.Settings{NonePrior: 0.2}),
		writePlain(t, "one class", rng, d, []int{2}, learned, core.Settings{NonePrior: 0.5}),
		writePlain(t, "no prior", rng, 24, []int{3, 4, 30}, nil, core.Settings{NonePrior: 0.1}), // more examples than numbers
		writePlain(t, "standardised", rng, 24, []int{3, 4}, nil, core.Settings{NonePrior: 0.1, Scale: "standardise"}),
		writePlain(t, "closed", rng, 24, []int{3, 4}, nil, core.Settings{}),
		writePlain(t, "centred", rng, 9, []int{2, 12, 1}, centred, core.Settings{NonePrior: 0.2}),
		writePlain(t, "one scale matrix", rng, 9, []int{2, 3, 1}, modeltest.Prior(9), core.Settings{NonePrior: 0.2}),
		writePlain(t, "two parts", rng, 9, []int{2, 12, 1}, &parts, core.Settings{NonePrior: 0.2}),
		writePlain(t, "raw", rng, 6, []int{3, 3}, raw, core.Settings{NonePrior: 0.2}),
	}
}

// javaScript returns the program that the README of web/share has.
func javaScript(t *testing.T) string {
	t.Helper()
	readme := test.Must(os.ReadFile("../../web/share/README.md"))(t)
	_, program, ok := strings.Cut(string(readme), "```js\n")
	program, _, _ = strings.Cut(program, "```")
	if !ok {
		t.Fatal("the README has no program in JavaScript")
	}
	return program
}

// answered runs a program that reads cases and writes [none, class, ...] for each query,
// and compares.
func answered(t *testing.T, cases []plainCase, program string, command string, args ...string) {
	t.Helper()
	dir := t.TempDir()
	asked := test.Must(json.Marshal(cases))(t)
	save(t, filepath.Join(dir, "asked.json"), asked)
	save(t, filepath.Join(dir, "program"), []byte(program))
	cmd := exec.Command(command, append(args, filepath.Join(dir, "program"), filepath.Join(dir, "asked.json"))...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &complaint)
	}
	if complaint.Len() > 0 {
		t.Errorf("%s complains: %s", command, &complaint)
	}
	var got [][][]float64
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(cases) {
		t.Fatalf("%v: %.200s", err, out)
	}
	worst := 0.0
	for i, c := range cases {
		for k, want := range c.want {
			if len(got[i][k]) != len(want) {
				t.Fatalf("%s: %d probabilities, want %d", c.File, len(got[i][k]), len(want))
			}
			for j, p := range want {
				off := math.Abs(got[i][k][j] - p)
				worst = math.Max(worst, off)
				if !(off <= 1e-9) {
					t.Errorf("%s, query %d: probability %d is %v, want %v", filepath.Base(c.File), k, j, got[i][k][j], p)
				}
			}
		}
	}
	t.Logf("%s: off by at most %.1g", command, worst)
}

// The classifier itself is the oracle; the programs know nothing of it but the file.
func TestOtherProgramsAnswerAsTheClassifier(t *testing.T) {
	cases := plainCases(t)
	t.Run("JavaScript", func(t *testing.T) {
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("no Node.js here")
		}
		answered(t, cases, javaScript(t)+`
const { readFileSync } = require('node:fs');
const read = (file) => new Uint8Array(readFileSync(file));
const refused = (bytes) => load(bytes.buffer).then(() => process.exit(3), () => {});
(async () => {
  const all = [];
  for (const { file, queries } of JSON.parse(readFileSync(process.argv[2]))) {
    const c = await load(read(file).buffer);
    all.push(queries.map((x) => { const { probabilities, none } = predict(c, Float32Array.from(x)); return [none, ...c.classes.map((name) => probabilities[name])]; }));
    const bytes = read(file);
    for (let at = bytes.length - 1; at > 1000; at -= Math.ceil(bytes.length / 9)) await refused(bytes.map((v, i) => (i === at ? v ^ 4 : v)));
    await load(Uint8Array.from(Buffer.from(Buffer.from(bytes).toString('latin1').replace('"sha256":"', '"sum256":"'), 'latin1')).buffer); // as of before
  }
  console.log(JSON.stringify(all));
})();`, node)
	})
	t.Run("Python", func(t *testing.T) {
		python := withNumpy()
		if python == "" {
			t.Skip("no Python with numpy here: install python3-numpy to have this tested")
		}
		t.Setenv("PYTHONPATH", installed(t, python))
		t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
		answered(t, cases, `
import json, sys
import numpy as np, metaqda
def asked(case):
    c = metaqda.load(case['file'])
    p = c.predict_proba(np.array(case['queries'], 'f4'))
    assert len(c.classes_) == p.shape[1] and np.allclose(p.sum(1) + c.none_, 1)
    answer = np.column_stack([c.none_, p]).tolist()
    taken = c.predict(case['queries'])
    assert all((t is None) == (int(100 * n + .5) >= `+strconv.Itoa(core.NoneFrom)+`) for t, n in zip(taken, c.none_))
    raw = open(case['file'], 'rb').read()
    for at in [None, *range(len(raw) - 1, 1000, -(len(raw) // 9 + 1))]:
        with open(sys.argv[1] + '.copy', 'wb') as copy:
            copy.write(raw.replace(b'"sha256":"', b'"sum256":"') if at is None else raw[:at] + bytes([raw[at] ^ 4]) + raw[at + 1:])
        try:
            metaqda.load(sys.argv[1] + '.copy')
            assert at is None, f'took a file with byte {at} changed' # without a checksum, as of before
        except ValueError:
            assert at is not None
    for X in [[[1.0]], [[np.nan] * len(case['queries'][0])], [case['queries']]]:
        try:
            c.predict_proba(X)
            raise SystemExit('took what is no embedding')
        except ValueError:
            pass
    return answer
answers = [asked(case) for case in json.load(open(sys.argv[1], encoding='utf8'))]
try:
    metaqda.load(sys.argv[1])
    raise SystemExit('took what is no file')
except ValueError:
    print(json.dumps(answers))`, python)
	})
}

// installed returns a folder with the package that pip makes of scripts/python.
func installed(t *testing.T, python string) string {
	from, to := t.TempDir(), t.TempDir()
	test.OK(t, os.CopyFS(from, os.DirFS("../python")))
	out, err := exec.Command(python, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", "--target", to, from).CombinedOutput()
	if err != nil && (strings.Contains(string(out), "No module named pip") || strings.Contains(string(out), "No matching distribution found for setuptools")) {
		t.Log("there is no pip here, or no network for it: the package is read where it is")
		return "../python"
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}

// withNumpy returns a Python that has numpy, the system's rather than one without.
func withNumpy() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if python, err := exec.LookPath(name); err == nil && exec.Command(python, "-c", "import numpy").Run() == nil {
			return python
		}
	}
	return ""
}

func TestExportSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	c := test.Must(core.New(core.Settings{}, nil))(t)
	empty := test.Must(c.Save())(t)
	save(t, filepath.Join(dir, "empty"), empty)
	save(t, filepath.Join(dir, "no classifier"), []byte("{}"))
	named := test.Must(model.EncodeClassifier(&model.Classifier{PriorSum: strings.Repeat("a", 64),
		Classes: []model.Class{{Label: "cup", Examples: []model.Example{{Embedding: []float32{1, 2}}}}}}))(t)
	save(t, filepath.Join(dir, "named"), named)
	for _, c := range []struct{ classifier, want string }{
		{"", "no --classifier given"},
		{"nowhere", "check the path of the classifier"},
		{"no classifier", "not a usable classifier file"},
		{"empty", "no class has an example"},
		{"named", "give it by --prior"},
	} {
		args := []string{"export", "--out", filepath.Join(dir, "out")}
		if c.classifier != "" {
			args = append(args, "--classifier", filepath.Join(dir, c.classifier))
		}
		refused(t, args, c.want)
		_, err := os.Stat(filepath.Join(dir, "out"))
		if err == nil {
			t.Errorf("%q: a file was written", c.classifier)
		}
	}
}
