package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lab/metatrain/recipe"
	"metaqda/core/niw"
	"metaqda/scripts/files"
)

const trainAbout = `Meta-learns a prior (Algorithm 1 of the paper) from the training classes of one
or several data sets and keeps the one that is best on their validation classes.
The prior file goes straight into the browser and into "metaqda eval --prior".

A data set is .npz (embeddings, labels), .npy (with NAME.labels.npy) or .csv (a
label column), with NAME.json beside it for class names and splits. Several sets
are drawn from in turn, so that each counts the same.

The same seed gives the same bytes, whatever --workers.

presets:
  default    for embeddings of any network, under one covariance for the session
  conv4      for the features of small networks such as Conv-4
  plain      conv4 without temperature: m, kappa and S alone are learned
  plain-map  plain, for the plug-in predictive
  many-rows  for classes with hundreds of rows beside classes with five
  deep       plain, for the features of ResNet-18 and WRN-28-10
  deep-map   the same for the plug-in predictive
  deep-head  default for these features
  shipped    the prior that the page begins with

Examples:
  metaqda train --data cifarfs.npz --out prior.safetensors
  metaqda train --preset conv4 --data cifarfs-conv4.npz --out conv4.safetensors
  metaqda train --preset shipped --data a.npz,b.npz --out p.safetensors --near 0.2`

// trainHelp lists the flags that name files separately from those that change the preset.
var trainHelp = strings.Replace(commandHelp, "{{range .VisibleFlags}}  {{.}}\n{{end}}", `{{range (slice .VisibleFlags 0 13)}}  {{.}}
{{end}}
flags that change a setting of the preset:
{{range (slice .VisibleFlags 13)}}  {{.}}
{{end}}`, 1)

// trainOptions are the flags of train.
type trainOptions struct {
	recipe.Recipe
	files                        trainingFiles
	data, valData                listValue
	splits, preset, familiesFile string
	loss, inference              string
	quiet                        bool
}

// trainCommand has the defaults of the preset that the arguments name.
func trainCommand(preset string) *cli.Command {
	o := &trainOptions{preset: preset}
	var unknown error
	if o.Recipe, unknown = recipe.Preset(o.preset); unknown != nil {
		o.Recipe = recipe.Default()
	}
	return &cli.Command{
		Name: "train", Usage: "meta-learn a prior from labelled embeddings", Description: trainAbout, Flags: o.flags(), CustomHelpTemplate: trainHelp,
		Action: func(ctx context.Context, c *cli.Command) error {
			if unknown != nil {
				return unknown
			}
			if err := noArguments(c); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			stderr := c.Root().ErrWriter
			if o.quiet {
				stderr = io.Discard
			}
			train, err := o.load(o.data, nil)
			if err != nil {
				return err
			}
			val, err := o.load(o.valData, train)
			if err != nil {
				return err
			}
			about, err := learn(ctx, o.Recipe, train, val, o.files, stderr)
			if err == nil {
				fmt.Fprintln(textTo(c, o.files.Out), about)
			}
			return err
		},
	}
}

// presetOf finds --preset among the arguments before they are parsed: its values are the
// defaults of all flags.
func presetOf(args []string) string {
	for i, a := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-") || name != "preset":
		case joined:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return "default"
}

