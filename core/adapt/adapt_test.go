package adapt

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
	"metaqda/core/test"
)

const dim = 24

// plain is a prior that knows no direction from another.
func plain() *model.Prior {
	return &model.Prior{NIW: niw.HandCrafted(dim, 0.7), Transform: embed.Transform{Kind: embed.None},
		Session: model.Session{Near: 1e-3, Centre: 1.67, Shared: 0.1, Kappa: 5, Population: &session.Population{LogT: 0.5,
			LogTemperature: session.LogTemperature{SD: 0.3, Weight: 0.5}, CohortMean: session.CohortMean{SD: 1, Count: 2}, CohortDeviation: session.CohortDeviation{SD: 1, Count: 10},
			Known: session.Known{Threshold: session.Normal{Mean: 0.5, SD: 0.5}, Slope: session.Normal{SD: 0.3}, Weight: 0.3}}}}
}

// world draws classes. Their pictures vary most in the last two thirds of the numbers, by width.
// Their means differ in the first third.
func world(seed uint64, classes, pictures int, width float64) Session {
	r := rand.New(rand.NewPCG(seed, 3))
	s := make(Session, classes)
	for c := range s {
		mean := make([]float64, dim)
		for i := range dim / 3 {
			mean[i] = 2 * r.NormFloat64()
		}
		for range pictures {
			x := make([]float32, dim)
			for i := range x {
				spread := 0.7
				if i >= dim/3 {
					spread = width
				}
				x[i] = float32(mean[i] + spread*r.NormFloat64())
			}
			s[c] = append(s[c], x)
		}
	}
	return s
}

// learn learns a prior whether it pays or not.
func learn(t *testing.T, p *model.Prior, sessions ...Session) *Learned {
	t.Helper()
	l, prior, err := try(t.Context(), p, sessions)
	test.OK(t, err)
	l.Prior = prior()
	return l
}

// emoji is 19 concepts, drawn in six styles each, with the prior of pictures.
func emoji(t *testing.T) (*model.Prior, Session) {
	t.Helper()
	set := test.Must(dataset.Load("../../testdata/dataset/emoji.npz"))(t)
	s := make(Session, len(set.Classes))
	for i, y := range set.Labels {
		s[y] = append(s[y], set.Row(i))
	}
	return test.Must(model.DecodePrior(test.Must(os.ReadFile("../../web/prior/default.safetensors"))(t)))(t), s
}

func TestItIsOfferedWhereItPaysAndOnlyThere(t *testing.T) {
	p, s := emoji(t)
	l := test.Must(Learn(t.Context(), p, []Session{s}))(t)
	if l.Prior == nil || l.After.Accuracy < l.Before.Accuracy+0.01 || l.After.Unknown < l.Before.Unknown || l.Classes != 19 {
		t.Errorf("drawings: %+v", l)
	}
	for what, s := range map[string]Session{"nothing is to be learned": world(1, 12, 8, 0.7), "unknown things are told worse": world(36, 6, 4, 1.7)} {
		l := test.Must(Learn(t.Context(), plain(), []Session{s}))(t)
		if l.Prior != nil {
			t.Errorf("%s: %+v", what, l)
		}
	}
	worse := learn(t, plain(), world(36, 6, 4, 1.7))
	if worse.After.Accuracy < worse.Before.Accuracy || worse.After.Unknown > worse.Before.Unknown {
		t.Errorf("known things are told better, unknown ones worse: %+v", worse)
	}
}

func TestOfFourClassesOneIsUnknown(t *testing.T) {
	few := make([]Session, 21)
	for i := range few {
		few[i] = world(uint64(i), 2, 12, 3)
	}
	for _, s := range [][]Session{{world(2, 4, 4, 3)}, append(few, world(2, 4, 4, 3))} { // also after more examples than are measured
		l := learn(t, plain(), s...)
		for _, m := range []Measured{l.Before, l.After} {
			if !(m.Unknown > 0 && m.Unknown < 1 && m.Loss > 0 && m.Accuracy > 0) {
				t.Errorf("%d sessions: %+v", len(s), m)
			}
		}
	}
}

func TestItPaysWhereClassesVaryAlike(t *testing.T) {
	l := learn(t, plain(), world(1, 12, 8, 4), world(2, 6, 5, 4), world(3, 1, 9, 4))
	if l.After.Accuracy < l.Before.Accuracy+0.05 || l.After.Loss > l.Before.Loss-0.05 || l.Classes != 19 {
		t.Fatalf("%+v", l)
	}
	fresh := world(9, 12, 8, 4)
	m := measurement{prior: plain(), dim: dim}
	seen := func(p *model.Prior) Measured {
		var classes []*mat.Dense
		for _, c := range fresh {
			x := mat.NewDense(len(c), dim, nil)
			for i, e := range c {
				for j, v := range e {
					x.Set(i, j, float64(v))
				}
			}
			classes = append(classes, x)
		}
		samples := test.Must(m.ask(context.Background(), p.NIW, classes, 1))(t)
		return judge(p.Session.Population, samples, 0)
	}
	a, b := seen(plain()), seen(l.Prior)
	if b.Accuracy < a.Accuracy+0.05 || b.Loss > a.Loss-0.05 {
		t.Errorf("classes never seen: %+v before, %+v after", a, b)
	}
}

