// Package prior holds the priors that the page begins with, for the command line. It is
// not for the page, which fetches the files beside this one.
package prior

import (
	"embed"

	metaqda "metaqda/core"
)

//go:embed *.safetensors
var files embed.FS

// All returns the priors.
func All() ([]*metaqda.Prior, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []*metaqda.Prior
	for _, e := range entries {
		file, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		p, err := metaqda.DecodePrior(file)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Of returns the one for the numbers of an extractor, nil where there is none.
func Of(extractor string) (*metaqda.Prior, error) {
	all, err := All()
	for _, p := range all {
		if extractor != "" && p.Extractor().ID == extractor {
			return p, err
		}
	}
	return nil, err
}
