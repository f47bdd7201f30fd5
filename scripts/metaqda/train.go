package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"metaqda/core/embed"
	"metaqda/core/episode"
	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
)

var trainCommand = command{"train", "meta-learn a prior from labelled embeddings", runTrain}

const aboutTrain = `Meta-learns a prior (Algorithm 1 of the paper) from the training classes of one
or several data sets and keeps the one that is best on their validation classes.
The prior file goes straight into the browser and into "metaqda eval --prior".

A data set is .npz (embeddings, labels), .npy (with NAME.labels.npy) or .csv (a
label column), with NAME.json beside it for class names and splits. Several sets
are drawn from in turn, so that each counts the same.

Ctrl-C writes a checkpoint; the same command with --resume goes on from it and
ends in the same bytes as if it had never stopped. The same seed gives the same
bytes, whatever --workers.

Examples:
  metaqda train --data cifarfs.npz --out prior.safetensors
  metaqda train --data a.npz,b.npz --out p.safetensors --loss open_set --curve curve.svg
  metaqda train --preset conv4 --data cifarfs-conv4.npz --out conv4.safetensors
  metaqda train --preset paper --data cifarfs.npz --out paper.safetensors --n-shot 5`

// trainOptions are the flags of train.
type trainOptions struct {
	data, valData         []string
	split, valSplit       string
	splits                string
	out, resumeFrom       string
	resume, quiet         bool
	log, curve            string
	transform             embed.Transform
	start                 string
	shrink                float64
	nu                    float64
	tasks                 episode.Tasks
	valWay, valQuery      int
	valShots              []int
	valTasks              int
	calibrate             int
	calibrateOn           string
	near, centre          float64
	familiesFile          string
	families              families
	folds                 int
	foldsOut              string
	seed                  uint64
	workers               int
	precision             string
	rank                  int
	extractor             model.Extractor
	config                metatrain.Config
	inference, loss, kind string
	optimiser, schedule   string
	selection             string
}

// presets are starting points that other flags override.
var presets = map[string][]string{
	"default": nil,
	// Algorithm 1 with the settings of the paper's supplement for Meta-Dataset.
	"paper": {"--start", "identity", "--scale", "1", "--temperature", "1", "--fixed", "temperature,bias,none", "--optimizer", "adam",
		"--learning-rate", "0.0003", "--scalar-learning-rate", "0.0003", "--weight-decay", "0.0001", "--schedule", "cosine", "--warm-up", "0",
		"--clip", "0", "--steps", "10000", "--n-way", "5", "--n-shot", "1", "--n-query", "15", "--max-rows", "0", "--per-way=false", "--calibrate", "0"},
	// Training as the paper describes it but from S = 25 I: with features of
	// length one the paper's S = I learns half as much. Chosen on the validation
	// classes of cifarfs-conv4.
	"conv4": {"--start", "identity", "--scale", "5", "--temperature", "1", "--optimizer", "adam", "--learning-rate", "0.001",
		"--steps", "3000", "--n-way", "5", "--n-shot", "1-5", "--n-query", "15", "--val-tasks", "200"},
}

// flags declares every flag, with defaults from the measured best.
func (o *trainOptions) flags(stdout io.Writer) *flag.FlagSet {
	o.config = metatrain.DefaultConfig()
	c := &o.config
	f := newFlags("train", aboutTrain, stdout)
	f.Var((*listFlag)(&o.data), "data", "data sets to learn from, separated by commas (required)")
	f.Var((*listFlag)(&o.valData), "val-data", "data sets to select and calibrate on (default those of --data)")
	f.StringVar(&o.split, "split", "train", "split to learn from; several separated by commas, or all")
	f.StringVar(&o.splits, "splits", "", "file or folder with the splits, instead of those in the .json beside the data")
	f.StringVar(&o.valSplit, "val-split", "val", "split to select and calibrate on")
	f.StringVar(&o.out, "out", "", "prior file to write (required)")
	f.String("preset", "default", "set of values that other flags override: default, conv4 (for the features of small networks such as Conv-4) or paper (Algorithm 1 as published)")
	f.Uint64Var(&o.seed, "random-seed", 0, "seed of all that is drawn")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "cores to use; does not change the result")
	f.BoolVar(&o.resume, "resume", false, "go on from the checkpoint of an interrupted run")
	f.StringVar(&o.resumeFrom, "checkpoint", "", "checkpoint file (default that of --out with .checkpoint added)")
	f.StringVar(&o.log, "log", "", "file for one line of JSON for each step and validation")
	f.StringVar(&o.curve, "curve", "", "picture of the training curve, .svg or .png")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on the terminal")
	f.StringVar(&o.precision, "precision", "F32", "numbers of the prior file: F16, F32 or F64")
	f.IntVar(&o.rank, "rank", 0, "directions of a spiked S: diagonal but for so many, a smaller file and quicker predictions; 0 keeps S as learned")
	f.StringVar(&o.extractor.ID, "extractor", "", "name of the feature extractor to store in the prior (default what the data's .json says)")
	f.StringVar(&o.extractor.SHA256, "extractor-sha256", "", "its checksum")
	o.modelFlags(f, c)
	o.optimiserFlags(f, c)
	o.samplingFlags(f, c)
	return f
}

