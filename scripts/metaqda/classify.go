package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	core "metaqda/core"
	"metaqda/core/lab/dataset"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/scripts/files"
	"metaqda/web/prior"
)

// teach, classify and predict also have their former names: enrol, sort and recognise.

const teachAbout = `Teaches a classifier with the labelled embeddings of a data set, and writes a classifier
file. The page opens it, classify, predict and watch use it, and export converts it for
other programs. The .json beside the data names the extractor. If it is one of the page's
own, its prior is used, else the general prior. The general prior uses only the directions
of vectors, and of a single number only the sign. Tables whose columns have different
units need --scale standardise.`

func teachCommand() *cli.Command {
	j, out, said, quiet := defaultJob(), "", "", false
	c := fileCommand(cli.Command{Name: "teach", Aliases: []string{"enrol"}, Usage: "teach a classifier with labelled embeddings", Description: teachAbout},
		neededFile{&out, "out", "classifier file to write"},
		[]neededFile{{&j.Examples, "examples", "data set of labelled examples"}},
		[]cli.Flag{
			textFlag(&j.Prior, "prior", "prior file, in place of that of the extractor"),
			j.nonePriorFlag("0.2 if left out"), j.scaleFlag(),
			boolFlag(&quiet, "quiet", "do not print a summary"),
		},
		func(_ context.Context, c *cli.Command) ([]byte, error) {
			j.Note = c.Root().ErrWriter
			taught, err := j.Teach()
			if err != nil {
				return nil, err
			}
			said = fmt.Sprintf("taught %s of %s, vectors of length %d: %s",
				counted(taught.Count(), "example", "examples"), counted(taught.Len(), "class", "classes"), taught.Dim(), out)
			return taught.Save()
		})
	write := c.Action
	c.Action = func(ctx context.Context, c *cli.Command) error {
		err := write(ctx, c)
		if err == nil && !quiet {
			fmt.Fprintln(textTo(c, out), said)
		}
		return err
	}
	return c
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

var classifyAbout = fmt.Sprintf(`Writes a CSV with a line for each picture: its row, its file if the .json beside the
data names "files", the answer, and all probabilities. The answer is "none of these" if that
is at least %d %% probable, else the most probable class. A name that a spreadsheet would
take for a formula gets an apostrophe before it. A class with the name of another column
gets "class" before it in the heading. The classes come from a classifier file or from
labelled examples. From folders of pictures:

  node scripts/embed/embed.mjs CLASSES --out taught.npz
  node scripts/embed/embed.mjs FOLDER --unlabelled --out pictures.npz
  metaqda classify --examples taught.npz --data pictures.npz --out table.csv`, core.NoneFrom)

func classifyCommand() *cli.Command {
	return tableCommand(true, cli.Command{Name: "classify", Aliases: []string{"sort"}, Usage: "classify unlabelled pictures together, from a few labelled ones", Description: classifyAbout})
}

const predictAbout = `Writes the same table as classify, but judges the pictures one by one, as the page
recognises a new picture.`

func predictCommand() *cli.Command {
	return tableCommand(false, cli.Command{Name: "predict", Aliases: []string{"recognise"}, Usage: "classify unlabelled pictures one by one", Description: predictAbout})
}

func tableCommand(batch bool, c cli.Command) *cli.Command {
	j, out := defaultJob(), ""
	j.Batch = batch
	flags := []cli.Flag{
		textFlag(&j.Classifier, "classifier", "classifier file of teach, the page or the npm package"),
		textFlag(&j.Examples, "examples", "a data set of labelled examples instead of --classifier"),
		textFlag(&j.Prior, "prior", priorUsage),
		j.nonePriorFlag("the classifier's own if left out, 0.2 for examples"), j.scaleFlag(),
	}
	return fileCommand(c, neededFile{&out, "out", "table to write"},
		[]neededFile{{&j.Data, "data", "embeddings to classify, .npz, .npy or .csv; labels are not needed"}}, flags,
		func(ctx context.Context, c *cli.Command) ([]byte, error) {
			if err := j.checkTaught(); err != nil {
				return nil, err
			}
			j.Note = c.Root().ErrWriter
			j.Progress = files.Progress(c.Root().ErrWriter)
			return j.Table(ctx)
		})
}

// checkTaught returns an error unless exactly one flag names the examples.
func (j *job) checkTaught() error {
	switch {
	case j.Classifier == "" && j.Examples == "":
		return errors.New("give what was taught, by --classifier or by --examples")
	case j.Classifier != "" && j.Examples != "":
		return errors.New("--classifier and --examples both say what was taught: leave one of them out")
	case j.Classifier != "" && j.Scale != "":
		return errors.New("--scale goes with --examples: a classifier file says itself how it was taught")
	}
	return nil
}

// None is the answer for a picture that is of none of the classes.
const None = "none of these"

// job teaches a classifier the examples of a data set, and classifies every picture of another
// file. scripts/embed makes both files from folders.
type job struct {
	Classifier string    // a classifier file of the page, of npm or of Teach
	Examples   string    // or else a data set whose labels are taught
	Data       string    // embeddings to be classified
	Prior      string    // prior file; empty for the one that the classifier names, or the one of the extractor
	Batch      bool      // pictures are judged together, see [core.Classifier.Classify]; else one by one
	NonePrior  *float64  // prior probability of none of the classes; nil for the classifier's own, .2 for examples
	Scale      string    // of what is taught, see [core.Settings]
	Note       io.Writer // gets a line about anything surprising that is no error

	// Progress, if not nil, is called now and then.
	Progress func(what string, done, total int)
}

// defaultJob returns a job without files.
func defaultJob() job { return job{Batch: true, Note: io.Discard} }

const priorUsage = "prior file, needed if it is not one of the page's own; if the classifier file names another prior, this one is used instead, and a line says so"

func (j *job) nonePriorFlag(otherwise string) cli.Flag {
	return &cli.Float64Flag{Name: "none-prior", Usage: "prior probability of none of the classes, from 0 to below 1; " + otherwise, HideDefault: true,
		Action: func(_ context.Context, _ *cli.Command, v float64) error { j.NonePrior = &v; return nil }}
}

func (j *job) scaleFlag() cli.Flag {
	return textFlag(&j.Scale, "scale", "standardise: subtract the mean of the examples from each column and divide by their standard deviation, for tables whose columns have different units; only with the general prior")
}

// Teach returns a classifier that was taught the examples. Errors name the file, the row
// where there is one, and the remedy.
func (j *job) Teach() (*core.Classifier, error) {
	set, err := dataset.Load(j.Examples)
	if err != nil {
		return nil, err
	}
	p, err := j.prior(set.Extractor)
	if err != nil {
		return nil, err
	}
	s := core.Settings{NonePrior: 0.2, Scale: j.Scale}
	if j.NonePrior != nil {
		s.NonePrior = *j.NonePrior
	}
	c, err := core.New(s, p)
	var wrong *niw.ValueError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("--none-prior: %w", err)
	case err != nil:
		return nil, fmt.Errorf("--scale: %w", err)
	}
	c.Name = set.Name
	if p != nil && set.Dim != p.Dim() {
		return nil, wrongLength(set.File(), set.Dim, p.Dim())
	}
	if set.Extractor != "" {
		if err := c.Identify(core.Extractor{ID: set.Extractor, SHA256: set.ExtractorSHA256}); err != nil {
			return nil, fmt.Errorf("%s: %w", set.File(), err)
		}
	}
	if p == nil && set.Dim == 1 {
		fmt.Fprintf(j.Note, "%s has one number in a row, of which nothing but the sign counts: add a column that is the same for all, about as large\n", set.File())
	}
	for k, label := range set.Classes {
		if len(set.ClassRows(k)) > 0 {
			if _, err := c.AddClass(label); err != nil {
				return nil, fmt.Errorf("%s: class %d, %q, cannot be taught: %w", set.File(), k, label, err)
			}
		}
		for _, i := range set.ClassRows(k) {
			group := ""
			if set.Groups != nil {
				group = strconv.Itoa(int(set.Groups[i]))
			}
			if _, err := c.Add(label, group, set.Row(i)); err != nil {
				return nil, cannotBeUsed(set.File(), i, err)
			}
		}
	}
	return c, nil
}

