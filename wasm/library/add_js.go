package main

import (
	"encoding/binary"
	"strings"

	metaqda "metaqda/core"
)

// AddBegin begins to add n vectors of d numbers, all or none, and returns a number for the calls
// that follow: [AddRows] until all vectors are there, [AddLabels], [AddEnd], [Enrol] until it returns 0.
//
//go:wasmexport mq_add_begin
func AddBegin(h, n, d int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		b, err := c.BeginAdd(int(n), int(d))
		if err != nil {
			return 0, err
		}
		state.last++
		state.bulks[state.last] = b
		return state.last, nil
	})
}

// AddRows takes the room's first n numbers, some of the vectors.
//
//go:wasmexport mq_add_rows
func AddRows(b, n int32) int32 {
	return guard(func() (int32, error) { return 0, state.bulks[b].Take(vector(n)) })
}

// AddLabels says where the vectors go. The room has the length of each label, n whole numbers of
// 32 bits, then the labels, and the name of a group in m bytes.
//
//go:wasmexport mq_add_labels
func AddLabels(b, n, m int32) int32 {
	return guard(func() (int32, error) {
		labels, at := make([]string, n), 4*n
		for i := range n {
			size := int32(binary.LittleEndian.Uint32(bytes(4*i, 4)))
			labels[i], at = text(at, size), at+size
		}
		return 0, state.bulks[b].Label(labels, text(at, m))
	})
}

// AddEnd adds the vectors. It replies the ids, a line each.
//
//go:wasmexport mq_add_end
func AddEnd(h, b int32) int32 {
	return with(h, func(*metaqda.Classifier) (int32, error) {
		ids, err := state.bulks[b].End()
		return reply(strings.Join(ids, "\n"), err)
	})
}

// AddStop forgets the vectors, added or not.
//
//go:wasmexport mq_add_stop
func AddStop(b int32) { delete(state.bulks, b) }

// Enrol does a piece of what is left to do for vectors that were added, and returns 1 if there is
// more to do.
//
//go:wasmexport mq_enrol
func Enrol(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) { return onePiece(c.Enrol), nil })
}
