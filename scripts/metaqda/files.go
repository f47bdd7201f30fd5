package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"

	"metaqda/scripts/files"
)

// neededFile is a flag without which a command makes nothing.
type neededFile struct {
	to          *string
	name, usage string
}

// fileCommand fills in what commands that make one file of others have alike: their
// flags, and an action that refuses words that are no flag, a file that is not named,
// and a place that cannot be written to, before content begins to work.
func fileCommand(c cli.Command, out neededFile, from []neededFile, more []cli.Flag, content func(context.Context, *cli.Command) ([]byte, error)) *cli.Command {
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
		if err := files.CheckWritable(*out.to); err != nil {
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
