package model

import (
	"math"

	"metaqda/core/embed"
	"metaqda/core/qda"
)

const (
	plainFormat  = "metaqda.plain"
	plainVersion = "1"
)

// EncodePlain returns the bytes of a file for other programs: what a classifier
// answers by as long as nothing is taught, in a safetensors file that names no other.
// Its tensors, all F64, are those of [qda.Frozen] with the transform before them:
//
//	input (4)  shift, floor, power, unit: y = sign(v) |v|^power - centre, v = max(x + shift, floor),
//	           divided by its length if unit is 1
//	centre (d) B (r×d) weight (d+r) mean (C+1×d+r) base (C+1)
//	rows (N×d) at (N) sign (N) owner (N)
//	density (3×C+1) norm, rate, scale; line (3×C) slope, offset, log of the class prior
//	hard (2×·) inverse temperature, weight; known (3×·) slope, offset, weight
//
// The metadata have the labels of the classes as a JSON list, the inference, the
// extractor and a name. Equal classifiers give equal bytes. The README of web/share has
// programs that read it.
func EncodePlain(f *qda.Frozen, t embed.Transform, name string, x Extractor) []byte {
	d := len(f.Weight)
	if f.B != nil {
		d -= f.B.RawMatrix().Rows
	}
	input := []float64{t.Shift, -math.MaxFloat64, t.Power, 1}
	if t.Shift > 0 {
		input[1] = 0
	}
	if t.Power == 0 {
		input[2] = 1
	}
	if t.Kind == embed.None {
		input[3] = 0
	}
	centre := make([]float64, d)
	if t.Kind == embed.CL2N {
		copy(centre, t.Center)
	}
	known := make([]float64, len(f.Session.Offset))
	for i, v := range f.Session.Offset {
		known[i] = v + f.LogOdds
	}
	c, n := len(f.Labels), len(f.Owner)
	owner := make([]float64, n)
	for i, j := range f.Owner {
		owner[i] = float64(j)
	}
	tensors := map[string]tensor{
		"input":   floatTensor("F64", input, 4),
		"centre":  floatTensor("F64", centre, d),
		"weight":  floatTensor("F64", f.Weight, len(f.Weight)),
		"mean":    floatTensor("F64", f.Mean.RawMatrix().Data, c+1, len(f.Weight)),
		"base":    floatTensor("F64", f.Base, c+1),
		"at":      floatTensor("F64", f.At, n),
		"sign":    floatTensor("F64", f.Sign, n),
		"owner":   floatTensor("F64", owner, n),
		"density": joined(f.Norm, f.Rate, f.Scale),
		"line":    joined(f.Slope, f.Offset, f.LogPrior),
		"hard":    joined(f.Session.InverseT, f.Session.HardWeight),
		"known":   joined(f.Session.Slope, known, f.Session.KnownWeight),
		"B":       floatTensor("F64", nil, 0, d),
		"rows":    floatTensor("F64", nil, 0, d),
	}
	if f.B != nil {
		tensors["B"] = floatTensor("F64", f.B.RawMatrix().Data, len(f.Weight)-d, d)
	}
	if f.Rows != nil {
		tensors["rows"] = floatTensor("F64", f.Rows.RawMatrix().Data, n, d)
	}
	return encodeTensors(tensors, map[string]string{
		"format": plainFormat, "version": plainVersion, "name": text(name),
		"extractor": jsonText(x.write), "inference": f.Inference.String(), "classes": writeList(f.Labels),
	})
}

// joined is a matrix of rows of one length.
func joined(rows ...[]float64) tensor {
	var all []float64
	for _, row := range rows {
		all = append(all, row...)
	}
	return floatTensor("F64", all, len(rows), len(rows[0]))
}
