package metatrain

import (
	"fmt"
	"math"
)

// Optimiser names an update rule.
type Optimiser string

const (
	// SGD is gradient descent with momentum mu: v ← mu v + g, θ ← θ - rate v.
	SGD Optimiser = "sgd"
	// Adam divides bias-corrected moving averages of gradient and squared
	// gradient, θ ← θ - rate m̂/(√v̂ + ε) (Kingma and Ba, 2015, algorithm 1).
	Adam Optimiser = "adam"
)

// Schedule names how the rate falls with the steps.
type Schedule string

const (
	Constant Schedule = "constant" // one
	Cosine   Schedule = "cosine"   // ½(1 + cos(π t/Steps)): from one to zero
	Stepped  Schedule = "step"     // StepFactor^⌊t/StepEvery⌋
)

// rateAt returns the factor on the rates at step t, counted from 0.
func (c *Config) rateAt(t int) float64 {
	f := 1.0
	switch c.Schedule {
	case Cosine:
		f = (1 + math.Cos(math.Pi*float64(t)/float64(c.Steps))) / 2
	case Stepped:
		f = math.Pow(c.StepFactor, float64(t/c.StepEvery))
	}
	if t < c.WarmUp {
		f *= float64(t+1) / float64(c.WarmUp)
	}
	return f
}

// moments is the memory of an optimiser for n values: momentum, or Adam's two
// averages.
type moments struct {
	first, second []float64
}

func newMoments(o Optimiser, n int) *moments {
	m := &moments{first: make([]float64, n)}
	if o == Adam {
		m.second = make([]float64, n)
	}
	return m
}

// update moves the values x, which stand at position at of the memory, along
// the gradient g scaled by clip. step counts from 1.
func (c *Config) update(m *moments, at int, x, g []float64, clip, rate float64, step int) {
	first := m.first[at : at+len(x)]
	if c.Optimiser == SGD {
		for i, v := range g {
			first[i] = c.Momentum*first[i] + clip*v + c.WeightDecay*x[i]
			x[i] -= rate * first[i]
		}
		return
	}
	second := m.second[at : at+len(x)]
	b1, b2 := c.Beta1, c.Beta2
	fix1, fix2 := 1/(1-math.Pow(b1, float64(step))), 1/(1-math.Pow(b2, float64(step)))
	for i, v := range g {
		v = clip*v + c.WeightDecay*x[i]
		first[i] = b1*first[i] + (1-b1)*v
		second[i] = b2*second[i] + (1-b2)*v*v
		x[i] -= rate * first[i] * fix1 / (math.Sqrt(second[i]*fix2) + c.Epsilon)
	}
}

// DivergedError says that a step's loss or gradient is not finite, or would make the parameters so.
type DivergedError struct {
	Step int
	Loss float64
}

// Error returns one sentence.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("training diverged at step %d (loss %v): choose a smaller learning rate or a smaller gradient clip", e.Step, e.Loss)
}
