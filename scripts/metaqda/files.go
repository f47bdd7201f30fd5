package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	core "metaqda/core"
	"metaqda/core/model"
	"metaqda/scripts/files"
)

// neededFile is a flag that a command requires.
type neededFile struct {
	to          *string
	name, usage string
}

// fileCommand fills in the common parts of commands that make one file from others. These are their
// flags, and an action that checks before content begins to work. It refuses arguments that are no
// flag, a missing file name, and an output that cannot be written.
func fileCommand(c cli.Command, out neededFile, from []neededFile, more []cli.Flag, content func(context.Context, *cli.Command) ([]byte, error)) *cli.Command {
	out.usage += ", - for the standard output"
	needed := append(slices.Clone(from), out)
	for _, f := range needed {
		c.Flags = append(c.Flags, textFlag(f.to, f.name, f.usage+" (required)"))
	}
	c.Flags = append(c.Flags, more...)
	c.Action = func(ctx context.Context, c *cli.Command) error {
		if err := noArguments(c); err != nil {
			return err
		}
		for _, f := range needed {
			if *f.to == "" {
				return fmt.Errorf("no --%s given; `%s --help` tells what it is", f.name, c.FullName())
			}
		}
		if err := errors.Join(files.CheckWritable(*out.to), files.CheckApart([]string{*out.to}, named(c, out.name)...)); err != nil {
			return err
		}
		file, err := content(ctx, c)
		if err != nil {
			return err
		}
		return files.Write(*out.to, file)
	}
	return &c
}

// textTo returns where a command prints its text: the standard output, or the error output if one of
// its files goes to the standard output.
func textTo(c *cli.Command, outs ...string) io.Writer {
	if slices.ContainsFunc(outs, files.IsStandard) {
		return c.Root().ErrWriter
	}
	return c.Root().Writer
}

// named returns the values of all text flags of a command but one. The files that it reads are
// among them.
func named(c *cli.Command, except string) (values []string) {
	for _, f := range c.Flags {
		if f, ok := f.(*cli.StringFlag); ok && f.Name != except {
			values = append(values, c.String(f.Name))
		}
	}
	return values
}

const priorAbout = `Writes the general prior for vectors of length d, with its session model. The npm
package and the Go library use it if they are given no prior.`

func priorCommand() *cli.Command {
	d, extractor, out := 0, "", "prior.safetensors"
	return &cli.Command{
		Name: "prior", Usage: "write the general prior, for vectors of any kind", Description: priorAbout,
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

const exportAbout = `Writes a classifier as plain numbers in one safetensors file, for other programs. The
file gives the same answers as the classifier now, none of these included.
web/share/README.md has programs in Python and JavaScript that read it. The classifier is
a file of teach, the page or the npm package.`

func exportCommand() *cli.Command {
	var from, prior, out string
	return fileCommand(cli.Command{Name: "export", Usage: "write a classifier for other programs", Description: exportAbout},
		neededFile{&out, "out", "file to write"},
		[]neededFile{{&from, "classifier", "classifier file"}},
		[]cli.Flag{textFlag(&prior, "prior", priorUsage)},
		func(_ context.Context, c *cli.Command) ([]byte, error) {
			j := defaultJob()
			j.Classifier, j.Prior, j.Note = from, prior, c.Root().ErrWriter
			taught, err := j.Open()
			if err != nil {
				return nil, err
			}
			plain, err := taught.Export()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", from, err)
			}
			return plain, nil
		})
}
