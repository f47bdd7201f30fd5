// Package oracle compares this build with vectors computed elsewhere by other
// means: densities from the dense formulas, gradients from
// automatic differentiation, calibration measures from their definitions. It is not for making such
// vectors. Those of testdata/ were computed outside of this repository and are never written again.
// Their source are the equations of the paper (Zhang et al., ICCV 2021) as core/niw corrects them.
package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

// Tolerance is the largest error that passes: relative, or absolute for values
// below one.
const Tolerance = 1e-8

// Report is the outcome for one file.
type Report struct {
	Kind  string // "predictive", "gradient" or "calibration"
	Cases int
	Rows  []Row // by name
}

// Row is one quantity of a report over all cases.
type Row struct {
	Quantity string
	Values   int     // how many numbers were compared
	MaxAbs   float64 // largest |got-want|
	MaxError float64 // largest |got-want|/max(1,|want|), NaN counting as infinite
}

// OK tells whether something was compared and everything agreed.
func (r *Report) OK() bool {
	for _, row := range r.Rows {
		if row.MaxError > Tolerance {
			return false
		}
	}
	return len(r.Rows) > 0
}

// Check recognises the kind of vectors from the JSON text and compares them.
// The error tells what is wrong with the text, never a disagreement.
func Check(data []byte) (*Report, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	t := &tally{rows: map[string]*Row{}}
	first, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("not JSON: %v", err)
	}
	if first == json.Delim('{') {
		return checkCalibration(t, data)
	}
	var probe []struct {
		FB   json.RawMessage `json:"fb_log_density"`
		Grad json.RawMessage `json:"grad"`
	}
	if err := json.Unmarshal(data, &probe); err != nil || len(probe) == 0 {
		return nil, fmt.Errorf("not a list of oracle cases")
	}
	switch {
	case probe[0].FB != nil:
		return checkCases[predictiveCase](t, "predictive", data)
	case probe[0].Grad != nil:
		return checkCases[gradientCase](t, "gradient", data)
	}
	return nil, fmt.Errorf("cases hold neither fb_log_density nor grad: not oracle vectors of a known kind")
}

// checkCases compares every case of a list.
func checkCases[C any, P interface {
	*C
	check(t *tally) error
}](t *tally, kind string, data []byte) (*Report, error) {
	var cases []C
	if err := json.Unmarshal(data, &cases); err != nil {
		return nil, fmt.Errorf("malformed %s vectors: %v", kind, err)
	}
	for i := range cases {
		if err := P(&cases[i]).check(t); err != nil {
			return nil, fmt.Errorf("case %d: %w", i, err)
		}
	}
	return t.report(kind, len(cases)), nil
}

// tally collects rows by quantity.
type tally struct{ rows map[string]*Row }

func (t *tally) compare(quantity string, got, want float64) {
	r := t.rows[quantity]
	if r == nil {
		r = &Row{Quantity: quantity}
		t.rows[quantity] = r
	}
	diff := math.Abs(got - want)
	if math.IsNaN(diff) {
		diff = math.Inf(1)
	}
	r.Values++
	r.MaxAbs = math.Max(r.MaxAbs, diff)
	r.MaxError = math.Max(r.MaxError, diff/math.Max(1, math.Abs(want)))
}

// compareAll compares element by element; a missing element counts as NaN.
func (t *tally) compareAll(quantity string, got, want []float64) {
	for i, w := range want {
		g := math.NaN()
		if i < len(got) {
			g = got[i]
		}
		t.compare(quantity, g, w)
	}
}

func (t *tally) report(kind string, cases int) *Report {
	r := &Report{Kind: kind, Cases: cases}
	for _, row := range t.rows {
		r.Rows = append(r.Rows, *row)
	}
	sort.Slice(r.Rows, func(i, j int) bool { return r.Rows[i].Quantity < r.Rows[j].Quantity })
	return r
}
