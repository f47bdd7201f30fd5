package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"metaqda/core/lab/experiment"
	"metaqda/scripts/files"
)

const mergeAbout = `Joins files of one evaluation. It prints and writes the results of the undivided
evaluation. The files are of one kind:

  shards    written by "metaqda eval --shard i/n --json FILE": all n, in any order
  methods   written by "metaqda eval --json FILE", with the same flags except
            --methods and --n-tasks. A slow method may have fewer tasks; these are
            the first tasks of the others. For protocols with fixed ways and shots,
            and for sessions`

func mergeCommand() *cli.Command {
	var json, markdown, pictures string
	return &cli.Command{
		Name: "merge", Usage: "join the shards or the methods of an evaluation", ArgsUsage: "FILE...", Description: mergeAbout,
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
			return deliver(r, json, markdown, pictures, textTo(c, json, markdown))
		},
	}
}
