package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"metaqda/core/episode"
)

var evalCommand = command{"eval", "score a prior and its competitors by one of the paper's protocols", runEval}

// evalOptions is everything the flags of eval say.
type evalOptions struct {
	protocol  string
	data      []string
	priors    []string
	mapPrior  string
	methods   []method
	ways      []int
	shots     []int
	query     int
	tasks     int
	valTasks  int
	seed      uint64
	split     string
	splits    string
	repeat    int
	shard     shard
	workers   int
	handScale float64
	mamlTasks int
	inDomain  []string
	json      string
	markdown  string
	pictures  string
}

const evalAbout = `Scores few-shot tasks drawn from a data set. Accuracy is the mean over the tasks
with its 95 % confidence interval; ECE uses 20 bins; "+TS" is after one
temperature fitted on validation tasks.

protocols:
  standard              N-way K-shot tasks from the classes of --split
  cross-domain          the same, with a --prior learned on another data set
  multi-domain          random way and shot as Meta-Dataset draws them, for each data set;
                        averages within and outside the prior's domains, average rank
  incremental           classes of the split "train" with all their rows but a sixth
                        (at most 100), then sessions of --n-way (5) new classes of --split
                        with --n-shot (5) rows; accuracy over all classes seen; 10 runs.
                        Scale and offset between base and new classes are fitted on
                        sessions of validation classes, for every method; the accuracy
                        without that is reported too
  calibration           ECE, MCE, Brier and NLL without and with temperature
  ablation              LDA and QDA without, with hand-crafted and with learned prior
  open-set              as many queries from unseen classes as from the task's own:
                        detection of none-of-these, how much better (gain) than by one
                        minus the largest probability of the same model, and its
                        calibration as a probability at even odds; --n-way 1 asks
                        'is it this, or not?'
  sessions              as people make them: 1 to 8 classes of 1 to 12 examples each, a
                        third of them taught by one to three bursts where the data has
                        groups; 10 queries of taught classes and 10 of strangers. Ways,
                        shots and queries are not asked for, no temperature is fitted.
                        What knows no none-of-these has one minus the largest probability
  leave-one-domain-out  one --prior for each data set, in the same order, that was
                        learned without it; how far MetaQDA is above each competitor

Of a data set without splits every class is a test class, in sessions and with
a --prior.

data:
  NAME.npz with arrays "embeddings" (N x d) and "labels" (N), NAME.npy with
  NAME.labels.npy, or NAME.csv with a column "label"; NAME.json beside it tells
  {"classes": [...], "splits": {"train": [...], "val": [...], "test": [...]}}.
  An array "groups" (N), or NAME.groups.npy, tells which rows are frames of one
  burst or views of one thing: no task asks about a group that it taught.

Competitors see features centred on the prior file's centre, without one on the
mean of the data's own training classes, without these on the mean of what the
prior was learned from.

With --shard i/n one process does every n-th task; write --json and put the
files together with metaqda merge: the result is that of one process. Methods
may be run apart likewise.`

// protocolDefaults are the values of flags that were not given.
type protocolDefaults struct {
	methods string
	shots   string
	repeat  int
}

var protocols = map[string]protocolDefaults{
	"standard":             {"fb,map,ncc-un,ncc-cl2n,linear,cosine,knn,lda,qda", "1,5", 1},
	"cross-domain":         {"fb,map,ncc-un,ncc-cl2n,linear,cosine,knn,lda,qda", "1,5", 1},
	"multi-domain":         {"fb,map,ncc-un,ncc-cl2n,knn", "0", 1},
	"incremental":          {"fb,ncc-cl2n", "5", 10},
	"calibration":          {"fb,map,linear,ncc-cl2n,qda", "1,5", 1},
	"ablation":             {"lda,qda,fb-lda-handcrafted,fb-handcrafted,fb-lda,map,fb", "1,5", 1},
	"open-set":             {"fb,map,ncc-cl2n,linear,cosine,knn,knn-tfjs,teachable", "1,5", 1},
	"sessions":             {"fb,ncc-cl2n,linear,teachable,knn,knn-tfjs", "1", 1},
	"leave-one-domain-out": {"fb,ncc-cl2n,linear,cosine,knn,knn-tfjs,teachable", "1,2,5,10", 1},
}

