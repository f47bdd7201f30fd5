package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The quadrature over (a, g) has knownNodes² nodes, at steps of knownStep standard deviations
// (section 4).
const (
	knownNodes = 5
	knownStep  = 1
)

var knownX, knownLogW = grid(knownNodes, knownStep)

// line is a linear function of a score.
type line struct{ slope, offset float64 }

func (l line) at(s float64) float64 { return l.slope*s + l.offset }

// known is the posterior of threshold and slope, given the cohort: a mixture of
// lines in s whose logistic function is p(known | s).
type known struct {
	lines  [knownNodes * knownNodes]line
	weight [knownNodes * knownNodes]float64
}

// inferKnown returns the posterior of threshold and slope (section 4). unknown has the scores of
// examples with their whole class left out, own those of examples left out of their class. The
// likelihood of a node counts the former as unknown and the latter as known. bursts has the number
// of bursts of each class. Known queries score higher with more bursts, so the mean threshold
// rises with the mean of the logarithms of these numbers.
func (p *Population) inferKnown(unknown, own, bursts []float64, way int) (q known) {
	mean, deviation, doubt := p.cohort(unknown, float64(way))
	var l [knownNodes * knownNodes]float64
	threshold, sd := p.Known.Threshold.Mean, math.Hypot(p.Known.Threshold.SD, doubt)
	for _, n := range bursts {
		threshold += p.Known.ByShots * math.Log(n) / float64(len(bursts))
	}
	for i, x := range knownX {
		for j, y := range knownX {
			k := i*knownNodes + j
			a := threshold + sd*x
			slope := bounded(p.Known.Slope.Mean+p.Known.Slope.SD*y, 30)
			q.lines[k] = line{slope / deviation, -slope * (mean/deviation + a)}
			l[k] = knownLogW[i] + knownLogW[j]
			if w := p.Known.Weight; w > 0 {
				l[k] += w * q.lines[k].logLikelihood(own, 1)
			}
			if w := p.Known.UnknownWeight; w > 0 {
				l[k] += w * q.lines[k].logLikelihood(unknown, -1)
			}
		}
	}
	normalise(q.weight[:], l[:])
	return q
}

// cohort returns the mean and the standard deviation of the scores s_i of unknowns, shrunk to those
// of the population. doubt is the remaining standard deviation of the mean, in units of deviation.
// The mean depends on the domain and on the number C of classes. The session's own mean counts
// more with more classes, not with more examples, and not at all with one class:
//
//	mean = c_0 + w (Σ_i s_i/N_s - c_0),   c_0 = l_0 + l_1 ln C,   w = C/(n_0 + C), 0 for one class
//	deviation² = (n_1 SD² + Σ_i (s_i - mean)²)/(n_1 + N_s)
//	doubt² = SD_mean² (1 - w) / deviation²
//
// with N_s the number of s_i. n_0 and n_1 are the Counts of [CohortMean] and [CohortDeviation].
func (p *Population) cohort(unknown []float64, way float64) (mean, deviation, doubt float64) {
	mean = p.CohortMean.Mean[0] + p.CohortMean.Mean[1]*math.Log(way)
	variance, w := p.CohortDeviation.SD*p.CohortDeviation.SD, 0.0
	if n := float64(len(unknown)); n > 0 {
		w = way / (p.CohortMean.Count + way)
		mean += w * (floats.Sum(unknown)/n - mean)
		var square float64
		for _, s := range unknown {
			square += (s - mean) * (s - mean) / n
		}
		variance += n / (n + p.CohortDeviation.Count) * (square - variance)
	}
	deviation = math.Sqrt(math.Max(variance, 1e-12))
	return mean, deviation, p.CohortMean.SD * math.Sqrt(1-w) / deviation
}

// logLikelihood returns Σ ln σ(sign l(s)) over scores s. sign is 1 for scores of known examples and
// -1 for unknown ones. To save logarithms it takes one of a product of many factors.
func (l line) logLikelihood(scores []float64, sign float64) float64 {
	const most, full = 60, 1e250
	sum, product := 0.0, 1.0
	for _, s := range scores {
		x := -sign * l.at(s)
		if x > most {
			sum += x
		} else if product *= 1 + math.Exp(x); product > full {
			sum += math.Log(product)
			product = 1
		}
	}
	return -sum - math.Log(product)
}

// at returns p(known | s) and p(none | s) for given prior log odds of known.
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
