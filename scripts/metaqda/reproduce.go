package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"

	"metaqda/scripts/reproduce"
)

const reproduceAbout = `Learns the priors and prints the paper's tables for the data sets of a folder:
cifarfs and miniimagenet with -conv4, -resnet18 or -wrn28-10 at the end (the last
two are made by scripts/backbone), and in the folder --pictures miniimagenet, cifarfs,
omniglot and caltech101 by the page's extractor ("make embed"), each as .npz with its
.json. Sets that are missing are left out. Where the paper has a figure for the same
backbone it stands beside ours. At the end the claims of the paper are checked one by one.

Everything is written to the folder --out: priors, JSON, Markdown, reliability
diagrams. Priors that are there already are used again. Before every step stands
the command that does it by itself.`

func reproduceCommand() *cli.Command {
	c := reproduce.Config{Pictures: "build/data", Out: "build/reproduce", Tasks: 600, Steps: 1}
	return &cli.Command{
		Name: "reproduce", Usage: "the paper's tables on a folder of data sets", Description: reproduceAbout,
		Flags: []cli.Flag{
			textFlag(&c.Data, "data", "folder of the data sets by the paper's backbones (required)"),
			textFlag(&c.Pictures, "pictures", "folder of the data sets by the page's extractor"),
			textFlag(&c.Out, "out", "folder for everything that is written"),
			intFlag(&c.Tasks, "n-tasks", "tasks of every cell"),
			seedFlag(&c.Seed, "seed"),
			numberFlag(&c.Steps, "steps", "factor on the training steps, less than 1 for a quick look"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := noArguments(cmd); err != nil {
				return err
			}
			c.Stdout = cmd.Root().Writer
			c.Command = func(ctx context.Context, args ...string) error {
				if status := run(ctx, args, io.Discard, cmd.Root().ErrWriter); status != 0 {
					return exitStatus(status)
				}
				return nil
			}
			return reproduce.Run(ctx, c)
		},
	}
}
