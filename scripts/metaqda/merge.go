package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"metaqda/core/lab/experiment"
	"metaqda/scripts/files"
)

const mergeAbout = `Puts files of one evaluation together and prints and writes what the undivided
evaluation would have:

  shards    that "metaqda eval --shard i/n --json FILE" wrote, all n, in any order
  methods   that "metaqda eval --json FILE" ran apart, with the same flags but for
            --methods and --n-tasks: a slow method may have fewer tasks, which are
            the first of the others'. For protocols with fixed ways and shots, and
            for sessions`

func mergeCommand() *cli.Command {
	var json, markdown, pictures string
	return &cli.Command{
		Name: "merge", Usage: "put the shards or the methods of an evaluation together", ArgsUsage: "FILE...", Description: mergeAbout,
		Flags: outputFlags(&json, &markdown, &pictures),
		Action: func(_ context.Context, c *cli.Command) error {
			if err := errors.Join(files.CheckWritable(json, markdown), files.CheckApart([]string{json, markdown}, c.Args().Slice()...)); err != nil {
				return err
			}
			if err := files.Folder(pictures); err != nil {
				return err
			}
			var parts []*experiment.Part
			for _, path := range c.Args().Slice() {
				text, err := files.Read(path, "evaluation")
				if err != nil {
					return err
				}
				p, err := experiment.DecodePart(path, text)
				if err != nil {
					return err
				}
				parts = append(parts, p)
			}
			r, err := experiment.Merge(parts...)
			if err != nil {
				return err
			}
			return deliver(r, json, markdown, pictures, c.Root().Writer)
		},
	}
}
