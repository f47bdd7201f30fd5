package metaqda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"

	"metaqda/core/model"
	"metaqda/core/session"
	"metaqda/core/test"
)

// tableOf returns rows of three classes in turn. Columns have different units; one is constant.
func tableOf(n int) (rows [][]float32) {
	r := rand.New(rand.NewPCG(40, 1))
	unit := []float64{1, 1000, 1e-4, 30, 7}
	for i := range n {
		x := make([]float32, len(unit)+1)
		for j, u := range unit {
			x[j] = float32(u * (5 + 2*math.Sin(float64((i%3)*(j+1))) + 0.5*r.NormFloat64()))
		}
		x[len(unit)] = 42
		rows = append(rows, x)
	}
	return rows
}

// tailsOff returns the function that takes the tails off columns without negative numbers, or leaves
// them as they are.
func tailsOff(rows [][]float32) func(column int, x float32) float64 {
	means := make([]float64, len(rows[0]))
	for _, row := range rows {
		for j, x := range row {
			if x < 0 {
				return func(_ int, x float32) float64 { return float64(x) }
			}
			means[j] += float64(x) / float64(len(rows))
		}
	}
	return func(j int, x float32) float64 { return math.Pow(float64(x)/means[j]+0.5, 0.25) }
}

// deviations are those of the columns of rows, by the model of [shrunk], moved toward those within the
// three classes that the first rows take turns in.
func deviations(rows [][]float32, taught int) (means, deviations []float64) {
	var ratios []float64
	value, bulk := tailsOff(rows), make([]float64, len(rows[0])) // bulk is M^a
	for j := range rows[0] {
		column := make([]float64, len(rows))
		for i := range rows {
			column[i] = value(j, rows[i][j])
			bulk[j] += math.Pow(float64(rows[i][j]), 2) / float64(len(rows))
		}
		bulk[j] = math.Pow(bulk[j], 0.15/2)
		mean, sd := stat.PopMeanStdDev(column, nil)
		if means, deviations = append(means, mean), append(deviations, sd); sd > 0 {
			ratios = append(ratios, 2*math.Log(sd/math.Hypot(mean, sd)*bulk[j]))
		}
	}
	noise := mathext.Zeta(2, float64(len(rows)-1)/2) // ψ'(x) = ζ(2, x)
	b, spread := stat.PopMeanVariance(ratios, nil)
	weight := noise / (noise + math.Max(0.25, spread-noise)) // of what the size of a column says
	for j, sd := range deviations {
		if sd > 0 {
			deviations[j] = math.Pow(sd, 1-weight) * math.Pow(math.Hypot(means[j], sd)/bulk[j]*math.Exp(b/2), weight)
		}
	}
	within, logs := make([]float64, len(means)), 0.0
	for j, sd := range deviations {
		for class := range 3 {
			var column []float64
			for i := class; i < taught; i += 3 {
				column = append(column, value(j, rows[i][j]))
			}
			within[j] += stat.Variance(column, nil) / 3
		}
		if sd > 0 {
			logs += math.Log(within[j] / (sd * sd))
		}
	}
	n := float64(taught - 3)
	for j, sd := range deviations {
		deviations[j] = math.Sqrt((20*sd*sd + n*within[j]/math.Exp(logs/float64(len(ratios)))) / (20 + n))
	}
	return means, deviations
}

// The oracle is a classifier without a scale and without near-copies that is given standardised
// numbers, and √d beside d of them that vary.
func TestStandardisedAnswersAreThoseOfStandardisedNumbers(t *testing.T) {
	below := tableOf(24)
	for _, row := range below {
		row[0] -= 5
	}
	t.Run("sizes", func(t *testing.T) { standardisedAnswers(t, tableOf(24)) })
	t.Run("negative numbers", func(t *testing.T) { standardisedAnswers(t, below) })
}