// prior returns the prior of the file, or else the extractor's, nil for the default.
func (j *job) prior(extractor string) (*core.Prior, error) {
	if j.Prior == "" {
		return prior.Of(extractor)
	}
	file, err := files.Read(j.Prior, "prior")
	if err != nil {
		return nil, err
	}
	p, err := core.DecodePrior(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make one with `metaqda train`", j.Prior, err)
	}
	return p, nil
}

// Open returns the classifier of a file, or of the examples.
func (j *job) Open() (*core.Classifier, error) {
	if j.Classifier == "" {
		return j.Teach()
	}
	file, err := files.Read(j.Classifier, "classifier")
	if err != nil {
		return nil, err
	}
	taught, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make one with `metaqda teach`, or save one in the page", j.Classifier, err)
	}
	c, err := j.opened(file, taught.PriorSum)
	if err != nil {
		return nil, err
	}
	if j.NonePrior != nil {
		if err := c.Configure(core.Settings{NonePrior: *j.NonePrior, Scale: c.Settings().Scale}); err != nil {
			return nil, fmt.Errorf("--none-prior: %w", err)
		}
	}
	return c, nil
}

// opened returns the classifier of a file, which names a prior by its sha256. A given prior takes
// the place of that one.
func (j *job) opened(file []byte, named string) (c *core.Classifier, err error) {
	priors, err := prior.All()
	if err != nil {
		return nil, err
	}
	if j.Prior == "" {
		if c, err = core.Open(file, priors...); err != nil && core.Code(err) == "prior" {
			return nil, fmt.Errorf("%s was taught under the prior with sha256 %s, which is none of the page's own; give it by --prior", j.Classifier, named)
		}
	} else {
		var p *core.Prior
		if p, err = j.prior(""); err != nil {
			return nil, err
		}
		if p.Sum() != named {
			fmt.Fprintf(j.Note, "%s was taught under another prior (%s): %s takes its place\n", j.Classifier, cmp.Or(named, "the one for any vectors"), j.Prior)
		}
		c, err = core.OpenUnder(file, p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.Classifier, err)
	}
	return c, nil
}

