package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// open resumes from the checkpoint if asked to and begins the log.
func (r *trainRun) open() error {
	o := r.options
	if o.resume {
		state, err := os.ReadFile(o.resumeFrom)
		if err != nil {
			return fmt.Errorf("%s cannot be read (%v); leave out --resume to begin anew", o.resumeFrom, errors.Unwrap(err))
		}
		if err := r.trainer.LoadState(state); err != nil {
			return fmt.Errorf("%s: %w", o.resumeFrom, err)
		}
	}
	if o.log == "" {
		return nil
	}
	var err error
	r.log, err = openLog(o.log, o.resume, r.trainer)
	return err
}

// train runs to the end or until ctx ends, writing a checkpoint at every
// validation.
func (r *trainRun) train(ctx context.Context, stderr io.Writer) error {
	bar := newTrainBar(stderr, r.trainer)
	defer bar.end()
	for !r.trainer.Done() {
		p, err := r.trainer.Step(ctx)
		if err != nil {
			return err
		}
		bar.report(p)
		if err := r.log.add(p); err != nil {
			return err
		}
		if p.Point != nil {
			if err := r.checkpoint(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *trainRun) checkpoint() error {
	if err := r.log.flush(); err != nil {
		return err
	}
	return writeFile(r.options.resumeFrom, r.trainer.State())
}

// interrupted saves an interrupted run. Status 130 is the shell's for Ctrl-C.
func (r *trainRun) interrupted(err error, stderr io.Writer) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if err := r.checkpoint(); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "metaqda train: stopped at step %d; the same command with --resume goes on from %s\n", r.trainer.StepCount(), r.options.resumeFrom)
	return exitStatus(130)
}

// finish calibrates, writes prior and curve and removes the checkpoint.
func (r *trainRun) finish(ctx context.Context, stdout, stderr io.Writer) error {
	prior, err := r.prior(ctx, stderr)
	if err != nil {
		return r.interrupted(err, stderr)
	}
	data, err := model.EncodePrior(prior)
	if err != nil {
		return fmt.Errorf("the learned prior cannot be written: %w; try a smaller learning rate", err)
	}
	if r.options.curve != "" {
		picture, err := drawCurve(r.trainer.History(), r.options.curve)
		if err != nil {
			return err
		}
		if err := writeFile(r.options.curve, picture); err != nil {
			return err
		}
	}
	if err := r.log.flush(); err != nil {
		return err
	}
	if err := writeFile(r.options.out, data); err != nil {
		return err
	}
	os.Remove(r.options.resumeFrom) // it has served; a leftover would do no harm
	fmt.Fprintf(stdout, "%s: %s%d bytes, sha256 %s\n", r.options.out, r.summary(), len(data), model.Sum(data))
	return nil
}

// summary tells the validation the prior was chosen by.
func (r *trainRun) summary() string {
	best := r.trainer.Best()
	if best == nil || best.Validation == nil {
		return ""
	}
	return fmt.Sprintf("step %d, validation accuracy %.2f %%, ", best.Step, 100*best.Validation.Accuracy)
}

// prior returns the content of the prior file: the best parameters as
// [trainOptions.shipped] has them, calibrated for both kinds of inference.
func (r *trainRun) prior(ctx context.Context, stderr io.Writer) (*model.Prior, error) {
	best := r.trainer.Result()
	shipped, rest, err := r.options.shipped(r.fold, best)
	if err != nil {
		return nil, err
	}
	facts := r.facts()
	if q := shipped.Prior.Spiked; q != nil {
		facts["rank"] = fmt.Sprintf("%d; the other eigenvalues had a standard deviation of %.3f of their logarithms", q.Rank(), rest)
	}
	p := &model.Prior{NIW: shipped.Prior, Transform: r.fold.transform, DataMean: r.fold.dataMean,
		Extractor: r.extractor(), Facts: facts, Precision: r.options.precision}
	return p, r.sessionModel(ctx, best, p, stderr)
}

// shipped returns what training found carried back from its coordinates, with a
// spiked S if asked for; rest is the standard deviation of the logarithms of the
// eigenvalues that are not spikes.
func (o *trainOptions) shipped(f *fold, found *metatrain.Params) (shipped *metatrain.Params, rest float64, err error) {
	shipped = found
	if f.base != nil {
		shipped = f.base.Compose(found)
	}
	if o.rank == 0 {
		return shipped, 0, nil
	}
	q, rest, ok := niw.Spike(shipped.Prior, min(o.rank, shipped.Prior.Dim()))
	if !ok {
		return nil, 0, fmt.Errorf("the eigenvalues of the learned S cannot be found; leave out --rank")
	}
	return &metatrain.Params{Prior: q, Head: found.Head}, rest, nil
}

func (r *trainRun) extractor() model.Extractor {
	e := r.options.extractor
	if e.ID == "" {
		e.ID = r.sets.train[0].Extractor
	}
	return e
}

func (r *trainRun) facts() map[string]string {
	f := r.options.facts()
	f["data"], f["data-sha256"] = strings.Join(r.fold.names, ","), r.fold.trainingFacts
	f["steps"] = strconv.Itoa(r.trainer.StepCount())
	if best := r.trainer.Best(); best != nil && best.Validation != nil {
		text, _ := json.Marshal(best)
		f["validation"] = string(text)
	}
	return f
}

// trainLog is a file of one line of JSON for each step and validation. It is
// kept in memory between checkpoints, so that file and checkpoint agree. A nil
// log takes everything and writes nothing.
type trainLog struct {
	path string
	data bytes.Buffer
}

type logLine struct {
	Step     int              `json:"step"`
	Loss     *float64         `json:"loss,omitempty"`
	GradNorm *float64         `json:"gradNorm,omitempty"`
	Point    *metatrain.Point `json:"point,omitempty"`
	Best     bool             `json:"best,omitempty"`
}

// openLog begins the log anew or, when resuming, with the lines of the steps
// before the checkpoint.
func openLog(path string, resume bool, t *metatrain.Trainer) (*trainLog, error) {
	l := &trainLog{path: path}
	if !resume {
		return l, nil
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s cannot be read (%v); name another --log", path, err)
	}
	points := 0
	for line := range bytes.Lines(old) {
		var entry logLine
		if json.Unmarshal(line, &entry) != nil || entry.Step > t.StepCount() {
			continue
		}
		if entry.Point != nil {
			if points++; points > len(t.History()) {
				continue
			}
		}
		l.data.Write(line)
	}
	return l, nil
}

func (l *trainLog) add(p metatrain.Progress) error {
	if l == nil {
		return nil
	}
	entry := logLine{Step: p.Step, Point: p.Point, Best: p.Best}
	if p.Point == nil {
		entry.Loss, entry.GradNorm = &p.Loss, &p.GradNorm
	}
	return json.NewEncoder(&l.data).Encode(entry)
}

func (l *trainLog) flush() error {
	if l == nil {
		return nil
	}
	return writeFile(l.path, l.data.Bytes())
}

// trainBar shows how far training is: one line that is redrawn on a terminal,
// a line for each validation elsewhere.
type trainBar struct {
	w        io.Writer
	terminal bool
	trainer  *metatrain.Trainer
	began    time.Time
	first    int // step it began at
	drawn    time.Time
	loss     float64 // moving average
	seen     int
	accuracy string
}

func newTrainBar(w io.Writer, t *metatrain.Trainer) *trainBar {
	b := &trainBar{w: w, trainer: t, began: time.Now(), first: t.StepCount()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return b
}

func (b *trainBar) report(p metatrain.Progress) {
	if p.Point == nil {
		b.seen++
		b.loss += (p.Loss - b.loss) / float64(min(b.seen, 50))
	} else if v := p.Point.Validation; v != nil {
		b.accuracy = fmt.Sprintf("validation %.2f %%", 100*v.Accuracy)
		if p.Best {
			b.accuracy += " (best)"
		}
	}
	if b.terminal && (time.Since(b.drawn) > 100*time.Millisecond || p.Done) {
		b.drawn = time.Now()
		fmt.Fprintf(b.w, "\r\x1b[K%s", b.line(p.Step))
	}
	if !b.terminal && p.Point != nil {
		fmt.Fprintln(b.w, b.line(p.Step))
	}
}

// line returns for example
//
//	[=====>              ] 300/1200  loss 0.6120  validation 71.20 % (best)  0:12 left
func (b *trainBar) line(step int) string {
	const width = 20
	total := b.trainer.Config().Steps
	full := width * step / total
	bar := strings.Repeat("=", full) + strings.Repeat(" ", width-full)
	s := fmt.Sprintf("[%s] %d/%d", bar, step, total)
	if b.seen > 0 {
		s += fmt.Sprintf("  loss %.4f", b.loss)
	}
	if b.accuracy != "" {
		s += "  " + b.accuracy
	}
	if done := step - b.first; done > 0 && step < total {
		left := time.Since(b.began) / time.Duration(done) * time.Duration(total-step)
		s += fmt.Sprintf("  %d:%02d left", int(left.Minutes()), int(left.Seconds())%60)
	}
	return s
}

func (b *trainBar) end() {
	if b.terminal {
		fmt.Fprintln(b.w)
	}
}