func (o *trainOptions) modelFlags(f *flag.FlagSet, c *metatrain.Config) {
	f.StringVar(&o.kind, "transform", "cl2n", "of the embeddings: none, l2 (length one) or cl2n (centred on the training classes, then length one)")
	f.Float64Var(&o.transform.Power, "power", 1, "signed power taken of each number before --transform")
	f.Float64Var(&o.transform.Shift, "shift", 0, "added to each number before --power, then cut at 0; 0 for none")
	f.StringVar(&o.inference, "inference", "fb", "fb (Student-t, fully Bayesian) or map (Gaussian)")
	f.StringVar(&o.loss, "loss", "cross_entropy", "cross_entropy, nll or open_set (queries of unseen classes belong to none of these)")
	f.Float64Var(&c.Objective.NonePrior, "none-prior", 0, "prior probability of none of these in open_set; 0 takes each episode's share")
	f.BoolVar(&c.Objective.PerWay, "per-way", true, "divide an episode's loss by the log of its number of classes")
	f.StringVar(&o.start, "start", "within", "within (S from the covariance within the training classes) or identity")
	f.Float64Var(&o.shrink, "shrink", 0.6, "share of the identity in --start within, 0 to 1")
	f.Float64Var(&c.Start.Scale, "scale", c.Start.Scale, "s: training starts from S = s² times --start")
	f.Float64Var(&c.Start.Kappa, "kappa", c.Start.Kappa, "kappa at the start")
	f.Float64Var(&o.nu, "nu", 0, "nu at the start; 0 for the dimension")
	f.Float64Var(&c.Start.Temperature, "temperature", c.Start.Temperature, "temperature of the log densities at the start")
	f.StringVar(&c.Fixed, "fixed", c.Fixed, "what is not learned, some of "+strings.Join(metatrain.FixedNames, ","))
	f.IntVar(&o.calibrate, "calibrate", 5, "sessions of each data set and kind (nine kinds) that the session model is fitted on at the end; 0 keeps the temperature that was learned")
	f.StringVar(&o.calibrateOn, "calibrate-on", "val", "val (validation classes) or left-out (families of domains, each in turn, under priors learned without them; takes a training more for each fold)")
	f.StringVar(&o.familiesFile, "families", "", "file of lines \"SET FAMILY [DRAWS]\": which data sets are left out together, and how often each is drawn from in a round")
	f.IntVar(&o.folds, "folds", 6, "most parts that families are dealt out to for --calibrate-on left-out")
	f.StringVar(&o.foldsOut, "folds-out", "", "folder for the priors learned without each part, as without-SET.safetensors")
	f.Float64Var(&o.near, "near", 0.16, "two pictures of a class are frames of one burst when their squared whitened distance is below this share of the mean one within classes; 0 for no bursts")
	f.Float64Var(&o.centre, "centre", 1.67, "kappa_d of the session's own mean: the larger, the closer it keeps to that of the prior; 0 for none")
}

func (o *trainOptions) optimiserFlags(f *flag.FlagSet, c *metatrain.Config) {
	f.StringVar(&o.optimiser, "optimizer", string(c.Optimiser), "sgd or adam")
	f.Float64Var(&c.Rate, "learning-rate", c.Rate, "of m and L")
	f.Float64Var(&c.ScalarRate, "scalar-learning-rate", c.ScalarRate, "of ln kappa, ln(nu-d+1), temperature and offsets")
	f.Float64Var(&c.Momentum, "momentum", c.Momentum, "of sgd")
	f.Float64Var(&c.Beta1, "beta1", c.Beta1, "of adam")
	f.Float64Var(&c.Beta2, "beta2", c.Beta2, "of adam")
	f.Float64Var(&c.WeightDecay, "weight-decay", c.WeightDecay, "of m and L")
	f.Float64Var(&c.Clip, "clip", c.Clip, "largest norm of the gradient; 0 for no bound")
	f.StringVar(&o.schedule, "schedule", string(c.Schedule), "of the learning rates: constant, step or cosine")
	f.IntVar(&c.StepEvery, "step-every", c.StepEvery, "steps after which --schedule step lowers the rates")
	f.Float64Var(&c.StepFactor, "step-factor", c.StepFactor, "factor by which it does")
	f.IntVar(&c.WarmUp, "warm-up", c.WarmUp, "steps over which the rates rise to their full values")
	f.IntVar(&c.Steps, "steps", c.Steps, "gradient steps")
	f.IntVar(&c.Batch, "batch", c.Batch, "episodes of a step, which run on several cores")
}

