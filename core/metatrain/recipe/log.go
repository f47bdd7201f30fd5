package recipe

import (
	"bytes"
	"encoding/json"

	"metaqda/core/metatrain"
)

// Log is a line of JSON for each step and validation of a training. It stays in
// memory until the caller writes it, with the checkpoint, so that both agree.
type Log struct{ data bytes.Buffer }

// LogLine is a step, or a validation if Point is not nil.
type LogLine struct {
	Step     int              `json:"step"`
	Loss     *float64         `json:"loss,omitempty"`
	GradNorm *float64         `json:"gradNorm,omitempty"`
	Point    *metatrain.Point `json:"point,omitempty"`
	Best     bool             `json:"best,omitempty"`
}

// Resume takes up the lines of an old log that the trainer's state goes beyond.
func (l *Log) Resume(old []byte, t *metatrain.Trainer) {
	points := 0
	for line := range bytes.Lines(old) {
		var entry LogLine
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
}

// Add adds a line.
func (l *Log) Add(p metatrain.Progress) error {
	entry := LogLine{Step: p.Step, Point: p.Point, Best: p.Best}
	if p.Point == nil {
		entry.Loss, entry.GradNorm = &p.Loss, &p.GradNorm
	}
	return json.NewEncoder(&l.data).Encode(entry)
}

// Bytes returns all lines.
func (l *Log) Bytes() []byte { return l.data.Bytes() }
