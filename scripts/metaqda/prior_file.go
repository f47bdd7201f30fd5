package main

import (
	"errors"
	"io/fs"
	"os"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// learnedPrior is a prior with all that goes with it.
type learnedPrior struct {
	niw       *niw.Prior
	transform embed.Transform
	session   model.Session
	dataMean  []float64 // of the embeddings it was learned from; nil if the file does not tell
	file      string
	sha256    string
	facts     map[string]string
}

// loadPrior reads a prior file.
func loadPrior(path string) (*learnedPrior, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &dataset.FileError{File: path, Row: -1, Problem: "cannot be read (" + reason(err) + ")", Remedy: "check the path of the prior", Err: err}
	}
	p, err := model.DecodePrior(data)
	if err != nil {
		return nil, &dataset.FileError{File: path, Row: -1, Problem: "is no usable prior (" + err.Error() + ")",
			Remedy: "make one with `metaqda train`", Err: err}
	}
	return &learnedPrior{niw: p.NIW, transform: p.Transform, session: p.Session, dataMean: p.DataMean, file: path,
		sha256: model.Sum(data), facts: p.Facts}, nil
}

// centre returns the centre that CL2N competitors may share, nil when the prior
// was made for other features.
func (p *learnedPrior) centre() []float64 {
	if p == nil || p.transform.Kind != embed.CL2N || p.transform.Shift != 0 || (p.transform.Power != 0 && p.transform.Power != 1) {
		return nil
	}
	return p.transform.Center
}

// mean returns the mean of the embeddings that the prior was learned from, nil if
// that is not known.
func (p *learnedPrior) mean() []float64 {
	if p == nil {
		return nil
	}
	return p.dataMean
}

// reason returns the innermost message of an error of the file system.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
