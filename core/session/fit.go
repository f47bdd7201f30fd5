package session

import (
	"errors"
	"math"
	"sync"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Sample is a session with queries whose answers are known. [Fit] learns from samples.
type Sample struct {
	Support
	Query  []float64 // Q×C, log density of each query under each class less that of an unseen class
	Answer []int     // class of each query, Unknown for none of them
	Domain int       // each counts the same
}

// Unknown is the answer of a query that belongs to no class of its session.
const Unknown = -1

// ErrTooFew says that there are too few sessions to fit a population.
var ErrTooFew = errors.New("session: too few sessions to fit on: give some of two or more classes, and some with both known and unknown queries")

// Fit returns the population that makes the answers of the samples most probable (section 5). Each
// domain counts the same. First it fits the coefficients for the probabilities among the classes,
// then those for the probability of none of them. The result depends only on the samples and on
// start, which may be nil. It returns [ErrTooFew] unless some session has two or more classes and a
// known query, and some session has both known and unknown queries.
func Fit(samples []Sample, start *Population, workers int) (*Population, error) {
	p := initial()
	if start != nil {
		*p = *start
	}
	closed, open := closedTerms(samples), 0
	for i := range samples {
		if samples[i].open() {
			open++
		}
	}
	if len(closed) == 0 || open == 0 {
		return nil, ErrTooFew
	}
	if start == nil {
		p.LogT = p.startTemperature(closed, workers)
	}
	p.minimise(0, closedSize, func(p *Population) float64 { return meanLoss(closed, workers, p.closedLoss) })
	terms := p.openTerms(samples, workers)
	p.measure(terms)
	p.minimise(openFrom, openTo, func(p *Population) float64 { return meanLoss(terms, workers, p.openLoss) })
	return p, p.Validate()
}

// FitAlone fits LogTemperature.Alone to the samples whose sessions have one example of each class.
// All else stays as it is. Without such sessions it changes nothing.
func (p *Population) FitAlone(samples []Sample, workers int) {
	var alone []Sample
	for _, s := range samples {
		if floats.Max(s.Shots) == 1 {
			alone = append(alone, s)
		}
	}
	if closed := closedTerms(alone); len(closed) > 0 {
		p.minimise(openTo, aloneTo, func(p *Population) float64 { return meanLoss(closed, workers, p.closedLoss) })
	}
}

// initial returns the coefficients from which fitting starts.
func initial() *Population {
	return &Population{LogT: 3, LogTemperature: LogTemperature{SD: 0.45, Weight: 0.7},
		CohortMean: CohortMean{SD: 1, Count: 1.5}, CohortDeviation: CohortDeviation{SD: 1, Count: certain},
		Known: Known{Threshold: Normal{0.4, 0.5}, ByShots: 0.5, Slope: Normal{0.2, 0.4}, Weight: 0.35, UnknownWeight: 0.1}}
}

func (s *Sample) knownQueries() (n int) {
	for _, y := range s.Answer {
		if y != Unknown {
			n++
		}
	}
	return n
}

// open reports whether there are queries of both kinds.
func (s *Sample) open() bool {
	n := s.knownQueries()
	return n > 0 && n < len(s.Answer)
}

// term is the part of a sample that a loss needs.
type term struct {
	*Sample
	unknown, own    []float64 // scores of the examples
	score           []float64 // of the queries
	weight, queries float64
}

// closedTerms are the sessions of several classes.
func closedTerms(samples []Sample) (terms []term) {
	for i := range samples {
		if s := &samples[i]; s.Way() > 1 && s.knownQueries() > 0 {
			terms = append(terms, term{Sample: s, queries: float64(s.knownQueries())})
		}
	}
	return weigh(terms)
}

// openTerms are the sessions with unknown queries, at a fixed T.
func (p *Population) openTerms(samples []Sample, workers int) (terms []term) {
	for i := range samples {
		if s := &samples[i]; s.open() {
			terms = append(terms, term{Sample: s, queries: float64(s.knownQueries())})
		}
	}
	each(len(terms), workers, func(i int) {
		t := &terms[i]
		t.unknown, t.own = t.scores(p, t.ratios(p), 0)
		u := make([]float64, t.Way())
		for k := range t.Answer {
			p.queryTo(u, t.Sample, k)
			t.score = append(t.score, score(u))
		}
	})
	return weigh(terms)
}

// weigh makes the domains count the same and the weights sum to one.
func weigh(terms []term) []term {
	number := map[int]float64{}
	for i := range terms {
		number[terms[i].Domain]++
	}
	for i := range terms {
		terms[i].weight = 1 / (number[terms[i].Domain] * float64(len(number)))
	}
	return terms
}

// measure fits two things by least squares: LeftOut, by how much examples that are left out score
// lower than known queries, and the cohort mean as a function of ln C. The likelihood would use
// both to compensate other errors of the model.
func (p *Population) measure(terms []term) {
	var own ratio
	var cohort line2
	for i := range terms {
		t := &terms[i]
		known, unknown := t.meanScores()
		cohort.add(t.weight, math.Log(float64(t.Way())), unknown)
		if n := float64(len(t.own)); n > 0 {
			var inverse float64
			for k, y := range t.Class {
				if t.left(k) {
					inverse += 1 / t.Shots[y] / n
				}
			}
			own.add(t.weight, inverse, known-floats.Sum(t.own)/n)
		}
	}
	p.LeftOut = within(own.slope())
	mean := cohort.coefficients()
	p.CohortMean.Mean = [2]float64{within(mean[0]), within(mean[1])}
	for i := range terms {
		t := &terms[i]
		t.unknown, t.own = t.scores(p, t.ratios(p), p.LeftOut)
	}
}

// meanScores returns the mean scores of the known and of the unknown queries.
func (t *term) meanScores() (known, unknown float64) {
	for k, y := range t.Answer {
		if y == Unknown {
			unknown += t.score[k] / (float64(len(t.Answer)) - t.queries)
		} else {
			known += t.score[k] / t.queries
		}
	}
	return known, unknown
}

// ratio collects weighted least squares of y = b x.
type ratio struct{ xx, xy float64 }

func (r *ratio) add(w, x, y float64) { r.xx, r.xy = r.xx+w*x*x, r.xy+w*x*y }

func (r *ratio) slope() float64 {
	if r.xx == 0 {
		return 0
	}
	return r.xy / r.xx
}

// line2 collects weighted least squares of y = a + b x.
type line2 struct{ n, x, y, xx, xy float64 }

func (l *line2) add(w, x, y float64) {
	l.n, l.x, l.y, l.xx, l.xy = l.n+w, l.x+w*x, l.y+w*y, l.xx+w*x*x, l.xy+w*x*y
}

func (l *line2) coefficients() [2]float64 {
	b := 0.0
	if d := l.n*l.xx - l.x*l.x; d > 1e-9*l.n*l.n {
		b = (l.n*l.xy - l.x*l.y) / d
	}
	return [2]float64{(l.y - b*l.x) / l.n, b}
}

// queryTo stores u of query k in dst.
func (p *Population) queryTo(dst []float64, s *Sample, k int) {
	c := s.Way()
	floats.ScaleTo(dst, 1/p.Temperature(), s.Query[k*c:(k+1)*c])
}

// leastProbability bounds the loss of one query.
const leastProbability = 1e-9

// closedLoss returns the mean negative log probability of the right class.
func (p *Population) closedLoss(t *term) (loss float64) {
	c := t.Way()
	i := p.Inference(&t.Support)
	i.Next(len(t.Class))
	q := p.temperatureOf(i.said, t.left)
	buffer := make([]float64, 4*c)
	u, probability, even, scratch := buffer[:c], buffer[c:2*c], buffer[2*c:3*c], buffer[3*c:]
	for k, y := range t.Answer {
		if y != Unknown {
			p.queryTo(u, t.Sample, k)
			q.classesTo(probability, u, even, scratch)
			loss -= math.Log(math.Max(probability[y], leastProbability))
		}
	}
	return loss / t.queries
}

// openLoss returns the loss of known against unknown. Each kind counts half, for any numbers of
// queries.
func (p *Population) openLoss(t *term) float64 {
	q := p.inferKnown(t.unknown, t.own, t.Bursts, t.Way())
	var known, unknown float64
	for k, y := range t.Answer {
		in, out := q.at(t.score[k], 0)
		if y == Unknown {
			unknown -= math.Log(math.Max(out, leastProbability))
		} else {
			known -= math.Log(math.Max(in, leastProbability))
		}
	}
	return (known/t.queries + unknown/(float64(len(t.Answer))-t.queries)) / 2
}

// meanLoss sums in the order of the terms, so the number of workers does not matter.
func meanLoss(terms []term, workers int, loss func(*term) float64) (sum float64) {
	losses := make([]float64, len(terms))
	each(len(terms), workers, func(i int) { losses[i] = terms[i].weight * loss(&terms[i]) })
	return floats.Sum(losses)
}

// each calls f(0) to f(n-1) on several goroutines.
func each(n, workers int, f func(i int)) {
	var group sync.WaitGroup
	workers = max(1, workers)
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	group.Wait()
}

// asGood is a difference of losses that does not matter for the fit.
const asGood = 2e-6

// startTemperature returns the log temperature of least loss on a grid. Among those with about the
// same loss it takes the highest. If all answers of the sessions are right, the loss falls with the
// temperature without end, and scores would grow without bounds.
func (p *Population) startTemperature(closed []term, workers int) float64 {
	const lowest, step = -2.0, 0.5
	var losses [21]float64
	for i := range losses {
		q := *p
		q.LogT = lowest + step*float64(i)
		losses[i] = meanLoss(closed, workers, q.closedLoss)
	}
	best := len(losses) - 1
	for least := floats.Min(losses[:]); best > 0 && !(losses[best] <= least+asGood); best-- {
	}
	return lowest + step*float64(best)
}

// ridge is the weight of the squared distance from the start. It settles coefficients on which the
// loss hardly depends.
const ridge = 1e-4

// minimise moves the coefficients from lo to below hi to the minimum of the loss.
func (p *Population) minimise(lo, hi int, loss func(*Population) float64) {
	start := make([]float64, hi-lo)
	for i, c := range p.list()[lo:hi] {
		start[i] = c.free()
	}
	at := func(x []float64) *Population {
		q := *p
		for i, c := range q.list()[lo:hi] {
			c.setFree(x[i])
		}
		return &q
	}
	objective := func(x []float64) float64 {
		d := floats.Distance(x, start, 2)
		return loss(at(x)) + ridge*d*d
	}
	problem := optimize.Problem{Func: objective, Grad: func(grad, x []float64) {
		fd.Gradient(grad, objective, x, &fd.Settings{Formula: fd.Central, Step: 1e-4})
	}}
	// A line search that meets rounding at the minimum returns an error with the minimum. In
	// both cases the location is the best seen.
	result, _ := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: 40, GradientThreshold: 1e-4,
		Converger: &optimize.FunctionConverge{Absolute: asGood, Iterations: 3}}, &optimize.BFGS{})
	if result != nil {
		*p = *at(result.X)
	}
}

// free returns the coefficient as a number without bounds.
func (c *coefficient) free() float64 {
	if c.kind == plain {
		return *c.at
	}
	return math.Log(math.Max(*c.at, 1e-6))
}

// setFree is the inverse of free, within bounds.
func (c *coefficient) setFree(x float64) {
	if *c.at = within(x); c.kind != plain {
		*c.at = math.Exp(math.Max(-12, math.Min(6, x)))
	}
}

// within keeps a coefficient in the range that files may hold.
func within(x float64) float64 { return math.Max(-900, math.Min(900, x)) }
