package store

import (
	"encoding/binary"
	"errors"
	"math"
)

// What the fields of a record are in a pack.
const (
	notThere = iota
	isString
	isNumber
	isTruth
	isBytes
	isOdd
)

var errPack = errors.New("store: records that were read do not fit together")

// unpack returns the records of a pack, which web/engine/reading.js describes, with their
// keys: of bytes it shares the memory. odd returns the next record that the pack has not
// in it, in its plain form.
func unpack(table Table, pack []byte, odd func() any) ([]stored, error) {
	names := fields[table]
	width := 1 + 2*len(names)
	p := unpacking{bytes: pack}
	head := p.numbers(2)
	if len(names) == 0 || p.wrong || !p.fits(head[0], len(pack)) {
		return nil, errPack
	}
	all := make([]stored, int(head[0]))
	rows := p.numbers(float64(len(all) * width))
	if !p.fits(head[1], len(p.bytes)) {
		return nil, errPack
	}
	text := len(p.bytes) - int(head[1])
	p.text, p.bytes = string(p.bytes[text:]), p.bytes[:text]
	for i := range all {
		row := rows[i*width:][:width]
		all[i].key = p.string(row[0])
		switch row = row[1:]; {
		case row[0] == isOdd:
			all[i].value = odd()
		case table == Examples && usually(row):
			p.string(row[1]) // its id, for which the key stands
			all[i].value = example{session: p.string(row[3]), class: p.string(row[5]), order: row[7], embedding: p.blob(row[9])}
		default:
			all[i].value = p.record(names, row)
		}
	}
	if p.wrong {
		return nil, errPack
	}
	return all, nil
}

// usually tells whether the fields of an example are what they are in what is written now.
func usually(row []float64) bool {
	return row[0] == isString && row[2] == isString && row[4] == isString && row[6] == isNumber && row[8] == isBytes && row[10] == notThere && row[12] == notThere
}

// unpacking is what is left of a pack.
type unpacking struct {
	text  string
	bytes []byte
	wrong bool // something was asked for that is not there
}

func (p *unpacking) fits(n float64, left int) bool {
	p.wrong = p.wrong || !(n >= 0 && n <= float64(left))
	return !p.wrong
}

func (p *unpacking) string(n float64) (s string) {
	if p.fits(n, len(p.text)) {
		s, p.text = p.text[:int(n)], p.text[int(n):]
	}
	return s
}

func (p *unpacking) blob(n float64) (b []byte) {
	if p.fits(n, len(p.bytes)) {
		b, p.bytes = p.bytes[:int(n):int(n)], p.bytes[int(n):]
	}
	return b
}

func (p *unpacking) numbers(n float64) []float64 {
	b := p.blob(8 * n)
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.NativeEndian.Uint64(b[8*i:]))
	}
	return x
}

func (p *unpacking) record(names []string, row []float64) Record {
	r := make(Record, len(names))
	for j, name := range names {
		switch n := row[2*j+1]; row[2*j] {
		case notThere:
		case isString:
			r[name] = p.string(n)
		case isNumber:
			r[name] = n
		case isTruth:
			r[name] = n != 0
		case isBytes:
			r[name] = p.blob(n)
		default:
			p.wrong = true
		}
	}
	return r
}
