package recipe

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/episode"
	"metaqda/core/model"
	"metaqda/core/test"
)

// quick takes a moment.
func quick() Recipe {
	r := Default()
	r.Config.Steps, r.Config.ValidateEvery = 10, 5
	r.Tasks.Way, r.Tasks.Shot = episode.Range{Min: 3, Max: 5}, episode.Range{Min: 1, Max: 4}
	r.Validation.Way, r.Validation.Tasks, r.Calibration.Sessions = 4, 6, 1
	return r
}

func sets(names ...string) (sets []*dataset.Set) {
	for _, name := range names {
		sets = append(sets, datasettest.Gaussians{Classes: 24, Rows: 20, Dim: 4}.Set(name))
	}
	return sets
}

// learn runs a recipe to the end and returns the bytes of its priors.
func learn(t *testing.T, r Recipe, train, val []*dataset.Set) (prior []byte, folds map[string][]byte, notes []string) {
	t.Helper()
	run := test.Must(New(r, train, val))(t)
	run.Note = func(text string) { notes = append(notes, text) }
	test.OK(t, run.Trainer.Run(t.Context(), nil))
	p := test.Must(run.Prior(t.Context()))(t)
	left := test.Must(run.Folds(p))(t)
	folds = map[string][]byte{}
	for _, f := range left {
		folds[strings.Join(f.Held, ",")] = encode(t, f.Prior)
	}
	return encode(t, p), folds, notes
}

func encode(t *testing.T, p *model.Prior) []byte {
	t.Helper()
	return test.Must(model.EncodePrior(p))(t)
}

// A prior with a covariance of its own for each class is for the paper's densities. Near-copies are no
// part of these, and neither is a mean of the session.
func TestThePapersModelHasNoSession(t *testing.T) {
	for _, name := range []string{"conv4", "plain", "plain-map", "many-rows", "deep", "deep-map"} {
		r := test.Must(Preset(name))(t)
		r.Config.Steps, r.Validation.Tasks, r.Validation.Way, r.Tasks.Way = 0, 1, 3, episode.Exactly(3)
		r.Validation.Shots, r.Tasks.Shot = []int{1}, episode.Exactly(1)
		run := test.Must(New(r, sets("alpha"), nil))(t)
		if p := test.Must(run.Prior(t.Context()))(t); p.Session != (model.Session{}) {
			t.Errorf("%s: %+v", name, p.Session)
		}
	}
}

// Cross-fitting holds out whole families, and its bytes depend on no number of
// workers.
func TestCrossFittingHoldsOutFamilies(t *testing.T) {
	r := quick()
	r.Calibration.On, r.Workers, r.Validation.Tasks = CrossFitting, 1, 0
	r.Calibration.Families = Families{"alpha": "one", "beta": "two", "gamma": "two"}
	prior, folds, notes := learn(t, r, sets("alpha", "beta", "gamma"), nil)
	got := slices.Sorted(maps.Keys(folds))
	if !slices.Equal(got, []string{"alpha", "beta,gamma"}) {
		t.Fatalf("folds %v", got)
	}
	text := strings.Join(notes, "; ")
	if !strings.Contains(text, "cross-fitting 1 of 2: learning without beta, gamma") {
		t.Errorf("notes %s", text)
	}
	alone := r
	alone.Calibration.On, alone.Calibration.Sessions = OnValidation, 0
	only, _, _ := learn(t, alone, sets("beta", "gamma"), nil)
	a := test.Must(model.DecodePrior(folds["alpha"]))(t)
	b := test.Must(model.DecodePrior(only))(t)
	if a.NIW.Kappa != b.NIW.Kappa || !slices.Equal(a.NIW.M, b.NIW.M) || !slices.Equal(a.DataMean, b.DataMean) {
		t.Error("the fold without alpha is not what is learned of the others alone")
	}
	r.Workers = 3
	again, others, _ := learn(t, r, sets("alpha", "beta", "gamma"), nil)
	if !bytes.Equal(prior, again) || !bytes.Equal(folds["alpha"], others["alpha"]) {
		t.Error("another number of workers, other bytes")
	}
}

func TestWhatCannotBeLearned(t *testing.T) {
	r := quick()
	r.Calibration.On, r.Validation.Tasks = CrossFitting, 0
	run := test.Must(New(r, sets("alpha"), nil))(t)
	test.OK(t, run.Trainer.Run(t.Context(), nil))
	_, err := run.Prior(t.Context())
	if err == nil || !strings.Contains(err.Error(), "two families") {
		t.Errorf("one family: %v", err)
	}
	_, err = New(quick(), nil, nil)
	if err == nil {
		t.Error("no data set is no error")
	}
	wide := datasettest.Gaussians{Classes: 48, Rows: 20, Dim: 7}.Set("wide")
	var file *dataset.FileError
	_, err = New(quick(), sets("alpha"), []*dataset.Set{wide})
	if !errors.As(err, &file) || file.File != "wide" {
		t.Errorf("two dimensions: %v", err)
	}
}

func TestRecipesAreValid(t *testing.T) {
	for _, p := range presets {
		r, err := Preset(p.name)
		if err == nil {
			err = r.Validate()
		}
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
	_, err := Preset("best")
	if err == nil || !strings.Contains(err.Error(), "shipped") {
		t.Errorf("a preset that is not there: %v", err)
	}
}

// Whole families are dealt out, the largest first.
func TestFoldsOfFamilies(t *testing.T) {
	var sets []*dataset.Set
	f := Families{}
	for i, name := range strings.Fields("p1 p2 p3 h1 h2 a b c") {
		sets = append(sets, &dataset.Set{Name: name})
		if i < 5 {
			f[name] = name[:1]
		}
	}
	var got []string
	for _, fold := range foldsOf(sets, f, 3) {
		got = append(got, strings.Join(setNames(fold), ", "))
	}
	s := strings.Join(got, "; ")
	if s != "p1, p2, p3; h1, h2, c; a, b" {
		t.Errorf("folds %s", s)
	}
	n := len(foldsOf(sets, nil, 20))
	if n != 8 {
		t.Errorf("%d folds of eight families", n)
	}
}

func TestFamiliesAreChecked(t *testing.T) {
	for text, say := range map[string]string{"a": "line 1", "a b c": "line 1", "\n\na": "line 3"} {
		if _, err := ParseFamilies("families", []byte(text)); err == nil || !strings.Contains(err.Error(), "families, "+say) {
			t.Errorf("%q: %v", text, err)
		}
	}
	f, err := ParseFamilies("families", []byte("alpha one # the first\n\nbeta two\n"))
	if err != nil || fmt.Sprint(f) != "map[alpha:one beta:two]" {
		t.Errorf("%v, %v", f, err)
	}
}

// The rows of a split are numbered anew; each keeps its group.
func TestTrainingKeepsGroups(t *testing.T) {
	s := datasettest.Gaussians{Classes: 12, Rows: 8, Dim: 3, Burst: 4}.Set("bursts")
	var c coordinates
	c.transform.Kind = embed.None
	_, pool, err := c.domain(s, "test", 2, sha256.New())
	test.OK(t, err)
	classes, _ := s.Split("test")
	for k, rows := range pool.Rows {
		for i, row := range rows {
			want := s.Groups[s.ClassRows(classes[k])[i]]
			if pool.Groups[row] != want {
				t.Errorf("row %d of class %d is of group %d, want %d", i, k, pool.Groups[row], want)
			}
		}
	}
}
