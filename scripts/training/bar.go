package training

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"metaqda/core/metatrain"
)

// bar shows how far training is: one line that is redrawn on a terminal,
// a line for each validation elsewhere.
type bar struct {
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

func newBar(w io.Writer, t *metatrain.Trainer) *bar {
	b := &bar{w: w, trainer: t, began: time.Now(), first: t.StepCount()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return b
}

func (b *bar) report(p metatrain.Progress) {
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
func (b *bar) line(step int) string {
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

func (b *bar) end() {
	if b.terminal {
		fmt.Fprintln(b.w)
	}
}
