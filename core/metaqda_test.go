package metaqda

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/model/modeltest"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// pictures returns n vectors of each class, around the mean of that class.
func pictures(rng *rand.Rand, classes, n, d int, spread float64) [][][]float32 {
	all := make([][][]float32, classes)
	for k := range all {
		mean := make([]float64, d)
		for i := range mean {
			mean[i] = math.Abs(rng.NormFloat64())
		}
		for range n {
			x := make([]float32, d)
			for i := range x {
				x[i] = float32(mean[i] + spread*rng.NormFloat64())
			}
			all[k] = append(all[k], x)
		}
	}
	return all
}

func fresh(t *testing.T, s Settings) *Classifier {
	t.Helper()
	return test.Must(New(s, nil))(t)
}

// learned returns a prior like a learned one: with one scale matrix for the session.
func learned(t *testing.T, d int) *Prior {
	t.Helper()
	file := test.Must(model.EncodePrior(modeltest.Prior(d)))(t)
	return test.Must(DecodePrior(file))(t)
}

func under(t *testing.T, s Settings, p *Prior) *Classifier {
	t.Helper()
	return test.Must(New(s, p))(t)
}

func ask(t *testing.T, c *Classifier, x []float32) []float64 {
	t.Helper()
	p := make([]float64, c.Len())
	none := test.Must(c.ProbabilitiesTo(p, x))(t)
	return append(p, none)
}

// Undo takes back any walk of changes step by step to the same file and answers, and Redo
// repeats it. The remaining examples answer as if they alone had been added, in that order.
func TestUndoIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	all := pictures(rng, 4, 12, 20, 0.5)
	query := all[0][11]
	prior := learned(t, len(query))
	for i := range 20 {
		c := under(t, Settings{NonePrior: 0.2}, []*Prior{nil, prior}[i%2])
		test.Must(c.Add("first", "", all[0][0]))(t)
		states := [][]float64{ask(t, c, query)}
		files := [][]byte{save(t, c)}
		for range 40 {
			if change(t, rng, c, all) {
				files = append(files, save(t, c))
				states = append(states, answers(t, c, query))
			}
		}
		taught := answers(t, c, query)
		again := test.Must(Open(files[len(files)-1], prior))(t)
		for i, v := range answers(t, again, query) {
			if math.Abs(v-taught[i]) > 1e-9 {
				t.Fatalf("opened: %v, want %v", v, taught[i])
			}
		}
		for i := len(files) - 2; i >= 0; i-- {
			s, err := c.Undo()
			if s == nil || err != nil {
				t.Fatalf("%v %v", s, err)
			}
			if !bytes.Equal(save(t, c), files[i]) {
				t.Fatalf("step %d: another file", i)
			}
			got := answers(t, c, query)
			if !slices.Equal(got, states[i]) {
				t.Fatalf("step %d: %v, want %v", i, got, states[i])
			}
		}
		for i, want := range files[1:] {
			s, err := c.Redo()
			if s == nil || err != nil || !bytes.Equal(save(t, c), want) {
				t.Fatalf("step %d was not done again: %v %v", i, s, err)
			}
		}
		s, err := c.Redo()
		if s != nil || err != nil || !slices.Equal(answers(t, c, query), taught) {
			t.Fatalf("all done again: %v %v, %v for %v", s, err, answers(t, c, query), taught)
		}
	}
}

// answers returns the answers to a query, none without examples.
func answers(t *testing.T, c *Classifier, x []float32) []float64 {
	p := make([]float64, c.Len())
	none, err := c.ProbabilitiesTo(p, x)
	if errors.Is(err, lda.ErrNoExamples) {
		return nil
	}
	test.OK(t, err)
	return append(p, none)
}

func save(t *testing.T, c *Classifier) []byte {
	t.Helper()
	return test.Must(c.Save())(t)
}