func runEval(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseEval(args, stdout)
	if err != nil {
		return err
	}
	if err := checkWritable(o.json, o.markdown); err != nil {
		return err
	}
	if err := checkFolder(o.pictures); err != nil {
		return err
	}
	h, blocks, err := o.evaluate(ctx, newProgress(stderr))
	if err != nil {
		return err
	}
	return o.deliver(h, blocks, stdout)
}

// deliver prints the tables and writes the files.
func (o *evalOptions) deliver(h *header, blocks []*block, stdout io.Writer) error {
	if o.shard != whole {
		return deliverShard(o, h, blocks, stdout)
	}
	rep := newReport(h, blocks)
	tables := rep.tables()
	for _, t := range tables {
		fmt.Fprintln(stdout, t.text())
	}
	if o.pictures != "" {
		if err := rep.drawPictures(o.pictures); err != nil {
			return err
		}
	}
	return writeReport(rep, tables, o.json, o.markdown)
}

func writeReport(rep *report, tables []*table, jsonFile, markdownFile string) error {
	if markdownFile != "" {
		var b bytes.Buffer
		for i, t := range tables {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(t.markdown())
		}
		if err := writeFile(markdownFile, b.Bytes()); err != nil {
			return err
		}
	}
	if jsonFile == "" {
		return nil
	}
	text, err := rep.encode()
	if err != nil {
		return err
	}
	return writeFile(jsonFile, text)
}

// parseEval reads and checks the flags.
func parseEval(args []string, stdout io.Writer) (*evalOptions, error) {
	o := &evalOptions{}
	f := newFlags("eval", evalAbout+methodHelp(), stdout)
	f.StringVar(&o.protocol, "protocol", "standard", "what to measure, see above")
	data := f.String("data", "", "data sets, separated by commas (required)")
	priors := f.String("prior", "", "prior file; one for all data sets, or one for each, separated by commas")
	f.StringVar(&o.mapPrior, "prior-map", "", "another prior for the map methods, one that was learned for them (default: that of --prior)")
	methods := f.String("methods", "", "methods, separated by commas (default: those of the protocol)")
	ways := f.String("n-way", "5", "classes of a task, a list measures each")
	shots := f.String("n-shot", "", "support rows of a class, a list measures each (default: of the protocol, mostly 1,5)")
	f.IntVar(&o.query, "n-query", 15, "query rows of a class")
	f.IntVar(&o.tasks, "n-tasks", 600, "tasks")
	f.IntVar(&o.valTasks, "n-val-tasks", 200, "validation tasks to fit the temperature on, 0 for none")
	f.Uint64Var(&o.seed, "random-seed", 0, "seed; the same seed gives the same tasks and the same numbers")
	f.StringVar(&o.split, "split", "test", "classes to draw tasks from: train, val, test, all, or a list of splits")
	f.StringVar(&o.splits, "splits", "", "file or folder that tells the splits instead of the .json beside the data")
	f.IntVar(&o.repeat, "repeat", 0, "multiply the tasks; runs in incremental (default 1, incremental 10)")
	shardText := f.String("shard", "", "do only part i of n, written i/n")
	f.IntVar(&o.workers, "workers", 0, "tasks at a time (default: the number of cores); does not change the results")
	f.Float64Var(&o.handScale, "hand-scale", 1, "s of the hand-crafted prior S = s^2 I")
	f.IntVar(&o.mamlTasks, "maml-tasks", 1000, "tasks that maml-qda learns its start from")
	inDomain := f.String("in-domain", "", "multi-domain: names of the data sets the prior was learned on (default: what the prior file says)")
	f.StringVar(&o.json, "json", "", "write everything to this file")
	f.StringVar(&o.markdown, "markdown", "", "write the tables to this file as Markdown")
	f.StringVar(&o.pictures, "pictures", "", "write reliability diagrams (SVG) to this folder")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is no flag; `metaqda eval --help` lists them", f.Arg(0))
	}
	if *data == "" {
		return nil, fmt.Errorf("no data given; name files with --data A.npz[,B.npz]")
	}
	o.data, o.priors, o.inDomain = list(*data), list(*priors), list(*inDomain)
	return o, o.complete(*methods, *ways, *shots, *shardText)
}

