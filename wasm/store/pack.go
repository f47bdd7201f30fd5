package store

import (
	"encoding/binary"
	"errors"
	"math"
)

var errPack = errors.New("store: records that were read do not fit together")

// unpack returns the examples of a pack, which web/engine/reading.js describes, with their
// keys: of embeddings it shares the memory.
func unpack(session string, pack []byte) ([]stored, error) {
	const each = 5 // numbers
	if len(pack) < 8 {
		return nil, errPack
	}
	number := func(i int) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(pack[8*i:])) }
	n := number(0)
	if !(n >= 0 && n <= float64(len(pack)/8-1)/each) {
		return nil, errPack
	}
	all, embeddings := make([]stored, int(n)), 0.0
	for i := range all {
		embeddings += number(1 + each*i + 3)
	}
	rest := pack[8*(1+each*len(all)):]
	if !(embeddings >= 0 && embeddings <= float64(len(rest))) {
		return nil, errPack
	}
	text, wrong := string(rest[int(embeddings):]), false
	fits := func(n float64, left int) bool {
		wrong = wrong || !(n >= 0 && n <= float64(left))
		return !wrong
	}
	next := func(n float64) (s string) {
		if fits(n, len(text)) {
			s, text = text[:int(n)], text[int(n):]
		}
		return s
	}
	for i := range all {
		at := 1 + each*i
		x := example{session: session, order: number(at + 4)}
		all[i].key, x.class, x.group = next(number(at)), next(number(at+1)), next(number(at+2))
		if b := number(at + 3); fits(b, len(rest)) {
			x.embedding, rest = rest[:int(b):int(b)], rest[int(b):]
		}
		all[i].value = x
	}
	if wrong {
		return nil, errPack
	}
	return all, nil
}
