package exports

import (
	"slices"
	"strconv"
	"strings"

	metaqda "metaqda/core"
)

// Predict predicts n vectors of d numbers one by one. It returns how many numbers the answer has.
// These are 1+C for each vector: the probability of none of the classes, and of each class in the
// order of [Describe].
//
//go:wasmexport mq_predict
func Predict(h, n, d int32) (numbers int32) {
	defer func() {
		if r := recover(); r != nil {
			numbers = guard(func() (int32, error) { panic(r) })
		}
	}()
	if c := state.handles[h]; c != nil { // no call is made more often: it needs no closure
		numbers, err := predict(c, n, d)
		if err != nil {
			return fail(err)
		}
		return numbers
	}
	return comparing(h, func(c *metaqda.Classifier) (int32, error) { return predict(c, n, d) })
}

func predict(c *metaqda.Classifier, n, d int32) (int32, error) {
	x, size := vectors(n, d), 1+c.Len()
	want := int(n) * size
	state.answer = slices.Grow(state.answer[:0], want)[:want]
	for row := state.answer; len(row) > 0; row, x = row[size:], x[d:] {
		none, err := c.ProbabilitiesTo(row[1:size], x[:d])
		if err != nil {
			return 0, err
		}
		row[0] = none
	}
	if state.asked, state.askedOf = state.asked[:0], c; n == 1 {
		state.asked = append(state.asked, state.answer...)
	}
	return int32(want), nil
}

// Nearest finds the examples nearest to a vector of d numbers, at most n. The reply has two lines
// for each example, its id and the label of its class. It returns the length of the reply. The
// answer has two numbers for each example: its distance, and 1 if it is close enough to be in one
// burst with the vector.
//
//go:wasmexport mq_nearest
func Nearest(h, d, n int32) int32 {
	return comparing(h, func(c *metaqda.Classifier) (int32, error) {
		found, err := c.Nearest(vector(d), int(n))
		if err != nil {
			return 0, err
		}
		state.answer, state.reply = state.answer[:0], state.reply[:0]
		for i, f := range found {
			if state.answer = append(state.answer, f.Distance, number(f.Near)); i > 0 {
				state.reply = append(state.reply, '\n')
			}
			k, _ := c.Class(f.Example.Class)
			state.reply = append(append(append(state.reply, f.Example.ID...), '\n'), k.Label...)
		}
		return int32(len(state.reply)), nil
	})
}

// Prepare does a piece of the work that the first answer after a change needs, and returns 1 if
// there is more to do. A host need not call it: the first answer does the rest.
//
//go:wasmexport mq_prepare
func Prepare(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) { return onePiece(c.Prepare), nil })
}

// onePiece does one piece of work and returns 1 if there is more to do.
func onePiece(work func(more func() bool) bool) int32 {
	pieces := 0
	if work(func() bool { pieces++; return pieces == 1 }) {
		return 0
	}
	return 1
}

// Decide decides by the answer of the last [Predict] of one vector, or by the numbers that the host
// wrote in its place. The reply is the headline. It returns the length of the reply. It appends three
// numbers to the answer: the class, -1 for none; 1 if the decision is doubtful; and the class that the
// headline names first, -1 for none.
//
//go:wasmexport mq_decide
func Decide(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		n := 1 + c.Len()
		if len(state.answer) < n {
			return 0, errUnasked
		}
		d := c.Decide(state.answer[1:n], state.answer[0])
		state.answer = append(state.answer[:n], decided(d)...)
		return reply(d.Headline, nil)
	})
}

var errUnasked = &metaqda.Error{Code: "argument", Message: "The last prediction was not for a single vector: predict one vector first."}

func decided(d metaqda.Decision) []float64 {
	return []float64{float64(d.Class), number(d.Doubtful), float64(d.First)}
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// row appends the numbers of [Predict] and [Decide] to the answer, and the headline, a line, to the
// reply.
func row(d metaqda.Decision, p []float64, none float64) {
	state.answer = append(append(append(state.answer, none), p...), decided(d)...)
	state.reply = append(append(state.reply, d.Headline...), '\n')
}

// PrepareSet does a piece of the work that the first [Set] after a change needs. It returns 1 if there is
// more to do.
//
//go:wasmexport mq_prepare_set
func PrepareSet(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		return onePiece(func(more func() bool) bool { _, done := c.Scores(more); return done }), nil
	})
}

