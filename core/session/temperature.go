package session

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The quadrature over h has hardNodes nodes, at steps of hardStep standard deviations (section 3).
const (
	hardNodes = 9
	hardStep  = 0.7
)

// grid returns n abscissae of the standard normal distribution and the
// logarithms of their weights.
func grid(n int, step float64) (x, logW []float64) {
	for i := range n {
		v := (float64(i) - float64(n-1)/2) * step
		x, logW = append(x, v), append(logW, -v*v/2)
	}
	floats.AddConst(-floats.LogSumExp(logW), logW)
	return x, logW
}

var hardX, hardLogW = grid(hardNodes, hardStep)

// temperature is the posterior of h: nodes of the inverse temperature e^-h, their probabilities,
// and the logarithms of these up to a constant.
type temperature struct {
	inverseT, weight, log [hardNodes]float64
}

// said is the evidence of one example about h.
type said struct {
	likelihood Evidence // log likelihood of its label; zero for the only example of its class
	others     float64  // mean of its u under the other classes
}

// said returns the evidence of example i about h. Cost C exponentials a node.
func (p *Population) said(s *Support, u []float64, i int) (one said) {
	c, y := s.Way(), s.Class[i]
	row := u[i*c : (i+1)*c]
	for j, v := range row {
		if j != y {
			one.others += v / float64(c-1)
		}
	}
	if s.left(i) {
		share := make([]float64, c)
		share[y] = 1
		one.likelihood = p.Evidence(row, share)
	}
	return one
}

// temperatureOf returns the posterior of h, given the evidence of all examples:
//
//	ln p(h | session) = ln N(h; SD tilt, SD²) + Weight Σ_i ln softmax_{y_i}(u_i e^-h) + const
//
// left(i) reports whether the class of example i has others. The sum is over these examples, each
// left out of its class. The other examples give the tilt.
func (p *Population) temperatureOf(all []said, left func(i int) bool) (q temperature) {
	for k, x := range hardX {
		q.inverseT[k], q.log[k] = bounded(-p.LogTemperature.SD*x, 30), hardLogW[k]
	}
	if tilt := p.tilt(all, left); tilt != 0 {
		floats.AddScaled(q.log[:], tilt, hardX)
		floats.AddConst(-floats.LogSumExp(q.log[:]), q.log[:])
	}
	for i := range all {
		if left(i) {
			floats.Add(q.log[:], all[i].likelihood[:])
		}
	}
	normalise(q.weight[:], q.log[:])
	return q
}

// tilt returns how far examples that are the only ones of their classes move the mean of h, in SD.
// It is (Alone[0] + Alone[1] z) times their share of all examples, within ±4. z is the mean of their u
// under the other classes; it is nearer to zero for more similar classes. A normal density times
// exp(tilt x) is one whose mean is moved by tilt.
func (p *Population) tilt(all []said, left func(i int) bool) float64 {
	n, z := 0.0, 0.0
	for i := range all {
		if !left(i) {
			n++
			z += all[i].others
		}
	}
	if n == 0 || p.LogTemperature.Alone == [2]float64{} {
		return 0
	}
	const most = 4 // well beyond the nodes, which end at 2.8
	tilt := (p.LogTemperature.Alone[0] + p.LogTemperature.Alone[1]*z/n) * n / float64(len(all))
	return math.Max(-most, math.Min(most, tilt))
}

// Evidence is a log likelihood of h at each node of the quadrature, up to a constant. The zero value
// leaves a posterior as it is.
type Evidence [hardNodes]float64

// leastLog bounds the log probability of an answer. A much lower one would cost a sum of evidence
// digits, even if it is subtracted again.
const leastLog = -500

// Evidence returns the evidence about h of a query with calibrated log density ratios u. The query
// counts as share[j] examples of class j:
//
//	Weight Σ_j share_j ln softmax_j(u e^-h)
//
// Cost C exponentials a node.
func (p *Population) Evidence(u, share []float64) (e Evidence) {
	if p.LogTemperature.Weight == 0 || floats.Sum(share) == 0 {
		return e
	}
	top := floats.Max(u)
	for k, x := range hardX {
		f, z := bounded(-p.LogTemperature.SD*x, 30), 0.0
		for _, v := range u {
			z += math.Exp((v - top) * f)
		}
		logZ := math.Log(z)
		for j, w := range share {
			if w != 0 {
				e[k] += p.LogTemperature.Weight * w * math.Max((u[j]-top)*f-logZ, leastLog)
			}
		}
	}
	return e
}

// Add adds scale times o.
func (e *Evidence) Add(scale float64, o *Evidence) { floats.AddScaled(e[:], scale, o[:]) }

// normalise stores exp(l)/Σ exp(l) in dst. It sets weights below 1e-4 to zero, so that predictions
// skip these nodes.
func normalise(dst, l []float64) {
	const least = 1e-4
	z := floats.LogSumExp(l)
	var sum float64
	for k, v := range l {
		if dst[k] = math.Exp(v - z); dst[k] < least {
			dst[k] = 0
		}
		sum += dst[k]
	}
	floats.Scale(1/sum, dst)
}

// classesTo stores the mean over h of softmax_j(ln π_j + u_j e^-h) in dst. All four slices have
// length C.
func (q *temperature) classesTo(dst, u, logPrior, scratch []float64) {
	clear(dst)
	for k, w := range q.weight {
		if w == 0 {
			continue
		}
		f, top := q.inverseT[k], math.Inf(-1)
		for j, v := range u {
			scratch[j] = v*f + logPrior[j]
			top = math.Max(top, scratch[j])
		}
		var z float64
		for j, v := range scratch {
			scratch[j] = math.Exp(v - top)
			z += scratch[j]
		}
		w /= z
		for j, v := range scratch {
			dst[j] += w * v
		}
	}
}
