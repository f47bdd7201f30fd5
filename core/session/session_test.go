package session

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"metaqda/core/test"
)

// population has every coefficient away from where it would do nothing.
func population() *Population {
	return &Population{
		LogT: 0.5, LeftOut: 0.4, LogTemperature: LogTemperature{SD: 0.4, Weight: 0.6},
		CohortMean: CohortMean{Mean: [2]float64{0.5, 0.2}, SD: 0.7, Count: 3}, CohortDeviation: CohortDeviation{SD: 2, Count: 1.5},
		Known: Known{Threshold: Normal{0.4, 0.5}, ByShots: 0.6, Slope: Normal{0.1, 0.4}, Weight: 0.3, UnknownWeight: 0.1},
	}
}

// scene is a session of drawn scores.
func scene(rng *rand.Rand, shots ...float64) *Support {
	s := &Support{Shots: shots, Bursts: shots}
	for y, k := range shots {
		for range int(k) {
			s.Class = append(s.Class, y)
			for j := range shots {
				e := 2 * rng.NormFloat64()
				if j == y {
					e += 4
				}
				own := e
				if j == y && k == 1 {
					own = math.Inf(-1)
				}
				s.Scores, s.Unknown = append(s.Scores, own), append(s.Unknown, e-0.5*rng.Float64())
			}
		}
	}
	return s
}

func uniform(n int) []float64 {
	p := make([]float64, n)
	for j := range p {
		p[j] = -math.Log(float64(n))
	}
	return p
}

func (q *Posterior) ask(u []float64, none float64) (p []float64) {
	p = make([]float64, len(u)+1)
	p[len(u)] = q.ProbabilitiesTo(p[:len(u)], u, uniform(len(u)), none, make([]float64, len(u)))
	return p
}

func close(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: [%d] is %.12g, want %.12g", what, i, got[i], want[i])
		}
	}
}

// A session without an example is one that never had it. LeftOut is zero here: for the other examples
// Without keeps what it adds to their scores.
func TestWithoutAnExampleTheSessionIsOneThatNeverHadIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	p := population()
	p.LeftOut, p.LogTemperature.Alone = 0, [2]float64{0.5, 0.2}
	for range 20 {
		s := scene(rng, 3, 2, 1, 2)
		s.Bursts = slices.Clone(s.Shots)
		l := p.Infer(s)
		for i, y := range s.Class {
			others := int(s.Shots[y]) - 1
			if others == 0 { // its class goes, too, but not from the evidence of the others
				unknown, known := s.scores(p, s.ratios(p), 0)
				want := p.inferKnown(slices.Delete(unknown, i, i+1), known, slices.Delete(slices.Clone(s.Bursts), y, y+1), 3)
				if got := l.Without(y, i, others).known; got != want {
					t.Errorf("without the only example of class %d: %v, want %v", y, got, want)
				}
				continue
			}
			want := &Support{Shots: slices.Clone(s.Shots)}
			want.Shots[y] = float64(others)
			for r, k := range s.Class {
				if r == i {
					continue
				}
				scores := slices.Clone(s.Scores[4*r : 4*r+4])
				if k == y && others == 1 {
					scores[y] = math.Inf(-1)
				}
				want.Class, want.Scores, want.Unknown = append(want.Class, k), append(want.Scores, scores...), append(want.Unknown, s.Unknown[4*r:4*r+4]...)
			}
			u := []float64{1, 0.5, -1, 0.2}
			want.Bursts = want.Shots
			close(t, fmt.Sprintf("without example %d of %d", i, y), l.Without(y, i, others).ask(u, 0.3), p.Infer(want).ask(u, 0.3), 1e-12)
		}
	}
}