// Set finds the smallest set of labels that contains the right one with probability coverage. It is
// for the one vector of the last [Predict]. It returns the number of labels. The answer begins with
// the number of examples that were left out in turn. Next comes 1 if these are too few, so that the
// set rests on the probabilities. The classes of the labels follow, -1 for none of them, the most
// probable first.
//
//go:wasmexport mq_set
func Set(h int32, coverage float64) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		p := state.asked
		if state.askedOf != c || len(p) != 1+c.Len() {
			return 0, errUnasked
		}
		s, err := c.SetOf(metaqda.Answer{Probabilities: p[1:], None: p[0]}, coverage)
		if err != nil {
			return 0, err
		}
		state.answer = append(state.answer[:0], float64(s.Examples), number(s.Borrowed))
		for _, i := range s.Labels {
			state.answer = append(state.answer, float64(i))
		}
		return int32(len(s.Labels)), nil
	})
}

// Explain splits the score of a class against another, -1 for none of the classes, among n cells of d
// numbers. The answer has the score, the part that belongs to no cell, and the part of each cell. It
// returns how many numbers the answer has.
//
//go:wasmexport mq_explain
func Explain(h, n, d, class, against int32) int32 {
	return comparing(h, func(c *metaqda.Classifier) (int32, error) {
		e, err := c.Explain(vectors(n, d), int(d), int(class), int(against))
		if err != nil {
			return 0, err
		}
		state.answer = append(append(state.answer[:0], e.Score, e.Rest), e.Cells...)
		return int32(len(state.answer)), nil
	})
}

// SetCells gives an example its cells for [Anomaly]: n cells of d numbers of its picture. The
// example's id follows, m bytes. It returns 0.
//
//go:wasmexport mq_set_cells
func SetCells(h, n, d, m int32) int32 {
	return comparing(h, func(c *metaqda.Classifier) (int32, error) {
		return 0, c.SetCells(text(4*n*d, m), vectors(n, d), int(d))
	})
}

// WithoutCells lists the examples whose cells [Anomaly] lacks. The reply is their ids, a line each. It
// returns the length of the reply. There are none if more than one class has examples.
//
//go:wasmexport mq_without_cells
func WithoutCells(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) { return reply(strings.Join(c.WithoutCells(), "\n"), nil) })
}

// Anomaly says whether a picture of n cells of d numbers is like the examples of the only class,
// whose cells [SetCells] gave. The answer has the probability that something is wrong with the
// picture, and the number of examples that it was compared with. Then comes the distance of each
// cell from good ones. It returns how many numbers the answer has.
//
//go:wasmexport mq_anomaly
func Anomaly(h, n, d int32) int32 {
	return comparing(h, func(c *metaqda.Classifier) (int32, error) {
		a, err := c.Anomaly(vectors(n, d), int(d))
		if err != nil {
			return 0, err
		}
		state.answer = append(append(state.answer[:0], a.Wrong, float64(a.Good)), a.Cells...)
		return int32(len(state.answer)), nil
	})
}

// Classify predicts n vectors of d numbers, judged together. It returns the number of a job. [Step]
// gives the answers: for each vector the numbers of [Predict] and of [Decide]. The reply has the
// headlines, a line each.
//
//go:wasmexport mq_classify
func Classify(h, n, d int32) int32 {
	return many(h, comparing, func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginClassify(vectors(n, d), int(d)) })
}

// Suggest chooses which of n vectors of d numbers to label next, at most count of them. The
// classifier may be empty. It returns the number of a job. Its answers are the indices of the
// vectors, the most useful first. The reply says how many of the other vectors look like each, a
// line each.
//
//go:wasmexport mq_suggest
func Suggest(h, n, d, count int32) int32 {
	return many(h, comparing, func(c *metaqda.Classifier) (*metaqda.Batch, error) {
		return c.BeginSuggest(vectors(n, d), int(d), int(count))
	})
}

// batch is a job about many vectors, with its classifier.
type batch struct {
	*metaqda.Batch
	classes int
	done    bool
	given   int // how many of the answers were replied

	influence bool // it is of [Influence]
}

func many(h int32, way func(int32, call) int32, ask func(*metaqda.Classifier) (*metaqda.Batch, error)) int32 {
	return way(h, func(c *metaqda.Classifier) (int32, error) {
		b, err := ask(c)
		if err != nil {
			return 0, err
		}
		state.last++
		state.batches[state.last] = &batch{Batch: b, classes: c.Len()}
		return state.last, nil
	})
}

// Asking starts a job of a classifier about the first n numbers of the room, and returns its
// number. It is for functions that only one program has.
func Asking(h, n int32, ask func(c *metaqda.Classifier, x []float32) (*metaqda.Batch, error)) int32 {
	return many(h, comparing, func(c *metaqda.Classifier) (*metaqda.Batch, error) { return ask(c, vector(n)) })
}

// Results of [Step].
const (
	lastAnswers = iota
	working
	moreAnswers
)

// answerPiece is the largest number of numbers in a piece. JavaScript needs some milliseconds to
// read so many into objects.
const answerPiece = 1 << 13

