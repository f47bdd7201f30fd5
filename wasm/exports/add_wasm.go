package exports

import (
	"slices"
	"strings"

	metaqda "metaqda/core"
)

// bulk is an addition and its classifier.
type bulk struct {
	*metaqda.Bulk
	to *metaqda.Classifier
}

// AddBegin begins an addition: n vectors of d numbers, to be added as one step. It returns the number of
// the addition for the calls that follow. Call [AddRows] until all vectors are there, [AddLabels] until
// all have a label, then [AddEnd] and [AddStop].
//
//go:wasmexport mq_add_begin
func AddBegin(h, n, d int32) int32 {
	return adding(h, func(c *metaqda.Classifier) (int32, error) {
		b, err := c.BeginAdd(int(n), int(d))
		if err != nil {
			return 0, err
		}
		state.last++
		state.bulks[state.last] = bulk{b, c}
		return state.last, nil
	})
}

// AddRows takes the next n numbers of the vectors. It returns 0.
//
//go:wasmexport mq_add_rows
func AddRows(b, n int32) int32 {
	return guard(func() (int32, error) { return 0, addition(b).Take(vector(n)) })
}

// AddLabels gives the next n vectors their labels. The texts are n labels and then m names of
// bursts: one for each vector, or one for all. The lengths of the texts come first, as whole numbers
// of 32 bits. It returns 0.
//
//go:wasmexport mq_add_labels
func AddLabels(b, n, m int32) int32 {
	return guard(func() (int32, error) {
		if n < 0 || m < 0 {
			return 0, errShort
		}
		all := texts(n + m)
		labels, groups := all[:n], all[n:]
		for m == 1 && len(groups) < int(n) {
			groups = append(groups, groups[0])
		}
		return 0, addition(b).Label(labels, groups)
	})
}

// AddThumbnail sets the thumbnail, n bytes, of all vectors that get their labels from now on. Sessions
// keep it. It returns 0.
//
//go:wasmexport mq_add_thumbnail
func AddThumbnail(b, n int32) int32 {
	return guard(func() (int32, error) {
		addition(b).Thumbnail(slices.Clone(bytes(0, n)))
		return 0, nil
	})
}

// addition returns an addition, or panics with an error of the caller.
//
//go:noinline
func addition(b int32) bulk {
	found, ok := state.bulks[b]
	if !ok {
		panic(&metaqda.Error{Code: "disposed", Message: "This addition was stopped: begin it again."})
	}
	return found
}

// AddEnd adds the vectors, all or none. The reply is the ids of the examples, a line each. It returns
// the length of the reply.
//
//go:wasmexport mq_add_end
func AddEnd(h, b int32) int32 {
	return ending(h, b, func(b *metaqda.Bulk) (int32, error) {
		ids, _, err := b.End(func() bool { return true })
		return reply(strings.Join(ids, "\n"), err)
	})
}

// AddSome does a piece of the work of [AddEnd], and returns 1 if there is more to do. A host need not
// call it: [AddEnd] does the rest.
//
//go:wasmexport mq_add_some
func AddSome(h, b int32) int32 {
	return ending(h, b, func(b *metaqda.Bulk) (more int32, err error) {
		more = onePiece(func(more func() bool) (done bool) {
			_, done, err = b.End(more)
			return done
		})
		return more, err
	})
}

// ending calls f for an addition to a classifier.
func ending(h, b int32, f func(b *metaqda.Bulk) (int32, error)) int32 {
	return adding(h, func(c *metaqda.Classifier) (int32, error) {
		found := addition(b)
		if found.to != c {
			return 0, &metaqda.Error{Code: "disposed", Message: "The classifier of this addition was replaced: add the vectors again."}
		}
		return f(found.Bulk)
	})
}

// AddStop forgets an addition, done or not.
//
//go:wasmexport mq_add_stop
func AddStop(b int32) { delete(state.bulks, b) }

// Enrol does a piece of the work that remains after [AddEnd], and returns 1 if there is more to do. A
// host need not call it: the first answer does the rest.
//
//go:wasmexport mq_enrol
func Enrol(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) { return onePiece(c.Enrol), nil })
}