// Single examples move the mean of h by at most four standard deviations.
func TestSingleExamplesMoveTheTemperatureWithinBounds(t *testing.T) {
	s := scene(rand.New(rand.NewPCG(13, 1)), 1, 1, 1)
	u := []float64{1, 0.5, -1}
	of := func(alone float64) []float64 {
		p := population()
		p.LogTemperature.Alone[0] = alone
		return p.Infer(s).ask(u, 0.3)
	}
	close(t, "far up", of(1000), of(4), 0)
	close(t, "far down", of(-1000), of(-4), 0)
	if near := of(3.9); math.Abs(near[0]-of(4)[0]) < 1e-9 {
		t.Errorf("within the bounds nothing changes: %v", near)
	}
	p := population() // Alone[1] counts for the mean score under the other classes
	z := 0.0
	for i, y := range s.Class {
		for j, e := range s.Scores[3*i : 3*i+3] {
			if j != y {
				z += e / p.Temperature() / 2 / 3
			}
		}
	}
	p.LogTemperature.Alone = [2]float64{0.7, 0.6}
	close(t, "by likeness", p.Infer(s).ask(u, 0.3), of(0.7+0.6*z), 1e-12)
}

// The classes' probabilities against the definition, integrated over h by gonum's
// Gauss-Legendre rule instead of the grid: section 3 of MODEL.md.
func TestClassesByGaussLegendre(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := population()
	p.LogTemperature.Alone = [2]float64{0.4, -0.3}
	for _, shots := range [][]float64{{2, 3, 1}, {1, 1}, {6, 6, 6, 6}} {
		s := scene(rng, shots...)
		c := len(shots)
		prior := distuv.Normal{Sigma: p.LogTemperature.SD}
		for i, y := range s.Class { // each alone in its class moves the mean by its share
			for j, e := range s.Scores[i*c : (i+1)*c] {
				if shots[y] == 1 && j != y {
					prior.Mu += prior.Sigma * (0.4 - 0.3*e/p.Temperature()) / float64((c-1)*len(s.Class))
				}
			}
		}
		u := make([]float64, c)
		for j := range u {
			u[j] = 2 * rng.NormFloat64()
		}
		want := byGaussLegendre(u, func(h float64) float64 {
			l := prior.LogProb(h)
			for i, y := range s.Class {
				if shots[y] > 1 {
					l += p.LogTemperature.Weight * logSoftmax(s.Scores[i*c:(i+1)*c], h+math.Log(p.Temperature()), y)
				}
			}
			return l
		})
		got := p.Infer(s).ask(u, 0)
		close(t, "classes", got[:c], want, 4e-3)
	}
}

// Answers whose classes are not certain, against the same integral: section 3 with
// expected counts in place of labels.
func TestEvidenceByGaussLegendre(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	p, c := population(), 3
	session := p.Infer(scene(rng, 1, 1, 1)) // no example of its own says anything
	var total Evidence
	var us, shares [][]float64
	for range 12 {
		u, share := make([]float64, c), make([]float64, c)
		for j := range u {
			u[j], share[j] = 3*rng.NormFloat64(), rng.Float64()/2
		}
		us, shares = append(us, u), append(shares, share)
		e := p.Evidence(u, share)
		total.Add(1, &e)
	}
	prior := distuv.Normal{Sigma: p.LogTemperature.SD}
	u := []float64{1, 0.5, -1}
	want := byGaussLegendre(u, func(h float64) float64 {
		l := prior.LogProb(h)
		for i := range us {
			for j, w := range shares[i] {
				l += p.LogTemperature.Weight * w * logSoftmax(us[i], h, j)
			}
		}
		return l
	})
	got, scratch := make([]float64, c), make([]float64, c)
	session.ClassesTo(got, u, uniform(c), &total, scratch)
	close(t, "classes", got, want, 4e-3)

	// Taken away again, it says nothing; nor does an example of zero weight.
	before := session.ask(u, 0)[:c]
	for i := range us {
		e := p.Evidence(us[i], shares[i])
		total.Add(-1, &e)
	}
	nothing := p.Evidence(u, []float64{0, 0, 0})
	total.Add(1, &nothing)
	session.ClassesTo(got, u, uniform(c), &total, scratch)
	close(t, "classes without evidence", got, before, 1e-12)

	// Scores without bound make no infinity.
	far := p.Evidence([]float64{1e300, -1e300, 0}, []float64{1, 1, 1})
	for _, v := range far {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			t.Fatalf("evidence %v of scores without bound", far)
		}
	}
}

// logSoftmax returns ln softmax_j(u e^-h).
func logSoftmax(u []float64, h float64, j int) float64 {
	v := make([]float64, len(u))
	floats.ScaleTo(v, math.Exp(-h), u)
	return v[j] - floats.LogSumExp(v)
}

