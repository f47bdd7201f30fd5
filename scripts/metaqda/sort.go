package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"metaqda/scripts/output"
	"metaqda/scripts/sorting"
)

const sortAbout = `Writes a table (CSV) of what every picture probably is: its row and, where the
.json beside the data names "files", its file; the answer, the most probable class or,
where that is more than a third probable, "none of these"; the probability of each class
and of none of these. A name that a spreadsheet would take for a formula gets an
apostrophe before it. From folders of pictures:

  node scripts/embed/embed.mjs CLASSES --out taught.npz
  node scripts/embed/embed.mjs FOLDER --unlabelled --out pictures.npz
  metaqda sort --examples taught.npz --data pictures.npz --prior web/prior/default.safetensors --out table.csv`

func sortCommand() *cli.Command {
	j, out := sorting.Defaults(), ""
	return fileCommand(cli.Command{Name: "sort", Usage: "sort unlabelled pictures by a few labelled ones", Description: sortAbout},
		neededFile{&out, "out", "table to write"},
		[]neededFile{
			{&j.Examples, "examples", "data set of labelled examples"},
			{&j.Data, "data", "embeddings to sort, .npz or .npy; labels are not asked for"},
			{&j.Prior, "prior", "prior file"},
		},
		[]cli.Flag{
			boolFlag(&j.Together, "together", "let the pictures tell of each other; --together=false judges one by one"),
			numberFlag(&j.NonePrior, "none-prior", "probability of none of the classes beforehand, from 0 to below 1"),
		},
		func(ctx context.Context, c *cli.Command) ([]byte, error) {
			j.Progress = output.Progress(c.Root().ErrWriter)
			return j.Table(ctx)
		})
}
