// Command wasmlines takes file names and line numbers out of a Go program that
// was compiled to WebAssembly:
//
//	go run ./scripts/wasmlines build/site/metaqda.wasm
//
// The linker has no flag for it: -s -w leave out what debuggers want, but the
// tables that tell the line of every instruction stay, for stack traces. Of the
// page's engine they are a tenth of the bytes to download. Afterwards a trace
// still names functions, with "?:0" in place of file and line: that is what the
// runtime says of a function without such tables, which is what each becomes.
//
// The tables (package runtime, symtab.go) lie in the program's data, in pclntab:
//
//	header    magic, sizes and the offsets of what follows
//	cutab     for each package where its files' names are
//	filetab   names of files
//	pctab     tables of values that change along a function: stack depth, file,
//	          line, safe points and the like, most of them shared
//	functab   for each function the offset of its record, which holds the
//	          offsets of its tables; 0 is no table
//
// The records' offsets of file and line become 0, and so do the names of files
// and the tables that nothing else uses. Nothing moves, and zeros compress to nothing.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wasmlines PROGRAM.wasm")
		os.Exit(2)
	}
	if err := strip(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "wasmlines: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// strip changes the file in place.
func strip(name string) error {
	program, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := withoutLines(program); err != nil {
		return err
	}
	return os.WriteFile(name, program, 0o644)
}

// withoutLines takes the line tables out of the program, in place. On error the
// program is as it was.
func withoutLines(program []byte) error {
	segments, err := dataSegments(program)
	if err != nil {
		return err
	}
	memory := image(program, segments)
	table, err := findTable(memory)
	if err != nil {
		return err
	}
	if err := table.clearLines(); err != nil {
		return err
	}
	for _, s := range segments {
		copy(program[s.at:s.at+s.size], memory[s.address:])
	}
	return nil
}

// segment is a part of the initial memory: size bytes at the address stand at
// position at of the program.
type segment struct{ address, at, size int }

const (
	dataSection = 11
	i32Const    = 0x41
	end         = 0x0b
)

var errFormat = errors.New("not a WebAssembly program that Go's linker wrote")

// dataSegments returns where the initial memory stands in the program.
func dataSegments(program []byte) ([]segment, error) {
	if !bytes.HasPrefix(program, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errFormat
	}
	r := &reader{b: program, at: 8}
	for r.at < len(program) {
		id, size := r.next(), r.uvarint()
		if r.err != nil || size > len(program)-r.at {
			return nil, errFormat
		}
		if id == dataSection {
			return r.segments()
		}
		r.at += size
	}
	return nil, errFormat
}

func (r *reader) segments() ([]segment, error) {
	all := make([]segment, 0, 1024)
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		kind, op := r.next(), r.next()
		s := segment{address: r.uvarintSigned()}
		last := r.next()
		s.size = r.uvarint()
		s.at = r.at
		if r.err != nil || kind != 0 || op != i32Const || last != end || s.address < 0 || s.size > len(r.b)-r.at {
			return nil, errFormat
		}
		r.at += s.size
		all = append(all, s)
	}
	return all, r.err
}

// image returns the initial memory.
func image(program []byte, segments []segment) []byte {
	size := 0
	for _, s := range segments {
		size = max(size, s.address+s.size)
	}
	memory := make([]byte, size)
	for _, s := range segments {
		copy(memory[s.address:], program[s.at:s.at+s.size])
	}
	return memory
}

// reader reads numbers; after the end all are 0 and err is set.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) next() byte {
	if r.at >= len(r.b) {
		r.err = errFormat
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// uvarint reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) uvarint() int {
	v, _ := r.leb()
	return v
}

// uvarintSigned reads a signed LEB128 number of at most 32 bits.
func (r *reader) uvarintSigned() int {
	v, bits := r.leb()
	if bits > 0 && v>>(bits-1)&1 == 1 {
		v -= 1 << bits
	}
	return v
}

func (r *reader) leb() (v, bits int) {
	for bits < 35 {
		c := r.next()
		v |= int(c&0x7f) << bits
		bits += 7
		if c < 0x80 {
			return v, bits
		}
	}
	r.err = errFormat
	return 0, 0
}

