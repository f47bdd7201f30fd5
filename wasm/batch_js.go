package main

import (
	"context"
	"syscall/js"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/wasm/bridge"
	"metaqda/wasm/engine"
	"metaqda/wasm/exports"
)

// startBatch returns the methods of the role batch, for web/engine/worker.js: learn.
func startBatch() js.Value {
	return bridge.Object(map[string]bridge.Method{"learn": learn})
}

// learn learns a prior from session files, starting from the file prior or from the default one. It
// returns {prior, classes, sessions, before, after}. prior is a file, null if it would not help.
// classes and sessions are numbers. before and after are {accuracy, unknown, loss}.
func learn(a *bridge.Args) (any, error) {
	var sessions [][]byte
	a.List("session files", func(each *bridge.Args) { sessions = append(sessions, each.Bytes("session files")) })
	var prior []byte
	if a.Has() {
		prior = a.Bytes("prior")
	}
	l, err := engine.Learn(context.Background(), sessions, prior)
	if err != nil {
		return nil, err
	}
	measured := func(m adapt.Measured) map[string]any {
		return map[string]any{"accuracy": m.Accuracy, "unknown": m.Unknown, "loss": m.Loss}
	}
	return map[string]any{"prior": bridge.Encode(l.File), "classes": l.Classes, "sessions": len(sessions), "before": measured(l.Before), "after": measured(l.After)}, nil
}

// Alike groups vectors that resemble each other, within each of some sets. Its input is n vectors of
// d numbers, and then m numbers that describe the sets, all float32. A set is the number of its
// vectors, and then their indices. Alike returns the number of a job. For each set the job answers
// the number of groups. For each group follow the number of its vectors, and then their indices.
// Only this program exports mq_alike; wasm/library does not.
//
//go:wasmexport mq_alike
func Alike(h, n, d, m int32) int32 {
	return exports.Asking(h, n*d+m, func(c *metaqda.Classifier, x []float32) (*metaqda.Batch, error) {
		var sets [][]int
		for rest := x[n*d:]; len(rest) > 0; {
			set := make([]int, int(rest[0]))
			for i, at := range rest[1 : 1+len(set)] {
				set[i] = int(at)
			}
			sets, rest = append(sets, set), rest[1+len(set):]
		}
		return c.BeginAlike(x[:n*d], int(d), sets...)
	})
}
