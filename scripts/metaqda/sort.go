package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"metaqda/scripts/files"
)

const enrolAbout = `Teaches a classifier the labelled embeddings of a data set, and writes it: a session that
the page opens, that sort and recognise take, and that export writes for other programs.
The prior is that of the extractor that the .json beside the data names, where it is one
of the page's own; for other numbers the prior for any vectors.`

func enrolCommand() *cli.Command {
	j, out := defaultJob(), ""
	return fileCommand(cli.Command{Name: "enrol", Usage: "teach a classifier labelled embeddings", Description: enrolAbout},
		neededFile{&out, "out", "classifier file to write"},
		[]neededFile{{&j.Examples, "examples", "data set of labelled examples"}},
		[]cli.Flag{
			textFlag(&j.Prior, "prior", "prior file, in place of that of the extractor"),
			numberFlag(&j.NonePrior, "none-prior", "probability of none of the classes beforehand, from 0 to below 1; 0.2 if left out"),
		},
		func(context.Context, *cli.Command) ([]byte, error) {
			c, err := j.Enrol()
			if err != nil {
				return nil, err
			}
			return c.Save()
		})
}

const sortAbout = `Writes a table (CSV) of what every picture probably is: its row and, where the
.json beside the data names "files", its file; the answer, the most probable class or,
where that is more than a third probable, "none of these"; the probability of each class
and of none of these. A name that a spreadsheet would take for a formula gets an
apostrophe before it. What was taught comes from a classifier file or from examples.
From folders of pictures:

  node scripts/embed/embed.mjs CLASSES --out taught.npz
  node scripts/embed/embed.mjs FOLDER --unlabelled --out pictures.npz
  metaqda sort --examples taught.npz --data pictures.npz --out table.csv`

func sortCommand() *cli.Command {
	return tableCommand(true, cli.Command{Name: "sort", Usage: "sort unlabelled pictures by a few labelled ones", Description: sortAbout})
}

const recogniseAbout = `Writes the table that sort does, of pictures that are judged one by one, each as the page
recognises a new picture.`

func recogniseCommand() *cli.Command {
	return tableCommand(false, cli.Command{Name: "recognise", Usage: "say what each picture is, one by one", Description: recogniseAbout})
}

func tableCommand(together bool, c cli.Command) *cli.Command {
	j, out := defaultJob(), ""
	j.Together = together
	flags := []cli.Flag{
		textFlag(&j.Classifier, "classifier", "classifier file, of enrol, the page or the npm package"),
		textFlag(&j.Examples, "examples", "in its place a data set of labelled examples"),
		textFlag(&j.Prior, "prior", "prior file, where it is not one of the page's own"),
		numberFlag(&j.NonePrior, "none-prior", "probability of none of the classes beforehand, from 0 to below 1; the classifier's own if left out, 0.2 for examples"),
	}
	if together {
		flags = append(flags, boolFlag(&j.Together, "together", "let the pictures tell of each other; --together=false judges one by one"))
	}
	return fileCommand(c, neededFile{&out, "out", "table to write"},
		[]neededFile{{&j.Data, "data", "embeddings to judge, .npz or .npy; labels are not asked for"}}, flags,
		func(ctx context.Context, c *cli.Command) ([]byte, error) {
			if (j.Classifier == "") == (j.Examples == "") {
				return nil, errors.New("give what was taught, by --classifier or by --examples")
			}
			j.Progress = files.Progress(c.Root().ErrWriter)
			return j.Table(ctx)
		})
}
