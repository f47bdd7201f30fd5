package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	core "metaqda/core"
	"metaqda/scripts/input"
)

const exportAbout = `Writes a classifier as plain numbers, for programs that know nothing of this one: a
safetensors file that names no other and answers as the classifier does now, none of
these included: web/share/README.md has the lines of Python and of JavaScript that
read it. The classifier is a session saved by the page, or what the npm package saves.`

func exportCommand() *cli.Command {
	var from, prior, out string
	return fileCommand(cli.Command{Name: "export", Usage: "write a classifier for other programs", Description: exportAbout},
		neededFile{&out, "out", "file to write"},
		[]neededFile{{&from, "classifier", "classifier file"}},
		[]cli.Flag{textFlag(&prior, "prior", "the prior that it was taught under; needless for a classifier of the npm package that has none")},
		func(context.Context, *cli.Command) ([]byte, error) { return exported(from, prior) })
}

// exported returns the bytes of a classifier file for other programs.
func exported(from, prior string) ([]byte, error) {
	file, err := input.File(from, "classifier")
	if err != nil {
		return nil, err
	}
	c, err := opened(file, prior)
	if err != nil && core.Code(err) == "prior" {
		return nil, fmt.Errorf("%s: %w; give it by --prior", from, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	plain, err := c.Export()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return plain, nil
}

// opened returns the classifier of a file, under the prior of another file if it is given.
func opened(file []byte, prior string) (*core.Classifier, error) {
	if prior == "" {
		return core.Open(file)
	}
	data, err := input.File(prior, "prior")
	if err != nil {
		return nil, err
	}
	p, err := core.DecodePrior(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", prior, err)
	}
	return core.OpenUnder(file, p)
}
