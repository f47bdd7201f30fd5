package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/anomaly"
)

// methods in the order of the tables. u and v are the parts of p(wrong).
var methods = []string{"mean embedding", "nearest embedding", "PatchCore", "PatchCore, reweighted", "u, the whole", "v, the places", "p(wrong)"}

// judge holds some good pictures.
type judge struct {
	model *anomaly.Model
	good  []picture
	mean  []float64
	bank  blas32.General // cells of length one, of all good pictures; none without PatchCore
	d     int
}

func newJudge(good []picture, d int, full bool) (*judge, error) {
	kept, each := make([]*anomaly.Picture, len(good)), make([]int, len(good))
	j := &judge{good: good, mean: make([]float64, d), d: d}
	for k, p := range good {
		kept[k], each[k] = p.kept, k
		floats.AddScaled(j.mean, 1/float64(len(good)), p.unit)
		if full {
			j.bank.Data = append(j.bank.Data, units(p.cells, d)...)
		}
	}
	j.bank.Rows, j.bank.Cols, j.bank.Stride = len(j.bank.Data)/d, d, d
	var err error
	j.model, err = anomaly.Fit(kept, each)
	return j, err
}

// units returns cells of length one.
func units(cells []float32, d int) []float32 {
	all := slices.Clone(cells)
	for c := 0; c < len(all); c += d {
		v := blas32.Vector{N: d, Data: all[c : c+d], Inc: 1}
		blas32.Scal(1/max(blas32.Nrm2(v), 1e-9), v)
	}
	return all
}

// scores returns the score of each method for a picture, and the terms of p(wrong).
func (j *judge) scores(p picture) (scores map[string]float64, x []float64, err error) {
	a, err := j.model.Ask(p.kept)
	if err != nil {
		return nil, nil, err
	}
	nearest := math.Inf(1)
	for _, g := range j.good {
		nearest = min(nearest, floats.Distance(p.unit, g.unit, 2))
	}
	scores = map[string]float64{
		"mean embedding": floats.Distance(p.unit, j.mean, 2), "nearest embedding": nearest,
		"u, the whole": a.Whole, "v, the places": a.Place,
	}
	if j.bank.Rows > 0 {
		scores["PatchCore"], scores["PatchCore, reweighted"] = j.patchCore(p)
	}
	return scores, j.model.Terms(a), nil
}

// patchCore returns the largest distance of a cell from its nearest good one. It also returns this
// reweighted by the nine neighbours of the good one (equations 6 and 7 of Roth et al., 2022).
func (j *judge) patchCore(p picture) (plain, reweighted float64) {
	const neighbours = 9
	x := units(p.cells, j.d)
	n := len(x) / j.d
	inner := blas32.General{Rows: n, Cols: j.bank.Rows, Stride: j.bank.Rows, Data: make([]float32, n*j.bank.Rows)}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, blas32.General{Rows: n, Cols: j.d, Stride: j.d, Data: x}, j.bank, 0, inner)
	distance := func(c, b int) float64 { return math.Sqrt(max(0, 2-2*float64(inner.Data[c*inner.Stride+b]))) }
	cell, to := 0, 0
	for c := range n {
		best := 0
		for b := range j.bank.Rows {
			if distance(c, b) < distance(c, best) {
				best = b
			}
		}
		if d := distance(c, best); d > plain {
			plain, cell, to = d, c, best
		}
	}
	// The neighbours of the good cell, itself among them.
	row := blas32.Vector{N: j.d, Data: j.bank.Data[to*j.d : (to+1)*j.d], Inc: 1}
	like := blas32.Vector{N: j.bank.Rows, Data: make([]float32, j.bank.Rows), Inc: 1}
	blas32.Gemv(blas.NoTrans, 1, j.bank, row, 0, like)
	order := make([]int, j.bank.Rows)
	for b := range order {
		order[b] = b
	}
	slices.SortFunc(order, func(a, b int) int {
		if like.Data[a] > like.Data[b] {
			return -1
		}
		return 1
	})
	sum := 0.0
	for _, b := range order[:min(neighbours, len(order))] {
		sum += math.Exp(distance(cell, b))
	}
	return plain, (1 - math.Exp(plain)/sum) * plain
}
