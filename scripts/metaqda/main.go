// Command metaqda meta-learns priors for few-shot classification and evaluates
// them by the protocols of the MetaQDA paper. `metaqda help` lists what it can
// do, `metaqda COMMAND --help` how.
//
// Bad input is answered by one sentence that names the file, the row where
// there is one and the remedy, and by exit status 2. Output files are complete
// or absent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// command is one subcommand. run reports what went wrong by its error:
// [exitStatus] chooses the status, all others are 2.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

var commands = []command{
	trainCommand,
	evalCommand,
	mergeCommand,
	reproduceCommand,
	priorCommand,
	verifyCommand,
}

// exitStatus is an error that only sets the status, what there was to say has
// been said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run dispatches and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(stdout)
		return 0
	}
	for _, c := range commands {
		if c.name == args[0] {
			return status(c, c.run(ctx, args[1:], stdout, stderr), stderr)
		}
	}
	fmt.Fprintf(stderr, "metaqda: there is no command %q; `metaqda help` lists them\n", args[0])
	return 2
}

func status(c command, err error, stderr io.Writer) int {
	var exit exitStatus
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintf(stderr, "metaqda %s: %v\n", c.name, err)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprint(w, "metaqda: Bayesian meta-learning of quadratic discriminant analysis\n\nusage: metaqda COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\n`metaqda COMMAND --help` tells the flags of a command.\n")
}

// newFlags returns the flags of a subcommand with its help text. Errors are
// returned, not printed, so that they are told once and in one form.
func newFlags(name, about string, stdout io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	var complaint noted
	f.SetOutput(&complaint)
	f.Usage = func() {
		if complaint { // a wrong flag, no question for help
			return
		}
		fmt.Fprintf(stdout, "usage: metaqda %s [flags]\n\n%s\n\nflags:\n", name, about)
		f.SetOutput(stdout)
		f.PrintDefaults()
		f.SetOutput(&complaint)
	}
	return f
}

// noted is a writer that only remembers that something was written. Package
// flag writes its complaints before it shows the usage.
type noted bool

func (n *noted) Write(p []byte) (int, error) {
	*n = true
	return len(p), nil
}