// byGaussLegendre returns the mean of softmax(u e^-h) under a log density of h.
func byGaussLegendre(u []float64, log func(h float64) float64) []float64 {
	integral := func(f func(h float64) float64) float64 {
		return quad.Fixed(func(h float64) float64 { return math.Exp(log(h)) * f(h) }, -2.5, 2.5, 400, nil, 0)
	}
	p := make([]float64, len(u))
	for j := range p {
		p[j] = integral(func(h float64) float64 { return math.Exp(logSoftmax(u, h, j)) })
	}
	floats.Scale(1/integral(func(float64) float64 { return 1 }), p)
	return p
}

// The probability of none of these against the definition, by drawing threshold and
// slope from their prior and weighing them by the likelihood: section 4.
func TestNoneByDrawing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	p := population()
	for _, shots := range [][]float64{{2, 3, 1}, {1, 1}, {4}, {1}} {
		s := scene(rng, shots...)
		unknown, own := s.scores(p, s.ratios(p), p.LeftOut)
		n, c := float64(len(unknown)), float64(len(shots))
		logs := 0.0
		for _, k := range shots {
			logs += math.Log(k)
		}
		level := p.CohortMean.Mean[0] + p.CohortMean.Mean[1]*math.Log(c)
		share := 0.0
		if c > 1 {
			share = c / (c + p.CohortMean.Count)
			mean := 0.0
			for _, v := range unknown {
				mean += v / n
			}
			level = (1-share)*level + share*mean
		}
		variance := p.CohortDeviation.Count * p.CohortDeviation.SD * p.CohortDeviation.SD
		for _, v := range unknown {
			variance += (v - level) * (v - level)
		}
		variance /= p.CohortDeviation.Count + n
		sd := math.Sqrt(p.Known.Threshold.SD*p.Known.Threshold.SD + p.CohortMean.SD*p.CohortMean.SD*(1-share)/variance)
		const none, score = 0.2, 1.3
		var sum, weights float64
		sigma := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
		for range 200000 {
			g0, a0 := rng.NormFloat64(), rng.NormFloat64()
			slope := math.Exp(p.Known.Slope.Mean + p.Known.Slope.SD*g0)
			a := p.Known.Threshold.Mean + p.Known.ByShots*logs/c + sd*a0
			at := func(v float64) float64 { return slope * ((v-level)/math.Sqrt(variance) - a) }
			var l float64
			for _, v := range unknown {
				l += p.Known.UnknownWeight * math.Log(sigma(-at(v)))
			}
			for _, v := range own {
				l += p.Known.Weight * math.Log(sigma(at(v)))
			}
			w := math.Exp(l)
			sum, weights = sum+w*sigma(-at(score)-math.Log((1-none)/none)), weights+w
		}
		u := make([]float64, len(shots))
		for j := range u {
			u[j] = score // so that the mean of exp(u) is exp(score)
		}
		close(t, "none", p.Infer(s).ask(u, none)[len(u):], []float64{sum / weights}, 6e-3)
	}
}

// Without a population Bayes' rule stands as it is.
func TestBayes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	s := scene(rng, 2, 3)
	u := []float64{0.3, -1.2}
	a, b, n := 0.4*math.Exp(u[0]), 0.4*math.Exp(u[1]), 0.2
	close(t, "Bayes", Bayes().Infer(s).ask(u, 0.2), []float64{a / (a + b + n), b / (a + b + n), n / (a + b + n)}, 1e-14)
	test.OK(t, Bayes().Validate())
}

// If a session's own examples are classified surely, it is found easier than one with mistakes
// among them. Without two examples of any class nothing is found.
func TestLogTemperatureFollowsTheSession(t *testing.T) {
	p := population()
	session := func(own float64) *Support {
		s := &Support{Shots: []float64{4, 4}}
		for i := range 8 {
			s.Class = append(s.Class, i/4)
			row := []float64{0, 0}
			row[i/4] = own
			s.Scores, s.Unknown = append(s.Scores, row...), append(s.Unknown, row...)
		}
		return s
	}
	easy, hard := p.Infer(session(3)).LogTemperature(), p.Infer(session(-3)).LogTemperature()
	if !(easy < -0.05 && hard > 0.05) {
		t.Errorf("hardness %.3f of an easy session, %.3f of a hard one", easy, hard)
	}
	h := p.Infer(&Support{Shots: []float64{1, 1}, Class: []int{0, 1}, Scores: []float64{math.Inf(-1), 0, 0, math.Inf(-1)}, Unknown: make([]float64, 4)}).LogTemperature()
	if math.Abs(h) > 1e-12 {
		t.Errorf("hardness %v of a session that says nothing", h)
	}
}