// The oracle forms S + w RᵀR and m_s at size d, in the coordinates of the embeddings.
func TestWhatIsLearnedIsWhatASessionOfAllClassesHas(t *testing.T) {
	p := plain()
	for i := range dim {
		p.NIW.M[i] = 0.1 * float64(i%5)
		for j := range i {
			p.NIW.L.SetTri(i, j, 0.02*float64((i*j)%7))
		}
	}
	s := world(4, 6, 5, 3)
	l := learn(t, p, s)
	var want, got mat.SymDense
	want.SymOuterK(1, p.NIW.L)
	got.SymOuterK(1, l.Prior.NIW.L)
	mean, total := make([]float64, dim), p.Session.Centre
	for _, c := range s {
		m := make([]float64, dim)
		for _, x := range c {
			for i, v := range x {
				m[i] += float64(v) / float64(len(c))
			}
		}
		for _, x := range c {
			r := mat.NewVecDense(dim, nil)
			for i, v := range x {
				r.SetVec(i, float64(v)-m[i])
			}
			want.SymRankOne(&want, p.Session.Shared, r)
		}
		a := 5 * float64(len(c)) / (5 + float64(len(c)))
		total += a
		for i := range m {
			mean[i] += a * (m[i] - p.NIW.M[i])
		}
	}
	scale := got.At(0, 0) / want.At(0, 0)
	for i := range dim {
		v := p.NIW.M[i] + mean[i]/total
		if math.Abs(v-l.Prior.NIW.M[i]) > 1e-9 {
			t.Errorf("m[%d] is %v, want %v", i, l.Prior.NIW.M[i], v)
		}
		for j := range i + 1 {
			if math.Abs(got.At(i, j)-scale*want.At(i, j)) > 1e-9 {
				t.Errorf("S[%d,%d] is %v, want %v", i, j, got.At(i, j), scale*want.At(i, j))
			}
		}
	}
}

func TestFramesOfABurstCountOnce(t *testing.T) {
	once, often := world(6, 8, 6, 4), make(Session, 8)
	for c, class := range once {
		for _, x := range class {
			often[c] = append(often[c], x, slices.Clone(x), slices.Clone(x))
		}
	}
	a, b := learn(t, plain(), once), learn(t, plain(), often)
	if !mat.EqualApprox(a.Prior.NIW.L, b.Prior.NIW.L, 1e-9) {
		t.Errorf("%+v once, %+v often", a, b)
	}
}

func TestTheSameComesOfTheSame(t *testing.T) {
	var files [2][]byte
	for i := range files {
		var err error
		files[i], err = model.EncodePrior(learn(t, plain(), world(6, 8, 6, 4)).Prior)
		test.OK(t, err)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two files of the same pictures differ")
	}
}

func TestWhatCannotBeLearnedFromIsRefused(t *testing.T) {
	for _, s := range [][]Session{nil, {world(1, 3, 9, 4)}, {world(1, 9, 2, 4)}, {world(1, 2, 5, 4), world(2, 2, 5, 4)}} {
		test.Refused[*TooLittleError](t, test.Err(Learn(t.Context(), plain(), s)), "%d sessions", len(s))
	}
	long, far := world(1, 6, 4, 4), world(1, 6, 4, 4)
	long[2][1] = append(long[2][1], 1)
	d := test.Refused[*niw.DimensionError](t, test.Err(Learn(t.Context(), plain(), []Session{long})), "an embedding too long")
	if d.Got != dim+1 {
		t.Errorf("an embedding too long: %v", d)
	}
	far[0][0][0] = 1e30
	test.Refused[*niw.ValueError](t, test.Err(Learn(t.Context(), plain(), []Session{far})), "an embedding far away")
	p := plain()
	p.Session.Shared = 0
	test.Refused[*niw.ValueError](t, test.Err(Learn(t.Context(), p, []Session{world(1, 6, 4, 4)})), "a prior for a covariance of each class")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	err := test.Err(Learn(stopped, plain(), []Session{world(1, 6, 4, 4)}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller gave up: %v", err)
	}
}

// Rounding may take the identity out of S + w RᵀR.
func TestFarExamplesAreLearnedFrom(t *testing.T) {
	for _, far := range []float32{1e8, 1e12} {
		s := world(1, 5, 4, 4)
		for _, c := range s {
			for _, x := range c {
				for i := range x {
					x[i] *= far
				}
			}
		}
		test.Must(Learn(t.Context(), plain(), []Session{s}))(t)
	}
}

// Distances are those of whitened examples, and the temperature goes along with what is learned.
func TestWhatLeftOutClassesSettle(t *testing.T) {
	classes := []*mat.Dense{mat.NewDense(3, 2, []float64{0, 0, 3, 4, 0, 4}), mat.NewDense(2, 2, []float64{1, 1, 1, 3})}
	p := niw.HandCrafted(2, 2) // whitened, lengths are half of these
	p.M[0] = 7
	want := ((25.+16+9)/3 + 4) / 2 / 4
	if got := distance(p, classes); math.Abs(got-want) > 1e-12 {
		t.Errorf("the mean squared distance is %v, want %v", got, want)
	}
	own := plain()
	was := own.Session.Population.LogT
	learned := carried(own, nil, &settled{scale: 1, logT: 0.3})
	if got := learned.Session.Population.LogT; math.Abs(got-was-0.3) > 1e-12 || own.Session.Population.LogT != was {
		t.Errorf("ln T is %v, of the former prior %v, was %v", got, own.Session.Population.LogT, was)
	}
}