func standardisedAnswers(t *testing.T, rows [][]float32) {
	taught, asked := rows[:12], rows[12:]
	scaled := func(of [][]float32, x []float32) []float32 {
		var y []float32
		means, deviations := deviations(of, len(taught))
		value := tailsOff(of)
		for j := range x {
			if deviations[j] > 1e-9 {
				y = append(y, float32((value(j, x[j])-means[j])/deviations[j]))
			}
		}
		return append(y, float32(math.Sqrt(float64(len(y)))))
	}
	teach := func(s Settings, p *Prior, rows [][]float32) *Classifier {
		c := test.Must(New(s, p))(t)
		for i, x := range rows {
			test.Must(c.Add(string(rune('a'+i%3)), "", x))(t)
		}
		return c
	}
	s := Settings{NonePrior: 0.2, Scale: "standardise"}
	compare := func(what string, c *Classifier, of [][]float32) {
		t.Helper()
		var plain [][]float32
		for _, x := range of {
			plain = append(plain, scaled(of, x))
		}
		file := test.Must(DefaultFile(len(plain[0])))(t)
		file.Session.Near = 0
		file.Session.Population.LogT = -1.66 - math.Log(3./2)/2 // three classes alike
		file.Session.Population.LogTemperature = session.LogTemperature{SD: 1.2, Weight: 0.3}
		want := teach(Settings{NonePrior: 0.2}, &Prior{file: file}, plain)
		for _, x := range asked {
			got, err := c.Predict(x)
			expect, err2 := want.Predict(scaled(of, x))
			if err != nil || err2 != nil {
				t.Fatalf("%v %v", err, err2)
			}
			for j, p := range append(got.Probabilities, got.None) {
				w := append(expect.Probabilities, expect.None)[j]
				if math.Abs(p-w) > 1e-5 {
					t.Errorf("%s: probability %d is %v, want %v", what, j, p, w)
				}
			}
		}
		all, batch := slices.Concat(of, asked), [][]float32{} // rows that are judged together tell the columns, too
		plain = nil
		for _, x := range of {
			plain = append(plain, scaled(all, x))
		}
		for _, x := range asked {
			batch = append(batch, scaled(all, x))
		}
		want = teach(Settings{NonePrior: 0.2}, &Prior{file: file}, plain)
		got, err := c.Classify(t.Context(), asked, nil)
		expect, err2 := want.Classify(nil, batch, nil) // a nil context never ends
		if err != nil || err2 != nil {
			t.Fatalf("%v %v", err, err2)
		}
		for i := range got {
			if math.Abs(got[i].None-expect[i].None) > 1e-5 {
				t.Errorf("%s: none of batch row %d is %v, want %v", what, i, got[i].None, expect[i].None)
			}
		}
	}
	c := teach(s, nil, taught)
	compare("taught", c, taught)
	if c.moved {
		t.Error("an answer leaves the columns to be standardised again")
	}
	test.OK(t, c.Remove(c.Classes()[0].Examples[0].ID))
	test.Must(c.Undo())(t)
	compare("removed and undone", c, taught)
	file := test.Must(c.Save())(t)
	opened, err := Open(file)
	if err != nil || opened.Settings() != s {
		t.Fatalf("opened with %v, %v", opened.Settings(), err)
	}
	compare("opened", opened, taught)
}

// Three classes on a line differ in length alone, or in direction by chance.
func TestStandardisedRowsKeepTheirLengths(t *testing.T) {
	for d := 1; d <= 3; d++ {
		r := rand.New(rand.NewPCG(42, uint64(d)))
		row := func(class int) []float32 {
			x := make([]float32, d)
			for j := range x {
				x[j] = float32(100 + 20*float64(class) + r.NormFloat64())
			}
			return x
		}
		c := test.Must(New(Settings{Scale: "standardise"}, nil))(t)
		for i := range 15 {
			test.Must(c.Add(string(rune('a'+i%3)), "", row(i%3)))(t)
		}
		right := 0
		for i := range 60 {
			if test.Must(c.Predict(row(i%3)))(t).Label == string(rune('a'+i%3)) {
				right++
			}
		}
		if right < 58 {
			t.Errorf("of %d columns %d rows of 60 are recognised", d, right)
		}
	}
	if c := test.Must(New(Settings{Scale: "standardise"}, nil))(t); test.Err(c.Add("a", "", make([]float32, model.MaxDimension))) != nil {
		t.Error("the longest row cannot be standardised")
	}
}

