package metatrain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"metaqda/core/niw"
)

// Config is everything about a training run except the data.
type Config struct {
	Objective Objective
	Start     Start

	Optimiser   Optimiser
	Rate        float64 // learning rate of m and L
	ScalarRate  float64 // learning rate of ln kappa, ln(nu-d+1) and the head
	Momentum    float64 // SGD
	Beta1       float64 // Adam
	Beta2       float64 // Adam
	Epsilon     float64 // Adam
	WeightDecay float64 // added to the gradient of m and L times their value
	Clip        float64 // largest norm of the gradient of m and L together, and of the scalars; 0 for no bound
	Schedule    Schedule
	StepEvery   int     // steps, for Stepped
	StepFactor  float64 // for Stepped
	WarmUp      int     // steps over which the rates rise to their full values

	Steps int    // 0 keeps the start
	Batch int    // tasks of a step, whose gradients are averaged
	Fixed string // comma-separated names of what is not learned, see [FixedNames]

	ValidateEvery int // steps between validations
	Patience      int // validations without a better one before training stops; 0 for never
	Select        Selection

	Data string // fingerprint of data and sampling, for the facts of a prior file
}

// Start has the parameters at the start of training.
type Start struct {
	Scale       float64 // s of S = s²I
	Kappa       float64
	NuExcess    float64 // nu - d + 1, above 0; 1 is nu = d
	Temperature float64 // T of every shot
}

// Selection says which validation is the best.
type Selection string

const (
	ByAccuracy Selection = "accuracy" // highest mean accuracy, then the lower loss
	ByLoss     Selection = "loss"     // lowest mean loss
)

// FixedNames returns the names that [Config.Fixed] may list. Temperature is [Head.LogT].
func FixedNames() []string { return slices.Clone(fixedNames) }

var fixedNames = []string{"mean", "scale", "kappa", "nu", "temperature", "none"}

// formerNames are names of removed coefficients and have no effect. [DefaultConfig] keeps them
// because priors hold their configuration, and the bytes of priors must stay the same.
var formerNames = []string{"temperature-shape", "bias"}

// DefaultConfig returns the configuration with the best results on validation classes of left-out
// domains: gradient descent with momentum and a clipped gradient from S = ¼ I and T = 30, nu fixed
// at d.
func DefaultConfig() Config {
	return Config{
		Objective: Objective{Inference: niw.FB, Loss: CrossEntropy, PerWay: true},
		Start:     Start{Scale: 0.5, Kappa: 1, NuExcess: 1, Temperature: 30},
		Optimiser: SGD, Rate: 0.01, ScalarRate: 0.02, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
		Clip: 1, Schedule: Cosine, StepEvery: 300, StepFactor: 0.1, WarmUp: 50,
		Steps: 1200, Batch: 1, Fixed: "nu,temperature-shape,bias",
		ValidateEvery: 100, Select: ByAccuracy,
	}
}

// Validate returns an error that names the first value outside its domain.
func (c *Config) Validate() error {
	held := func(x float64) bool { return x >= 1e-12 && x <= 1e9 } // by a prior file: see core/model
	const wanted = "a number from 1e-12 to 1e9"
	for _, v := range []struct {
		name string
		x    float64
		ok   bool
		want string
	}{
		{"scale", c.Start.Scale, held(c.Start.Scale), wanted},
		{"kappa", c.Start.Kappa, held(c.Start.Kappa), wanted},
		{"nu - d + 1", c.Start.NuExcess, held(c.Start.NuExcess), wanted},
		{"temperature", c.Start.Temperature, held(c.Start.Temperature), wanted},
		{"learning rate", c.Rate, c.Rate >= 0, "a number of 0 or more"},
		{"learning rate of the scalars", c.ScalarRate, c.ScalarRate >= 0, "a number of 0 or more"},
		{"momentum", c.Momentum, c.Momentum >= 0 && c.Momentum < 1, "a number from 0 to below 1"},
		{"beta1", c.Beta1, c.Beta1 >= 0 && c.Beta1 < 1, "a number from 0 to below 1"},
		{"beta2", c.Beta2, c.Beta2 >= 0 && c.Beta2 < 1, "a number from 0 to below 1"},
		{"epsilon", c.Epsilon, c.Epsilon > 0, "a positive number"},
		{"weight decay", c.WeightDecay, c.WeightDecay >= 0, "a number of 0 or more"},
		{"gradient clip", c.Clip, c.Clip >= 0, "a number of 0 or more, where 0 is no bound"},
		{"step factor", c.StepFactor, c.StepFactor > 0 && c.StepFactor <= 1, "a number above 0, at most 1"},
		{"prior probability of none of these", c.Objective.NonePrior, c.Objective.NonePrior >= 0 && c.Objective.NonePrior < 1, "a number from 0 (that of each episode) to below 1"},
		{"steps of the schedule", float64(c.StepEvery), c.StepEvery > 0, "at least 1"},
		{"warm-up", float64(c.WarmUp), c.WarmUp >= 0, "a number of steps of 0 or more"},
		{"steps", float64(c.Steps), c.Steps >= 0, "0 or more"},
		{"batch", float64(c.Batch), c.Batch > 0, "at least 1"},
		{"steps between validations", float64(c.ValidateEvery), c.ValidateEvery > 0, "at least 1"},
		{"patience", float64(c.Patience), c.Patience >= 0, "a number of validations of 0 or more"},
	} {
		if !v.ok || math.IsInf(v.x, 0) {
			return &niw.ValueError{Name: v.name, Index: -1, Value: v.x, Want: v.want}
		}
	}
	return c.validateNames()
}

func (c *Config) validateNames() error {
	if c.Optimiser != SGD && c.Optimiser != Adam {
		return fmt.Errorf("optimiser %q: want sgd or adam", c.Optimiser)
	}
	if c.Schedule != Constant && c.Schedule != Cosine && c.Schedule != Stepped {
		return fmt.Errorf("schedule %q: want constant, cosine or step", c.Schedule)
	}
	if c.Select != ByAccuracy && c.Select != ByLoss {
		return fmt.Errorf("selection %q: want accuracy or loss", c.Select)
	}
	for name := range strings.SplitSeq(c.Fixed, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(fixedNames, name) && !slices.Contains(formerNames, name) {
			return fmt.Errorf("%q cannot be fixed: want some of %s", name, strings.Join(fixedNames, ", "))
		}
	}
	return nil
}

// fixed reports whether the named parameter is not learned.
func (c *Config) fixed(name string) bool {
	for n := range strings.SplitSeq(c.Fixed, ",") {
		if strings.TrimSpace(n) == name {
			return true
		}
	}
	return false
}