// Table reads the files, judges the pictures and returns the table, as CSV.
func (j *job) Table(ctx context.Context) ([]byte, error) {
	c, err := j.Open()
	if err != nil {
		return nil, err
	}
	rows, err := dataset.LoadRows(j.Data, c.Dim())
	if err != nil {
		return nil, err
	}
	if rows.Extractor != "" {
		if err := c.Identify(core.Extractor{ID: rows.Extractor}); err != nil {
			return nil, fmt.Errorf("%s: %w", rows.File(), err)
		}
	}
	if d := c.Dim(); d != 0 && rows.Dim != d {
		return nil, wrongLength(rows.File(), rows.Dim, d)
	}
	answers, err := j.answers(ctx, c, rows)
	if core.Code(err) == "empty" {
		return nil, fmt.Errorf("%s: %w", j.Classifier, err)
	}
	if err != nil {
		return nil, err
	}
	return encode(c.Labels(), answers, rows.Files)
}

func wrongLength(file string, got, want int) error {
	return &dataset.FileError{File: file, Row: -1, Problem: fmt.Sprintf("has rows of length %d but length %d is wanted", got, want),
		Remedy: "use the extractor of the prior and the examples for these embeddings"}
}

func cannotBeUsed(file string, row int, err error) error {
	if code := core.Code(err); code == "dimension" || code == "limit" { // no row is at fault
		return fmt.Errorf("%s: %w", file, err)
	} else if code == "empty" {
		return err
	}
	return &dataset.FileError{File: file, Row: row, Problem: "cannot be used (" + err.Error() + ")",
		Remedy: "compute its embedding again, with the extractor of the examples", Err: err}
}

// answers returns the answers for all rows.
func (j *job) answers(ctx context.Context, c *core.Classifier, rows *dataset.Rows) ([]core.Answer, error) {
	progress := func(done, total int) {
		if j.Progress != nil {
			j.Progress("judge", done, total)
		}
	}
	vectors := slices.Collect(slices.Chunk(rows.X, rows.Dim))
	if j.Batch {
		return c.Classify(ctx, vectors, progress)
	}
	answers := make([]core.Answer, len(vectors))
	for i, v := range vectors {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, err := c.Predict(v)
		if err != nil {
			return nil, cannotBeUsed(rows.File(), i, err)
		}
		answers[i] = a
		progress(i+1, len(vectors))
	}
	return answers, nil
}

// encode returns the table as CSV: a heading, then every picture in the order of the
// rows.
func encode(labels []string, answers []core.Answer, files []string) ([]byte, error) {
	labels = slices.Clone(labels)
	for j, label := range labels {
		labels[j] = noFormula(label)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	heading := []string{"row", "file", "answer"}
	for _, label := range labels {
		name := label
		for name == None || slices.Contains(heading, name) || name != label && slices.Contains(labels, name) {
			name = "class " + name
		}
		heading = append(heading, name)
	}
	w.Write(append(heading, None)) // errors are kept for w.Error
	for i, a := range answers {
		line := []string{strconv.Itoa(i), "", None}
		if a.Class >= 0 {
			line[2] = labels[a.Class]
		}
		if files != nil {
			line[1] = noFormula(files[i])
		}
		for _, v := range append(slices.Clone(a.Probabilities), a.None) {
			line = append(line, strconv.FormatFloat(v, 'f', 6, 64))
		}
		w.Write(line)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// noFormula returns text with an apostrophe before it where a spreadsheet would take it
// for a formula.
func noFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
