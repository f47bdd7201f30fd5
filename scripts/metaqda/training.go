package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"metaqda/core/dataset"
	"metaqda/core/metatrain"
	"metaqda/core/metatrain/recipe"
	"metaqda/core/model"
	"metaqda/scripts/files"
	"metaqda/scripts/tables"
)

// trainingFiles are those of a run; an empty path is none, but Out and Checkpoint must be
// there.
type trainingFiles struct {
	Out        string // the prior
	Checkpoint string // written at every validation and when interrupted, removed at the end
	Log        string // a line of JSON for each step and validation
	Curve      string // picture of the training curve, SVG
	Folds      string // folder for the priors of cross-fitting
	Resume     bool   // from Checkpoint
}

// interrupted says that the context ended before the prior was there, and that the
// checkpoint was written.
type interrupted struct {
	Step       int
	Checkpoint string
}

// Error returns one sentence.
func (e *interrupted) Error() string {
	return fmt.Sprintf("stopped at step %d; the same command with --resume goes on from %s", e.Step, e.Checkpoint)
}

// learn learns a prior, writes the files and returns a line about it. progress gets a
// line of text for what takes long; on a terminal it is redrawn.
func learn(ctx context.Context, r recipe.Recipe, train, val []*dataset.Set, f trainingFiles, progress io.Writer) (string, error) {
	run, err := recipe.New(r, train, val)
	if err != nil {
		return "", err
	}
	run.Note = func(text string) { fmt.Fprintln(progress, text) }
	t := &training{Run: run, files: f}
	if f.Resume {
		if err := t.resume(); err != nil {
			return "", err
		}
	}
	if err := t.train(ctx, progress); err != nil {
		return "", t.interrupted(err)
	}
	prior, err := t.Prior(ctx)
	if err != nil {
		return "", t.interrupted(err)
	}
	return t.finish(prior)
}

// training is a run with its files.
type training struct {
	*recipe.Run
	files trainingFiles
	log   recipe.Log
}

func (t *training) resume() error {
	state, err := os.ReadFile(t.files.Checkpoint)
	if err != nil {
		return fmt.Errorf("%s cannot be read (%v); leave out --resume to begin anew", t.files.Checkpoint, errors.Unwrap(err))
	}
	if err := t.Trainer.LoadState(state); err != nil {
		return fmt.Errorf("%s: %w", t.files.Checkpoint, err)
	}
	if t.files.Log == "" {
		return nil
	}
	old, err := os.ReadFile(t.files.Log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s cannot be read (%v); name another --log", t.files.Log, err)
	}
	t.log.Resume(old, t.Trainer)
	return nil
}

// train runs to the end or until ctx ends, writing a checkpoint at every
// validation.
func (t *training) train(ctx context.Context, progress io.Writer) error {
	if t.Trainer.Config().Steps == 0 {
		return nil // the start is the prior
	}
	show := t.shown(progress)
	for !t.Trainer.Done() {
		p, err := t.Trainer.Step(ctx)
		if err != nil {
			return err
		}
		show(p)
		if err := t.log.Add(p); err != nil {
			return err
		}
		if p.Point != nil {
			if err := t.checkpoint(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *training) checkpoint() error {
	if err := t.writeLog(); err != nil {
		return err
	}
	return files.Write(t.files.Checkpoint, t.Trainer.State())
}

func (t *training) writeLog() error {
	if t.files.Log == "" {
		return nil
	}
	return files.Write(t.files.Log, t.log.Bytes())
}

// interrupted saves a run that was interrupted; other errors it returns.
func (t *training) interrupted(err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if err := t.checkpoint(); err != nil {
		return err
	}
	return &interrupted{t.Trainer.StepCount(), t.files.Checkpoint}
}

// finish writes priors, curve and log and removes the checkpoint.
func (t *training) finish(prior *model.Prior) (string, error) {
	if t.files.Folds != "" {
		if err := t.writeFolds(prior); err != nil {
			return "", err
		}
	}
	data, err := encodePrior(prior)
	if err != nil {
		return "", err
	}
	if t.files.Curve != "" {
		picture, err := tables.Curve(t.Trainer.History())
		if err != nil {
			return "", err
		}
		if err := files.Write(t.files.Curve, picture); err != nil {
			return "", err
		}
	}
	if err := t.writeLog(); err != nil {
		return "", err
	}
	if err := files.Write(t.files.Out, data); err != nil {
		return "", err
	}
	os.Remove(t.files.Checkpoint) // it has served; a leftover would do no harm
	validation := ""
	if best := t.Trainer.Best(); best != nil && best.Validation != nil {
		validation = fmt.Sprintf("step %d, validation accuracy %.2f %%, ", best.Step, 100*best.Validation.Accuracy)
	}
	return fmt.Sprintf("%s: %s%d bytes, sha256 %s", t.files.Out, validation, len(data), model.Sum(data)), nil
}

// writeFolds writes the prior of each fold once for each set that it was learned
// without.
func (t *training) writeFolds(prior *model.Prior) error {
	if err := files.Folder(t.files.Folds); err != nil {
		return err
	}
	folds, err := t.Folds(prior)
	if err != nil {
		return err
	}
	for _, f := range folds {
		data, err := encodePrior(f.Prior)
		if err != nil {
			return err
		}
		for _, set := range f.Held {
			if err := files.Write(filepath.Join(t.files.Folds, "without-"+set+".safetensors"), data); err != nil {
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

// shown returns a function that writes a line for each validation, and on a terminal how
// many steps are done between them.
func (t *training) shown(w io.Writer) func(metatrain.Progress) {
	steps, total := files.Progress(w), t.Trainer.Config().Steps
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
			line = "\r" + line + "\x1b[K" // over what stands there
		}
		fmt.Fprintln(w, line)
	}
}
