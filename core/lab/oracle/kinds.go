package oracle

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/discriminant"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lab/metrics"
	"metaqda/core/niw"
)

// priorJSON is a prior as the vectors spell it.
type priorJSON struct {
	M     []float64   `json:"m"`
	Kappa float64     `json:"kappa"`
	Nu    float64     `json:"nu"`
	L     [][]float64 `json:"L"`
}

func (p *priorJSON) prior() (*niw.Prior, error) {
	d := len(p.M)
	if d == 0 || len(p.L) != d {
		return nil, fmt.Errorf("prior of dimension %d with %d rows of L", d, len(p.L))
	}
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i, row := range p.L {
		if len(row) <= i {
			return nil, fmt.Errorf("row %d of L has %d numbers", i, len(row))
		}
		for j := range i + 1 {
			l.SetTri(i, j, row[j])
		}
	}
	q := &niw.Prior{M: p.M, Kappa: p.Kappa, L: l, Nu: p.Nu}
	return q, q.Validate()
}

type predictiveCase struct {
	Prior   priorJSON     `json:"prior"`
	Support [][][]float64 `json:"support"`
	Query   [][]float64   `json:"query"`
	FB      [][]float64   `json:"fb_log_density"`
	FBProb  [][]float64   `json:"fb_probability"`
	MAP     [][]float64   `json:"map_log_density"`
	MAPPrb  [][]float64   `json:"map_probability"`
	Prior0  []float64     `json:"prior_predictive_log_density"`
}

func (c *predictiveCase) check(t *tally) error {
	p, err := c.Prior.prior()
	if err != nil {
		return err
	}
	if len(c.FB) != len(c.Query) || len(c.MAP) != len(c.Query) ||
		len(c.FBProb) != len(c.Query) || len(c.MAPPrb) != len(c.Query) || len(c.Prior0) != len(c.Query) {
		return fmt.Errorf("lists of different lengths")
	}
	if err := c.checkDensities(t, p, niw.FB, c.FB, c.FBProb); err != nil {
		return err
	}
	return c.checkDensities(t, p, niw.MAP, c.MAP, c.MAPPrb)
}

func (c *predictiveCase) checkDensities(t *tally, p *niw.Prior, inf niw.Inference, density, probability [][]float64) error {
	classes := make([]*mat.Dense, len(c.Support))
	for j, rows := range c.Support {
		if len(rows) == 0 {
			continue
		}
		x, err := dense(rows, p.Dim())
		if err != nil {
			return fmt.Errorf("class %d: %w", j, err)
		}
		classes[j] = mat.NewDense(len(rows), p.Dim(), nil)
		p.WhitenRowsTo(classes[j], x)
	}
	k := discriminant.New(p, inf, false, classes)
	got, z := make([]float64, len(c.Support)), make([]float64, p.Dim())
	for i, x := range c.Query {
		if err := niw.CheckVector("embedding", x, p.Dim()); err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
		p.WhitenTo(z, x)
		none := k.LogDensitiesTo(got, z)
		t.compareAll(inf.String()+" log density", got, density[i])
		if inf == niw.FB {
			t.compare("prior predictive log density", none, c.Prior0[i])
		}
		metrics.SoftmaxTo(got, got, 1)
		t.compareAll(inf.String()+" probability", got, probability[i])
	}
	return nil
}

// dense copies rows of equal length d into a matrix.
func dense(rows [][]float64, d int) (*mat.Dense, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("no rows")
	}
	x := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		if err := niw.CheckVector(fmt.Sprintf("row %d", i), row, d); err != nil {
			return nil, err
		}
		x.SetRow(i, row)
	}
	return x, nil
}

type gradientCase struct {
	Mode    string        `json:"mode"`
	Loss    string        `json:"loss_kind"`
	Prior   priorJSON     `json:"prior"`
	Support [][][]float64 `json:"support"`
	Query   [][]float64   `json:"query"`
	Label   []int         `json:"label"`
	Value   float64       `json:"loss"`
	Grad    priorJSON     `json:"grad"`
}

