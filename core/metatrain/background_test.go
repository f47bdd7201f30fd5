package metatrain

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/episode"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

// With no more classes than directions nothing is lost: the background's means
// are those of the classes, and whitened its directions are orthonormal.
func TestBackgroundHoldsTheMeans(t *testing.T) {
	const d = 12
	rng := rand.New(rand.NewPCG(71, 1))
	p := randomParams(rng, d)
	dom := domainRows(rng, "a", axis(d, 0, 3), 7, 5, 2, 0.5)
	b, ok := NewBackground(p.Prior, []Labelled{dom}, 1.5)
	if !ok || b.Temperature != 1.5 {
		t.Fatalf("ok %v, %+v", ok, b)
	}
	var v, vvt mat.Dense
	if err := v.Solve(mat.DenseCopyOf(p.Prior.L), b.Directions.T()); err != nil {
		t.Fatal(err)
	}
	vvt.Mul(v.T(), &v)
	for i := range b.Rank() {
		for j := range b.Rank() {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(vvt.At(i, j)-want) > 1e-9 {
				t.Errorf("directions %d and %d: inner product %v", i, j, vvt.At(i, j))
			}
		}
	}
	var means mat.Dense
	means.Mul(b.Coordinates, v.T())
	for k, rows := range dom.Classes {
		var y, w mat.VecDense
		y.CloneFromVec(mat.NewVecDense(d, nil))
		for _, r := range rows {
			for i, v := range dom.Row(r) {
				y.SetVec(i, y.AtVec(i)+float64(v)/float64(len(rows)))
			}
		}
		y.SubVec(&y, mat.NewVecDense(d, p.Prior.M))
		if err := w.SolveVec(mat.DenseCopyOf(p.Prior.L), &y); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			if math.Abs(means.At(k, i)-w.AtVec(i)) > 1e-6 {
				t.Errorf("class %d: coordinate %d is %v, want %v", k, i, means.At(k, i), w.AtVec(i))
			}
		}
	}
}

// Of many classes at most 64 serve, in the 32 directions that keep the most of
// them: what is lost is no more than the eigenvalues left out, by gonum's
// singular value decomposition.
func TestBackgroundOfManyClasses(t *testing.T) {
	const d = 40
	rng := rand.New(rand.NewPCG(72, 1))
	prior := niw.HandCrafted(d, 1)
	a, c := domainRows(rng, "a", axis(d, 0, 3), 150, 2, 1, 0.5), domainRows(rng, "c", axis(d, 1, 3), 9, 2, 1, 0.5)
	b, ok := NewBackground(prior, []Labelled{a, c}, 1)
	if n, _ := b.Coordinates.Dims(); !ok || n != 64+9 || b.Rank() != 32 {
		t.Fatalf("ok %v, %d classes in %d directions", ok, n, b.Rank())
	}
	means := mat.NewDense(73, d, nil)
	for k := range 64 {
		classMean(means.RawRowView(k), a.Domain, a.Classes[k*150/64])
	}
	for k := range 9 {
		classMean(means.RawRowView(64+k), c.Domain, c.Classes[k])
	}
	var svd mat.SVD
	if !svd.Factorize(means, mat.SVDNone) {
		t.Fatal("no singular values")
	}
	var least, lost float64
	for _, s := range svd.Values(nil)[32:] {
		least += s * s
	}
	var back mat.Dense
	back.Mul(b.Coordinates, b.Directions)
	back.Sub(means, &back)
	lost = mat.Norm(&back, 2) * mat.Norm(&back, 2)
	if math.Abs(lost-least) > 1e-9*least {
		t.Errorf("lost %v of the squared lengths, want %v", lost, least)
	}
	if _, ok := NewBackground(prior, nil, 1); ok {
		t.Error("a background of nothing")
	}
	zero := Labelled{&Domain{Name: "zero", Dim: d, X: make([]float32, 3*d)}, [][]int{{0}, {1, 2}}}
	if _, ok := NewBackground(prior, []Labelled{zero}, 1); ok {
		t.Error("a background of classes that are all the prior's mean")
	}
}

// The scores of an episode's rows are those of its rows alone, and fitting sees
// them: what [qda.Classifier] makes of the session is the oracle.
func TestCollectWithABackground(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	const d = 6
	p, world := randomParams(rng, d), newWorld(9, 12, 10, 0.5, spread(d))
	all := Labelled{&world.domain, [][]int{{0, 1, 2}, {20, 21}, {50}}}
	b, ok := NewBackground(p.Prior, []Labelled{all}, 2)
	if !ok {
		t.Fatal("no background")
	}
	c := episode.Fixed(3, 2, 4)
	c.Strangers = 2
	v := world.validator(t, 5, c)
	scores, err := v.Collect(context.Background(), p, b, Objective{}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	cal := qda.Calibration{Known: [][]float64{{0, 0, 0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}}}
	for n, e := range scores.Evidence(&cal) {
		ep := v.episodes[0][n]
		cl, err := qda.New(p.Prior, qda.Options{NonePrior: 0.5, Calibration: cal, Background: b})
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, d)
		row := func(r int) []float64 {
			for i, v := range world.domain.Row(r) {
				x[i] = float64(v)
			}
			return x
		}
		for j, rows := range ep.Support {
			label := string(rune('a' + j))
			if err := cl.AddClass(label); err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if err := cl.Add(label, row(r)); err != nil {
					t.Fatal(err)
				}
			}
		}
		probabilities := make([]float64, 3)
		for i, r := range ep.Query {
			none, err := cl.ProbabilitiesTo(probabilities, row(r))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := e.Features[i][6], math.Log((1-none)/none); math.Abs(got-want) > 1e-6 {
				t.Errorf("episode %d, query %d: %v, the classifier has %v", n, i, got, want)
			}
		}
	}
}