func (o *trainOptions) samplingFlags(f *flag.FlagSet, c *metatrain.Config) {
	o.tasks = episode.Tasks{Way: episode.Range{Min: 5, Max: 20}, Shot: episode.Range{Min: 1, Max: 10}, Query: episode.Exactly(5), MaxRows: 150}
	f.Var((*rangeFlag)(&o.tasks.Way), "n-way", "classes of an episode, a number or a range as 5-20, drawn log-uniformly")
	f.Var((*rangeFlag)(&o.tasks.Shot), "n-shot", "support examples of a class, a number or a range")
	f.Var((*rangeFlag)(&o.tasks.Query), "n-query", "queries of a class, a number or a range")
	f.Var((*rangeFlag)(&o.tasks.UnknownClasses), "n-unseen", "classes outside the episode that supply queries; for open_set")
	f.BoolVar(&o.tasks.Imbalanced, "imbalanced", false, "draw the shot for each class of an episode")
	f.IntVar(&o.tasks.MaxRows, "max-rows", o.tasks.MaxRows, "most rows of an episode, support and queries together; 0 for no bound")
	o.valShots = []int{1, 5}
	f.IntVar(&o.valWay, "val-way", 5, "classes of a validation episode")
	f.Var((*intsFlag)(&o.valShots), "val-shot", "support examples of a class in validation, several separated by commas")
	f.IntVar(&o.valQuery, "val-query", 10, "queries of a class in validation")
	f.IntVar(&o.valTasks, "val-tasks", 60, "validation episodes of each data set and shot; 0 keeps the last prior instead of the best")
	f.IntVar(&c.ValidateEvery, "validate-every", 200, "steps between validations, each of which also writes the checkpoint")
	f.IntVar(&c.Patience, "patience", c.Patience, "validations without improvement after which training stops; 0 for never")
	f.StringVar(&o.selection, "select", string(c.Select), "what makes a validation the best: accuracy or loss")
}

// parseTrain reads and checks the flags.
func parseTrain(args []string, stdout io.Writer) (*trainOptions, error) {
	o := &trainOptions{}
	f := o.flags(stdout)
	preset, ok := presets[presetName(args)]
	if !ok {
		return nil, fmt.Errorf("there is no preset %q; choose default, conv4 or paper", presetName(args))
	}
	if err := f.Parse(slices.Concat(preset, args)); err != nil {
		return nil, flagError("train", err)
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is not a flag; list data sets as --data A.npz,B.npz", f.Arg(0))
	}
	return o, o.check()
}

// presetName finds --preset before the flags are parsed: presets come first so
// that all others override them.
func presetName(args []string) string {
	for i, a := range args {
		name, value, has := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || name != "preset" {
			continue
		}
		if has {
			return value
		}
		if i+1 < len(args) {
			return args[i+1]
		}
	}
	return "default"
}

// flagError adds the remedy to what package flag says.
func flagError(command string, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return fmt.Errorf("%v; `metaqda %s --help` tells the flags", err, command)
}

// check turns names into values and tells what is out of its domain.
func (o *trainOptions) check() (err error) {
	c := &o.config
	if len(o.data) == 0 || o.out == "" {
		return errors.New("--data and --out are required; `metaqda train --help` shows an example")
	}
	if c.Objective.Inference, err = niw.ParseInference(o.inference); err != nil {
		return err
	}
	if c.Objective.Loss, err = metatrain.ParseLoss(o.loss); err != nil {
		return err
	}
	if o.transform.Kind, err = embed.ParseKind(o.kind); err != nil {
		return err
	}
	c.Optimiser, c.Schedule, c.Select = metatrain.Optimiser(o.optimiser), metatrain.Schedule(o.schedule), metatrain.Selection(o.selection)
	if !slices.Contains([]string{"val", "left-out"}, o.calibrateOn) {
		return fmt.Errorf("--calibrate-on %q: want val or left-out", o.calibrateOn)
	}
	if !(o.near >= 0 && o.near <= 1) {
		return fmt.Errorf("--near %v: want a number from 0 to 1", o.near)
	}
	if !(o.centre >= 0 && o.centre <= 1e9) {
		return fmt.Errorf("--centre %v: want a number from 0", o.centre)
	}
	if o.foldsOut != "" && o.calibrateOn != "left-out" {
		return errors.New("--folds-out takes --calibrate-on left-out")
	}
	if o.familiesFile != "" {
		if o.families, err = readFamilies(o.familiesFile); err != nil {
			return err
		}
	}
	if o.start != "within" && o.start != "identity" {
		return fmt.Errorf("--start %q: want within or identity", o.start)
	}
	if !(o.shrink > 0 && o.shrink <= 1) {
		return fmt.Errorf("--shrink %v: want a number above 0, at most 1", o.shrink)
	}
	if !slices.Contains([]string{"F16", "F32", "F64"}, o.precision) {
		return fmt.Errorf("--precision %q: want F16, F32 or F64", o.precision)
	}
	if c.Objective.Loss == metatrain.OpenSet && o.tasks.UnknownClasses.Max == 0 {
		o.tasks.UnknownClasses = o.tasks.Way
	}
	return o.checkNumbers()
}