// One class of one picture has no example to go by. Its answer about a query is the population's,
// between the answers of two sure sessions.
func TestOnePictureSaysLittle(t *testing.T) {
	p := population()
	alone := p.Infer(&Support{Shots: []float64{1}, Class: []int{0}, Scores: []float64{math.Inf(-1)}})
	sure := p.Infer(scene(rand.New(rand.NewPCG(5, 1)), 6, 6, 6))
	spread := func(q *Posterior) float64 { return q.ask([]float64{9}, 0.5)[0] - q.ask([]float64{-9}, 0.5)[0] }
	if !(spread(alone) < spread(sure)) {
		t.Errorf("one picture moves the probability by %.3f, eighteen by %.3f", spread(alone), spread(sure))
	}
}

// Neither the order of the classes nor that of the examples matters.
func TestOrderDoesNotMatter(t *testing.T) {
	p := population()
	s := scene(rand.New(rand.NewPCG(6, 1)), 2, 3)
	r := &Support{Shots: []float64{3, 2}, Bursts: []float64{3, 2}}
	for i := len(s.Class) - 1; i >= 0; i-- {
		r.Class = append(r.Class, 1-s.Class[i])
		r.Scores, r.Unknown = append(r.Scores, s.Scores[2*i+1], s.Scores[2*i]), append(r.Unknown, s.Unknown[2*i+1], s.Unknown[2*i])
	}
	a, b := p.Infer(s).ask([]float64{1, -0.5}, 0.1), p.Infer(r).ask([]float64{-0.5, 1}, 0.1)
	close(t, "turned round", []float64{b[1], b[0], b[2]}, a, 1e-12)
}

// The likelihood of many examples, multiplied up in parts, is the sum of logarithms.
func TestLikelihoodOfManyExamples(t *testing.T) {
	l := line{2, -1}
	var unknown, own []float64
	var want float64
	for i := range 500 {
		s := float64(i%41) - 20
		unknown, own = append(unknown, s), append(own, -s)
		want -= math.Log1p(math.Exp(l.at(s))) + math.Log1p(math.Exp(-l.at(-s)))
	}
	got := l.logLikelihood(unknown, -1) + l.logLikelihood(own, 1)
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Even an extremely unlikely event has a finite logarithm.
	got = (line{1, 0}).logLikelihood([]float64{800, 5000}, -1)
	if got != -5800 {
		t.Errorf("got %v of what is impossible, want -5800", got)
	}
}

// Every coefficient is listed once, and counted.
func TestCoefficientsAreAllListed(t *testing.T) {
	p := population()
	seen := map[*float64]bool{}
	for _, c := range p.list() {
		*c.at, seen[c.at] = 0.123, true
		c.setFree(c.free())
		if !(math.Abs(*c.at-0.123) <= 1e-12) {
			t.Errorf("%s: 0.123 came back as %v", c.name, *c.at)
		}
	}
	n := int(reflect.TypeFor[Population]().Size() / reflect.TypeFor[float64]().Size()) // it has nothing but numbers
	if len(seen) != Size || len(p.list()) != Size || n != Size {
		t.Errorf("%d listed, %d of them different, %d fields, Size %d", len(p.list()), len(seen), n, Size)
	}
}

func TestFitWantsSessions(t *testing.T) {
	_, err := Fit(nil, nil, 1)
	if err != ErrTooFew && err == nil {
		t.Errorf("no sessions: %v", err)
	}
	one := Sample{Support: Support{Shots: []float64{1}, Class: []int{0}, Scores: []float64{math.Inf(-1)}}, Query: []float64{1}, Answer: []int{0}}
	_, err = Fit([]Sample{one}, nil, 1)
	if err == nil {
		t.Error("one class and no unknown were fitted")
	}
}
