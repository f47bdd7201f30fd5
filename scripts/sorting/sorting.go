// Package sorting answers for every picture of a file what it probably is, by
// examples of the classes in another, and makes a table: scripts/embed makes both
// from folders. How probable is the business of core/qda.
package sorting

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/experiment"
	"metaqda/core/qda"
	"metaqda/scripts/input"
)

// None is the answer for a picture that is of none of the classes.
const None = "none of these"

// Job names the files of a run and how to judge.
type Job struct {
	Examples  string  // data set whose labels are taught
	Data      string  // embeddings to be sorted
	Prior     string  // prior file
	Together  bool    // pictures tell of each other, see [qda.Classifier.Classify]
	NonePrior float64 // probability of none of the classes beforehand

	// Progress, if not nil, is called now and then.
	Progress func(what string, done, total int)
}

// Defaults returns a job without files: together, and with none of the classes as
// probable beforehand as the page has it.
func Defaults() Job { return Job{Together: true, NonePrior: 0.2} }

// Table reads the files, judges the pictures and returns the table, as CSV. Errors name
// the file, the row where there is one, and the remedy.
func (j *Job) Table(ctx context.Context) ([]byte, error) {
	prior, err := input.Prior(j.Prior)
	if err != nil {
		return nil, err
	}
	taught, err := dataset.Load(j.Examples)
	if err != nil {
		return nil, err
	}
	rows, err := dataset.LoadRows(j.Data)
	if err != nil {
		return nil, err
	}
	return j.table(ctx, prior, taught, rows)
}

// table returns the bytes of the table.
func (j *Job) table(ctx context.Context, prior *experiment.Prior, taught *dataset.Set, rows *dataset.Rows) ([]byte, error) {
	if prior.Session.FB == nil {
		return nil, &dataset.FileError{File: j.Prior, Row: -1, Problem: "has no session model, without which probabilities, and none of these above all, are not to be relied on",
			Remedy: "learn it with a calibration (`metaqda train` by its default), or take one of `metaqda prior`"}
	}
	if taught.Extractor != "" && rows.Extractor != "" && taught.Extractor != rows.Extractor {
		return nil, &dataset.FileError{File: rows.File(), Row: -1, Problem: fmt.Sprintf("has embeddings of the extractor %q but %s of %q", rows.Extractor, taught.File(), taught.Extractor),
			Remedy: "embed both with the same"}
	}
	x, err := transformed(&prior.Transform, prior.NIW.Dim(), rows.File(), rows.Dim, rows.Len(), rows.RowTo)
	if err != nil {
		return nil, err
	}
	c, err := j.teach(prior, taught)
	if err != nil {
		return nil, err
	}
	answers, err := j.judge(ctx, c, x)
	var row *qda.RowError
	if errors.As(err, &row) {
		return nil, cannotBeUsed(rows.File(), row.Row, row.Err)
	}
	if err != nil {
		return nil, err
	}
	return encode(c.Labels(), answers, rows.Files)
}

// transformed returns n rows of a file as the classifier takes them.
func transformed(t *embed.Transform, want int, file string, dim, n int, rowTo func([]float64, int) []float64) (*mat.Dense, error) {
	if dim != want {
		return nil, &dataset.FileError{File: file, Row: -1, Problem: fmt.Sprintf("has %d numbers in a row but the prior is for %d", dim, want),
			Remedy: "use embeddings of the extractor that the prior was learned for"}
	}
	x := mat.NewDense(n, dim, nil)
	for i := range n {
		row := rowTo(x.RawRowView(i), i)
		if err := t.ApplyTo(row, row); err != nil {
			return nil, cannotBeUsed(file, i, err)
		}
	}
	return x, nil
}

func cannotBeUsed(file string, row int, err error) error {
	return &dataset.FileError{File: file, Row: row, Problem: "cannot be used (" + err.Error() + ")",
		Remedy: "compute its embedding again, with the extractor that the prior was learned for", Err: err}
}

// teach returns a classifier with all examples. Classes without any are left out.
func (j *Job) teach(prior *experiment.Prior, taught *dataset.Set) (*qda.Classifier, error) {
	x, err := transformed(&prior.Transform, prior.NIW.Dim(), taught.File(), taught.Dim, taught.Len(), taught.RowTo)
	if err != nil {
		return nil, err
	}
	o := prior.Session.Options()
	o.NonePrior = j.NonePrior
	c, err := qda.New(prior.NIW, o)
	if err != nil {
		return nil, fmt.Errorf("--none-prior: %w", err)
	}
	for k, label := range taught.Classes {
		rows := taught.ClassRows(k)
		if len(rows) == 0 {
			continue
		}
		if err := c.AddClass(label); err != nil {
			return nil, err
		}
		for _, i := range rows {
			if err := c.Add(label, x.RawRowView(i)); err != nil {
				return nil, cannotBeUsed(taught.File(), i, err)
			}
		}
	}
	return c, nil
}

// judge returns the answers for all rows of x.
func (j *Job) judge(ctx context.Context, c *qda.Classifier, x *mat.Dense) (*qda.Answers, error) {
	progress := func(done, total int) {
		if j.Progress != nil {
			j.Progress("sort", done, total)
		}
	}
	if j.Together {
		return c.Classify(ctx, x, progress)
	}
	n, _ := x.Dims()
	a := &qda.Answers{Classes: mat.NewDense(n, len(c.Labels()), nil), None: make([]float64, n)}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if a.None[i], err = c.ProbabilitiesTo(a.Classes.RawRowView(i), x.RawRowView(i)); err != nil {
			return nil, &qda.RowError{Row: i, Err: err}
		}
		progress(i+1, n)
	}
	return a, nil
}

// encode returns the table as CSV: a heading, then every picture in the order of the
// rows. The answer is that of [qda.Decide].
func encode(labels []string, a *qda.Answers, files []string) ([]byte, error) {
	labels = slices.Clone(labels)
	for j, label := range labels {
		labels[j] = noFormula(label)
	}
	names := append(slices.Clone(labels), None)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(append([]string{"row", "file", "answer"}, names...)) // errors are kept for w.Error
	for i, none := range a.None {
		classes := a.Classes.RawRowView(i)
		line := []string{strconv.Itoa(i), "", None}
		if best := qda.Decide(classes, none); best >= 0 {
			line[2] = labels[best]
		}
		if files != nil {
			line[1] = noFormula(files[i])
		}
		for _, v := range append(slices.Clone(classes), none) {
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
