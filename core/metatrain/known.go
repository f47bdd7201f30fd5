package metatrain

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/optimize"

	"metaqda/core/qda"
)

// knownRidge keeps the weights of features that hardly vary near zero.
const knownRidge = 1e-3

// Evidence is what an episode shows about known and unseen classes: the form of
// its session, and the features of each query with the answer.
type Evidence struct {
	Form     int
	Features [][qda.KnownFeatures]float64
	Known    []bool
	Weight   float64 // of the episode; its queries share it
}

// Evidence returns what the episodes show under the calibration c. Episodes with
// a class without examples, or without queries of unseen classes, are left out.
func (data Scores) Evidence(c *qda.Calibration) []Evidence {
	var all []Evidence
	for i := range data {
		if s := &data[i]; s.support != nil && slices.Contains(s.labels, None) {
			all = append(all, s.evidence(c))
		}
	}
	return all
}

func (s *scored) evidence(c *qda.Calibration) Evidence {
	session := c.Session(s.support)
	e := Evidence{Form: session.Form, Weight: s.weight}
	u := make([]float64, len(s.shots))
	for i, y := range s.labels {
		s.logOdds(u, c, i)
		var background float64
		if s.background != nil {
			background = s.background[i]
		}
		e.Features = append(e.Features, session.Features(qda.Evidence(u), background))
		e.Known = append(e.Known, y != None)
	}
	return e
}

// supportGram returns the Gram matrix of the whitened support.
func supportGram(t *Task) blas64.General {
	n := t.Support()
	x := blas64.General{Rows: n, Cols: t.Dim, Stride: t.Dim, Data: t.X}
	g := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, x, 0, g)
	return g
}

// FitKnown returns Calibration.Known: for each form of session the weights that
// minimise the cross-entropy of known against unseen queries at even odds, by
// L-BFGS on a logistic regression with a small ridge. A form that the evidence
// does not show gets a level of even odds and slope ½. It returns nil without
// evidence.
func FitKnown(evidence []Evidence) [][]float64 {
	if len(evidence) == 0 {
		return nil
	}
	known := make([][]float64, qda.KnownCases)
	for form := range known {
		known[form] = make([]float64, qda.KnownFeatures)
		known[form][1] = 0.5
		var rows []Evidence
		for _, e := range evidence {
			if e.Form == form {
				rows = append(rows, e)
			}
		}
		if len(rows) > 0 {
			fitLogistic(known[form], rows)
		}
	}
	return known
}

// fitLogistic moves w to the minimum of the ridge-penalised logistic loss.
func fitLogistic(w []float64, rows []Evidence) {
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return logisticLoss(w, rows, nil) },
		Grad: func(grad, w []float64) { logisticLoss(w, rows, grad) },
	}
	// As in minimiseHead, an error at the minimum leaves the best location.
	result, _ := optimize.Minimize(problem, w, &optimize.Settings{MajorIterations: 500, GradientThreshold: 1e-8}, &optimize.LBFGS{})
	if result != nil {
		copy(w, result.X)
	}
}

// logisticLoss is the mean over episodes, weighted, of the mean loss of their
// queries, known and unseen ones counting half each whatever their numbers.
func logisticLoss(w []float64, rows []Evidence, grad []float64) float64 {
	for i := range grad {
		grad[i] = 0
	}
	var loss, total float64
	for _, e := range rows {
		total += e.Weight
	}
	for _, e := range rows {
		known := 0
		for _, y := range e.Known {
			if y {
				known++
			}
		}
		for i, x := range e.Features {
			sign, n := 1.0, known
			if !e.Known[i] {
				sign, n = -1, len(e.Known)-known
			}
			scale := e.Weight / total / 2 / float64(n)
			var logit float64
			for k, v := range w {
				logit += v * x[k]
			}
			loss += scale * softplus(-sign*logit)
			for k := range grad {
				grad[k] -= scale * sign * x[k] / (1 + math.Exp(sign*logit))
			}
		}
	}
	for k := 1; k < len(w); k++ { // not the constant
		loss += knownRidge * w[k] * w[k]
		if grad != nil {
			grad[k] += 2 * knownRidge * w[k]
		}
	}
	return loss
}

// softplus returns ln(1+exp(x)).
func softplus(x float64) float64 {
	if x > 30 {
		return x
	}
	return math.Log1p(math.Exp(x))
}
