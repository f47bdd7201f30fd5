package session

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
	"metaqda/core/test"
)

// These tests check the parts of the model one by one, by hand. Tests of whole posteriors average
// over too much to notice a single term.

// Section 1 and 2: u is e/T, and nothing under a class of which nothing is left.
func TestRatiosAndScoresByHand(t *testing.T) {
	p := &Population{LogT: math.Ln2, LeftOut: 0.9}
	s := &Support{Shots: []float64{3, 1, 2}, Class: []int{0, 1, 2}, Scores: []float64{
		8, 5, 2,
		6, math.Inf(-1), 4,
		9, 7, 1,
	}, Unknown: []float64{
		math.NaN(), 3, 4,
		1, math.NaN(), 2,
		6, 5, math.NaN(),
	}}
	want := []float64{4, 2.5, 1, 3, math.Inf(-1), 2, 4.5, 3.5, 0.5}
	u := s.ratios(p)
	for i := range want {
		if !(u[i] == want[i] || math.Abs(u[i]-want[i]) < 1e-12) {
			t.Errorf("u[%d] is %v, want %v", i, u[i], want[i])
		}
	}
	unknown, known := s.scores(p, u, p.LeftOut)
	two := func(a, b float64) float64 { return math.Log((math.Exp(a/2) + math.Exp(b/2)) / 2) }
	close(t, "unknown", unknown, []float64{two(3, 4), two(1, 2), two(6, 5)}, 1e-12)
	three := func(u []float64) float64 { return math.Log((math.Exp(u[0]) + math.Exp(u[1]) + math.Exp(u[2])) / 3) }
	close(t, "known", known, []float64{three(u[:3]) + 0.9/3, three(u[6:]) + 0.9/2}, 1e-12)
}

func TestCohortByHand(t *testing.T) {
	p := &Population{CohortMean: CohortMean{Mean: [2]float64{1, 2}, SD: 3, Count: 6}, CohortDeviation: CohortDeviation{SD: 2, Count: 4}}
	// m0 = 1 + 2 ln 2; two classes of six move a quarter of the way to the mean, 5.
	m0 := 1 + 2*math.Ln2
	level := m0 + (5-m0)/4
	scores := []float64{3, 5, 7}
	variance := 4 * 4.
	for _, v := range scores {
		variance += (v - level) * (v - level)
	}
	variance /= 4 + 3
	gotLevel, gotSpread, gotDoubt := p.cohort(scores, 2)
	close(t, "of three", []float64{gotLevel, gotSpread, gotDoubt}, []float64{level, math.Sqrt(variance), 3 * math.Sqrt(0.75/variance)}, 1e-12)
	gotLevel, gotSpread, gotDoubt = p.cohort(nil, 1)
	close(t, "of none", []float64{gotLevel, gotSpread, gotDoubt}, []float64{1, 2, 1.5}, 1e-12)
}

// Class priors count as they are, however hard the session is.
func TestClassPriorsAreNotTempered(t *testing.T) {
	q := population().Infer(scene(rand.New(rand.NewPCG(7, 1)), 2, 2, 2))
	prior := []float64{math.Log(0.7), math.Log(0.2), math.Log(0.1)}
	got := make([]float64, 3)
	q.ProbabilitiesTo(got, make([]float64, 3), prior, 0, make([]float64, 3))
	close(t, "without any difference in u", got, []float64{0.7, 0.2, 0.1}, 1e-12)
	// They enter the score as well: a class that is hardly possible hardly counts.
	none := func(logPrior []float64) float64 {
		return q.ProbabilitiesTo(make([]float64, 3), []float64{-3, -3, 6}, logPrior, 0.5, make([]float64, 3))
	}
	rare, often := none(prior), none([]float64{math.Log(0.1), math.Log(0.2), math.Log(0.7)})
	if !(rare > often) {
		t.Errorf("none has probability %v where the best class is rare, %v where it is not", rare, often)
	}
}

