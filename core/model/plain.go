package model

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/embed"
	"metaqda/core/json"
	"metaqda/core/lda"
)

const (
	plainFormat       = "metaqda.plain"
	plainVersion      = "2"
	plainWithConstant = "3"
)

// EncodePlain returns the bytes of a file with which other programs can answer as a classifier does
// now. It is a safetensors file that needs no other file. Its tensors, all F64, hold the transform and
// the numbers of [lda.Predictor]:
//
//	columns (2×d) mean, scale: x' = (x - mean) scale
//	input (4)    shift, floor, power, unit: y = sign(v) |v|^power - centre, v = max(x' + shift, floor),
//	             divided by its length if unit is 1
//	centre (d)   weights (C×d)   intercept (C)   prior (C), log of the class prior
//	hard (2×·)   inverse temperature, weight
//	known (3×·)  slope, offset, weight
//
// Version 3 is of tables alone. There input has a fifth number, a constant that follows y before
// the division, and centre and weights have d+1 columns.
//
// The metadata have the labels of the classes as a JSON list, the extractor and a name. Their
// "sha256" is the checksum of the file with 64 zeros in the checksum's place. Three lines of a
// program check it, unlike the checksum of a classifier file. Older files have none. Equal
// classifiers give equal bytes. scripts/python reads the file, and so does a program in JavaScript
// in the README of web/share.
func EncodePlain(p *lda.Predictor, t embed.Transform, name string, x Extractor) []byte {
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
	c, length := p.Weights.Dims()
	input, version, d := []float64{shift, floor, power, unit}, plainVersion, length
	if t.Constant != 0 {
		input, version, d = append(input, t.Constant), plainWithConstant, length-1
	}
	centre := make([]float64, length)
	if t.Kind == embed.CL2N {
		copy(centre, t.Centre)
	}
	columns := slices.Concat(make([]float64, d), slices.Repeat([]float64{1}, d))
	if t.Mean != nil {
		columns = slices.Concat(t.Mean, t.Scale)
	}
	for i := range d { // s |v|^power is |s^(1/power) v|^power
		s := p.Share
		if i < p.First {
			s = 1 - p.Share
		}
		if p.Share != 0.5 {
			columns[d+i] *= math.Pow(s, 1/power)
			centre[i] *= s
		}
	}
	known := slices.Concat(p.Session.Slope, p.Session.Offset, p.Session.KnownWeight)
	nodes := len(p.Session.Offset)
	floats.AddConst(p.LogOdds, known[nodes:2*nodes])
	file := encodeTensors(map[string]tensor{
		"columns":   floatTensor("F64", columns, 2, d),
		"input":     floatTensor("F64", input, len(input)),
		"centre":    floatTensor("F64", centre, length),
		"weights":   floatTensor("F64", p.Weights.RawMatrix().Data, c, length),
		"intercept": floatTensor("F64", p.Intercept, c),
		"prior":     floatTensor("F64", p.LogPrior, c),
		"hard":      floatTensor("F64", slices.Concat(p.Session.InverseT, p.Session.HardWeight), 2, len(p.Session.InverseT)),
		"known":     floatTensor("F64", known, 3, nodes),
	}, map[string]string{
		"format": plainFormat, "version": version, "name": text(name),
		"extractor": json.Text(x.Code), "classes": writeList(p.Labels),
		checksumKey: strings.Repeat("0", 64),
	})
	key := `"` + checksumKey + `":"` // which stands nowhere else: quotes within the metadata are escaped
	copy(file[strings.Index(string(file), key)+len(key):], Sum(file))
	return file
}
