package main

import metaqda "metaqda/core"

// Every answer is 1+C float64 numbers: the probability of none of the classes, then that of each
// in the order of [Describe]. They sum to one.

// Predict answers n vectors of d numbers one by one. It replies n answers.
//
//go:wasmexport mq_predict
func Predict(h, n, d int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		size := 1 + c.Len()
		all, x := make([]float64, int(n)*size), vectors(n*d)
		for i := range int(n) {
			row := all[i*size : (i+1)*size]
			none, err := c.ProbabilitiesTo(row[1:], x[i*int(d):(i+1)*int(d)])
			if err != nil {
				return 0, err
			}
			row[0] = none
		}
		return replyNumbers(all)
	})
}

// Classify answers n vectors of d numbers judged together. It replies n answers.
//
//go:wasmexport mq_classify
func Classify(h, n, d int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		b, err := finish(c.BeginClassify(vectors(n*d), int(d)))
		if err != nil {
			return 0, err
		}
		var all []float64
		for i := range b.Len() {
			p, none := b.Answer(i)
			all = append(append(all, none), p...)
		}
		return replyNumbers(all)
	})
}

// Suggest replies {"rows"}: which of n vectors of d numbers to label next, at most count of
// them, the most useful first. The classifier may be empty.
//
//go:wasmexport mq_suggest
func Suggest(h, n, d, count int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		b, err := finish(c.BeginSuggest(vectors(n*d), int(d), int(count)))
		if err != nil {
			return 0, err
		}
		return replyJSON(map[string][]int{"rows": append([]int{}, b.Suggestions...)})
	})
}

// LeaveOneOut leaves each example out in turn, the frames of a burst together. It replies an
// answer for each example, in the order of the ids of [Describe].
//
//go:wasmexport mq_leave_one_out
func LeaveOneOut(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		b, err := finish(c.BeginLeaveOneOut())
		if err != nil {
			return 0, err
		}
		answers := map[string][]float64{}
		for _, x := range b.LeftOut {
			if x.Probabilities == nil {
				return 0, &metaqda.Error{Code: "empty", Message: "There is a single example, and nothing is left to compare it with: add another one."}
			}
			for _, e := range x.Examples {
				answers[e.ID] = append([]float64{x.None}, x.Probabilities...)
			}
		}
		var all []float64
		for _, k := range c.Classes() {
			for _, e := range k.Examples {
				all = append(all, answers[e.ID]...)
			}
		}
		return replyNumbers(all)
	})
}

// finish answers a batch to its end.
func finish(b *metaqda.Batch, err error) (*metaqda.Batch, error) {
	if err != nil {
		return nil, err
	}
	return b, b.Finish(nil, nil)
}
