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
	shift, floor, power, unit := t.Shift, -math.MaxFloat64, t.Power, 1.0
	if shift > 0 {
		floor = 0
	}
	if power == 0 {
		power = 1
	}
	if t.Kind == embed.None {
		unit = 0
	}
	c, n := len(f.Labels), len(f.Owner)
	d := len(f.Weight) - f.B.Rows
	centre, owner := make([]float64, d), make([]float64, n)
	if t.Kind == embed.CL2N {
		copy(centre, t.Centre)
	}
	for i, j := range f.Owner {
		owner[i] = float64(j)
	}
	known := make([]float64, len(f.Session.Offset))
	for i, v := range f.Session.Offset {
		known[i] = v + f.LogOdds
	}
	tensors := map[string]tensor{}
	for _, t := range []struct {
		name  string
		shape []int
		parts [3][]float64
	}{
		{"input", []int{4}, [3][]float64{{shift, floor, power, unit}}},
		{"centre", []int{d}, [3][]float64{centre}},
		{"B", []int{f.B.Rows, d}, [3][]float64{f.B.Data}},
		{"weight", []int{len(f.Weight)}, [3][]float64{f.Weight}},
		{"mean", []int{c + 1, len(f.Weight)}, [3][]float64{f.Mean.RawMatrix().Data}},
		{"base", []int{c + 1}, [3][]float64{f.Base}},
		{"rows", []int{n, d}, [3][]float64{f.Rows.Data}},
		{"at", []int{n}, [3][]float64{f.At}},
		{"sign", []int{n}, [3][]float64{f.Sign}},
		{"owner", []int{n}, [3][]float64{owner}},
		{"density", []int{3, c + 1}, [3][]float64{f.Norm, f.Rate, f.Scale}},
		{"line", []int{3, c}, [3][]float64{f.Slope, f.Offset, f.LogPrior}},
		{"hard", []int{2, len(f.Session.InverseT)}, [3][]float64{f.Session.InverseT, f.Session.HardWeight}},
		{"known", []int{3, len(known)}, [3][]float64{f.Session.Slope, known, f.Session.KnownWeight}},
	} {
		var v []float64
		for _, part := range t.parts {
			v = append(v, part...)
		}
		tensors[t.name] = floatTensor("F64", v, t.shape...)
	}
	return encodeTensors(tensors, map[string]string{
		"format": plainFormat, "version": plainVersion, "name": text(name),
		"extractor": jsonText(x.write), "inference": f.Inference.String(), "classes": writeList(f.Labels),
	})
}