// pclntab is the table in the memory it lies in.
type pclntab struct {
	memory    []byte
	functions int // number
	cutab     int // addresses
	pctab     int
	functab   int
}

// magic begins the table since Go 1.20: the magic number 0xfffffff1, two zeros,
// an instruction's least size 1 and a pointer's size 8.
var magic = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// Offsets in the header and in a function's record.
const (
	headerFunctions = 8
	headerCutab     = 8 + 4*8
	headerPctab     = 8 + 6*8
	headerFunctab   = 8 + 7*8
	headerSize      = 8 + 8*8

	recordStack   = 16
	recordFile    = 20
	recordLine    = 24
	recordTables  = 28 // number of further tables
	recordFurther = 44 // their offsets
)

var errTable = errors.New("its table of functions is not as expected: the Go toolchain may be newer than this program")

// findTable finds the one place in memory that is a table of functions.
func findTable(memory []byte) (*pclntab, error) {
	var found *pclntab
	for at := 0; ; at++ {
		i := bytes.Index(memory[at:], magic)
		if i < 0 {
			break
		}
		at += i
		if at+headerSize > len(memory) {
			break
		}
		word := func(offset int) int { return int(binary.LittleEndian.Uint64(memory[at+offset:])) }
		t := &pclntab{memory: memory, functions: word(headerFunctions), cutab: at + word(headerCutab), pctab: at + word(headerPctab), functab: at + word(headerFunctab)}
		if !t.plausible(at) {
			continue
		}
		if found != nil {
			return nil, errTable
		}
		found = t
	}
	if found == nil {
		return nil, errTable
	}
	return found, nil
}

func (t *pclntab) plausible(at int) bool {
	return t.functions > 0 && t.functions < len(t.memory)/8 && t.cutab > at && t.pctab > t.cutab && t.functab > t.pctab && t.functab+8*t.functions < len(t.memory)
}

// clearLines removes file and line of every function.
func (t *pclntab) clearLines() error {
	kept, dropped := map[uint32]bool{}, map[uint32]bool{}
	records := make([]int, t.functions)
	for i := range records {
		record := t.functab + int(t.word(t.functab+8*i+4))
		if record+recordFurther > len(t.memory) {
			return errTable
		}
		further := int(t.word(record + recordTables))
		if further > 16 || record+recordFurther+4*further > len(t.memory) {
			return errTable
		}
		kept[t.word(record+recordStack)] = true
		for k := range further {
			kept[t.word(record+recordFurther+4*k)] = true
		}
		dropped[t.word(record+recordFile)] = true
		dropped[t.word(record+recordLine)] = true
		records[i] = record
	}
	if err := t.clearTables(dropped, kept); err != nil {
		return err
	}
	clear(t.memory[t.cutab:t.pctab])
	for _, record := range records {
		clear(t.memory[record+recordFile : record+recordLine+4])
	}
	return nil
}

// clearTables zeroes the tables at the dropped offsets, but not those that are
// kept. First it makes sure that none reaches into another that is.
func (t *pclntab) clearTables(dropped, kept map[uint32]bool) error {
	type span struct{ from, to int }
	var spans []span
	for offset := range dropped {
		if offset == 0 || kept[offset] {
			continue
		}
		to, err := t.tableEnd(offset)
		if err != nil {
			return err
		}
		from := t.pctab + int(offset)
		for k := range kept {
			if at := t.pctab + int(k); at > from && at < to {
				return errTable
			}
		}
		spans = append(spans, span{from, to})
	}
	for _, s := range spans {
		clear(t.memory[s.from:s.to])
	}
	return nil
}

// tableEnd returns the address after a table: pairs of a value's change and an
// address's, until a change of 0 that is not the first.
func (t *pclntab) tableEnd(offset uint32) (int, error) {
	r := &reader{b: t.memory[:t.functab], at: t.pctab + int(offset)}
	for first := true; r.err == nil; first = false {
		if change := r.uvarint(); change == 0 && !first {
			return r.at, nil
		}
		r.uvarint()
	}
	return 0, errTable
}

func (t *pclntab) word(address int) uint32 {
	if address+4 > len(t.memory) {
		return 0
	}
	return binary.LittleEndian.Uint32(t.memory[address:])
}
