package metaqda

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lda"
	"metaqda/core/test"
)

// joined concatenates vectors.
func joined(vectors ...[]float32) (all []float32) {
	for _, v := range vectors {
		all = append(all, v...)
	}
	return all
}

func done(t *testing.T, b *Batch) (steps int) {
	t.Helper()
	last := -1
	for {
		more, n, total, err := b.Step()
		test.OK(t, err)
		if n < last || n > total {
			t.Fatalf("%d of %d after %d", n, total, last)
		}
		if last = n; !more {
			return steps
		}
		steps++
	}
}

// Answers together are those of package lda for the same examples. Neither classifier changes
// afterwards or changes the other.
func TestTogetherIsThatOfPackageQDA(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const d = 40
	all := pictures(rng, 3, 90, d, 0.9)
	prior := learned(t, d)
	c := under(t, Settings{NonePrior: 0.2}, prior)
	want, err := lda.New(prior.file.NIW, prior.options(c.Settings()))
	test.OK(t, err)
	whole := func(x []float32) []float64 {
		y := make([]float64, d)
		for i, v := range x {
			y[i] = float64(v)
		}
		test.OK(t, prior.file.Transform.ApplyTo(y, y))
		return y
	}
	for k, label := range []string{"a", "b", "c"} {
		test.OK(t, want.AddClass(label))
		for _, x := range all[k][:2] {
			test.Must(c.Add(label, "", x))(t)
			test.OK(t, want.Add(label, whole(x)))
		}
	}
	var queries [][]float32
	rows := mat.NewDense(3*88, d, nil)
	for _, x := range all {
		for _, q := range x[2:] {
			rows.SetRow(len(queries), whole(q))
			queries = append(queries, q)
		}
	}
	file, alone := save(t, c), ask(t, c, queries[5])
	b := test.Must(c.BeginClassify(joined(queries...), d))(t)
	if _, _, _, err := b.Step(); err != nil {
		t.Fatal(err)
	}
	test.Must(c.Add("a", "", all[2][3]))(t) // after the question, which it must not change
	steps := done(t, b)
	if steps < 10 {
		t.Errorf("%d steps", steps)
	}
	test.Must(c.Undo())(t)
	answers := test.Must(want.Classify(t.Context(), rows, nil))(t)
	if !mat.EqualApprox(b.answers.Classes, answers.Classes, 1e-9) {
		t.Error("other answers than those of package lda")
	}
	if !bytes.Equal(save(t, c), file) || !slices.Equal(ask(t, c, queries[5]), alone) {
		t.Error("asking has changed the classifier")
	}
	p := b.answers.Classes.RawRowView(5)
	if slices.Equal(p, alone[:3]) {
		t.Error("nothing was borrowed")
	}
	s := test.Must(c.BeginSuggest(joined(queries...), d, 4))(t)
	done(t, s)
	suggested := test.Must(want.Suggest(t.Context(), rows, 4, nil))(t)
	if !slices.Equal(s.Suggestions, suggested.Rows) || !slices.Equal(s.Like, suggested.Like) || len(suggested.Rows) != 4 {
		t.Errorf("suggested %v, want %v", s.Suggestions, suggested)
	}
	places := make([]int, len(queries))
	for i := range places {
		places[i] = i
	}
	a := test.Must(c.BeginAlike(joined(queries...), d, places, places[:40]))(t)
	if steps := done(t, a); steps < 10 {
		t.Errorf("%d steps for what is alike", steps)
	}
	if groups := test.Must(want.Alike(t.Context(), rows, nil, places, places[:40]))(t); !reflect.DeepEqual(a.Groups, groups) || len(groups[0]) == 0 {
		t.Errorf("alike %v, want %v", a.Groups, groups)
	}
}

func TestSuggestionsNeedNothingTaught(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.2})
	b := test.Must(c.BeginSuggest([]float32{0, 1, 0, 1.1, 1, 0, 0, 0.9}, 2, 2))(t)
	done(t, b)
	if !slices.Equal(b.Suggestions, []int{0, 2}) && !slices.Equal(b.Suggestions, []int{1, 2}) && !slices.Equal(b.Suggestions, []int{3, 2}) {
		t.Errorf("suggested %v: the three and the one", b.Suggestions)
	}
	if c.Dim() != 0 {
		t.Error("asking has settled the dimension")
	}
}

