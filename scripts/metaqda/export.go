package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"
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
		[]cli.Flag{textFlag(&prior, "prior", "the prior that it was taught under, where it is not one of the page's own")},
		func(context.Context, *cli.Command) ([]byte, error) { return exported(from, prior) })
}

// exported returns the bytes of a classifier file for other programs.
func exported(from, prior string) ([]byte, error) {
	j := defaultJob()
	j.Classifier, j.Prior = from, prior
	c, err := j.Open()
	if err != nil {
		return nil, err
	}
	plain, err := c.Export()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return plain, nil
}
