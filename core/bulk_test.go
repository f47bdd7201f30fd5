package metaqda

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"metaqda/core/model"
	"metaqda/core/test"
)

// many returns n examples of three classes in turn; every fifth has a group.
func many(n int) (labels []string, examples []Example) {
	for i := range n {
		x := Example{Vector: []float32{float32(i%3) + 0.01*float32(i), 1 - 0.02*float32(i%7), float32(i % 11)}}
		if i%5 == 0 {
			x.Group = fmt.Sprint("g", i%2)
		}
		labels, examples = append(labels, string(rune('a'+i%3))), append(examples, x)
	}
	return labels, examples
}

// When many examples come, go and come back at once, each class reports its bursts once. The
// result equals that of single changes.
func TestManyExamplesAreOneChangeOfBursts(t *testing.T) {
	labels, examples := many(300)
	c, one := new(Classifier), new(Classifier)
	for i, x := range examples {
		test.Must(one.Add(labels[i], x.Group, x.Vector))(t)
	}
	want := test.Must(one.Predict(examples[7].Vector))(t)
	bursts := 0
	c.Changed = func(what Change) {
		if what.Do == PutBurst || what.Do == PutBursts {
			bursts++
		}
	}
	same := func(what string) {
		t.Helper()
		got := test.Must(c.Predict(examples[7].Vector))(t)
		if !slices.Equal(got.Probabilities, want.Probabilities) || got.None != want.None {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		if bursts > 3 {
			t.Errorf("%s tells bursts %d times", what, bursts)
		}
		bursts = 0
	}
	test.Must(c.Add("a", "g0", []float32{1, 2, 3}))(t) // the first of its group
	test.Must(c.AddAll(labels, examples))(t)
	bursts = 0
	test.Must(c.Undo())(t)
	if c.Count() != 1 || c.Len() != 1 {
		t.Errorf("%d examples of %d classes are left", c.Count(), c.Len())
	}
	test.Must(c.Undo())(t)
	bursts = 0
	test.Must(c.AddAll(labels, examples))(t)
	same("adding")
	test.Must(c.Undo())(t)
	test.Must(c.Redo())(t)
	if bursts > 6 {
		t.Errorf("undo and redo tell bursts %d times", bursts)
	}
	bursts = 0
	same("redoing")
}

// Examples stand in the order in which they were given, however their labels were written.
func TestExamplesOfLabelsThatLookTheSameStayInOrder(t *testing.T) {
	c := fresh(t, Settings{})
	test.Must(c.Add("Cup", "", []float32{1, 2}))(t)
	ids := test.Must(c.AddAll([]string{"cup", "CUP", "cup", "Cup", "CUP"}, slices.Repeat([]Example{{Vector: []float32{2, 1}}}, 5)))(t)
	for i, x := range c.Classes()[0].Examples[1:] {
		if x.ID != ids[i] || x.Order != float64(i+2) {
			t.Errorf("at %d stands %q of order %v, want %q", i, x.ID, x.Order, ids[i])
		}
	}
}

// Too many examples, or an impossible one, are refused before anything changes.
func TestManyExamplesAreCheckedFirst(t *testing.T) {
	labels, examples := many(model.MaxExamples + 1)
	c, ids := new(Classifier), 0
	test.Must(c.Add("a", "", []float32{1, 2, 3}))(t)
	c.NewID = func() string { ids++; return fmt.Sprint("id", ids) }
	c.Changed = func(what Change) { t.Fatalf("%s was done", what.Do) }
	refused := func(code string, labels []string, examples []Example) {
		t.Helper()
		_, err := c.AddAll(labels, examples)
		if Code(err) != code {
			t.Errorf("%v, want the code %s", err, code)
		}
		if ids > 2 {
			t.Errorf("%d ids were given", ids)
		} // at most those of new classes
	}
	refused("limit", labels[1:], examples[1:])
	labels, examples = labels[:7001], examples[:7001]
	refused("argument", labels[1:], examples)
	examples[7000].Vector = []float32{1, 2}
	refused("dimension", labels, examples)
	labels[7000] = "\t"
	ids = 0
	refused("label", labels, examples)
	_, err := c.AddAll(labels[6999:7000], examples[7000:])
	if Code(err) != "dimension" {
		t.Errorf("%v", err)
	}
}

// Names that look the same become one new class, as with single additions.
func TestManyExamplesOfOneNewClass(t *testing.T) {
	c := new(Classifier)
	x := Example{Vector: []float32{1, 2}}
	test.Must(c.AddAll([]string{"cup", " CUP ", "mug"}, []Example{x, x, x}))(t)
	if !slices.Equal(c.Labels(), []string{"cup", "mug"}) {
		t.Errorf("%v", c.Labels())
	}
	for i := range model.MaxClasses {
		labels := []string{"one", "two", fmt.Sprint(i)}
		if _, err := c.AddAll(labels, []Example{x, x, x}); err != nil {
			if Code(err) != "limit" || c.Len() != model.MaxClasses {
				t.Errorf("%v with %d classes", err, c.Len())
			}
			return
		}
	}
	t.Fatal("there is no end of classes")
}

func BenchmarkAddAll(b *testing.B) {
	labels, examples := many(20_000)
	for range b.N {
		test.Must(new(Classifier).AddAll(labels, examples))(b)
	}
}

// The cost of leaving one out, in predictions: 100 classes of two.
func BenchmarkLeaveOneOut(b *testing.B) {
	c := new(Classifier)
	var vectors [][]float32
	for i := range 200 {
		x := make([]float32, 64)
		for j := range x {
			x[j] = float32(math.Sin(float64((i%100+1)*(j+1))) + math.Sin(float64(i*i+j*j))/2)
		}
		vectors = append(vectors, x)
		test.Must(c.Add(fmt.Sprint(i%100), "", x))(b)
	}
	b.Run("predict each", func(b *testing.B) {
		for range b.N {
			for _, x := range vectors {
				test.Must(c.Predict(x))(b)
			}
		}
	})
	b.Run("leave out", func(b *testing.B) {
		for range b.N {
			test.Must(c.LeaveOneOut(nil, nil))(b)
		}
	})
}

// The first examples settle the length of vectors, whatever the scale and whether a default prior was given.
func TestManyExamplesSettleTheLength(t *testing.T) {
	rows := tableOf(6)
	labels := []string{"a", "b", "c", "a", "b", "c"}
	settings := Settings{Scale: "standardise"}
	want := fresh(t, settings)
	bulk(t, want, labels, "", rows, func() {})
	for _, d := range []int{len(rows[0]), 2} {
		c := under(t, settings, test.Must(Default(d))(t))
		bulk(t, c, labels, "", rows, func() {})
		if c.Dim() != len(rows[0]) {
			t.Fatalf("a default prior for %d numbers: vectors have %d, want %d", d, c.Dim(), len(rows[0]))
		}
		if a, b := ask(t, c, rows[0]), ask(t, want, rows[0]); !slices.Equal(a, b) {
			t.Errorf("a default prior for %d numbers: probabilities %v, want %v", d, a, b)
		}
	}
}

// Vectors in pieces are checked as they come, and not taken once all is added.
func TestWhatIsNoWholeVectorIsRefused(t *testing.T) {
	c := fresh(t, Settings{})
	b := test.Must(c.BeginAdd(2, 3))(t)
	if err := b.Take(make([]float32, 5)); Code(err) != "dimension" {
		t.Errorf("five numbers: %v", err)
	}
	b = test.Must(c.BeginAdd(1, 3))(t)
	test.OK(t, b.Take([]float32{1, 2, 3}))
	test.OK(t, b.Label([]string{"a"}, []string{""}))
	if _, done, err := b.End(func() bool { return true }); !done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}
	for what, err := range map[string]error{"a vector": b.Take([]float32{1, 2, 3}), "a label": b.Label([]string{"a"}, []string{""})} {
		if Code(err) != "argument" {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
}

// Labels in errors are cut between letters.
func TestALongLabelIsCutBetweenLetters(t *testing.T) {
	for _, err := range []error{
		test.Err(fresh(t, Settings{}).AddClass(strings.Repeat("猫", model.MaxLabel+1))),
		fresh(t, Settings{}).RemoveClass(strings.Repeat("猫", model.MaxLabel)),
	} {
		if Code(err) != "label" || !strings.Contains(err.Error(), strings.Repeat("猫", model.MaxLabel)+"\"") {
			t.Errorf("%v", err)
		}
	}
}

// Adding, merging and undoing cost about the same for each example, however many there are.
func TestManyGroupsCostNoMore(t *testing.T) {
	took := func(n int) (least time.Duration) {
		labels, examples := slices.Repeat([]string{"a"}, n), make([]Example, n)
		for i := range examples {
			examples[i] = Example{Group: fmt.Sprint(i), Vector: []float32{float32(i), 1}}
		}
		for range 2 {
			c := test.Must(New(Settings{}, nil))(t)
			c.Lazy = true
			test.Must(c.AddClass("b"))(t)
			start := time.Now()
			test.Must(c.AddAll(labels, examples))(t)
			test.OK(t, c.MergeClasses("a", "b"))
			test.Must(c.Undo())(t)
			if d := time.Since(start); least == 0 || d < least {
				least = d
			}
		}
		return least
	}
	few, many := took(1250), took(20000)
	if many > 60*few && many > 4*time.Second { // 16 times as many; it took 150 times as long, and 8 s
		t.Errorf("1250 examples take %v, 20000 take %v", few, many)
	}
}