func TestBatchesAreRefusedAndStopped(t *testing.T) {
	c := fresh(t, Settings{NonePrior: 0.2})
	_, err := c.BeginClassify([]float32{1, 2}, 2)
	if !errors.Is(err, lda.ErrNoExamples) {
		t.Errorf("nothing taught: %v", err)
	}
	test.Must(c.Add("a", "", []float32{1, 2}))(t)
	_, err = c.BeginClassify([]float32{1, 2, 3}, 3)
	if Code(err) != "dimension" {
		t.Errorf("another length: %v", err)
	}
	_, err = c.BeginSuggest([]float32{1, 2, 3}, 3, 1)
	if Code(err) != "dimension" {
		t.Errorf("another length: %v", err)
	}
	_, err = c.BeginClassify([]float32{1, 2, 3}, 2)
	if Code(err) != "dimension" {
		t.Errorf("one and a half vectors: %v", err)
	}
	for _, i := range []int{-1, 2, math.MaxInt / 2, math.MaxInt} {
		if err := test.Err(c.BeginAlike([]float32{1, 2, 3, 4}, 2, []int{0, 1}, []int{i})); Code(err) != "argument" {
			t.Errorf("index %d of two: %v", i, err)
		}
	}
	nan := float32(0)
	nan /= nan
	err = test.Must(c.BeginClassify([]float32{1, 2, 3, nan}, 2))(t).Finish(nil, nil)
	if Code(err) != "value" {
		t.Errorf("NaN: %v", err)
	}
	none := test.Must(c.BeginClassify(nil, 2))(t)
	if done(t, none); len(none.answers.None) != 0 {
		t.Errorf("answers to nothing: %v", none.answers)
	}
	b := test.Must(c.BeginClassify(slices.Repeat([]float32{1, 2}, 1000), 2))(t)
	more, _, _, err := b.Step()
	if !more || err != nil || b.Len() != 0 {
		t.Fatalf("%v %v, %d answers", more, err, b.Len())
	}
	b.Stop()
	more, _, _, _ = b.Step()
	if more || b.answers != nil {
		t.Error("goes on after it was stopped")
	}
}

// counting counts the arithmetic operations requested of gonum's BLAS.
type counting struct {
	blas.Float64
	n int
}

func (c *counting) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	c.n += 2 * m * n
	c.Float64.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

func (c *counting) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, to []float64, ldc int) {
	c.n += 2 * m * n * k
	c.Float64.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, to, ldc)
}

func (c *counting) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, to []float64, ldc int) {
	c.n += n * n * k
	c.Float64.Dsyrk(ul, t, n, k, alpha, a, lda, beta, to, ldc)
}

func (c *counting) Dtrsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	side := map[blas.Side]int{blas.Left: m, blas.Right: n}[s]
	c.n += m * n * side
	c.Float64.Dtrsm(s, ul, t, d, m, n, alpha, a, lda, b, ldb)
}

// Between two steps a batch does at most 16 ms of work at 6 GFLOP/s, whatever the number of
// pictures and classes. The SIMD kernels reach 10 in a browser.
func TestABatchYieldsInTime(t *testing.T) {
	const d, most = 1280, 96_000_000
	prior := test.Must(DecodePrior(test.Must(os.ReadFile("../web/prior/default.safetensors"))(t)))(t)
	before := blas64.Implementation()
	defer blas64.Use(before)
	for _, size := range []struct{ classes, shots, asked int }{{5, 20, 20}, {5, 20, 200}, {1000, 2, 1}} {
		c := under(t, Settings{NonePrior: 0.2}, prior)
		var queries []float32
		for k, class := range pictures(rand.New(rand.NewPCG(7, 1)), size.classes, size.shots+size.asked, d, 0.9) {
			for _, x := range class[:size.shots] {
				test.Must(c.Add("class "+strconv.Itoa(k), "", x))(t)
			}
			if k < 100 {
				queries = append(queries, joined(class[size.shots:]...)...)
			}
		}
		n := len(queries) / d
		count := &counting{Float64: before}
		blas64.Use(count)
		b := test.Must(c.BeginClassify(queries, d))(t)
		longest, sum, before := count.n, 0, 0
		for more := true; more; {
			count.n = 0
			var total int
			more, _, total, _ = b.Step()
			longest, sum = max(longest, count.n), sum+count.n
			if total == 1 { // the vectors are transformed
				before++
			}
		}
		if before < n/64 {
			t.Errorf("%d steps until %d vectors are transformed, want one for every 64", before, n)
		}
		if longest > most || sum < 800_000*n || b.Len() != n {
			t.Errorf("%d pictures in %d classes take %d operations, %d of them at once, want at most %d", n, size.classes, sum, longest, most)
		}
	}
}

// Groups of the same name in two classifiers stay apart; classes are merged.
func TestMergeKeepsGroupsApart(t *testing.T) {
	all := [][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}
	a, b := fresh(t, Settings{NonePrior: 0.1}), fresh(t, Settings{})
	for i, c := range []*Classifier{a, a, b, b} {
		test.Must(c.Add("x", "g", all[i]))(t)
	}
	both := test.Must(Merge(a, b))(t)
	k := both.Classes()
	if len(k) != 1 || len(k[0].Bursts) != 2 || len(k[0].Examples) != 4 || both.Settings() != a.Settings() {
		t.Errorf("%+v", k)
	}
	two := fresh(t, Settings{}) // classes that look the same come from files
	test.OK(t, two.Load([]Class{{Label: "Y", Examples: []*Example{{Group: "g", Vector: all[0]}}}, {Label: "y", Examples: []*Example{{Group: "g", Vector: all[1]}}}}, nil))
	one := fresh(t, Settings{})
	test.Must(one.AddClass("y"))(t)
	if k := test.Must(Merge(one, two))(t).Classes(); len(k) != 1 || len(k[0].Bursts) != 2 {
		t.Errorf("merged with two that look the same: %+v", k)
	}
}