// complete fills what was left to the protocol and checks the numbers.
func (o *evalOptions) complete(methods, ways, shots, shardText string) (err error) {
	d, ok := protocols[o.protocol]
	if !ok {
		return fmt.Errorf("there is no protocol %q; choose standard, cross-domain, multi-domain, incremental, calibration, ablation, open-set, sessions or leave-one-domain-out", o.protocol)
	}
	if o.repeat == 0 {
		o.repeat = d.repeat
	}
	if o.workers <= 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	for _, n := range []struct {
		flag       string
		value, low int
	}{{"n-query", o.query, 1}, {"n-tasks", o.tasks, 1}, {"n-val-tasks", o.valTasks, 0}, {"repeat", o.repeat, 1}, {"maml-tasks", o.mamlTasks, 0}} {
		if n.value < n.low {
			return fmt.Errorf("--%s is %d; give %d or more", n.flag, n.value, n.low)
		}
	}
	if !(o.handScale > 0) || o.handScale > 1e6 {
		return fmt.Errorf("--hand-scale is %v; give a positive number such as 1", o.handScale)
	}
	if o.methods, err = parseMethods(orDefault(methods, d.methods)); err != nil {
		return err
	}
	if o.ways, err = numbers("n-way", ways, 1); err != nil {
		return err
	}
	low := 1
	if o.protocol == "multi-domain" {
		low = 0
	}
	if o.shots, err = numbers("n-shot", orDefault(shots, d.shots), low); err != nil {
		return err
	}
	if o.shard, err = parseShard(shardText); err != nil {
		return err
	}
	if o.protocol == "sessions" { // draws all of these
		o.ways, o.shots, o.query, o.valTasks = nil, nil, episode.AsPeopleMake().Queries, 0
	}
	return o.checkPriors()
}

func (o *evalOptions) checkPriors() error {
	switch n := len(o.priors); {
	case n > 1 && n != len(o.data):
		return fmt.Errorf("--prior names %d files for %d data sets; give one, or one for each", n, len(o.data))
	case o.protocol == "leave-one-domain-out" && n != len(o.data):
		return fmt.Errorf("leave-one-domain-out needs one --prior for each of the %d data sets, learned without it; make them with `metaqda train`", len(o.data))
	case o.protocol == "cross-domain" && n == 0:
		return fmt.Errorf("cross-domain needs a --prior that was learned on another data set; make one with `metaqda train`")
	}
	return nil
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// list splits at commas; an empty text is an empty list.
func list(text string) []string {
	var items []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			items = append(items, s)
		}
	}
	return items
}

func numbers(flag, text string, low int) ([]int, error) {
	var n []int
	for _, s := range list(text) {
		v, err := strconv.Atoi(s)
		if err != nil || v < low {
			return nil, fmt.Errorf("--%s holds %q; give whole numbers from %d on, separated by commas", flag, s, low)
		}
		n = append(n, v)
	}
	if len(n) == 0 {
		return nil, fmt.Errorf("--%s is empty; give whole numbers separated by commas", flag)
	}
	return n, nil
}

// methodHelp lists the methods for the help text.
func methodHelp() string {
	var b strings.Builder
	b.WriteString("\n\nmethods:\n")
	for _, m := range allMethods() {
		fmt.Fprintf(&b, "  %-20s %s\n", m.name, m.summary)
	}
	return strings.TrimRight(b.String(), "\n")
}

// newProgress returns a function that shows how far the work is, or nil when
// nobody looks: stderr is no terminal.
func newProgress(stderr io.Writer) func(what string, done, total int) {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(what string, done, total int) {
		if done == total {
			fmt.Fprintf(f, "\r\x1b[K")
			return
		}
		if step := max(total/100, 1); done%step == 0 {
			fmt.Fprintf(f, "\r%s: %d of %d tasks\x1b[K", what, done, total)
		}
	}
}

func checkFolder(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("folder %s cannot be made (%v); choose another", path, reason(err))
	}
	return nil
}
