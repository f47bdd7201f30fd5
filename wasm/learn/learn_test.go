package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/session"
)

const dim = 16

// world makes classes whose means differ in the first numbers of an embedding
// and whose pictures differ in the last: what a prior can learn.
func world(classes, pictures int, seed uint64) []Class {
	rng := rand.New(rand.NewPCG(seed, 5))
	all := make([]Class, classes)
	for k := range all {
		all[k].Name = fmt.Sprint("class ", k)
		mean := make([]float64, dim)
		for i := range dim / 4 {
			mean[i] = rng.NormFloat64()
		}
		for range pictures {
			x := make([]float32, dim)
			for i := range x {
				spread := 0.3
				if i >= dim/4 {
					spread = 1.5
				}
				x[i] = float32(0.4 + mean[i] + spread*rng.NormFloat64())
			}
			all[k].Examples = append(all[k].Examples, x)
		}
	}
	return all
}

func job(steps int) Job {
	return Job{Classes: world(24, 12, 1), Steps: steps, Seed: 3, Prior: &model.Prior{NIW: niw.HandCrafted(dim, 1), Transform: embed.Transform{Kind: embed.None},
		Session: model.Session{FB: sessionOf(0.7)}, Facts: map[string]string{"name": "before"}}}
}

func newRun(t *testing.T, j Job) *Run {
	t.Helper()
	r, err := New(j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func finish(t *testing.T, r *Run) {
	t.Helper()
	for {
		p, err := r.Step(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if p.Done {
			return
		}
	}
}

// accuracy classifies new classes of the world from three pictures each.
func accuracy(t *testing.T, p *model.Prior) float64 {
	t.Helper()
	right, all := 0, 0
	for seed := range uint64(40) {
		classes := world(5, 9, 100+seed)
		c, err := qda.New(p.NIW, p.Session.Options())
		if err != nil {
			t.Fatal(err)
		}
		for k, class := range classes {
			c.AddClass(class.Name)
			for _, e := range class.Examples[:3] {
				if err := c.Add(class.Name, wide(e)); err != nil {
					t.Fatal(err)
				}
			}
			_ = k
		}
		probabilities := make([]float64, 5)
		for k, class := range classes {
			for _, e := range class.Examples[3:] {
				if _, err := c.ProbabilitiesTo(probabilities, wide(e)); err != nil {
					t.Fatal(err)
				}
				best := 0
				for i, v := range probabilities {
					if v > probabilities[best] {
						best = i
					}
				}
				all++
				if best == k {
					right++
				}
			}
		}
	}
	return float64(right) / float64(all)
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func TestLearnsWhatClassesHaveInCommon(t *testing.T) {
	j := job(300)
	r := newRun(t, j)
	finish(t, r)
	before, after := accuracy(t, j.Prior), accuracy(t, r.Prior())
	t.Logf("accuracy on new classes: %.3f before, %.3f after", before, after)
	if after < before+0.05 {
		t.Errorf("learned nothing")
	}
	if got := len(r.History()); got != validations+1 {
		t.Errorf("%d points of the curve, want %d", got, validations+1)
	}
}

func TestBeginsAtASpikedPrior(t *testing.T) {
	j := job(50)
	q := mat.NewDense(1, dim, nil)
	q.Set(0, 1, 0.6)
	q.Set(0, 3, -0.8)
	scale := make([]float64, dim)
	for i := range scale {
		scale[i] = 1 + float64(i)/10
	}
	s, err := niw.NewSpiked(scale, q, []float64{5})
	if err != nil {
		t.Fatal(err)
	}
	j.Prior.NIW.L, j.Prior.NIW.Spiked = nil, s
	r := newRun(t, j)
	if _, err := r.Step(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Prior().NIW.L, j.Prior.NIW.Dense().L; !mat.EqualApprox(got, want, 1e-14) || j.Prior.NIW.Spiked != s {
		t.Errorf("L = %v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
}

func TestBeginsAtThePriorInUse(t *testing.T) {
	j := job(50)
	j.Prior.NIW = niw.HandCrafted(dim, 2)
	for i := range dim {
		j.Prior.NIW.M[i] = float64(i) / 10
		for k := range i {
			j.Prior.NIW.L.SetTri(i, k, 0.1*float64(i-k))
		}
	}
	r := newRun(t, j)
	if _, err := r.Step(context.Background()); err != nil { // the validation of step 0
		t.Fatal(err)
	}
	got := r.Prior()
	for i := range dim {
		if math.Abs(got.NIW.M[i]-j.Prior.NIW.M[i]) > 1e-14 {
			t.Fatalf("m[%d] = %v, want %v", i, got.NIW.M[i], j.Prior.NIW.M[i])
		}
		for k := range i + 1 {
			if math.Abs(got.NIW.L.At(i, k)-j.Prior.NIW.L.At(i, k)) > 1e-14 {
				t.Fatalf("L[%d,%d] = %v, want %v", i, k, got.NIW.L.At(i, k), j.Prior.NIW.L.At(i, k))
			}
		}
	}
	if got.NIW.Kappa != j.Prior.NIW.Kappa || math.Abs(got.NIW.Nu-j.Prior.NIW.Nu) > 1e-12 || got.Session.FB.LogT[0] != 0.7 || got.Facts["name"] == "before" || j.Prior.Facts["name"] != "before" {
		t.Errorf("prior %+v", got)
	}
}

// TestComposedScoresAreThoseOfTraining compares densities under the learned
// prior with those in the coordinates of training, of which the base's
// determinant is all the difference.
func TestComposedScoresAreThoseOfTraining(t *testing.T) {
	base, learned := niw.HandCrafted(dim, 2), niw.HandCrafted(dim, 0.5)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, p := range []*niw.Prior{base, learned} {
		for i := range dim {
			p.M[i] = rng.NormFloat64()
			for k := range i {
				p.L.SetTri(i, k, 0.2*rng.NormFloat64())
			}
		}
	}
	both := compose(base, &metatrain.Params{Prior: learned})
	x, w, z1, z2 := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	base.WhitenTo(w, x)
	learned.WhitenTo(z1, w)
	both.WhitenTo(z2, x)
	for i := range z1 {
		if math.Abs(z1[i]-z2[i]) > 1e-12*(1+math.Abs(z1[i])) {
			t.Fatalf("whitened twice %v, at once %v", z1, z2)
		}
	}
	if d := both.LogDetS() - base.LogDetS() - learned.LogDetS(); math.Abs(d) > 1e-10 {
		t.Errorf("log determinants differ by %v", d)
	}
}

func TestResumesToTheSameBytes(t *testing.T) {
	whole := newRun(t, job(40))
	finish(t, whole)
	part := newRun(t, job(40))
	for range 17 {
		if _, err := part.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	resumed := newRun(t, job(40))
	if err := resumed.LoadState(part.State()); err != nil {
		t.Fatal(err)
	}
	finish(t, resumed)
	if !bytes.Equal(resumed.State(), whole.State()) {
		t.Error("a resumed run ends elsewhere")
	}
	other := job(40)
	other.Classes[3].Examples[2][1]++
	var stale *metatrain.StateError
	if err := newRun(t, other).LoadState(part.State()); !errors.As(err, &stale) {
		t.Errorf("state of other data: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	few := job(10)
	few.Classes = append(world(MinClasses-1, MinExamples, 1), world(5, MinExamples-1, 2)...)
	var little *TooLittleError
	if _, err := New(few); !errors.As(err, &little) || little.Classes != MinClasses-1 {
		t.Errorf("too few classes: %v", err)
	}
	long := job(10)
	long.Classes[0].Examples[1] = make([]float32, dim+1)
	var dimension *niw.DimensionError
	if _, err := New(long); !errors.As(err, &dimension) {
		t.Errorf("wrong length: %v", err)
	}
	bad := job(10)
	bad.Classes[2].Examples[0][3] = float32(math.Inf(1))
	var value *niw.ValueError
	if _, err := New(bad); !errors.As(err, &value) {
		t.Errorf("infinite: %v", err)
	}
	for _, steps := range []int{0, -1, MaxSteps + 1} {
		if _, err := New(job(steps)); !errors.As(err, &value) {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}

func TestLeastData(t *testing.T) {
	j := job(5)
	j.Classes = world(MinClasses, MinExamples, 9)
	r := newRun(t, j)
	finish(t, r)
	if err := r.Prior().Validate(); err != nil {
		t.Error(err)
	}
}

// BenchmarkStep is a gradient step at the extractor's dimension on a session of
// 12 classes of 10 pictures.
func BenchmarkStep(b *testing.B) {
	const d = 1280
	rng := rand.New(rand.NewPCG(1, 1))
	j := Job{Steps: MaxSteps, Prior: &model.Prior{NIW: niw.HandCrafted(d, 1), Transform: embed.Transform{Kind: embed.L2}}}
	for k := range 12 {
		c := Class{Name: fmt.Sprint(k)}
		for range 10 {
			x := make([]float32, d)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			c.Examples = append(c.Examples, x)
		}
		j.Classes = append(j.Classes, c)
	}
	r, err := New(j)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Step(context.Background()); err != nil { // the validation of step 0
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := r.Step(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// sessionOf is Bayes' rule at another temperature.
func sessionOf(logT float64) *session.Population {
	p := session.Bayes()
	p.LogT[0] = logT
	return p
}