// change makes a random change and reports whether it was possible.
func change(t *testing.T, rng *rand.Rand, c *Classifier, all [][][]float32) bool {
	labels := []string{"first", "second", "third", "fourth"}
	k := rng.IntN(4)
	var ids []string
	for _, x := range c.Classes() {
		for _, x := range x.Examples {
			ids = append(ids, x.ID)
		}
	}
	steps := len(c.journal.done)
	var err error
	switch n := rng.IntN(14); {
	case n >= 12 && len(ids) > 0:
		err = c.Move(ids[rng.IntN(len(ids))], labels[k])
	case n >= 11:
		err = c.MergeClasses(labels[k], labels[rng.IntN(4)])
	case n >= 10:
		_, err = c.AddAll(slices.Repeat(labels[k:k+1], 3), []Example{{Vector: all[k][0]}, {Group: "g", Vector: all[k][1]}, {Vector: all[k][2]}})
	case n < 5:
		_, err = c.Add(labels[k], []string{"", "", "g", "h"}[rng.IntN(4)], all[k][rng.IntN(11)])
	case n < 8:
		if len(ids) == 0 {
			return false
		}
		err = c.Remove(ids[rng.IntN(len(ids))])
	case n < 9:
		err = c.RemoveClass(labels[k])
	default:
		if rng.IntN(2) == 0 {
			_, err = c.AddClass(labels[k])
		} else {
			err = c.RenameClass(labels[k], labels[rng.IntN(4)]+"!")
		}
	}
	var label *lda.LabelError
	if err != nil && !errors.As(err, &label) && Code(err) != "class" {
		t.Fatalf("%v", err)
	}
	return err == nil && len(c.journal.done) > steps
}

// A near-copy without a group may stand apart from its burst, which has one first example.
func TestFirstsOfBursts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	all := pictures(rng, 2, 6, 12, 0.3)
	c := fresh(t, Settings{NonePrior: 0.2})
	for _, x := range [][]float32{all[0][0], all[0][1], all[0][0], all[1][0]} {
		test.Must(c.Add("a", "", x))(t)
	}
	for _, x := range [][]float32{all[0][2], all[0][3]} {
		test.Must(c.Add("b", "walk", x))(t)
	}
	test.Must(c.Add("b", "", all[1][3]))(t)
	_ = ask(t, c, all[1][1])
	for i, want := range [][]int{{0, 1, 3}, {0, 2}} {
		k := c.Classes()[i]
		if got := c.Firsts(k.ID); !slices.Equal(got, want) || len(k.Bursts) != len(want) {
			t.Errorf("firsts of %s are %v, want %v; sizes %v", k.Label, got, want, k.Bursts)
		}
	}
	if got := c.Firsts("gone"); got != nil {
		t.Errorf("firsts of no class are %v", got)
	}
}

