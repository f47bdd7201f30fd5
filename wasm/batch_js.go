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

// Alike groups m of n vectors of d numbers by resemblance. The places of these follow the vectors,
// as float32. The answer has for each group how many they are and then their places. It returns
// how many numbers that are. The npm package has no use for it.
//
//go:wasmexport mq_alike
func Alike(h, n, d, m int32) int32 {
	return exports.Comparing(h, n*d+m, func(c *metaqda.Classifier, x []float32) (answer []float64, err error) {
		places := make([]int, m)
		for i, at := range x[n*d:] {
			places[i] = int(at)
		}
		b, err := c.BeginAlike(x[:n*d], int(d), places)
		if err == nil {
			err = b.Finish(nil, nil)
		}
		if err != nil {
			return nil, err
		}
		for _, group := range b.Groups {
			answer = append(answer, float64(len(group)))
			for _, i := range group {
				answer = append(answer, float64(i))
			}
		}
		return answer, nil
	})
}
