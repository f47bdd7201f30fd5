package main

import (
	"slices"

	metaqda "metaqda/core"
)

// Predict asks about the room's first d numbers and returns the number of the answer:
// the probability of none of the classes, and then of each.
//
//go:wasmexport mq_predict
func Predict(h, d int32) (n int32) {
	defer func() {
		if r := recover(); r != nil {
			n = guard(func() (int32, error) { panic(r) })
		}
	}()
	c := state.handles[h]
	if c == nil {
		return with(h, nil)
	}
	want := 1 + c.Len()
	state.answer = slices.Grow(state.answer[:0], want)[:want]
	none, err := c.ProbabilitiesTo(state.answer[1:], vector(d))
	if err != nil {
		return fail(err)
	}
	state.answer[0] = none
	return int32(want)
}

// Prepare does a piece of what the first answer after changes waits for, and returns 1 if there
// is more to do.
//
//go:wasmexport mq_prepare
func Prepare(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (more int32, err error) {
		pieces := 0
		if !c.Prepare(func() bool { pieces++; return pieces == 1 }) {
			more = 1
		}
		return more, nil
	})
}

// Decide says what the last answer of [Predict] is taken for: it replies the headline and
// returns its length; the two numbers of the answer after those of Predict are the class,
// -1 for none, and 1 where that is doubtful.
//
//go:wasmexport mq_decide
func Decide(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		n := 1 + c.Len()
		d := c.Decide(state.answer[1:n], state.answer[0])
		state.answer = append(state.answer[:n], decided(d)...)
		return reply(d.Headline, nil)
	})
}

func decided(d metaqda.Decision) []float64 {
	if d.Doubtful {
		return []float64{float64(d.Class), 1}
	}
	return []float64{float64(d.Class), 0}
}

// row adds an answer to the answer, as those of [Predict] and [Decide] one after the
// other, and its headline, a line, into the reply.
func row(d metaqda.Decision, p []float64, none float64) {
	state.answer = append(append(append(state.answer, none), p...), decided(d)...)
	state.reply = append(append(state.reply, d.Headline...), '\n')
}

// Explain splits what speaks for a class against another, -1 being none of the classes, among n
// cells: the room's first n times d numbers. The answer has the score, what belongs to no cell,
// and then what each cell adds. It returns the number of its numbers.
//
//go:wasmexport mq_explain
func Explain(h, d, n, class, against int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		e, err := c.Explain(vector(n*d), int(d), int(class), int(against))
		if err != nil {
			return 0, err
		}
		state.answer = append(append(state.answer[:0], e.Score, e.Rest), e.Cells...)
		return int32(len(state.answer)), nil
	})
}

// Classify asks about many vectors, judged together: the room's first n times d numbers. It
// returns a number for [Step].
//
//go:wasmexport mq_classify
func Classify(h, d, n int32) int32 {
	return many(h, func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginClassify(vector(n*d), int(d)) })
}

// Suggest asks which so many of the vectors to label, as [Classify] does.
//
//go:wasmexport mq_suggest
func Suggest(h, d, n, count int32) int32 {
	return many(h, func(c *metaqda.Classifier) (*metaqda.Batch, error) {
		return c.BeginSuggest(vector(n*d), int(d), int(count))
	})
}

// batch is a question with the classifier that was asked.
type batch struct {
	*metaqda.Batch
	labels []string // of the classes when it was asked
	bursts []int
}

func many(h int32, ask func(*metaqda.Classifier) (*metaqda.Batch, error)) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		b, err := ask(c)
		if err != nil {
			return 0, err
		}
		state.last++
		state.batches[state.last] = batch{b, c.Labels(), c.Bursts()}
		return state.last, nil
	})
}

// Step goes on with a batch for some milliseconds and returns 1 if there is more to do,
// the answer then being how much is done of how much. After the last step it returns 0,
// and the answer is the number of numbers that follow: those of [Predict] for each
// vector, those of [LeaveOneOut], or the places of those suggested.
//
//go:wasmexport mq_step
func Step(b int32) int32 {
	return guard(func() (int32, error) {
		of, ok := state.batches[b]
		if !ok {
			return 0, &metaqda.Error{Code: "disposed", Message: "This question was given up."}
		}
		more, done, total, err := of.Step()
		if err != nil {
			return 0, err
		}
		state.answer, state.reply = state.answer[:0], state.reply[:0]
		if more {
			state.answer = append(state.answer, float64(done), float64(total))
			return 1, nil
		}
		state.answer = append(state.answer, 0, 0)
		for i := range of.Len() {
			p, none := of.Answer(i)
			d := metaqda.DecideAmong(of.labels, of.bursts, p, none)
			row(d, p, none)
		}
		leftOut(of)
		for _, i := range of.Suggestions {
			state.answer = append(state.answer, float64(i))
		}
		state.answer[0], state.answer[1] = float64(len(state.answer)-2), float64(len(state.reply))
		return 0, nil
	})
}

// Stop forgets a batch, done or not.
//
//go:wasmexport mq_stop
func Stop(b int32) {
	if of, ok := state.batches[b]; ok {
		delete(state.batches, b)
		of.Stop()
	}
}

// LeaveOneOut asks about each example as if it had never been there, as [Classify] does. For
// each burst the answer has the number of its examples, its class, 1 or, for the only one of
// all, 0, and then an answer as [Step] has it. The reply has the headlines and then the
// examples' ids, a line each.
//
//go:wasmexport mq_leave_one_out
func LeaveOneOut(h int32) int32 { return many(h, (*metaqda.Classifier).BeginLeaveOneOut) }

// leftOut replies what [LeaveOneOut] asked.
func leftOut(of batch) {
	for _, x := range of.LeftOut {
		asked, p := 1.0, x.Probabilities
		if p == nil {
			asked, p = 0, make([]float64, len(of.labels))
		}
		state.answer = append(state.answer, float64(len(x.Examples)), float64(x.Class), asked)
		row(metaqda.DecideAmong(of.labels, of.bursts, p, x.None), p, x.None)
	}
	for _, x := range of.LeftOut {
		for _, e := range x.Examples {
			state.reply = append(append(state.reply, e.ID...), '\n')
		}
	}
}
