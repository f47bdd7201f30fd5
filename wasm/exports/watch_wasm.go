package exports

import (
	"unsafe"

	metaqda "metaqda/core"
)

// watching is a watch with the handle of its classifier.
type watching struct {
	*metaqda.Watch
	classifier int32
}

// Watch makes a watch of the predictions for one stream, which allows about perHour false events
// per hour. It returns the number of the watch. It refuses the classifier of a stored session.
//
//go:wasmexport mq_watch
func Watch(h int32, perHour float64) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		if h == 0 { // another session may be opened, which has another classifier
			return 0, &metaqda.Error{Code: "argument", Message: "The classifier of a stored session has no watch: call frame of the storage."}
		}
		w, err := c.Watch(perHour)
		if err != nil {
			return 0, err
		}
		state.last++
		state.watches[state.last] = watching{w, h}
		return state.last, nil
	})
}

// Next gives a watch its next prediction: the time in seconds, and n float64 numbers in the room, the
// probability of each class. n is negative if there was nothing to predict. It returns the number of events.
// For each event the answer has 1 for here or 0 for gone, the time in seconds since when, and the probability.
// Then comes the length of the reply. If there is something to show, three things follow. They are the class
// that the headline names first, -1 for none, the probability of none of the classes, and the probability of
// each class. The reply has a line for each of these: the labels of the events, the label of the class that is
// here now or nothing, the label of the class to show, and the headline.
//
//go:wasmexport mq_next
func Next(w int32, seconds float64, n int32) int32 {
	return guard(func() (int32, error) {
		watch, ok := state.watches[w]
		if !ok { // [Free] forgets the watches of a classifier, too
			return 0, &metaqda.Error{Code: "disposed", Message: "The classifier of this watch was disposed of: watch another one."}
		}
		var p []float64
		if n >= 0 {
			p = unsafe.Slice((*float64)(part(0, int64(n), 8)), n)
		}
		events, err := watch.Next(seconds, p)
		if err != nil {
			return 0, err
		}
		state.answer, state.reply = state.answer[:0], state.reply[:0]
		for _, e := range events {
			state.answer = append(state.answer, number(e.Here), e.Since, e.Probability)
			state.reply = append(append(state.reply, e.Label...), '\n')
		}
		label, headline := watch.Shown()
		for _, line := range []string{watch.Here(), "\n", label, "\n", headline} {
			state.reply = append(state.reply, line...)
		}
		state.answer = append(state.answer, float64(len(state.reply)))
		if classes, none := watch.Answer(); classes != nil {
			state.answer = append(append(state.answer, float64(watch.Decision().First), none), classes...)
		}
		return int32(len(events)), nil
	})
}

// Unwatch forgets a watch.
//
//go:wasmexport mq_unwatch
func Unwatch(w int32) { delete(state.watches, w) }
