package experiment

import (
	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// Prior is a prior with the name of the file it was read from.
type Prior struct {
	*model.Prior
	File   string
	SHA256 string // of the file
}

// DecodePrior decodes a prior file. file is used in messages and in the report.
func DecodePrior(file string, data []byte) (*Prior, error) {
	p, err := model.DecodePrior(data)
	if err != nil {
		return nil, &dataset.FileError{File: file, Row: -1, Problem: "is no usable prior (" + err.Error() + ")",
			Remedy: "make one with `metaqda train`", Err: err}
	}
	return &Prior{Prior: p, File: file, SHA256: model.Sum(data)}, nil
}

// HandCrafted returns the prior m = 0, S = scale² I, kappa = 1, nu = d of embeddings
// under a transform, for which nothing was learned.
func HandCrafted(d int, scale float64, t embed.Transform) *Prior {
	return &Prior{Prior: &model.Prior{NIW: niw.HandCrafted(d, scale), Transform: t}}
}

// centre returns the centre that CL2N competitors may share, nil when the prior
// was made for other features.
func (p *Prior) centre() []float64 {
	if p == nil || p.Transform.Kind != embed.CL2N || p.Transform.Shift != 0 || (p.Transform.Power != 0 && p.Transform.Power != 1) {
		return nil
	}
	return p.Transform.Centre
}

// mean returns the mean of the embeddings that the prior was learned from, nil if
// that is not known.
func (p *Prior) mean() []float64 {
	if p == nil {
		return nil
	}
	return p.DataMean
}
