// Package input reads what several commands are given; data sets are read by
// core/dataset.
package input

import (
	"os"

	"metaqda/core/dataset"
	"metaqda/core/experiment"
	"metaqda/scripts/output"
)

// File reads a file; what says in messages what it is.
func File(path, what string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &dataset.FileError{File: path, Row: -1, Problem: "cannot be read (" + output.Reason(err) + ")", Remedy: "check the path of the " + what, Err: err}
	}
	return data, nil
}

// Prior reads a prior file.
func Prior(path string) (*experiment.Prior, error) {
	data, err := File(path, "prior")
	if err != nil {
		return nil, err
	}
	return experiment.DecodePrior(path, data)
}