func (o *trainOptions) flags() []cli.Flag {
	c, v, s := &o.Config, &o.Validation, &o.Calibration
	o.inference, o.loss = c.Objective.Inference.String(), c.Objective.Loss.String()
	return []cli.Flag{
		valueFlag(&o.data, "data", "data sets to learn from, separated by commas (required)"),
		textFlag(&o.files.Out, "out", "prior file to write (required)"),
		textFlag(&o.preset, "preset", "settings to begin with, see above"),
		valueFlag(&o.valData, "val-data", "data sets to select and calibrate on (default those of --data)"),
		textFlag(&o.splits, "splits", "file or folder with the splits, instead of those in the .json beside the data"),
		seedFlag(&o.Seed, "seed of all that is drawn"),
		intFlag(&o.Workers, "workers", "cores to use; does not change the result"),
		textFlag(&o.files.Log, "log", "file for one line of JSON for each step and validation"),
		textFlag(&o.files.Curve, "curve", "picture of the training curve, .svg"),
		textFlag(&o.files.Folds, "folds-out", "folder for the priors learned without each part, as without-SET.safetensors"),
		boolFlag(&o.quiet, "quiet", "no progress on the terminal"),
		textFlag(&o.Extractor.ID, "extractor", "name of the feature extractor to store in the prior (default what the data's .json says)"),
		textFlag(&o.Extractor.SHA256, "extractor-sha256", "its checksum (default what the data's .json says, where no --extractor is given)"),

		textFlag(&o.Split, "split", "split to learn from; several separated by commas, or all"),
		textFlag(&v.Split, "val-split", "split to select and calibrate on"),
		textFlag(&o.Precision, "precision", "numbers of the prior file: F16, F32 or F64"),
		intFlag(&o.Rank, "rank", "directions of a spiked S, a diagonal plus so many directions: a smaller file and faster predictions; 0 keeps S as learned"),

		textFlag((*string)(&o.Transform.Kind), "transform", "transform of the embeddings: none, l2 (length one) or cl2n (centred on the training classes, then length one)"),
		numberFlag(&o.Transform.Power, "power", "signed power taken of each number before --transform"),
		numberFlag(&o.Transform.Shift, "shift", "added to each number before --power, then cut at 0; 0 for none"),
		textFlag(&o.inference, "inference", "fb (Student-t, fully Bayesian) or map (Gaussian)"),
		textFlag(&o.loss, "loss", "cross_entropy, nll or open_set (queries of unseen classes belong to none of these)"),
		numberFlag(&c.Objective.NonePrior, "none-prior", "prior probability of none of these in open_set; 0 takes each episode's share"),
		boolFlag(&c.Objective.PerWay, "per-way", "divide an episode's loss by the log of its number of classes"),
		textFlag(&o.Start, "start", "within (S from the covariance within the training classes) or identity"),
		numberFlag(&o.Shrink, "shrink", "share of the identity in --start within, above 0 to 1"),
		numberFlag(&c.Start.Scale, "scale", "s: training starts from S = s² times --start"),
		numberFlag(&c.Start.Kappa, "kappa", "kappa at the start"),
		numberFlag(&o.Nu, "nu", "nu at the start; 0 for the dimension"),
		numberFlag(&c.Start.Temperature, "temperature", "temperature of the log densities at the start"),
		textFlag(&c.Fixed, "fixed", "parameters that are not learned, some of "+strings.Join(metatrain.FixedNames(), ",")),
		intFlag(&s.Sessions, "calibrate", "at the end, fit the session model on so many sessions of each data set and kind (nine kinds); 0 fits none: Bayes' rule with T = 1"),
		textFlag(&s.On, "calibrate-on", "val (validation classes) or left-out (cross-fitting: all classes, test classes too, of each family of domains in turn, under a prior learned without the family; each fold needs one more training)"),
		textFlag(&o.familiesFile, "families", "file of lines \"SET FAMILY\": which data sets are left out together (default: of the preset)"),
		intFlag(&s.Folds, "folds", "largest number of folds of the families for --calibrate-on left-out"),
		numberFlag(&s.Near, "near", "squared whitened distance at which two pictures of a class correlate by .71, as a share of the mean squared distance within classes; 0 for no near-copies"),
		numberFlag(&s.Centre, "centre", "kappa_d of the session's own mean: a larger one keeps it closer to the mean of the prior; 0 for none"),
		numberFlag(&s.Shared, "shared", "weight of the session's residuals in the covariance that its classes share, in units of their mean squared length; 0 for a covariance of its own for each class, as in the paper, without --near and --centre"),
		numberFlag(&s.Kappa, "class-kappa", "kappa of the class means beside --shared"),
		intFlag(&s.Parts.First, "first-part", "how many numbers of an embedding come from the first of two networks; each session finds out which network counts; 0 for one network"),
		boolFlag(&s.Alone, "single-examples", "in sessions of one example a class, fit the log temperature by how similar these examples are"),
		numberFlag(&s.Parts.Odds, "parts-odds", "log odds that both networks count equally, against each other share of the second"),

		textFlag((*string)(&c.Optimiser), "optimizer", "sgd or adam"),
		numberFlag(&c.Rate, "learning-rate", "of m and L"),
		numberFlag(&c.ScalarRate, "scalar-learning-rate", "learning rate of ln kappa, ln(nu-d+1), temperature and offsets"),
		numberFlag(&c.Momentum, "momentum", "of sgd"),
		numberFlag(&c.Beta1, "beta1", "of adam"),
		numberFlag(&c.Beta2, "beta2", "of adam"),
		numberFlag(&c.WeightDecay, "weight-decay", "of m and L"),
		numberFlag(&c.Clip, "clip", "largest norm of the gradient; 0 for no bound"),
		textFlag((*string)(&c.Schedule), "schedule", "of the learning rates: constant, step or cosine"),
		intFlag(&c.StepEvery, "step-every", "steps after which --schedule step lowers the rates"),
		numberFlag(&c.StepFactor, "step-factor", "factor by which --schedule step lowers the rates"),
		intFlag(&c.WarmUp, "warm-up", "steps over which the rates rise to their full values"),
		intFlag(&c.Steps, "steps", "gradient steps"),
		intFlag(&c.Batch, "batch", "episodes of a step, which run on several cores"),

		valueFlag((*rangeValue)(&o.Tasks.Way), "n-way", "classes of an episode, a number or a range as 5-20, drawn log-uniformly"),
		valueFlag((*rangeValue)(&o.Tasks.Shot), "n-shot", "support examples of a class, a number or a range"),
		valueFlag((*rangeValue)(&o.Tasks.Query), "n-query", "queries of a class, a number or a range"),
		valueFlag((*rangeValue)(&o.Tasks.UnknownClasses), "n-unseen", "classes outside the episode that supply queries; for open_set"),
		boolFlag(&o.Tasks.Imbalanced, "imbalanced", "draw the shot for each class of an episode"),
		intFlag(&o.Tasks.MaxRows, "max-rows", "largest number of rows of an episode, support and queries together; 0 for no bound"),
		intFlag(&v.Way, "val-way", "classes of a validation episode"),
		valueFlag(intsValue{&v.Shots, 1}, "val-shot", "support examples of a class in validation, several separated by commas"),
		intFlag(&v.Query, "val-query", "queries of a class in validation"),
		intFlag(&v.Tasks, "val-tasks", "validation episodes of each data set and shot; 0 keeps the last prior instead of the best"),
		intFlag(&c.ValidateEvery, "validate-every", "steps between validations"),
		intFlag(&c.Patience, "patience", "validations without improvement after which training stops; 0 for never"),
		textFlag((*string)(&c.Select), "select", "what makes a validation the best: accuracy or loss"),
	}
}

