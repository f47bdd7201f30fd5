package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	core "metaqda/core"
	"metaqda/core/model"
	"metaqda/scripts/files"
)

const priorAbout = `Writes the prior for vectors of length d that nothing was learned for: the one that
the npm package and the Go library use where they are given none, with the session
model that was fitted to it.`

func priorCommand() *cli.Command {
	d, extractor, out := 0, "", "prior.safetensors"
	return &cli.Command{
		Name: "prior", Usage: "write the prior for vectors that nothing was learned for", Description: priorAbout,
		Flags: []cli.Flag{
			intFlag(&d, "dimension", "dimension d of the embeddings (required)"),
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
			p, err := core.DefaultFile(d)
			if err != nil {
				return err
			}
			p.Extractor.ID, p.Facts = extractor, map[string]string{"name": "of nothing learned"}
			b, err := model.EncodePrior(p)
			if err != nil {
				return err
			}
			return files.Write(out, b)
		},
	}
}
