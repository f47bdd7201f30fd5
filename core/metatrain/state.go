package metatrain

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"metaqda/core/model"
)

// A state is
//
//	magic, 8 bytes            length of the header as uint64, little endian
//	header, JSON              configuration, step, training curve
//	numbers, float64          parameters, optimiser's memory, best parameters
//	SHA-256 of all before it, in hexadecimal
const (
	stateMagic = "MQTRAIN3"
	sumSize    = 64
)

type stateHeader struct {
	Dim     int     `json:"dim"`
	Config  Config  `json:"config"`
	Step    int     `json:"step"`
	LossSum float64 `json:"lossSum"`
	LossN   float64 `json:"lossN"`
	History []Point `json:"history"`
	BestAt  int     `json:"bestAt"`
}

// StateError says why bytes are not the state of this training run.
type StateError struct{ Reason string }

// Error returns one sentence.
func (e *StateError) Error() string { return "checkpoint " + e.Reason }

// State returns the trainer's whole state: a trainer of the same source that
// loads it goes on to the same bytes. Cost O(d²).
func (t *Trainer) State() []byte {
	d := t.engine.factor.d
	header, err := json.Marshal(stateHeader{Dim: d, Config: t.config, Step: t.step, LossSum: t.lossSum, LossN: t.lossN, History: t.history, BestAt: t.bestAt})
	if err != nil {
		panic("metatrain: state does not encode: " + err.Error()) // all numbers in it are finite
	}
	params := make([]float64, packedSize(d))
	t.pack(params)
	out := append([]byte(stateMagic), binary.LittleEndian.AppendUint64(nil, uint64(len(header)))...)
	out = append(out, header...)
	for _, part := range [][]float64{params, t.moments.first, t.moments.second, t.best} {
		for _, v := range part {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	return append(out, model.Sum(out)...)
}

// LoadState takes up a run where State left it. It returns a *[StateError] if
// the bytes are damaged or belong to another configuration, and leaves the
// trainer as it was.
func (t *Trainer) LoadState(state []byte) error {
	h, numbers, err := decodeState(state)
	if err != nil {
		return err
	}
	d := t.engine.factor.d
	if h.Dim != d {
		return &StateError{fmt.Sprintf("is for embeddings of %d numbers, the data has %d", h.Dim, d)}
	}
	if diff := difference(h.Config, t.config); diff != "" {
		return &StateError{"was written with another configuration (" + diff + "): use the same flags, or begin anew"}
	}
	sizes := []int{packedSize(d), len(t.moments.first), len(t.moments.second), 0}
	if h.BestAt >= 0 {
		sizes[3] = packedSize(d)
	}
	parts, ok := cut(numbers, sizes)
	if !ok || h.BestAt < -1 || h.BestAt >= len(h.History) || h.BestAt < 0 && len(h.History) > 0 || h.Step < 0 || h.Step > t.config.Steps {
		return &StateError{"is incomplete: begin anew"}
	}
	if t.validator != nil && !validated(h.History) {
		return &StateError{"has a training curve without its validations: begin anew"}
	}
	for _, part := range parts {
		for _, v := range part {
			if v-v != 0 {
				return &StateError{"has a number that is not finite: begin anew"}
			}
		}
	}
	t.unpack(parts[0])
	t.moments.first, t.moments.second, t.best = parts[1], parts[2], parts[3]
	t.step, t.lossSum, t.lossN, t.history, t.bestAt = h.Step, h.LossSum, h.LossN, h.History, h.BestAt
	return nil
}

func validated(history []Point) bool {
	return !slices.ContainsFunc(history, func(p Point) bool { return p.Validation == nil })
}

// decodeState checks the frame and returns header and numbers.
func decodeState(state []byte) (*stateHeader, []byte, error) {
	const frame = len(stateMagic) + 8 + sumSize
	if len(state) < frame || string(state[:len(stateMagic)]) != stateMagic {
		return nil, nil, &StateError{"is not one of this program: begin anew"}
	}
	body := state[:len(state)-sumSize]
	if model.Sum(body) != string(state[len(body):]) {
		return nil, nil, &StateError{"is damaged: begin anew"}
	}
	n := binary.LittleEndian.Uint64(body[len(stateMagic):])
	body = body[len(stateMagic)+8:]
	if n > uint64(len(body)) {
		return nil, nil, &StateError{"is damaged: begin anew"}
	}
	h := &stateHeader{}
	if err := json.Unmarshal(body[:n], h); err != nil {
		return nil, nil, &StateError{"has a header that cannot be read: begin anew"}
	}
	return h, body[n:], nil
}

// cut decodes consecutive runs of float64 of the given lengths.
func cut(b []byte, sizes []int) (parts [][]float64, ok bool) {
	for _, n := range sizes {
		if len(b) < 8*n {
			return nil, false
		}
		part := make([]float64, n)
		for i := range part {
			part[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		parts, b = append(parts, part), b[8*n:]
	}
	return parts, len(b) == 0
}

// difference names the first field in which the configurations differ.
func difference(a, b Config) string {
	var am, bm map[string]any
	for c, m := range map[*Config]*map[string]any{&a: &am, &b: &bm} {
		data, _ := json.Marshal(c)
		_ = json.Unmarshal(data, m)
	}
	return firstDifference("", am, bm)
}

func firstDifference(path string, a, b map[string]any) string {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		am, nested := a[k].(map[string]any)
		if nested {
			bm, _ := b[k].(map[string]any)
			if s := firstDifference(path+k+".", am, bm); s != "" {
				return s
			}
			continue
		}
		if a[k] != b[k] {
			return fmt.Sprintf("%s%s %v there, %v here", path, k, a[k], b[k])
		}
	}
	return ""
}
