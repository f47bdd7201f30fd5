package metatrain

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/episode"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// Training on whitened rows and composing gives the densities of the whitened
// rows, but for the volume of the base.
func TestComposeUndoesTheBase(t *testing.T) {
	w := newWorld(4, 8, 10, 0.5, spread(6))
	base, ok := NewBase(6, []Labelled{{&w.domain, w.pool.Rows}}, 0.3, 2)
	if !ok {
		t.Fatal("base not positive definite")
	}
	white := base.Whiten(&w.domain, 2)
	p := randomParams(rand.New(rand.NewPCG(1, 1)), 6)
	full := base.Compose(p)
	back := relative(base, full)
	for i := range 6 {
		if !(math.Abs(back.Prior.M[i]-p.Prior.M[i]) <= 1e-9) {
			t.Errorf("m[%d] came back as %v, was %v", i, back.Prior.M[i], p.Prior.M[i])
		}
		for j := range i + 1 {
			if !(math.Abs(back.Prior.L.At(i, j)-p.Prior.L.At(i, j)) <= 1e-9) {
				t.Errorf("L[%d,%d] came back as %v, was %v", i, j, back.Prior.L.At(i, j), p.Prior.L.At(i, j))
			}
		}
	}
	e := w.source(t, smallTasks).Sampler.Episode(0)
	var a, b Task
	white.fillTo(&a, &e)
	w.domain.fillTo(&b, &e)
	inner, outer := NewEngine(6, Objective{}), NewEngine(6, Objective{})
	inner.Set(p)
	outer.Set(full)
	var wa, wb Workspace
	inner.forward(&wa, &a)
	outer.forward(&wb, &b)
	volume := (full.Prior.LogDetS() - p.Prior.LogDetS()) / 2
	for i := range wa.logp {
		if !(math.Abs(wa.logp[i]-volume-wb.logp[i]) <= 1e-3) { // rows of float32
			t.Fatalf("log density %d: %v whitened, %v composed", i, wa.logp[i]-volume, wb.logp[i])
		}
	}
}

// W of a world with known standard deviations, by the dense textbook formula.
func TestBaseIsTheShrunkWithinCovariance(t *testing.T) {
	w := newWorld(5, 5, 40, 0.5, spread(4))
	const shrink = 0.25
	base, ok := NewBase(4, []Labelled{{&w.domain, w.pool.Rows}}, shrink, 1)
	if !ok {
		t.Fatal("base not positive definite")
	}
	want := mat.NewDense(4, 4, nil)
	for _, rows := range w.pool.Rows {
		x := mat.NewDense(len(rows), 4, nil)
		for i, r := range rows {
			for c, v := range w.domain.row(r) {
				x.Set(i, c, float64(v))
			}
		}
		for c := range 4 {
			col := mat.Col(nil, c, x)
			mean := mat.Sum(x.ColView(c)) / float64(len(rows))
			for i := range col {
				x.Set(i, c, col[i]-mean)
			}
		}
		var s mat.Dense
		s.Mul(x.T(), x)
		want.Add(want, &s)
	}
	want.Scale((1-shrink)*4/mat.Trace(want), want)
	for i := range 4 {
		want.Set(i, i, want.At(i, i)+shrink)
	}
	l := mat.NewDense(4, 4, base.l.lower)
	var got mat.Dense
	got.Mul(l, l.T())
	if !mat.EqualApprox(&got, want, 1e-12) {
		t.Errorf("got %v\nwant %v", mat.Formatted(&got), mat.Formatted(want))
	}
}

// All rows alike, one row a class for the support and one for the queries: no
// class can be told from another, and nothing else happens.
func TestDegenerateWorld(t *testing.T) {
	w := &world{domain: Domain{Name: "alike", Dim: 4}}
	for c := range 6 {
		w.domain.X = append(w.domain.X, 1, 1, 1, 1, 1, 1, 1, 1)
		w.pool.Rows = append(w.pool.Rows, []int{2 * c, 2*c + 1})
	}
	base, ok := NewBase(4, []Labelled{{&w.domain, w.pool.Rows}}, 0.6, 1)
	if !ok {
		t.Fatal("no base without scatter")
	}
	w.domain = *base.Whiten(&w.domain, 1)
	c := smallConfig()
	tasks := episode.Tasks{Way: episode.Exactly(3), Shot: episode.Exactly(1), Query: episode.Exactly(1)}
	tr := test.Must(NewTrainer(4, c, w.source(t, tasks), w.validator(t, 5, episode.Fixed(3, 1, 1)), 1))(t)
	p := base.Compose(run(t, tr).Result())
	test.OK(t, p.Prior.Validate())
	v := tr.Best().Validation
	if !(math.Abs(v.Loss-math.Log(3)) <= 1e-6) {
		t.Errorf("loss %v, want ln 3", v.Loss)
	}
}

// relative is the inverse of [Base.Compose]: m' = L0⁻¹ m, L' = L0⁻¹ L.
func relative(b *Base, p *Params) *Params {
	d := b.l.d
	l0 := mat.NewTriDense(d, mat.Lower, b.l.lower)
	m, quotient, l := mat.NewVecDense(d, nil), new(mat.Dense), mat.NewTriDense(d, mat.Lower, nil)
	must(m.SolveVec(l0, mat.NewVecDense(d, p.Prior.M)))
	must(quotient.Solve(l0, p.Prior.L))
	for i := range d {
		for j := range i + 1 {
			l.SetTri(i, j, quotient.At(i, j))
		}
	}
	return &Params{Prior: &niw.Prior{M: m.RawVector().Data, Kappa: p.Prior.Kappa, L: l, Nu: p.Prior.Nu}, Head: p.Head}
}
