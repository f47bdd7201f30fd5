// Package direct is the way of a prediction from JavaScript into Go: of the page's
// own, of a library's and of the benchmark's.
//
// A call through js.FuncOf takes some ten microseconds, mostly to wake a
// goroutine and to box arguments: a third of a prediction. Here are exported
// functions that take and give numbers. JavaScript writes an embedding to the
// address that metaqda_place returns, calls metaqda_ask, and reads as many
// numbers as that returns from the address that metaqda_answer returns;
// web/engine/program.js does it and gives the numbers their names.
//
// It is for answers alone: refusals, which have words, go through package bridge.
package direct

import "unsafe"

// Answerer answers. It must not wait.
type Answerer interface {
	// Ask returns an answer about x, which it must not keep: good until the next
	// question, empty if there is nothing to compare with. Where showing is not 0, it shows
	// it in that way. An error sends the caller the ordinary way, to be told it in words.
	Ask(x []float32, showing int) ([]float64, error)
	// Decide says what the last answer is taken for: the index of a class, -1 for none.
	Decide() (class int, doubtful bool, headline string)
	// Revision returns a number that changes with what the answers are about.
	Revision() uint64
}

var state struct {
	answerer Answerer
	x        []float32
	y        []float64
	headline string
}

// maxDirect bounds what is asked about, an embedding.
const maxDirect = 1 << 16

// Answer sets who answers.
func Answer(a Answerer) { state.answerer = a }

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

// Ask answers about the embedding there, and shows the answer unless showing is 0. The answer
// is that of the answerer and then what that is taken for: the index of a class, -1 for
// none, 1 where it is doubtful, and where the headline is and how many bytes it has. Ask
// returns the length of the answer, 0 where there is nothing to compare with, or -1 where
// it has to be asked the ordinary way.
//
//go:wasmexport metaqda_ask
func Ask(showing int32) (n int32) {
	defer func() {
		if recover() != nil { // the ordinary way panics too, and says so
			n = -1
		}
	}()
	if state.answerer == nil {
		return -1
	}
	p, err := state.answerer.Ask(state.x, int(showing))
	if err != nil {
		return -1
	}
	if len(p) == 0 {
		return 0
	}
	class, doubtful, headline := state.answerer.Decide()
	doubt := 0.0
	if doubtful {
		doubt = 1
	}
	state.headline = headline
	address := uintptr(unsafe.Pointer(unsafe.StringData(headline)))
	state.y = append(append(state.y[:0], p...), float64(class), doubt, float64(address), float64(len(headline)))
	return int32(len(state.y))
}

// Address returns where the last answer lies.
//
//go:wasmexport metaqda_answer
func Address() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.y)) }

// Revision returns that of the answerer, as a number that JavaScript holds exactly.
//
//go:wasmexport metaqda_revision
func Revision() float64 {
	if state.answerer == nil {
		return 0
	}
	return float64(state.answerer.Revision())
}
