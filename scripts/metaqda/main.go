// Command metaqda meta-learns priors for few-shot classification and evaluates them by the
// protocols of the MetaQDA paper. `metaqda help` lists its commands, `metaqda COMMAND --help`
// describes one.
//
// It holds flags and help texts; package core, core/lab/experiment and core/lab/metatrain/recipe do
// the work. Bad input gives exit status 2 and one sentence that names the file, the row if there is
// one, and the remedy. Output files are complete or absent.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"metaqda/core/lab/dataset"
)

// exitStatus is an error that only sets the status: the message is already printed.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run dispatches and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name := "metaqda"
	if len(args) > 0 && args[0] == "help" { // `help train` is `train --help`
		args = slices.DeleteFunc(slices.Clone(args[1:]), func(a string) bool { return a == "help" || strings.HasPrefix(a, "-") })
		args = append(args[:min(1, len(args))], "--help")
	}
	build := versions()
	app := &cli.Command{
		Name: name, Usage: "Bayesian meta-learning of quadratic discriminant analysis", Version: build["metaqda"] + ", " + build["go"],
		Writer: stdout, ErrWriter: stderr, CustomRootCommandHelpTemplate: rootHelp,
		Commands:       []*cli.Command{trainCommand(presetOf(args)), evalCommand(), mergeCommand(), teachCommand(), classifyCommand(), predictCommand(), watchCommand(), exportCommand(), priorCommand(), verifyCommand()},
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   usageError, HideHelpCommand: true,
		Action: func(_ context.Context, c *cli.Command) error { return cli.ShowRootCommandHelp(c) },
	}
	known := len(args) == 0 || strings.HasPrefix(args[0], "-")
	for _, c := range app.Commands {
		known = known || c.HasName(args[0])
		c.CustomHelpTemplate, c.HideHelpCommand, c.OnUsageError = cmp.Or(c.CustomHelpTemplate, commandHelp), true, usageError
		if len(args) > 0 && args[0] == c.Name {
			name += " " + c.Name
		}
	}
	if !known {
		fmt.Fprintf(stderr, "metaqda: there is no command %q; `metaqda help` lists them\n", args[0])
		return 2
	}
	err := app.Run(ctx, append([]string{"metaqda"}, args...))
	var exit exitStatus
	var field *dataset.FieldError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return 130 // the shell's status for Ctrl-C
	case errors.As(err, &field):
		err = fmt.Errorf("--%w", err)
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return 2
}

// ofStrconv is the text of strconv before the reason.
var ofStrconv = regexp.MustCompile(`strconv\.\w+: parsing ".*": `)

// usageError adds the remedy to the error of a flag.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	what := strings.NewReplacer("for flag -", "for --", "defined: -", "defined: --").Replace(err.Error())
	what = ofStrconv.ReplaceAllString(what, "")
	return fmt.Errorf("%s; `%s --help` tells the flags", what, c.FullName())
}

// noArguments refuses arguments that belong to no flag.
func noArguments(c *cli.Command) error {
	if c.Args().Present() {
		return fmt.Errorf("%q is not a flag; `%s --help` lists them", c.Args().First(), c.FullName())
	}
	return nil
}

const rootHelp = `metaqda: {{.Usage}}

usage: metaqda COMMAND [flags]

{{range .VisibleCommands}}  {{.Name}}{{"\t"}}{{.Usage}}
{{end}}
` + "`metaqda COMMAND --help` tells the flags of a command, `metaqda --version` the build.\n"

const commandHelp = `usage: {{.FullName}} [flags]{{with .ArgsUsage}} {{.}}{{end}}

{{.Description}}

flags:
{{range .VisibleFlags}}  {{.}}
{{end}}`

// versions names the software and the processor that computed the numbers. Different processors
// round differently.
func versions() map[string]string {
	v := map[string]string{"metaqda": "devel", "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v["metaqda"] = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Path == "gonum.org/v1/gonum" {
			v["gonum"] = d.Version
		}
	}
	return v
}
