package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"metaqda/core/lab/oracle"
	"metaqda/scripts/files"
)

const verifyAbout = `Compares this build with oracle vectors, and prints the largest absolute error for each
file and quantity. The files are JSON of three kinds, recognised by their content:
predictive densities, gradients, calibration measures. The status is 1 if an error
exceeds 1e-8, relative, or absolute for values below one.`

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "check this build against files of oracle vectors", ArgsUsage: "FILE...", Description: verifyAbout,
		Action: func(_ context.Context, c *cli.Command) error { return verify(c.Args().Slice(), c.Root().Writer) },
	}
}

func verify(names []string, stdout io.Writer) error {
	if len(names) == 0 {
		return fmt.Errorf("no file given: name at least one file of oracle vectors")
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	failed := false
	for _, name := range names {
		data, err := files.Read(name, "oracle vectors")
		if err != nil {
			return err
		}
		report, err := oracle.Check(data)
		if err != nil {
			return fmt.Errorf("%s: %w; name files of oracle vectors, such as those of testdata", name, err)
		}
		printReport(w, name, report)
		failed = failed || !report.OK()
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}

func printReport(w io.Writer, name string, r *oracle.Report) {
	fmt.Fprintf(w, "%s\t%s vectors\t%d cases\t\n", name, r.Kind, r.Cases)
	for _, row := range r.Rows {
		verdict := "ok"
		if row.MaxError > oracle.Tolerance {
			verdict = "FAILED"
		}
		fmt.Fprintf(w, "  %s\t%d values\tmax abs error %.2e\t%s\n", row.Quantity, row.Values, row.MaxAbs, verdict)
	}
}