func TestValidateNamesTheCoefficient(t *testing.T) {
	for i, c := range population().list() {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1001, -1001, -1} {
			p := population()
			*p.list()[i].at = bad
			err := p.Validate()
			sound := bad == -1 && c.kind == plain || bad == 1001 && c.kind == count || math.IsInf(bad, 1) && c.kind == count
			if sound != (err == nil) {
				t.Errorf("%s = %v: %v", c.name, bad, err)
			}
			if !sound {
				test.Refused[*niw.ValueError](t, err, "%s = %v", c.name, bad)
			}
		}
	}
	for name, change := range map[string]func(p *Population){
		"level count": func(p *Population) { p.CohortMean.Count = 0 }, "spread": func(p *Population) { p.CohortDeviation.SD = 0 }, "spread count": func(p *Population) { p.CohortDeviation.Count = 0 },
	} {
		p := population()
		change(p)
		if test.Refused[*niw.ValueError](t, p.Validate(), "%s = 0", name).Value != 0 {
			t.Errorf("%s = 0", name)
		}
	}
}

// drawn returns sessions whose log densities are right up to a temperature of their own, ln T ~
// N(mean, sd²). Their unknown queries lie level below the known ones.
func drawn(seed uint64, domain, n int, mean, sd, level float64) (samples []Sample) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range n {
		const way, queries = 4, 8
		shot := 1 << rng.IntN(3)
		temperature := math.Exp(mean + sd*rng.NormFloat64())
		s := Sample{Domain: domain}
		row := func(y int) (e []float64) {
			for j := range way {
				v := 1.5 * rng.NormFloat64() // log densities of two normal distributions 1.5 apart
				if j == y {
					v += 1.5 * 1.5
				}
				e = append(e, temperature*(v-level))
			}
			return e
		}
		for y := range way {
			s.Shots = append(s.Shots, float64(shot))
			for range shot {
				s.Class, s.Scores = append(s.Class, y), append(s.Scores, row(y)...)
			}
		}
		s.Unknown = slices.Clone(s.Scores)
		for k := range queries {
			y := Unknown
			if k%2 == 0 {
				y = k / 2 % way
			}
			s.Answer, s.Query = append(s.Answer, y), append(s.Query, row(y)...)
		}
		samples = append(samples, s)
	}
	return samples
}

// Each domain counts the same, however many sessions it has.
func TestDomainsCountTheSame(t *testing.T) {
	samples := append(drawn(1, 0, 3, 0, 0, 0), drawn(2, 7, 1, 0, 0, 0)...)
	terms := closedTerms(samples)
	var weights []float64
	for i := range terms {
		weights = append(weights, terms[i].weight)
	}
	close(t, "weights", weights, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 2}, 1e-15)
}

// Known and unknown queries are half of the loss each, however many they are.
func TestOpenLossIsHalfOfEachKind(t *testing.T) {
	p := population()
	s := drawn(3, 0, 1, 1, 0, 1)
	of := func(answers ...int) float64 {
		one := s[0]
		one.Answer, one.Query = nil, nil
		for _, k := range answers {
			one.Answer, one.Query = append(one.Answer, s[0].Answer[k]), append(one.Query, s[0].Query[4*k:4*k+4]...)
		}
		terms := p.openTerms([]Sample{one}, 1)
		p.LeftOut = 0
		return p.openLoss(&terms[0])
	}
	// Queries 0 and 2 are known, 1 and 3 are not.
	a, b, all := of(0, 1), of(2, 1), of(0, 2, 1)
	if !(math.Abs((a+b)/2-all) <= 1e-12) {
		t.Errorf("two known queries and one unknown have the loss %v, want %v", all, (a+b)/2)
	}
}

// The mean scores measure the effect of leaving out: examples lie below the queries that they stand
// for by η/K.
func TestMeasuredCoefficients(t *testing.T) {
	var samples []Sample
	for i, c := range []int{2, 3, 5, 8} {
		s := Sample{Domain: i}
		for y := range c {
			k := 2 + y%2
			s.Shots = append(s.Shots, float64(k))
			for range k {
				s.Class = append(s.Class, y)
			}
		}
		s.Answer = []int{0, Unknown}
		samples = append(samples, s)
	}
	const own, level, byClasses = 0.4, 1.5, -0.3
	var terms []term
	for i := range samples {
		s := &samples[i]
		c := float64(s.Way())
		known, unknown := 6+c, level+byClasses*math.Log(c)
		tt := term{Sample: s, queries: 1, weight: 0.25, score: []float64{known, unknown}}
		for _, y := range s.Class {
			tt.own = append(tt.own, known-own/s.Shots[y])
		}
		s.Scores, s.Unknown = make([]float64, len(s.Class)*s.Way()), make([]float64, len(s.Class)*s.Way())
		terms = append(terms, tt)
	}
	p := population()
	p.measure(terms)
	close(t, "measured", []float64{p.LeftOut, p.CohortMean.Mean[0], p.CohortMean.Mean[1]}, []float64{own, level, byClasses}, 1e-9)
}

