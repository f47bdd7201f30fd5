package classifier

import (
	"strconv"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// MaxDimension is the longest vector, that of prior files.
const MaxDimension = 8192

// Default is the prior for vectors that no learned one is known for.
func Default(d int) (*model.Prior, error) {
	if d < 1 || d > MaxDimension {
		return nil, &Error{Code: "dimension", Message: "A vector of " + strconv.Itoa(d) + " numbers cannot be classified: from 1 to " + strconv.Itoa(MaxDimension) + " are possible."}
	}
	scale := make([]float64, d)
	for i := range scale {
		scale[i] = 6
	}
	s, err := niw.NewSpiked(scale, nil, nil)
	if err != nil {
		return nil, err
	}
	return &model.Prior{
		NIW:       &niw.Prior{M: make([]float64, d), Kappa: 1, Spiked: s, Nu: float64(d)},
		Transform: embed.Transform{Kind: embed.L2},
	}, nil
}