// Step works at a job for some milliseconds. It returns 1 while there is more to do. The answer is
// then two numbers: how much is done, of how much. After that it gives the answers in pieces. It
// returns 2 with each piece, and 0 with the last one. A piece begins with the number of numbers that
// follow, and the number of bytes of the reply.
//
//go:wasmexport mq_step
func Step(b int32) int32 {
	return guard(func() (int32, error) {
		job, ok := state.batches[b]
		if !ok {
			return 0, &metaqda.Error{Code: "disposed", Message: "This batch was stopped: begin it again."}
		}
		if job.done {
			return job.piece(), nil
		}
		more, done, total, err := job.Step()
		if err != nil {
			return 0, err
		}
		state.answer = append(state.answer[:0], float64(done), float64(total))
		job.done = !more
		return working, nil
	})
}

// piece writes the next piece of the answers.
func (b *batch) piece() int32 {
	state.answer, state.reply = append(state.answer[:0], 0, 0), state.reply[:0]
	n := b.Len() + len(b.LeftOut)
	end := min(b.given+max(1, answerPiece/(7+b.classes)), n)
	b.influences()
	b.answer(b.given, min(end, b.Len()))
	b.leftOut(b.given, min(end, len(b.LeftOut)))
	for i, place := range b.Suggestions {
		state.answer = append(state.answer, float64(place))
		state.reply = append(strconv.AppendInt(state.reply, int64(b.Like[i]), 10), '\n')
	}
	for _, groups := range b.Groups {
		state.answer = append(state.answer, float64(len(groups)))
		for _, group := range groups {
			state.answer = append(state.answer, float64(len(group)))
			for _, place := range group {
				state.answer = append(state.answer, float64(place))
			}
		}
	}
	state.answer[0], state.answer[1] = float64(len(state.answer)-2), float64(len(state.reply))
	if b.given = end; end < n {
		return moreAnswers
	}
	return lastAnswers
}

// answer writes some of the answers of [Classify].
func (b *batch) answer(first, end int) {
	for i := first; i < end; i++ {
		p, none := b.Answer(i)
		row(b.Decide(p, none), p, none)
	}
}

// Stop forgets a job, done or not.
//
//go:wasmexport mq_stop
func Stop(b int32) {
	if job, ok := state.batches[b]; ok {
		delete(state.batches, b)
		job.Stop()
	}
}

// LeaveOneOut predicts each example without itself, and the frames of a burst together. It returns the
// number of a job. The answer for a burst begins with the number of its examples, and its class. The
// next number is 1, or 0 if there is no other burst. Then follow the numbers that [Classify] answers
// for a vector. The reply has the headlines and then the ids of the examples, a line each.
//
//go:wasmexport mq_leave_one_out
func LeaveOneOut(h int32) int32 { return many(h, with, (*metaqda.Classifier).BeginLeaveOneOut) }

// leftOut writes some of the answers of [LeaveOneOut].
func (b *batch) leftOut(first, end int) {
	for i := first; i < end; i++ {
		x := b.LeftOut[i]
		asked, p := 1.0, x.Probabilities
		if p == nil {
			asked, p = 0, make([]float64, b.classes)
		}
		state.answer = append(state.answer, float64(len(x.Examples)), float64(x.Class), asked)
		row(b.Decide(p, x.None), p, x.None)
	}
	for i := first; i < end; i++ {
		for _, e := range b.LeftOut[i].Examples {
			state.reply = append(append(state.reply, e.ID...), '\n')
		}
	}
}

// Influence finds the examples that probably have a wrong label, at most so many, and the class
// that needs another example most. It returns the number of a job. The answer begins with this
// class, the class that it is confused with, -1 for none, and its doubt. Then come seven numbers
// for each example or burst. Four are the number of its examples, its class, the class that fits
// better, and the log odds of the latter. Three are about the other examples: how many were
// predicted, how many more are right without it, and the change of their mean log probability. The
// reply has the ids of the examples, a line each.
//
//go:wasmexport mq_influence
func Influence(h, most int32) int32 {
	n := many(h, with, func(c *metaqda.Classifier) (*metaqda.Batch, error) { return c.BeginInfluence(int(most)) })
	if n > 0 {
		state.batches[n].influence = true
	}
	return n
}

// influences writes the answers of [Influence].
func (b *batch) influences() {
	if !b.influence {
		return
	}
	state.answer = append(state.answer, float64(b.Need.Class), float64(b.Need.ConfusedWith), b.Need.Doubt)
	for i := range b.Batch.Influence {
		x := &b.Batch.Influence[i]
		state.answer = append(state.answer, float64(len(x.Examples)), float64(x.Class), float64(x.Like), x.Odds, float64(x.Asked), float64(x.Right), x.LogProb)
		for _, e := range x.Examples {
			state.reply = append(append(state.reply, e.ID...), '\n')
		}
	}
}