func TestScalesThatCannotBe(t *testing.T) {
	learned := &Prior{sum: "a"}
	learned.file, _ = DefaultFile(6)
	one := test.Must(New(Settings{Scale: "standardise"}, nil))(t)
	for what, do := range map[string]func() error{
		"another word":    func() error { return test.Err(New(Settings{Scale: "whiten"}, nil)) },
		"a learned prior": func() error { return test.Err(New(Settings{Scale: "standardise"}, learned)) },
		"set later":       func() error { return one.Configure(Settings{}) },
		"a file's, under a learned prior": func() error {
			return test.Err(OpenUnder(test.Must(one.Save())(t), learned))
		},
		"prior later": func() error {
			return errors.Join(test.Err(one.Add("a", "", tableOf(1)[0])), one.ReplacePrior(learned))
		},
	} {
		err := do()
		if test.Refused[*Error](t, err, "%s", what).Code != "value" {
			t.Errorf("%s: %v", what, err)
		}
	}
	// One example, or two equal ones, have no deviation: the answer must have no NaN.
	for range 2 {
		a, err := one.Predict(tableOf(2)[1])
		if err != nil || math.IsNaN(a.None) || math.IsNaN(a.Probabilities[0]) {
			t.Errorf("%v, %v", a, err)
		}
		test.Must(one.Add("a", "", tableOf(1)[0]))(t)
	}
}

// One number that is not finite spoils the deviations of all rows. It is still the one that is named.
func TestARowThatCannotBeStandardisedIsNamed(t *testing.T) {
	rows := tableOf(8)
	empty, taught := test.Must(New(Settings{Scale: "standardise"}, nil))(t), test.Must(New(Settings{Scale: "standardise"}, nil))(t)
	for i, x := range rows[:4] {
		test.Must(taught.Add(string(rune('a'+i%2)), "", x))(t)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		rows[6][2] = float32(v)
		for what, err := range map[string]error{
			"suggest":         test.Err(empty.Suggest(nil, rows, 1, nil)),
			"suggest, taught": test.Err(taught.Suggest(nil, rows, 1, nil)),
			"classify":        test.Err(taught.Classify(nil, rows, nil)),
		} {
			if Code(err) != "value" || !strings.Contains(err.Error(), "Vector 6 of the batch: embedding[2]") {
				t.Errorf("%s with %v: %v", what, v, err)
			}
		}
	}
}

// Copies of a row in one group change no answer: the deviations count them once, too.
func TestStandardisingCountsAGroupOnce(t *testing.T) {
	rows := [][]float32{{1, 200, 3}, {4, 100, 2}, {0, 150, 9}}
	answer := func(copies int) []float64 {
		c := test.Must(New(Settings{Scale: "standardise"}, nil))(t)
		for j, x := range rows {
			group := ""
			if j == 0 {
				group = "burst"
			}
			test.Must(c.Add(string(rune('a'+j)), group, x))(t)
		}
		for range copies {
			test.Must(c.Add("a", "burst", rows[0]))(t)
		}
		return test.Must(c.Predict([]float32{2, 170, 4}))(t).Probabilities
	}
	want := answer(0)
	for i, p := range answer(10) {
		if math.Abs(p-want[i]) > 1e-9 {
			t.Errorf("class %d: %v with ten copies, %v without", i, p, want[i])
		}
	}
}

