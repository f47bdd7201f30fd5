package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"metaqda/core/lab/experiment"
	"metaqda/scripts/files"
	"metaqda/scripts/tables"
)

const evalAbout = `Scores few-shot tasks drawn from a data set. Accuracy is the mean over the tasks
with its 95 % confidence interval. ECE uses 20 bins. "+TS" has one temperature,
which minimises the NLL of validation tasks (in the paper: their ECE). It is left
out if --split has the classes of these tasks.

protocols:
PROTOCOLS
In a data set without splits every class is a test class. This needs a --prior,
except for the protocol sessions.

data:
  NAME.npz with arrays "embeddings" (N x d) and "labels" (N), NAME.npy with
  NAME.labels.npy, or NAME.csv with a column of labels. NAME.json beside it has
  {"classes": [...], "splits": {"train": [...], "val": [...], "test": [...]}}.
  An array "groups" (N), NAME.groups.npy, or a column "group" of NAME.csv, has
  the same value for rows that are frames of one burst or views of one thing. In
  a task, no group is in both support and query.

Methods with CL2N features first subtract a mean. It is the first one of these
that is known: the centre in the prior file, the mean of the data set's own
training classes, the mean of the prior's training data. In leave-one-domain-out
the mean of the other data sets' training classes comes second. In cross-domain
the mean of the prior's training data comes second.

With --shard i/n one process does every n-th task and writes its part to --json.
metaqda merge joins the parts to the result of one process. It also joins runs
of different --methods, except for the protocols incremental and multi-domain.

methods:
METHODS`

// evalHelp lists protocols and methods.
func evalHelp() string {
	var protocols, methods strings.Builder
	for _, p := range experiment.Protocols() {
		fmt.Fprintf(&protocols, "  %-21s %s\n", p.Name, strings.ReplaceAll(p.About, "\n", "\n"+strings.Repeat(" ", 24)))
	}
	for _, m := range experiment.Methods() {
		fmt.Fprintf(&methods, "  %-20s %s\n", m.Name, m.Summary)
	}
	return strings.NewReplacer("PROTOCOLS", protocols.String(), "METHODS", strings.TrimRight(methods.String(), "\n")).Replace(evalAbout)
}

// evalOptions are the flags of eval that are not fields of the plan.
type evalOptions struct {
	data, priors, methods    listValue
	mapPrior, splits, shard  string
	json, markdown, pictures string
}

func evalCommand() *cli.Command {
	given, err := experiment.NewPlan(experiment.Standard)
	if err != nil {
		panic(err) // the standard protocol is there
	}
	given.Shots, given.Repeat, given.Workers = nil, 0, 0
	o := &evalOptions{}
	return &cli.Command{
		Name: "eval", Usage: "score a prior and its competitors under a protocol", Description: evalHelp(),
		Flags: append([]cli.Flag{
			textFlag(&given.Protocol, "protocol", "what to measure, see above"),
			valueFlag(&o.data, "data", "data sets, separated by commas (required)"),
			valueFlag(&o.priors, "prior", "prior file; one for all data sets, or one for each, separated by commas"),
			textFlag(&o.mapPrior, "prior-map", "prior file that was learned for the map methods (default: the one of --prior)"),
			valueFlag(&o.methods, "methods", "methods, separated by commas (default: those of the protocol)"),
			valueFlag(intsValue{&given.Ways, 1}, "n-way", "classes of a task; a list evaluates each number"),
			valueFlag(intsValue{&given.Shots, 0}, "n-shot", "support rows of a class; a list evaluates each number (default: the protocol's, mostly 1,5)"),
			intFlag(&given.Queries, "n-query", "query rows of a class"),
			intFlag(&given.Tasks, "n-tasks", "number of tasks"),
			intFlag(&given.ValTasks, "n-val-tasks", "number of validation tasks that the temperature is fitted on, 0 for no temperature"),
			seedFlag(&given.Seed, "seed; the same seed gives the same tasks and the same numbers"),
			textFlag(&given.Imbalance, "imbalance", "transductive: class sizes of the queries, none (equal) or dirichlet"),
			numberFlag(&given.OutOfSet, "out-of-set", "transductive: share of queries of unseen classes, 0 or 0.5"),
			textFlag(&given.Split, "split", "classes to draw tasks from: train, val, test, all, or a list of splits"),
			textFlag(&o.splits, "splits", "file or folder with the splits, in place of those in the .json beside the data"),
			intFlag(&given.Repeat, "repeat", "factor of --n-tasks (1); in incremental the number of runs, each with another order of the classes (10)"),
			textFlag(&o.shard, "shard", "do only part i of n, written i/n"),
			intFlag(&given.Workers, "workers", "number of tasks computed at a time, 0 for one per core; does not change the results"),
			numberFlag(&given.HandScale, "hand-scale", "s of the hand-crafted prior S = s^2 I"),
			intFlag(&given.MAMLTasks, "maml-tasks", "number of tasks from which maml-qda learns its starting point"),
			valueFlag((*listValue)(&given.InDomain), "in-domain", "multi-domain: names of those data sets that the prior was learned on (default: what the prior file says)"),
		}, outputFlags(&o.json, &o.markdown, &o.pictures)...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			plan, err := o.plan(given)
			if err != nil {
				return err
			}
			plan.Progress = files.Progress(c.Root().ErrWriter)
			return o.run(ctx, plan, textTo(c, o.json, o.markdown))
		},
	}
}