// Sessions without a mistake do not determine the temperature. The highest of equally good ones is
// taken, so that a file may hold all coefficients.
func TestFitOfSessionsWithoutAMistake(t *testing.T) {
	samples := drawn(5, 0, 40, 0, 0, 0)
	for i := range samples {
		s := &samples[i]
		apart := func(e []float64, right int) {
			for j := range e {
				e[j] -= 2000
				if j == right {
					e[j] += 4000
				}
			}
		}
		for k, y := range s.Class {
			apart(s.Scores[4*k:4*k+4], y)
		}
		s.Unknown = slices.Clone(s.Scores)
		for k, y := range s.Answer {
			apart(s.Query[4*k:4*k+4], y)
		}
	}
	p := test.Must(Fit(samples, nil, 2))(t)
	got := math.Log(p.Temperature())
	if got < 4 {
		t.Errorf("ln T is %.2f, where log densities are 4000 apart", got)
	}
	loss := meanLoss(closedTerms(samples), 1, p.closedLoss)
	if loss > 1e-3 {
		t.Errorf("the loss is %g", loss)
	}
}

// The loss of a coefficient counts as much as the ridge, so the coefficient goes half of the way.
func TestRidgeKeepsCoefficientsThatTheLossHardlyDependsOn(t *testing.T) {
	p := population()
	start := p.LogT
	p.minimise(0, 1, func(q *Population) float64 { return 1e-4 * (q.LogT - start - 100) * (q.LogT - start - 100) })
	if moved := p.LogT - start; math.Abs(moved-50) > 1 {
		t.Errorf("it moved by %.1f, want 50", moved)
	}
}

// The fit finds the temperature, how much it varies, and by which score known and
// unknown queries part; it is better than where it began.
func TestFitFindsWhatSessionsHaveInCommon(t *testing.T) {
	const mean, sd = 1.2, 0.5
	var samples []Sample
	for domain := range 3 {
		samples = append(samples, drawn(uint64(20+domain), domain, 30, mean, sd, 2)...)
	}
	p := test.Must(Fit(samples, nil, 2))(t)
	again := test.Must(Fit(samples, nil, 1))(t)
	if *again != *p {
		t.Errorf("with one worker %+v, with two %+v", again, p)
	}
	if !(math.Abs(p.LogT-mean) <= 0.3) {
		t.Errorf("ln T is %.3f, want %.1f", p.LogT, mean)
	}
	if p.LogTemperature.SD < 0.5*sd || p.LogTemperature.SD > 2*sd {
		t.Errorf("log temperatures deviate by %.3f, made with %.1f", p.LogTemperature.SD, sd)
	}
	var score [2][]float64
	terms := p.openTerms(samples, 1)
	for i := range terms {
		known, unknown := terms[i].meanScores()
		score[0], score[1] = append(score[0], known), append(score[1], unknown)
	}
	got, want := p.CohortMean.Mean[0]+p.CohortMean.Mean[1]*math.Log(4), floats.Sum(score[1])/float64(len(score[1]))
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("the level of unknowns is %.3f, their mean score %.3f", got, want)
	}
	held := drawn(99, 0, 50, mean, sd, 2)
	loss := func(p *Population) float64 {
		open := p.openTerms(held, 1)
		for i := range open {
			open[i].unknown, open[i].own = open[i].scores(p, open[i].ratios(p), p.LeftOut)
		}
		return meanLoss(closedTerms(held), 1, p.closedLoss) + meanLoss(open, 1, p.openLoss)
	}
	fitted := loss(p)
	begun := loss(initial())
	if !(fitted < begun-0.1) {
		t.Errorf("the loss is %.3f, where the fit began %.3f", fitted, begun)
	}
	for i, c := range p.list() {
		moved := *p
		at := moved.list()[i].at
		*at += 0.5
		if c.kind != plain {
			*at = *c.at * 2
		}
		worse := loss(&moved)
		if worse < fitted-0.02 {
			t.Errorf("%s: %v in place of %v makes the loss %.4f in place of %.4f", c.name, *at, *c.at, worse, fitted)
		}
	}
}
