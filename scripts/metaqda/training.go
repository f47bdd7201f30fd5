package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lab/metatrain/recipe"
	"metaqda/core/model"
	"metaqda/scripts/files"
	"metaqda/scripts/tables"
)

// trainingFiles are those of a run; an empty path is none, but Out must be there.
type trainingFiles struct {
	Out   string // the prior
	Log   string // a line of JSON for each step and validation
	Curve string // picture of the training curve, SVG
	Folds string // folder for the priors of cross-fitting
}

// logLine is a step, or a validation if Point is not nil.
type logLine struct {
	Step     int              `json:"step"`
	Loss     *float64         `json:"loss,omitempty"`
	GradNorm *float64         `json:"gradNorm,omitempty"`
	Point    *metatrain.Point `json:"point,omitempty"`
	Best     bool             `json:"best,omitempty"`
}

// learn learns a prior, writes the files and returns a line about it. progress gets a line of text
// for long work; a terminal redraws it.
func learn(ctx context.Context, r recipe.Recipe, train, val []*dataset.Set, f trainingFiles, progress io.Writer) (string, error) {
	run, err := recipe.New(r, train, val)
	if err != nil {
		return "", err
	}
	run.Note = func(text string) { fmt.Fprintln(progress, text) }
	var log bytes.Buffer
	if r.Config.Steps > 0 { // else the start is the prior
		report, lines := reporter(progress, r.Config.Steps), json.NewEncoder(&log)
		err = run.Trainer.Run(ctx, func(p metatrain.Progress) {
			report(p)
			line := logLine{Step: p.Step, Point: p.Point, Best: p.Best}
			if p.Point == nil {
				line.Loss, line.GradNorm = &p.Loss, &p.GradNorm
			}
			_ = lines.Encode(line) // finite numbers into memory
		})
	}
	if f.Log != "" {
		err = errors.Join(err, files.Write(f.Log, log.Bytes()))
	}
	if err != nil {
		return "", err
	}
	prior, err := run.Prior(ctx)
	if err != nil {
		return "", err
	}
	return finish(run, prior, f)
}

// finish writes priors and curve.
func finish(run *recipe.Run, prior *model.Prior, f trainingFiles) (string, error) {
	if f.Folds != "" {
		if err := writeFolds(run, prior, f.Folds); err != nil {
			return "", err
		}
	}
	data, err := encodePrior(prior)
	if err != nil {
		return "", err
	}
	if f.Curve != "" {
		picture, err := tables.Curve(run.Trainer.History())
		if err != nil {
			return "", err
		}
		if err := files.Write(f.Curve, picture); err != nil {
			return "", err
		}
	}
	if err := files.Write(f.Out, data); err != nil {
		return "", err
	}
	validation := ""
	if best := run.Trainer.Best(); best != nil && best.Validation != nil {
		validation = fmt.Sprintf("step %d, validation accuracy %.2f %%, ", best.Step, 100*best.Validation.Accuracy)
	}
	return fmt.Sprintf("%s: %s%d bytes, sha256 %s", f.Out, validation, len(data), model.Sum(data)), nil
}

// writeFolds writes the prior of each fold once for each set that it was learned
// without.
func writeFolds(run *recipe.Run, prior *model.Prior, folder string) error {
	if err := files.Folder(folder); err != nil {
		return err
	}
	folds, err := run.Folds(prior)
	if err != nil {
		return err
	}
	for _, f := range folds {
		data, err := encodePrior(f.Prior)
		if err != nil {
			return err
		}
		for _, set := range f.Held {
			if err := files.Write(filepath.Join(folder, "without-"+set+".safetensors"), data); err != nil {
				return err
			}
		}
	}
	return nil
}

func encodePrior(p *model.Prior) ([]byte, error) {
	data, err := model.EncodePrior(p)
	if err != nil {
		return nil, fmt.Errorf("the learned prior cannot be written: %w; try a smaller learning rate", err)
	}
	return data, nil
}

// reporter returns a function that writes a line for each validation, and on a terminal how
// many steps are done between them.
func reporter(w io.Writer, total int) func(metatrain.Progress) {
	steps := files.Progress(w)
	return func(p metatrain.Progress) {
		if p.Point == nil {
			if steps != nil {
				steps("training", p.Step, total)
			}
			return
		}
		line := fmt.Sprintf("step %d/%d", p.Step, total)
		if p.Step > 0 {
			line += fmt.Sprintf("  loss %.4f", p.Point.Loss)
		}
		if v := p.Point.Validation; v != nil {
			line += fmt.Sprintf("  validation %.2f %%", 100*v.Accuracy)
			if p.Best {
				line += " (best)"
			}
		}
		if steps != nil {
			line = "\r" + line + "\x1b[K" // over the text that stands there
		}
		fmt.Fprintln(w, line)
	}
}
