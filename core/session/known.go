package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// knownNodes² at equal steps serve the quadrature over (a, g), section 4.
const (
	knownNodes = 5
	knownStep  = 1
)

var knownX, knownLogW = grid(knownNodes, knownStep)

// known is the posterior of level, spread, threshold and slope: a mixture of
// lines in s whose logistic function is p(known | s).
type known struct {
	lines  [knownNodes * knownNodes]line
	weight [knownNodes * knownNodes]float64
}

// inferKnown settles level and spread of the unknowns' scores and weighs each
// node by the likelihood of the session's own events: an example without itself
// is known, without its class it is not.
func (p *Population) inferKnown(unknown, own []float64, way int) (q known) {
	level, spread, doubt := p.reference(unknown, float64(way))
	var l [knownNodes * knownNodes]float64
	sd := math.Hypot(p.Known.Threshold.SD, doubt)
	for i, x := range knownX {
		for j, y := range knownX {
			k := i*knownNodes + j
			a := p.Known.Threshold.Mean + sd*x
			slope := bounded(p.Known.Slope.Mean+p.Known.Slope.SD*y, 30)
			q.lines[k] = line{slope / spread, -slope * (level/spread + a)}
			l[k] = knownLogW[i] + knownLogW[j]
			if p.Known.Weight > 0 {
				l[k] += p.Known.Weight * q.lines[k].logLikelihood(unknown, own)
			}
		}
	}
	normalise(q.weight[:], l[:])
	return q
}

// reference returns the mean and standard deviation of the scores of unknowns,
// shrunk to those of the population, and the standard deviation that the mean
// still has, in units of the spread. How high unknowns score is a matter of the
// domain and of the number of classes C; the classes, not the examples, are what
// tells it, and one alone tells nothing:
//
//	level  = m0 + w (mean s_i - m0),   w = C/(n0 + C), 0 for one class
//	spread² = (n1 SD² + Σ (s_i - level)²)/(n1 + n)
//	doubt² = SD_level² (1 - w) / spread²
func (p *Population) reference(unknown []float64, way float64) (level, spread, doubt float64) {
	level = p.Level.Mean[0] + p.Level.Mean[1]*math.Log(way)
	variance, w := p.Spread.SD*p.Spread.SD, 0.0
	if n := float64(len(unknown)); n > 0 {
		w = way / (p.Level.Count + way)
		level += w * (floats.Sum(unknown)/n - level)
		var square float64
		for _, s := range unknown {
			square += (s - level) * (s - level) / n
		}
		variance += n / (n + p.Spread.Count) * (square - variance)
	}
	spread = math.Sqrt(math.Max(variance, 1e-12))
	return level, spread, p.Level.SD * math.Sqrt(1-w) / spread
}

// logLikelihood returns Σ ln σ(l(s)) over own scores plus Σ ln σ(-l(s)) over
// those of unknowns. Factors are multiplied up before a logarithm is taken.
func (l line) logLikelihood(unknown, own []float64) float64 {
	const most, full = 60, 1e250
	sum, product := 0.0, 1.0
	add := func(x float64) {
		if x > most {
			sum += x
			return
		}
		if product *= 1 + math.Exp(x); product > full {
			sum += math.Log(product)
			product = 1
		}
	}
	for _, s := range own {
		add(-l.at(s))
	}
	for _, s := range unknown {
		add(l.at(s))
	}
	return -sum - math.Log(product)
}

// at returns p(known | s), the prior log odds of known being given.
func (q *known) at(s, logOdds float64) (known, none float64) {
	for k, w := range q.weight {
		if w == 0 {
			continue
		}
		x := q.lines[k].at(s) + logOdds
		known += w / (1 + math.Exp(-x))
		none += w / (1 + math.Exp(x))
	}
	return math.Min(known, 1), math.Min(none, 1) // a sum of weights may round above it
}