func (o *trainOptions) checkNumbers() error {
	for _, n := range []struct {
		name       string
		value, low int
	}{{"--workers", o.workers, 1}, {"--val-way", o.valWay, 1}, {"--val-query", o.valQuery, 1}, {"--val-tasks", o.valTasks, 0}, {"--calibrate", o.calibrate, 0},
		{"--folds", o.folds, 2}, {"--n-way", o.tasks.Way.Min, 1}, {"--n-shot", o.tasks.Shot.Min, 1}, {"--n-query", o.tasks.Query.Min, 1}} {
		if n.value < n.low {
			return fmt.Errorf("%s is %d; it must be at least %d", n.name, n.value, n.low)
		}
	}
	if o.resumeFrom == "" {
		o.resumeFrom = o.out + ".checkpoint"
	}
	if e := o.curve; e != "" && !strings.HasSuffix(e, ".svg") && !strings.HasSuffix(e, ".png") {
		return fmt.Errorf("--curve %s: name a file that ends in .svg or .png", e)
	}
	if err := o.config.Validate(); err != nil {
		return err
	}
	return checkWritable(o.out, o.resumeFrom, o.log, o.curve)
}

// runTrain is the command.
func runTrain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseTrain(args, stdout)
	if err != nil {
		return err
	}
	run, err := o.prepare()
	if err != nil {
		return err
	}
	if o.quiet {
		stderr = io.Discard
	}
	if err := run.train(ctx, stderr); err != nil {
		return run.interrupted(err, stderr)
	}
	return run.finish(ctx, stdout, stderr)
}

// listFlag is a comma-separated list.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, ",") }

func (l *listFlag) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return errors.New("a name in the list is empty")
		}
		*l = append(*l, part)
	}
	return nil
}

// intsFlag is a comma-separated list of numbers from 1.
type intsFlag []int

func (l *intsFlag) String() string {
	var s []string
	for _, v := range *l {
		s = append(s, strconv.Itoa(v))
	}
	return strings.Join(s, ",")
}

func (l *intsFlag) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number from 1", part)
		}
		*l = append(*l, n)
	}
	return nil
}

// rangeFlag is a number or two with a hyphen between.
type rangeFlag episode.Range

func (r *rangeFlag) String() string {
	if r.Min == r.Max {
		return strconv.Itoa(r.Min)
	}
	return fmt.Sprintf("%d-%d", r.Min, r.Max)
}

func (r *rangeFlag) Set(s string) error {
	lo, hi, two := strings.Cut(s, "-")
	if !two {
		hi = lo
	}
	var err, err2 error
	r.Min, err = strconv.Atoi(strings.TrimSpace(lo))
	r.Max, err2 = strconv.Atoi(strings.TrimSpace(hi))
	if err != nil || err2 != nil || r.Min < 0 || r.Max < r.Min {
		return fmt.Errorf("%q is no number and no range like 5-20", s)
	}
	return nil
}

// facts are what the prior file tells about its making: all that decides its
// bytes, nothing about when and where.
func (o *trainOptions) facts() map[string]string {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic("metaqda: facts do not encode") // finite numbers and strings
		}
		return string(b)
	}
	return map[string]string{
		"seed": strconv.FormatUint(o.seed, 10), "split": o.split, "config": text(o.config), "episodes": text(o.tasks),
		"calibration": fmt.Sprintf("%s, %d sessions a kind, near %v, centre %v", o.calibrateOn, o.calibrate, o.near, o.centre), "start": o.start, "shrink": strconv.FormatFloat(o.shrink, 'g', -1, 64),
	}
}