// A group counts as one example, its mean, wherever its frames were added.
func TestGroupIsOneExample(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	all := pictures(rng, 2, 6, 12, 0.3)
	s := Settings{NonePrior: 0.2}
	c := fresh(t, s)
	var ids []string
	for i, x := range all[0][:3] {
		id := test.Must(c.Add("a", "walk", x))(t)
		ids = append(ids, id)
		test.Must(c.Add("b", "", all[1][i]))(t)
	}
	k := c.Classes()[0]
	if len(k.Bursts) != 1 || len(k.Examples) != 3 {
		t.Errorf("%d examples count as %d", len(k.Examples), len(k.Bursts))
	}
	test.OK(t, c.Remove(ids[1]))
	test.OK(t, c.Remove(ids[2]))
	one := fresh(t, s)
	for i := range 3 {
		if i == 0 {
			test.Must(one.Add("a", "", all[0][0]))(t)
		}
		test.Must(one.Add("b", "", all[1][i]))(t)
	}
	got, want := ask(t, c, all[0][5]), ask(t, one, all[0][5])
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Files hold UTF-8 alone. So groups that differ in other bytes are one from the start, however they
// were added.
func TestSavedGroupsAreThoseOfBefore(t *testing.T) {
	groups := []string{"\xff", "\xfe", "é", "\ufffd", "a\x80", ""}
	one, bulk := fresh(t, Settings{}), fresh(t, Settings{})
	b := test.Must(bulk.BeginAdd(len(groups), len(groups)))(t)
	for i, g := range groups {
		x := make([]float32, len(groups))
		x[i] = 1
		test.Must(one.Add("a", g, x))(t)
		test.OK(t, b.Take(x))
		test.OK(t, b.Label([]string{"a"}, []string{g}))
	}
	_, _, err := b.End(func() bool { return true })
	test.OK(t, err)
	for _, c := range []*Classifier{one, bulk} {
		c.Prepare(func() bool { return true })
		opened := test.Must(Open(test.Must(c.Save())(t)))(t)
		if got, want := opened.Bursts(), c.Bursts(); !slices.Equal(got, want) || want[0] != 4 {
			t.Errorf("%v bursts are %v once saved, want 4", want, got)
		}
	}
}

// The default prior does roughly what its documentation says, for any length of vectors. On
// classes some way apart it is right, about as sure as it is right, and rejects out-of-set
// vectors.
func TestDefaultPriorServesAnyDimension(t *testing.T) {
	for _, d := range []int{64, 512, 2048} {
		rng := rand.New(rand.NewPCG(3, uint64(d)))
		lift := pictures(rng, 1, 24, d, 1)[0] // classes differ in 24 directions at every length
		right, sure, asked := 0, 0.0, 0
		var told float64 // how often none is more probable for an out-of-set vector than for a known one, in one session
		for range 15 {
			all := pictures(rng, 6, 6, len(lift), 0.3)
			for _, x := range all {
				for i, v := range x {
					x[i] = lifted(lift, v)
				}
			}
			c := fresh(t, Settings{NonePrior: 0.5})
			for k, x := range all[:5] {
				for _, v := range x[:3] {
					test.Must(c.Add(string(rune('a'+k)), "", v))(t)
				}
			}
			var known []float64
			for k, x := range all {
				for _, v := range x[3:] {
					p := ask(t, c, v)
					none := p[5]
					if k == 5 {
						told += float64(sort.SearchFloat64s(known, none)) / 15 / 45
						continue
					}
					best := slices.Index(p, slices.Max(p[:5]))
					asked++
					known = append(known, none)
					sure += p[best] / (1 - none)
					if best == k {
						right++
					}
				}
				slices.Sort(known)
			}
		}
		accuracy, confidence := float64(right)/float64(asked), sure/float64(asked)
		if accuracy < 0.9 || math.Abs(accuracy-confidence) > 0.25 || told < 0.85 {
			t.Errorf("d = %d: right %.2f, sure %.2f, AUROC %.2f", d, accuracy, confidence, told)
		}
	}
}

// lifted returns Σ_i v_i lift_i.
func lifted(lift [][]float32, v []float32) []float32 {
	x := make([]float32, len(lift[0]))
	for i, row := range lift {
		for j, w := range row {
			x[j] += v[i] * w
		}
	}
	return x
}

func TestPredictionsAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	all := pictures(rng, 5, 6, 64, 0.3)
	c := fresh(t, Settings{NonePrior: 0.2})
	for k, x := range all {
		for _, v := range x[:5] {
			test.Must(c.Add(string(rune('a'+k)), "", v))(t)
		}
	}
	spiked := modeltest.Prior(64)
	spiked.NIW, _, _ = niw.Spike(spiked.NIW, 8)
	file := test.Must(model.EncodePrior(spiked))(t)
	open := func(prior *Prior) *Classifier { return test.Must(OpenUnder(save(t, c), prior))(t) }
	p := make([]float64, 5)
	for _, c := range []*Classifier{c, open(learned(t, 64)), open(test.Must(DecodePrior(file))(t))} {
		n := testing.AllocsPerRun(100, func() { _, _ = c.ProbabilitiesTo(p, all[1][5]) })
		if n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestErrorsHaveCodes(t *testing.T) {
	c := fresh(t, Settings{})
	for code, call := range map[string]func() error{
		"dimension": func() error { return test.Err(c.Add("a", "", nil)) },
		"label":     func() error { return test.Err(c.AddClass("\t")) },
		"example":   func() error { return c.Remove("7") },
		"empty":     func() error { return test.Err(c.ProbabilitiesTo(nil, []float32{1})) },
		"value":     func() error { return c.Configure(Settings{NonePrior: 1}) },
		"format":    func() error { return test.Err(Open([]byte("x"))) },
		"extractor": func() error {
			test.OK(t, c.Identify(model.Extractor{ID: "a"}))
			return c.Identify(model.Extractor{ID: "b"})
		},
		"argument": func() error { return test.Err(Merge(c, nil)) },
		"prior": func() error {
			file := test.Must(model.EncodeClassifier(&model.Classifier{PriorSum: "a", Settings: model.Settings{NonePrior: 0.2, Sort: "probability"}}))(t)
			return test.Err(Open(file, nil))
		},
		"failed": func() error { return errors.New("x") },
	} {
		if err := call(); err == nil || Code(err) != code {
			t.Errorf("%v has the code %q, want %q", err, Code(err), code)
		} else if wrapped := fmt.Errorf("a file: %w", err); Code(wrapped) != code {
			t.Errorf("%v has the code %q, want %q", wrapped, Code(wrapped), code)
		}
	}
}

// A refused first vector neither settles the dimension nor clears the undo history.
func TestWhatIsRefusedChangesNothing(t *testing.T) {
	c := fresh(t, Settings{})
	test.OK(t, test.Err(c.AddClass("a")))
	for _, x := range []struct {
		label  string
		vector []float32
	}{{"a", []float32{1, float32(math.NaN())}}, {"\t", []float32{1, 2}}, {"b", nil}} {
		_, err := c.Add(x.label, "", x.vector)
		if err == nil {
			t.Errorf("%q %v was taken", x.label, x.vector)
		}
		if c.Dim() != 0 || c.Len() != 1 {
			t.Errorf("after %q %v: %d numbers, %d classes", x.label, x.vector, c.Dim(), c.Len())
		}
	}
	ids, err := c.AddAll(nil, nil)
	if ids != nil || err != nil || c.Len() != 1 {
		t.Errorf("no examples give %v, %v and %d classes", ids, err, c.Len())
	}
	undone, err := c.Undo()
	if undone == nil || err != nil || c.Len() != 0 {
		t.Errorf("the class was not taken back: %v, %v", undone, err)
	}
}

// Additions that a file cannot hold are refused, and every classifier can be saved.
func TestNothingIsTaughtThatCannotBeSaved(t *testing.T) {
	c := fresh(t, Settings{})
	for i := range model.MaxClasses - 1 {
		test.OK(t, test.Err(c.AddClass(strconv.Itoa(i))))
	}
	for i := range model.MaxExamples - 1 {
		test.Must(c.Add(strconv.Itoa(i%1000), "", []float32{1, float32(i)}))(t)
	}
	long := strings.Repeat("a", model.MaxLabel)
	for _, label := range []string{long + "a", " ", "a\n\x01b", "none of THESE"} {
		_, err := c.Add(label, "", []float32{1, 2})
		if Code(err) != "label" {
			t.Errorf("the label %q: %v", label, err)
		}
	}
	test.Must(c.Add(long, "", []float32{1, 2}))(t)
	_, more := c.Add("0", "", []float32{1, 2})
	for what, err := range map[string]error{"a class": test.Err(c.AddClass("b")), "an example": more} {
		if Code(err) != "limit" {
			t.Errorf("%s too many: %v", what, err)
		}
	}
	_, err := c.Save()
	if err != nil || c.Len() != model.MaxClasses {
		t.Errorf("%d classes, %v", c.Len(), err)
	}
	other := fresh(t, Settings{})
	test.Must(other.Add("b", "", []float32{1, 2}))(t)
	_, err = Merge(c, other)
	if Code(err) != "limit" {
		t.Errorf("merged: %v", err)
	}
}

// Otherwise thumbnails would fill the memory of a program that refuses calls in time.
func TestThumbnailsCountAsMemory(t *testing.T) {
	c, asked := fresh(t, Settings{}), 0
	c.Reserve = func(bytes int) error { asked += bytes; return nil }
	picture := make([]byte, 1<<20)
	test.Must(c.AddAll([]string{"a"}, []Example{{Vector: []float32{1, 2}, Thumbnail: picture}}))(t)
	if asked < len(picture) {
		t.Errorf("asked for %d bytes, want at least %d", asked, len(picture))
	}
	full := &Error{Code: "memory", Message: "The memory is full."}
	c.Reserve = func(int) error { return full }
	for what, err := range map[string]error{
		"an example": test.Err(c.Add("a", "", []float32{2, 1})), "two": test.Err(c.AddAll([]string{"a", "b"}, []Example{{Vector: []float32{2, 1}}, {Vector: []float32{1, 1}}})),
		"a bulk": test.Err(c.BeginAdd(1, 2)), "a clone": test.Err(c.Clone()), "many": test.Err(c.Classify(nil, [][]float32{{1, 2}}, nil)),
		"left out": test.Err(c.LeaveOneOut(nil, nil)), "loaded": c.Load([]Class{{Label: "c", Examples: []*Example{{Vector: []float32{1, 2}}}}}, nil),
	} {
		if err != full || c.Count() != 1 {
			t.Errorf("%s: %v, %d examples", what, err, c.Count())
		}
	}
}

// The zero Classifier equals a new one, and a nil prior equals the default prior.
func TestZeroClassifierAndDefaultPrior(t *testing.T) {
	prior := test.Must(Default(3))(t)
	own := test.Must(New(Settings{}, prior))(t)
	var files [][]byte
	var answers [][]float64
	for _, c := range []*Classifier{new(Classifier), fresh(t, Settings{}), own} {
		for i, x := range [][]float32{{1, 0, 0}, {0, 1, 0}} {
			test.Must(c.Add(string(rune('a'+i)), "", x))(t)
		}
		files, answers = append(files, save(t, c)), append(answers, ask(t, c, []float32{2, 1, 0}))
	}
	for i := range files {
		if !bytes.Equal(files[i], files[0]) || !slices.Equal(answers[i], answers[0]) {
			t.Errorf("classifier %d has another file or another answer, %v for %v", i, answers[i], answers[0])
		}
	}
}

// Extractors of one name differ if their files are known to differ.
func TestExtractorsOfOneNameAndOtherFiles(t *testing.T) {
	made := func(sha256 string) *Classifier {
		c := test.Must(New(Settings{}, nil))(t)
		test.OK(t, c.Identify(model.Extractor{ID: "a", SHA256: sha256}))
		test.Must(c.Add("x", "", []float32{1, 2}))(t)
		return c
	}
	one := made("11")
	test.OK(t, one.Identify(model.Extractor{ID: "a"}))
	err := one.Identify(model.Extractor{ID: "a", SHA256: "22"})
	if Code(err) != "extractor" {
		t.Errorf("other files, after the same name without them: %v", err)
	}
	prior := test.Must(Default(2))(t)
	prior.file.Extractor = model.Extractor{ID: "a", SHA256: "11"}
	varied := test.Must(New(Settings{}, prior))(t)
	test.OK(t, varied.Identify(model.Extractor{ID: "a/b", SHA256: "22"})) // a prior serves variants
	test.Must(varied.Add("x", "", []float32{1, 2}))(t)
	err = varied.Identify(model.Extractor{ID: "a", SHA256: "11"})
	if Code(err) != "extractor" {
		t.Errorf("examples of a variant: %v", err)
	}
	for _, of := range []string{"b", "a", "a/b"} {
		x := made("11")
		x.Extractor.ID = of
		_, err = OpenUnder(save(t, x), prior)
		if other := of == "b"; other != (Code(err) == "extractor") || other && !(strings.Contains(err.Error(), `"a"`) && strings.Contains(err.Error(), `"b"`)) || !other && err != nil {
			t.Errorf("examples of %s under a prior of a: %v", of, err)
		}
	}
	one.Extractor = model.Extractor{}
	unnamed := test.Must(OpenUnder(save(t, one), prior))(t)
	if err := unnamed.Identify(model.Extractor{ID: "b"}); Code(err) != "extractor" {
		t.Errorf("the extractor b under a prior of a: %v", err)
	}
	one = made("11")
	_, err = Merge(one, made("22"))
	if Code(err) != "extractor" {
		t.Errorf("merged with other files: %v", err)
	}
	_, err = Merge(one, made(""))
	if err != nil {
		t.Errorf("merged with files that are not known: %v", err)
	}
}

func TestPercentIsHonestAtTheEnds(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0 %", 1e-300: "< 1 %", 0.00499: "< 1 %", 0.005: "1 %", 0.83: "83 %",
		0.9949: "99 %", 0.995: "> 99 %", 1 - 1e-16: "> 99 %", 1: "100 %",
	} {
		got := Percent(p)
		if got != want {
			t.Errorf("Percent(%v) = %q, want %q", p, got, want)
		}
	}
}
