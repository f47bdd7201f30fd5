package main

import (
	"encoding/json"
	"os"

	metaqda "metaqda/core"
)

// explained is the answers of native Go about cells.
type explained struct {
	Labels    []string    `json:"labels"`
	Explain   [][]float64 `json:"explain"`   // score, rest and cells of a picture, its first class against none
	Against   [][]float64 `json:"against"`   // the same, against its last class
	Anomalies [][]float64 `json:"anomalies"` // wrong, number of good ones and cells, for a session of one class
}

// askCells answers about the pictures in a JSON list of lists of cells. The first ones of a session
// of one class are those of its examples, in the order of the file.
func askCells(session, pictures string) (a explained, err error) {
	c, err := open(session)
	if err != nil {
		return a, err
	}
	text, err := os.ReadFile(pictures)
	if err != nil {
		return a, err
	}
	var x [][][]float32
	if err := json.Unmarshal(text, &x); err != nil {
		return a, err
	}
	a.Labels = c.Labels()
	for _, cells := range x {
		flat, d := flatten(cells)
		for _, other := range []int{-1, len(a.Labels) - 1} {
			if other == 0 {
				continue // the only class
			}
			e, err := c.Explain(flat, d, 0, other)
			if err != nil {
				return a, err
			}
			row := append([]float64{e.Score, e.Rest}, e.Cells...)
			if other < 0 {
				a.Explain = append(a.Explain, row)
			} else {
				a.Against = append(a.Against, row)
			}
		}
	}
	if len(a.Labels) == 1 {
		a.Anomalies, err = anomalies(c, x)
	}
	return a, err
}

func anomalies(c *metaqda.Classifier, x [][][]float32) (rows [][]float64, err error) {
	examples := c.Classes()[0].Examples
	for i, e := range examples {
		flat, d := flatten(x[i])
		if err := c.SetCells(e.ID, flat, d); err != nil {
			return nil, err
		}
	}
	for _, cells := range x[len(examples):] {
		flat, d := flatten(cells)
		found, err := c.Anomaly(flat, d)
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]float64{found.Wrong, float64(found.Good)}, found.Cells...))
	}
	return rows, nil
}

func flatten(cells [][]float32) (flat []float32, d int) {
	for _, cell := range cells {
		flat = append(flat, cell...)
	}
	return flat, len(cells[0])
}