// Ten near-copies of an example, without a group and without a learned prior, do not weaken its
// class: it is answered as often as with one.
func TestNearCopiesDoNotStarveTheirClass(t *testing.T) {
	const d, way = 64, 5
	r := rand.New(rand.NewPCG(41, 1))
	around := func(centre []float32, sd float64) []float32 {
		x := make([]float32, d)
		for i := range x {
			x[i] = float32(sd * r.NormFloat64())
			if centre != nil {
				x[i] += centre[i]
			}
		}
		return x
	}
	answered := [2]int{}
	for range 40 {
		once, many := test.Must(New(Settings{}, nil))(t), test.Must(New(Settings{}, nil))(t)
		var centres [][]float32
		for j := range way {
			centres = append(centres, around(nil, 1))
			x := around(centres[j], 1)
			label := string(rune('a' + j))
			for _, c := range []*Classifier{once, many} {
				test.Must(c.Add(label, "", x))(t)
			}
			for copies := 0; j == 0 && copies < 9; copies++ {
				test.Must(many.Add(label, "", around(x, 0.1)))(t)
			}
		}
		for _, centre := range centres {
			x := around(centre, 1)
			for i, c := range []*Classifier{once, many} {
				if test.Must(c.Predict(x))(t).Label == "a" {
					answered[i]++
				}
			}
		}
	}
	if once, many := answered[0], answered[1]; many < once*9/10 || many > once*11/10 {
		t.Errorf("its class is answered %d times of 200 with nine copies, %d times without", many, once)
	}
}

// Rows of a table count one by one, however alike, unless they are of a group.
func TestRowsOfATableAreNoNearCopies(t *testing.T) {
	for scale, want := range map[string]int{"": 1, "standardise": 2} {
		c := test.Must(New(Settings{NonePrior: 0.2, Scale: scale}, nil))(t)
		for i, row := range [][]float32{{1, 0, 0, 1}, {1, 0, 0, 1.001}, {0, 9, 1, 0}, {0, 1, 9, 0}} {
			test.Must(c.Add(string("aabb"[i]), "", row))(t)
		}
		_ = ask(t, c, []float32{1, 0, 0, 1})
		bursts := c.Classes()[0].Bursts
		if len(bursts) != want {
			t.Errorf("scale %q: two rows alike are %v, want %d bursts", scale, bursts, want)
		}
	}
	c := test.Must(New(Settings{Scale: "standardise"}, nil))(t)
	for i, row := range [][]float32{{1, 0}, {2, 5}, {0, 9}} {
		test.Must(c.Add(string("aab"[i]), []string{"g", "g", ""}[i], row))(t)
	}
	_ = ask(t, c, []float32{1, 0})
	bursts := c.Classes()[0].Bursts
	if len(bursts) != 1 {
		t.Errorf("a group is %v, want one burst", bursts)
	}
}

func TestRowsOfATableAreFoundWithoutAScale(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	points := [][]float32{{1, 1}, {1.2, 0.9}, {5, 5}, {5.1, 4.8}}
	embeddings := make([][]float32, 40)
	for i := range embeddings {
		for range 64 {
			embeddings[i] = append(embeddings[i], float32(math.Abs(r.NormFloat64())))
		}
	}
	words := make([][]float32, len(embeddings))
	for i, x := range embeddings {
		for _, v := range x {
			words[i] = append(words[i], v*float32(1+i%9))
		}
	}
	outlier := slices.Clone(embeddings)
	outlier[7] = make([]float32, 64)
	outlier[7][3] = 1e6
	relu := make([][]float32, 5) // a few pictures of one class: most columns are nearly always zero
	for i := range relu {
		for j := range 1280 {
			relu[i] = append(relu[i], float32(math.Exp(float64(j%7-5))*math.Abs(r.NormFloat64())))
		}
	}
	for n, want := range map[int]bool{1: false, 2: true, 10: true, 11: false, 20: false} {
		squares := slices.Repeat([]float64{1}, n)
		squares[0] = 9
		if got := differ(squares, 2); got != want {
			t.Errorf("one of %d is three times the others: %v", n, got)
		}
	}
	for _, c := range []struct {
		what string
		rows [][]float32
		want bool
	}{
		{"columns of different units", tableOf(12), true},
		{"points on a line through zero", points, true},
		{"points near each other", points[:2], false},
		{"one point", points[:1], false},
		{"embeddings", embeddings, false},
		{"embeddings of nearly the same picture", relu, false},
		{"word vectors of different lengths", words, false},
		{"embeddings and one row that is far away", outlier, false},
	} {
		for _, s := range []string{"", model.Standardise} {
			k := test.Must(New(Settings{NonePrior: 0.2, Scale: s}, nil))(t)
			for i, x := range c.rows {
				test.Must(k.Add(string(rune('a'+i%3)), "", x))(t)
			}
			if got := k.Unscaled(); got != (c.want && s == "") {
				t.Errorf("%s, scale %q: Unscaled() = %v", c.what, s, got)
			}
		}
	}
}