func (c *gradientCase) check(t *tally) error {
	p, err := c.Prior.prior()
	if err != nil {
		return err
	}
	inf, err := niw.ParseInference(c.Mode)
	if err != nil {
		return err
	}
	loss, err := metatrain.ParseLoss(c.Loss)
	if err != nil {
		return err
	}
	task, err := c.task(p.Dim())
	if err != nil {
		return err
	}
	e := metatrain.NewEngine(p.Dim(), metatrain.Objective{Inference: inf, Loss: loss})
	e.Set(&metatrain.Params{Prior: p})
	g := metatrain.NewGradient(p.Dim())
	t.compare("loss", e.Gradient(g, &metatrain.Workspace{}, task), c.Value)
	t.compareAll("gradient of m", g.M, c.Grad.M)
	t.compare("gradient of kappa", g.Kappa, c.Grad.Kappa)
	t.compare("gradient of nu", g.Nu, c.Grad.Nu)
	for i, row := range c.Grad.L {
		if i < p.Dim() {
			t.compareAll("gradient of L", g.L[i*p.Dim():(i+1)*p.Dim()], row)
		}
	}
	return nil
}

func (c *gradientCase) task(d int) (*metatrain.Task, error) {
	t := &metatrain.Task{Dim: d, Labels: c.Label}
	for _, rows := range append(append([][][]float64{}, c.Support...), c.Query) {
		x, err := dense(rows, d)
		if err != nil {
			return nil, err
		}
		t.X = append(t.X, x.RawMatrix().Data...)
	}
	for _, rows := range c.Support {
		t.Shots = append(t.Shots, len(rows))
	}
	return t, t.Validate()
}

type calibrationCase struct {
	Logits      [][]float64 `json:"logits"`
	Label       []int       `json:"label"`
	Bins        int         `json:"bins"`
	ECE         float64     `json:"ece"`
	NLL         float64     `json:"nll"`
	Brier       float64     `json:"brier"`
	Accuracy    float64     `json:"accuracy"`
	Temperature float64     `json:"temperature_min_nll"`
	ECET        float64     `json:"ece_at_temperature"`
	NLLT        float64     `json:"nll_at_temperature"`
}

func checkCalibration(t *tally, data []byte) (*Report, error) {
	var c calibrationCase
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("malformed calibration vectors: %v", err)
	}
	if len(c.Logits) == 0 || len(c.Label) != len(c.Logits) || c.Bins < 1 {
		return nil, fmt.Errorf("not calibration vectors: logits, label and bins do not fit together")
	}
	for i, row := range c.Logits {
		if len(row) == 0 || c.Label[i] < 0 || c.Label[i] >= len(row) {
			return nil, fmt.Errorf("row %d of the logits does not fit its label", i)
		}
	}
	raw := c.tally(1)
	t.compare("ece", raw.Bins.ECE(), c.ECE)
	t.compare("nll", raw.MeanLoss(), c.NLL)
	t.compare("brier", raw.MeanBrier(), c.Brier)
	t.compare("accuracy", raw.Accuracy(), c.Accuracy)
	temperature := metrics.FitTemperature(c.Logits, c.Label)
	t.compare("temperature of least nll", temperature, c.Temperature)
	scaled := c.tally(temperature)
	t.compare("ece at that temperature", scaled.Bins.ECE(), c.ECET)
	t.compare("nll at that temperature", scaled.MeanLoss(), c.NLLT)
	return t.report("calibration", 1), nil
}

func (c *calibrationCase) tally(temperature float64) *metrics.Tally {
	sum := metrics.NewTally(c.Bins)
	for i, row := range c.Logits {
		sum.Add(row, c.Label[i], temperature, make([]float64, len(row)))
	}
	return sum
}