// check turns names into values and returns an error for values out of their domain.
func (o *trainOptions) check() (err error) {
	c := &o.Config
	if len(o.data) == 0 || o.files.Out == "" {
		return errors.New("--data and --out are required; `metaqda train --help` shows an example")
	}
	if c.Objective.Inference, err = niw.ParseInference(o.inference); err != nil {
		return err
	}
	if c.Objective.Loss, err = metatrain.ParseLoss(o.loss); err != nil {
		return err
	}
	if _, err = embed.ParseKind(string(o.Transform.Kind)); err != nil {
		return err
	}
	if k := &o.Calibration; o.files.Folds != "" && (k.On != recipe.CrossFitting || k.Sessions == 0 || k.Shared == 0) {
		return errors.New("--folds-out takes --calibrate-on left-out, and a --calibrate and a --shared above 0")
	}
	if o.familiesFile != "" {
		text, err := files.Read(o.familiesFile, "families")
		if err != nil {
			return err
		}
		if o.Calibration.Families, err = recipe.ParseFamilies(o.familiesFile, text); err != nil {
			return err
		}
	}
	if e := o.files.Curve; e != "" && !strings.HasSuffix(e, ".svg") {
		return fmt.Errorf("--curve %s: name a file that ends in .svg", e)
	}
	if err := o.Validate(); err != nil {
		return err
	}
	outputs := []string{o.files.Out, o.files.Log, o.files.Curve}
	return errors.Join(files.CheckWritable(outputs...), files.CheckApart(outputs, slices.Concat(o.data, o.valData, []string{o.splits, o.familiesFile})...))
}

// load reads data sets; those that are among some others are not read again.
func (o *trainOptions) load(paths []string, among []*dataset.Set) (sets []*dataset.Set, err error) {
next:
	for _, path := range paths {
		for _, s := range among {
			if s.File() == path {
				sets = append(sets, s)
				continue next
			}
		}
		s, err := files.Set(path, o.splits)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}
