package metatrain

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/optimize"

	"metaqda/core/niw"
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

// KnownEvidence collects the evidence of the validator's episodes under the
// parameters p and the calibration c, in the order of the episodes. Episodes
// with a class without examples, or without queries of unseen classes, are left
// out. Domains weigh the same. Cost n N d per episode of N examples and n
// queries once the rows are whitened.
func KnownEvidence(ctx context.Context, v *Validator, p *Params, o Objective, c *qda.Calibration, workers int) ([]Evidence, error) {
	e := NewEngine(p.Prior.Dim(), o)
	e.Set(p)
	prior := niw.Posterior{Dim: p.Prior.Dim(), Kappa: p.Prior.Kappa, Nu: p.Prior.Nu, LogDetS: p.Prior.LogDetS()}
	var all []Evidence
	for i := range v.domains {
		part := make([]*Evidence, len(v.episodes[i]))
		err := v.forEach(ctx, e, i, workers, func(k int, w *Workspace, t *Task) {
			part[k] = taskEvidence(w, t, prior, &o, c)
		})
		if err != nil {
			return nil, err
		}
		n := 0
		for _, x := range part {
			if x != nil {
				n++
			}
		}
		for _, x := range part {
			if x != nil {
				x.Weight = 1 / float64(n)
				all = append(all, *x)
			}
		}
	}
	return all, nil
}

// taskEvidence turns one scored episode into evidence, nil if it has none.
func taskEvidence(w *Workspace, t *Task, prior niw.Posterior, o *Objective, c *qda.Calibration) *Evidence {
	unseen := false
	for _, y := range t.Labels {
		unseen = unseen || y == None
	}
	for _, k := range t.Shots {
		if k == 0 {
			return nil
		}
	}
	if !unseen {
		return nil
	}
	session := c.GramSession(prior, o.Inference, t.Shots, supportGram(t), qda.GramBlend{RegParam: o.RegParam, Gram: w.supportBlend(o)})
	e := &Evidence{Form: session.Form}
	way := len(t.Shots)
	u := make([]float64, way)
	for i, y := range t.Labels {
		for j, l := range w.logp[i*way : (i+1)*way] {
			u[j] = (l-w.logp0[i])/c.Temperature(t.Shots[j]) + c.ClassOffset(t.Shots[j])
		}
		e.Features = append(e.Features, session.Features(qda.Evidence(u)))
		e.Known = append(e.Known, y != None)
	}
	return e
}

// supportGram returns the Gram matrix of the whitened support.
func supportGram(t *Task) blas64.General {
	n := t.Support()
	return outer(blas64.General{Rows: n, Cols: t.Dim, Stride: t.Dim, Data: t.X})
}

// outer returns x xᵀ.
func outer(x blas64.General) blas64.General {
	n := x.Rows
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
			for k, v := range x {
				logit += w[k] * v
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