// Another prior, or the former one again, leaves columns standardised.
func TestAnotherPriorLeavesColumnsStandardised(t *testing.T) {
	rows := tableOf(24)
	c := fresh(t, Settings{Scale: "standardise"})
	for i, x := range rows[:12] {
		test.Must(c.Add(string(rune('a'+i%3)), "", x))(t)
	}
	want := ask(t, c, rows[20])
	test.OK(t, c.SetPrior(test.Must(Default(len(rows[0])))(t)))
	if got := ask(t, c, rows[20]); !slices.Equal(got, want) {
		t.Errorf("another prior: %v, want %v", got, want)
	}
	test.Must(c.Add("a", "", rows[13]))(t)
	test.Must(c.Undo())(t)
	test.Must(c.Undo())(t)
	if got := ask(t, c, rows[20]); !slices.Equal(got, want) {
		t.Errorf("the former prior: %v, want %v", got, want)
	}
}

// Without an example the columns have the scale of the others, so it has no say in its own answer. A
// group is left out as a whole.
func TestLeavingOutStandardisesAnew(t *testing.T) {
	for n := 2; n <= 20; n++ {
		rows := tableOf(n + 3)
		teach := func(skip int) *Classifier {
			c := test.Must(New(Settings{NonePrior: 0.2, Scale: model.Standardise}, nil))(t)
			for i, x := range rows[:n] {
				if i != skip {
					test.Must(c.Add(string(rune('a'+i%3)), "", x))(t)
				}
			}
			return c
		}
		all := test.Must(teach(-1).LeaveOneOut(nil, nil))(t)
		place := 0
		for class := range min(3, n) {
			for i := class; i < n; i += 3 {
				got, want := all[place], test.Must(teach(i).Predict(rows[i]))(t)
				if place++; !(math.Abs(got.None-want.None) < 1e-9) {
					t.Fatalf("example %d of %d left out: none %.12f, want that of teaching anew %.12f", i, n, got.None, want.None)
				}
			}
		}
	}
	rows := tableOf(12)
	rows[3] = rows[0] // two frames of one thing
	teach := func(frames bool) *Classifier {
		c := test.Must(New(Settings{Scale: model.Standardise}, nil))(t)
		for i, x := range rows {
			label := string(rune('a' + i%3))
			if i < 3 {
				test.Must(c.AddClass(label))(t)
			}
			switch {
			case i != 0 && i != 3:
				test.Must(c.Add(label, "", x))(t)
			case frames:
				test.Must(c.Add(label, "frames", x))(t)
			}
		}
		return c
	}
	left, want := test.Must(teach(true).LeaveOut(0))(t), test.Must(teach(false).Predict(rows[0]))(t)
	if len(left.Examples) != 2 || math.Abs(left.Probabilities[0]-want.Probabilities[0]) > 1e-9 {
		t.Errorf("%d frames left out together have p %.12f of their class, want that of teaching without them %.12f", len(left.Examples), left.Probabilities[0], want.Probabilities[0])
	}
}

