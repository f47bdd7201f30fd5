// Package direct is a quick way from JavaScript to one question.
//
// A call through js.FuncOf takes some ten microseconds, mostly to wake a
// goroutine and to box arguments: a third of a prediction. Here are exported
// functions that take and give numbers. JavaScript writes an embedding to the
// address that metaqda_place returns, calls metaqda_ask, and reads as many
// numbers as that returns from the address that metaqda_answer returns;
// web/engine/direct.js does it.
package direct

import "unsafe"

var state struct {
	ask      func(x []float32) []float64
	revision func() uint32
	x        []float32
	y        []float64
}

// maxDirect bounds what is asked about, an embedding.
const maxDirect = 1 << 16

// Answer sets who answers: ask takes an embedding that it must not keep and
// returns an answer that is good until the next question, or nil if it has to be
// asked the ordinary way, as for an error. It must not wait. revision returns a
// number that changes with what the answers are about.
func Answer(ask func(x []float32) []float64, revision func() uint32) {
	state.ask, state.revision = ask, revision
}

// Place returns the address of room for an embedding of n numbers, 0 for a
// length that none has.
//
//go:wasmexport metaqda_place
func Place(n int32) unsafe.Pointer {
	if n < 1 || n > maxDirect {
		return nil
	}
	if cap(state.x) < int(n) {
		state.x = make([]float32, n)
	}
	state.x = state.x[:n]
	return unsafe.Pointer(unsafe.SliceData(state.x))
}

// Ask answers about the embedding there and returns the length of the answer, 0
// where it has to be asked the ordinary way.
//
//go:wasmexport metaqda_ask
func Ask() (n int32) {
	defer func() {
		if recover() != nil { // the ordinary way panics too, and says so
			state.y, n = nil, 0
		}
	}()
	if state.ask == nil {
		return 0
	}
	state.y = state.ask(state.x)
	return int32(len(state.y))
}

// Address returns where the last answer lies.
//
//go:wasmexport metaqda_answer
func Address() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.y)) }

// Revision returns the number that Answer was told of.
//
//go:wasmexport metaqda_revision
func Revision() uint32 {
	if state.revision == nil {
		return 0
	}
	return state.revision()
}
