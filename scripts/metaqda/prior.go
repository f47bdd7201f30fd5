package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v3"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/scripts/output"
)

const priorAbout = `Write the hand-crafted prior m = 0, S = s² I, kappa = 1, nu = d for embeddings of
dimension d that are scaled to length one. s = 1 is the prior of the paper's
ablation; with embeddings of length one s = 6 is far better calibrated.`

func priorCommand() *cli.Command {
	d, s, extractor, out := 0, 6.0, "", "prior.safetensors"
	return &cli.Command{
		Name: "prior", Usage: "write the hand-crafted prior that nothing was learned for", Description: priorAbout,
		Flags: []cli.Flag{
			intFlag(&d, "dimension", "dimension d of the embeddings (required)"),
			numberFlag(&s, "s", "square root of the diagonal of S"),
			textFlag(&extractor, "extractor", "id of the feature extractor, kept in the file"),
			textFlag(&out, "out", "file to write"),
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if d < 1 || d > model.MaxDimension {
				return fmt.Errorf("--dimension is %d: give the dimension of the embeddings, from 1 to %d", d, model.MaxDimension)
			}
			if !(s >= 1e-6 && s <= 1e6) {
				return fmt.Errorf("-s is %v: give a number from 1e-6 to 1e6", s)
			}
			b, err := model.EncodePrior(&model.Prior{
				NIW:       niw.HandCrafted(d, s),
				Transform: embed.Transform{Kind: embed.L2},
				Extractor: model.Extractor{ID: extractor},
				Facts:     map[string]string{"name": "hand-crafted", "s": strconv.FormatFloat(s, 'g', -1, 64)},
			})
			if err != nil {
				return err
			}
			return output.Write(out, b)
		},
	}
}