// Many examples are standardised anew in pieces, and what changes between two of them counts.
func TestStandardisedExamplesAreEnrolledInPieces(t *testing.T) {
	rows := tableOf(460)
	labels, examples, query := make([]string, len(rows)), make([]Example, len(rows)), rows[0]
	for i, x := range rows {
		labels[i], examples[i].Vector = string(rune('a'+i%3)), x
	}
	teach := func(n int) (*Classifier, []string) {
		c := test.Must(New(Settings{NonePrior: 0.2, Scale: model.Standardise}, nil))(t)
		return c, test.Must(c.AddAll(labels[:n], examples[:n]))(t)
	}
	piece := func(c *Classifier) bool { // does one piece
		asked := 0
		return c.Prepare(func() bool { asked++; return asked == 1 })
	}
	whole, _ := teach(len(rows))
	want := test.Must(whole.Predict(query))(t)
	c, ids := teach(len(rows))
	for n := 1; !piece(c); n++ {
		if behind := n < len(rows)/enrolledRows; behind && !c.behind {
			t.Fatalf("all examples are standardised after %d pieces", n)
		}
	}
	if got := test.Must(c.Predict(query))(t); !slices.Equal(got.Probabilities, want.Probabilities) || got.None != want.None {
		t.Errorf("in pieces the answer is %v, at once %v", got, want)
	}
	test.OK(t, c.Remove(ids[len(ids)-1]))
	if piece(c) {
		t.Fatal("one piece is all")
	}
	test.OK(t, c.Remove(ids[len(ids)-2])) // between two pieces
	fewer, _ := teach(len(rows) - 2)
	got, want := test.Must(c.Predict(query))(t), test.Must(fewer.Predict(query))(t)
	for i, p := range want.Probabilities {
		if math.Abs(got.Probabilities[i]-p) > 1e-9 {
			t.Errorf("p of class %d is %.12f after two removals, %.12f without those examples", i, got.Probabilities[i], p)
		}
	}
}

// After many examples came at once, a batch is answered at once, and so after a rename.
func TestABatchIsAskedAfterManyStandardisedExamples(t *testing.T) {
	rows := tableOf(601)
	labels, examples := make([]string, 600), make([]Example, 600)
	for i := range labels {
		labels[i], examples[i].Vector = string(rune('a'+i%3)), rows[i]
	}
	c := test.Must(New(Settings{Scale: model.Standardise}, nil))(t)
	test.Must(c.AddAll(labels, examples))(t)
	want := test.Must(c.Classify(nil, rows[599:], nil))(t)
	test.Must(c.Predict(rows[0]))(t)
	known := c.lda
	test.OK(t, c.RenameClass("a", "z"))
	if test.Must(c.Predict(rows[0]))(t); c.lda != known {
		t.Error("a rename teaches all examples anew")
	}
	if got := test.Must(c.Classify(nil, rows[599:], nil))(t); math.Abs(got[1].None-want[1].None) > 1e-9 {
		t.Errorf("none is %v, at first %v", got[1].None, want[1].None)
	}
}

func TestAConstantColumnOfGroupsDoesNotVary(t *testing.T) {
	c := test.Must(New(Settings{Scale: model.Standardise}, nil))(t)
	r := rand.New(rand.NewPCG(41, 1))
	for g := range 12 {
		x := []float32{float32(100 + 10*r.NormFloat64()), float32(5 + r.NormFloat64()), -0.97017115}
		for range 25 {
			test.Must(c.Add(string(rune('a'+g%2)), string(rune('A'+g)), x))(t)
		}
	}
	test.Must(c.Predict([]float32{100, 5, -0.97}))(t)
	if scale := c.prior.file.Transform.Scale; scale[2] != 0 || !(scale[0] > 0) {
		t.Errorf("the scale is %v, that of the constant column must be 0", scale)
	}
}

// Among few examples of a table most columns may be constant, as the pixels at the edge of pictures.
func TestConstantColumnsHaveNoEffect(t *testing.T) {
	rows := tableOf(24)
	answer := func(constant int) (p []float64) {
		c := test.Must(New(Settings{NonePrior: 0.2, Scale: "standardise"}, nil))(t)
		with := func(x []float32) []float32 { return append(slices.Clone(x), make([]float32, constant)...) }
		for i, x := range rows[:12] {
			test.Must(c.Add(string(rune('a'+i%3)), "", with(x)))(t)
		}
		for i, x := range rows[12:] {
			p = append(p, test.Must(c.Predict(with(x)))(t).Probabilities[i%3])
		}
		return p
	}
	alone, beside := answer(0), answer(1000)
	for i, p := range beside {
		if math.Abs(p-alone[i]) > 1e-9 {
			t.Errorf("row %d: the right class has %v beside a thousand constants, %v without them", i, p, alone[i])
		}
	}
}
