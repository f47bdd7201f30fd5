package main

import metaqda "metaqda/core"

// watching is a watch with the handle of its classifier.
type watching struct {
	*metaqda.Watch
	of int32
}

// Watch makes a watch of the answers about one stream. It allows about so many false events per
// hour, and returns its number.
//
//go:wasmexport mq_watch
func Watch(h int32, perHour float64) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		w, err := c.Watch(perHour)
		if err != nil {
			return 0, err
		}
		state.last++
		state.watches[state.last] = watching{w, h}
		return int(state.last), nil
	})
}

// Next gives a watch its next answer: the time in seconds, and n float64 numbers in the room, the
// probability of each class. n is negative where there was nothing to ask about. It replies
// {"events": [{"label", "here", "since", "probability"}], "here"}: what came and went, and the
// label of the class that is here now, "" for none.
//
//go:wasmexport mq_next
func Next(w int32, seconds float64, n int32) int32 {
	return guard(func() (int, error) {
		of, ok := state.watches[w]
		if !ok || state.handles[of.of] == nil {
			return 0, &metaqda.Error{Code: "disposed", Message: "There is no such watch, or its classifier is gone: make another one."}
		}
		var p []float64
		if n >= 0 {
			p = state.room[:n]
		}
		found, err := of.Next(seconds, p)
		if err != nil {
			return 0, err
		}
		type event struct {
			Label       string  `json:"label"`
			Here        bool    `json:"here"`
			Since       float64 `json:"since"`
			Probability float64 `json:"probability"`
		}
		events := make([]event, len(found))
		for i, e := range found {
			events[i] = event(e)
		}
		return replyJSON(map[string]any{"events": events, "here": of.Here()})
	})
}

// Unwatch forgets a watch.
//
//go:wasmexport mq_unwatch
func Unwatch(w int32) { delete(state.watches, w) }
