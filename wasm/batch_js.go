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

// startBatch returns what web/engine/worker.js asks for and the npm package cannot do.
func startBatch() js.Value {
	return bridge.Object(map[string]bridge.Method{"learn": bridge.Waiting(bridge.Bind(learn, "session files, prior?"))})
}

// learn returns what sessions teach: {prior, classes, sessions, before, after}, prior null
// where it does not pay, the others {accuracy, unknown, loss}.
func learn(sessions [][]byte, prior []byte) (any, error) {
	l, err := engine.Learn(context.Background(), sessions, prior)
	if err != nil {
		return nil, err
	}
	measured := func(m adapt.Measured) map[string]any {
		return map[string]any{"accuracy": m.Accuracy, "unknown": m.Unknown, "loss": m.Loss}
	}
	return map[string]any{"prior": bridge.Encode(l.File), "classes": l.Classes, "sessions": len(sessions), "before": measured(l.Before), "after": measured(l.After)}, nil
}

// Alike groups some of n vectors of d numbers by resemblance. m numbers follow the vectors, as
// float32: for each set how many these are, and then their places. It returns the number of a job.
// The job answers for each set how many groups there are, and for each group how many they are and
// then their places. The npm package has no use for it.
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
