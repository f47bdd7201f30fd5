package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	core "metaqda/core"
	"metaqda/core/dataset"
	"metaqda/scripts/output"
)

const exportAbout = `Writes a classifier as plain numbers, for programs that know nothing of this one: a
safetensors file that names no other and answers as the classifier does now, none of
these included. web/share/README.md has the lines of Python and of JavaScript that
read it. The classifier is a session saved by the page, or what the npm package saves.`

func exportCommand() *cli.Command {
	var from, prior, out string
	return &cli.Command{
		Name: "export", Usage: "write a classifier for other programs", Description: exportAbout,
		Flags: []cli.Flag{
			textFlag(&from, "classifier", "classifier file (required)"),
			textFlag(&prior, "prior", "the prior that it was taught under; needless for a classifier of the npm package that has none"),
			textFlag(&out, "out", "file to write (required)"),
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if from == "" || out == "" {
				return errors.New("give a classifier by --classifier and the file to write by --out")
			}
			if err := output.CheckWritable(out); err != nil {
				return err
			}
			plain, err := exported(from, prior)
			if err != nil {
				return err
			}
			return output.Write(out, plain)
		},
	}
}

// exported returns the bytes of a classifier file for other programs.
func exported(from, prior string) ([]byte, error) {
	file, err := read(from, "classifier")
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
	data, err := read(prior, "prior")
	if err != nil {
		return nil, err
	}
	p, err := core.DecodePrior(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", prior, err)
	}
	return core.OpenUnder(file, p)
}

func read(path, what string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &dataset.FileError{File: path, Row: -1, Problem: "cannot be read (" + output.Reason(err) + ")", Remedy: "check the path of the " + what, Err: err}
	}
	return data, nil
}
