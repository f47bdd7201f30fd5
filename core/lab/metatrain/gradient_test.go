package metatrain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"metaqda/core/niw"
)

// randomParams returns a prior with nothing special about it.
func randomParams(rng *rand.Rand, d int) *Params {
	p := niw.HandCrafted(d, 1)
	p.Kappa, p.Nu = 0.4+rng.Float64(), float64(d)-0.5+3*rng.Float64()
	for i := range d {
		p.M[i] = 0.3 * rng.NormFloat64()
		for j := range i {
			p.L.SetTri(i, j, 0.2*rng.NormFloat64())
		}
		p.L.SetTri(i, i, 0.7+rng.Float64())
	}
	return &Params{Prior: p, Head: Head{LogT: 0.4, None: -0.5}}
}

// randomTask draws classes around random means, and with unknown queries a class
// more of queries that belongs to none.
func randomTask(rng *rand.Rand, d int, shots []int, queries int, unknown bool) *Task {
	t := &Task{Dim: d, Shots: shots}
	var support, query []float64
	classes := len(shots)
	if unknown {
		classes++
	}
	for j := range classes {
		mean := make([]float64, d)
		for i := range mean {
			mean[i] = 0.7 * rng.NormFloat64()
		}
		draw := func(dst []float64) []float64 {
			for _, m := range mean {
				dst = append(dst, m+rng.NormFloat64())
			}
			return dst
		}
		for range queries {
			query = draw(query)
			if j == len(shots) {
				t.Labels = append(t.Labels, Unknown)
			} else {
				t.Labels = append(t.Labels, j)
			}
		}
		if j == len(shots) {
			continue
		}
		for range shots[j] {
			support = draw(support)
		}
	}
	t.X = append(support, query...)
	return t
}

// flatten and unflatten give the finite differences one vector of everything.
func flatten(p *Params) []float64 {
	d := p.Prior.Dim()
	v := append([]float64{p.Prior.Kappa, p.Prior.Nu}, p.Prior.M...)
	for i := range d {
		for j := 0; j <= i; j++ {
			v = append(v, p.Prior.L.At(i, j))
		}
	}
	return append(v, p.Head.LogT, p.Head.None)
}

func unflatten(v []float64, d int) *Params {
	p := &Params{Prior: niw.HandCrafted(d, 1)}
	p.Prior.Kappa, p.Prior.Nu = v[0], v[1]
	copy(p.Prior.M, v[2:])
	v = v[2+d:]
	for i := range d {
		for j := 0; j <= i; j++ {
			p.Prior.L.SetTri(i, j, v[j])
		}
		v = v[i+1:]
	}
	p.Head = Head{v[0], v[1]}
	return p
}

func flattenGradient(g *Gradient, d int) []float64 {
	v := append([]float64{g.Kappa, g.Nu}, g.M...)
	for i := range d {
		v = append(v, g.L[i*d:i*d+i+1]...)
	}
	return append(v, g.Head.LogT, g.Head.None)
}

func TestGradientFiniteDifferences(t *testing.T) {
	shots := map[string][]int{
		"one shot": {1, 1, 1}, "uneven": {1, 4, 2}, "more examples than dimensions": {9, 8}, "one class": {3}, "a class without examples": {0, 2},
	}
	const d = 5
	for name, k := range shots {
		for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
			for _, loss := range []Loss{CrossEntropy, NLL, OpenSet} {
				t.Run(fmt.Sprint(name, " ", inf, " ", loss), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(1, 2))
					o := Objective{Inference: inf, Loss: loss, NonePrior: 0.3, PerWay: inf == niw.FB}
					p, task := randomParams(rng, d), randomTask(rng, d, k, 2, true)
					checkDifferences(t, o, p, task)
				})
			}
		}
	}
}

func checkDifferences(t *testing.T, o Objective, p *Params, task *Task) {
	t.Helper()
	d := task.Dim
	e, w, g := NewEngine(d, o), &Workspace{}, NewGradient(d)
	f := func(v []float64) float64 {
		e.Set(unflatten(v, d))
		e.forward(w, task)
		return e.lossGradient(w, task)
	}
	want := fd.Gradient(nil, f, flatten(p), &fd.Settings{Formula: fd.Central, Step: 1e-5})
	e.Set(p)
	e.Gradient(g, w, task)
	for i, got := range flattenGradient(g, d) {
		if !(math.Abs(got-want[i]) <= 2e-7*math.Max(1, math.Abs(want[i]))) {
			t.Errorf("value %d: got %.10g, finite differences %.10g", i, got, want[i])
		}
	}
}

// Blocked solves and products have edges at multiples of the block sizes.
func TestGradientAcrossBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 31, 32, 33, 64, 65, 130} {
		p := randomParams(rng, d)
		for i := range d {
			for j := range i {
				p.Prior.L.SetTri(i, j, 0.05*rng.NormFloat64())
			}
		}
		task := randomTask(rng, d, []int{3, 2, 40}, 45, false)
		o := Objective{Loss: CrossEntropy}
		e, w, g := NewEngine(d, o), &Workspace{}, NewGradient(d)
		e.Set(p)
		e.Gradient(g, w, task)
		// A directional derivative along a random direction touches every entry.
		v, dir := flatten(p), flattenGradient(g, d)
		var slope, along float64
		step := make([]float64, len(v))
		for i := range step {
			step[i] = rng.NormFloat64()
			slope += step[i] * dir[i]
		}
		loss := func(h float64) float64 {
			x := make([]float64, len(v))
			for i := range x {
				x[i] = v[i] + h*step[i]
			}
			e.Set(unflatten(x, d))
			e.forward(w, task)
			return e.lossGradient(w, task)
		}
		const h = 1e-6
		along = (loss(h) - loss(-h)) / (2 * h)
		if !(math.Abs(along-slope) <= 1e-5*math.Max(1, math.Abs(slope))) {
			t.Errorf("d=%d: slope %.10g, finite difference %.10g", d, slope, along)
		}
	}
}

// Identical examples, and examples at the prior mean, are no special case.
func TestGradientDegenerate(t *testing.T) {
	const d = 4
	for name, task := range map[string]*Task{
		"one example, one query, the same": {Dim: d, X: []float64{1, 2, 3, 4, 1, 2, 3, 4}, Shots: []int{1}, Labels: []int{0}},
		"identical examples in both classes": {Dim: d, X: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
			Shots: []int{2, 2}, Labels: []int{1}},
		"all at the prior mean": {Dim: d, X: make([]float64, 3*d), Shots: []int{1, 1}, Labels: []int{0}},
		"far away":              {Dim: d, X: []float64{1e6, 0, 0, 0, -1e6, 0, 0, 0, 1e6, 1, 0, 0}, Shots: []int{1, 1}, Labels: []int{0}},
	} {
		for _, loss := range []Loss{CrossEntropy, NLL, OpenSet} {
			e, g := NewEngine(d, Objective{Loss: loss, NonePrior: 0.2}), NewGradient(d)
			e.Set(&Params{Prior: niw.HandCrafted(d, 1)})
			l := e.Gradient(g, &Workspace{}, task)
			for _, v := range append(flattenGradient(g, d), l) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s, %v: loss %v, gradient %v", name, loss, l, g)
				}
			}
		}
	}
}