// plan fills in the defaults of the protocol and checks everything but the files.
func (o *evalOptions) plan(given *experiment.Plan) (*experiment.Plan, error) {
	if len(o.data) == 0 {
		return nil, fmt.Errorf("no data given; name files with --data A.npz[,B.npz]")
	}
	if n := len(o.priors); n > 1 && n != len(o.data) {
		return nil, fmt.Errorf("--prior names %d files for %d data sets; give one, or one for each", n, len(o.data))
	}
	usual, err := experiment.NewPlan(given.Protocol)
	if err != nil {
		return nil, err
	}
	plan := *given
	plan.Methods, plan.Versions = usual.Methods, versions()
	if len(o.methods) > 0 {
		if plan.Methods, err = experiment.Choose(experiment.Methods(), o.methods...); err != nil {
			return nil, err
		}
	}
	if plan.Shots == nil {
		plan.Shots = usual.Shots
	}
	if plan.Repeat == 0 {
		plan.Repeat = usual.Repeat
	}
	if plan.Workers <= 0 {
		plan.Workers = usual.Workers
	}
	if plan.Shard, err = experiment.ParseShard(o.shard); err != nil {
		return nil, err
	}
	if !plan.Shard.Whole() && o.json == "" {
		return nil, fmt.Errorf("--shard without --json would keep no result; name a file with --json OUT")
	}
	if !plan.Shard.Whole() && o.markdown+o.pictures != "" {
		return nil, fmt.Errorf("a shard has no tables and no diagrams; give --markdown and --pictures to `metaqda merge`")
	}
	return &plan, plan.Validate()
}

// run reads the data, runs the plan, prints the tables and writes the files.
func (o *evalOptions) run(ctx context.Context, plan *experiment.Plan, stdout io.Writer) error {
	inputs := slices.Concat(o.data, o.priors, []string{o.mapPrior, o.splits})
	if err := errors.Join(files.CheckWritable(o.json, o.markdown), files.CheckApart([]string{o.json, o.markdown}, inputs...)); err != nil {
		return err
	}
	if err := files.Folder(o.pictures); err != nil {
		return err
	}
	domains, err := o.domains()
	if err != nil {
		return err
	}
	part, err := plan.Run(ctx, domains)
	if err != nil {
		return err
	}
	if plan.Shard.Whole() {
		return deliver(part.Report(), o.json, o.markdown, o.pictures, stdout)
	}
	text, err := part.Encode()
	if err != nil {
		return err
	}
	if err := files.Write(o.json, text); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "shard %d of %d is in %s; put all together with: metaqda merge --json OUT FILE...\n", plan.Shard.Index, plan.Shard.Of, o.json)
	return nil
}

// deliver prints the tables and writes the files.
func deliver(r *experiment.Report, json, markdown, pictures string, stdout io.Writer) error {
	for _, t := range tables.Of(r) {
		fmt.Fprintln(stdout, t.Text())
	}
	return files.Report(r, json, markdown, pictures)
}

// domains reads data sets and priors.
func (o *evalOptions) domains() ([]experiment.Domain, error) {
	var domains []experiment.Domain
	for i, path := range o.data {
		set, err := files.Set(path, o.splits)
		if err != nil {
			return nil, err
		}
		d := experiment.Domain{Set: set}
		switch {
		case len(o.priors) == 1 && i > 0:
			d.Prior = domains[0].Prior
		case len(o.priors) > 0:
			if d.Prior, err = files.Prior(o.priors[i]); err != nil {
				return nil, err
			}
		}
		domains = append(domains, d)
	}
	if o.mapPrior != "" {
		p, err := files.Prior(o.mapPrior)
		if err != nil {
			return nil, err
		}
		for i := range domains {
			domains[i].MAPPrior = p
		}
	}
	return domains, nil
}
